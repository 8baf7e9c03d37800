//! The report of a whole process: a summary of each kernel, and each defect once, with how often it was seen.
//!
//! This is for programs that do not know about the simulator. A program of this workspace takes [`crate::records`] instead.

mod destination;
mod github;
mod junit;
mod merge;
mod places;
mod rules;
mod sarif;
mod sources;
mod suppressions;
mod text;
mod untested;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
pub use simt::Severity;
use simt::{Counters, Finding, Location};

pub use self::destination::Destination;
pub use self::places::Place;
pub use self::rules::{RULES, Rule};
pub use self::sources::Sources;
pub use self::suppressions::{Suppression, read as read_suppressions};
pub use self::untested::{Allowed, Process, Untested};
use crate::defect;
use crate::name::readable;
use crate::records::{Failed, LaunchRecord, Outcome};
pub use crate::timeline::Work;

/// Distinct defects that are kept, and distinct refusals. A program that keeps finding new ones must not grow because of them.
pub const KEPT: usize = 256;

/// The report of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Name of the simulated profile; empty before `cuInit`.
    pub profile: String,
    /// The summary of each kernel, by its name. Kernels with the same name in different modules are counted as one, and so
    /// are those of C++ that differ in their parameters alone.
    pub kernels: BTreeMap<String, KernelSummary>,
    /// Defects, in the order in which they were first seen.
    pub defects: Vec<Defect>,
    /// Times that a defect was seen after [`KEPT`] others were already known.
    pub defects_not_kept: u64,
    /// The entries of the file of suppressions, each with the number of defects that it matched.
    #[serde(default)]
    pub suppressions: Vec<Suppression>,
    /// Modules, launches and functions that were refused.
    pub refusals: Vec<Refusal>,
    /// The processes that loaded the driver.
    #[serde(default)]
    pub processes: Vec<Process>,
    /// The work whose order was followed, if `SIMCUDA_SCHEDULE` asks for it.
    #[serde(default, skip_serializing_if = "Work::is_none")]
    pub work: Work,
    /// What is no failure of a run.
    #[serde(skip)]
    pub allowed: Allowed,
    /// The program's source files.
    #[serde(skip)]
    sources: Sources,
}

/// All launches of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelSummary {
    /// Where it comes from, for tools that group kernels: the file of CUDA C that most of its lines are in, or the program if PTX has no
    /// lines of CUDA C.
    #[serde(default)]
    pub origin: String,
    /// Launches that started.
    pub launches: u64,
    /// Launches that did not run to their end.
    pub failed: u64,
    /// Launches of which only some blocks ran, because `SIMCUDA_BLOCKS` asks for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub partial: u64,
    /// Counts of the launches that ran to their end.
    pub counters: Counters,
}

/// A defect in a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Defect {
    /// Its identity, such as `race-shared-3f9a12bc`: the name of its kind, and a fingerprint of the kernel and of the lines that it is
    /// about. It is the same in every process, and stays when other lines of the file change.
    #[serde(default)]
    pub id: String,
    /// The name of its kind, one of [`RULES`].
    #[serde(default)]
    pub kind: String,
    /// The lines of CUDA C that it is about, the most important one first. Without `-lineinfo`, there are none.
    #[serde(default)]
    pub places: Vec<Place>,
    /// Why it is not reported, if an entry of the file of suppressions matches it.
    #[serde(default)]
    pub suppressed: Option<String>,
    /// Name of the kernel, as its source has it.
    pub kernel: String,
    /// A number that tells the kernel's module from others, which may have a kernel of the same name; 0 if it is not known.
    #[serde(default)]
    pub module: u64,
    /// How often it was seen. Two findings show the same defect if they are of the same kind and in the same line of CUDA C, or,
    /// if PTX has no lines of CUDA C, in the same instruction. If the source is not there, they must also be in the same module.
    pub times: u64,
    /// How serious it is.
    pub severity: Severity,
    /// True if it stopped the kernel, as the hardware would have.
    pub fatal: bool,
    /// The text of the first finding.
    pub message: String,
    /// The first finding as data; `None` for a kernel that ran out of fuel.
    pub finding: Option<Finding>,
}

