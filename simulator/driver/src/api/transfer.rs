//! Copies and fills: where the bytes come from and where they go. A stream executes them, and a graph keeps them.
//!
//! An address may belong to the device or to the host. Both share one address range, so the address alone says which.

use simt::{Accessed, Accesses};

use super::array::Array;
use super::prelude::*;
use crate::ffi::{Memcpy3D, MemcpyEnd3D, MemsetNode, UnifiedPtr};

/// Addresses from here on belong to the device: no process has memory of its own this high.
const HOST_END: u64 = 1 << 48;

/// `CU_MEMORYTYPE_HOST`, `_DEVICE`, `_ARRAY`, `_UNIFIED`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// An address, and what the program says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// On the host. It may still be on the device: every driver with unified addressing accepts that.
    Host(HostBytes),
    Device(DevicePtr),
    /// On the device, where the driver keeps a copy of the host's pageable memory.
    Staged(DevicePtr),
    /// In an array, at this address.
    Array(Handle, u64),
    /// Either.
    Unified(UnifiedPtr),
}

#[derive(Clone, Copy, Debug)]
enum Location {
    /// In memory that the device can access.
    Device(u64),
    /// Anywhere else in the program's memory.
    Host(HostBytes),
}

impl Location {
    fn offset(self, bytes: usize) -> Self {
        match self {
            Location::Device(address) => Location::Device(address.wrapping_add(bytes as u64)),
            Location::Host(host) => Location::Host(host.offset(bytes)),
        }
    }
}

impl Address {
    fn resolve(self, driver: &Driver) -> Location {
        match self {
            Address::Host(bytes) if is_on_device(driver, bytes.address()) => Location::Device(bytes.address()),
            Address::Host(bytes) => Location::Host(bytes),
            Address::Device(address) | Address::Staged(address) | Address::Array(_, address) => Location::Device(address),
            Address::Unified(address) if is_on_device(driver, address.device()) => Location::Device(address.device()),
            Address::Unified(address) => Location::Host(address.host()),
        }
    }

    /// Returns the address as a number. The host and the device share one range of addresses.
    pub fn number(self) -> u64 {
        match self {
            Address::Host(bytes) => bytes.address(),
            Address::Device(address) | Address::Staged(address) | Address::Array(_, address) => address,
            Address::Unified(address) => address.device(),
        }
    }
}

/// Returns true if the device can access this address.
fn is_on_device(driver: &Driver, address: u64) -> bool {
    address >= HOST_END || driver.memory.allocation_at(address).is_some()
}

/// One end of a copy of a box: rows of bytes, layers of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    pub address: Address,
    /// Start of the box: byte in the row, row, layer.
    pub start: [usize; 3],
    /// Bytes from one row to the next; 0 means that the rows are packed.
    pub pitch: usize,
    /// Rows from one layer to the next; 0 means that the layers are packed.
    pub height: usize,
}

/// Width in bytes, rows, layers.
pub type Extent = [usize; 3];

impl From<Address> for End {
    fn from(address: Address) -> Self {
        Self { address, start: [0; 3], pitch: 0, height: 0 }
    }
}

impl End {
    fn from_parameters(end: &MemcpyEnd3D, extent: Extent) -> Result<Self> {
        let &MemcpyEnd3D { x_in_bytes, y, z, memory_type, host, device, array, pitch, height, .. } = end;
        let start = [x_in_bytes, y, z];
        let address = match memory_type {
            HOST => Address::Host(host),
            DEVICE => Address::Device(device.device()),
            UNIFIED => Address::Unified(device),
            ARRAY => {
                let view = find::<Array>(array)?.view;
                let sides = [view.pitch, view.extent[1].into(), u64::from(view.extent[2] * view.layers)];
                let is_inside = |axis: usize| start[axis].checked_add(extent[axis]).is_some_and(|end| end as u64 <= sides[axis]);
                refuse!(INVALID_VALUE if !extent.contains(&0) && !(0..3).all(is_inside));
                let address = Address::Array(array, view.address);
                return Ok(Self { address, start, pitch: view.pitch as usize, height: view.extent[1] as usize });
            }
            _ => refuse!(INVALID_VALUE),
        };
        Ok(Self { address, start, pitch, height })
    }

    fn to_parameters(self) -> MemcpyEnd3D<u64> {
        let Self { address, start: [x_in_bytes, y, z], pitch, height } = self;
        let (memory_type, host, device, array) = match address {
            Address::Host(bytes) => (HOST, bytes, 0, Handle::NULL),
            Address::Device(address) | Address::Staged(address) => (DEVICE, HostBytes::NULL, address, Handle::NULL),
            Address::Array(array, _) => (ARRAY, HostBytes::NULL, 0, array),
            Address::Unified(address) => (UNIFIED, HostBytes::NULL, address.device(), Handle::NULL),
        };
        MemcpyEnd3D { x_in_bytes, y, z, lod: 0, memory_type, host, device, array, context: Handle::NULL, pitch, height }
    }

