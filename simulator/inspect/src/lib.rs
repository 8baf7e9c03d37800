//! What the simulator counted, made readable: why a stage is as fast as it is, and what it waits for.
//!
//! # Layout
//!
//! - [`explain`]: the source of a stage with the counts of each line, what limits it, and a picture of one request of a warp.
//! - [`mod@diagnose`]: the stage again with part of its work removed, to find what it waits for.
//! - [`error`]: what can go wrong in either.

pub mod diagnose;
pub mod error;
pub mod explain;

pub use error::{Error, Result};
