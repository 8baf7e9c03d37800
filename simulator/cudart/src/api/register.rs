//! The functions that the compiler's own code calls before and after `main`: it registers fat binaries and what is in them.
//!
//! None of these functions can report a failure, so a fat binary is loaded only when it is first used. Unused arguments at the end
//! are not declared: in the C calling convention, a function may leave its arguments unread.

use std::ffi::{c_char, c_void};
use std::io::Write;

use crate::error::Code;
use crate::export::{self, plain_exports};
use crate::pointer::{Address, Ptr};
use crate::registry::{self, Number};

plain_exports! {
    /// Adds a fat binary. The program takes the result for a pointer, but only passes it back.
    fn __cudaRegisterFatBinary(wrapper: Ptr<c_void>) -> Number {
        registry::add_binary(wrapper)
    }

    /// Ends the registration of a fat binary.
    fn __cudaRegisterFatBinaryEnd(_binary: Number) {}

    /// Removes a fat binary.
    fn __cudaUnregisterFatBinary(binary: Number) {
        registry::remove_binary(binary);
    }

    /// Adds a kernel. Its bounds follow as arguments, but are in PTX as well.
    fn __cudaRegisterFunction(binary: Number, stub: Ptr<c_void>, _device_function: Ptr<c_char>, name: Ptr<c_char>) {
        registry::add_kernel(binary, stub, name);
    }

    /// Adds a variable of the device or a constant. Its size and its kind follow as arguments, but are in PTX as well.
    fn __cudaRegisterVar(binary: Number, shadow: Ptr<c_void>, _device_address: Ptr<c_char>, name: Ptr<c_char>) {
        registry::add_variable(binary, shadow, name);
    }

    /// Adds a managed variable, with the same arguments.
    fn __cudaRegisterManagedVar(binary: Number, pointer: Ptr<Address>, _device_address: Ptr<c_char>, name: Ptr<c_char>) {
        registry::add_managed(binary, pointer, name);
    }

    /// Prepares a fat binary's managed variables before the host first uses one.
    fn __cudaInitModule(binary: Number) -> c_char {
        // The program cannot see this failure; its next call of CUDA that needs the fat binary returns the same.
        if export::call("__cudaInitModule", || registry::place_managed(binary)) != Code::SUCCESS {
            let _ = writeln!(
                std::io::stderr(),
                "simcuda: the program's managed variables cannot be placed, so the program is about to read address 0"
            );
        }
        1
    }

    /// Does nothing: only systems whose devices can access all memory of the host have variables of the host that kernels use.
    fn __cudaRegisterHostVar() {}

    /// Does nothing: no device here has functions with one address for the host and the device.
    fn __cudaRegisterUnifiedTable() -> usize {
        0
    }
}
