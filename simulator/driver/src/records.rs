//! Records of the launches until the client takes them: totals over all of them, and details of the latest.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use simt::{Counters, Finding, LaunchConfig, LaunchReport};

use crate::defect;
use crate::error::Error;
use crate::occupancy::Occupancy;

/// Launches whose details are kept. A program that never takes its records must not grow because of them.
pub const KEPT_LAUNCHES: usize = 1024;

/// Distinct findings that the totals keep, for the same reason.
pub const KEPT_FINDINGS: usize = 256;

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Name of the kernel.
    pub kernel: String,
    /// Shape of the launch.
    pub config: LaunchConfig,
    /// How its blocks fill a multiprocessor. Registers count if the PTX states them: in comments before its first directive, such as
    /// `// registers sm_90: naive 30, naive_strided 40`, one line per architecture. The line for the profile's own architecture counts,
    /// or else the line for the latest architecture before it in the same generation.
    pub occupancy: Occupancy,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a launch ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The kernel ran to its end.
    Finished(Box<LaunchReport>),
    /// The kernel did not run to its end.
    Failed(Failed),
}

/// Why a kernel did not run to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failed {
    /// Why, for people.
    pub message: String,
    /// The defect that stopped the kernel; `None` for a kernel that ran out of fuel.
    pub finding: Option<Box<Finding>>,
}

/// The sums over all launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// All launches.
    pub launches: u64,
    /// Launches that did not run to their end.
    pub failed: u64,
    /// Counts of all launches that ran to their end.
    pub counters: Counters,
    /// Distinct defects that did not stop a kernel, in the order of discovery. [`Finding::times`] covers all launches.
    pub findings: Vec<Finding>,
    /// The fingerprint of each finding's module: kernels of one name in two modules are two kernels.
    #[serde(skip)]
    modules: Vec<u64>,
    /// Occurrences of defects not in `findings`, because [`KEPT_FINDINGS`] others came first.
    pub findings_dropped: u64,
    /// The first launch that failed. A later one may be its consequence.
    pub first_failure: Option<Failed>,
}

/// The launches since the records were last taken.
///
/// [`totals`](Self::totals) covers every launch. The details of a launch are dropped when [`KEPT_LAUNCHES`] newer ones have run, so the
/// two ways to the details say what they cover: [`all_launches`](Self::all_launches) fails when some are missing, and
/// [`latest_launches`](Self::latest_launches) promises no more than its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Records {
    /// The sums over all launches, including those whose details were dropped.
    pub totals: Totals,
    latest: VecDeque<LaunchRecord>,
}

impl Records {
    /// Adds a launch. Drops the details of the oldest one if there are too many. `module` returns the fingerprint of the kernel's module.
    pub(crate) fn push(&mut self, record: LaunchRecord, module: impl Fn() -> u64) {
        self.totals.add(&record, module);
        if self.latest.len() == KEPT_LAUNCHES {
            self.latest.pop_front();
        }
        self.latest.push_back(record);
    }

    /// Counts the launches whose details were dropped.
    pub fn dropped(&self) -> u64 {
        self.totals.launches - self.latest.len() as u64
    }

    /// Returns every launch, in the order in which they ended. Fails with [`Error::DetailsDropped`] if some of them are missing.
    pub fn all_launches(&self) -> Result<impl ExactSizeIterator<Item = &LaunchRecord>, Error> {
        match self.dropped() {
            0 => Ok(self.latest.iter()),
            dropped => Err(Error::DetailsDropped { dropped, launches: self.totals.launches }),
        }
    }

    /// Returns the latest launches, in the order of their ends. They are at most [`KEPT_LAUNCHES`].
    pub fn latest_launches(&self) -> impl ExactSizeIterator<Item = &LaunchRecord> {
        self.latest.iter()
    }
}

