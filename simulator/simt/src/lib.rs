//! Executes PTX on a CPU, warp by warp.
//!
#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! From the bottom to the top. A module imports only modules above it in this list. The same holds for the files of each module:
//! its `mod.rs` lists them, and none of them imports that `mod.rs`.
//!
//! - [`memory`]: device memory with bounds; [`memory::rules`] define the cost of an access.
//! - [`footprint`]: the bytes of memory that a launch accesses.
//! - [`profile`]: limits and rates of the GPUs that can be simulated.
//! - [`occupancy`]: how many blocks a multiprocessor holds at once.
//! - [`counters`]: the counts of a launch.
//! - [`mod@bound`]: the least time that the counted work needs on a GPU, and the bottleneck that sets it.
//! - [`mod@steps`]: the record of one warp, instruction by instruction.
//! - [`tensor_map`]: how a tensor lies in memory, and which box of it a copy moves.
//! - [`texture`]: images in memory, and how a coordinate becomes a value.
//! - `landmarks`: the blocks of a huge grid at which kernels go wrong.
//! - `warp_order`: the order in which the warps of a block take turns.
//! - [`image`]: a module placed in memory, so that its kernels can run.
//! - `exec`: the machine that executes programs.
//! - [`coverage`]: which lines were executed, and which ways branches went.
//! - `options`: the options of a launch.
//! - [`mod@launch`]: executes one kernel over its grid.

#![forbid(unsafe_op_in_unsafe_fn)]

pub mod bound;
pub mod cluster;
pub mod counters;
pub mod coverage;
mod exec;
pub mod footprint;
pub mod image;
mod landmarks;
pub mod launch;
pub mod memory;
pub mod occupancy;
mod options;
pub mod profile;
pub mod steps;
pub mod tensor_map;
pub mod texture;
mod warp_order;

pub use cluster::ClusterMisuse;
pub use counters::{AccessSample, Counters, LineCounters, Touched};
pub use coverage::{Coverage, CoverageCounts};
pub use exec::watch::clock::VClock;
pub use footprint::{Accessed, Accesses};
pub use image::Image;
pub use landmarks::landmarks;
pub use launch::{Call, LaunchError, LaunchMisuse, LaunchReport, WaitsFor, check_shape, launch};
pub use memory::{Heap, Mapped, Memory, MemoryError, Replaced, Rights};
pub use options::LaunchOptions;
pub use profile::Profile;
pub use warp_order::WarpOrder;

// Readers of this crate meet these in the signatures above.
pub use ptx::LoadError;
pub use ptx::finding::{Finding, FindingKind, Location, Severity, SourceLine, Space, WgmmaMisuse};
pub use ptx::geometry::{ClusterBounds, Dim3, LaunchConfig};
pub use ptx::module::{Kernel, Module, Opaque, Param, Variable};
pub use ptx::program::fragment::{Part as MatrixPart, places_in_registers};
