//! Several reports as one: the processes of one run of a project's tests.

use super::places::{self, Place};
use super::{Defect, Report, Suppression};

impl Report {
    /// Adds the report of another process. A defect that both have is counted once, with the message of the worst.
    pub fn merge(&mut self, other: Report) {
        let Report { profile, kernels, defects, defects_not_kept, suppressions, refusals, work, processes, .. } = other;
        self.work.add_beside(work);
        self.processes.extend(processes);
        if self.profile.is_empty() {
            self.profile = profile;
        } else if !profile.is_empty() && self.profile.split(", ").all(|known| known != profile) {
            self.profile = format!("{}, {profile}", self.profile);
        }
        for (name, summary) in kernels {
            let kernel = self.kernels.entry(name).or_default();
            if kernel.origin.is_empty() {
                kernel.origin = summary.origin;
            }
            kernel.launches += summary.launches;
            kernel.failed += summary.failed;
            kernel.partial += summary.partial;
            kernel.counters += summary.counters;
        }
        for mut defect in defects {
            defect.id = self.distinct(defect.id, defect.module, &defect.places);
            match self.defects.iter_mut().find(|known| known.id == defect.id) {
                Some(known) => {
                    let Defect { times, severity, fatal, message, finding, .. } = defect;
                    known.repeat(times, severity, fatal, &message, finding.as_ref());
                }
                None => drop(self.keep(defect)),
            }
        }
        self.defects_not_kept += defects_not_kept;
        for entry in suppressions {
            let is_same = |known: &&mut Suppression| Suppression { matched: entry.matched, ..(**known).clone() } == entry;
            match self.suppressions.iter_mut().find(is_same) {
                Some(known) => known.matched += entry.matched,
                None => self.suppressions.push(entry),
            }
        }
        for refusal in refusals {
            match self.refusals.iter_mut().find(|known| known.reason == refusal.reason) {
                Some(known) => {
                    known.times += refusal.times;
                    known.stops_kernels |= refusal.stops_kernels;
                }
                None => self.refusals.push(refusal),
            }
        }
    }

    /// Returns the identity of a defect: its own, or another one if that is taken.
    ///
    /// A defect of another module may have it. Where the source is there, the text of the line says whether two are one.
    pub(super) fn distinct(&self, id: String, module: u64, places: &[Place]) -> String {
        let has_source = !places.is_empty() && places.iter().all(|place| place.text.is_some());
        let is_others = |known: &Defect| known.id == id && known.module != module;
        if !has_source && self.defects.iter().any(is_others) { places::identity_in(&id, module) } else { id }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::report::{Sources, read_suppressions};
    use crate::tests::{failed, finding, finished};

    fn report(profile: &str, lines: &[u32], suppressions: &Path) -> Report {
        let mut report = Report::new(profile, read_suppressions(suppressions).unwrap());
        report.note(&finished("k", lines.iter().map(|line| finding(*line)).collect()), || 0);
        report.note_refusal("no textures", false);
        report
    }

    #[test]
    fn what_several_processes_did_is_one_report() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let entry = |line| format!("[[suppress]]\nfile = \"a.cu\"\nline = {line}\nreason = \"r\"\n");
        std::fs::write(&file, entry(4) + &entry(99)).unwrap();
        let mut merged = report("t4", &[3, 4], file.path());
        merged.merge(report("h200", &[4, 5], file.path()));
        let mut third = report("t4", &[], file.path());
        third.note(&failed("k", Some(finding(3))), || 0);
        merged.merge(third);
        assert_eq!(merged.profile, "t4, h200");
        assert_eq!((merged.kernels["k"].launches, merged.kernels["k"].failed), (4, 1));
        let defects: Vec<_> = merged.defects.iter().map(|defect| (defect.places[0].line, defect.times, defect.fatal)).collect();
        assert_eq!(defects, [(3, 2, true), (4, 2, false), (5, 1, false)]);
        assert_eq!(merged.refusals.iter().map(|refusal| refusal.times).collect::<Vec<_>>(), [3]);
        assert_eq!(merged.suppressions.iter().map(|entry| entry.matched).collect::<Vec<_>>(), [2, 0]);
        let text = merged.to_string();
        assert!(text.starts_with("simcuda: 4 launches on the profile t4, h200: 2 errors, 0 warnings, 1 suppressed\n"), "{text}");
        assert!(!text.contains("a.cu:4,"), "{text}");
        assert_eq!(merged.unused_suppressions().map(|entry| entry.line).collect::<Vec<_>>(), [Some(99)]);
    }

    #[test]
    fn kernels_of_one_name_in_different_modules_hide_no_defect_of_each_other() {
        let mut report = Report::default();
        let new: Vec<usize> = [1, 2, 1, 2, 3].map(|module| report.note(&finished("k", vec![finding(3)]), || module).len()).into();
        assert_eq!(new, [1, 1, 0, 0, 1]);
        assert_eq!(report.defects.iter().map(|defect| (defect.module, defect.times)).collect::<Vec<_>>(), [(1, 2), (2, 2), (3, 1)]);
        let mut merged = report.clone();
        merged.merge(report);
        let ids: std::collections::BTreeSet<_> = merged.defects.iter().map(|defect| &defect.id).collect();
        assert_eq!((merged.defects.len(), ids.len(), merged.defects[1].times), (3, 3, 4));
    }

    #[test]
    fn where_the_source_is_a_line_of_two_modules_is_one_defect() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("kernels")).unwrap();
        std::fs::write(folder.path().join("kernels/a.cu"), "a\nb\nt[i] = x;\n").unwrap();
        let mut report = Report { sources: Sources::new(folder.path().to_owned(), None), ..Report::default() };
        let new: Vec<usize> = [1, 2].map(|module| report.note(&finished("k", vec![finding(3)]), || module).len()).into();
        assert_eq!((new, report.defects.len()), (vec![1, 0], 1));
    }
}
