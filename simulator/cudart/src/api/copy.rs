//! Copying memory, in every direction and shape that needs no arrays.

use std::ffi::c_void;

use crate::driver::{self, Copy3D, Copy3DEnd};
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};
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

/// When a copy is done.
#[derive(Clone, Copy)]
enum When {
    Now,
    /// In the order of a stream.
    In(Handle),
}

use When::{In, Now};

/// `cudaPos` and `cudaExtent`: in bytes, rows and layers, where there is no array.
type Box3D = [usize; 3];

/// `cudaPitchedPtr`
#[repr(C)]
#[derive(Clone, Copy)]
struct Pitched {
    address: Ptr<c_void>,
    pitch: usize,
    width: usize,
    height: usize,
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy)]
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
fn copy(target: Ptr<c_void>, source: Ptr<c_void>, bytes: usize, kind: u32, when: When) -> Result {
    context::ensure()?;
    let (to, from) = (target.address(), source.address());
    match (kind, when) {
        (HOST_TO_HOST | DEFAULT, Now) => driver::cuMemcpy(to, from, bytes),
        (HOST_TO_HOST | DEFAULT, In(stream)) => driver::cuMemcpyAsync(to, from, bytes, stream),
        (HOST_TO_DEVICE, Now) => driver::cuMemcpyHtoD_v2(to, source, bytes),
        (HOST_TO_DEVICE, In(stream)) => driver::cuMemcpyHtoDAsync_v2(to, source, bytes, stream),
        (DEVICE_TO_HOST, Now) => driver::cuMemcpyDtoH_v2(target, from, bytes),
        (DEVICE_TO_HOST, In(stream)) => driver::cuMemcpyDtoHAsync_v2(target, from, bytes, stream),
        (DEVICE_TO_DEVICE, Now) => driver::cuMemcpyDtoD_v2(to, from, bytes),
        (DEVICE_TO_DEVICE, In(stream)) => driver::cuMemcpyDtoDAsync_v2(to, from, bytes, stream),
        _ => Err(Code::INVALID_MEMCPY_DIRECTION),
    }
}

/// Returns the kinds of memory that a copy of this kind goes to and comes from.
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

fn end(memory_type: u32, memory: Pitched, [x_bytes, y, z]: Box3D) -> Copy3DEnd {
    Copy3DEnd {
        x_bytes,
        y,
        z,
        lod: 0,
        memory_type,
        host: memory.address,
        device: memory.address.address(),
        array: 0,
        reserved: 0,
        pitch: memory.pitch,
        height: memory.height,
    }
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
fn copy_rows(to: (Ptr<c_void>, usize), from: (Ptr<c_void>, usize), [width, height]: [usize; 2], kind: u32, when: When) -> Result {
    if width > to.1 || width > from.1 {
        return Err(Code::INVALID_PITCH);
    }
    let rows = |(address, pitch)| Pitched { address, pitch, width, height };
    let parameters = Parameters {
        source_array: 0,
        source_start: [0; 3],
        source: rows(from),
        target_array: 0,
        target_start: [0; 3],
        target: rows(to),
        extent: [width, height, 1],
        kind,
    };
    copy_box(parameters, when)
}

/// Returns the address of some bytes in a variable.
fn in_variable(symbol: Ptr<c_void>, bytes: usize, offset: usize) -> Result<Address> {
    let (address, size) = registry::variable(symbol)?;
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(address + offset as u64),
        _ => Err(Code::INVALID_VALUE),
    }
}

fn to_symbol(symbol: Ptr<c_void>, source: Ptr<c_void>, bytes: usize, offset: usize, kind: u32, when: When) -> Result {
    let target = in_variable(symbol, bytes, offset)?;
    match (kind, when) {
        (HOST_TO_DEVICE, Now) => driver::cuMemcpyHtoD_v2(target, source, bytes),
        (HOST_TO_DEVICE, In(stream)) => driver::cuMemcpyHtoDAsync_v2(target, source, bytes, stream),
        (DEVICE_TO_DEVICE | DEFAULT, Now) => driver::cuMemcpy(target, source.address(), bytes),
        (DEVICE_TO_DEVICE | DEFAULT, In(stream)) => driver::cuMemcpyAsync(target, source.address(), bytes, stream),
        _ => Err(Code::INVALID_MEMCPY_DIRECTION),
    }
}