/// A module, a launch or a function that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// How often it was refused.
    pub times: u64,
    /// Why.
    pub reason: String,
    /// True if a kernel did not run because of it, as far as is known.
    #[serde(default)]
    pub stops_kernels: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Report {
    /// Makes the report of a process that has done nothing yet.
    pub(crate) fn new(profile: &str, suppressions: Vec<Suppression>) -> Self {
        let processes = vec![Process { program: program(), launches: 0 }];
        Self { profile: profile.to_owned(), suppressions, processes, ..Self::default() }
    }

    /// Adds a launch. Returns messages about what has not been seen before, and about an error that ended it, if not suppressed. `module` returns
    /// the fingerprint of the kernel's module.
    pub(crate) fn note(&mut self, record: &LaunchRecord, module: impl Fn() -> u64) -> Vec<String> {
        let name = readable(&record.kernel);
        let kernel = self.kernels.entry(name.clone().into_owned()).or_insert_with(|| KernelSummary {
            origin: origin(record).map_or_else(program, |file| self.sources.name(&file)),
            ..KernelSummary::default()
        });
        kernel.launches += 1;
        self.processes.iter_mut().for_each(|process| process.launches += 1);
        let mut new = Vec::new();
        match &record.outcome {
            Outcome::Finished(report) => {
                kernel.counters += report.counters;
                kernel.partial += u64::from(report.blocks < record.config.grid.volume());
                for finding in &report.findings {
                    let message = finding.to_string();
                    if self.note_defect((&name, module()), false, &message, Some(finding)) {
                        new.push(message);
                    }
                }
            }
            Outcome::Failed(Failed { message, finding }) => {
                kernel.failed += 1;
                if self.note_defect((&name, module()), true, message, finding.as_deref()) {
                    new.push(format!("kernel {name} failed: {message}"));
                }
            }
        }
        new
    }

    /// Adds a defect of a module's kernel. Returns true if it is to be reported now.
    fn note_defect(&mut self, (kernel, module): (&str, u64), fatal: bool, message: &str, finding: Option<&Finding>) -> bool {
        let times = finding.map_or(1, |finding| finding.times);
        let severity = finding.map_or(Severity::Error, |finding| finding.kind.severity());
        let is_known = |defect: &Defect| {
            (defect.kernel.as_str(), defect.module) == (kernel, module)
                && match (&defect.finding, finding) {
                    (None, None) => true,
                    (Some(old), Some(new)) => defect::is_same(old, new),
                    _ => false,
                }
        };
        if let Some(known) = self.defects.iter().position(is_known) {
            return self.defects[known].repeat(times, severity, fatal, message, finding);
        }
        let rule = Rule::of(finding.map(|finding| &finding.kind));
        let places = finding.map(|finding| places::places(finding, &mut self.sources)).unwrap_or_default();
        let id = places::identity(rule, kernel, finding, &mut self.sources);
        let id = self.distinct(id, module, &places);
        // The other side of a race is the same defect.
        if let Some(known) = self.defects.iter_mut().find(|defect| defect.id == id) {
            return known.repeat(times, severity, fatal, message, finding);
        }
        let (kernel, message) = (kernel.to_owned(), message.to_owned());
        let (kind, finding) = (rule.name.to_owned(), finding.cloned());
        self.add_defect(Defect { id, kind, places, suppressed: None, kernel, module, times, severity, fatal, message, finding })
    }

    /// Adds a race between streams, with the work that races. Returns true if it is new and to be reported. It counts as a defect of
    /// the kernel, if one of the two is a kernel.
    pub(crate) fn note_stream_race(&mut self, kernel: Option<&str>, work: &str, message: &str) -> bool {
        let kernel = kernel.unwrap_or("(no kernel)");
        let rule = Rule::of_streams();
        let id = places::identity_of(rule, work);
        if let Some(known) = self.defects.iter_mut().find(|defect| defect.id == id) {
            known.times += 1;
            return false;
        }
        self.kernels.entry(kernel.to_owned()).or_insert_with(|| KernelSummary { origin: program(), ..KernelSummary::default() });
        self.add_defect(Defect {
            id,
            kind: rule.name.to_owned(),
            places: Vec::new(),
            suppressed: None,
            kernel: kernel.to_owned(),
            module: 0,
            times: 1,
            severity: Severity::Error,
            fatal: false,
            message: message.to_owned(),
            finding: None,
        })
    }

    /// Adds a new defect and marks it if an entry suppresses it. Returns true if it is to be reported.
    fn add_defect(&mut self, mut defect: Defect) -> bool {
        if let Some(entry) = self.suppressions.iter_mut().find(|entry| entry.matches(&defect)) {
            entry.matched += 1;
            defect.suppressed = Some(entry.reason.clone());
        }
        let (is_reported, fatal) = (defect.suppressed.is_none(), defect.fatal);
        (self.keep(defect) || fatal) && is_reported
    }

    /// Adds that the program's end depends on the order of its work. No work races on the device, though.
    pub fn note_early_host(&mut self, message: &str) {
        self.note_stream_race(None, "the host", message);
    }

    /// Adds a defect if there is room. Returns true if there is.
    fn keep(&mut self, defect: Defect) -> bool {
        if self.defects.len() == KEPT && !self.make_room(defect.rank()) {
            self.defects_not_kept += defect.times;
            return false;
        }
        self.defects.push(defect);
        true
    }

    /// Drops the latest defect of the lowest rank, if below this rank. A list that is full of warnings hides no error.
    fn make_room(&mut self, rank: Rank) -> bool {
        let ranks = self.defects.iter().map(Defect::rank).enumerate();
        let Some((at, least)) = ranks.rev().min_by_key(|(_, rank)| *rank) else { return false };
        if least >= rank {
            return false;
        }
        self.defects_not_kept += self.defects.remove(at).times;
        true
    }

    /// Lists the kept defects that are not suppressed.
    pub fn reported(&self) -> impl Iterator<Item = &Defect> {
        self.defects.iter().filter(|defect| defect.suppressed.is_none())
    }

    /// Counts the kept defects with this severity that are not suppressed.
    pub fn count(&self, severity: Severity) -> u64 {
        self.reported().filter(|defect| defect.severity == severity).count() as u64
    }

    /// Lists the entries of the file of suppressions that matched no defect. After one process, that means little: another process of the
    /// same tests may have the defect.
    pub fn unused_suppressions(&self) -> impl Iterator<Item = &Suppression> {
        self.suppressions.iter().filter(|entry| entry.matched == 0)
    }
}

