//! The CPU rows of the chapters: what a GPU is compared with.
//!
//! They are a package of their own because they are optimized in every build, and the chapters around them are not: a loop that the compiler did
//! not vectorize would flatter the GPU. The oracles are other code, in `f64`.
//!
//! # Layout
//!
//! One module for each computation: [`convolution`], [`correlation`], [`histogram`], [`matmul`] and [`window_sums`].

pub mod convolution;
pub mod correlation;
pub mod histogram;
pub mod matmul;
pub mod window_sums;
