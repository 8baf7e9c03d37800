//! Copying memory, in every direction and shape that needs no arrays.

use std::ffi::c_void;

use crate::driver::{self, Copy3D, Copy3DEnd};
use crate::error::{Code, Result};
use crate::export::When::{self, In, Now};
use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};
use crate::shapes::Pitched;
use crate::{context, registry};

/// `cudaMemcpyKind`: host to host, host to device, device to host, device to device, and whatever the addresses say.
const HOST_TO_HOST: u32 = 0;
pub const HOST_TO_DEVICE: u32 = 1;
pub const DEVICE_TO_HOST: u32 = 2;
const DEVICE_TO_DEVICE: u32 = 3;
const DEFAULT: u32 = 4;

/// `CU_MEMORYTYPE_HOST`, `_DEVICE`, `_UNIFIED`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const UNIFIED: u32 = 4;

/// `cudaPos` and `cudaExtent`: in bytes, rows and layers, where there is no array.
type Box3D = [usize; 3];

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Parameters {
    source_array: Handle,
    source_start: Box3D,
    source: Pitched,
    target_array: Handle,
    target_start: Box3D,
    target: Pitched,
    extent: Box3D,
    kind: u32,
}

/// Copies bytes in a row.
fn copy(to: Address, from: Address, bytes: usize, kind: u32, when: When) -> Result {
    type Copy = fn(Address, Address, usize) -> Result;
    type CopyInStream = fn(Address, Address, usize, Handle) -> Result;
    context::ensure()?;
    let (now, in_stream): (Copy, CopyInStream) = match kind {
        HOST_TO_HOST | DEFAULT => (driver::cuMemcpy, driver::cuMemcpyAsync),
        HOST_TO_DEVICE => (driver::cuMemcpyHtoD_v2, driver::cuMemcpyHtoDAsync_v2),
        DEVICE_TO_HOST => (driver::cuMemcpyDtoH_v2, driver::cuMemcpyDtoHAsync_v2),
        DEVICE_TO_DEVICE => (driver::cuMemcpyDtoD_v2, driver::cuMemcpyDtoDAsync_v2),
        _ => return Err(Code::INVALID_MEMCPY_DIRECTION),
    };
    match when {
        Now => now(to, from, bytes),
        In(stream) => in_stream(to, from, bytes, stream),
    }
}

/// Returns the kinds of a copy's destination and source memory.
fn memory_types(kind: u32) -> Result<(u32, u32)> {
    match kind {
        HOST_TO_HOST => Ok((HOST, HOST)),
        HOST_TO_DEVICE => Ok((DEVICE, HOST)),
        DEVICE_TO_HOST => Ok((HOST, DEVICE)),
        DEVICE_TO_DEVICE => Ok((DEVICE, DEVICE)),
        DEFAULT => Ok((UNIFIED, UNIFIED)),
        _ => Err(Code::INVALID_MEMCPY_DIRECTION),
    }
}

fn end(memory_type: u32, Pitched { address, pitch, height, .. }: Pitched, [x_bytes, y, z]: Box3D) -> Copy3DEnd {
    Copy3DEnd { x_bytes, y, z, memory_type, host: address, device: address, pitch, height, ..Copy3DEnd::default() }
}

impl Parameters {
    /// Describes a copy of bytes in a row.
    pub fn of_row(to: Address, from: Address, bytes: usize, kind: u32) -> Self {
        Self::of_rows((to, bytes), (from, bytes), [bytes, 1], kind)
    }

    fn of_rows(to: (Address, usize), from: (Address, usize), [width, height]: [usize; 2], kind: u32) -> Self {
        let rows = |(address, pitch)| Pitched { address, pitch, width, height };
        Self { source: rows(from), target: rows(to), extent: [width, height, 1], kind, ..Self::default() }
    }

    /// Describes a copy between a variable and other memory. `with_host` is the only kind that has the host on the other side.
    pub fn of_variable(
        symbol: Ptr<c_void>,
        other: Address,
        [bytes, offset]: [usize; 2],
        kind: u32,
        with_host: u32,
    ) -> Result<Self> {
        let (variable, kind) = (in_variable(symbol, bytes, offset)?, kind_with_variable(kind, with_host)?);
        let (to, from) = if with_host == HOST_TO_DEVICE { (variable, other) } else { (other, variable) };
        Ok(Self::of_row(to, from, bytes, kind))
    }

    /// Returns the same for the driver.
    pub fn of_driver(self) -> Result<Copy3D> {
        context::ensure()?;
        if self.source_array != 0 || self.target_array != 0 {
            return Err(Code::NOT_SUPPORTED);
        }
        let (to, from) = memory_types(self.kind)?;
        let [width_bytes, height, depth] = self.extent;
        let (source, target) = (end(from, self.source, self.source_start), end(to, self.target, self.target_start));
        Ok(Copy3D { source, target, width_bytes, height, depth })
    }

