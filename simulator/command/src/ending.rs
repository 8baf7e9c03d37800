//! How the command ends: its exit status, and what it says if it could not do its work.

use std::error::Error;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write, stderr, stdout};
use std::path::Path;
use std::process::ExitCode;

/// A result, or the reason why the subcommand could not work.
pub type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The exit status of a subcommand.
pub type Ended = Result<ExitCode>;

/// Returns an error from a function, with a message as for [`format!`].
macro_rules! bail {
    ($($message:tt)+) => { return Err(format!($($message)+).into()) };
}
pub(crate) use bail;

/// Names the file or folder that an error is about.
pub trait At<T> {
    /// Puts the path before the message.
    fn at(self, path: &Path) -> Result<T>;
}

impl<T, E: Display> At<T> for Result<T, E> {
    fn at(self, path: &Path) -> Result<T> {
        self.map_err(|error| format!("{}: {error}", path.display()).into())
    }
}

/// Returns the exit status of a program that has printed its results. A reader who has seen enough and left is no failure.
pub fn after_printing(printed: io::Result<()>) -> ExitCode {
    match printed.and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => failed(format_args!("cannot write to standard output: {error}")),
        _ => ExitCode::SUCCESS,
    }
}

/// Says what went wrong, and returns the exit status for it.
pub fn failed(message: impl Display) -> ExitCode {
    say(format_args!("error: {message}"));
    ExitCode::from(2)
}

/// Writes a line to standard error. If that takes nothing, nobody is left to tell; `eprintln!` would panic.
pub fn say(line: impl Display) {
    let _ = writeln!(stderr(), "{line}");
}
