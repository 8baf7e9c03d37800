//! A size that no computation can have.

use thiserror::Error;

/// The result of a fallible function of this crate.
pub type Result<T, E = NoSuchSize> = std::result::Result<T, E>;

/// A size that no computation can have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no run with {asked}: {reason}")]
pub struct NoSuchSize {
    /// The size.
    pub asked: String,
    /// Which sizes are possible.
    pub reason: String,
}

impl NoSuchSize {
    /// Refuses a size.
    pub fn new(asked: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { asked: asked.into(), reason: reason.into() }
    }

    /// Refuses a text that does not name a size.
    pub fn text(text: &str, reason: impl Into<String>) -> Self {
        Self::new(format!("size {text:?}"), reason)
    }
}
