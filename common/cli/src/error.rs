//! The errors between a command line and its results.

use std::path::PathBuf;
use std::process::ExitCode;

use thiserror::Error;

/// The result of a fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a command failed.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say what each variant and field is")]
pub enum Error {
    #[error("{}; try --help", one_line(&.0.to_string()))]
    Usage(#[from] clap::Error),
    #[error(transparent)]
    Run(#[from] run::Error),
    #[error(transparent)]
    Explain(#[from] inspect::Error),
    #[error(
        "the exercises are in the repository, which was in {} when this program was built and is not there now: run `cargo run -p ch{chapter} \
         -- exercise` in the repository",
        .root.display()
    )]
    NoRepository { root: PathBuf, chapter: &'static str },
    #[error(transparent)]
    Exercise(#[from] workshop::Error),
    #[error(transparent)]
    UnknownStage(#[from] run::chapter::UnknownStage),
    #[error(transparent)]
    UnknownColumn(#[from] run::table::UnknownColumn),
    #[error("this would take about {time} on this machine: choose a smaller size or fewer stages, or start it with --yes")]
    Long { time: String },
    #[error("--explain shows what the simulator counts, but this run would be on a GPU ({device}): add `--device sim`")]
    ExplainNeedsSimulator { device: String },
    #[error("stage {stage} launches no kernel: expected one of {stages}")]
    NoKernel { stage: &'static str, stages: String },
}

impl Error {
    /// Returns the exit status of the process: 1 for a wrong kernel, 2 for a wrong request or an unfit machine.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Error::Usage(usage) => ExitCode::from(usage.exit_code() as u8),
            error if error.is_broken_pipe() => ExitCode::SUCCESS,
            Error::Run(error) | Error::Exercise(workshop::Error::Run(error)) => ExitCode::from(error.exit_status()),
            _ => ExitCode::from(2),
        }
    }

    /// Returns true if standard output's reader has left, which is no failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Run(error) | Error::Exercise(workshop::Error::Run(error)) if error.is_broken_pipe())
    }
}

/// Returns clap's error message, on one line and without the usage.
fn one_line(report: &str) -> String {
    let complaint = report.split("\n\n").next().unwrap_or(report).trim_start_matches("error: ");
    complaint.split_whitespace().collect::<Vec<_>>().join(" ")
}
