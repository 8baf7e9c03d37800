//! Memory pools and stream-ordered allocation.

use std::ffi::c_void;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::ptr::null_mut;

use cudarc::driver::sys;
use cudarc::driver::sys::CUmemPool_attribute_enum::*;

use crate::support::{in_own_process, inherited_handle, raw_context, returns};

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

/// Shares a pool with a child process: its descriptor as standard input, and the data of the address in the environment.
#[test]
fn another_process_uses_memory_of_the_same_pool() {
    const TOLD: &str = "SIMCUDA_TEST_POOL";
    const FILE_DESCRIPTOR: sys::CUmemAllocationHandleType =
        sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    let mut word = 0u32;
    if let Ok(told) = std::env::var(TOLD) {
        let _context = raw_context();
        let (mut pool, mut address, mut none) = (null_mut(), 0, 0);
        let byte = |at: usize| u8::from_str_radix(&told[2 * at..2 * at + 2], 16).unwrap();
        let mut data = sys::CUmemPoolPtrExportData { reserved: std::array::from_fn(byte) };
        returns! {
            cuMemPoolImportFromShareableHandle(&mut pool, inherited_handle(), FILE_DESCRIPTOR, 0) => CUDA_SUCCESS;
            cuMemPoolImportPointer(&mut address, pool, &mut data) => CUDA_SUCCESS;
            cuMemAllocFromPoolAsync(&mut none, 64, pool, null_mut()) => CUDA_ERROR_INVALID_VALUE;
            cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) => CUDA_SUCCESS;
        }
        assert_eq!(word, 5);
        returns! {
            cuMemsetD32_v2(address, 6, 1) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
            cuMemFree_v2(address) => CUDA_SUCCESS;
        }
        return;
    }
    in_own_process(|| {
        let _context = raw_context();
        // SAFETY: the structure is valid with zeros: null pointers, and numbers of enumerations that have a 0.
        let mut properties: sys::CUmemPoolProps = unsafe { std::mem::MaybeUninit::zeroed().assume_init() };
        properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        properties.handleTypes = FILE_DESCRIPTOR;
        let (mut pool, mut address, mut descriptor) = (null_mut(), 0, -1);
        let mut data = sys::CUmemPoolPtrExportData { reserved: [0; 64] };
        returns! {
            cuMemPoolCreate(&mut pool, &properties) => CUDA_SUCCESS;
            cuMemAllocFromPoolAsync(&mut address, 64, pool, null_mut()) => CUDA_SUCCESS;
            cuMemsetD32_v2(address, 5, 16) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
            cuMemPoolExportToShareableHandle((&raw mut descriptor).cast(), pool, FILE_DESCRIPTOR, 0) => CUDA_SUCCESS;
            cuMemPoolExportPointer(&mut data, address) => CUDA_SUCCESS;
        }
        // SAFETY: the driver just made this descriptor for the program, which closes it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        let told: String = data.reserved.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "pools::another_process_uses_memory_of_the_same_pool", "--nocapture"]).env(TOLD, told);
        let output = child.stdin(Stdio::from(descriptor)).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        returns! {
            cuMemcpyDtoH_v2((&raw mut word).cast(), address, 4) => CUDA_SUCCESS;
            cuMemFree_v2(address) => CUDA_SUCCESS;
            cuMemPoolDestroy(pool) => CUDA_SUCCESS;
        }
        assert_eq!(word, 6);
    });
}
