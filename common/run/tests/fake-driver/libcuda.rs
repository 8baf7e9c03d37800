//! A CUDA driver library that has the few functions which probing calls, and answers as the environment says.

use std::ffi::{c_char, c_int, c_uint, c_void};

fn setting(name: &str, otherwise: c_int) -> c_int {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[no_mangle]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    *version = setting("FAKE_VERSION", 12040);
    0
}

#[no_mangle]
pub extern "C" fn cuInit(_flags: c_uint) -> c_int {
    match setting("FAKE_INIT", 0) {
        // As a damaged driver may do.
        -1 => std::process::abort(),
        -2 => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
        -3 => std::process::exit(0),
        status => status,
    }
}

#[no_mangle]
pub unsafe extern "C" fn cuGetErrorName(status: c_int, name: *mut *const c_char) -> c_int {
    *name = if status == 46 { c"CUDA_ERROR_DEVICE_UNAVAILABLE".as_ptr() } else { c"CUDA_ERROR_UNKNOWN".as_ptr() };
    0
}

#[no_mangle]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    *count = setting("FAKE_DEVICES", 1);
    0
}

#[no_mangle]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, _ordinal: c_int) -> c_int {
    *device = 0;
    0
}

#[no_mangle]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, capacity: c_int, _device: c_int) -> c_int {
    let text = c"Fake GPU".to_bytes_with_nul();
    assert!(text.len() <= capacity as usize);
    std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len());
    0
}

#[no_mangle]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, _device: c_int) -> c_int {
    *context = 1usize as *mut c_void;
    setting("FAKE_CONTEXT", 0)
}
