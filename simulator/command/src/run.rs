//! `simcuda run -- COMMAND`

use std::ffi::OsString;
use std::path::{PathBuf, absolute};
use std::process::ExitCode;

use clap::Args;
use driver::report::{Allowed, Untested, read_suppressions};
use driver::variables::SUPPRESSIONS;

use crate::ending::{Ended, bail, say};
use crate::outputs::{Outputs, ask_for_reports, merged, reports_in};
use crate::program::{Program, exit_code, temporary_folder};

/// Run a program on the simulator
///
/// The program and every process that it starts find our driver and our CUDA runtime. At the end, the reports of all of them are written as
/// one. The exit status is the program's. If that is 0, it is 1 if kernels had defects, 3 if kernels did not run because they or their launches
/// were refused, and 4 if no process launched a kernel.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  simcuda run -- cargo test
  simcuda run --report text,junit:kernels.xml -- pytest")]
pub struct Options {
    #[command(flatten)]
    outputs: Outputs,
    /// A TOML file with the defects that are not to be reported, each with the reason
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
    /// Succeed even if kernels or launches were refused
    #[arg(long)]
    allow_refused: bool,
    /// Succeed even if no process launched a kernel
    #[arg(long)]
    allow_no_launch: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

/// The exit statuses of a run whose program succeeded.
const HAS_DEFECTS: u8 = 1;
const WAS_REFUSED: u8 = 3;
const HAS_NO_LAUNCH: u8 = 4;

/// Runs the program.
pub fn execute(options: &Options) -> Ended {
    let ending = options.outputs.prepare()?;
    let has_reports = cfg!(target_os = "linux");
    if !has_reports && (options.outputs.are_given() || options.suppressions.is_some()) {
        bail!("reports work on Linux only; run the program without --report, --fail-on and --suppressions");
    }
    let program = Program::new(&options.words)?;
    let mut command = program.command();
    if let Some(file) = &options.suppressions {
        // A wrong file is refused before anything runs. The processes may run in other directories.
        read_suppressions(file)?;
        command.env(SUPPRESSIONS, absolute(file)?);
    }
    if !has_reports {
        return Ok(ExitCode::from(exit_code(program.run(&mut command)?)));
    }
    let reports = temporary_folder()?;
    ask_for_reports(&mut command, reports.path());
    let status = program.run(&mut command)?;
    let mut report = merged(reports_in(reports.path())?);
    report.allowed = Allowed { refused: options.allow_refused, no_launch: options.allow_no_launch };
    let fails = ending.finish(&report)?;
    Ok(ExitCode::from(match report.untested() {
        _ if !status.success() => exit_code(status),
        _ if fails => HAS_DEFECTS,
        Some(untested) => {
            let (status, option) = match untested {
                Untested::Refused(_) => (WAS_REFUSED, "--allow-refused"),
                Untested::NoLaunch => (HAS_NO_LAUNCH, "--allow-no-launch"),
            };
            say(format_args!("simcuda: the program succeeded, but {untested}; with {option}, that is no failure"));
            status
        }
        None => 0,
    }))
}
