//! Finds the CUDA compilers and libraries of a machine and calls them, which `kernels`, a crate of data, must not do.
//!
//! # Layout
//!
//! - [`choose`](mod@choose): which of several texts that a compiler makes of a source is stored.
//! - [`digest`]: which kernel a measurement was made with.
//! - [`error`]: everything that can go wrong here.
//! - [`input`]: CUDA C on its way to a compiler.
//! - [`habits`]: headers that learners include by habit.
//! - [`python`]: where Python keeps its packages.
//! - [`recipe`]: the compiler version and the options that make the stored PTX.
//! - `search`: the first compiler or library of several that works.
//! - [`versions`]: the lists that a new version makes longer.
//! - [`libraries`]: where a machine keeps the libraries of the CUDA toolkit, and how to open one.
//! - [`nvrtc`]: NVIDIA's run-time compiler.
//! - [`clang`]: LLVM's compiler, which needs nothing of NVIDIA's.
//! - [`compiler`]: the compiler of this machine, whichever it is.
//! - [`cublas`]: NVIDIA's library of dense linear algebra, for the rows of chapter 06 that call it.
//! - [`registers`]: reads from machine code how many registers each kernel needs.
//! - [`stamp`]: the comments at the top of a stored `.ptx`, which say what it was made from.
//! - [`variables`]: the environment variables of the tutorial.
//! - [`generate`]: makes the text of a stored `.ptx`.

pub mod choose;
pub mod clang;
pub mod compiler;
pub mod cublas;
pub mod digest;
pub mod error;
pub mod generate;
pub mod habits;
pub mod input;
pub mod libraries;
pub mod nvrtc;
pub mod python;
pub mod recipe;
pub mod registers;
mod search;
pub mod stamp;
pub mod variables;
pub mod versions;

pub use compiler::Compiler;
pub use error::{Error, Result};
