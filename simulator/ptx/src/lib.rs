//! Reads PTX, decodes its kernels into programs, and answers questions about them.
//!
#![doc = include_str!("../README.md")]
//!
//! # Layout
//!
//! From the bottom to the top. A module imports only modules above it in this list. The same holds for the files of each module:
//! its `mod.rs` lists them, and none of them imports that `mod.rs`.
//!
//! - [`geometry`]: grids, blocks, and the shape of a launch.
//! - [`finding`]: defects of a kernel that the checks find, and locations in a program.
//! - `error`: [`LoadError`], the reason why PTX cannot be loaded.
//! - `syntax`: PTX text as a syntax tree ([`parse`], [`ast`]), and answers to what other programs ask about it.
//! - [`mutation`]: deliberate mistakes in PTX, to see whether tests notice them.
//! - [`program`]: decodes a syntax tree into the instructions of one kernel.
//! - `device_runtime`: functions of a library that kernels may call.
//! - [`module`]: PTX text, parsed and decoded: kernels and variables.

mod device_runtime;
mod error;
pub mod finding;
pub mod geometry;
pub mod module;
pub mod mutation;
// For the machine, which is another crate.
#[doc(hidden)]
pub mod program;
mod syntax;

pub use error::LoadError;
pub use module::{Kernel, Module};
pub use syntax::{Barrier, Uses, ast, canonical, edit, is_ptx, parse, register_counts, to_line_end};
