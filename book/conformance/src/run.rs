//! Runs tests, each in a process of its own or a class in one process, and judges how they ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use driver::host_memory;
use driver::report::Report;
use serde::{Deserialize, Serialize};
use simt::Severity;
use wait_timeout::ChildExt;

use crate::labels;
use crate::source::{Environment, Start, Test};
use crate::suite::Suite;

/// The end of a test.
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
    /// The way it ended.
    pub verdict: Verdict,
    /// The reason, in a line.
    pub reason: String,
}

/// A process that is over.
struct Process {
    /// True if it succeeded; `None` if it was not over in time.
    succeeded: Option<bool>,
    output: String,
    /// `None`: it was killed, or never called the driver.
    report: Option<Report>,
}

/// Runs a test. What it printed and its report stay in the folder `keep` unless it simply passed.
pub fn alone(suite: &Suite, test: &Test, environment: &Environment, keep: Option<&Path>) -> Result<Ended> {
    let needs = suite.memory_gib.get(&test.name).copied();
    let available = host_memory::available().map(|bytes| bytes >> 30);
    if let Some((needs, available)) = needs.zip(available).filter(|(needs, available)| needs > available) {
        let reason = format!("needs {needs} GiB of the host's memory, and {available} GiB are available");
        return Ok(Ended { test: test.name.clone(), verdict: Verdict::Skipped, reason });
    }
    let Process { succeeded, output, report } = process(test.start.command(), environment, suite.time_limit_s)?;
    let report = report.unwrap_or_default();
    let (verdict, reason) = judge(suite, &test.name, succeeded, &output, &report);
    if let Some(keep) = keep.filter(|_| verdict != Verdict::Passed || !report.defects.is_empty()) {
        let kept = keep.join(test.name.replace(['/', ':'], "_"));
        fs::create_dir_all(&kept).with_context(|| kept.display().to_string())?;
        fs::write(kept.join("output.txt"), &output)?;
        fs::write(kept.join("report.json"), serde_json::to_string_pretty(&report)?)?;
    }
    Ok(Ended { test: test.name.clone(), verdict, reason })
}

/// Runs a test with the warps in this order. Returns the kinds of defect that the driver reports, warnings too, by the words of labels.
pub fn kinds(suite: &Suite, test: &Test, environment: &Environment, order: &str) -> Result<BTreeSet<String>> {
    let mut command = test.start.command();
    command.env("SIMCUDA_WARP_ORDER", order);
    let Process { succeeded, report, .. } = process(command, environment, suite.time_limit_s)?;
    let defects = report.unwrap_or_default().defects;
    let mut kinds: BTreeSet<String> = defects.iter().map(|defect| labels::kind(&defect.kind).to_owned()).collect();
    if kinds.is_empty() && succeeded != Some(true) {
        kinds.insert("not run".to_owned());
    }
    Ok(kinds)
}

/// Runs several tests in one process and returns the certain results: those of tests that passed or skipped themselves. There are none if
/// the driver reported a defect, because it does not say in which test, or if the process died. All others have to run alone, because a
/// fault in one test spoils those after it.
pub fn together(suite: &Suite, start: &Start, tests: &[&Test], environment: &Environment) -> Result<Vec<Ended>> {
    let mut command = start.command();
    command.args(tests.iter().map(|test| &test.name));
    let limit_s = suite.time_limit_s * (1 + tests.len() as u64 / 8);
    Ok(settled_together(tests.iter().map(|test| test.name.as_str()), &process(command, environment, limit_s)?))
}

fn settled_together<'t>(tests: impl Iterator<Item = &'t str>, process: &Process) -> Vec<Ended> {
    let is_clean = |report: &Report| report.defects.iter().all(|defect| defect.severity != Severity::Error);
    if !process.report.as_ref().map_or(process.succeeded == Some(true), is_clean) {
        return Vec::new();
    }
    let passed: BTreeSet<&str> = process.output.lines().filter_map(|line| line.strip_prefix("passed ")).collect();
    let skipped = process.output.lines().filter_map(|line| line.strip_prefix("skipped ")?.split_once(' '));
    let skipped: BTreeMap<&str, &str> = skipped.collect();
    let settled = |test: &'t str| {
        let (verdict, reason) = match skipped.get(test) {
            Some(reason) => (Verdict::Skipped, *reason),
            None if passed.contains(test) => (Verdict::Passed, ""),
            None => return None,
        };
        Some(Ended { test: test.to_owned(), verdict, reason: reason.to_owned() })
    };
    tests.filter_map(settled).collect()
}

