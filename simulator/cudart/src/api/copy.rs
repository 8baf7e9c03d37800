//! Copying memory and arrays, in every direction and shape.

use std::ffi::c_void;

use super::channel::ChannelFormat;
use crate::compat::Version;
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

/// `CU_MEMORYTYPE_HOST`, `_DEVICE`, `_ARRAY`, `_UNIFIED`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// `cudaPos` and `cudaExtent`: in elements, rows and layers. Memory has bytes as its elements.
type Box3D = [usize; 3];

/// One side of a copy: memory, or an array if its handle is not null.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Side {
    array: Handle,
    start: Box3D,
    memory: Pitched,
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Parameters {
    source: Side,
    target: Side,
    extent: Box3D,
    kind: u32,
}

/// `cudaMemcpy3DPeerParms`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PeerParameters {
    source: Side,
    source_device: i32,
    target: Side,
    target_device: i32,
    extent: Box3D,
}

/// `cudaMemcpy3DOperand`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operand {
    kind: u32,
    /// An address or an array.
    place: u64,
    /// Of memory: elements of a row, rows of a layer, and a hint. Of an array: the start.
    sizes: Box3D,
}

/// `cudaMemcpy3DBatchOp`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Operation {
    source: Operand,
    target: Operand,
    extent: Box3D,
    source_order: u32,
    flags: u32,
}

impl Side {
    fn rows(address: Address, pitch: usize) -> Self {
        Self { memory: Pitched { address, pitch, ..Pitched::default() }, ..Self::default() }
    }

    /// Describes a part of an array. It begins at a byte of a row.
    fn part(array: Handle, x_bytes: usize, y: usize) -> Result<Self> {
        if array == 0 { Err(Code::INVALID_VALUE) } else { Ok(Self { array, start: [x_bytes, y, 0], ..Self::default() }) }
    }

    fn is_array(&self) -> bool {
        self.array != 0
    }

    fn element_bytes(&self) -> Result<usize> {
        if self.is_array() { Ok(ChannelFormat::of_array(self.array)?.0.bytes()) } else { Ok(1) }
    }

    /// Returns the bytes of a row; those of memory have no end.
    fn row_bytes(&self) -> Result<usize> {
        if !self.is_array() {
            return Ok(usize::MAX);
        }
        let (format, descriptor) = ChannelFormat::of_array(self.array)?;
        Ok(format.bytes() * descriptor.extent[0])
    }

    /// Returns the same with the start in bytes.
    fn in_bytes(self) -> Result<Self> {
        Ok(Self { start: in_bytes(self.start, self.element_bytes()?)?, ..self })
    }

    /// Returns the same some bytes further on.
    fn after(self, bytes: usize) -> Result<Self> {
        let [x, y, z] = self.start;
        let row = self.row_bytes()?;
        if self.is_array() {
            return Ok(Self { start: [(x + bytes) % row, y + (x + bytes) / row, z], ..self });
        }
        Ok(Self::rows(self.memory.address + bytes as u64, 0))
    }

    /// Describes the side to the driver. `memory_type` is that of memory.
    fn end(self, memory_type: u32, height: usize) -> Copy3DEnd {
        let Self { array, start: [x_bytes, y, z], memory: Pitched { address, pitch, height: rows, .. } } = self;
        // "cudaMemcpy3D() will disregard that implication and silently correct the kind based on the fact that cudaArray type can only be
        // present on the device."
        let memory_type = if self.is_array() { ARRAY } else { memory_type };
        let height = if rows == 0 { height } else { rows };
        Copy3DEnd { x_bytes, y, z, memory_type, host: address, device: address, array, pitch, height, ..Copy3DEnd::default() }
    }
}

