//! The computations of the chapters, independent of how and where: inputs, sizes, the expected result, and the least work that it takes.
//!
//! A workload knows no kernel. Stages are checked against it, so it must not share their mistakes: its oracle is a plain loop in f64. It
//! knows no device and no file either, so the same code checks a kernel in a terminal and in a web page. What a device and a command line
//! add is in `run::workload`.
//!
//! # Layout
//!
//! Each module uses only modules above it.
//!
//! - [`units`] formats numbers for people.
//! - [`error`] is a size that no computation can have.
//! - [`border`] is what happens at the edges of an image, [`gray`] is an image, and [`matrix`] is a matrix.
//! - [`origin`] is where the data came from.
//! - [`problem`] is one computation with fixed inputs: the trait that all workloads have.
//! - [`values`] is what numbers an exercise is checked with.
//! - [`case`] reads the sizes at which an exercise is checked.
//! - [`convolution`], [`correlation`], [`matmul`], [`matmul_half`], [`window_sums`], [`histogram`]: the workloads.
//! - [`measure`] is a quantity that the simulator counts.
//! - [`failure`] is why a result does not count.

pub mod border;
pub mod case;
pub mod convolution;
pub mod correlation;
pub mod error;
pub mod failure;
pub mod gray;
pub mod histogram;
pub mod matmul;
pub mod matmul_half;
pub mod matrix;
pub mod measure;
pub mod origin;
pub mod problem;
pub mod units;
pub mod values;
pub mod window_sums;

pub use border::Border;
pub use convolution::Convolution;
pub use correlation::Correlation;
pub use error::NoSuchSize;
pub use histogram::Histogram;
pub use matmul::Matmul;
pub use matmul_half::MatmulHalf;
pub use problem::{Arithmetic, Footprint, Problem, Work};
pub use window_sums::WindowSums;
