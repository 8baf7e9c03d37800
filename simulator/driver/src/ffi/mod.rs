//! What crosses the C boundary: the caller's pointers, and the structures of the CUDA driver API that this driver reads.
//!
//! The pointer types carry the caller's promise. A C caller of a CUDA function promises that each pointer argument is null or points to
//! what the API says. Each pointer type here has a private field and no constructor, in a module of its own, so a value of it can only
//! come from such an argument, from a structure that one points to, or from another value of these types. That is why their methods may
//! rely on the promise: they check for null and are safe to call.
//!
//! The type behind a pointer is the one thing that a caller of these methods must get right: the API sometimes makes it depend on the
//! number of an attribute, and `cast` follows the API there.

mod arguments;
mod structures;

use std::ffi::{c_int, c_void};

pub use arguments::{DevicePtr, HostBytes, In, Out, Text, UnifiedPtr};
pub use structures::{
    DeviceProperties, LaunchAttribute, LaunchConfigEx, MemAccess, MemLocation, Memcpy2D, Memcpy3D, PoolProperties, Uuid,
};

use crate::handles::Handle;
use crate::result::CuResult;

/// A `CUdevice`: the ordinal of a device.
pub type DeviceId = c_int;

/// A function of the caller that runs on the host (`CUhostFn`).
pub type HostFn = unsafe extern "C" fn(*mut c_void);
/// A function of the caller that runs after a stream's work (`CUstreamCallback`).
pub type StreamCallback = unsafe extern "C" fn(Handle, CuResult, *mut c_void);
/// Dynamic shared memory as a function of the block size (`CUoccupancyB2DSize`).
pub type SharedBytesOfBlock = unsafe extern "C" fn(c_int) -> usize;
