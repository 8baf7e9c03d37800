//! The scoreboard: the results of other projects' test suites on the software driver.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use conformance::record::{Score, word};
use conformance::run::{Ended, Verdict};
use conformance::suite::{self, Suite};

use crate::root;

/// The columns after the suite and its version.
const COLUMNS: [(&str, &[Verdict]); 4] = [
    ("passed", &[Verdict::Passed]),
    ("failed", &[Verdict::Failed, Verdict::Refused, Verdict::Finding, Verdict::Hung]),
    ("not the driver's fault", &[Verdict::Known]),
    ("skips itself", &[Verdict::Skipped]),
];

/// A suite with its name, and its score if it ran completely.
type Row = (String, Suite, Option<Score>);

/// Draws the scores of all suites. Below them, it lists what did not pass, and why.
pub fn scoreboard() -> Result<String> {
    let mut rows = Vec::new();
    let scored = suite::all()?.into_iter().filter(|(_, suite)| !suite.labeled);
    for (name, suite) in scored.flat_map(|(name, suite)| suite.variants(&name)) {
        let path = root().join(format!("book/scores/{name}.json"));
        let read = || -> Result<Score> { Ok(serde_json::from_str(&fs::read_to_string(&path)?)?) };
        let score = path.is_file().then(read).transpose().with_context(|| path.display().to_string())?;
        if let Some(score) = &score {
            ensure!(score.version == suite.version, "the score of {name} is of version {}, not {}", score.version, suite.version);
        }
        rows.push((name, suite, score));
    }
    Ok(table(&rows) + &rows.iter().map(details).collect::<String>())
}

fn table(rows: &[Row]) -> String {
    let mut table = "| suite | of the judged tests |".to_owned();
    COLUMNS.iter().for_each(|(heading, _)| table += &format!(" {heading} |"));
    table += " what it is |\n|---|---:|---:|---:|---:|---:|---|\n";
    for (name, suite, score) in rows {
        let all =
            score.as_ref().map_or_else(|| "not run as a whole".to_owned(), |score| format!("{:.1} % pass", score.passed_percent));
        table += &format!("| {name} {} | {all} |", suite.version);
        for (_, verdicts) in COLUMNS {
            let count = |score: &Score| verdicts.iter().filter_map(|verdict| score.counts.get(verdict)).sum::<usize>().to_string();
            table += &format!(" {} |", score.as_ref().map_or_else(String::new, count));
        }
        table += &format!(" {} |\n", suite.about);
    }
    table
}

/// Lists what did not pass and the suite's own defects, folded. The simulator found these defects in the suite's kernels.
fn details((name, suite, score): &Row) -> String {
    let mut groups: BTreeMap<(Verdict, &str), Vec<&str>> = BTreeMap::new();
    for Ended { test, verdict, reason } in score.iter().flat_map(|score| &score.others) {
        if *verdict != Verdict::Skipped {
            groups.entry((*verdict, reason)).or_default().push(test);
        }
    }
    let lines: Vec<String> = groups
        .iter()
        .map(|((verdict, reason), tests)| format!("- {}: {} ({})", word(*verdict), escaped(reason), listed(tests)))
        .collect();
    let mut truths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (test, why) in &suite.true_findings {
        truths.entry(why).or_default().push(test);
    }
    let truths: Vec<String> = truths.iter().map(|(why, tests)| format!("- {why} ({})", listed(tests))).collect();
    folded(&format!("{name}: what did not pass"), &lines)
        + &folded(&format!("{name}: defects of its own kernels that the simulator reports"), &truths)
}

/// Folds lines below a summary.
pub fn folded(summary: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("\n<details>\n<summary>{summary}</summary>\n\n{}\n\n</details>\n", lines.join("\n"))
}

/// Returns the names of tests without their modules, at most five.
pub fn listed(tests: &[&str]) -> String {
    const MOST: usize = 5;
    let mut text = tests.iter().take(MOST).map(|test| format!("`{}`", without_module(test))).collect::<Vec<_>>().join(", ");
    if tests.len() > MOST {
        text += &format!(" and {} more", tests.len() - MOST);
    }
    text
}

/// Cuts `tests.test_math.TestExp.test_exp` and `test_math.py::TestExp::test_exp[1.5]` to the test's own name.
fn without_module(test: &str) -> &str {
    let end = test.find('[').unwrap_or(test.len());
    let start = test[..end].rfind(['.', ':']).map_or(0, |at| at + 1);
    &test[start..]
}

/// Escapes a sentence of another program, so nothing in it is markup.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(test: &str, verdict: Verdict, reason: &str) -> Ended {
        Ended { test: test.to_owned(), verdict, reason: reason.to_owned() }
    }

    #[test]
    fn a_score_is_a_row_and_a_folded_list_of_reasons() {
        let mut suite = suite::named("cudarc").unwrap();
        suite.true_findings = BTreeMap::from([("a.b.overrun".to_owned(), "reads past the end".to_owned())]);
        let mut ends = vec![ended("p", Verdict::Passed, ""); 6];
        ends.extend([
            ended("m.T.one", Verdict::Refused, "no <cubin>"),
            ended("m.T.two[1.5]", Verdict::Refused, "no <cubin>"),
            ended("m.T.three", Verdict::Skipped, "needs two GPUs"),
        ]);
        let score = Score::new("cudarc", &suite, ends);
        let rows = [("cudarc".to_owned(), suite.clone(), Some(score)), ("never".to_owned(), suite, None)];
        let table = table(&rows);
        assert!(table.contains("| 75.0 % pass | 6 | 2 | 0 | 1 | Rust bindings"), "{table}");
        assert!(table.contains("| not run as a whole |  |  |  |  | Rust bindings"), "{table}");
        assert_eq!(
            details(&rows[0]),
            "\n<details>\n<summary>cudarc: what did not pass</summary>\n\n- refused: no &lt;cubin> (`one`, `two[1.5]`)\n\n</details>\n\
             \n<details>\n<summary>cudarc: defects of its own kernels that the simulator reports</summary>\n\n\
             - reads past the end (`overrun`)\n\n</details>\n"
        );
    }

    #[test]
    fn a_long_list_is_cut() {
        assert_eq!(listed(&["a", "b", "c", "d", "e", "f", "g"]), "`a`, `b`, `c`, `d`, `e` and 2 more");
    }
}
