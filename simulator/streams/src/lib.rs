//! Exercises in host code: programs with streams that the reader of the book mends, and checks with `simcuda explore`.
//!
//! # Layout
//!
//! - `fork_join`, `overlapping_copies`: an exercise each, with the reader's part at its top. Everything else is there for that part.
//! - `solutions`: the same parts, solved.

use std::error::Error;

pub mod fork_join;
pub mod overlapping_copies;
pub mod solutions;

/// Runs the exercise of a command line: its name, and `--solution` for the solution.
pub fn run(words: &[&str]) -> Result<(), Box<dyn Error>> {
    match words {
        ["fork-join"] => fork_join::run(fork_join::smooth_both),
        ["fork-join", "--solution"] => fork_join::run(solutions::smooth_both),
        ["overlapping-copies"] => overlapping_copies::run(overlapping_copies::smooth_all),
        ["overlapping-copies", "--solution"] => overlapping_copies::run(solutions::smooth_all),
        _ => Err("usage: streams fork-join|overlapping-copies [--solution]".into()),
    }
}
