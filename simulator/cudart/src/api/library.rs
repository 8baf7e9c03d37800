//! Libraries that a program loads itself.

use std::ffi::{c_char, c_void};

use crate::driver;
use crate::export::exports;
use crate::pointer::{Address, Handle, Ptr};

exports! {
    forward {
        cudaLibraryLoadFromFile => init() cuLibraryLoadFromFile(
            library: Ptr<Handle>, path: Ptr<c_char>, options: Ptr<u32>, values: Ptr<Ptr<c_void>>, count: u32,
            library_options: Ptr<u32>, library_values: Ptr<Ptr<c_void>>, library_count: u32,
        );
        cudaLibraryGetKernelCount => init() cuLibraryGetKernelCount(count: Ptr<u32>, library: Handle);
        cudaLibraryEnumerateKernels => init() cuLibraryEnumerateKernels(kernels: Ptr<Handle>, count: u32, library: Handle);
    }

    after {
        cudaLibraryLoadData(
            library: Ptr<Handle>, image: Ptr<c_void>, options: Ptr<u32>, values: Ptr<Ptr<c_void>>, count: u32,
            library_options: Ptr<u32>, library_values: Ptr<Ptr<c_void>>, library_count: u32,
        ) => init(),
            driver::cuLibraryLoadData(library, image, options, values, count, library_options, library_values, library_count);
        cudaLibraryUnload(library: Handle) => init(), driver::cuLibraryUnload(library);
        cudaLibraryGetKernel(kernel: Ptr<Handle>, library: Handle, name: Ptr<c_char>) => init(),
            driver::cuLibraryGetKernel(kernel, library, name);
        cudaLibraryGetGlobal(address: Ptr<Address>, bytes: Ptr<usize>, library: Handle, name: Ptr<c_char>) => ensure(),
            driver::cuLibraryGetGlobal(address, bytes, library, name);
        cudaLibraryGetManaged(address: Ptr<Address>, bytes: Ptr<usize>, library: Handle, name: Ptr<c_char>) => ensure(),
            driver::cuLibraryGetManaged(address, bytes, library, name);
        cudaKernelSetAttributeForDevice(kernel: Handle, attribute: u32, value: i32, device: i32) => check_device(device),
            driver::cuKernelSetAttribute(attribute, value, kernel, device);
    }
}
