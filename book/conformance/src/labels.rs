//! Suites whose tests have planted defects and say which: how many are found, and how many reports are false.

use std::collections::{BTreeMap, BTreeSet};

use run::record::commit;
use serde::{Deserialize, Serialize};

use crate::suite::Suite;

/// The orders of warps in which each test runs. What the first finds is what a user of the driver sees.
pub const ORDERS: [&str; 3] = ["ascending", "descending", "1"];

/// Kinds of defect by test.
pub type Kinds = BTreeMap<String, BTreeSet<String>>;

/// The driver's findings in the tests of a suite.
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

/// The findings of compute-sanitizer on a GPU, by suite. All its tools ran.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sanitizer {
    /// Its version.
    pub version: String,
    /// The GPU.
    pub device: String,
    /// What it found.
    pub found: BTreeMap<String, Kinds>,
}

/// The outcome for a kind of defect in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judged {
    /// It is there and found.
    Found,
    /// It is there and missed.
    Missed,
    /// It is found and not there.
    False,
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
        "out-of-bounds" | "outside-array" | "writes-constant" | "null-pointer" | "misaligned" | "no-target" => "memory",
        "divergent-barrier" | "lane-mask" | "ended-before-barrier" | "different-barriers" | "deadlock" | "grid-deadlock" => {
            "barrier"
        }
        "uninitialized-global" | "uninitialized-shared" | "uninitialized-local" => "uninitialized",
        other => other,
    }
}

/// Returns the kinds that the name of a test says.
fn labels(test: &str) -> BTreeSet<&str> {
    let (_, label) = test.rsplit_once(':').unwrap_or_default();
    label.split('+').filter(|kind| *kind != "none").collect()
}

/// Compares what was found with the labels. Those are the ones that `relabeled` corrects if `as_read`. Returns the test, the kind of defect, and
/// what became of it.
pub fn judged<'f>(suite: &Suite, found: &'f Kinds, as_read: bool) -> Vec<(&'f str, String, Judged)> {
    let corrections: Vec<&String> = suite.relabeled.values().flatten().filter(|_| as_read).collect();
    let of_test = |(test, found): (&'f String, &BTreeSet<String>)| {
        let name = test.split(':').next();
        let labels = labels(corrections.iter().find(|corrected| corrected.split(':').next() == name).copied().unwrap_or(test));
        let kinds: BTreeSet<&str> = found.iter().map(String::as_str).chain(labels.iter().copied()).collect();
        let judge = |kind: &str| match (labels.contains(kind), found.contains(kind)) {
            (true, true) => Judged::Found,
            (true, false) => Judged::Missed,
            (false, _) => Judged::False,
        };
        kinds.into_iter().map(|kind| (test.as_str(), kind.to_owned(), judge(kind))).collect::<Vec<_>>()
    };
    found.iter().flat_map(of_test).collect()
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
        let wrong = |as_read| {
            let judged = judged(&suite, &found, as_read).into_iter().filter(|(.., judged)| *judged != Judged::Found);
            judged.map(|(test, kind, judged)| format!("{test} {kind} {judged:?}")).collect::<Vec<_>>()
        };
        assert_eq!(judged(&suite, &found, false).len(), 5);
        assert_eq!(wrong(false), ["a:memory+race memory Missed", "c:none race False", "e:none trap False"]);
        assert_eq!(wrong(true), ["a:memory+race memory Missed", "e:none trap False"]);
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
