//! Tests that no single crate can run by itself.
//!
//! # Layout
//!
//! - `device`: the device that the tests run on, and how the same tests reach the other device.
//! - `cases`: sizes and values with which kernels tend to fail.
//! - `clang`: the chapters' kernels, compiled by clang.
//! - `stages`: every stage of every chapter against the oracle.
//! - `oracle`: the oracle against an independent formula, and its tolerance against every correct way to sum.
//! - `correlation`: the exact sums of chapter 04, and every branch of its choice of kernels.
//! - `window_sums`: the oracle of chapter 05, its tolerances, and the experiments of `--diagnose`.
//! - `matmul`: the oracle of chapter 06, and every tile with every number of slices.
//! - `matmul_half`: products of bf16 numbers at sizes of every kind, with 8 bits, and with a bias.
//! - `tensor`, `fft`: what tensor cores and transforms need so that their results are right.
//! - `without`: kernels with one instruction removed.
//! - `barriers`: every barrier of every kernel is needed.
//! - `synchronization`: so is every fence, wait and arrival.
//! - `mutants`: kernels that are known to be wrong, each of which must be caught.
//! - `diagnose`: stages with part of their work taken out.
//! - `exercises`: the exercises as a web page checks them.
//! - `lessons`: what the chapters' lessons compare, and the stages that exercises name.
//! - `planner`: into how many slices the chapters cut their sums.
//! - `rows`: what the runner makes of stages that fail.
//! - `narrow`: the chapters' tables in a terminal that is too narrow for them.
//! - `cudarc_api`: what the chapters and their readers use of cudarc, on either driver.
//!
//! # On which device
//!
//! `cargo test` runs everything on the simulator. Where a GPU works, it runs everything again on that GPU in a second process, because
//! a process can load only one driver. `UNROLLED_TEST_DEVICE=sim` or `gpu` asks for one of them; `UNROLLED_REQUIRE_GPU=1` makes a
//! missing GPU a failure.

#![cfg(test)]

mod barriers;
mod cases;
mod clang;
mod correlation;
mod cudarc_api;
mod device;
mod diagnose;
mod exercises;
mod fft;
mod lessons;
mod matmul;
mod matmul_half;
mod mutants;
mod narrow;
mod oracle;
mod planner;
mod rows;
mod stages;
mod synchronization;
mod tensor;
mod window_sums;
mod without;
