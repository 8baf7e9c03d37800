//! The results that the driver's functions return, and the one door through which every export leaves.
//!
//! A CUDA function says no more than a number. The reason is kept beside it, per thread, for [the client](crate::client): a module
//! that does not load is of no use to anyone without the line and the instruction.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use simt::MemoryError;

use crate::ffi::Out;

/// A `CUresult`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CuResult(pub u32);

/// A result that is no success, with the reason where there is more to say than its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: CuResult,
    pub reason: Option<String>,
}

pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl CuResult {
    /// This failure, for a stated reason.
    pub fn because(self, reason: impl Into<String>) -> Failure {
        Failure { code: self, reason: Some(reason.into()) }
    }

    /// This failure as an `Err`.
    pub fn err<T>(self) -> Result<T> {
        Err(self.into())
    }
}

impl From<CuResult> for Failure {
    fn from(code: CuResult) -> Self {
        Self { code, reason: None }
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        let code = match error {
            MemoryError::OutOfMemory { .. } => CuResult::OUT_OF_MEMORY,
            MemoryError::NotAnAllocation(_) | MemoryError::OutOfBounds { .. } => CuResult::INVALID_VALUE,
        };
        code.because(error.to_string())
    }
}

thread_local! {
    static LAST_REASON: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs the body of an export. No panic may cross into the C caller, whose stack Rust must not unwind.
pub fn guard(body: impl FnOnce() -> Result<()>) -> CuResult {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return CuResult::SUCCESS,
        Ok(Err(failure)) => failure,
        Err(panic) => CuResult::UNKNOWN.because(format!("the simulated driver failed: {}", panic_text(&*panic))),
    };
    if let Some(reason) = failure.reason {
        LAST_REASON.set(Some(reason));
    }
    failure.code
}

