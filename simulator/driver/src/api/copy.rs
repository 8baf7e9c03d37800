//! Copying and filling memory, in every direction and shape.
//!
//! An address may belong to the device or to the host. Both share one address range, so the address alone says which.

use super::context::{self, Context};
use super::stream::{self, DEFAULT};
use crate::driver::Driver;
use crate::export::exports;
use crate::ffi::{DevicePtr, HostBytes, In, Memcpy2D, Memcpy3D, UnifiedPtr};
use crate::handles::Handle;
use crate::result::{CuResult, Result};

/// Addresses from here on belong to the device: no process has memory of its own this high.
const HOST_END: u64 = 1 << 48;

/// `CU_MEMORYTYPE_HOST`, `_DEVICE`, `_UNIFIED`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const UNIFIED: u32 = 4;

/// One end of a copy.
#[derive(Clone, Copy, Debug)]
enum Location {
    /// In memory that the device can access.
    Device(u64),
    /// Anywhere else in the program's memory.
    Host(HostBytes),
}

impl Location {
    /// Resolves an address that may be of either kind.
    fn unified(driver: &Driver, address: UnifiedPtr) -> Self {
        if is_on_device(driver, address.device()) { Location::Device(address.device()) } else { Location::Host(address.host()) }
    }

    /// Resolves an address that the program says is on the host. It may still be on the device: every driver with unified addressing
    /// accepts that.
    fn host(driver: &Driver, bytes: HostBytes) -> Self {
        if is_on_device(driver, bytes.address()) { Location::Device(bytes.address()) } else { Location::Host(bytes) }
    }

    fn offset(self, bytes: usize) -> Self {
        match self {
            Location::Device(address) => Location::Device(address.wrapping_add(bytes as u64)),
            Location::Host(host) => Location::Host(host.offset(bytes)),
        }
    }
}

/// Whether the device can access this address.
fn is_on_device(driver: &Driver, address: u64) -> bool {
    address >= HOST_END || driver.memory.allocation_at(address).is_some()
}

