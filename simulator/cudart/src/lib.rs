//! The CUDA runtime API (`cudaMalloc`, `<<<…>>>`) over the CUDA driver API: a runtime library for programs that `nvcc` builds.
//!
//! NVIDIA's own runtime library asks the driver for private tables, which no driver but NVIDIA's has. This library calls public functions of
//! the driver only, so it works with any driver: that of this workspace, which it finds beside it, or whatever the process has loaded.
//!
//! # Layout
//!
//! Imports run one way, from the end of this list to its start.
//!
//! - `error`: the errors, and which one each thread saw last.
//! - `pointer`: the caller's pointers. `shapes`: how they describe boxes of memory.
//! - `driver`: the driver's functions.
//! - `compat`: whether the program uses CUDA 12 or CUDA 13, and what differs.
//! - `context`: the context that a call works in.
//! - `registry`: the kernels and variables of the program.
//! - `redirect`: programs that contain NVIDIA's runtime.
//! - `export`: the macro that defines an exported function.
//! - `api`: the exported functions.

mod api;
mod compat;
mod context;
mod driver;
mod error;
mod export;
mod pointer;
#[cfg(target_os = "linux")]
mod redirect;
mod registry;
mod shapes;

/// Tells this library from NVIDIA's, by its name: the installer replaces no file without it.
#[unsafe(no_mangle)]
pub extern "C" fn simcuda_runtime_mark() {}
