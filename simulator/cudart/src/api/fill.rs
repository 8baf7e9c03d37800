//! Filling memory with a byte.

use crate::error::{Code, Result};
use crate::export::When::{self, In, Now};
use crate::export::exports;
use crate::pointer::Address;
use crate::shapes::{Extent, Pitched};
use crate::{context, driver};

/// Fills rows.
fn rows(address: Address, pitch: usize, value: i32, [width, height]: [usize; 2], when: When) -> Result {
    context::ensure()?;
    match when {
        Now => driver::cuMemsetD2D8_v2(address, pitch, value as u8, width, height),
        In(stream) => driver::cuMemsetD2D8Async(address, pitch, value as u8, width, height, stream),
    }
}

exports! {
    timed {
        [cudaMemset cudaMemset_ptds] [cudaMemsetAsync cudaMemsetAsync_ptsz](address: Address, value: i32, bytes: usize) |when| {
            context::ensure()?;
            match when {
                Now => driver::cuMemsetD8_v2(address, value as u8, bytes),
                In(stream) => driver::cuMemsetD8Async(address, value as u8, bytes, stream),
            }
        }

        [cudaMemset2D cudaMemset2D_ptds] [cudaMemset2DAsync cudaMemset2DAsync_ptsz](
            address: Address, pitch: usize, value: i32, width: usize, height: usize,
        ) |when| {
            rows(address, pitch, value, [width, height], when)
        }

        // A box, layer by layer.
        [cudaMemset3D cudaMemset3D_ptds] [cudaMemset3DAsync cudaMemset3DAsync_ptsz](memory: Pitched, value: i32, extent: Extent) |when| {
            context::ensure()?;
            let Pitched { address, pitch, height, .. } = memory;
            let layer = pitch.checked_mul(height).ok_or(Code::INVALID_VALUE)?;
            (0..extent.depth).try_for_each(|index| {
                let start = address.wrapping_add(index.wrapping_mul(layer) as u64);
                rows(start, pitch, value, [extent.width, extent.height], when)
            })
        }
    }
}
