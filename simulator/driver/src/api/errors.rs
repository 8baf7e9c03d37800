//! Names and descriptions of results.

use std::ffi::c_char;

use super::prelude::*;

/// Writes a text. Writes null and returns [`CuResult::INVALID_VALUE`] if there is none.
fn put_text(out: Out<*const c_char>, text: Option<&'static str>) -> Result<()> {
    match text {
        Some(text) => out.put(text.as_ptr().cast()),
        None => out.put(std::ptr::null()).and(CuResult::INVALID_VALUE.err()),
    }
}

exports! {
    fn cuGetErrorName(error: CuResult, text: Out<*const c_char>) => put_text(text, error.texts().map(|(name, _)| name));

    fn cuGetErrorString(error: CuResult, text: Out<*const c_char>) {
        put_text(text, error.texts().map(|(_, description)| description))
    }
}
