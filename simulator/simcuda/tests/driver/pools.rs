//! Memory pools and stream-ordered allocation.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::sys;
use cudarc::driver::sys::CUmemPool_attribute_enum::*;

use crate::support::{raw_context, returns};

#[test]
fn memory_is_allocated_from_pools_in_stream_order() {
    let context = raw_context();
    let (mut stream, mut pool, mut current) = (null_mut(), null_mut(), null_mut());
    let mut address = 0;
    returns! {
        cuStreamCreate(&mut stream, 0) => CUDA_SUCCESS;
        cuDeviceGetDefaultMemPool(&mut pool, 0) => CUDA_SUCCESS;
        cuDeviceGetMemPool(&mut current, 0) => CUDA_SUCCESS;
        cuMemAllocAsync(&mut address, 1 << 20, stream) => CUDA_SUCCESS;
        cuMemsetD8Async(address, 1, 1 << 20, stream) => CUDA_SUCCESS;
        cuMemFreeAsync(address, stream) => CUDA_SUCCESS;
        cuMemAllocFromPoolAsync(&mut address, 64, pool, stream) => CUDA_SUCCESS;
        cuStreamSynchronize(stream) => CUDA_SUCCESS;
        cuMemFree_v2(address) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
    assert_eq!(pool, current);
}

#[test]
fn pools_are_created_queried_and_destroyed() {
    let context = raw_context();
    // SAFETY: all fields of this structure may be zero.
    let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
    properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    let (mut pool, mut address) = (null_mut(), 0);
    let (mut threshold, mut used, mut high, mut reuse) = (1u64 << 20, 0u64, 0u64, 9i32);
    let place = |value: &mut u64| -> *mut c_void { (value as *mut u64).cast() };
    returns! {
        cuMemPoolCreate(&mut pool, &properties) => CUDA_SUCCESS;
        cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, place(&mut threshold)) => CUDA_SUCCESS;
    }
    threshold = 0;
    returns! {
        cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, place(&mut threshold)) => CUDA_SUCCESS;
        cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, (&raw mut reuse).cast()) => CUDA_SUCCESS;
        cuMemAllocFromPoolAsync(&mut address, 4096, pool, null_mut()) => CUDA_SUCCESS;
        cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, place(&mut used)) => CUDA_SUCCESS;
        cuMemFreeAsync(address, null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, place(&mut high)) => CUDA_SUCCESS;
    }
    assert_eq!((threshold, used, high, reuse), (1 << 20, 4096, 4096, 1));
    returns! {
        cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, place(&mut used)) => CUDA_SUCCESS;
        cuMemPoolTrimTo(pool, 0) => CUDA_SUCCESS;
        cuMemPoolDestroy(pool) => CUDA_SUCCESS;
    }
    assert_eq!(used, 0);
    returns! {
        cuMemAllocAsync(null_mut(), 16, null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuMemAllocAsync(&mut address, 0, null_mut()) => CUDA_SUCCESS;
        cuMemFreeAsync(0, null_mut()) => CUDA_SUCCESS;
        cuMemFreeAsync(12345, null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuMemPoolGetAttribute(null_mut(), CU_MEMPOOL_ATTR_USED_MEM_HIGH, place(&mut high)) => CUDA_ERROR_INVALID_VALUE;
        cuMemPoolCreate(&mut pool, std::ptr::null()) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}
