//! Looking exports up by name, as programs do that do not link against the driver.

use std::ffi::c_void;

use crate::error::{CuResult, Result};
use crate::ffi::{Out, Text};

/// An exported function.
pub struct Export {
    pub name: &'static str,
    pub address: *const (),
}

/// `CU_GET_PROC_ADDRESS_SUCCESS` and `_SYMBOL_NOT_FOUND`
const FOUND: u32 = 0;
const NOT_FOUND: u32 = 1;

/// Names whose plain form means another function before some version of CUDA (in the form `cuDriverGetVersion` has it) and after:
/// plain name, version, suffix before, suffix from then on.
const CHANGED: [(&str, i32, &str, &str); 7] = [
    ("cuCtxCreate", 13000, "_v2", "_v4"),
    ("cuCtxGetDevice", 13000, "", "_v2"),
    ("cuCtxSynchronize", 13000, "", "_v2"),
    ("cuEventElapsedTime", 12080, "", "_v2"),
    ("cuGetProcAddress", 12000, "", "_v2"),
    ("cuMemAdvise", 13000, "", "_v2"),
    ("cuMemPrefetchAsync", 13000, "", "_v2"),
];

/// Suffixes of a plain name, the newest form that has the same meaning for every CUDA 12 first.
const SUFFIXES: [&str; 3] = ["_v3", "_v2", ""];

fn every_export() -> impl Iterator<Item = &'static Export> {
    [
        EXPORTS,
        crate::context::EXPORTS,
        crate::copy::EXPORTS,
        crate::device::EXPORTS,
        crate::error::EXPORTS,
        crate::event::EXPORTS,
        crate::function::EXPORTS,
        crate::graph::EXPORTS,
        crate::launch::EXPORTS,
        crate::memory::EXPORTS,
        crate::module::EXPORTS,
        crate::occupancy::EXPORTS,
        crate::pointer::EXPORTS,
        crate::pool::EXPORTS,
        crate::primary::EXPORTS,
        crate::refused::EXPORTS,
        crate::state::EXPORTS,
        crate::stream::EXPORTS,
    ]
    .into_iter()
    .flatten()
}

fn exact(name: &str) -> Option<*const ()> {
    every_export().find(|export| export.name == name).map(|export| export.address)
}

/// The function that a plain name, or one with its suffix, means to a program made for this version of CUDA.
fn find(name: &str, version: i32) -> Option<*const ()> {
    match CHANGED.iter().find(|(changed, ..)| *changed == name) {
        Some((_, since, before, after)) => exact(&format!("{name}{}", if version >= *since { after } else { before })),
        None => SUFFIXES.iter().find_map(|suffix| exact(&format!("{name}{suffix}"))),
    }
}

fn get(symbol: Text, function: Out<*mut c_void>, version: i32, status: Option<Out<u32>>) -> Result<()> {
    function.check()?;
    let name = symbol.read()?;
    let found = find(&name, version);
    if let Some(status) = status {
        status.put_if_asked(if found.is_some() { FOUND } else { NOT_FOUND });
    }
    function.put(found.map_or(std::ptr::null_mut(), |address| address as *mut c_void))?;
    match found {
        Some(_) => Ok(()),
        None => Err(CuResult::NOT_FOUND.because(format!("this driver has no function {name}"))),
    }
}

crate::exports! {
    /// `flags` chooses what the default stream of the functions is; with streams that are always idle, that is all the same.
    fn cuGetProcAddress(symbol: Text, function: Out<*mut c_void>, version: i32, _flags: u64) {
        get(symbol, function, version, None)
    }

    /// A name that is not there is no failure where the caller asks for the status.
    fn cuGetProcAddress_v2(symbol: Text, function: Out<*mut c_void>, version: i32, _flags: u64, status: Out<u32>) {
        get(symbol, function, version, Some(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_is_listed_once() {
        let mut seen = BTreeSet::new();
        for export in every_export() {
            assert!(seen.insert(export.name), "{} is listed twice", export.name);
        }
    }

    #[test]
    fn a_plain_name_means_the_form_of_the_callers_version() {
        let same = |name, version, wanted| assert_eq!(find(name, version), Some(exact(wanted).unwrap()), "{name} {version}");
        same("cuMemAlloc", 12000, "cuMemAlloc_v2");
        same("cuMemAlloc_v2", 12000, "cuMemAlloc_v2");
        same("cuCtxCreate", 12090, "cuCtxCreate_v2");
        same("cuCtxCreate", 13000, "cuCtxCreate_v4");
        same("cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync");
        same("cuInit", 2000, "cuInit");
        assert_eq!(find("cuMakeCoffee", 12000), None);
    }
}
