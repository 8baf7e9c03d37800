//! Names and numbers that [the client](crate::client) and the shared library must agree on before they can talk.

/// The version of the interface. It keeps a client from misreading another build's library.
pub const VERSION: u32 = 6;

/// The export that returns [`VERSION`]. NVIDIA's driver has no such name, so it also tells our library from NVIDIA's.
pub const VERSION_EXPORT: &str = "simcuda_interface_version";

/// An export of our runtime library, which tells it from NVIDIA's.
pub const RUNTIME_MARK: &str = "simcuda_runtime_mark";

/// A function of our NVRTC that NVIDIA's does not have.
pub const COMPILER_MARK: &str = "simcuda_nvrtc_mark";

/// The library's file name where cargo leaves it.
pub const FILE_NAME: &str = if cfg!(windows) {
    "simcuda.dll"
} else if cfg!(target_os = "macos") {
    "libsimcuda.dylib"
} else {
    "libsimcuda.so"
};