/// The reason of this thread's last failure that had one, once.
pub fn take_last_reason() -> Option<String> {
    LAST_REASON.take()
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

/// Defines the constants of [`CuResult`] and the texts of each from one table.
macro_rules! results {
    ($($name:ident = $code:literal $text:literal,)*) => {
        #[allow(dead_code, reason = "the table is the whole enumeration; most of it can only happen to a real device")]
        impl CuResult {
            pub const SUCCESS: Self = Self(0);
            $(pub const $name: Self = Self($code);)*

            /// The enumerator's name and a description, both NUL-terminated; `None` for a number that is no result.
            fn texts(self) -> Option<(&'static str, &'static str)> {
                match self.0 {
                    0 => Some(("CUDA_SUCCESS\0", "no error\0")),
                    $($code => Some((concat!("CUDA_ERROR_", stringify!($name), "\0"), concat!($text, "\0"))),)*
                    _ => None,
                }
            }
        }
    };
}

results! {
    INVALID_VALUE = 1 "an argument is out of its range",
    OUT_OF_MEMORY = 2 "not enough memory for this allocation",
    NOT_INITIALIZED = 3 "cuInit has not been called",
    DEINITIALIZED = 4 "the driver is shutting down",
    PROFILER_DISABLED = 5 "the profiler is disabled for this run",
    PROFILER_NOT_INITIALIZED = 6 "the profiler was not initialised",
    PROFILER_ALREADY_STARTED = 7 "the profiler is running already",
    PROFILER_ALREADY_STOPPED = 8 "the profiler is stopped already",
    STUB_LIBRARY = 34 "the library is a stub made for linking, not a driver",
    CALL_REQUIRES_NEWER_DRIVER = 36 "the call needs a newer driver",
    DEVICE_UNAVAILABLE = 46 "the device is in use by others or otherwise unavailable",
    MULTICAST_RESOURCE_FULL = 47 "no multicast resources are left",
    NO_DEVICE = 100 "no CUDA device was found",
    INVALID_DEVICE = 101 "no device has this number",
    DEVICE_NOT_LICENSED = 102 "the device has no licence for this use",
    INVALID_IMAGE = 200 "the image is no module",
    INVALID_CONTEXT = 201 "there is no current context, or the context is not valid",
    CONTEXT_ALREADY_CURRENT = 202 "the context is current already",
    MAP_FAILED = 205 "mapping failed",
    UNMAP_FAILED = 206 "unmapping failed",
    ARRAY_IS_MAPPED = 207 "the array is mapped and cannot be destroyed",
    ALREADY_MAPPED = 208 "the resource is mapped already",
    NO_BINARY_FOR_GPU = 209 "the module holds no code for this device",
    ALREADY_ACQUIRED = 210 "the resource was acquired already",
    NOT_MAPPED = 211 "the resource is not mapped",
    NOT_MAPPED_AS_ARRAY = 212 "the resource is not mapped as an array",
    NOT_MAPPED_AS_POINTER = 213 "the resource is not mapped as a pointer",
    ECC_UNCORRECTABLE = 214 "the memory had an error that could not be corrected",
    UNSUPPORTED_LIMIT = 215 "the device has no such limit",
    CONTEXT_ALREADY_IN_USE = 216 "the context is in use by another thread",
    PEER_ACCESS_UNSUPPORTED = 217 "the devices cannot reach each other's memory",
    INVALID_PTX = 218 "the PTX could not be compiled",
    INVALID_GRAPHICS_CONTEXT = 219 "the graphics context is not valid",
    NVLINK_UNCORRECTABLE = 220 "NVLink had an error that could not be corrected",
    JIT_COMPILER_NOT_FOUND = 221 "the PTX compiler's library was not found",
    UNSUPPORTED_PTX_VERSION = 222 "the PTX is of a version that this driver does not know",
    JIT_COMPILATION_DISABLED = 223 "compiling PTX is disabled",
    UNSUPPORTED_EXEC_AFFINITY = 224 "the device does not support this execution affinity",
    UNSUPPORTED_DEVSIDE_SYNC = 225 "the PTX synchronises on the device in a way that is not supported",
    CONTAINED = 226 "an exception was contained on the device",
    INSUFFICIENT_LOADER_VERSION = 227 "the loader is too old for this binary",
    INVALID_SOURCE = 300 "the source or its form is not valid",
    FILE_NOT_FOUND = 301 "the file was not found",
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302 "a symbol of a shared library could not be resolved",
    SHARED_OBJECT_INIT_FAILED = 303 "a shared library could not be initialised",
    OPERATING_SYSTEM = 304 "an operating system call failed",
    INVALID_HANDLE = 400 "the handle is null, destroyed, or of another kind or context",
    ILLEGAL_STATE = 401 "the object is in the wrong state for this call",
    LOSSY_QUERY = 402 "the answer would lose information",
    NOT_FOUND = 500 "no symbol has this name",
    NOT_READY = 600 "the work is not finished yet",
    ILLEGAL_ADDRESS = 700 "a kernel accessed memory at an address that is not valid",
    LAUNCH_OUT_OF_RESOURCES = 701 "the launch needs more registers or other resources than there are",
    LAUNCH_TIMEOUT = 702 "a kernel took too long",
    LAUNCH_INCOMPATIBLE_TEXTURING = 703 "the kernel's texturing mode does not fit",
    PEER_ACCESS_ALREADY_ENABLED = 704 "access to the peer's memory is enabled already",
    PEER_ACCESS_NOT_ENABLED = 705 "access to the peer's memory is not enabled",
    PRIMARY_CONTEXT_ACTIVE = 708 "the primary context is active",
    CONTEXT_IS_DESTROYED = 709 "the current context has been destroyed",
    ASSERT = 710 "an assertion failed in a kernel",
    TOO_MANY_PEERS = 711 "too many peers",
    HOST_MEMORY_ALREADY_REGISTERED = 712 "the host memory is registered already",
    HOST_MEMORY_NOT_REGISTERED = 713 "the host memory is not registered",
    HARDWARE_STACK_ERROR = 714 "a kernel's call stack is corrupt or overflowed",
    ILLEGAL_INSTRUCTION = 715 "a kernel executed an instruction that does not exist",
    MISALIGNED_ADDRESS = 716 "a kernel accessed memory at a misaligned address",
    INVALID_ADDRESS_SPACE = 717 "a kernel accessed an address of the wrong memory",
    INVALID_PC = 718 "a kernel's program counter left the program",
    LAUNCH_FAILED = 719 "a kernel failed while it ran",
    COOPERATIVE_LAUNCH_TOO_LARGE = 720 "a cooperative launch has more blocks than fit on the device at once",
    TENSOR_MEMORY_LEAK = 721 "a kernel ended without freeing its tensor memory",
    NOT_PERMITTED = 800 "the operation is not permitted",
    NOT_SUPPORTED = 801 "the operation is not supported by this device or driver",
    SYSTEM_NOT_READY = 802 "the system is not ready to start CUDA work",
    SYSTEM_DRIVER_MISMATCH = 803 "the display driver and the CUDA driver do not match",
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804 "forward compatibility is not supported on this device",
    MPS_CONNECTION_FAILED = 805 "the MPS control daemon or server did not answer",
    MPS_RPC_FAILURE = 806 "a call to the MPS server failed",
    MPS_SERVER_NOT_READY = 807 "the MPS server is not ready for clients",
    MPS_MAX_CLIENTS_REACHED = 808 "the MPS server has as many clients as it can have",
    MPS_MAX_CONNECTIONS_REACHED = 809 "the device has as many MPS connections as it can have",
    MPS_CLIENT_TERMINATED = 810 "the MPS server ended this client",
    CDP_NOT_SUPPORTED = 811 "launching kernels from kernels is not supported",
    CDP_VERSION_MISMATCH = 812 "modules use different versions of launching kernels from kernels",
    STREAM_CAPTURE_UNSUPPORTED = 900 "the operation cannot be captured",
    STREAM_CAPTURE_INVALIDATED = 901 "the capture is invalid because of an earlier error",
    STREAM_CAPTURE_MERGE = 902 "the operation would merge two captures",
    STREAM_CAPTURE_UNMATCHED = 903 "the capture did not begin on this stream",
    STREAM_CAPTURE_UNJOINED = 904 "the capture has work that was not joined to its first stream",
    STREAM_CAPTURE_ISOLATION = 905 "the operation would make a dependency across the capture's border",
    STREAM_CAPTURE_IMPLICIT = 906 "the operation would make a dependency on the legacy stream",
    CAPTURED_EVENT = 907 "the event was last recorded in a capture",
    STREAM_CAPTURE_WRONG_THREAD = 908 "the capture was begun by another thread",
    TIMEOUT = 909 "the wait took too long",
    GRAPH_EXEC_UPDATE_FAILURE = 910 "the executable graph cannot be changed in this way",
    EXTERNAL_DEVICE = 911 "a device outside CUDA reported an error",
    INVALID_CLUSTER_SIZE = 912 "the cluster size is not valid",
    FUNCTION_NOT_LOADED = 913 "the function is not loaded",
    INVALID_RESOURCE_TYPE = 914 "the resource is of the wrong type",
    INVALID_RESOURCE_CONFIGURATION = 915 "the resources do not go together",
    KEY_ROTATION = 916 "a key rotation is under way",
    STREAM_DETACHED = 917 "the stream is detached",
    GRAPH_RECAPTURE_FAILURE = 918 "the graph could not be captured again",
    FABRIC_NOT_READY = 919 "the fabric is not ready",
    UNKNOWN = 999 "an unknown error inside the driver",
}

crate::exports! {
    fn cuGetErrorName(error: CuResult, text: Out<*const c_char>) {
        put_text(text, error.texts().map(|(name, _)| name))
    }

    fn cuGetErrorString(error: CuResult, text: Out<*const c_char>) {
        put_text(text, error.texts().map(|(_, description)| description))
    }
}

/// A number that is no result gets a null pointer and [`CuResult::INVALID_VALUE`].
fn put_text(out: Out<*const c_char>, text: Option<&'static str>) -> Result<()> {
    match text {
        Some(text) => out.put(text.as_ptr().cast()),
        None => out.put(std::ptr::null()).and(CuResult::INVALID_VALUE.err()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_unknown_error_with_its_message() {
        assert_eq!(guard(|| panic!("boom {}", 7)), CuResult::UNKNOWN);
        assert_eq!(take_last_reason().unwrap(), "the simulated driver failed: boom 7");
        assert_eq!(take_last_reason(), None);
    }

    #[test]
    fn a_failure_without_a_reason_keeps_the_last_reason() {
        guard(|| Err(CuResult::INVALID_PTX.because("line 3")));
        assert_eq!(guard(|| CuResult::INVALID_VALUE.err()), CuResult::INVALID_VALUE);
        assert_eq!(take_last_reason().unwrap(), "line 3");
    }

    #[test]
    fn names_are_those_of_the_enumeration() {
        assert_eq!(CuResult::INVALID_PTX.texts().unwrap().0, "CUDA_ERROR_INVALID_PTX\0");
        assert_eq!(CuResult::SUCCESS.texts().unwrap().0, "CUDA_SUCCESS\0");
        assert_eq!(CuResult(12345).texts(), None);
    }
}
