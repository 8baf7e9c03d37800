//! Precision and recall on suites whose programs have planted defects, beside those of compute-sanitizer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, ensure};
use conformance::labels::{Found, Judged, Kinds, Sanitizer, judged};
use conformance::suite::{self, Suite};
use serde::de::DeserializeOwned;

use crate::root;
use crate::suites::{escaped, folded};

/// The finders, each with its findings in the tests of a suite.
type Finders = [(String, Kinds); 3];

/// Draws two tables: by the suites' labels, and by corrected ones. Below them, it lists the corrections, and what the simulator still gets wrong.
pub fn planted() -> Result<String> {
    let sanitizer: Sanitizer = record("sanitizer")?;
    let mut suites = Vec::new();
    for (name, suite) in suite::all()?.into_iter().filter(|(_, suite)| suite.labeled) {
        let found: Found = record(&name)?;
        ensure!(found.version == suite.version, "{name} was run at {}, not {}", found.version, suite.version);
        let theirs = sanitizer.found.get(&name).cloned().unwrap_or_default();
        // It did not run on suites of which it checks nothing.
        ensure!(theirs.is_empty() || theirs.keys().eq(found.first.keys()), "compute-sanitizer ran on other programs of {name}");
        let finders = [
            ("simulator, one order".to_owned(), found.first.clone()),
            ("simulator, three orders".to_owned(), found.in_any_order()),
            (format!("compute-sanitizer {}, {}", sanitizer.version, sanitizer.device), theirs),
        ];
        suites.push((name, suite, finders));
    }
    let [by_labels, as_read] = [false, true].map(|as_read| table(&suites, as_read));
    let details: String = suites.iter().map(details).collect();
    Ok(format!("By the labels of the suites:\n\n{by_labels}\nAfter reading each disagreement:\n\n{as_read}{details}"))
}

fn record<T: DeserializeOwned>(name: &str) -> Result<T> {
    let path = root().join(format!("book/scores/labeled/{name}.json"));
    let read = || -> Result<T> { Ok(serde_json::from_str(&fs::read_to_string(&path)?)?) };
    read().with_context(|| path.display().to_string())
}

/// How often a kind of defect is found, missed, and reported falsely.
fn counts(suite: &Suite, found: &Kinds, as_read: bool) -> BTreeMap<String, [usize; 3]> {
    let mut counts = BTreeMap::<_, [usize; 3]>::new();
    for (_, kind, judged) in judged(suite, found, as_read) {
        counts.entry(kind).or_default()[judged as usize] += 1;
    }
    counts
}

fn table(suites: &[(String, Suite, Finders)], as_read: bool) -> String {
    let mut table = "| suite | programs | defect | planted |".to_owned();
    suites.iter().take(1).flat_map(|(.., finders)| finders).for_each(|(finder, _)| table += &format!(" {finder} |"));
    table += "\n|---|---:|---|---:|---:|---:|---:|\n";
    for (name, suite, finders) in suites {
        let counts = finders.each_ref().map(|(_, found)| counts(suite, found, as_read));
        for kind in counts.iter().flat_map(BTreeMap::keys).collect::<BTreeSet<_>>() {
            let counts = counts.each_ref().map(|counts| counts.get(kind).copied());
            let planted = counts.iter().flatten().map(|[found, missed, _]| found + missed).max().unwrap_or_default();
            table += &format!("| {name} | {} | {kind} | {planted} |", finders[0].1.len());
            let ran = finders.each_ref().map(|(_, found)| !found.is_empty());
            let cells = counts
                .iter()
                .zip(ran)
                .map(|(counts, ran)| if ran { cell(counts.unwrap_or_default()) } else { "not run".to_owned() });
            cells.for_each(|cell| table += &format!(" {cell} |"));
            table += "\n";
        }
    }
    table
}

/// Writes precision and recall; a dash where nothing was reported or planted.
fn cell([found, missed, spurious]: [usize; 3]) -> String {
    let percent = |of: usize| {
        if of == 0 { "–".to_owned() } else { format!("{:.1} %", 100.0 * found as f64 / of as f64).replace(".0 %", " %") }
    };
    format!("{} / {}", percent(found + spurious), percent(found + missed))
}

/// Lists the corrected labels of a suite. Then it lists what the simulator misses or reports falsely even so.
fn details((name, suite, finders): &(String, Suite, Finders)) -> String {
    let corrected = suite.relabeled.iter().map(|(why, tests)| format!("- {}: `{}`", escaped(why), tests.join("`, `")));
    let wrong = judged(suite, &finders[1].1, true).into_iter().filter_map(|(test, kind, judged)| match judged {
        Judged::Found => None,
        Judged::Missed => Some(format!("- missed: {kind} in `{test}`")),
        Judged::False => Some(format!("- false: {kind} in `{test}`")),
    });
    folded(&format!("{name}: labels that we corrected"), &corrected.collect::<Vec<_>>())
        + &folded(&format!("{name}: what the simulator still gets wrong"), &wrong.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_precision_and_recall() {
        assert_eq!(cell([9, 1, 3]), "75 % / 90 %");
        assert_eq!(cell([0, 2, 0]), "– / 0 %");
        assert_eq!(cell([1, 2, 0]), "100 % / 33.3 %");
    }

    #[test]
    fn a_kind_has_a_row_by_the_labels_and_by_the_corrected_ones() {
        let mut suite = suite::named("indigo").unwrap();
        suite.relabeled = BTreeMap::from([("it has one".to_owned(), vec!["b:race".to_owned()])]);
        let kinds = |b: &[&str]| {
            let kinds = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect::<BTreeSet<_>>();
            Kinds::from([("a:race".to_owned(), kinds(&["race"])), ("b:none".to_owned(), kinds(b))])
        };
        let finders =
            [("x", kinds(&["race"])), ("y", kinds(&["race"])), ("z", kinds(&[]))].map(|(name, found)| (name.to_owned(), found));
        let suites = [("s".to_owned(), suite, finders)];
        assert!(table(&suites, false).ends_with("| s | 2 | race | 1 | 50 % / 100 % | 50 % / 100 % | 100 % / 100 % |\n"));
        assert!(table(&suites, true).ends_with("| s | 2 | race | 2 | 100 % / 100 % | 100 % / 100 % | 100 % / 50 % |\n"));
        assert!(details(&suites[0]).contains("- it has one: `b:race`"));
    }
}