/// The order in which defects are dropped: suppressed ones, warnings, errors that stopped no kernel.
type Rank = (bool, bool, Severity);

impl Defect {
    fn rank(&self) -> Rank {
        (self.suppressed.is_none(), self.fatal, self.severity)
    }

    /// Counts it again. If it is worse this time, as a race between two warps is worse than one between lanes of a warp, this becomes what
    /// is shown. Returns true if it is to be reported again: because of that, or because it ended a launch.
    fn repeat(&mut self, times: u64, severity: Severity, fatal: bool, message: &str, finding: Option<&Finding>) -> bool {
        self.times += times;
        let is_worse = (fatal, severity) > (self.fatal, self.severity);
        if is_worse {
            (self.fatal, self.severity, self.message, self.finding) = (fatal, severity, message.to_owned(), finding.cloned());
        }
        (is_worse || fatal) && self.suppressed.is_none()
    }

    /// Returns the message and the identity.
    pub fn text(&self) -> String {
        format!("{}\n  id {}", self.message, self.id)
    }
}

/// Returns a kernel's CUDA C file with the most executed lines.
fn origin(record: &LaunchRecord) -> Option<String> {
    let of_location = |finding: &Finding| {
        let Location { source, inlined_at, .. } = &finding.location;
        inlined_at.clone().or_else(|| source.clone()).map(|line| line.file)
    };
    match &record.outcome {
        Outcome::Failed(failed) => failed.finding.as_deref().and_then(of_location),
        Outcome::Finished(report) => {
            let mut lines = BTreeMap::<&str, usize>::new();
            for line in report.lines.iter().filter_map(|line| line.source.as_ref()) {
                *lines.entry(&line.file).or_default() += 1;
            }
            lines.into_iter().max_by_key(|(_, count)| *count).map(|(file, _)| file.to_owned())
        }
    }
}

/// Returns the name of the program's file.
fn program() -> String {
    let path = std::env::current_exe().ok();
    path.as_deref().and_then(Path::file_name).map(|name| name.display().to_string()).unwrap_or_default()
}

