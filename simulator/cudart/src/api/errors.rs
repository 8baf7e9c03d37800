//! Errors: the last one, names and descriptions.

use std::ffi::{CStr, CString, c_char};

use crate::error::{self, Code};
use crate::pointer::Ptr;

/// What NVIDIA's runtime says of a number that is no error.
const UNRECOGNIZED: &CStr = c"unrecognized error code";

fn text(code: Code, choose: fn(&'static (CString, CString)) -> &'static CString) -> Ptr<c_char> {
    Ptr::to_static(code.texts().map_or(UNRECOGNIZED, |texts| choose(texts)))
}

/// Returns the thread's last failure, and forgets it unless it sticks.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetLastError() -> Code {
    error::take_last()
}

/// Returns the thread's last failure.
#[unsafe(no_mangle)]
pub extern "C" fn cudaPeekAtLastError() -> Code {
    error::last()
}

/// Returns the name of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorName(code: Code) -> Ptr<c_char> {
    text(code, |(name, _)| name)
}

/// Returns the description of an error.
#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(code: Code) -> Ptr<c_char> {
    text(code, |(_, description)| description)
}

/// What this module exports.
#[cfg(test)]
pub const NAMES: &[&str] = &["cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorName", "cudaGetErrorString"];
