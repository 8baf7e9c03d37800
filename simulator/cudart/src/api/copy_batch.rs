//! Batches of copies, and copies with attributes.

use std::ffi::c_void;

use super::copy::{Box3D, DEFAULT, Side, copy_box};
use crate::compat::Version;
use crate::error::{Code, Result};
use crate::export::When::In;
use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};
use crate::shapes::Pitched;
use crate::{context, driver};

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
        assert_eq!(size_of::<Operation>(), 112);
    }
}
