//! Executes PTX on a CPU, warp by warp.
//!
#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! From the bottom to the top. A module imports only modules above it in this list. The same holds for the files of each module:
//! its `mod.rs` lists them, and none of them imports that `mod.rs`.
//!
//! - `registers`: the registers of a warp, and the kinds of register.
//! - `windows`: generic addresses.
//! - [`geometry`]: grids, blocks, and the shape of a launch.
//! - [`finding`]: defects of a kernel that the checks find, and locations in a program.
//! - `error`: [`LoadError`], the reason why PTX cannot be loaded.
//! - [`memory`]: device memory with bounds; [`memory::rules`] define the cost of an access.
//! - [`footprint`]: the bytes of memory that a launch accesses.
//! - [`profile`]: limits and rates of the GPUs that can be simulated.
//! - [`occupancy`]: how many blocks a multiprocessor holds at once.
//! - [`counters`]: the counts of a launch.
//! - [`mod@bound`]: the least time that the counted work needs on a GPU, and the bottleneck that sets it.
//! - [`ptx`]: PTX text as a syntax tree, and answers to what other programs ask about it.
//! - [`mutation`]: deliberate mistakes in PTX, to see whether tests notice them.
//! - [`mod@steps`]: the record of one warp, instruction by instruction.
//! - `executed`: the record of which lines of PTX were executed.
//! - [`instructions`]: the arithmetic, one table of spellings and meanings.
//! - [`tensor_map`]: how a tensor lies in memory, and which box of it a copy moves.
//! - [`texture`]: images in memory, and how a coordinate becomes a value.
//! - `program`: decodes a syntax tree into the instructions of one kernel.
//! - `device_runtime`: functions of a library that kernels may call.
//! - [`module`]: PTX text, parsed and decoded: kernels and variables.
//! - [`image`]: a module placed in memory, so that its kernels can run.
//! - `exec`: the machine that executes programs.
//! - [`coverage`]: which lines were executed, and which ways branches went.
//! - [`mod@launch`]: executes one kernel over its grid.

#![forbid(unsafe_op_in_unsafe_fn)]

pub mod bound;
pub mod cluster;
pub mod counters;
pub mod coverage;
mod device_runtime;
mod error;
mod exec;
mod executed;
pub mod finding;
pub mod footprint;
pub mod geometry;
pub mod image;
pub mod instructions;
pub mod launch;
pub mod memory;
pub mod module;
pub mod mutation;
pub mod occupancy;
pub mod profile;
mod program;
pub mod ptx;
mod registers;
pub mod steps;
pub mod tensor_map;
pub mod texture;
mod windows;

pub use cluster::ClusterMisuse;
pub use counters::{AccessSample, Counters, LineCounters, Touched};
pub use coverage::{Coverage, CoverageCounts};
pub use error::LoadError;
pub use exec::watch::clock::VClock;
pub use executed::Executed;
pub use finding::{Finding, FindingKind, Location, Severity, SourceLine, Space, WgmmaMisuse};
pub use footprint::{Accessed, Accesses};
pub use geometry::{ClusterBounds, Dim3, LaunchConfig};
pub use image::Image;
pub use launch::{LaunchError, LaunchMisuse, LaunchOptions, LaunchReport, WarpOrder, check_shape, launch};
pub use memory::{Heap, Mapped, Memory, MemoryError, Replaced, Rights};
pub use module::{Kernel, Module, Opaque, Param, Variable};
pub use profile::Profile;
pub use program::fragment::{Part as MatrixPart, places_of_words};
