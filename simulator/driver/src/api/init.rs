//! Initialization, and what a program may ask before it.

use super::context;
use crate::driver;
use crate::export::exports;
use crate::ffi::Out;
use crate::result::CuResult;

/// The version that the driver reports: CUDA 12.0.
const DRIVER_VERSION: i32 = 12000;

exports! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return CuResult::INVALID_VALUE.err();
        }
        driver::initialize()
    }

    /// Works before `cuInit` too.
    fn cuDriverGetVersion(version: Out<i32>) {
        version.put(DRIVER_VERSION)
    }

    fn cuProfilerStart() {
        context::current().map(drop)
    }

    fn cuProfilerStop() {
        context::current().map(drop)
    }
}
