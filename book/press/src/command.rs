//! The command line of `cargo book`.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::{check, counts, listings, rerun};

/// Makes the book, and the records that it is made of
#[derive(Debug, Parser)]
#[command(name = "cargo book", bin_name = "cargo book")]
pub struct Arguments {
    /// What to do; without it, the book is built
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check the records against book/records.toml, and list those that are stale
    Check(check::Arguments),
    /// Make records again
    Record(rerun::Arguments),
    /// Count what every kernel does; `record` runs this
    Counts(counts::Arguments),
    /// Make a listing of machine code; `record` runs this
    Listing(listings::Arguments),
}

impl Arguments {
    /// Does what is asked for; `None` when that is to build the book.
    ///
    /// # Errors
    ///
    /// Those of the subcommands.
    pub fn run(self) -> Result<Option<ExitCode>> {
        let done = |()| Some(ExitCode::SUCCESS);
        match self.action {
            None => Ok(None),
            Some(Action::Check(arguments)) => arguments.run().map(Some),
            Some(Action::Record(arguments)) => arguments.run().map(Some),
            Some(Action::Counts(arguments)) => arguments.run().map(done),
            Some(Action::Listing(arguments)) => arguments.run().map(done),
        }
    }
}

/// Reads a command line without running it.
///
/// # Errors
///
/// When it is not one of `cargo book`.
pub fn accept(words: &[&str]) -> Result<(), clap::Error> {
    Arguments::try_parse_from(words).map(drop)
}
