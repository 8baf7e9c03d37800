//! Linking PTX, and loading what was linked.

use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

use cudarc::driver::sys;
use cudarc::driver::sys::CUjitInputType::*;

use crate::support::{VECTORS, raw_context, returns};

pub const USER: &str = "
.version 7.0
.target sm_50
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .align 4 .u32 total;
.global .align 4 .u32 own = 20;
.visible .entry k() {
    .reg .b32 %r<4>;
    ld.global.u32 %r1, [own];
    { .param .b32 x; st.param.b32 [x+0], %r1; .param .b32 r; call.uni (r), twice, (x); ld.param.b32 %r3, [r+0]; }
    ld.global.u32 %r2, [total];
    add.u32 %r3, %r3, %r2;
    st.global.u32 [total], %r3;
    ret;
}";

pub const USED: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .u32 total = 2;
.global .align 4 .u32 own = 2;
.visible .func (.param .b32 r) twice(.param .b32 x) {
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [x];
    ld.global.u32 %r3, [own];
    mul.lo.s32 %r2, %r1, %r3;
    st.param.b32 [r], %r2;
    ret;
}";

fn create() -> sys::CUlinkState {
    let mut link = null_mut();
    returns! { cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link) => CUDA_SUCCESS; }
    link
}

fn add(link: sys::CUlinkState, name: &CStr, ptx: &str) {
    let text = CString::new(ptx).unwrap();
    let bytes = text.as_bytes_with_nul().len();
    returns! {
        cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, text.as_ptr() as *mut c_void, bytes, name.as_ptr(), 0, null_mut(), null_mut()) => CUDA_SUCCESS;
    }
}

fn complete(link: sys::CUlinkState) -> *mut c_void {
    let (mut linked, mut bytes) = (null_mut(), 0);
    returns! { cuLinkComplete(link, &mut linked, &mut bytes) => CUDA_SUCCESS; }
    assert!(bytes > 0);
    linked
}

#[test]
fn a_kernel_uses_the_function_and_the_variable_of_another_module() {
    let context = raw_context();
    let link = create();
    add(link, c"user", USER);
    add(link, c"used", USED);
    let (mut module, mut function, mut address, mut bytes, mut total) = (null_mut(), null_mut(), 0, 0, 0u32);
    returns! {
        cuModuleLoadData(&mut module, complete(link)) => CUDA_SUCCESS;
        cuLinkDestroy(link) => CUDA_SUCCESS;
        cuModuleGetFunction(&mut function, module, c"k".as_ptr()) => CUDA_SUCCESS;
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_SUCCESS;
        cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"total".as_ptr()) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2((&raw mut total).cast(), address, 4) => CUDA_SUCCESS;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
    assert_eq!(total, 42);
}

#[test]
fn a_file_is_linked_and_the_device_runtime_adds_nothing() {
    if crate::support::on_gpu() {
        return;
    }
    let context = raw_context();
    let link = create();
    let folder = tempfile::TempDir::new().unwrap();
    let path = |name: &str, text: &[u8]| {
        std::fs::write(folder.path().join(name), text).unwrap();
        CString::new(folder.path().join(name).to_str().unwrap()).unwrap()
    };
    let (ptx, runtime) = (path("vectors.ptx", VECTORS.as_bytes()), path("libcudadevrt.a", b"!<arch>\n"));
    let object = path("other.o", b"\x7fELF and so on");
    let (mut module, mut function) = (null_mut(), null_mut());
    returns! {
        cuLinkAddFile_v2(link, CU_JIT_INPUT_PTX, ptx.as_ptr(), 0, null_mut(), null_mut()) => CUDA_SUCCESS;
        cuLinkAddFile_v2(link, CU_JIT_INPUT_LIBRARY, runtime.as_ptr(), 0, null_mut(), null_mut()) => CUDA_SUCCESS;
        cuLinkAddFile_v2(link, CU_JIT_INPUT_OBJECT, object.as_ptr(), 0, null_mut(), null_mut()) => CUDA_ERROR_NO_BINARY_FOR_GPU;
        cuLinkAddFile_v2(link, CU_JIT_INPUT_PTX, c"/no/such/file.ptx".as_ptr(), 0, null_mut(), null_mut()) => CUDA_ERROR_FILE_NOT_FOUND;
        cuModuleLoadData(&mut module, complete(link)) => CUDA_SUCCESS;
        cuModuleGetFunction(&mut function, module, c"add".as_ptr()) => CUDA_SUCCESS;
        cuLinkDestroy(link) => CUDA_SUCCESS;
        cuLinkDestroy(link) => CUDA_ERROR_INVALID_HANDLE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}

#[test]
fn what_is_defined_twice_and_what_is_not_ptx_is_refused() {
    let context = raw_context();
    let link = create();
    add(link, c"first", USED);
    let again = CString::new(USED).unwrap();
    let text = c"not PTX";
    returns! {
        cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, again.as_ptr() as *mut c_void, USED.len() + 1, c"second".as_ptr(), 0, null_mut(), null_mut()) => CUDA_ERROR_INVALID_SOURCE;
        cuLinkDestroy(link) => CUDA_SUCCESS;
        cuLinkAddData_v2(create(), CU_JIT_INPUT_PTX, text.as_ptr() as *mut c_void, 8, text.as_ptr(), 0, null_mut(), null_mut()) => CUDA_ERROR_INVALID_IMAGE;
        cuCtxDestroy_v2(context) => CUDA_SUCCESS;
    }
}
