//! Suites whose tests have planted defects and say which: how many are found, and how many reports are false.

use std::collections::{BTreeMap, BTreeSet};

use run::record::commit;
use serde::{Deserialize, Serialize};

use crate::suite::Suite;

/// The orders of warps in which each test runs. What the first finds is what a user of the driver sees.
pub const ORDERS: [&str; 5] = ["ascending", "descending", "1", "2", "3"];

/// The kinds of defect that each test has, or is said to have.
pub type Kinds = BTreeMap<String, BTreeSet<String>>;

/// What the driver found in the tests of a suite.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    /// The commit of the suite.
    pub version: String,
    /// The commit of the driver.
    pub commit: String,
    /// What it found in the first order.
    pub first: Kinds,
    /// What it found in any order, in the tests in which that is more.
    pub more: Kinds,
}

/// What compute-sanitizer found on a GPU, with all its tools, by suite.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sanitizer {
    /// Its version.
    pub version: String,
    /// The GPU.
    pub device: String,
    /// What it found.
    pub found: BTreeMap<String, Kinds>,
}

/// How often a kind of defect is there and found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// It is there and found.
    pub found: usize,
    /// It is there and missed.
    pub missed: usize,
    /// It is found and not there.
    pub spurious: usize,
}

impl Found {
    /// Collects what was found in each order.
    pub fn new(suite: &Suite, tests: Vec<(String, Vec<BTreeSet<String>>)>) -> Self {
        let (mut first, mut more) = (Kinds::new(), Kinds::new());
        for (test, by_order) in tests {
            let in_any: BTreeSet<String> = by_order.iter().flatten().cloned().collect();
            let in_first = by_order.into_iter().next().unwrap_or_default();
            if in_any != in_first {
                more.insert(test.clone(), in_any);
            }
            first.insert(test, in_first);
        }
        Self { version: suite.version.clone(), commit: commit(), first, more }
    }

    /// Returns what it found in any order.
    pub fn in_any_order(&self) -> Kinds {
        self.first.clone().into_iter().chain(self.more.clone()).collect()
    }
}

/// Returns the word of labels for a rule of the driver. A rule that no label is about keeps its name.
pub fn kind(rule: &str) -> &str {
    match rule {
        "race-global" | "race-shared" | "race-streams" => "race",
        "out-of-bounds" | "outside-array" | "null-pointer" | "misaligned" | "no-target" => "memory",
        "divergent-barrier" | "ended-before-barrier" | "different-barriers" | "deadlock" | "grid-deadlock" => "barrier",
        "uninitialized-global" | "uninitialized-shared" | "uninitialized-local" => "uninitialized",
        other => other,
    }
}

/// Returns the kinds that the name of a test says.
fn labels(test: &str) -> BTreeSet<&str> {
    let (_, label) = test.rsplit_once(':').unwrap_or_default();
    label.split('+').filter(|kind| *kind != "none").collect()
}

/// Counts by kind. The labels are those that `relabeled` corrects if `as_read`.
pub fn counts(suite: &Suite, found: &Kinds, as_read: bool) -> BTreeMap<String, Counts> {
    let name = |test: &'_ str| test.rsplit_once(':').map(|(name, _)| name.to_owned());
    let corrected: BTreeMap<_, &String> =
        suite.relabeled.values().flatten().filter(|_| as_read).map(|test| (name(test), test)).collect();
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for (test, found) in found {
        let labels = labels(corrected.get(&name(test)).copied().unwrap_or(test));
        for kind in found.iter().map(String::as_str).chain(labels.iter().copied()).collect::<BTreeSet<_>>() {
            let counts = counts.entry(kind.to_owned()).or_default();
            match (labels.contains(kind), found.contains(kind)) {
                (true, true) => counts.found += 1,
                (true, false) => counts.missed += 1,
                (false, _) => counts.spurious += 1,
            }
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite;

    fn kinds(tests: &[(&str, &[&str])]) -> Kinds {
        tests.iter().map(|(test, kinds)| ((*test).to_owned(), kinds.iter().map(|kind| (*kind).to_owned()).collect())).collect()
    }

    #[test]
    fn what_is_found_is_compared_with_the_label_and_with_the_corrected_one() {
        let mut suite = suite::named("indigo").unwrap();
        suite.relabeled = BTreeMap::from([("it has one".to_owned(), vec!["c:race".to_owned()])]);
        let found = kinds(&[
            ("a:memory+race", &["race"]),
            ("b:race", &["race"]),
            ("c:none", &["race"]),
            ("d:none", &[]),
            ("e:none", &["trap"]),
        ]);
        let counted = |as_read| counts(&suite, &found, as_read).into_iter().collect::<Vec<_>>();
        let of = |kind: &str, found, missed, spurious| (kind.to_owned(), Counts { found, missed, spurious });
        assert_eq!(counted(false), [of("memory", 0, 1, 0), of("race", 2, 0, 1), of("trap", 0, 0, 1)]);
        assert_eq!(counted(true), [of("memory", 0, 1, 0), of("race", 3, 0, 0), of("trap", 0, 0, 1)]);
    }

    #[test]
    fn an_order_that_finds_more_is_kept_beside_the_first() {
        let suite = suite::named("indigo").unwrap();
        let set = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect::<BTreeSet<_>>();
        let tests =
            vec![("a:race".to_owned(), vec![set(&[]), set(&["race"])]), ("b:race".to_owned(), vec![set(&["race"]), set(&[])])];
        let found = Found::new(&suite, tests);
        assert_eq!(found.first, kinds(&[("a:race", &[]), ("b:race", &["race"])]));
        assert_eq!(found.in_any_order(), kinds(&[("a:race", &["race"]), ("b:race", &["race"])]));
    }
}