    /// Returns the box's first byte, and the bytes between rows and layers.
    fn offsets(&self, [width, rows, _]: Extent) -> Result<(usize, usize, usize)> {
        let [x, y, z] = self.start;
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let layer_rows = if self.height == 0 { rows } else { self.height };
        refuse!(INVALID_VALUE if x.checked_add(width).is_none_or(|end| end > pitch) || layer_rows < rows);
        let layer = pitch.checked_mul(layer_rows).ok_or(CuResult::INVALID_VALUE)?;
        let offset = z.checked_mul(layer).zip(y.checked_mul(pitch)).and_then(|(z, y)| z.checked_add(y)?.checked_add(x));
        Ok((offset.ok_or(CuResult::INVALID_VALUE)?, pitch, layer))
    }

    /// Returns the offset of each row of the box.
    fn rows(&self, extent: Extent) -> Result<impl Iterator<Item = usize> + use<>> {
        let (offset, pitch, layer_bytes) = self.offsets(extent)?;
        let [_, rows, layers] = extent;
        let row = move |layer: usize, row: usize| {
            offset.wrapping_add(layer.wrapping_mul(layer_bytes)).wrapping_add(row.wrapping_mul(pitch))
        };
        Ok((0..layers).flat_map(move |layer| (0..rows).map(move |index| row(layer, index))))
    }
}

/// A copy of a box of bytes. A copy of a row of bytes is one of a box with one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    pub target: End,
    pub source: End,
    pub extent: Extent,
}

impl Copy {
    /// Makes a copy of a row of bytes.
    pub fn row(target: Address, source: Address, bytes: usize) -> Self {
        Self { target: target.into(), source: source.into(), extent: [bytes, 1, 1] }
    }

    pub fn from_parameters(copy: &Memcpy3D) -> Result<Self> {
        let extent = [copy.width_in_bytes, copy.height, copy.depth];
        let target = End::from_parameters(&copy.target, extent)?;
        let source = End::from_parameters(&copy.source, extent)?;
        if !extent.contains(&0) {
            // The box must fit its rows and layers.
            target.offsets(extent)?;
            source.offsets(extent)?;
        }
        Ok(Self { target, source, extent })
    }

    pub fn to_parameters(self) -> Memcpy3D<u64> {
        let [width_in_bytes, height, depth] = self.extent;
        Memcpy3D { source: self.source.to_parameters(), target: self.target.to_parameters(), width_in_bytes, height, depth }
    }

    /// Returns true for a copy of one nonempty row.
    pub fn is_row(&self) -> bool {
        self.extent[0] > 0 && self.extent[1..] == [1, 1]
    }

    /// Returns true for each end (target, source) that is on the device.
    pub fn directions(&self, driver: &Driver) -> [bool; 2] {
        [self.target, self.source].map(|end| matches!(end.address.resolve(driver), Location::Device(_)))
    }

    /// Refuses a device box that begins or ends outside of allocations.
    pub fn check_memory(&self, driver: &Driver) -> Result<()> {
        let [width, rows, layers] = self.extent;
        if self.extent.contains(&0) {
            return Ok(());
        }
        for end in [self.target, self.source] {
            let (offset, pitch, layer) = end.offsets(self.extent)?;
            if let Location::Device(start) = end.address.resolve(driver) {
                let last = (layers - 1).wrapping_mul(layer).wrapping_add((rows - 1).wrapping_mul(pitch)).wrapping_add(width - 1);
                let is_there = |offset: usize| driver.memory.allocation_at(start.wrapping_add(offset as u64)).is_some();
                refuse!(INVALID_VALUE if !is_there(offset) || !is_there(offset.wrapping_add(last)));
            }
        }
        Ok(())
    }

    /// Returns true if both ends are in the device's own memory. Memory of the host that the device can access does not
    /// count.
    pub fn is_between_devices(&self, driver: &Driver) -> bool {
        [self.target, self.source].iter().all(|end| {
            let owned = driver.allocations.lock().containing(end.address.number());
            owned.is_none_or(|owned| !owned.kind.is_on_host()) && matches!(end.address.resolve(driver), Location::Device(_))
        })
    }

    pub fn what(&self) -> String {
        let side = |end: &End| match end.address {
            Address::Host(_) | Address::Staged(_) => "host",
            Address::Device(_) => "device",
            Address::Array(..) => "array",
            Address::Unified(_) => "memory",
        };
        format!("a copy from {} to {}", side(&self.source), side(&self.target))
    }

    /// Returns the bytes that the copy reads and writes, row by row.
    pub fn accesses(&self) -> Vec<Accessed> {
        if self.extent.contains(&0) {
            return Vec::new();
        }
        let rows = |end: &End, accesses| {
            let (start, bytes) = (end.address.number(), self.extent[0] as u64);
            let rows = end.rows(self.extent).into_iter().flatten();
            rows.map(move |offset| Accessed { address: start.wrapping_add(offset as u64), bytes, accesses })
        };
        let mut accesses: Vec<Accessed> = rows(&self.source, Accesses::READ).chain(rows(&self.target, Accesses::WRITTEN)).collect();
        accesses.sort_by_key(|accessed| accessed.address);
        accesses
    }

