//! Functions of the caller that the driver calls.

use std::ffi::{c_int, c_void};

use super::arguments::HostBytes;
use crate::handles::Handle;
use crate::result::{CuResult, Result};

/// A function of the caller that runs on the host (`CUhostFn`).
pub type HostFn = unsafe extern "C" fn(*mut c_void);
/// A function of the caller that runs after a stream's work (`CUstreamCallback`).
pub type StreamCallback = unsafe extern "C" fn(Handle, CuResult, *mut c_void);
/// Dynamic shared memory as a function of the block size (`CUoccupancyB2DSize`).
pub type SharedBytesOfBlock = unsafe extern "C" fn(c_int) -> usize;

#[derive(Clone, Copy, Debug)]
pub struct HostCall {
    pub function: HostFn,
    pub data: HostBytes,
}

impl HostCall {
    /// Both come from the C caller. Refuses a null function.
    pub fn new(function: Option<HostFn>, data: HostBytes) -> Result<Self> {
        Ok(Self { function: function.ok_or(CuResult::INVALID_VALUE)?, data })
    }

    /// Makes the call, on this thread. CUDA forbids the function to call CUDA functions.
    pub fn run(self) {
        // SAFETY: the C caller asks for exactly this call, as often as what contains it runs, and promises that the function accepts the
        // data each time. The data can only come from the C caller, because a `HostBytes` has no constructor for anything but null.
        unsafe { (self.function)(self.data.as_ptr()) }
    }
}
