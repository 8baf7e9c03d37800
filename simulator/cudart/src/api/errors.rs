//! Errors: the last one, names and descriptions.

use std::ffi::{CStr, CString, c_char};

use crate::error::{self, Code};
use crate::export::plain_exports;
use crate::pointer::Ptr;

/// The description that NVIDIA's runtime gives to an unknown error number.
const UNRECOGNIZED: &CStr = c"unrecognized error code";

fn text(code: Code, choose: fn(&'static (CString, CString)) -> &'static CString) -> Ptr<c_char> {
    Ptr::to_static(code.texts().map_or(UNRECOGNIZED, |texts| choose(texts)))
}

plain_exports! {
    /// Returns the thread's last failure, and forgets it unless it sticks.
    fn cudaGetLastError() -> Code {
        error::take_last()
    }

    /// Returns the thread's last failure.
    fn cudaPeekAtLastError() -> Code {
        error::last()
    }

    /// Returns the name of an error.
    fn cudaGetErrorName(code: Code) -> Ptr<c_char> {
        text(code, |(name, _)| name)
    }

    /// Returns the description of an error.
    fn cudaGetErrorString(code: Code) -> Ptr<c_char> {
        text(code, |(_, description)| description)
    }
}