fn copy(driver: &Driver, target: Location, source: Location, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
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

fn host_to_device(target: DevicePtr, source: HostBytes, bytes: usize, stream: Handle) -> Result<()> {
    let (driver, _) = context::current()?;
    stream::any(stream)?;
    copy(driver, Location::Device(target), Location::host(driver, source), bytes)
}

fn device_to_host(target: HostBytes, source: DevicePtr, bytes: usize, stream: Handle) -> Result<()> {
    let (driver, _) = context::current()?;
    stream::any(stream)?;
    copy(driver, Location::host(driver, target), Location::Device(source), bytes)
}

fn device_to_device(target: DevicePtr, source: DevicePtr, bytes: usize, stream: Handle) -> Result<()> {
    let (driver, _) = context::current()?;
    stream::any(stream)?;
    copy(driver, Location::Device(target), Location::Device(source), bytes)
}

fn anywhere(target: UnifiedPtr, source: UnifiedPtr, bytes: usize, stream: Handle) -> Result<()> {
    let (driver, _) = context::current()?;
    stream::any(stream)?;
    copy(driver, Location::unified(driver, target), Location::unified(driver, source), bytes)
}

/// Both contexts must exist; null means the current one. An address means the same in each.
fn peer(target: (DevicePtr, Handle), source: (DevicePtr, Handle), bytes: usize, stream: Handle) -> Result<()> {
    let (driver, _) = context::current()?;
    for context in [target.1, source.1].into_iter().filter(|&context| context != Handle::NULL) {
        driver.handles.get::<Context>(context)?.check()?;
    }
    device_to_device(target.0, source.0, bytes, stream)
}

/// One end of a copy of a box: rows of bytes, layers of rows.
#[derive(Clone, Copy)]
struct End {
    memory_type: u32,
    host: HostBytes,
    device: UnifiedPtr,
    /// Start of the box: byte in the row, row, layer.
    start: [usize; 3],
    /// Bytes from one row to the next; 0 means that the rows are packed.
    pitch: usize,
    /// Rows from one layer to the next; 0 means that the layers are packed.
    height: usize,
}

/// Width in bytes, rows, layers.
type Extent = [usize; 3];

impl End {
    /// Returns the location of the box's first byte, the bytes between its rows, and the bytes between its layers.
    fn location(self, driver: &Driver, [width, rows, _]: Extent) -> Result<(Location, usize, usize)> {
        let base = match self.memory_type {
            HOST => Location::host(driver, self.host),
            DEVICE => Location::Device(self.device.device()),
            UNIFIED => Location::unified(driver, self.device),
            // An array. None can exist here, so the handle is bad.
            3 => return CuResult::INVALID_HANDLE.err(),
            _ => return CuResult::INVALID_VALUE.err(),
        };
        let [x, y, z] = self.start;
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let layer_rows = if self.height == 0 { rows } else { self.height };
        if x.checked_add(width).is_none_or(|end| end > pitch) || layer_rows < rows {
            return CuResult::INVALID_VALUE.err();
        }
        let layer = pitch.checked_mul(layer_rows).ok_or(CuResult::INVALID_VALUE)?;
        let offset = z.checked_mul(layer).zip(y.checked_mul(pitch)).and_then(|(z, y)| z.checked_add(y)?.checked_add(x));
        Ok((base.offset(offset.ok_or(CuResult::INVALID_VALUE)?), pitch, layer))
    }
}

fn copy_box(target: End, source: End, extent: Extent, stream: Handle) -> Result<()> {
    let (driver, _) = context::current()?;
    stream::any(stream)?;
    let [width, rows, layers] = extent;
    if extent.contains(&0) {
        return Ok(());
    }
    let (to, to_pitch, to_layer) = target.location(driver, extent)?;
    let (from, from_pitch, from_layer) = source.location(driver, extent)?;
    for layer in 0..layers {
        for row in 0..rows {
            let target = to.offset(layer.wrapping_mul(to_layer).wrapping_add(row.wrapping_mul(to_pitch)));
            let source = from.offset(layer.wrapping_mul(from_layer).wrapping_add(row.wrapping_mul(from_pitch)));
            copy(driver, target, source, width)?;
        }
    }
    Ok(())
}

fn copy_2d(copy: In<Memcpy2D>, stream: Handle) -> Result<()> {
    context::current()?;
    let copy = copy.read()?;
    let target = End {
        memory_type: copy.dst_memory_type,
        host: copy.dst_host,
        device: copy.dst_device,
        start: [copy.dst_x_in_bytes, copy.dst_y, 0],
        pitch: copy.dst_pitch,
        height: 0,
    };
    let source = End {
        memory_type: copy.src_memory_type,
        host: copy.src_host,
        device: copy.src_device,
        start: [copy.src_x_in_bytes, copy.src_y, 0],
        pitch: copy.src_pitch,
        height: 0,
    };
    copy_box(target, source, [copy.width_in_bytes, copy.height, 1], stream)
}

fn copy_3d(copy: In<Memcpy3D>, stream: Handle) -> Result<()> {
    context::current()?;
    let copy = copy.read()?;
    let target = End {
        memory_type: copy.dst_memory_type,
        host: copy.dst_host,
        device: copy.dst_device,
        start: [copy.dst_x_in_bytes, copy.dst_y, copy.dst_z],
        pitch: copy.dst_pitch,
        height: copy.dst_height,
    };
    let source = End {
        memory_type: copy.src_memory_type,
        host: copy.src_host,
        device: copy.src_device,
        start: [copy.src_x_in_bytes, copy.src_y, copy.src_z],
        pitch: copy.src_pitch,
        height: copy.src_height,
    };
    copy_box(target, source, [copy.width_in_bytes, copy.height, copy.depth], stream)
}

/// Fills rows with a pattern. A single row needs no pitch.
fn fill(target: DevicePtr, pitch: usize, pattern: &[u8], width: usize, rows: usize, stream: Handle) -> Result<()> {
    let (driver, _) = context::current()?;
    stream::any(stream)?;
    let unit = pattern.len();
    let row_bytes = width.checked_mul(unit).ok_or(CuResult::INVALID_VALUE)?;
    let is_aligned = target.is_multiple_of(unit as u64) && (rows <= 1 || pitch.is_multiple_of(unit));
    if !is_aligned || (rows > 1 && pitch < row_bytes) {
        return CuResult::INVALID_VALUE.err();
    }
    if row_bytes == 0 {
        return Ok(());
    }
    for row in 0..rows {
        driver.memory.fill(target.wrapping_add(row.wrapping_mul(pitch) as u64), row_bytes as u64, pattern)?;
    }
    Ok(())
}

exports! {
    fn cuMemcpyHtoD_v2(target: DevicePtr, source: HostBytes, bytes: usize) {
        host_to_device(target, source, bytes, DEFAULT)
    }

    fn cuMemcpyHtoDAsync_v2(target: DevicePtr, source: HostBytes, bytes: usize, stream: Handle) {
        host_to_device(target, source, bytes, stream)
    }

    fn cuMemcpyDtoH_v2(target: HostBytes, source: DevicePtr, bytes: usize) {
        device_to_host(target, source, bytes, DEFAULT)
    }

    fn cuMemcpyDtoHAsync_v2(target: HostBytes, source: DevicePtr, bytes: usize, stream: Handle) {
        device_to_host(target, source, bytes, stream)
    }

    fn cuMemcpyDtoD_v2(target: DevicePtr, source: DevicePtr, bytes: usize) {
        device_to_device(target, source, bytes, DEFAULT)
    }

    fn cuMemcpyDtoDAsync_v2(target: DevicePtr, source: DevicePtr, bytes: usize, stream: Handle) {
        device_to_device(target, source, bytes, stream)
    }

    fn cuMemcpy(target: UnifiedPtr, source: UnifiedPtr, bytes: usize) {
        anywhere(target, source, bytes, DEFAULT)
    }

    fn cuMemcpyAsync(target: UnifiedPtr, source: UnifiedPtr, bytes: usize, stream: Handle) {
        anywhere(target, source, bytes, stream)
    }

    fn cuMemcpyPeer(target: DevicePtr, target_context: Handle, source: DevicePtr, source_context: Handle, bytes: usize) {
        peer((target, target_context), (source, source_context), bytes, DEFAULT)
    }

    fn cuMemcpyPeerAsync(
        target: DevicePtr,
        target_context: Handle,
        source: DevicePtr,
        source_context: Handle,
        bytes: usize,
        stream: Handle,
    ) {
        peer((target, target_context), (source, source_context), bytes, stream)
    }

    fn cuMemcpy2D_v2(copy: In<Memcpy2D>) {
        copy_2d(copy, DEFAULT)
    }

    fn cuMemcpy2DUnaligned_v2(copy: In<Memcpy2D>) {
        copy_2d(copy, DEFAULT)
    }

    fn cuMemcpy2DAsync_v2(copy: In<Memcpy2D>, stream: Handle) {
        copy_2d(copy, stream)
    }

    fn cuMemcpy3D_v2(copy: In<Memcpy3D>) {
        copy_3d(copy, DEFAULT)
    }

    fn cuMemcpy3DAsync_v2(copy: In<Memcpy3D>, stream: Handle) {
        copy_3d(copy, stream)
    }

    fn cuMemsetD8_v2(target: DevicePtr, value: u8, count: usize) {
        fill(target, 0, &[value], count, 1, DEFAULT)
    }

    fn cuMemsetD8Async(target: DevicePtr, value: u8, count: usize, stream: Handle) {
        fill(target, 0, &[value], count, 1, stream)
    }

    fn cuMemsetD16_v2(target: DevicePtr, value: u16, count: usize) {
        fill(target, 0, &value.to_le_bytes(), count, 1, DEFAULT)
    }

    fn cuMemsetD16Async(target: DevicePtr, value: u16, count: usize, stream: Handle) {
        fill(target, 0, &value.to_le_bytes(), count, 1, stream)
    }

    fn cuMemsetD32_v2(target: DevicePtr, value: u32, count: usize) {
        fill(target, 0, &value.to_le_bytes(), count, 1, DEFAULT)
    }

    fn cuMemsetD32Async(target: DevicePtr, value: u32, count: usize, stream: Handle) {
        fill(target, 0, &value.to_le_bytes(), count, 1, stream)
    }

    fn cuMemsetD2D8_v2(target: DevicePtr, pitch: usize, value: u8, width: usize, height: usize) {
        fill(target, pitch, &[value], width, height, DEFAULT)
    }

    fn cuMemsetD2D8Async(target: DevicePtr, pitch: usize, value: u8, width: usize, height: usize, stream: Handle) {
        fill(target, pitch, &[value], width, height, stream)
    }

    fn cuMemsetD2D16_v2(target: DevicePtr, pitch: usize, value: u16, width: usize, height: usize) {
        fill(target, pitch, &value.to_le_bytes(), width, height, DEFAULT)
    }

    fn cuMemsetD2D16Async(target: DevicePtr, pitch: usize, value: u16, width: usize, height: usize, stream: Handle) {
        fill(target, pitch, &value.to_le_bytes(), width, height, stream)
    }

    fn cuMemsetD2D32_v2(target: DevicePtr, pitch: usize, value: u32, width: usize, height: usize) {
        fill(target, pitch, &value.to_le_bytes(), width, height, DEFAULT)
    }

    fn cuMemsetD2D32Async(target: DevicePtr, pitch: usize, value: u32, width: usize, height: usize, stream: Handle) {
        fill(target, pitch, &value.to_le_bytes(), width, height, stream)
    }
}
