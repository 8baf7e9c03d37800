//! Exercises that check themselves.
//!
//! An exercise is a folder `chapters/<chapter>/exercises/<number>-<slug>` with an `exercise.toml`, a `solution.cu`, and a `wall.toml` with wrong
//! and right answers for the tests. An exercise that only asks for numbers has the first only. The learner's copy is the solution without its marked parts. It is in a folder that git
//! ignores, so nothing tracked changes while people learn. A check compiles the copy, runs it on the simulated GPU with all its checks,
//! compares every output with the oracle, and then compares counts with targets. Counts are the same on every machine; times are not.
//!
//! # Layout
//!
//! Each module uses only modules above it.
//!
//! - [`error`]: what can go wrong, apart from the learner's kernel.
//! - [`manifest`]: what an `exercise.toml` holds.
//! - [`wall`]: what a `wall.toml` holds.
//! - [`text`]: the solution, and the starter made from it.
//! - [`cases`]: the sizes at which a kernel is checked.
//! - [`exercise`]: an exercise with its manifest and its solution.
//! - [`workspace`]: the learner's copies and progress.
//! - [`check`]: compile, run, compare, count.
//! - [`feedback`]: what to say about a checked kernel.
//! - [`command`]: `exercise` on the command line of every chapter.

pub mod cases;
pub mod check;
pub mod command;
pub mod error;
pub mod exercise;
pub mod feedback;
pub mod manifest;
pub mod text;
pub mod wall;
pub mod workspace;

pub use error::{Error, Result, Unusable};
pub use exercise::{Exercise, root};
