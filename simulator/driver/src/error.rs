//! Everything that can go wrong for a user of this crate's Rust half. A function of the C half returns a
//! [`CuResult`](crate::result::CuResult) instead.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::interface::{self, FILE_NAME};

/// Why the simulator cannot be used as asked.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the comment on a variant, or its message, says what its fields are")]
pub enum Error {
    #[error(
        "the simulator's library {FILE_NAME} was not found in {}; `cargo build -p simcuda` in the repository builds it: run the program with \
         `cargo run` there, or set SIMCUDA_LIBRARY to the path of the library",
        .searched.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NotFound { searched: Vec<PathBuf> },
    #[error("cannot open the simulator's library {}: {source}", .path.display())]
    Open { path: PathBuf, source: libloading::Error },
    #[error("{} has interface version {found}, but this program needs {}; rebuild both", .path.display(), interface::VERSION)]
    Version { path: PathBuf, found: u32 },
    #[error("there is no profile {name:?}; choose one of {}", profile_names())]
    UnknownProfile { name: String },
    #[error("{variable} must be {expected}, got {got:?}")]
    Variable { variable: &'static str, expected: &'static str, got: String },
    #[error("{variable}: cannot write {path:?}: {reason}")]
    ReportFile { variable: &'static str, path: PathBuf, reason: String },
    /// The file of suppressions is not as it must be.
    #[error("{}:{line}: {reason}", .path.display())]
    Suppressions { path: PathBuf, line: usize, reason: String },
    /// The environment asks for a report at exit, which is not supported here.
    #[error("{0} works on Linux only")]
    NoReportAtExit(&'static str),
    /// The simulator refuses a setting, for this reason.
    #[error("{0}")]
    Refused(String),
    #[error("cannot read the simulator's answer: {0}")]
    Answer(serde_json::Error),
    #[error("the details of {dropped} of {launches} launches were dropped; take the records more often, or use their totals")]
    DetailsDropped { dropped: u64, launches: u64 },
    /// A file with a library's name is not ours: most likely it is NVIDIA's.
    #[error("{} already exists and is not the simulator; choose another folder", .0.display())]
    Foreign(PathBuf),
    /// The file system refuses.
    #[error("{}: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
}

impl Error {
    /// Makes an error of what the file system says about a path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

fn profile_names() -> String {
    let names: Vec<&str> = simt::Profile::all().iter().map(|profile| profile.name).collect();
    names.join(", ")
}