fn in_bytes([width, height, depth]: Box3D, element_bytes: usize) -> Result<Box3D> {
    Ok([width.checked_mul(element_bytes).ok_or(Code::INVALID_VALUE)?, height, depth])
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

/// Copies a box, of which everything is in bytes.
fn copy_bytes(target: Side, source: Side, [width_bytes, height, depth]: Box3D, kind: u32, when: When) -> Result {
    context::ensure()?;
    let (to, from) = memory_types(kind)?;
    let (source, target) = (source.end(from, height), target.end(to, height));
    let mut copy = Copy3D { source, target, width_bytes, height, depth };
    match when {
        Now => driver::cuMemcpy3D_v2(Ptr::to(&mut copy)),
        In(stream) => driver::cuMemcpy3DAsync_v2(Ptr::to(&mut copy), stream),
    }
}

/// Copies a box of elements. They are those of the array if there is one.
fn copy_box(target: Side, source: Side, extent: Box3D, kind: u32, when: When) -> Result {
    context::ensure()?;
    let (to, from) = (target.element_bytes()?, source.element_bytes()?);
    let is_double = |side: Side| side.is_array() && side.memory.address != 0;
    // "Passing more than one non-zero source or destination will cause cudaMemcpy3D() to return an error." "If the source and destination are
    // both arrays, cudaMemcpy3D() will return an error if they do not have the same element size."
    if is_double(target) || is_double(source) || (target.is_array() && source.is_array() && to != from) {
        return Err(Code::INVALID_VALUE);
    }
    copy_bytes(target.in_bytes()?, source.in_bytes()?, in_bytes(extent, to.max(from))?, kind, when)
}

/// Copies rows of bytes.
fn copy_rows(target: Side, source: Side, [width, height]: [usize; 2], kind: u32, when: When) -> Result {
    if [target, source].iter().any(|side| !side.is_array() && width > side.memory.pitch) {
        return Err(Code::INVALID_PITCH);
    }
    copy_bytes(target, source, [width, height, 1], kind, when)
}

/// Copies bytes without gaps. Where a row of an array ends, they go on in the next one.
fn copy_run(mut target: Side, mut source: Side, mut bytes: usize, kind: u32, when: When) -> Result {
    context::ensure()?;
    let (to, from) = (target.row_bytes()?, source.row_bytes()?);
    while bytes > 0 {
        let width = bytes.min(to.saturating_sub(target.start[0])).min(from.saturating_sub(source.start[0]));
        if width == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let height = if [to, from].iter().all(|&row| [width, usize::MAX].contains(&row)) { bytes / width } else { 1 };
        copy_bytes(target, source, [width, height, 1], kind, when)?;
        (target, source) = (target.after(width * height)?, source.after(width * height)?);
        bytes -= width * height;
    }
    Ok(())
}

/// Copies a box of a batch.
fn copy_operation(operation: Operation, stream: Handle) -> Result {
    let side = |Operand { kind, place, sizes }: Operand| match kind {
        1 => Ok(Side { memory: Pitched { address: place, pitch: sizes[0], width: 0, height: sizes[1] }, ..Side::default() }),
        2 => Ok(Side { start: sizes, ..Side::part(place as Handle, 0, 0)? }),
        _ => Err(Code::INVALID_VALUE),
    };
    let (mut target, mut source) = (side(operation.target)?, side(operation.source)?);
    if operation.extent.contains(&0) || !matches!(operation.source_order, 1..=3) {
        return Err(Code::INVALID_VALUE);
    }
    let element_bytes = target.element_bytes()?.max(source.element_bytes()?);
    for side in [&mut target, &mut source] {
        side.memory.pitch = side.memory.pitch.checked_mul(element_bytes).ok_or(Code::INVALID_VALUE)?;
    }
    copy_box(target, source, operation.extent, DEFAULT, In(stream))
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

/// Copies the boxes of a batch, and writes which one fails.
fn copy_operations(count: usize, operations: Ptr<Operation>, flags: u64, stream: Handle, failed: Ptr<usize>) -> Result {
    context::ensure()?;
    failed.put_if_asked(usize::MAX);
    if count == 0 || flags != 0 || stream == 0 {
        return Err(Code::INVALID_VALUE);
    }
    (0..count).try_for_each(|index| {
        let operation = operations.offset_bytes::<Operation>(index * size_of::<Operation>()).read()?;
        copy_operation(operation, stream).inspect_err(|_| failed.put_if_asked(index))
    })
}

driver::functions! {
    fn cuMemcpyBatchAsync(
        targets: Ptr<Address>, sources: Ptr<Address>, sizes: Ptr<usize>, count: usize, attributes: Ptr<c_void>, starts: Ptr<usize>,
        attribute_count: usize, failed: Ptr<usize>, stream: Handle,
    );
    fn cuMemcpyBatchAsync_v2(
        targets: Ptr<Address>, sources: Ptr<Address>, sizes: Ptr<usize>, count: usize, attributes: Ptr<c_void>, starts: Ptr<usize>,
        attribute_count: usize, stream: Handle,
    );
}

exports! {
    forward {
        cudaMemcpyWithAttributesAsync cudaMemcpyWithAttributesAsync_ptsz => ensure() cuMemcpyWithAttributesAsync(
            target: Address, source: Address, bytes: usize, attributes: Ptr<c_void>, stream: Handle,
        );
    }

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
            copy_rows(Side::rows(target, target_pitch), Side::rows(source, source_pitch), [width, height], kind, when)
        }

        [cudaMemcpy3D cudaMemcpy3D_ptds] [cudaMemcpy3DAsync cudaMemcpy3DAsync_ptsz](parameters: Ptr<Parameters>) |when| {
            let Parameters { source, target, extent, kind } = parameters.read()?;
            copy_box(target, source, extent, kind, when)
        }

        [cudaMemcpy3DPeer cudaMemcpy3DPeer_ptds] [cudaMemcpy3DPeerAsync cudaMemcpy3DPeerAsync_ptsz](
            parameters: Ptr<PeerParameters>,
        ) |when| {
            let PeerParameters { source, source_device, target, target_device, extent } = parameters.read()?;
            context::check_devices(target_device, source_device)?;
            copy_box(target, source, extent, DEFAULT, when)
        }

        [cudaMemcpy2DToArray cudaMemcpy2DToArray_ptds] [cudaMemcpy2DToArrayAsync cudaMemcpy2DToArrayAsync_ptsz](
            array: Handle, x: usize, y: usize, source: Address, pitch: usize, width: usize, height: usize, kind: u32,
        ) |when| {
            copy_rows(Side::part(array, x, y)?, Side::rows(source, pitch), [width, height], kind, when)
        }

        [cudaMemcpy2DFromArray cudaMemcpy2DFromArray_ptds] [cudaMemcpy2DFromArrayAsync cudaMemcpy2DFromArrayAsync_ptsz](
            target: Address, pitch: usize, array: Handle, x: usize, y: usize, width: usize, height: usize, kind: u32,
        ) |when| {
            copy_rows(Side::rows(target, pitch), Side::part(array, x, y)?, [width, height], kind, when)
        }

        [cudaMemcpyToArray cudaMemcpyToArray_ptds] [cudaMemcpyToArrayAsync cudaMemcpyToArrayAsync_ptsz](
            array: Handle, x: usize, y: usize, source: Address, bytes: usize, kind: u32,
        ) |when| {
            copy_run(Side::part(array, x, y)?, Side::rows(source, 0), bytes, kind, when)
        }

        [cudaMemcpyFromArray cudaMemcpyFromArray_ptds] [cudaMemcpyFromArrayAsync cudaMemcpyFromArrayAsync_ptsz](
            target: Address, array: Handle, x: usize, y: usize, bytes: usize, kind: u32,
        ) |when| {
            copy_run(Side::rows(target, 0), Side::part(array, x, y)?, bytes, kind, when)
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

    brief {
        [cudaMemcpy2DArrayToArray cudaMemcpy2DArrayToArray_ptds](
            target: Handle, to_x: usize, to_y: usize, source: Handle, from_x: usize, from_y: usize, width: usize, height: usize, kind: u32,
        ) => copy_rows(Side::part(target, to_x, to_y)?, Side::part(source, from_x, from_y)?, [width, height], kind, Now);
        [cudaMemcpyArrayToArray cudaMemcpyArrayToArray_ptds](
            target: Handle, to_x: usize, to_y: usize, source: Handle, from_x: usize, from_y: usize, bytes: usize, kind: u32,
        ) => copy_run(Side::part(target, to_x, to_y)?, Side::part(source, from_x, from_y)?, bytes, kind, Now);
    }

    fn [cudaMemcpy3DWithAttributesAsync cudaMemcpy3DWithAttributesAsync_ptsz](operation: Ptr<Operation>, flags: u64, stream: Handle) {
        copy_operations(1, operation, flags, stream, Ptr::NULL)
    }

    // CUDA 12 has one more argument before the last: where to write which copy failed.
    fn [cudaMemcpyBatchAsync cudaMemcpyBatchAsync_ptsz](
        targets: Ptr<Address>, sources: Ptr<Address>, sizes: Ptr<usize>, count: usize, attributes: Ptr<c_void>, starts: Ptr<usize>,
        attribute_count: usize, next: Ptr<usize>, last: Handle,
    ) {
        context::ensure()?;
        match Version::current() {
            Version::Cuda12 => cuMemcpyBatchAsync(targets, sources, sizes, count, attributes, starts, attribute_count, next, last),
            Version::Cuda13 => {
                let stream = next.address() as Handle;
                cuMemcpyBatchAsync_v2(targets, sources, sizes, count, attributes, starts, attribute_count, stream)
            }
        }
    }

    // The same holds here: its third argument is missing in CUDA 13.
    fn [cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz](
        count: usize, operations: Ptr<Operation>, third: Ptr<usize>, fourth: u64, fifth: Handle,
    ) {
        let (failed, flags, stream) = match Version::current() {
            Version::Cuda12 => (third, fourth, fifth),
            Version::Cuda13 => (Ptr::NULL, third.address(), fourth as Handle),
        };
        copy_operations(count, operations, flags, stream, failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_nvidias_headers() {
        assert_eq!(size_of::<Parameters>(), 160);
        assert_eq!(size_of::<PeerParameters>(), 168);
        assert_eq!(size_of::<Operation>(), 112);
        assert_eq!(size_of::<Pitched>(), 32);
    }
}