fn from_symbol(target: Ptr<c_void>, symbol: Ptr<c_void>, bytes: usize, offset: usize, kind: u32, when: When) -> Result {
    let source = in_variable(symbol, bytes, offset)?;
    match (kind, when) {
        (DEVICE_TO_HOST, Now) => driver::cuMemcpyDtoH_v2(target, source, bytes),
        (DEVICE_TO_HOST, In(stream)) => driver::cuMemcpyDtoHAsync_v2(target, source, bytes, stream),
        (DEVICE_TO_DEVICE | DEFAULT, Now) => driver::cuMemcpy(target.address(), source, bytes),
        (DEVICE_TO_DEVICE | DEFAULT, In(stream)) => driver::cuMemcpyAsync(target.address(), source, bytes, stream),
        _ => Err(Code::INVALID_MEMCPY_DIRECTION),
    }
}

exports! {
    fn [cudaMemcpy cudaMemcpy_ptds](target: Ptr<c_void>, source: Ptr<c_void>, bytes: usize, kind: u32) {
        copy(target, source, bytes, kind, Now)
    }

    fn [cudaMemcpyAsync cudaMemcpyAsync_ptsz](target: Ptr<c_void>, source: Ptr<c_void>, bytes: usize, kind: u32, stream: Handle) {
        copy(target, source, bytes, kind, In(stream))
    }

    fn cudaMemcpyPeer(target: Ptr<c_void>, target_device: i32, source: Ptr<c_void>, source_device: i32, bytes: usize) {
        context::check_device(target_device)?;
        context::check_device(source_device)?;
        copy(target, source, bytes, DEFAULT, Now)
    }

    fn cudaMemcpyPeerAsync(
        target: Ptr<c_void>,
        target_device: i32,
        source: Ptr<c_void>,
        source_device: i32,
        bytes: usize,
        stream: Handle,
    ) {
        context::check_device(target_device)?;
        context::check_device(source_device)?;
        copy(target, source, bytes, DEFAULT, In(stream))
    }

    fn [cudaMemcpy2D cudaMemcpy2D_ptds](
        target: Ptr<c_void>,
        target_pitch: usize,
        source: Ptr<c_void>,
        source_pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
    ) {
        copy_rows((target, target_pitch), (source, source_pitch), [width, height], kind, Now)
    }

    fn [cudaMemcpy2DAsync cudaMemcpy2DAsync_ptsz](
        target: Ptr<c_void>,
        target_pitch: usize,
        source: Ptr<c_void>,
        source_pitch: usize,
        width: usize,
        height: usize,
        kind: u32,
        stream: Handle,
    ) {
        copy_rows((target, target_pitch), (source, source_pitch), [width, height], kind, In(stream))
    }

    fn [cudaMemcpy3D cudaMemcpy3D_ptds](parameters: Ptr<Parameters>) {
        copy_box(parameters.read()?, Now)
    }

    fn [cudaMemcpy3DAsync cudaMemcpy3DAsync_ptsz](parameters: Ptr<Parameters>, stream: Handle) {
        copy_box(parameters.read()?, In(stream))
    }

    fn [cudaMemcpyToSymbol cudaMemcpyToSymbol_ptds](
        symbol: Ptr<c_void>,
        source: Ptr<c_void>,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        to_symbol(symbol, source, bytes, offset, kind, Now)
    }

    fn [cudaMemcpyToSymbolAsync cudaMemcpyToSymbolAsync_ptsz](
        symbol: Ptr<c_void>,
        source: Ptr<c_void>,
        bytes: usize,
        offset: usize,
        kind: u32,
        stream: Handle,
    ) {
        to_symbol(symbol, source, bytes, offset, kind, In(stream))
    }

    fn [cudaMemcpyFromSymbol cudaMemcpyFromSymbol_ptds](
        target: Ptr<c_void>,
        symbol: Ptr<c_void>,
        bytes: usize,
        offset: usize,
        kind: u32,
    ) {
        from_symbol(target, symbol, bytes, offset, kind, Now)
    }

    fn [cudaMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync_ptsz](
        target: Ptr<c_void>,
        symbol: Ptr<c_void>,
        bytes: usize,
        offset: usize,
        kind: u32,
        stream: Handle,
    ) {
        from_symbol(target, symbol, bytes, offset, kind, In(stream))
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
