//! What a whole process did on the simulator: its kernels summed up, and each defect once with how often it happened.
//!
//! For programs that know nothing of the simulator. One of this workspace takes [`crate::records`] instead, launch by launch.

mod github;
mod text;

use std::collections::BTreeMap;
use std::mem::discriminant;

use serde::{Deserialize, Serialize};
use simt::{Counters, Finding, FindingKind, Severity};

use crate::records::{LaunchRecord, Outcome};

/// Different defects that are kept, and different refusals. A program that finds new ones for ever must not grow by them.
pub const KEPT: usize = 256;

/// The report of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the simulated profile; empty before `cuInit`.
    pub profile: String,
    /// What each kernel did, by its name. Kernels of the same name in different modules are one here.
    pub kernels: BTreeMap<String, KernelSummary>,
    /// Defects, in the order in which they were first seen.
    pub defects: Vec<Defect>,
    /// Defects that were seen when [`KEPT`] others were known already.
    pub defects_not_kept: u64,
    /// Modules and launches that were refused before anything ran.
    pub refusals: Vec<Refusal>,
}

/// All launches of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelSummary {
    /// Launches that began.
    pub launches: u64,
    /// Launches of them that did not run to their end.
    pub failed: u64,
    /// Counts of those that did, summed.
    pub counters: Counters,
}

/// A defect of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Defect {
    /// Name of the kernel.
    pub kernel: String,
    /// How often it was seen. The same kind of defect of the same instruction counts as the same.
    pub times: u64,
    /// How bad it is.
    pub severity: Severity,
    /// It ended the kernel, as the hardware would have.
    pub fatal: bool,
    /// The first time, for a person.
    pub message: String,
    /// The first time, in parts; `None` for a kernel that did not end.
    pub finding: Option<Finding>,
}

/// A module or a launch that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// How often.
    pub times: u64,
    /// Why.
    pub reason: String,
}

impl Report {
    /// The report of a process that has done nothing.
    pub(crate) const fn new() -> Self {
        Self { profile: String::new(), kernels: BTreeMap::new(), defects: Vec::new(), defects_not_kept: 0, refusals: Vec::new() }
    }

    /// Adds a launch. Returns what has not been seen before, for a person.
    pub(crate) fn note(&mut self, record: &LaunchRecord) -> Vec<String> {
        let kernel = self.kernels.entry(record.kernel.clone()).or_default();
        kernel.launches += 1;
        let mut new = Vec::new();
        match &record.outcome {
            Outcome::Finished(report) => {
                kernel.counters += report.counters;
                for finding in &report.findings {
                    let message = finding.to_string();
                    if self.note_defect(&record.kernel, false, &message, Some(finding)) {
                        new.push(message);
                    }
                }
            }
            Outcome::Failed { message, finding } => {
                kernel.failed += 1;
                if self.note_defect(&record.kernel, true, message, finding.as_deref()) {
                    new.push(format!("kernel {} failed: {message}", record.kernel));
                }
            }
        }
        new
    }

    /// Adds a defect; says whether it is a new one.
    fn note_defect(&mut self, kernel: &str, fatal: bool, message: &str, finding: Option<&Finding>) -> bool {
        let times = finding.map_or(1, |finding| finding.times);
        let known = |defect: &&mut Defect| defect.kernel == kernel && is_same(defect.finding.as_ref(), finding);
        if let Some(defect) = self.defects.iter_mut().find(known) {
            defect.times += times;
            return false;
        }
        if self.defects.len() == KEPT {
            self.defects_not_kept += 1;
            return false;
        }
        let severity = finding.map_or(Severity::Error, |finding| finding.kind.severity());
        let (kernel, message, finding) = (kernel.to_owned(), message.to_owned(), finding.cloned());
        self.defects.push(Defect { kernel, times, severity, fatal, message, finding });
        true
    }

    /// Adds a refusal; says whether it is a new one.
    pub(crate) fn note_refusal(&mut self, reason: &str) -> bool {
        if let Some(refusal) = self.refusals.iter_mut().find(|refusal| refusal.reason == reason) {
            refusal.times += 1;
            return false;
        }
        let is_kept = self.refusals.len() < KEPT;
        if is_kept {
            self.refusals.push(Refusal { times: 1, reason: reason.to_owned() });
        }
        is_kept
    }

    /// Different defects of this severity, among those that are kept.
    pub fn count(&self, severity: Severity) -> u64 {
        self.defects.iter().filter(|defect| defect.severity == severity).count() as u64
    }
}

