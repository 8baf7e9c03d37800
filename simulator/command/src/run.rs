//! `simcuda run -- COMMAND`

use std::ffi::OsString;
use std::path::{PathBuf, absolute};
use std::process::ExitCode;

use clap::Args;
use simcuda::report::read_suppressions;
use simcuda::variables::SUPPRESSIONS;

use crate::ending::Ended;
use crate::outputs::{Outputs, ask_for_reports, merged, reports_in};
use crate::program::{Simulator, exit_code, not_started};

/// Run a program on the simulator
///
/// The program and every process that it starts find our driver and our CUDA runtime. At the end, the reports of all of them are written as
/// one. The exit status is the program's, or 1 if it succeeded but its kernels had defects.
///
///     simcuda run -- cargo test
///     simcuda run --report text,junit:kernels.xml -- pytest
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    outputs: Outputs,
    /// A TOML file with the defects that are not to be reported, each with the reason
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// Runs the program.
pub fn execute(options: &Options) -> Ended {
    let ending = options.outputs.prepare()?;
    if !cfg!(target_os = "linux") {
        return without_reports(options);
    }
    let simulator = Simulator::install()?;
    let mut command = simulator.command(&options.words);
    if let Some(file) = &options.suppressions {
        // A wrong file is refused before anything runs. The processes may run in other directories.
        read_suppressions(file)?;
        command.env(SUPPRESSIONS, absolute(file)?);
    }
    let reports = tempfile::Builder::new().prefix("simcuda-reports-").tempdir()?;
    ask_for_reports(&mut command, reports.path());
    let status = command.status().map_err(|error| not_started(&options.words, &error))?;
    let fails = ending.finish(&merged(reports_in(reports.path())?))?;
    Ok(ExitCode::from(if status.success() { u8::from(fails) } else { exit_code(status) }))
}

/// Runs the program on a system whose processes write no report at their end.
fn without_reports(options: &Options) -> Ended {
    if options.outputs.are_given() || options.suppressions.is_some() {
        return Err("reports work on Linux only; run the program without --report, --fail-on and --suppressions".into());
    }
    let status = Simulator::install()?.command(&options.words).status();
    let status = status.map_err(|error| not_started(&options.words, &error))?;
    Ok(ExitCode::from(exit_code(status)))
}
