//! clang as a compiler of CUDA C. It makes PTX without anything of NVIDIA's, and there is one for every system that has Rust.
//!
//! It is a program, not a library: each compilation is a process, in a temporary folder, with a time limit. The parts of CUDA C that clang
//! lacks are in `cuda.h` next to this file, which is included before every text.
//!
//! - `process`: runs a program for a limited time.
//! - `messages`: its messages in the form in which NVRTC writes them.
//! - `tidy`: its PTX in the shape of NVRTC's, where that matters.
//! - `compiler`: [`Clang`], which compiles.
//! - `places`: where a machine may have a clang.

mod compiler;
mod messages;
pub mod places;
mod process;
mod tidy;

pub use compiler::{Clang, PRELUDE};