impl Totals {
    fn add(&mut self, record: &LaunchRecord, module: impl Fn() -> u64) {
        self.launches += 1;
        match &record.outcome {
            Outcome::Finished(report) => {
                self.counters += report.counters;
                report.findings.iter().for_each(|finding| self.add_finding(finding, module()));
            }
            Outcome::Failed(failed) => {
                self.failed += 1;
                self.first_failure.get_or_insert_with(|| failed.clone());
            }
        }
    }

    fn add_finding(&mut self, finding: &Finding, module: u64) {
        let mut found = self.findings.iter_mut().zip(&self.modules);
        if let Some((known, _)) = found.find(|(known, of)| **of == module && defect::is_same(known, finding)) {
            let times = known.times + finding.times;
            if finding.kind.severity() > known.kind.severity() {
                // The same lines may race within a warp, which is a warning, and between warps.
                *known = finding.clone();
            }
            known.times = times;
        } else if self.findings.len() < KEPT_FINDINGS {
            self.findings.push(finding.clone());
            self.modules.push(module);
        } else {
            self.findings_dropped += finding.times;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{failed, finding, finished};

    #[test]
    fn totals_cover_the_launches_whose_details_were_dropped() {
        let mut records = Records::default();
        for _ in 0..KEPT_LAUNCHES + 3 {
            records.push(finished("k", vec![]), || 0);
        }
        let one = finished("k", vec![]);
        let Outcome::Finished(one) = &one.outcome else { panic!("{one:?}") };
        let launches = KEPT_LAUNCHES as u64 + 3;
        assert_eq!((records.totals.launches, records.totals.failed, records.dropped()), (launches, 0, 3));
        assert_eq!(records.totals.counters.ptx_instructions, launches * one.counters.ptx_instructions);
        assert_eq!(records.totals.counters.global_load_sectors, launches * one.counters.global_load_sectors);
    }

    #[test]
    fn details_are_complete_or_refused() {
        let mut records = Records::default();
        for index in 0..KEPT_LAUNCHES {
            records.push(finished(&index.to_string(), vec![]), || 0);
        }
        assert_eq!(records.all_launches().unwrap().len(), KEPT_LAUNCHES);
        records.push(finished("one more", vec![]), || 0);
        let message = records.all_launches().err().unwrap().to_string();
        assert!(message.starts_with("the details of 1 of 1025 launches were dropped"), "{message}");
        let latest: Vec<&str> = records.latest_launches().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!((latest.len(), latest[0], latest[KEPT_LAUNCHES - 1]), (KEPT_LAUNCHES, "1", "one more"));
    }

    #[test]
    fn the_first_failure_and_every_finding_are_kept() {
        let mut records = Records::default();
        records.push(finished("k", vec![finding(3), finding(4)]), || 0);
        records.push(failed("k", Some(finding(7))), || 0);
        records.push(failed("k", None), || 0);
        records.push(finished("k", vec![finding(4)]), || 0);
        let Totals { launches, failed, findings, first_failure, .. } = records.totals;
        assert_eq!((launches, failed), (4, 2));
        let seen: Vec<(u32, u64)> = findings.iter().map(|finding| (finding.location.ptx_line, finding.times)).collect();
        assert_eq!(seen, [(3, 1), (4, 2)]);
        assert_eq!(first_failure.unwrap().finding.unwrap().location.ptx_line, 7);
    }

    #[test]
    fn kernels_of_one_name_in_two_modules_have_findings_of_their_own() {
        let mut records = Records::default();
        for module in [1, 2, 1] {
            records.push(finished("k", vec![finding(3)]), || module);
        }
        let times: Vec<u64> = records.totals.findings.iter().map(|finding| finding.times).collect();
        assert_eq!(times, [2, 1]);
    }

    #[test]
    fn findings_do_not_grow_without_bound_but_are_counted() {
        let mut records = Records::default();
        for line in 0..KEPT_FINDINGS as u32 + 5 {
            records.push(finished("k", vec![finding(line)]), || 0);
        }
        assert_eq!((records.totals.findings.len(), records.totals.findings_dropped), (KEPT_FINDINGS, 5));
    }
}
