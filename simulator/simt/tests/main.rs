//! The tests of the simulator, in one binary, so that they link once and share their host.
//!
//! - [`canonical`], [`reader`], [`robustness`]: PTX text: what is read of it, and that no text makes the parser panic.
//! - [`instructions`]: every arithmetic instruction, case by case.
//! - [`tensor`]: the arithmetic of tensor cores, against a GPU.
//! - [`programs`]: whole programs, against the same computation in Rust.
//! - [`faults`]: what ends a kernel; [`checks`]: what only the checks find.
//! - [`counters`], [`memory_rules`], [`bound`], [`trace`]: what is counted of a launch, what an access costs, and what follows from
//!   that.
//! - [`common`]: the host that launches all of these.

mod bound;
mod canonical;
mod checks;
mod common;
mod counters;
mod faults;
mod instructions;
mod memory_rules;
mod programs;
mod reader;
mod robustness;
mod tensor;
mod trace;
