//! Libraries and kernels, which do not belong to a context. The codes are those of NVIDIA's driver for CUDA 13.0 on an H100.

use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use cudarc::driver::sys;
use cudarc::driver::sys::CUfunction_attribute_enum::*;

use crate::support::{SHARED, VECTORS, garbage, on_gpu, raw_context, returns};

/// Loads a library of PTX without options.
fn load(ptx: &str) -> sys::CUlibrary {
    let (text, mut library) = (CString::new(ptx).unwrap(), null_mut());
    returns! {
        cuLibraryLoadData(&mut library, text.as_ptr().cast(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0) => CUDA_SUCCESS;
    }
    library
}

fn kernel_of(library: sys::CUlibrary, name: &CStr) -> sys::CUkernel {
    let mut kernel = null_mut();
    returns! { cuLibraryGetKernel(&mut kernel, library, name.as_ptr()) => CUDA_SUCCESS; }
    kernel
}

/// Reads the variable that `count` increments.
fn counter(library: sys::CUlibrary) -> u32 {
    let (mut address, mut bytes, mut value) = (0, 0, 0u32);
    returns! {
        cuLibraryGetGlobal(&mut address, &mut bytes, library, c"counter".as_ptr()) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2((&raw mut value).cast(), address, 4) => CUDA_SUCCESS;
    }
    assert_eq!(bytes, 4);
    value
}

#[test]
fn a_kernel_of_a_library_is_launched_as_it_is_and_as_a_function() {
    let context = raw_context();
    let library = load(VECTORS);
    let kernel = kernel_of(library, c"count");
    assert_eq!(kernel_of(library, c"count"), kernel, "asked twice");
    assert_eq!(counter(library), 7);
    let (mut function, mut module, mut of_module, mut of_function) = (null_mut(), null_mut(), null_mut(), null_mut());
    returns! {
        cuLaunchKernel(kernel.cast(), 1, 1, 1, 32, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_SUCCESS;
        cuKernelGetFunction(&mut function, kernel) => CUDA_SUCCESS;
        cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
        cuLibraryGetModule(&mut module, library) => CUDA_SUCCESS;
        cuModuleGetFunction(&mut of_module, module, c"count".as_ptr()) => CUDA_SUCCESS;
        cuFuncGetModule(&mut of_function, function) => CUDA_SUCCESS;
        cuModuleUnload(module) => CUDA_ERROR_NOT_PERMITTED;
    }
    assert_eq!(counter(library), 7 + 64);
    assert_eq!((of_module, of_function), (function, module));
    returns! {
        cuLibraryUnload(library) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn each_context_has_its_own_variables_of_a_library() {
    let first = raw_context();
    let library = load(VECTORS);
    let kernel = kernel_of(library, c"count");
    let launch = || {
        returns! {
            cuLaunchKernel(kernel.cast(), 1, 1, 1, 32, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_SUCCESS;
            cuCtxSynchronize() => CUDA_SUCCESS;
        }
        counter(library)
    };
    assert_eq!(launch(), 7 + 32);
    let second = raw_context();
    assert_eq!(launch(), 7 + 32);
    returns! { cuCtxDestroy_v2(second) => CUDA_SUCCESS; }
    returns! { cuCtxSetCurrent(first) => CUDA_SUCCESS; }
    assert_eq!(launch(), 7 + 64);
    returns! {
        cuLibraryUnload(library) => CUDA_SUCCESS;
        cuCtxDestroy_v2(first) => CUDA_SUCCESS;
    }
}

#[test]
fn what_a_kernel_needs_can_be_asked_and_set_without_its_function() {
    let context = raw_context();
    let library = load(SHARED);
    let kernel = kernel_of(library, c"takes_4096");
    let (mut value, mut blocks, mut function) = (0, 0, null_mut());
    returns! {
        cuKernelGetAttribute(&mut value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, 0) => CUDA_SUCCESS;
        cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000, kernel, 0) => CUDA_SUCCESS;
        cuKernelSetCacheConfig(kernel, sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED, 0) => CUDA_SUCCESS;
        cuKernelGetAttribute(&mut 0, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel, 3) => CUDA_ERROR_INVALID_DEVICE;
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel.cast(), 64, 0) => CUDA_SUCCESS;
        cuFuncGetAttribute(&mut 0, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.cast()) => CUDA_ERROR_INVALID_HANDLE;
        cuKernelGetFunction(&mut function, kernel) => CUDA_SUCCESS;
    }
    assert_eq!(value, 4096);
    assert!(blocks > 0);
    returns! { cuFuncGetAttribute(&mut value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function) => CUDA_SUCCESS; }
    assert_eq!(value, 1000);
    returns! {
        cuLibraryUnload(library) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn a_library_is_loaded_from_a_file_and_lists_nothing_that_it_lacks() {
    let context = raw_context();
    let path = CString::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ptx/vectors.ptx")).unwrap();
    let (mut library, mut kernel, mut address, mut bytes) = (null_mut(), null_mut(), 0, 0);
    returns! {
        cuLibraryLoadFromFile(&mut library, path.as_ptr(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0) => CUDA_SUCCESS;
        cuLibraryGetKernel(&mut kernel, library, c"subtract".as_ptr()) => CUDA_ERROR_NOT_FOUND;
        cuLibraryGetGlobal(&mut address, &mut bytes, library, c"absent".as_ptr()) => CUDA_ERROR_NOT_FOUND;
        cuLibraryGetManaged(&mut address, &mut bytes, library, c"table".as_ptr()) => CUDA_ERROR_NOT_FOUND;
        cuLibraryUnload(library) => CUDA_SUCCESS;
        cuLibraryUnload(null_mut()) => CUDA_ERROR_INVALID_HANDLE;
    }
    let missing = c"/no/such/file.ptx";
    returns! {
        cuLibraryLoadFromFile(&mut library, missing.as_ptr(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0) => CUDA_ERROR_FILE_NOT_FOUND;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn an_unloaded_library_is_gone() {
    // A real driver follows these pointers and may crash.
    if on_gpu() {
        return;
    }
    let context = raw_context();
    let library = load(VECTORS);
    let kernel = kernel_of(library, c"count");
    let (mut function, mut module) = (null_mut(), null_mut());
    returns! {
        cuKernelGetFunction(&mut function, kernel) => CUDA_SUCCESS;
        cuLibraryUnload(library) => CUDA_SUCCESS;
        cuLibraryUnload(library) => CUDA_ERROR_INVALID_HANDLE;
        cuLibraryGetModule(&mut module, library) => CUDA_ERROR_INVALID_HANDLE;
        cuKernelGetFunction(&mut function, kernel) => CUDA_ERROR_INVALID_HANDLE;
        cuKernelGetFunction(&mut function, garbage()) => CUDA_ERROR_INVALID_HANDLE;
        cuLaunchKernel(kernel.cast(), 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_ERROR_INVALID_HANDLE;
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_ERROR_INVALID_HANDLE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}
