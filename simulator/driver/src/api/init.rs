//! Initialization, and what a program may ask before it.

use super::context;
use crate::driver;
use crate::export::exports;
use crate::ffi::Out;
use crate::result::CuResult;

exports! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return CuResult::INVALID_VALUE.err();
        }
        driver::initialize()
    }

    /// Works before `cuInit` too.
    fn cuDriverGetVersion(version: Out<i32>) {
        version.check()?;
        version.put(driver::version()?)
    }

    fn cuProfilerStart() {
        context::current().map(drop)
    }

    fn cuProfilerStop() {
        context::current().map(drop)
    }
}
