//! Errors of loading PTX.

use thiserror::Error;

use crate::finding::Location;

/// The reason why a module could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LoadError {
    /// The text is not PTX.
    #[error("PTX line {line}: {message}")]
    Syntax {
        /// Line of the PTX text, from 1.
        line: u32,
        /// The expected text and the text found.
        message: String,
    },
    /// The text is PTX that the simulator cannot execute.
    #[error("{what} is not supported by the simulator: {location}")]
    Unsupported {
        /// The instruction or directive.
        what: String,
        /// Where it is.
        location: Box<Location>,
    },
    /// The text has no kernel of that name.
    #[error("the PTX has no kernel named {kernel}")]
    NoKernel {
        /// The name.
        kernel: String,
    },
}

/// Makes a syntax error in a line: what was expected and what was found.
pub fn syntax(line: u32, message: String) -> LoadError {
    LoadError::Syntax { line, message }
}
