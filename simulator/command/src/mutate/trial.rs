//! One run of the command, and what it says about a mutant.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use simcuda::mutants::{APPLIED, Listed, REFUSED};
use simcuda::report::Defect;
use simcuda::scores::{Judged, Verdict};
use simcuda::variables::{MUTANT, MUTANTS};
use tempfile::TempDir;

use crate::group::{self, Ended};
use crate::outputs::{ask_for_reports, reports_in};
use crate::program::{Simulator, exit_code, not_started};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The command without a mistake.
#[derive(Debug)]
pub struct Baseline {
    pub duration: Duration,
    pub mutants: Vec<Listed>,
    /// The defects that its kernels have anyway.
    pub known: BTreeSet<Known>,
}

/// A defect without what differs from run to run: kernel, kind, and place.
type Known = (String, String, String);

/// Runs of the command.
#[derive(Debug)]
pub struct Trials<'a> {
    pub simulator: &'a Simulator,
    pub words: &'a [OsString],
    pub interrupted: &'a AtomicBool,
}

impl Trials<'_> {
    /// Runs the command as it is; `None` after an interruption.
    ///
    /// # Errors
    ///
    /// If it fails.
    pub fn baseline(&self) -> Result<Option<Baseline>> {
        let folder = folder()?;
        let mut command = self.command(&folder);
        // Standard output is for the score.
        command.stdout(io::stderr());
        let (ended, duration) = self.run(&mut command, None)?;
        match ended {
            Ended::Interrupted | Ended::TimedOut => return Ok(None),
            Ended::Exited(status) if status.success() => {}
            Ended::Exited(status) => {
                return Err(format!("the command fails without any mutant, with {status}; it must succeed").into());
            }
        }
        let mutants = simcuda::mutants::read(folder.path())?;
        let known = defects(&folder)?.iter().map(known).collect();
        Ok(Some(Baseline { duration, mutants, known }))
    }

    /// Runs the command with a mutant; `None` after an interruption.
    pub fn judge(&self, baseline: &Baseline, mutant: &Listed, limit: Duration) -> Result<Option<Judged>> {
        let folder = folder()?;
        let mut command = self.command(&folder);
        command.env(MUTANT, &mutant.id).stdout(Stdio::null()).stderr(Stdio::null());
        let (ended, duration) = self.run(&mut command, Some(limit))?;
        let new: Vec<Defect> = defects(&folder)?.into_iter().filter(|defect| !baseline.known.contains(&known(defect))).collect();
        let first_line = |defect: &Defect| defect.message.lines().next().unwrap_or_default().to_owned();
        let endless = new.iter().find(|defect| defect.finding.is_none()).map(|endless| (Verdict::Time, first_line(endless)));
        let found = new.iter().find(|defect| defect.finding.is_some()).map(|found| (Verdict::Finding, first_line(found)));
        let refused = fs::read_to_string(folder.path().join(REFUSED)).ok().map(|reason| (Verdict::Refused, reason));
        let ended = match ended {
            Ended::Interrupted => return Ok(None),
            Ended::TimedOut => (Verdict::Time, format!("more than {:.1} s", limit.as_secs_f64())),
            Ended::Exited(status) if !status.success() => (Verdict::Tests, format!("exit status {}", exit_code(status))),
            Ended::Exited(_) if !folder.path().join(APPLIED).exists() => {
                (Verdict::NotLoaded, "no process loaded a module with it".to_owned())
            }
            Ended::Exited(_) => (Verdict::Survived, "the command succeeded".to_owned()),
        };
        let (verdict, by) = refused.or(found).or(endless).unwrap_or(ended);
        Ok(Some(Judged { mutant: mutant.clone(), verdict, by, seconds: duration.as_secs_f64() }))
    }

    /// Prepares the command so that its processes leave their reports in a folder.
    fn command(&self, folder: &TempDir) -> Command {
        let mut command = self.simulator.command(self.words);
        command.env(MUTANTS, folder.path()).env_remove(MUTANT).stdin(Stdio::null());
        ask_for_reports(&mut command, folder.path());
        command
    }

    fn run(&self, command: &mut Command, limit: Option<Duration>) -> Result<(Ended, Duration)> {
        group::run(command, limit, self.interrupted).map_err(|error| not_started(self.words, &error).into())
    }
}

/// Makes a folder for what the processes of a run leave.
fn folder() -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("simcuda-mutant-").tempdir()
}

/// Lists the defects in all reports of a run.
fn defects(folder: &TempDir) -> Result<Vec<Defect>> {
    Ok(reports_in(folder.path())?.into_iter().flat_map(|report| report.defects).collect())
}

fn known(defect: &Defect) -> Known {
    let Some(finding) = &defect.finding else { return (defect.kernel.clone(), "endless".to_owned(), String::new()) };
    let kind = serde_json::to_value(&finding.kind).ok().and_then(|kind| Some(kind.get("kind")?.as_str()?.to_owned()));
    let place = match &finding.location.source {
        Some(source) => format!("{}:{}", source.file, source.line),
        None => finding.location.instruction.clone(),
    };
    (defect.kernel.clone(), kind.unwrap_or_default(), place)
}
