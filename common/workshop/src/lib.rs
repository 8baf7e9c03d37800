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
//! - [`checker`], a crate of its own, is the check: what an `exercise.toml` holds, the starter, the sizes, the verdict and its words.
//! - [`wall`]: what a `wall.toml` holds.
//! - [`exercise`]: an exercise with its manifest and its solution.
//! - [`workspace`]: the learner's copies and progress.
//! - [`attempt`]: the check of a learner's text, on the simulator or on a GPU.
//! - [`count`]: counts what a predict exercise asks for.
//! - [`command`]: `exercise` on the command line of every chapter.

pub mod attempt;
pub mod command;
pub mod count;
pub mod error;
pub mod exercise;
pub mod wall;
pub mod workspace;

pub use checker::{feedback, manifest, text};
pub use error::{Error, Result, Unusable};
pub use exercise::{Exercise, root};
