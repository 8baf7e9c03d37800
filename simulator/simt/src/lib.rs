//! Executes PTX on a CPU, warp by warp.
//!
//! This crate knows programs, threads and memory; it knows nothing of CUDA's C interface (that is the `simcuda` package), of
//! files, or of the kernels that this repository happens to hold.
//!
//! # Layout
//!
//! - [`ptx`]: text to syntax tree; `program`: syntax tree to a kernel's decoded instructions; `exec`: the machine that executes them.
//! - [`instructions`]: the arithmetic, one table of spellings and meanings.
//! - [`module`]: PTX text, parsed and decoded: kernels and variables.
//! - [`image`]: a module placed in memory, so that its kernels can run.
//! - [`memory`]: device memory with bounds; [`memory::rules`] says what an access costs.
//! - [`mod@launch`]: executes one kernel over its grid.
//! - [`counters`]: what a launch did, counted.
//! - [`mod@bound`]: the least time that what was counted needs on a GPU, and the part of the chip that sets it.
//! - [`finding`]: what a check found in a kernel.
//! - [`profile`]: limits and rules of the GPUs that can be simulated.
//! - [`geometry`]: grids and blocks.

#![forbid(unsafe_op_in_unsafe_fn)]

pub mod bound;
pub mod counters;
mod error;
mod exec;
pub mod finding;
pub mod geometry;
pub mod image;
pub mod instructions;
pub mod launch;
pub mod memory;
pub mod module;
pub mod profile;
mod program;
pub mod ptx;
mod registers;
mod windows;

pub use counters::{AccessSample, Counters, LineCounters, Touched};
pub use error::LoadError;
pub use finding::{Finding, FindingKind, Location, Severity, SourceLine, Space};
pub use geometry::{Dim3, LaunchConfig};
pub use image::Image;
pub use launch::{LaunchError, LaunchMisuse, LaunchOptions, LaunchReport, WarpOrder, launch};
pub use memory::{Memory, MemoryError};
pub use module::{Kernel, Module, Param, Variable};
pub use profile::Profile;
