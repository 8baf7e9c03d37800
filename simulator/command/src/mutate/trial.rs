//! One run of the command, and what it says about a mutant.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::time::Duration;

use driver::mutants::{APPLIED, Listed, REFUSED};
use driver::report::{Defect, Severity};
use driver::scores::{Judged, Verdict};
use driver::variables::{MUTANT, MUTANTS};
use tempfile::TempDir;

use crate::ending::{Result, bail};
use crate::group::{End, Runs};
use crate::outputs::{ask_for_reports, reports_in};
use crate::program::{exit_code, temporary_folder};

/// The command without a mistake.
#[derive(Debug)]
pub struct Baseline {
    pub duration: Duration,
    pub mutants: Vec<Listed>,
    /// The defects that its kernels have anyway.
    pub known: BTreeSet<Known>,
}

/// A defect without what differs from run to run: kernel, kind, place, and severity. Where a mutant makes an error of a warning, it is new.
type Known = (String, String, String, Severity);

/// Runs the command as it is, which must succeed; `None` after an interruption.
pub fn baseline(runs: &Runs<'_>) -> Result<Option<Baseline>> {
    let folder = temporary_folder()?;
    let mut command = command_for(runs, &folder);
    // Standard output is for the score.
    command.stdout(io::stderr());
    let (end, duration) = runs.run(&mut command, None)?;
    match end {
        End::Interrupted | End::TimedOut => return Ok(None),
        End::Exited(status) if status.success() => {}
        End::Exited(status) => bail!("the command fails without any mutant, with {status}; it must succeed"),
    }
    let mutants = driver::mutants::read(folder.path())?;
    let known = defects(&folder)?.iter().map(known).collect();
    Ok(Some(Baseline { duration, mutants, known }))
}

/// Runs the command with a mutant; `None` after an interruption.
pub fn judge(runs: &Runs<'_>, baseline: &Baseline, mutant: &Listed, limit: Duration) -> Result<Option<Judged>> {
    let folder = temporary_folder()?;
    let mut command = command_for(runs, &folder);
    command.env(MUTANT, &mutant.id).stdout(Stdio::null()).stderr(Stdio::null());
    let (end, duration) = runs.run(&mut command, Some(limit))?;
    let new: Vec<Defect> = defects(&folder)?.into_iter().filter(|defect| !baseline.known.contains(&known(defect))).collect();
    let first_line = |defect: &Defect| defect.message.lines().next().unwrap_or_default().to_owned();
    let endless = new.iter().find(|defect| defect.finding.is_none()).map(|endless| (Verdict::Time, first_line(endless)));
    let found = new.iter().find(|defect| defect.finding.is_some()).map(|found| (Verdict::Finding, first_line(found)));
    let refused = fs::read_to_string(folder.path().join(REFUSED)).ok().map(|reason| (Verdict::Refused, reason));
    let end = match end {
        End::Interrupted => return Ok(None),
        End::TimedOut => (Verdict::Time, format!("more than {:.1} s", limit.as_secs_f64())),
        End::Exited(status) if !status.success() => (Verdict::Tests, format!("exit status {}", exit_code(status))),
        End::Exited(_) if !folder.path().join(APPLIED).exists() => {
            (Verdict::NotLoaded, "no process loaded a module with it".to_owned())
        }
        End::Exited(_) => (Verdict::Survived, "the command succeeded".to_owned()),
    };
    let (verdict, by) = refused.or(found).or(endless).unwrap_or(end);
    Ok(Some(Judged { mutant: mutant.clone(), verdict, by, seconds: duration.as_secs_f64() }))
}

/// Prepares the command to leave its processes' reports in a folder.
fn command_for(runs: &Runs<'_>, folder: &TempDir) -> Command {
    let mut command = runs.program.command();
    command.env(MUTANTS, folder.path()).env_remove(MUTANT).stdin(Stdio::null());
    ask_for_reports(&mut command, folder.path());
    command
}

/// Lists the defects in all reports of a run.
fn defects(folder: &TempDir) -> Result<Vec<Defect>> {
    Ok(reports_in(folder.path())?.into_iter().flat_map(|report| report.defects).collect())
}

fn known(defect: &Defect) -> Known {
    let location = defect.finding.as_ref().map(|finding| &finding.location);
    let place = location.map(|location| match &location.source {
        Some(source) => format!("{}:{}", source.file, source.line),
        None => location.instruction.clone(),
    });
    (defect.kernel.clone(), defect.kind.clone(), place.unwrap_or_default(), defect.severity)
}