    /// Describes the driver's copy.
    pub fn from_driver(Copy3D { source, target, width_bytes, height, depth }: Copy3D) -> Result<Self> {
        if source.array != 0 || target.array != 0 {
            return Err(Code::NOT_SUPPORTED);
        }
        let types = Ok((target.memory_type, source.memory_type));
        let kind = (HOST_TO_HOST..DEFAULT).find(|&kind| memory_types(kind) == types).unwrap_or(DEFAULT);
        Ok(Self {
            source_start: [source.x_bytes, source.y, source.z],
            source: memory(source),
            target_start: [target.x_bytes, target.y, target.z],
            target: memory(target),
            extent: [width_bytes, height, depth],
            kind,
            ..Self::default()
        })
    }
}

/// Returns the memory at one end of a copy.
fn memory(Copy3DEnd { memory_type, host, device, pitch, height, .. }: Copy3DEnd) -> Pitched {
    Pitched { address: if memory_type == HOST { host } else { device }, pitch, width: pitch, height }
}

fn copy_box(parameters: Parameters, when: When) -> Result {
    let mut copy = parameters.of_driver()?;
    match when {
        Now => driver::cuMemcpy3D_v2(Ptr::to(&mut copy)),
        In(stream) => driver::cuMemcpy3DAsync_v2(Ptr::to(&mut copy), stream),
    }
}

/// Copies rows; each end is an address and the bytes from one row to the next.
fn copy_rows(to: (Address, usize), from: (Address, usize), extent: [usize; 2], kind: u32, when: When) -> Result {
    if extent[0] > to.1 || extent[0] > from.1 {
        return Err(Code::INVALID_PITCH);
    }
    copy_box(Parameters::of_rows(to, from, extent, kind), when)
}

/// Returns the address of some bytes in a variable.
fn in_variable(symbol: Ptr<c_void>, bytes: usize, offset: usize) -> Result<Address> {
    let (address, size) = registry::variable(symbol)?;
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(address + offset as u64),
        _ => Err(Code::INVALID_VALUE),
    }
}

/// Returns the kind of copy for a variable. `with_host` is the only kind that has the host on the other side.
fn kind_with_variable(kind: u32, with_host: u32) -> Result<u32> {
    match kind {
        DEVICE_TO_DEVICE | DEFAULT => Ok(DEFAULT),
        _ if kind == with_host => Ok(kind),
        _ => Err(Code::INVALID_MEMCPY_DIRECTION),
    }
}

exports! {
    timed {
        [cudaMemcpy cudaMemcpy_ptds] [cudaMemcpyAsync cudaMemcpyAsync_ptsz](
            target: Address, source: Address, bytes: usize, kind: u32,
        ) |when| {
            copy(target, source, bytes, kind, when)
        }

        cudaMemcpyPeer cudaMemcpyPeerAsync(
            target: Address, target_device: i32, source: Address, source_device: i32, bytes: usize,
        ) |when| {
            context::check_devices(target_device, source_device)?;
            copy(target, source, bytes, DEFAULT, when)
        }

        [cudaMemcpy2D cudaMemcpy2D_ptds] [cudaMemcpy2DAsync cudaMemcpy2DAsync_ptsz](
            target: Address, target_pitch: usize, source: Address, source_pitch: usize, width: usize, height: usize, kind: u32,
        ) |when| {
            copy_rows((target, target_pitch), (source, source_pitch), [width, height], kind, when)
        }

        [cudaMemcpy3D cudaMemcpy3D_ptds] [cudaMemcpy3DAsync cudaMemcpy3DAsync_ptsz](parameters: Ptr<Parameters>) |when| {
            copy_box(parameters.read()?, when)
        }

        [cudaMemcpyToSymbol cudaMemcpyToSymbol_ptds] [cudaMemcpyToSymbolAsync cudaMemcpyToSymbolAsync_ptsz](
            symbol: Ptr<c_void>, source: Address, bytes: usize, offset: usize, kind: u32,
        ) |when| {
            let target = in_variable(symbol, bytes, offset)?;
            copy(target, source, bytes, kind_with_variable(kind, HOST_TO_DEVICE)?, when)
        }

        [cudaMemcpyFromSymbol cudaMemcpyFromSymbol_ptds] [cudaMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync_ptsz](
            target: Address, symbol: Ptr<c_void>, bytes: usize, offset: usize, kind: u32,
        ) |when| {
            let source = in_variable(symbol, bytes, offset)?;
            copy(target, source, bytes, kind_with_variable(kind, DEVICE_TO_HOST)?, when)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        assert_eq!(size_of::<Parameters>(), 160);
        assert_eq!(size_of::<Pitched>(), 32);
    }
}