    pub fn run(&self, driver: &Driver) -> Result<()> {
        if self.extent.contains(&0) {
            return Ok(());
        }
        let [to, from] = [self.target, self.source].map(|end| end.address.resolve(driver));
        for (target, source) in self.target.rows(self.extent)?.zip(self.source.rows(self.extent)?) {
            copy(driver, to.offset(target), from.offset(source), self.extent[0])?;
        }
        Ok(())
    }
}

fn copy(driver: &Driver, target: Location, source: Location, bytes: usize) -> Result<()> {
    let memory = &driver.memory;
    match (target, source) {
        (Location::Device(target), Location::Device(source)) => memory.copy(target, source, bytes as u64)?,
        (Location::Device(target), Location::Host(source)) => source.with(bytes, |bytes| memory.write(target, bytes))??,
        (Location::Host(target), Location::Device(source)) => target.with_mut(bytes, |bytes| memory.read(source, bytes))??,
        (Location::Host(target), Location::Host(source)) => {
            // Through a temporary copy, because the two may overlap.
            let bytes = source.read(bytes)?;
            target.with_mut(bytes.len(), |target| target.copy_from_slice(&bytes))?;
        }
    }
    Ok(())
}

/// Rows to be filled with an element. A single row needs no pitch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    pub target: DevicePtr,
    pub pitch: usize,
    /// The element in its lowest bytes.
    pub value: u32,
    pub element_bytes: usize,
    /// Elements of a row.
    pub width: usize,
    pub rows: usize,
}

impl Fill {
    pub fn from_parameters(node: &MemsetNode) -> Result<Self> {
        let element_bytes = node.element_bytes as usize;
        let fill =
            Self { target: node.target, pitch: node.pitch, value: node.value, element_bytes, width: node.width, rows: node.height };
        fill.check()?;
        Ok(fill)
    }

    pub fn to_parameters(self) -> MemsetNode {
        let Self { target, pitch, value, element_bytes, width, rows } = self;
        MemsetNode { target, pitch, value, element_bytes: element_bytes as u32, width, height: rows }
    }

    fn row_bytes(&self) -> Result<usize> {
        Ok(self.width.checked_mul(self.element_bytes).ok_or(CuResult::INVALID_VALUE)?)
    }

    pub fn check(&self) -> Result<()> {
        let unit = self.element_bytes;
        refuse!(INVALID_VALUE if !matches!(unit, 1 | 2 | 4));
        let row_bytes = self.row_bytes()?;
        let is_aligned = self.target.is_multiple_of(unit as u64) && (self.rows <= 1 || self.pitch.is_multiple_of(unit));
        refuse!(INVALID_VALUE if !is_aligned || (self.rows > 1 && self.pitch < row_bytes));
        Ok(())
    }

    /// Refuses to fill what is in no allocation.
    pub fn check_memory(&self, driver: &Driver) -> Result<()> {
        let row_bytes = self.row_bytes()?;
        if row_bytes == 0 || self.rows == 0 {
            return Ok(());
        }
        let before_last = (self.rows - 1).checked_mul(self.pitch).ok_or(CuResult::INVALID_VALUE)?;
        let length = before_last.checked_add(row_bytes - 1).ok_or(CuResult::INVALID_VALUE)?;
        let last = self.target.checked_add(length as u64).ok_or(CuResult::INVALID_VALUE)?;
        let is_there = |address: u64| driver.memory.allocation_at(address).is_some();
        if is_there(self.target) && is_there(last) { Ok(()) } else { CuResult::INVALID_VALUE.err() }
    }

    /// Returns the bytes that this writes.
    pub fn accesses(&self) -> Vec<Accessed> {
        let bytes = self.row_bytes().unwrap_or_default() as u64;
        // Rows without bytes can be any number, anywhere.
        let rows = if bytes == 0 { 0 } else { self.rows };
        let row = |row: usize| Accessed { address: self.target + (row * self.pitch) as u64, bytes, accesses: Accesses::WRITTEN };
        (0..rows).map(row).collect()
    }

    /// Returns true if this fills one row of at least one element.
    pub fn is_row(&self) -> bool {
        self.width > 0 && self.rows == 1
    }

    pub fn run(&self, driver: &Driver) -> Result<()> {
        let row_bytes = self.row_bytes()?;
        if row_bytes == 0 || self.rows == 0 {
            return Ok(());
        }
        // The last row first, so that a number of rows that no memory has is refused at once.
        let before_last = (self.rows - 1).checked_mul(self.pitch).ok_or(CuResult::INVALID_VALUE)?;
        let last = self.target.checked_add(before_last as u64).ok_or(CuResult::INVALID_VALUE)?;
        let allocation = driver.memory.allocation_at(last).ok_or(CuResult::INVALID_VALUE)?;
        refuse!(INVALID_VALUE if row_bytes as u64 > allocation.base + allocation.bytes - last);
        for row in 0..self.rows {
            let target = self.target.wrapping_add(row.wrapping_mul(self.pitch) as u64);
            driver.memory.fill(target, row_bytes as u64, &self.value.to_le_bytes()[..self.element_bytes])?;
        }
        Ok(())
    }
}
