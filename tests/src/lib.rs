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
//! - `rows`: what the runner makes of stages that fail.
//! - `cudarc_api`: what the chapters and their readers use of cudarc, on either driver.
//! - `bound`: the bound of what the simulator counted against times of a GPU.
//! - `book`: the book and the README against the records and tables that they are made from (`generated`, `charts`,
//!   `differences`, `pictures`, `footprints`, `exercise_pages`, `front_pages`, `instruction_tables`, `counts`, `window_tables`).
//! - `pages`: what is written by hand, as mdBook reads it; `figures` checks the numbers in its sentences against their origins,
//!   `outline` the parts of a chapter, `includes` and `links` what pages show and where they lead,
//!   `commands` what they tell a reader to type.
//! - `tidy`: the rules of the house that a test can check.
//!
//! # On which device
//!
//! `cargo test` runs everything on the simulator and, where a GPU works, everything again on that GPU in a second process, because
//! a process can load one driver only. `UNROLLED_TEST_DEVICE=sim` or `gpu` asks for one of them; `UNROLLED_REQUIRE_GPU=1` makes a
//! missing GPU a failure.

#![cfg(test)]

mod barriers;
mod book;
mod bound;
mod cases;
mod chapters;
mod charts;
mod commands;
mod correlation;
#[allow(dead_code, reason = "the program of that name makes the records")]
mod counts;
mod cudarc_api;
mod device;
mod diagnose;
mod differences;
mod exercise_pages;
mod fft;
mod figures;
mod footprints;
mod front_pages;
mod generated;
mod includes;
mod instruction_tables;
mod links;
mod matmul;
mod mutants;
mod oracle;
mod outline;
mod pages;
mod pictures;
mod rows;
mod stages;
mod tensor;
mod tidy;
mod window_sums;
mod window_tables;
