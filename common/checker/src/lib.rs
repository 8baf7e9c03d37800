//! The check of an exercise, wherever it runs: in a terminal, with a driver of CUDA, or in a web page, with the simulator alone.
//!
//! A kernel is compiled and run by a [`Device`](device::Device). Everything else is here and nowhere else: the sizes, the orders of the
//! warps, the comparison, the counts, and the words. So a page and a terminal judge alike.
//!
//! # Layout
//!
//! Each module uses only modules above it.
//!
//! - [`text`]: the solution, the starter made from it, and host code as it is compiled.
//! - [`manifest`]: what an `exercise.toml` holds.
//! - [`cases`]: the sizes at which a kernel is checked.
//! - [`compiled`]: what the compiler's output says about a kernel.
//! - [`predict`]: what to say about predicted numbers.
//! - [`device`]: what compiles and runs a kernel.
//! - [`outputs`]: judges single blocks of a huge grid.
//! - [`simulated`]: the simulator as such a device, without a driver.
//! - [`rejection`]: the reasons why a kernel does not pass.
//! - [`host`]: the learner's host code, if there is some.
//! - [`check`]: compile, run, compare, count.
//! - [`feedback`]: what to say about a checked kernel.

pub mod cases;
pub mod check;
pub mod compiled;
pub mod device;
pub mod feedback;
pub mod host;
pub mod manifest;
pub mod outputs;
pub mod predict;
pub mod rejection;
pub mod simulated;
pub mod text;
