//! The right result of each computation, and the comparison of an output with it.
//!
//! An oracle must not share the mistakes of what it checks. So this crate knows no kernel, no device and no file: its functions take
//! numbers and return numbers, in plain f64 loops or exact integers. It is also the code that `cargo run` has to optimize, because an
//! oracle does on a CPU what a GPU is for.
//!
//! - [`convolution`], [`correlation`], [`histogram`], [`matmul`], [`window_sums`]: the oracles.
//! - [`check`]: compares an output with its oracle. [`Mismatch`] says in words what is wrong. [`Sampled`] covers what is too large to
//!   compute twice.
//! - [`output`]: how an output shows what was never written, and what was written next to it.
//! - [`random`], [`rounding`], [`progress`]: inputs that are the same on every machine, what tolerances have in common, and a sign of life.

pub mod convolution;
pub mod correlation;
pub mod histogram;
pub mod matmul;
pub mod output;
#[cfg(not(target_arch = "wasm32"))]
pub mod progress;
pub mod random;
pub mod rounding;
pub mod window_sums;

#[cfg(target_arch = "wasm32")]
mod silent;

mod check;
mod expected;
mod mismatch;
mod parallel;
mod sampled;

pub use check::{Accuracy, Oracle, check};
pub use expected::Expected;
pub use mismatch::{Mismatch, Pattern, Worst, WrongSums};
pub use sampled::{MOST_PRODUCTS_OF_A_WHOLE_ORACLE, RUN, Sampled};
#[cfg(target_arch = "wasm32")]
pub(crate) use silent as progress;
