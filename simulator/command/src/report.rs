//! `simcuda report FILE…`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use driver::report::Report;

use crate::ending::{At, Ended, Result};
use crate::outputs::{Outputs, merged};

/// Make one report of several, in any form
///
/// The files are those that programs write with SIMCUDA_REPORT=json:FILE. The exit status is 1 if they have defects.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  SIMCUDA_REPORT=json:report-%p.json cargo test
  simcuda report --report text,sarif:simcuda.sarif report-*.json")]
pub struct Options {
    #[command(flatten)]
    outputs: Outputs,
    /// Reports in JSON
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Merges the reports.
pub fn execute(options: &Options) -> Ended {
    let ending = options.outputs.prepare()?;
    let reports = options.files.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    let fails = ending.finish(&merged(reports))?;
    Ok(ExitCode::from(u8::from(fails)))
}

fn read(path: &Path) -> Result<Report> {
    let text = fs::read(path).at(path)?;
    serde_json::from_slice(&text).map_err(|error| format!("{} is not a report: {error}", path.display()).into())
}
