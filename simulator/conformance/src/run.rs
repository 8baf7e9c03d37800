//! Runs one test in a process of its own, and judges how it ended.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use driver::report::Report;
use serde::{Deserialize, Serialize};
use simt::Severity;
use wait_timeout::ChildExt;

use crate::source::{Environment, Test};
use crate::suite::Suite;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It passed, and nothing was found in its kernels that is not there.
    Passed,
    /// It decided by itself not to run.
    Skipped,
    /// It failed for a reason that is not the driver's; `suites.toml` says which.
    Known,
    /// It failed after the driver refused something by name.
    Refused,
    /// It failed otherwise.
    Failed,
    /// The driver reported a defect that `suites.toml` does not name as a true one.
    Finding,
    /// It did not end in time.
    Hung,
}

/// A test that did not simply pass.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// Its name in the suite.
    pub test: String,
    /// How it ended.
    pub verdict: Verdict,
    /// Why, in a line.
    pub reason: String,
}

/// Runs a test. What it printed and its report stay in the folder `keep` unless it simply passed.
///
/// # Errors
///
/// When it cannot be started.
pub fn run(suite: &Suite, test: &Test, environment: &Environment, keep: Option<&Path>) -> Result<Ended> {
    let folder = tempfile::tempdir()?;
    let [output_path, report_path] = ["output.txt", "report.json"].map(|name| folder.path().join(name));
    let file = File::create(&output_path)?;
    let mut command = test.command();
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.env("SIMCUDA_REPORT", format!("json:{}", report_path.display()));
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
    let status = child.wait_timeout(Duration::from_secs(suite.time_limit_s))?;
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let output = String::from_utf8_lossy(&fs::read(&output_path)?).into_owned();
    // A process that was killed, or that never called the driver, leaves no report.
    let report: Report = fs::read(&report_path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let (verdict, reason) = judge(suite, &test.name, status.map(|status| status.success()), &output, &report);
    if let Some(keep) = keep.filter(|_| verdict != Verdict::Passed || !report.defects.is_empty()) {
        let kept = keep.join(test.name.replace(['/', ':'], "_"));
        fs::create_dir_all(&kept).with_context(|| kept.display().to_string())?;
        fs::write(kept.join("output.txt"), &output)?;
        fs::write(kept.join("report.json"), serde_json::to_string_pretty(&report)?)?;
    }
    Ok(Ended { test: test.name.clone(), verdict, reason })
}

/// Judges a test by how its process ended (`None`: not in time), what it printed, and what the driver reported.
fn judge(suite: &Suite, test: &str, succeeded: Option<bool>, output: &str, report: &Report) -> (Verdict, String) {
    let defect = report.defects.iter().find(|defect| defect.severity == Severity::Error);
    let is_true = suite.true_findings.contains_key(test);
    if let Some(why) = suite.known.get(test)
        && succeeded != Some(true)
    {
        return (Verdict::Known, why.clone());
    }
    if let Some(defect) = defect.filter(|_| !is_true) {
        return (Verdict::Finding, format!("{}: {}", defect.kernel, first_line(&defect.message)));
    }
    match succeeded {
        None => (Verdict::Hung, format!("not over after {} s", suite.time_limit_s)),
        Some(true) if ["skipped=1", "1 skipped"].iter().any(|mark| output.contains(mark)) => (Verdict::Skipped, last_line(output)),
        Some(true) => (Verdict::Passed, String::new()),
        // NVRTC asks for functions that it can do without, so the first refusal need not be why.
        Some(false) => match report.refusals.last() {
            Some(refusal) => (Verdict::Refused, first_line(&refusal.reason)),
            None => (Verdict::Failed, last_error(output)),
        },
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn last_line(text: &str) -> String {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// The last line that looks like the reason of a failure, or else the last line.
fn last_error(output: &str) -> String {
    let marks = ["Error", "error", "panicked", "assert", "Exception"];
    let error = output.lines().rev().map(str::trim).find(|line| marks.iter().any(|mark| line.contains(mark)));
    error.map_or_else(|| last_line(output), str::to_owned)
}

#[cfg(test)]
mod tests {
    use driver::report::{Defect, Refusal};

    use super::*;
    use crate::suite;

    #[test]
    fn a_test_is_judged_by_its_end_its_output_and_the_drivers_report() {
        let mut suite = suite::named("cudarc").unwrap();
        suite.known.insert("timing".to_owned(), "it measures the time of a kernel".to_owned());
        suite.true_findings.insert("sloppy".to_owned(), "two threads write one element".to_owned());
        let clean = Report::default();
        let refused =
            Report { refusals: vec![Refusal { times: 1, reason: "textures are not supported".to_owned() }], ..Report::default() };
        let defect = Defect {
            kernel: "k".to_owned(),
            times: 1,
            severity: Severity::Error,
            fatal: false,
            message: "data race: x\n  at y".to_owned(),
            finding: None,
        };
        let found = Report { defects: vec![defect], ..Report::default() };
        let judged = |test: &str, succeeded, output: &str, report: &Report| judge(&suite, test, succeeded, output, report);
        assert_eq!(judged("a", Some(true), "ok", &clean).0, Verdict::Passed);
        assert_eq!(judged("a", Some(true), "OK (skipped=1)", &clean), (Verdict::Skipped, "OK (skipped=1)".to_owned()));
        assert_eq!(judged("a", Some(true), "ok", &refused).0, Verdict::Passed, "it expected the refusal");
        assert_eq!(judged("a", Some(false), "", &refused), (Verdict::Refused, "textures are not supported".to_owned()));
        assert_eq!(judged("a", Some(false), "x\nValueError: y\nFAILED\n", &clean), (Verdict::Failed, "ValueError: y".to_owned()));
        assert_eq!(judged("a", Some(true), "ok", &found), (Verdict::Finding, "k: data race: x".to_owned()));
        assert_eq!(judged("a", Some(false), "", &found).0, Verdict::Finding, "a false finding may be why it fails");
        assert_eq!(judged("sloppy", Some(true), "ok", &found).0, Verdict::Passed);
        assert_eq!(judged("timing", Some(false), "", &clean), (Verdict::Known, "it measures the time of a kernel".to_owned()));
        assert_eq!(judged("timing", Some(true), "ok", &clean).0, Verdict::Passed);
        assert_eq!(judged("a", None, "", &clean).0, Verdict::Hung);
    }
}
