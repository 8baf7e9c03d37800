//! Explains to people what the simulator counted: why a stage is as fast as it is, and what limits it.
//!
//! # Layout
//!
//! - [`mod@line`]: the line of the CUDA source to look at.
//! - [`error`]: what can go wrong in an explanation.
//! - [`explain`]: the source of a stage with the counts of each line, its bottleneck, and a picture of one request of a warp.
//! - [`mod@diagnose`]: the stage again without part of its work, to find its bottleneck.

pub mod diagnose;
pub mod error;
pub mod explain;
pub mod line;

pub use error::{Error, Result};
pub use line::Line;
