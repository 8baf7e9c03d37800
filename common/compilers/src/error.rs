//! Everything that can go wrong with compilers and libraries, in one type.

use thiserror::Error;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a compiler or library failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say what each variant and field is")]
pub enum Error {
    /// A library that this machine does not have, or not in a usable form. The reason says where we looked, or what is wrong with the file.
    #[error("{reason}; {remedy}")]
    NotFound { reason: String, remedy: String },
    #[error("{name} does not compile:\n{log}")]
    Compile { name: String, log: String },
    #[error("the PTX of {path} names a file by an absolute path, which differs between machines: {file}")]
    AbsolutePath { path: &'static str, file: String },
    #[error("cannot read the PTX that the compiler made of {path}: {reason}")]
    Ptx { path: &'static str, reason: String },
    /// Machine code that does not have the form that NVIDIA's compilers give it.
    #[error("cannot read the machine code: {0}")]
    MachineCode(String),
    /// A call of a library that failed. The action is a verb phrase, and the reason is in the library's own words.
    #[error("{library} cannot {action}: {reason}")]
    Call { library: &'static str, action: String, reason: String },
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
