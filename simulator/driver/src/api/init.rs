//! Initialization, and what a program may ask before it.

use super::prelude::*;
use crate::driver;

exports! {
    fn cuInit(flags: u32) {
        refuse!(INVALID_VALUE if flags != 0);
        driver::initialize()
    }

    /// Works before `cuInit` too.
    fn cuDriverGetVersion(version: Out<i32>) {
        version.check()?;
        version.put(driver::version()?)
    }

    fn cuProfilerStart() => context::current().map(drop);
    fn cuProfilerStop() => context::current().map(drop);
}
