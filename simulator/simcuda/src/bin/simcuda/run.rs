//! `simcuda run -- COMMAND`

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;

use crate::Ended;
use crate::program::{Simulator, exit_code, not_started};

/// Run a program on the simulator
///
/// The program and every process that it starts find our driver and our CUDA runtime. The exit status is the program's.
///
///     simcuda run -- cargo test
#[derive(Debug, Args)]
pub struct Options {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// Runs the program.
pub fn execute(options: &Options) -> Ended {
    let simulator = Simulator::install()?;
    let status = simulator.command(&options.words).status().map_err(|error| not_started(&options.words, &error))?;
    Ok(ExitCode::from(exit_code(status)))
}
