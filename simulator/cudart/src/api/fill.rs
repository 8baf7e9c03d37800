//! Filling memory with a byte.

use crate::context;
use crate::driver;
use crate::error::{Code, Result};
use crate::export::exports;
use crate::pointer::{Address, Handle};
use crate::shapes::{Extent, Pitched};

/// Fills a box, layer by layer. `fill` fills the rows of one layer.
fn layers(memory: Pitched, extent: Extent, fill: impl Fn(Address) -> Result) -> Result {
    context::ensure()?;
    let layer = memory.pitch.checked_mul(memory.height).ok_or(Code::INVALID_VALUE)?;
    (0..extent.depth).try_for_each(|index| fill(memory.address.wrapping_add(index.wrapping_mul(layer) as u64)))
}

exports! {
    fn [cudaMemset cudaMemset_ptds](address: Address, value: i32, bytes: usize) {
        context::ensure()?;
        driver::cuMemsetD8_v2(address, value as u8, bytes)
    }

    fn [cudaMemsetAsync cudaMemsetAsync_ptsz](address: Address, value: i32, bytes: usize, stream: Handle) {
        context::ensure()?;
        driver::cuMemsetD8Async(address, value as u8, bytes, stream)
    }

    fn [cudaMemset2D cudaMemset2D_ptds](address: Address, pitch: usize, value: i32, width: usize, height: usize) {
        context::ensure()?;
        driver::cuMemsetD2D8_v2(address, pitch, value as u8, width, height)
    }

    fn [cudaMemset2DAsync cudaMemset2DAsync_ptsz](
        address: Address,
        pitch: usize,
        value: i32,
        width: usize,
        height: usize,
        stream: Handle,
    ) {
        context::ensure()?;
        driver::cuMemsetD2D8Async(address, pitch, value as u8, width, height, stream)
    }

    fn [cudaMemset3D cudaMemset3D_ptds](memory: Pitched, value: i32, extent: Extent) {
        layers(memory, extent, |layer| {
            driver::cuMemsetD2D8_v2(layer, memory.pitch, value as u8, extent.width, extent.height)
        })
    }

    fn [cudaMemset3DAsync cudaMemset3DAsync_ptsz](memory: Pitched, value: i32, extent: Extent, stream: Handle) {
        layers(memory, extent, |layer| {
            driver::cuMemsetD2D8Async(layer, memory.pitch, value as u8, extent.width, extent.height, stream)
        })
    }
}
