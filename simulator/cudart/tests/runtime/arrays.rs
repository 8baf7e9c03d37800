//! Arrays: what they are made of, and what they say about themselves.

use std::ptr::{null, null_mut};

use crate::support::*;

api! {
    fn cudaMallocMipmappedArray(array: &mut Array, channels: *const Channels, extent: Extent, levels: u32, flags: u32);
    fn cudaGetMipmappedArrayLevel(level: &mut Array, array: Array, number: u32);
    fn cudaFreeMipmappedArray(array: Array);
    fn cudaArrayGetInfo(channels: *mut Channels, extent: *mut Extent, flags: *mut u32, array: Array);
    fn cudaGetChannelDesc(channels: *mut Channels, array: Array);
}

/// `cudaArrayLayered`, `_SurfaceLoadStore`, `_Cubemap`, `_Sparse`
const LAYERED: u32 = 1;
const SURFACE: u32 = 2;
const CUBEMAP: u32 = 4;
const SPARSE: u32 = 0x40;

const HALVES: Channels = Channels { bits: [16, 16, 0, 0], kind: 2 };
const INTS: Channels = Channels { bits: [32, 32, 32, 32], kind: 0 };

fn described(array: Array) -> (Channels, Extent, u32) {
    let (mut channels, mut extent, mut flags, mut again) = (Channels::default(), Extent::default(), 0, Channels::default());
    returns! {
        cudaArrayGetInfo(&mut channels, &mut extent, &mut flags, array) => OK;
        // Each result may be left out.
        cudaArrayGetInfo(null_mut(), null_mut(), null_mut(), array) => OK;
        cudaGetChannelDesc(&mut again, array) => OK;
    }
    assert_eq!(channels, again);
    (channels, extent, flags)
}

#[test]
fn an_array_says_how_it_was_made() {
    for (channels, sides, flags) in [
        (FLOAT, [7, 0, 0], 0),
        (HALVES, [7, 5, 0], SURFACE),
        (INTS, [7, 5, 3], 0),
        (BYTE, [7, 0, 3], LAYERED),
        (SHORT, [7, 5, 3], LAYERED | SURFACE),
        (FLOAT, [4, 4, 6], CUBEMAP),
        (FLOAT, [4, 4, 12], CUBEMAP | LAYERED),
    ] {
        let mut array = 0;
        returns! { cudaMalloc3DArray(&mut array, &channels, extent(sides), flags) => OK; }
        assert_eq!(described(array), (channels, extent(sides), flags));
        returns! { cudaFreeArray(array) => OK; }
    }
    let mut array = 0;
    returns! { cudaMallocArray(&mut array, &BYTE, 6, 2, 0) => OK; }
    assert_eq!(described(array), (BYTE, extent([6, 2, 0]), 0));
    returns! { cudaFreeArray(array) => OK; }
}

#[test]
fn each_level_of_a_mipmapped_array_has_half_the_sides_and_is_an_array() {
    let (mut array, mut level) = (0, 0);
    // More levels than there are sizes.
    returns! { cudaMallocMipmappedArray(&mut array, &FLOAT, extent([8, 4, 0]), 9, 0) => OK; }
    for (number, sides) in [[8, 4, 0], [4, 2, 0], [2, 1, 0], [1, 1, 0]].into_iter().enumerate() {
        returns! { cudaGetMipmappedArrayLevel(&mut level, array, number as u32) => OK; }
        assert_eq!(described(level).1, extent(sides));
        let values: Vec<f32> = (0..sides[0] * sides[1]).map(|at| (number * 100 + at) as f32).collect();
        fill(level, sides, &values);
        assert_eq!(contents::<f32>(level, sides), values);
    }
    returns! {
        cudaGetMipmappedArrayLevel(&mut level, array, 4) => INVALID_VALUE;
        // "If mipmappedArray is NULL, cudaErrorInvalidResourceHandle is returned."
        cudaGetMipmappedArrayLevel(&mut level, 0, 0) => INVALID_RESOURCE_HANDLE;
        cudaFreeArray(level) => INVALID_VALUE;
        cudaFreeMipmappedArray(array) => OK;
        cudaFreeMipmappedArray(array) => INVALID_VALUE;
        cudaFreeMipmappedArray(0) => OK;
    }
}

#[test]
fn arrays_that_cannot_be_are_refused() {
    let mut array = 0;
    let of = |bits, kind| Channels { bits, kind };
    returns! {
        cudaMallocArray(&mut array, null(), 4, 4, 0) => INVALID_VALUE;
        cudaMallocArray(&mut array, &FLOAT, 0, 4, 0) => INVALID_VALUE;
        // Only `cudaMalloc3DArray` has layers and faces.
        cudaMallocArray(&mut array, &FLOAT, 4, 4, LAYERED) => INVALID_VALUE;
        cudaMalloc3DArray(&mut array, &FLOAT, extent([4, 4, 5]), CUBEMAP) => INVALID_VALUE;
        cudaMalloc3DArray(&mut array, &FLOAT, extent([4, 3, 6]), CUBEMAP) => INVALID_VALUE;
        cudaMalloc3DArray(&mut array, &FLOAT, extent([4, 4, 7]), CUBEMAP | LAYERED) => INVALID_VALUE;
        cudaMalloc3DArray(&mut array, &FLOAT, extent([4, 4, 0]), LAYERED) => INVALID_VALUE;
        // Longer than any image of the device.
        cudaMallocArray(&mut array, &FLOAT, 131_073, 0, 0) => INVALID_VALUE;
        cudaMallocArray(&mut array, &FLOAT, 16, 65_537, 0) => INVALID_VALUE;
        cudaMallocArray(&mut array, &FLOAT, 32_769, 0, SURFACE) => INVALID_VALUE;
        cudaMalloc3DArray(&mut array, &BYTE, extent([4, 4, 2049]), LAYERED) => INVALID_VALUE;
        // "This occurs if the format is not one of the formats specified by cudaChannelFormatKind, or if one of the dimensions is invalid."
        cudaMallocArray(&mut array, &of([32, 32, 32, 0], 2), 4, 4, 0) => INVALID_CHANNEL_DESCRIPTOR;
        cudaMallocArray(&mut array, &of([8, 0, 0, 0], 2), 4, 4, 0) => INVALID_CHANNEL_DESCRIPTOR;
        cudaMallocArray(&mut array, &of([32, 0, 0, 0], 3), 4, 4, 0) => INVALID_CHANNEL_DESCRIPTOR;
        // What the driver lacks: normalized integers, compressed blocks, planes, and memory that comes later.
        cudaMallocArray(&mut array, &of([8, 8, 8, 8], 7), 4, 4, 0) => NOT_SUPPORTED;
        cudaMallocArray(&mut array, &of([8, 8, 8, 8], 17), 4, 4, 0) => NOT_SUPPORTED;
        cudaMallocArray(&mut array, &of([8, 8, 8, 0], 4), 4, 4, 0) => NOT_SUPPORTED;
        cudaMallocArray(&mut array, &FLOAT, 4, 4, SPARSE) => NOT_SUPPORTED;
        // "If devPtr is 0, no operation is performed."
        cudaFreeArray(0) => OK;
        cudaFreeArray(12345) => INVALID_VALUE;
        cudaMallocArray(&mut array, &FLOAT, 4, 4, 0) => OK;
        cudaFreeArray(array) => OK;
        cudaFreeArray(array) => INVALID_VALUE;
        cudaGetChannelDesc(&mut Channels::default(), array) => INVALID_RESOURCE_HANDLE;
        cudaGetChannelDesc(null_mut(), array) => INVALID_VALUE;
    }
}
