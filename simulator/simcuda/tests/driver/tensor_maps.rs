//! Tensor maps: what can be encoded, and what a kernel copies with one.

use std::ptr::{null, null_mut};

use cudarc::driver::sys;
use cudarc::driver::sys::CUtensorMapDataType_enum::*;
use cudarc::driver::sys::CUtensorMapFloatOOBfill_enum::*;
use cudarc::driver::sys::CUtensorMapInterleave_enum::*;
use cudarc::driver::sys::CUtensorMapL2promotion_enum::*;
use cudarc::driver::sys::CUtensorMapSwizzle_enum::*;
use cudarc::driver::{DevicePtr, LaunchConfig, PushKernelArg};

use crate::support::{cu, load, own_context, returns, with_simulator};

/// Its CUDA C is next to it.
const TENSOR_COPY: &str = include_str!("../../../simt/tests/programs/tensor_copy.ptx");

const SIDE: usize = 64;

/// Encodes a map of 64 x 64 floats with boxes this large.
fn encode(
    map: *mut sys::CUtensorMap,
    rank: u32,
    address: u64,
    box_extents: &[u32; 2],
    swizzle: sys::CUtensorMapSwizzle,
) -> sys::CUresult {
    // As many as the largest rank that is asked for reads.
    let (extents, strides, steps) = ([SIDE as u64; 6], [4 * SIDE as u64; 5], [1_u32; 6]);
    let [width, height] = *box_extents;
    let box_extents = [width, height, 1, 1, 1, 1];
    let address = std::ptr::with_exposed_provenance_mut(address as usize);
    cu!(cuTensorMapEncodeTiled(
        map,
        CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        rank,
        address,
        extents.as_ptr(),
        strides.as_ptr(),
        box_extents.as_ptr(),
        steps.as_ptr(),
        CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    ))
}

#[test]
fn a_map_that_no_gpu_could_use_is_refused() {
    let _context = own_context();
    let mut map = sys::CUtensorMap { opaque: [0; 16] };
    let (valid, invalid) = (sys::CUresult::CUDA_SUCCESS, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
    for (rank, address, box_extents, swizzle, expected) in [
        (2, 4096, [32, 8], CU_TENSOR_MAP_SWIZZLE_128B, valid),
        (2, 4096, [32, 8], CU_TENSOR_MAP_SWIZZLE_64B, invalid),
        (2, 4104, [32, 8], CU_TENSOR_MAP_SWIZZLE_NONE, invalid),
        (0, 4096, [32, 8], CU_TENSOR_MAP_SWIZZLE_NONE, invalid),
        (6, 4096, [32, 8], CU_TENSOR_MAP_SWIZZLE_NONE, invalid),
        (2, 4096, [6, 8], CU_TENSOR_MAP_SWIZZLE_NONE, invalid),
        (2, 4096, [32, 257], CU_TENSOR_MAP_SWIZZLE_NONE, invalid),
    ] {
        assert_eq!(encode(&mut map, rank, address, &box_extents, swizzle), expected, "{rank} {address} {box_extents:?}");
    }
    returns! {
        cuTensorMapReplaceAddress(&mut map, std::ptr::with_exposed_provenance_mut(8192)) => CUDA_SUCCESS;
        cuTensorMapReplaceAddress(&mut map, std::ptr::with_exposed_provenance_mut(8200)) => CUDA_ERROR_INVALID_VALUE;
    }
}

/// Runs only on the simulator: NVIDIA's driver follows null and crashes.
#[test]
fn a_map_without_a_place_or_without_extents_is_refused() {
    with_simulator(|_| {
        let _context = own_context();
        let invalid = sys::CUresult::CUDA_ERROR_INVALID_VALUE;
        assert_eq!(encode(null_mut(), 2, 4096, &[32, 8], CU_TENSOR_MAP_SWIZZLE_NONE), invalid);
        let mut nothing = sys::CUtensorMap { opaque: [0; 16] };
        let address = std::ptr::with_exposed_provenance_mut(8192);
        returns! {
            cuTensorMapReplaceAddress(null_mut(), address) => CUDA_ERROR_INVALID_VALUE;
            cuTensorMapEncodeTiled(
                &mut nothing, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, address, null(), null(), null(), null(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
            ) => CUDA_ERROR_INVALID_VALUE;
        }
    });
}

#[test]
fn a_box_arrives_where_the_swizzle_says() {
    let context = own_context();
    let stream = context.default_stream();
    let values: Vec<u32> = (0..(SIDE * SIDE) as u32).collect();
    let (elsewhere, tensor) = (stream.alloc_zeros::<u32>(SIDE * SIDE).unwrap(), stream.clone_htod(&values).unwrap());
    let words = 1024_u32;
    let mut out = stream.alloc_zeros::<u32>(words as usize + 1).unwrap();
    let kernel = load(&context, TENSOR_COPY).load_function("load").unwrap();
    let mut map = Map([0; 16]);
    let raw = (&raw mut map).cast::<sys::CUtensorMap>();
    assert_eq!(encode(raw, 2, elsewhere.device_ptr(&stream).0, &[32, 8], CU_TENSOR_MAP_SWIZZLE_128B), sys::CUresult::CUDA_SUCCESS);
    let address = std::ptr::with_exposed_provenance_mut(tensor.device_ptr(&stream).0 as usize);
    returns! { cuTensorMapReplaceAddress(raw, address) => CUDA_SUCCESS; }
    let (rank, target, bytes) = (2_u32, 0_u32, 32 * 8 * 4_u32);
    let place = Place([8, 60, 0, 0, 0]);
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (128, 1, 1), shared_mem_bytes: 4 * words };
    let mut launch = stream.launch_builder(&kernel);
    launch.arg(&map).arg(&rank).arg(&place).arg(&target).arg(&bytes).arg(&words).arg(&mut out);
    // SAFETY: the kernel has these parameters, and writes `words + 1` words to `out`.
    unsafe { launch.launch(config) }.unwrap();
    let out = stream.clone_dtoh(&out).unwrap();
    assert_eq!(out[words as usize], 1, "the box arrived");
    for (at, word) in out.iter().enumerate().take(8 * 32) {
        let (row, column) = (at / 32, (at % 32) ^ (at / 32 % 8 * 4));
        let expected = if 60 + row < SIDE { (60 + row) * SIDE + 8 + column } else { 0 };
        assert_eq!(*word as usize, expected, "word {at}");
    }
}

/// A `CUtensorMap` as a parameter.
#[repr(C, align(64))]
struct Map([u64; 16]);

/// The coordinates as a parameter.
#[repr(C)]
struct Place([i32; 5]);

// SAFETY: the kernel's parameter has this layout.
unsafe impl cudarc::driver::DeviceRepr for Map {}

// SAFETY: the kernel's parameter has this layout.
unsafe impl cudarc::driver::DeviceRepr for Place {}
