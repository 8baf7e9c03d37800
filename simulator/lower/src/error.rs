//! Why a module cannot be lowered, and where: the line of the IR, and the line of CUDA C that it came from.

use std::fmt;

/// A reason to refuse a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The defect or the feature that was found.
    pub message: String,
    /// The line of the IR, from 1; 0 if no line is to blame.
    pub line: u32,
    /// The line of CUDA C, if the IR says so.
    pub source: Option<Place>,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the compiler named it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
}

impl Error {
    /// Returns an error at a line of the IR.
    pub(crate) fn at(line: u32, message: impl Into<String>) -> Self {
        Self { message: message.into(), line, source: None }
    }

    /// Adds the line of the IR, if the error has none yet.
    pub(crate) fn or_at(self, line: u32) -> Self {
        Self { line: if self.line == 0 { line } else { self.line }, ..self }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { file, line, .. }) = &self.source {
            write!(f, "{file}:{line}: ")?;
        }
        write!(f, "{}", self.message)?;
        if self.line != 0 {
            write!(f, " (line {} of the LLVM IR)", self.line)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// The result of a step of the lowering.
pub(crate) type Result<T> = std::result::Result<T, Error>;
