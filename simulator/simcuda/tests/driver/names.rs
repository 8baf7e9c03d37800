//! Functions are found by every name that the API has, and a name means one function however it is looked up.

use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use cudarc::driver::sys;
use libloading::Library;
use simcuda::functions::sections;

use crate::support::{cu, open, own_context, returns};

/// The names by which programs ask the loader for the driver.
const LIBRARIES: &[&str] = if cfg!(windows) {
    &["nvcuda.dll"]
} else if cfg!(target_os = "macos") {
    &["libcuda.dylib"]
} else {
    &["libcuda.so", "libcuda.so.1"]
};

/// `CU_GET_PROC_ADDRESS_LEGACY_STREAM` and `_PER_THREAD_DEFAULT_STREAM`
const LEGACY: u64 = 1;
const PER_THREAD: u64 = 2;

/// Finds exported functions of the driver under test.
pub fn exported() -> impl Fn(&str) -> *mut c_void {
    open();
    // SAFETY: the driver's initializers are those of Rust's standard library, or NVIDIA's, and its destructor runs at the end of the process.
    let library = LIBRARIES.iter().find_map(|name| unsafe { Library::new(*name) }.ok()).expect("the driver is open");
    // SAFETY: only the address is taken, as a pointer to anything.
    move |name| unsafe { library.get::<*mut c_void>(name) }.map_or(null_mut(), |function| *function)
}

/// Looks a function up by its plain name.
fn proc_address(name: &str, version: i32, flags: u64) -> *mut c_void {
    let (name, mut function) = (CString::new(name).unwrap(), null_mut());
    let found = cu!(cuGetProcAddress_v2(name.as_ptr(), &mut function, version, flags, null_mut()));
    if found == sys::CUresult::CUDA_SUCCESS { function } else { null_mut() }
}

#[test]
fn every_name_of_the_api_is_exported() {
    let exported = exported();
    let missing: Vec<&str> = sections()
        .iter()
        .flat_map(|section| &section.functions)
        .map(|function| function.name)
        .filter(|name| exported(name).is_null())
        .collect();
    assert_eq!(missing, [""; 0]);
}

/// Checks that a plain name yields one of the driver's exported forms.
#[test]
fn names_that_are_looked_up_are_those_that_are_exported() {
    let exported = exported();
    returns! { cuInit(0) => CUDA_SUCCESS; }
    let mut forms: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for function in sections().iter().flat_map(|section| section.functions.clone()) {
        let name = function.name;
        let name = name.strip_suffix("_ptsz").or(name.strip_suffix("_ptds")).unwrap_or(name);
        let plain = match name.rsplit_once("_v") {
            Some((plain, version)) if version.parse::<u32>().is_ok() => plain,
            _ => name,
        };
        forms.entry(plain.to_owned()).or_default().push(function.name);
    }
    // What `cuda.h` maps to a name without its suffix.
    forms.entry("cuGraphInstantiate".to_owned()).or_default().push("cuGraphInstantiateWithFlags");
    for (plain, names) in &forms {
        for (version, flags) in [(12000, LEGACY), (13050, 0), (13050, PER_THREAD)] {
            let found = proc_address(plain, version, flags);
            assert!(
                found.is_null() || names.iter().any(|name| exported(name) == found),
                "{plain} for {version} is none of {names:?}"
            );
        }
        // The newest form is there for the newest version.
        assert!(!proc_address(plain, 13050, 0).is_null(), "{plain} is not found");
    }
    let launch = |flags| proc_address("cuLaunchKernel", 13050, flags);
    assert_eq!(launch(PER_THREAD), exported("cuLaunchKernel_ptsz"));
    assert_eq!(launch(LEGACY), exported("cuLaunchKernel"));
    assert_ne!(launch(LEGACY), launch(PER_THREAD));
}

/// Captures the default stream of a program with one for each thread. A default stream of all threads cannot be captured.
#[test]
fn the_default_stream_is_that_of_the_thread_in_functions_for_such_programs() {
    let context = own_context();
    let exported = exported();
    let (begin, end) = (exported("cuStreamBeginCapture_v2_ptsz"), exported("cuStreamEndCapture_ptsz"));
    // SAFETY: these are the types of the two functions in `cuda.h`.
    let (begin, end) = unsafe {
        (
            std::mem::transmute::<*mut c_void, extern "C" fn(sys::CUstream, u32) -> sys::CUresult>(begin),
            std::mem::transmute::<*mut c_void, extern "C" fn(sys::CUstream, *mut sys::CUgraph) -> sys::CUresult>(end),
        )
    };
    let mut graph = null_mut();
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    returns! { cuStreamBeginCapture_v2(null_mut(), mode) => CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; }
    assert_eq!(begin(null_mut(), mode as u32), sys::CUresult::CUDA_SUCCESS);
    assert_eq!(end(null_mut(), &mut graph), sys::CUresult::CUDA_SUCCESS);
    returns! { cuGraphDestroy(graph) => CUDA_SUCCESS; }
    drop(context);
}
