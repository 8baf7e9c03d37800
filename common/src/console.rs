//! The two streams of a terminal: results go to stdout, everything else to stderr.

use std::io::{Write, stderr, stdout};
use std::{env, fmt};

use ::console::Term;

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

/// Prints what clap answers instead of running something: a help or a version.
///
/// # Errors
///
/// As for [`print`].
pub fn print_answer(answer: &clap::Error) -> Result<()> {
    answer.print().and_then(|()| stdout().flush()).map_err(Error::Output)
}

/// How many characters a line of stdout may have: what the environment variable `COLUMNS` says, or else the width of the terminal. `None`
/// for a file or another program.
pub fn width() -> Option<usize> {
    let terminal = Term::stdout();
    let of_terminal = terminal.size_checked().filter(|_| terminal.is_term()).map(|(_, columns)| usize::from(columns));
    stated(env::var("COLUMNS").ok().as_deref()).or(of_terminal)
}

/// A width as `COLUMNS` states it. A terminal that does not know its width may say 0.
fn stated(columns: Option<&str>) -> Option<usize> {
    columns?.trim().parse().ok().filter(|columns| *columns > 0)
}

/// Prints a message. If stderr is closed, nobody is left to tell; `eprintln!` would panic.
pub fn note(message: fmt::Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "{message}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_no_width_are_ignored() {
        let cases = [
            (None, None),
            (Some("80"), Some(80)),
            (Some(" 120 "), Some(120)),
            (Some("0"), None),
            (Some(""), None),
            (Some("wide"), None),
        ];
        for (columns, width) in cases {
            assert_eq!(stated(columns), width, "{columns:?}");
        }
    }
}
