//! The command line that all chapters share: from arguments to an exit status.
//!
//! Results go to stdout, everything else to stderr. The exit status is 0 when everything is verified, 1 for a mismatch or a fault in a
//! kernel, and 2 for a wrong request or a machine that cannot do what is asked.
//!
//! # Layout
//!
//! - `error`: what can go wrong, and its exit status.
//! - `arguments`: what a person may type.
//! - `mode`: what the process will do. Illegal combinations of arguments end here.
//! - `session`: the open device with its workload, and the header above the results.
//! - `patience`: the estimate of long work, and the question whether to start it.
//! - `table`, `list`, `explain` and `diagnose`: one file per mode.

mod arguments;
mod diagnose;
mod error;
mod explain;
mod list;
mod mode;
mod patience;
mod session;
mod table;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use run::console::{self, note};
use run::{Chapter, Workload, probe};

use mode::Mode;

pub use error::{Error, Result};

/// Runs a chapter with the process's arguments, and reports errors on stderr.
pub fn run<W: Workload>(chapter: &Chapter<W>) -> ExitCode {
    probe::serve_child();
    // A program that is installed has no library beside it.
    driver::linked::link_in();
    match execute(chapter) {
        Ok(exit_code) => exit_code,
        Err(Error::Usage(answer)) if !answer.use_stderr() => match console::print_answer(&answer) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report(&error.into()),
        },
        Err(error) => report(&error),
    }
}

/// Reports an error on stderr and returns its exit status.
fn report(error: &Error) -> ExitCode {
    // The reader who left has seen enough.
    if !error.is_broken_pipe() {
        note(format_args!("error: {error}"));
    }
    error.exit_code()
}

/// Returns the stages that a command line would run, in table order. There are none when it does something else. Runs nothing.
pub fn stages<W: Workload>(chapter: &Chapter<W>, arguments: &[&str]) -> Result<Vec<&'static str>> {
    let words = [chapter.name].into_iter().chain(arguments.iter().copied()).map(OsString::from);
    Ok(match Mode::parse(chapter, words)? {
        Mode::Table { stages, .. } => stages.iter().map(|stage| stage.name).collect(),
        _ => Vec::new(),
    })
}

fn execute<W: Workload>(chapter: &Chapter<W>) -> Result<ExitCode> {
    match Mode::parse(chapter, std::env::args_os())? {
        Mode::Table { stages, flags, width, setup } => table::run(chapter, &stages, &flags, width, &setup),
        Mode::List { stages, width } => list::run(chapter, &stages, width),
        Mode::Explain { stage, picture, width, setup } => explain::run(chapter, stage, &picture, width, &setup),
        Mode::Diagnose { stage, width, setup } => diagnose::run(chapter, stage, width, &setup),
        Mode::Exercise(options) => {
            check_repository(chapter.name, workshop::root())?;
            Ok(workshop::command::run(chapter, &options)?)
        }
    }
}

/// Refuses a program that outlived its repository. It carries all that it needs except for the exercises.
fn check_repository(chapter: &'static str, root: PathBuf) -> Result<()> {
    if root.join("chapters").join(chapter).is_dir() { Ok(()) } else { Err(Error::NoRepository { root, chapter }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exercises_without_their_repository_are_refused_with_the_place_where_they_are() {
        assert!(check_repository("03-unroll", workshop::root()).is_ok());
        let message = check_repository("03-unroll", PathBuf::from("/gone")).unwrap_err().to_string();
        for words in ["/gone", "cargo run -p ch03-unroll -- exercise"] {
            assert!(message.contains(words), "{message}");
        }
    }
}
