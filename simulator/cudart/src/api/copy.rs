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
const HOST_TO_DEVICE: u32 = 1;
const DEVICE_TO_HOST: u32 = 2;
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

fn copy_box(parameters: Parameters, when: When) -> Result {
    context::ensure()?;
    if parameters.source_array != 0 || parameters.target_array != 0 {
        return Err(Code::NOT_SUPPORTED);
    }
    let (to, from) = memory_types(parameters.kind)?;
    let [width_bytes, height, depth] = parameters.extent;
    let mut copy = Copy3D {
        source: end(from, parameters.source, parameters.source_start),
        target: end(to, parameters.target, parameters.target_start),
        width_bytes,
        height,
        depth,
    };
    match when {
        Now => driver::cuMemcpy3D_v2(Ptr::to(&mut copy)),
        In(stream) => driver::cuMemcpy3DAsync_v2(Ptr::to(&mut copy), stream),
    }
}

/// Copies rows; each end is an address and the bytes from one row to the next.
fn copy_rows(to: (Address, usize), from: (Address, usize), [width, height]: [usize; 2], kind: u32, when: When) -> Result {
    if width > to.1 || width > from.1 {
        return Err(Code::INVALID_PITCH);
    }
    let rows = |(address, pitch)| Pitched { address, pitch, width, height };
    let (source, target, extent) = (rows(from), rows(to), [width, height, 1]);
    copy_box(Parameters { source, target, extent, kind, ..Parameters::default() }, when)
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