/// Runs a process to its end, or for at most `limit_s` seconds.
fn process(mut command: Command, environment: &Environment, limit_s: u64) -> Result<Process> {
    let folder = tempfile::tempdir()?;
    let [output_path, report_path] = ["output.txt", "report.json"].map(|name| folder.path().join(name));
    let file = File::create(&output_path)?;
    command.envs(environment.iter().map(|(name, value)| (name, value)));
    command.env("SIMCUDA_REPORT", format!("json:{}", report_path.display()));
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mut child = command.spawn().with_context(|| format!("{command:?}"))?;
    let status = child.wait_timeout(Duration::from_secs(limit_s))?;
    if status.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let output = String::from_utf8_lossy(&fs::read(&output_path)?).into_owned();
    let report = fs::read(&report_path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(Process { succeeded: status.map(|status| status.success()), output, report })
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
        // The last one, because programs go on after others: NVRTC asks for functions that it can do without.
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

/// Returns the last line that looks like an error. If there is none, returns the last line.
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

    /// Returns the report of a process with one defect.
    fn report_of(severity: Severity, message: &str) -> Report {
        let mut report = Report::default();
        report.defects.push(Defect {
            id: "race-global-00000000".to_owned(),
            kind: "race-global".to_owned(),
            places: Vec::new(),
            suppressed: None,
            kernel: "k".to_owned(),
            module: 0,
            times: 1,
            severity,
            fatal: false,
            message: message.to_owned(),
            finding: None,
        });
        report
    }

    #[test]
    fn a_test_is_judged_by_its_end_its_output_and_the_drivers_report() {
        let mut suite = suite::named("cudarc").unwrap();
        suite.known.insert("timing".to_owned(), "it measures the time of a kernel".to_owned());
        suite.true_findings.insert("sloppy".to_owned(), "two threads write one element".to_owned());
        let clean = Report::default();
        let mut refused = Report::default();
        refused.refusals.push(Refusal { times: 1, reason: "textures are not supported".to_owned(), stops_kernels: false });
        let found = report_of(Severity::Error, "data race: x\n  at y");
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

    #[test]
    fn a_run_of_several_tests_counts_only_if_nothing_was_found_in_it() {
        let output = "passed m.C.a\nnoise passed m.C.b\nskipped m.C.c no second GPU\npassed m.D.x\n".to_owned();
        let settled = |succeeded, report: Option<Report>| {
            let process = Process { succeeded, output: output.clone(), report };
            let settled = settled_together(["m.C.a", "m.C.b", "m.C.c"].into_iter(), &process);
            settled.into_iter().map(|ended| (ended.test, ended.verdict, ended.reason)).collect::<Vec<_>>()
        };
        let defect = |severity| report_of(severity, "data race");
        let both = [("m.C.a", Verdict::Passed, ""), ("m.C.c", Verdict::Skipped, "no second GPU")];
        let both = both.map(|(test, verdict, reason)| (test.to_owned(), verdict, reason.to_owned()));
        assert_eq!(settled(Some(true), Some(Report::default())), both);
        assert_eq!(settled(Some(true), None), both, "it never called the driver");
        assert_eq!(settled(Some(false), Some(Report::default())), both, "another test failed");
        assert_eq!(settled(Some(true), Some(defect(Severity::Warning))), both);
        assert!(settled(Some(true), Some(defect(Severity::Error))).is_empty(), "it may be of any of them");
        assert!(settled(Some(false), None).is_empty(), "it died, and what was found is lost");
        assert!(settled(None, None).is_empty(), "it hung");
    }
}
