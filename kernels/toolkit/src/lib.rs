//! Finds the CUDA compilers and libraries of a machine, and drives them: what `kernels` itself, a crate of data, must not do.
//!
//! # Layout
//!
//! - [`pinned`]: the compiler version that makes the stored PTX.
//! - [`choose`](mod@choose): which of several texts that a compiler makes of a source is stored.
//! - [`digest`]: which kernel a measurement was made with.
//! - [`libraries`]: where a machine keeps the libraries of the CUDA toolkit, and how to open one.
//! - [`nvrtc`]: calls NVIDIA's run-time compiler.
//! - [`options`]: the options that every kernel is compiled with.
//! - [`registers`]: reads from machine code how many registers each kernel needs.
//! - [`stamp`]: the comments at the top of a stored `.ptx`, and how the text below them is made.

pub mod choose;
pub mod digest;
pub mod libraries;
pub mod nvrtc;
pub mod options;
pub mod pinned;
pub mod registers;
pub mod stamp;
