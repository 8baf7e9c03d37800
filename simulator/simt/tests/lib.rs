//! The tests of the simulator, in one binary, so that they link once and share their host: `cargo test -p simt-tests`.
//!
//! - `canonical`, `reader`, `robustness`: the reader of PTX text, and that no text makes it panic.
//! - `instructions`: every arithmetic instruction, case by case.
//! - `tensor`: the arithmetic of tensor cores, against a GPU.
//! - `products`: sparse products, those of four groups of lanes, and those of a few bits.
//! - `programs`: whole programs, against the same computation in Rust.
//! - `forms`: forms of PTX that people write and compilers seldom do.
//! - `older`: PTX 1.0 to 1.4. `refusals`: what the simulator lacks, which refuses only its kernel.
//! - `faults`: defects that end a kernel; `checks`: defects that only the checks find.
//! - `counters`, `memory_rules`, `fragments`, `bound`, `trace`, `steps`: the counters of a launch, the cost of an access, and what follows from
//!   them.
//! - `coverage`: executed lines and branches of a kernel, counted by hand.
//! - `mutation`: deliberate mistakes.
//! - `wgmma`: products of four warps, against a GPU, and their misuse.
//! - `wide`: accesses of 16 and 32 bytes, and what else is new in sm_90 and sm_100.
//! - `rules`: rules of the PTX ISA and the CUDA guide, each quoted, with the smallest programs that depend on it.
//! - `common`: the host that launches all of these.

#![cfg(test)]

mod bound;
mod canonical;
mod checks;
mod common;
mod counters;
mod coverage;
mod faults;
mod forms;
mod fragments;
mod instructions;
mod memory_rules;
mod mutation;
mod older;
mod products;
mod programs;
mod reader;
mod refusals;
mod robustness;
mod rules;
mod steps;
mod tensor;
mod trace;
mod wgmma;
mod wide;
