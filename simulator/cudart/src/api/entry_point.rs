//! Functions of the driver, for programs that do not link with it.

use std::ffi::{c_char, c_void};

use crate::compat::Version;
use crate::error::Result;
use crate::export::exports;
use crate::pointer::Ptr;
use crate::{context, driver};

fn get(symbol: Ptr<c_char>, function: Ptr<Ptr<c_void>>, version: i32, flags: u64, status: Ptr<u32>) -> Result {
    symbol.check()?;
    function.check()?;
    context::init()?;
    let mut found = 0;
    let result = driver::cuGetProcAddress_v2(symbol, function, version, flags, Ptr::to(&mut found));
    status.put_if_asked(found);
    result
}

exports! {
    brief {
        [cudaGetDriverEntryPoint cudaGetDriverEntryPoint_ptsz](
            symbol: Ptr<c_char>, function: Ptr<Ptr<c_void>>, flags: u64, status: Ptr<u32>,
        ) => get(symbol, function, Version::current().number(), flags, status);
        [cudaGetDriverEntryPointByVersion cudaGetDriverEntryPointByVersion_ptsz](
            symbol: Ptr<c_char>, function: Ptr<Ptr<c_void>>, version: u32, flags: u64, status: Ptr<u32>,
        ) => get(symbol, function, version as i32, flags, status);
    }
}
