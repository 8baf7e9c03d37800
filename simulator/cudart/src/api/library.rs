//! Libraries that a program loads itself.

use std::ffi::{c_char, c_void};

use crate::context;
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

    fn cudaLibraryLoadData(
        library: Ptr<Handle>, image: Ptr<c_void>, options: Ptr<u32>, values: Ptr<Ptr<c_void>>, count: u32,
        library_options: Ptr<u32>, library_values: Ptr<Ptr<c_void>>, library_count: u32,
    ) {
        context::init()?;
        driver::cuLibraryLoadData(library, image, options, values, count, library_options, library_values, library_count)
    }

    fn cudaLibraryUnload(library: Handle) {
        context::init()?;
        driver::cuLibraryUnload(library)
    }

    fn cudaLibraryGetKernel(kernel: Ptr<Handle>, library: Handle, name: Ptr<c_char>) {
        context::init()?;
        driver::cuLibraryGetKernel(kernel, library, name)
    }

    fn cudaLibraryGetGlobal(address: Ptr<Address>, bytes: Ptr<usize>, library: Handle, name: Ptr<c_char>) {
        context::ensure()?;
        driver::cuLibraryGetGlobal(address, bytes, library, name)
    }

    fn cudaLibraryGetManaged(address: Ptr<Address>, bytes: Ptr<usize>, library: Handle, name: Ptr<c_char>) {
        context::ensure()?;
        driver::cuLibraryGetManaged(address, bytes, library, name)
    }

    fn cudaKernelSetAttributeForDevice(kernel: Handle, attribute: u32, value: i32, device: i32) {
        context::check_device(device)?;
        driver::cuKernelSetAttribute(attribute, value, kernel, device)
    }
}
