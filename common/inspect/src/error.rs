//! The error of `--explain`.

use thiserror::Error;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A line that has no picture.
#[derive(Debug, Error)]
#[error("the first warp of stage {stage} made no access to global or shared memory{line}: {expected}")]
pub struct Error {
    /// The stage.
    pub(crate) stage: String,
    /// The line after a space; empty if any line would have been fine.
    pub(crate) line: String,
    /// The lines that have a picture.
    pub(crate) expected: String,
}
