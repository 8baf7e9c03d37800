//! What no single crate can test by itself.
//!
//! # Layout
//!
//! - `device`: the device that the tests run on, and how the same tests reach the other one.
//! - `chapters`: which chapters there are.
//! - `cases`: sizes and values in which kernels go wrong.
//! - `oracle`: the oracle against an independent formula, and its tolerance against every honest way to sum.
//! - `stages`: every stage of every chapter against the oracle.
//! - `correlation`: the exact sums of chapter 04, and every arm of its choice of kernels.
//! - `window_sums`: the oracle of chapter 05, its tolerances, and the halves that `--diagnose` takes apart.
//! - `matmul`: the oracle of chapter 06, and every tile with every number of slices.
//! - `barriers`: every barrier of every kernel is needed.
//! - `diagnose`: stages with parts of their work taken out.
//! - `mutants`: kernels that are known to be wrong, each of which must be caught.
//! - `tensor`, `fft`: what tensor cores and transforms need so that the result is right.
//! - `lessons`: what the chapters' lessons compare, and the stages that exercises name.
//! - `planner`: into how many slices the chapters cut their sums.
//! - `rows`: what the runner makes of stages that fail.
//! - `cudarc_api`: what the chapters and their readers use of cudarc, on either driver.
//! - `bound`: the bound of what the simulator counted against times of a GPU.
//! - `tidy`: the rules of the house that a test can check.
//!
//! # On which device
//!
//! `cargo test` runs everything on the simulator and, where a GPU works, everything again on that GPU in a second process, because
//! a process can load one driver only. `UNROLLED_TEST_DEVICE=sim` or `gpu` asks for one of them; `UNROLLED_REQUIRE_GPU=1` makes a
//! missing GPU a failure.

#![cfg(test)]

mod barriers;
mod bound;
mod cases;
mod correlation;
mod cudarc_api;
mod device;
mod diagnose;
mod fft;
mod lessons;
mod matmul;
mod mutants;
mod oracle;
mod planner;
mod rows;
mod stages;
mod tensor;
mod tidy;
mod window_sums;
