//! Fat binaries, as `nvcc` makes them, in every place where a program may pass one.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use cudarc::driver::sys::CUjitInputType::CU_JIT_INPUT_FATBINARY;

use crate::links::{USED, USER};
use crate::support::{raw_context, returns};

const MANAGED: &str = "
.version 7.0
.target sm_50
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 total = 41;
.global .align 4 .u32 other;
.visible .entry k() {
    .reg .b32 %r<2>;
    atom.global.add.u32 %r1, [total], 1;
    ret;
}";

/// The wrapper that `nvcc` puts into a program's data.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const c_void,
    parts: *const *const c_void,
}

/// Returns a fat binary with one PTX text, not compressed. It consists of words, because it must be aligned like one.
fn fatbin(ptx: &str) -> Vec<u64> {
    let words = ptx.len() / 8 + 1;
    let mut text = [ptx.as_bytes(), &[0; 8]].concat();
    text.truncate(8 * words);
    let bytes = text.len() as u64;
    // The headers of the fat binary and of the image: PTX 7.0 for compute capability 5.0, in 64 bits on Linux, with no compiler options.
    let headers = [0x0010_0001_ba55_ed50, 80 + bytes, 0x50_0101_0001, bytes, 64 << 32, 50 << 32 | 7 << 16, 0, 0x11, 0, 0, 72, 0];
    let image = text.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    headers.into_iter().chain(image).collect()
}

#[test]
fn a_fat_binary_is_loaded_wherever_ptx_is() {
    raw_context();
    let binary = fatbin(USED);
    let data: *const c_void = binary.as_ptr().cast();
    let wrapper = Wrapper { magic: 0x4662_43b1, version: 1, data, parts: null() };
    let wrapper: *const c_void = (&raw const wrapper).cast();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), binary.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    let path = CString::new(file.path().to_str().unwrap()).unwrap();
    let (mut module, mut library, mut link) = (null_mut(), null_mut(), null_mut());
    let (mut linked, mut bytes) = (null_mut(), 0);
    let (mut address, mut value) = (0, 0u32);
    let options = null_mut();
    returns! {
        cuModuleLoadData(&mut module, data) => CUDA_SUCCESS;
        cuModuleLoadData(&mut module, wrapper) => CUDA_ERROR_INVALID_IMAGE;
        cuModuleLoadFatBinary(&mut module, data) => CUDA_SUCCESS;
        cuModuleLoad(&mut module, path.as_ptr()) => CUDA_SUCCESS;
        cuModuleGetGlobal_v2(&mut address, &mut bytes, module, c"total".as_ptr()) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2((&raw mut value).cast(), address, bytes) => CUDA_SUCCESS;
        cuLibraryLoadData(&mut library, wrapper, null_mut(), null_mut(), 0, null_mut(), null_mut(), 0) => CUDA_SUCCESS;
        cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link) => CUDA_SUCCESS;
        cuLinkAddData_v2(
            link, CU_JIT_INPUT_FATBINARY, data as *mut c_void, 8 * binary.len(), c"used".as_ptr(), 0, options, null_mut()
        ) => CUDA_SUCCESS;
        cuLinkComplete(link, &mut linked, &mut bytes) => CUDA_SUCCESS;
        cuModuleLoadData(&mut module, linked) => CUDA_SUCCESS;
    }
    assert_eq!(value, 2);
}

#[test]
fn the_parts_of_a_linked_program_are_linked() {
    raw_context();
    let parts = [fatbin(USER), fatbin(USED)];
    // What the parts were linked to has machine code only. An empty fat binary stands for it.
    let linked = [0x0010_0001_ba55_ed50_u64, 0];
    let list = [parts[0].as_ptr().cast(), parts[1].as_ptr().cast(), null()];
    let wrapper = Wrapper { magic: 0x4662_43b1, version: 2, data: linked.as_ptr().cast(), parts: list.as_ptr() };
    let (mut library, mut kernel, mut address, mut bytes, mut total) = (null_mut(), null_mut(), 0, 0, 0u32);
    returns! {
        cuLibraryLoadData(
            &mut library, (&raw const wrapper).cast(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0
        ) => CUDA_SUCCESS;
        cuLibraryGetKernel(&mut kernel, library, c"k".as_ptr()) => CUDA_SUCCESS;
        cuLaunchKernel(kernel.cast(), 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_SUCCESS;
        cuLibraryGetGlobal(&mut address, &mut bytes, library, c"total".as_ptr()) => CUDA_SUCCESS;
        cuMemcpyDtoH_v2((&raw mut total).cast(), address, bytes) => CUDA_SUCCESS;
    }
    assert_eq!(total, 42);
}

#[test]
fn a_managed_variable_has_one_address_for_the_host_and_the_device() {
    raw_context();
    let binary = fatbin(MANAGED);
    let (mut library, mut kernel, mut address, mut bytes) = (null_mut(), null_mut(), 0, 0);
    returns! {
        cuLibraryLoadData(
            &mut library, binary.as_ptr().cast(), null_mut(), null_mut(), 0, null_mut(), null_mut(), 0
        ) => CUDA_SUCCESS;
        cuLibraryGetManaged(&mut address, &mut bytes, library, c"other".as_ptr()) => CUDA_ERROR_NOT_FOUND;
        cuLibraryGetManaged(&mut address, &mut bytes, library, c"total".as_ptr()) => CUDA_SUCCESS;
        cuLibraryGetKernel(&mut kernel, library, c"k".as_ptr()) => CUDA_SUCCESS;
        cuLaunchKernel(kernel.cast(), 1, 1, 1, 1, 1, 1, 0, null_mut(), null_mut(), null_mut()) => CUDA_SUCCESS;
        cuCtxSynchronize() => CUDA_SUCCESS;
    }
    assert_eq!(bytes, 4);
    // SAFETY: the driver says that the variable is managed, so the host may read it here once the kernel has ended.
    let total = unsafe { *std::ptr::with_exposed_provenance::<u32>(address as usize) };
    assert_eq!(total, 42);
}
