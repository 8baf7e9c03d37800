//! How the command ends: its exit status, and what it says if it could not do its work.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::process::ExitCode;

/// The exit status of the program that a subcommand ran, or the reason why the subcommand could not do its work.
pub type Ended = Result<ExitCode, Box<dyn Error>>;

/// Returns the exit status of a program that has printed its results. A reader who has seen enough and left is no failure.
pub fn after_printing(printed: io::Result<()>) -> ExitCode {
    match printed.and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => failed(format_args!("cannot write to standard output: {error}")),
        _ => ExitCode::SUCCESS,
    }
}

/// Says what went wrong. If standard error takes nothing, that is lost; `eprintln!` would panic.
pub fn failed(message: fmt::Arguments<'_>) -> ExitCode {
    let _ = writeln!(stderr(), "error: {message}");
    ExitCode::from(2)
}
