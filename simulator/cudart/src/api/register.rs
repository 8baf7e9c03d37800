//! What the compiler's own code calls before and after `main`: it registers fat binaries and what is in them.
//!
//! None of these functions can report a failure, so a fat binary is loaded only when it is first used.

use std::ffi::{c_char, c_int, c_void};
use std::io::Write;

use crate::error::Code;
use crate::export;
use crate::pointer::{Address, Ptr};
use crate::registry::{self, Number};

/// Adds a fat binary. The program takes the result for a pointer, but only passes it back.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinary(wrapper: Ptr<c_void>) -> Number {
    registry::add_binary(wrapper)
}

/// Ends the registration of a fat binary.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_binary: Number) {}

/// Removes a fat binary.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary(binary: Number) {
    registry::remove_binary(binary);
}

/// Adds a kernel. Its bounds are in PTX as well.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFunction(
    binary: Number,
    stub: Ptr<c_void>,
    _device_function: Ptr<c_char>,
    name: Ptr<c_char>,
    _thread_limit: c_int,
    _thread: Ptr<c_void>,
    _block: Ptr<c_void>,
    _block_shape: Ptr<c_void>,
    _grid_shape: Ptr<c_void>,
    _warp_size: Ptr<c_int>,
) {
    registry::add_kernel(binary, stub, name);
}

/// Adds a variable of the device or a constant.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterVar(
    binary: Number,
    shadow: Ptr<c_void>,
    _device_address: Ptr<c_char>,
    name: Ptr<c_char>,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    registry::add_variable(binary, shadow, name);
}

/// Adds a managed variable.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterManagedVar(
    binary: Number,
    pointer: Ptr<Address>,
    _device_address: Ptr<c_char>,
    name: Ptr<c_char>,
    _external: c_int,
    _bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    registry::add_managed(binary, pointer, name);
}

/// Prepares the managed variables of a fat binary, before the host first uses one.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaInitModule(binary: Number) -> c_char {
    // The program cannot see this failure; its next call of CUDA that needs the fat binary returns the same.
    if export::call(|| registry::place_managed(binary)) != Code::SUCCESS {
        let _ = writeln!(
            std::io::stderr(),
            "simcuda: the program's managed variables cannot be placed, so the program is about to read address 0"
        );
    }
    1
}

/// Variables of the host that kernels use: only systems whose devices can access all of its memory have them.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterHostVar() {}

/// Functions with one address for the host and the device, which no device here has.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterUnifiedTable() -> usize {
    0
}

/// What this module exports.
#[cfg(test)]
pub const NAMES: &[&str] = &[
    "__cudaInitModule",
    "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd",
    "__cudaRegisterFunction",
    "__cudaRegisterHostVar",
    "__cudaRegisterManagedVar",
    "__cudaRegisterUnifiedTable",
    "__cudaRegisterVar",
    "__cudaUnregisterFatBinary",
];
