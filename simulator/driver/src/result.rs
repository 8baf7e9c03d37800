//! The results that the driver's functions return.
//!
//! A CUDA function returns only a number. A [`Failure`] adds the reason, which [the client](crate::client) can read: when a module
//! does not load, the line and the instruction matter more than the number.

use simt::MemoryError;

/// A `CUresult`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CuResult(pub u32);

/// A result other than success, with the reason where there is more to say than the result's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: CuResult,
    pub reason: Option<String>,
}

pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl CuResult {
    /// Adds a reason to this result.
    pub fn because(self, reason: impl Into<String>) -> Failure {
        Failure { code: self, reason: Some(reason.into()) }
    }

    /// Returns this result as an `Err`.
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

/// Defines the constants of [`CuResult`] and the texts of each from one table. The table is the whole enumeration, although most of it
/// can only happen on real hardware.
macro_rules! results {
    ($($name:ident = $code:literal $text:literal,)*) => {
        impl CuResult {
            pub const SUCCESS: Self = Self(0);
            $(pub const $name: Self = Self($code);)*

            /// Returns the enumerator's name and a description, both NUL-terminated; `None` if no result has this number.
            pub fn texts(self) -> Option<(&'static str, &'static str)> {
                match self {
                    Self::SUCCESS => Some(("CUDA_SUCCESS\0", "no error\0")),
                    $(Self::$name => Some((concat!("CUDA_ERROR_", stringify!($name), "\0"), concat!($text, "\0"))),)*
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
    PROFILER_NOT_INITIALIZED = 6 "the profiler was not initialized",
    PROFILER_ALREADY_STARTED = 7 "the profiler is already running",
    PROFILER_ALREADY_STOPPED = 8 "the profiler is already stopped",
    STUB_LIBRARY = 34 "the library is a stub for linking, not a driver",
    CALL_REQUIRES_NEWER_DRIVER = 36 "the call needs a newer driver",
    DEVICE_UNAVAILABLE = 46 "the device is in use by another process or is otherwise unavailable",
    MULTICAST_RESOURCE_FULL = 47 "no multicast resources are left",
    NO_DEVICE = 100 "no CUDA device was found",
    INVALID_DEVICE = 101 "no device has this number",
    DEVICE_NOT_LICENSED = 102 "the device is not licensed for this use",
    INVALID_IMAGE = 200 "the image is not a module",
    INVALID_CONTEXT = 201 "there is no current context, or the context is not valid",
    CONTEXT_ALREADY_CURRENT = 202 "the context is already current",
    MAP_FAILED = 205 "mapping failed",
    UNMAP_FAILED = 206 "unmapping failed",
    ARRAY_IS_MAPPED = 207 "the array is mapped and cannot be destroyed",
    ALREADY_MAPPED = 208 "the resource is already mapped",
    NO_BINARY_FOR_GPU = 209 "the module holds no code for this device",
    ALREADY_ACQUIRED = 210 "the resource was already acquired",
    NOT_MAPPED = 211 "the resource is not mapped",
    NOT_MAPPED_AS_ARRAY = 212 "the resource is not mapped as an array",
    NOT_MAPPED_AS_POINTER = 213 "the resource is not mapped as a pointer",
    ECC_UNCORRECTABLE = 214 "the memory had an error that could not be corrected",
    UNSUPPORTED_LIMIT = 215 "the device has no such limit",
    CONTEXT_ALREADY_IN_USE = 216 "the context is in use by another thread",
    PEER_ACCESS_UNSUPPORTED = 217 "the devices cannot access each other's memory",
    INVALID_PTX = 218 "the PTX could not be compiled",
    INVALID_GRAPHICS_CONTEXT = 219 "the graphics context is not valid",
    NVLINK_UNCORRECTABLE = 220 "NVLink had an error that could not be corrected",
    JIT_COMPILER_NOT_FOUND = 221 "the PTX compiler library was not found",
    UNSUPPORTED_PTX_VERSION = 222 "this driver does not support this version of PTX",
    JIT_COMPILATION_DISABLED = 223 "compiling PTX is disabled",
    UNSUPPORTED_EXEC_AFFINITY = 224 "the device does not support this execution affinity",
    UNSUPPORTED_DEVSIDE_SYNC = 225 "the PTX synchronizes on the device in a way that is not supported",
    CONTAINED = 226 "an exception was contained on the device",
    INSUFFICIENT_LOADER_VERSION = 227 "the loader is too old for this binary",
    INVALID_SOURCE = 300 "the source or its format is not valid",
    FILE_NOT_FOUND = 301 "the file was not found",
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302 "a symbol in a shared library could not be resolved",
    SHARED_OBJECT_INIT_FAILED = 303 "a shared library could not be initialized",
    OPERATING_SYSTEM = 304 "an operating system call failed",
    INVALID_HANDLE = 400 "the handle is null, was destroyed, or belongs to another kind of object or another context",
    ILLEGAL_STATE = 401 "the object is in the wrong state for this call",
    LOSSY_QUERY = 402 "the query would lose information",
    NOT_FOUND = 500 "no symbol has this name",
    NOT_READY = 600 "the work has not finished yet",
    ILLEGAL_ADDRESS = 700 "a kernel accessed memory at an address that is not valid",
    LAUNCH_OUT_OF_RESOURCES = 701 "the launch needs more registers or other resources than the device has",
    LAUNCH_TIMEOUT = 702 "a kernel took too long",
    LAUNCH_INCOMPATIBLE_TEXTURING = 703 "the kernel's texturing mode is not compatible",
    PEER_ACCESS_ALREADY_ENABLED = 704 "access to the peer's memory is already enabled",
    PEER_ACCESS_NOT_ENABLED = 705 "access to the peer's memory is not enabled",
    PRIMARY_CONTEXT_ACTIVE = 708 "the primary context is active",
    CONTEXT_IS_DESTROYED = 709 "the current context has been destroyed",
    ASSERT = 710 "an assertion failed in a kernel",
    TOO_MANY_PEERS = 711 "too many peers",
    HOST_MEMORY_ALREADY_REGISTERED = 712 "the host memory is already registered",
    HOST_MEMORY_NOT_REGISTERED = 713 "the host memory is not registered",
    HARDWARE_STACK_ERROR = 714 "a kernel's call stack overflowed or is corrupt",
    ILLEGAL_INSTRUCTION = 715 "a kernel executed an instruction that does not exist",
    MISALIGNED_ADDRESS = 716 "a kernel accessed memory at a misaligned address",
    INVALID_ADDRESS_SPACE = 717 "a kernel accessed an address in the wrong address space",
    INVALID_PC = 718 "a kernel's program counter left the program",
    LAUNCH_FAILED = 719 "a kernel failed while running",
    COOPERATIVE_LAUNCH_TOO_LARGE = 720 "a cooperative launch has more blocks than the device can hold at once",
    TENSOR_MEMORY_LEAK = 721 "a kernel ended without freeing its tensor memory",
    NOT_PERMITTED = 800 "the operation is not permitted",
    NOT_SUPPORTED = 801 "the operation is not supported by this device or driver",
    SYSTEM_NOT_READY = 802 "the system is not ready to start CUDA work",
    SYSTEM_DRIVER_MISMATCH = 803 "the display driver and the CUDA driver do not match",
    COMPAT_NOT_SUPPORTED_ON_DEVICE = 804 "forward compatibility is not supported on this device",
    MPS_CONNECTION_FAILED = 805 "the MPS control daemon or server did not answer",
    MPS_RPC_FAILURE = 806 "a call to the MPS server failed",
    MPS_SERVER_NOT_READY = 807 "the MPS server is not ready for clients",
    MPS_MAX_CLIENTS_REACHED = 808 "the MPS server has reached its maximum number of clients",
    MPS_MAX_CONNECTIONS_REACHED = 809 "the device has reached its maximum number of MPS connections",
    MPS_CLIENT_TERMINATED = 810 "the MPS server terminated this client",
    CDP_NOT_SUPPORTED = 811 "dynamic parallelism is not supported",
    CDP_VERSION_MISMATCH = 812 "the modules use different versions of dynamic parallelism",
    STREAM_CAPTURE_UNSUPPORTED = 900 "the operation cannot be captured",
    STREAM_CAPTURE_INVALIDATED = 901 "the capture is invalid because of an earlier error",
    STREAM_CAPTURE_MERGE = 902 "the operation would merge two captures",
    STREAM_CAPTURE_UNMATCHED = 903 "the capture did not begin on this stream",
    STREAM_CAPTURE_UNJOINED = 904 "the capture has work that was not joined to its first stream",
    STREAM_CAPTURE_ISOLATION = 905 "the operation would create a dependency across the capture's boundary",
    STREAM_CAPTURE_IMPLICIT = 906 "the operation would create a dependency on the legacy stream",
    CAPTURED_EVENT = 907 "the event was last recorded in a capture",
    STREAM_CAPTURE_WRONG_THREAD = 908 "another thread began the capture",
    TIMEOUT = 909 "the wait took too long",
    GRAPH_EXEC_UPDATE_FAILURE = 910 "the executable graph cannot be updated in this way",
    EXTERNAL_DEVICE = 911 "a device outside CUDA reported an error",
    INVALID_CLUSTER_SIZE = 912 "the cluster size is not valid",
    FUNCTION_NOT_LOADED = 913 "the function is not loaded",
    INVALID_RESOURCE_TYPE = 914 "the resource has the wrong type",
    INVALID_RESOURCE_CONFIGURATION = 915 "the resources are not compatible with each other",
    KEY_ROTATION = 916 "a key rotation is in progress",
    STREAM_DETACHED = 917 "the stream is detached",
    GRAPH_RECAPTURE_FAILURE = 918 "the graph could not be recaptured",
    FABRIC_NOT_READY = 919 "the fabric is not ready",
    UNKNOWN = 999 "an unknown error inside the driver",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_enumeration() {
        assert_eq!(CuResult::INVALID_PTX.texts().unwrap().0, "CUDA_ERROR_INVALID_PTX\0");
        assert_eq!(CuResult::SUCCESS.texts().unwrap().0, "CUDA_SUCCESS\0");
        assert_eq!(CuResult(12345).texts(), None);
    }
}
