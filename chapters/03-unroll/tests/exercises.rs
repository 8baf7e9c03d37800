//! The chapter's exercises keep what they promise.

#[path = "../../../tests/support/exercises.rs"]
mod exercises;

/// The binary that a learner runs.
const BINARY: &str = env!("CARGO_BIN_EXE_03-unroll");
/// The folder that the exercises are in.
const CHAPTER: &str = "03-unroll";
