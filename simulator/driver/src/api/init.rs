//! Initialization, and what a program may ask before it: the version, and what results mean.

use std::ffi::CString;

use super::prelude::*;
use crate::driver;

/// Writes a text. Writes null and returns [`CuResult::INVALID_VALUE`] if there is none.
fn put_text(out: Out<*const c_char>, text: Option<&'static CString>) -> Result<()> {
    match text {
        Some(text) => out.put(text.as_ptr()),
        None => out.put(std::ptr::null()).and(CuResult::INVALID_VALUE.err()),
    }
}

exports! {
    fn cuGetErrorName(error: CuResult, text: Out<*const c_char>) => put_text(text, error.texts().map(|[name, _]| name));
    fn cuGetErrorString(error: CuResult, text: Out<*const c_char>) => put_text(text, error.texts().map(|[_, string]| string));

    fn cuInit(flags: u32) => if flags == 0 { driver::initialize() } else { CuResult::INVALID_VALUE.err() };

    /// Works before `cuInit` too.
    fn cuDriverGetVersion(version: Out<i32>) => version.put_made(driver::version);

    fn cuProfilerStart() => context::current().map(drop);
    fn cuProfilerStop() => context::current().map(drop);
}
