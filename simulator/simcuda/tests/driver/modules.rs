//! Modules: loading PTX, refusing what is not PTX, functions and variables.

use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

use cudarc::driver::sys;
use cudarc::driver::sys::CUfunction_attribute_enum::*;

use crate::support::{SHARED, VECTORS, cu, garbage, load, on_gpu, own_context, raw_context, raw_function, returns, with_simulator};

#[test]
fn functions_and_variables_are_found_by_name() {
    let context = raw_context();
    let (module, function) = raw_function(VECTORS, c"add");
    let mut again = null_mut();
    let (mut address, mut bytes, mut value) = (0, 0, 0u32);
    returns! {
        cuModuleGetFunction(&mut again, module, c"add".as_ptr()) => CUDA_SUCCESS;
        cuModuleGetFunction(&mut again, module, c"subtract".as_ptr()) => CUDA_ERROR_NOT_FOUND;
        cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"table".as_ptr()) => CUDA_SUCCESS;
    }
    assert_eq!(bytes, 24);
    returns! {
        cuMemsetD8_v2(address, 1, 24) => CUDA_SUCCESS;
        cuModuleGetGlobal_v2(&mut address, null_mut(), module, c"counter".as_ptr()) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2((&raw mut value).cast(), address, 4) => CUDA_SUCCESS;
        cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"absent".as_ptr()) => CUDA_ERROR_NOT_FOUND;
        cuModuleGetGlobal_v2(null_mut(), null_mut(), module, c"table".as_ptr()) => CUDA_ERROR_INVALID_VALUE;
    }
    assert_eq!(value, 7, "a variable has its initial value");

    let mut of = null_mut();
    returns! {
        cuFuncGetModule(&mut of, function) => CUDA_SUCCESS;
        cuModuleUnload(module) => CUDA_SUCCESS;
    }
    assert_eq!(of, module);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn an_unloaded_module_is_gone() {
    // A real driver follows these pointers and may crash.
    if on_gpu() {
        return;
    }
    let context = raw_context();
    let (module, function) = raw_function(VECTORS, c"add");
    let (mut found, mut address, mut bytes) = (null_mut(), 0, 0);
    returns! {
        cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"table".as_ptr()) => CUDA_SUCCESS;
        cuModuleUnload(module) => CUDA_SUCCESS;
        cuModuleUnload(module) => CUDA_ERROR_INVALID_HANDLE;
        cuModuleUnload(null_mut()) => CUDA_ERROR_INVALID_HANDLE;
        cuModuleGetFunction(&mut found, module, c"add".as_ptr()) => CUDA_ERROR_INVALID_HANDLE;
        cuModuleGetFunction(&mut found, garbage(), c"add".as_ptr()) => CUDA_ERROR_INVALID_HANDLE;
        cuFuncGetAttribute(&mut 0, CU_FUNC_ATTRIBUTE_NUM_REGS, function) => CUDA_ERROR_INVALID_HANDLE;
        cuMemsetD8_v2(address, 0, 24) => CUDA_ERROR_INVALID_VALUE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn what_is_not_ptx_is_refused() {
    let context = raw_context();
    let mut module = null_mut();
    let cubin = b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00".repeat(8);
    let broken = CString::new(VECTORS.replace("add.f32", "add.f32 [")).unwrap();
    returns! {
        cuModuleLoadData(&mut module, std::ptr::null()) => CUDA_ERROR_INVALID_VALUE;
        cuModuleLoadData(null_mut(), broken.as_ptr().cast()) => CUDA_ERROR_INVALID_VALUE;
        cuModuleLoadData(&mut module, broken.as_ptr().cast()) => CUDA_ERROR_INVALID_PTX;
        cuModuleLoad(&mut module, c"/no/such/file.ptx".as_ptr()) => CUDA_ERROR_FILE_NOT_FOUND;
    }
    let future = CString::new(VECTORS.replace(".version 7.0", ".version 19.9")).unwrap();
    let newer = CString::new(VECTORS.replace("sm_70", "sm_100").replace(".version 7.0", ".version 8.6")).unwrap();
    returns! {
        cuModuleLoadData(&mut module, c"int main() {}".as_ptr().cast()) => CUDA_ERROR_INVALID_IMAGE;
        cuModuleLoadData(&mut module, c"".as_ptr().cast()) => CUDA_ERROR_INVALID_IMAGE;
        cuModuleLoadData(&mut module, newer.as_ptr().cast()) => CUDA_ERROR_INVALID_PTX;
    }
    if on_gpu() {
        returns! { cuModuleLoadData(&mut module, future.as_ptr().cast()) => CUDA_ERROR_UNSUPPORTED_PTX_VERSION; }
    } else {
        returns! {
            cuModuleLoadData(&mut module, c"// .version 7.0".as_ptr().cast()) => CUDA_ERROR_INVALID_IMAGE;
            cuModuleLoadData(&mut module, cubin.as_ptr().cast()) => CUDA_ERROR_NO_BINARY_FOR_GPU;
            cuModuleLoadFatBinary(&mut module, cubin.as_ptr().cast()) => CUDA_ERROR_NO_BINARY_FOR_GPU;
        }
    }
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn ptx_of_a_newer_version_is_tried_with_one_warning() {
    let printed = with_simulator(|_| {
        let context = raw_context();
        let future = VECTORS.replace(".version 7.0", ".version 19.9");
        raw_function(&future, c"add");
        let text = CString::new(future.replace("add.f32", "frobnicate.f32")).unwrap();
        let mut module = null_mut();
        returns! {
            cuModuleLoadData(&mut module, text.as_ptr().cast()) => CUDA_SUCCESS;
            cuModuleGetFunction(&mut null_mut(), module, c"add".as_ptr()) => CUDA_ERROR_NOT_SUPPORTED;
            cuCtxDestroy_v2(context) => CUDA_SUCCESS;
        }
    });
    if !printed.is_empty() {
        let warning = "PTX version 19.9 is newer than this simulator, which knows versions before 10.0";
        assert_eq!(printed.matches(warning).count(), 1, "{printed}");
    }
}

#[test]
fn the_compilers_message_goes_to_the_callers_buffer() {
    let context = raw_context();
    let mut module = null_mut();
    let broken = CString::new(VECTORS.replace("add.f32", "add.f32 [")).unwrap();
    let mut log = vec![0u8; 4096];
    let mut options = [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), log.len() as *mut c_void];
    let load = |module: &mut sys::CUmodule, text: &CString, options: &mut [_; 2], values: &mut [_; 2]| {
        cu!(cuModuleLoadDataEx(module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr()))
    };
    assert_eq!(load(&mut module, &broken, &mut options, &mut values), sys::CUresult::CUDA_ERROR_INVALID_PTX);
    let message = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert!(message.contains("line"), "{message:?}");
    assert_eq!(values[1] as usize, message.len());

    let good = CString::new(VECTORS).unwrap();
    values[1] = log.len() as *mut c_void;
    assert_eq!(load(&mut module, &good, &mut options, &mut values), crate::support::OK);
    assert_eq!(log[0], 0);
    returns! { cuCtxDestroy_v2(context) => CUDA_SUCCESS; }
}

#[test]
fn a_function_says_what_it_needs() {
    let context = own_context();
    let shared = load(&context, SHARED);
    let takes_4096 = shared.load_function("takes_4096").unwrap();
    assert_eq!(takes_4096.shared_size_bytes().unwrap(), 4096);
    assert_eq!(takes_4096.max_threads_per_block().unwrap(), 1024);
    assert!(takes_4096.num_regs().unwrap() > 0);
    let vectors = load(&context, VECTORS);
    let bounded = vectors.load_function("bounded").unwrap();
    assert_eq!(bounded.max_threads_per_block().unwrap(), 64);
    assert_eq!(bounded.get_attribute(CU_FUNC_ATTRIBUTE_PTX_VERSION).unwrap(), 70);
    bounded.set_function_cache_config(sys::CUfunc_cache::CU_FUNC_CACHE_PREFER_SHARED).unwrap();
}

#[test]
fn cudarc_copies_to_and_from_variables() {
    let context = own_context();
    let stream = context.default_stream();
    let module = load(&context, VECTORS);
    let mut table = module.get_global("table", &stream).unwrap();
    stream.memcpy_htod(&[4u8; 24], &mut table).unwrap();
    assert_eq!(stream.clone_dtoh(&table).unwrap(), [4; 24]);
}