/// Formats a count: `1 launch`, `2 launches`.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use ptx::finding::{Access, AccessOp, OtherAccess};
    use simt::{Dim3, FindingKind, Space};

    use super::*;
    use crate::tests::{failed, finding, finished};

    #[test]
    fn launches_are_summed_by_kernel() {
        let mut report = Report::default();
        for record in [finished("k", vec![]), finished("k", vec![]), failed("k", None), finished("other", vec![])] {
            report.note(&record, || 0);
        }
        let kernel = &report.kernels["k"];
        assert_eq!((kernel.launches, kernel.failed, kernel.counters.ptx_instructions), (3, 1, 14));
        assert_eq!(report.kernels["other"].launches, 1);
    }

    #[test]
    fn the_name_of_a_kernel_is_made_readable_where_it_is_one() {
        let mut of_other = finding(3);
        of_other.location.instruction = "mov.u64 %rd1, _Z1kPfi;".to_owned();
        let mut report = Report::default();
        let expected = "the kernel executed a trap\n  in kernel k, block (0,0,0), thread (0,0,0)\n  \
                        at kernels/a.cu:3, PTX line 3: mov.u64 %rd1, _Z1kPfi;";
        assert_eq!(report.note(&finished("_Z1kPf", vec![of_other]), || 0), [expected]);
        report.note(&finished("f", vec![]), || 0);
        assert_eq!(report.kernels.keys().collect::<Vec<_>>(), ["f", "k"]);
    }

    #[test]
    fn a_defect_is_reported_once_and_counted() {
        let mut report = Report::default();
        assert_eq!(report.note(&finished("k", vec![finding(3), finding(4)]), || 0).len(), 2);
        assert_eq!(report.note(&finished("k", vec![finding(3)]), || 0), Vec::<String>::new());
        assert_eq!(
            report.note(&failed("other", Some(finding(3))), || 0).len(),
            1,
            "the same finding in another kernel is another defect"
        );
        assert_eq!(report.note(&failed("k", None), || 0).len(), 1, "a kernel that ran out of fuel has no finding");
        let seen: Vec<_> = report.defects.iter().map(|defect| (defect.kernel.as_str(), defect.times, defect.fatal)).collect();
        assert_eq!(seen, [("k", 2, false), ("k", 1, false), ("other", 1, true), ("k", 1, true)]);
    }

    #[test]
    fn an_error_that_ends_a_launch_is_always_told() {
        let mut report = Report::default();
        for _ in 0..3 {
            assert_eq!(report.note(&failed("k", Some(finding(3))), || 0).len(), 1);
            assert_eq!(report.note(&failed("k", None), || 0).len(), 1);
        }
        assert_eq!(report.defects.len(), 2);
    }

    #[test]
    fn a_warning_hides_no_error_at_the_same_lines() {
        let race = |same_warp| {
            let access = Access { space: Space::Shared, op: AccessOp::Load, address: 0, bytes: 4 };
            let zero = Dim3::new(0, 0, 0);
            let other = OtherAccess { op: AccessOp::Store, block: zero, thread: zero, location: finding(4).location };
            let (place, other) = (None, Box::new(other));
            let kind = FindingKind::Race { access, place, other, same_block: true, same_warp, volatile: false, missing: None };
            finished("k", vec![Finding { kind, ..finding(3) }])
        };
        let mut report = Report::default();
        let new: Vec<usize> = [true, true, false, false, true].map(|same_warp| report.note(&race(same_warp), || 0).len()).into();
        assert_eq!(new, [1, 0, 1, 0, 0]);
        assert_eq!((report.defects.len(), report.count(Severity::Error), report.defects[0].times), (1, 1, 5));
        assert!(!report.defects[0].message.starts_with("warning"), "{}", report.defects[0].message);
        let mut warned = Report::default();
        warned.note(&race(true), || 0);
        warned.merge(report.clone());
        assert_eq!((warned.count(Severity::Error), warned.defects[0].times), (1, 6));
        assert_eq!(warned.defects[0].message, report.defects[0].message);
    }

    #[test]
    fn a_report_does_not_grow_without_bound() {
        let mut report = Report::default();
        for line in 0..KEPT as u32 + 5 {
            report.note(&finished("k", vec![finding(line)]), || 0);
            report.note_refusal(&line.to_string(), true);
        }
        assert_eq!((report.defects.len(), report.defects_not_kept, report.refusals.len()), (KEPT, 5, KEPT));
    }

    #[test]
    fn a_full_report_hides_neither_an_error_nor_the_failure_of_a_kernel() {
        let mut report = Report::default();
        let warning = |line: u32| Finding { kind: FindingKind::EndedBeforeBarrier { barrier: 0, ended: 1 }, ..finding(line) };
        for line in 0..KEPT as u32 {
            report.note(&finished("k", vec![warning(line)]), || 0);
        }
        assert_eq!(report.count(Severity::Error), 0);
        assert_eq!(report.note(&finished("k", vec![finding(1000)]), || 0).len(), 1);
        assert_eq!((report.count(Severity::Error), report.defects.len(), report.defects_not_kept), (1, KEPT, 1));
        for line in 1001..1000 + KEPT as u32 {
            report.note(&finished("k", vec![finding(line)]), || 0);
        }
        assert_eq!(report.note(&failed("k", None), || 0).len(), 1);
        assert!(report.defects.last().is_some_and(|defect| defect.fatal) && report.defects.len() == KEPT);
        assert_eq!(report.kernels["k"].failed, 1);
    }
}
