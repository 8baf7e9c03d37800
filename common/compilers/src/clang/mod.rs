//! clang as a compiler of CUDA C. It makes PTX without anything of NVIDIA's, and there is one for every system that has Rust.
//!
//! It is a program, not a library: each compilation is a process, in a temporary folder, with a time limit. What CUDA C has and clang
//! has not is in `cuda.h` beside this file, which is included before every text.
//!
//! - `process`: runs a program for a limited time.
//! - `messages`: what clang says about a text, in the form in which NVRTC says it.
//! - `tidy`: its PTX in the shape of NVRTC's, where that matters.
//! - `compiler`: [`Clang`], which compiles.
//! - `places`: where a machine may have a clang.

mod compiler;
mod messages;
pub mod places;
mod process;
mod tidy;

pub use compiler::{Clang, PRELUDE};
