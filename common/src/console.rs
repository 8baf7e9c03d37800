//! The two streams of a terminal: results go to stdout, everything else to stderr.

use std::fmt;
use std::io::{Write, stderr, stdout};

use crate::error::{Error, Result};

/// Prints a result and flushes it, so that it is out before anything else can fail.
///
/// # Errors
///
/// [`Error::Output`]. When the reader has left, [`Error::is_broken_pipe`] says so.
pub fn print(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Prints a message. If stderr is closed, nobody is left to tell; `eprintln!` would panic.
pub fn note(message: fmt::Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "{message}");
}
