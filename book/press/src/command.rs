//! What `cargo book` does with records.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::{check, counts, listings, rerun};

/// What to do with records.
#[derive(Debug, Subcommand)]
pub enum Records {
    /// Check the records against book/records.toml, and list those that are stale
    Check(check::Arguments),
    /// Make records again
    Record(rerun::Arguments),
    /// Count what every kernel does; `record` runs this
    Counts(counts::Arguments),
    /// Make a listing of machine code; `record` runs this
    Listing(listings::Arguments),
}

impl Records {
    /// Does it.
    ///
    /// # Errors
    ///
    /// Those of the subcommand.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Records::Check(arguments) => arguments.run(),
            Records::Record(arguments) => arguments.run(),
            Records::Counts(arguments) => arguments.run().map(|()| ExitCode::SUCCESS),
            Records::Listing(arguments) => arguments.run().map(|()| ExitCode::SUCCESS),
        }
    }
}
