//! The properties and attributes of a device.

use std::ffi::CStr;
use std::ptr::null_mut;

use cudarc::driver::sys::CUdevice_attribute_enum::*;
use cudarc::driver::{CudaContext, result, sys};

use crate::support::{cu, on_gpu, open, own_context, returns};

#[test]
fn the_device_has_a_name_a_size_and_an_id() {
    let context = own_context();
    assert!(CudaContext::device_count().unwrap() >= 1);
    assert!(!context.name().unwrap().is_empty());
    assert!(context.total_mem().unwrap() > 1 << 28);
    assert_eq!(context.uuid().unwrap().bytes, context.uuid().unwrap().bytes);
    let (mut major, mut minor) = (0, 0);
    returns! { cuDeviceComputeCapability(&mut major, &mut minor, 0) => CUDA_SUCCESS; }
    assert_eq!((major, minor), context.compute_capability().unwrap());
    let (free, total) = context.mem_get_info().unwrap();
    assert!(free <= total);
}

#[test]
fn a_name_is_truncated_to_the_callers_buffer() {
    open();
    let mut name = [1; 4];
    returns! {
        cuInit(0) => CUDA_SUCCESS;
        cuDeviceGetName(name.as_mut_ptr(), 4, 0) => CUDA_SUCCESS;
    }
    assert_eq!(name[3], 0);
}

#[test]
fn devices_that_do_not_exist_are_refused() {
    open();
    let mut name = [0; 8];
    returns! {
        cuInit(0) => CUDA_SUCCESS;
        cuDeviceGet(&mut 0, 64) => CUDA_ERROR_INVALID_DEVICE;
        cuDeviceGet(&mut 0, -1) => CUDA_ERROR_INVALID_DEVICE;
        cuDeviceGet(null_mut(), 0) => CUDA_ERROR_INVALID_VALUE;
        cuDeviceGetCount(null_mut()) => CUDA_ERROR_INVALID_VALUE;
        cuDeviceGetName(name.as_mut_ptr(), 8, 64) => CUDA_ERROR_INVALID_DEVICE;
        cuDeviceTotalMem_v2(&mut 0, 64) => CUDA_ERROR_INVALID_DEVICE;
        cuDeviceGetAttribute(&mut 0, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 64) => CUDA_ERROR_INVALID_DEVICE;
        cuDeviceGetAttribute(null_mut(), CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) => CUDA_ERROR_INVALID_VALUE;
    }
}

#[test]
fn attributes_are_those_of_the_profile() {
    let context = own_context();
    let attribute = |attribute| context.attribute(attribute).unwrap();
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY), 65536);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    if on_gpu() {
        return;
    }
    let profile = simt::Profile::named("h200").unwrap();
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), profile.multiprocessors as i32);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), profile.compute_capability.0 as i32);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK), profile.shared_bytes_per_block as i32);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), profile.shared_bytes_per_block_optin as i32);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED), 1);
    assert_eq!(attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH), 1);
}

#[test]
fn every_attribute_of_cuda_12_has_a_value() {
    open();
    returns! { cuInit(0) => CUDA_SUCCESS; }
    // In CUDA 12.0, the highest number is 129, and 128 is not assigned.
    for number in (1..=127).chain([129]) {
        // SAFETY: in the bindings for CUDA 12.0, every number up to 129 except 128 is an enumerator of this type.
        let attribute: sys::CUdevice_attribute = unsafe { std::mem::transmute(number) };
        let mut value = -1;
        assert_eq!(cu!(cuDeviceGetAttribute(&mut value, attribute, 0)), crate::support::OK, "attribute {number}");
    }
}

#[test]
fn errors_have_names_and_descriptions() {
    open();
    let mut text = std::ptr::null();
    for (code, wanted) in [
        (sys::CUresult::CUDA_SUCCESS, "CUDA_SUCCESS"),
        (sys::CUresult::CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX"),
        (sys::CUresult::CUDA_ERROR_CDP_VERSION_MISMATCH, "CUDA_ERROR_CDP_VERSION_MISMATCH"),
        (sys::CUresult::CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"),
    ] {
        returns! { cuGetErrorName(code, &mut text) => CUDA_SUCCESS; }
        // SAFETY: the driver returned a NUL-terminated text that is never freed.
        assert_eq!(unsafe { CStr::from_ptr(text) }.to_str().unwrap(), wanted);
        returns! { cuGetErrorString(code, &mut text) => CUDA_SUCCESS; }
        assert!(!text.is_null());
    }
    // A real driver writes to null and crashes.
    if !on_gpu() {
        returns! { cuGetErrorName(sys::CUresult::CUDA_SUCCESS, null_mut()) => CUDA_ERROR_INVALID_VALUE; }
    }
    let error = result::DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    assert_eq!(error.error_name().unwrap().to_str().unwrap(), "CUDA_ERROR_OUT_OF_MEMORY");
}

#[test]
fn functions_are_found_by_name() {
    open();
    let mut function = null_mut();
    let mut status = sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    returns! {
        cuInit(0) => CUDA_SUCCESS;
        cuGetProcAddress_v2(c"cuMemAlloc".as_ptr(), &mut function, 12000, 0, &mut status) => CUDA_SUCCESS;
    }
    assert!(!function.is_null());
    assert_eq!(status, sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS);
    // SAFETY: this is the type of cuMemAlloc_v2, whose address the driver returned.
    let allocate: unsafe extern "C" fn(*mut u64, usize) -> sys::CUresult = unsafe { std::mem::transmute(function) };
    let context = own_context();
    let mut address = 0;
    // SAFETY: the pointer is to a live variable.
    assert_eq!(unsafe { allocate(&mut address, 64) }, crate::support::OK);
    returns! { cuMemFree_v2(address) => CUDA_SUCCESS; }
    drop(context);
    for name in [c"cuMakeCoffee", c"cuMemAlloc_v2"] {
        returns! { cuGetProcAddress_v2(name.as_ptr(), &mut function, 12000, 0, &mut status) => CUDA_SUCCESS; }
        assert!(function.is_null());
        assert_eq!(status, sys::CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    }
}

#[test]
fn a_device_is_not_its_own_peer() {
    open();
    let mut can = 9;
    returns! {
        cuInit(0) => CUDA_SUCCESS;
        cuDeviceCanAccessPeer(&mut can, 0, 0) => CUDA_SUCCESS;
    }
    assert_eq!(can, 0);
}
