//! Everything that can go wrong with compilers and libraries, in one type.

use thiserror::Error;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a compiler or a library did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A library that this machine does not have, or not in a usable form.
    #[error("{reason}; {remedy}")]
    NotFound {
        /// Where we looked, or what is wrong with the file.
        reason: String,
        /// How to get the library.
        remedy: String,
    },
    /// CUDA C that does not compile.
    #[error("{name} does not compile:\n{log}")]
    Compile {
        /// Name of the source.
        name: String,
        /// The compiler's messages.
        log: String,
    },
    /// PTX that would differ between machines.
    #[error("the PTX of {path} names a file by an absolute path, which differs between machines: {file}")]
    AbsolutePath {
        /// Path of the CUDA C file.
        path: &'static str,
        /// The file.
        file: String,
    },
    /// PTX that the simulator cannot read.
    #[error("cannot read the PTX that the compiler made of {path}: {reason}")]
    Ptx {
        /// Path of the CUDA C file.
        path: &'static str,
        /// The defect, and where it is.
        reason: String,
    },
    /// Machine code that does not have the form that NVIDIA's compilers give it.
    #[error("cannot read the machine code: {0}")]
    MachineCode(String),
    /// A call of a library that failed.
    #[error("{library} cannot {action}: {reason}")]
    Call {
        /// The name that people use.
        library: &'static str,
        /// The attempt, as a verb phrase.
        action: String,
        /// The library's own words.
        reason: String,
    },
}

impl Error {
    /// Returns what is wrong, without the remedy.
    pub(crate) fn reason(self) -> String {
        match self {
            Error::NotFound { reason, .. } => reason,
            error => error.to_string(),
        }
    }
}
