//! The chapter's exercises keep what they promise.

#[path = "../../../tests/support/exercises.rs"]
mod exercises;

/// The binary that a learner runs.
const BINARY: &str = env!("CARGO_BIN_EXE_04-correlation-sm-aware");
/// The folder that the exercises are in.
const CHAPTER: &str = "04-correlation-sm-aware";
