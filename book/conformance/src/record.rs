//! The score of a suite, as a record that the book shows.

use std::collections::BTreeMap;

use run::record::commit;
use serde::{Deserialize, Serialize};

use crate::run::{Ended, Verdict};
use crate::suite::Suite;

/// The results of one run of a suite.
#[derive(Debug, Serialize, Deserialize)]
pub struct Score {
    /// Name of the suite.
    pub suite: String,
    /// Its version.
    pub version: String,
    /// The commit of the driver.
    pub commit: String,
    /// The number of tests that ended in each way.
    pub counts: BTreeMap<Verdict, usize>,
    /// Passed tests, of those that neither skipped themselves nor fail for a reason that is not the driver's; in percent.
    pub passed_percent: f64,
    /// Every test that did not simply pass.
    pub others: Vec<Ended>,
}

impl Score {
    /// Adds up how the tests of a suite ended.
    pub fn new(name: &str, suite: &Suite, ended: Vec<Ended>) -> Self {
        let mut counts = BTreeMap::new();
        for test in &ended {
            *counts.entry(test.verdict).or_insert(0) += 1;
        }
        let of = |verdict| counts.get(&verdict).copied().unwrap_or(0);
        let judged = ended.len() - of(Verdict::Skipped) - of(Verdict::Known);
        let passed_percent = if judged == 0 { 0.0 } else { 100.0 * of(Verdict::Passed) as f64 / judged as f64 };
        let others = ended.into_iter().filter(|test| test.verdict != Verdict::Passed).collect();
        Self { suite: name.to_owned(), version: suite.version.clone(), commit: commit(), counts, passed_percent, others }
    }

    /// Writes the counts on one line, then one line per unexplained test.
    pub fn in_words(&self) -> String {
        let counts: Vec<String> = self.counts.iter().map(|(verdict, count)| format!("{count} {}", word(*verdict))).collect();
        let mut text = format!("{} {}: {} ({:.1} % passed)\n", self.suite, self.version, counts.join(", "), self.passed_percent);
        for Ended { test, verdict, reason } in &self.others {
            if !matches!(verdict, Verdict::Skipped | Verdict::Known) {
                text += &format!("  {} {test}: {reason}\n", word(*verdict));
            }
        }
        text
    }
}

/// Returns the words for a way to end.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Skipped => "skipped",
        Verdict::Known => "not the driver's fault",
        Verdict::Refused => "refused",
        Verdict::Failed => "failed",
        Verdict::Finding => "with findings",
        Verdict::Hung => "hung",
    }
}