/// Whether two findings of one kernel show the same defect.
fn is_same(old: Option<&Finding>, new: Option<&Finding>) -> bool {
    match (old, new) {
        (None, None) => true,
        (Some(old), Some(new)) if old.location == new.location => match (&old.kind, &new.kind) {
            (FindingKind::Race { other: old, .. }, FindingKind::Race { other: new, .. }) => old.location == new.location,
            (old, new) => discriminant(old) == discriminant(new),
        },
        _ => false,
    }
}

/// `1 launch`, `2 launches`.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::{BlockNeeds, Occupancy};
    use simt::finding::Location;
    use simt::{Dim3, FindingKind, LaunchConfig, LaunchReport, Profile, SourceLine};

    const ONE: Dim3 = Dim3 { x: 1, y: 1, z: 1 };
    fn record(kernel: &str, outcome: Outcome) -> LaunchRecord {
        let config = CONFIG;
        let needs = BlockNeeds { threads: 1, registers_per_thread: None, shared_bytes: 0 };
        let occupancy = Occupancy::of(Profile::named("h200").unwrap(), needs);
        LaunchRecord { kernel: kernel.to_owned(), config, occupancy, outcome }
    }

    const CONFIG: LaunchConfig = LaunchConfig { grid: ONE, block: ONE, dynamic_shared_bytes: 0 };

    /// A finding at a line of CUDA C.
    pub fn finding(line: u32) -> Finding {
        Finding {
            kind: FindingKind::Trap,
            kernel: "k".to_owned(),
            block: Dim3::new(0, 0, 0),
            thread: Dim3::new(0, 0, 0),
            lanes: 1,
            times: 1,
            location: Location {
                ptx_line: line,
                instruction: "trap;".to_owned(),
                source: Some(SourceLine { file: "kernels/a.cu".to_owned(), line }),
            },
        }
    }

    pub fn failed(kernel: &str, finding: Option<Finding>) -> LaunchRecord {
        let message = finding.as_ref().map_or("kernel k does not end".to_owned(), Finding::to_string);
        record(kernel, Outcome::Failed { message, finding: finding.map(Box::new) })
    }

    pub fn finished(kernel: &str, findings: Vec<Finding>) -> LaunchRecord {
        let counters = Counters { ptx_instructions: 7, global_load_requests: 2, global_load_sectors: 9, ..Counters::default() };
        let report = LaunchReport {
            kernel: kernel.to_owned(),
            config: CONFIG,
            counters,
            lines: Vec::new(),
            samples: Vec::new(),
            touched: Vec::new(),
            printed: String::new(),
            findings,
        };
        record(kernel, Outcome::Finished(Box::new(report)))
    }

    #[test]
    fn launches_are_summed_by_kernel() {
        let mut report = Report::new();
        for record in [finished("k", vec![]), finished("k", vec![]), failed("k", None), finished("other", vec![])] {
            report.note(&record);
        }
        let kernel = &report.kernels["k"];
        assert_eq!((kernel.launches, kernel.failed, kernel.counters.ptx_instructions), (3, 1, 14));
        assert_eq!(report.kernels["other"].launches, 1);
    }

    #[test]
    fn a_defect_is_told_once_and_counted() {
        let mut report = Report::new();
        assert_eq!(report.note(&finished("k", vec![finding(3), finding(4)])).len(), 2);
        assert_eq!(report.note(&finished("k", vec![finding(3)])), Vec::<String>::new());
        assert_eq!(report.note(&failed("other", Some(finding(3)))).len(), 1, "another kernel's is another defect");
        assert_eq!(report.note(&failed("k", None)).len(), 1, "a kernel that does not end has no finding");
        let seen: Vec<_> = report.defects.iter().map(|defect| (defect.kernel.as_str(), defect.times, defect.fatal)).collect();
        assert_eq!(seen, [("k", 2, false), ("k", 1, false), ("other", 1, true), ("k", 1, true)]);
    }

    #[test]
    fn a_report_does_not_grow_without_bound() {
        let mut report = Report::new();
        for line in 0..KEPT as u32 + 5 {
            report.note(&finished("k", vec![finding(line)]));
            report.note_refusal(&line.to_string());
        }
        assert_eq!((report.defects.len(), report.defects_not_kept, report.refusals.len()), (KEPT, 5, KEPT));
    }
}
