//! What can go wrong between a command line and its results.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use thiserror::Error;

/// What a fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command did not do what it was asked for.
#[derive(Debug, Error)]
pub enum Error {
    /// The run did not work.
    #[error(transparent)]
    Run(#[from] common::Error),
    /// `--explain` did not work.
    #[error(transparent)]
    Inspect(#[from] inspect::Error),
    /// `exercise` did not work.
    #[error(transparent)]
    Workshop(#[from] workshop::Error),
    /// A name that no stage of the chapter has.
    #[error(transparent)]
    UnknownStage(#[from] common::chapter::UnknownStage),
    /// `--explain` on a GPU, which counts nothing.
    #[error("--explain shows what the simulator counts, and this run would be on a GPU ({device}): add `--device sim`")]
    ExplainNeedsSimulator {
        /// Name of the GPU.
        device: String,
    },
    /// `--explain` or `--diagnose` with a stage that launches no kernel.
    #[error("stage {stage} launches no kernel that could be looked into: expected one of {stages}")]
    NoKernel {
        /// The stage that was asked for.
        stage: &'static str,
        /// Those that launch kernels.
        stages: String,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Standard output did not take the results.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
}

impl Error {
    /// What the process should exit with: 1 for a kernel that is wrong, 2 for a wrong request or a machine that lacks something.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Error::Run(error) | Error::Workshop(workshop::Error::Run(error)) => error.exit_status(),
            _ => 2,
        })
    }

    /// Whether nobody reads standard output any more: whoever read our results has seen enough.
    pub fn is_broken_pipe(&self) -> bool {
        match self {
            Error::Output(error) | Error::Workshop(workshop::Error::Output(error)) => error.kind() == io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}
