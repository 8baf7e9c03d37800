//! Mutants of the chapters' kernels: which operators there are, and how many mutants the tests notice.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use driver::mutants::{Listed, Operator};
use driver::scores::{Counts, Judged, Score, Verdict};
use simt::SourceLine;

use crate::archive::files_below;
use crate::root;

/// Draws the table of operators (`operators`), or that of the chapters' scores (`scores`).
pub fn table(what: &str) -> Result<String> {
    match what {
        "operators" => Ok(operators()),
        "scores" => Ok(scores(&read()?)),
        other => bail!("there is no table of {other} of mutants; there are operators and scores"),
    }
}

/// Returns the scores in `book/mutants`, each with the name of its chapter.
fn read() -> Result<Vec<(String, Score)>> {
    let score = |path: &Path| -> Result<_> {
        let text = fs::read_to_string(path)?;
        Ok((path.file_stem().unwrap_or_default().to_string_lossy().into_owned(), serde_json::from_str(&text)?))
    };
    let files = files_below(&root().join("book/mutants"))?;
    files.iter().map(|path| score(path).with_context(|| path.display().to_string())).collect()
}

fn operators() -> String {
    let mut table = "| operator | what it changes | example | why a test should notice |\n|---|---|---|---|\n".to_owned();
    for operator in Operator::ALL {
        let (changes, example, reason) = (operator.changes(), operator.example(), operator.reason());
        let _ = writeln!(table, "| `{operator}` | {changes} | {example} | {reason} |");
    }
    table
}

fn scores(scores: &[(String, Score)]) -> String {
    let mut table =
        "| chapter | score | killed by findings | by tests | by time | survived | executed mutants | equivalent | in code that is \
                     not executed | seed | date |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
            .to_owned();
    let mut survivors = Vec::new();
    let mut sum = Counts::default();
    let mut row = |name: &str, counts: &Counts, percent: Option<f64>, seed: &str, date: &str| {
        let percent = percent.map_or_else(String::new, |percent| format!("{percent:.1} %"));
        let Counts { mutants, not_covered, equivalent, finding, tests, time, survived, .. } = counts;
        let executed = mutants - not_covered - equivalent;
        let _ = writeln!(
            table,
            "| {name} | {percent} | {finding} | {tests} | {time} | {survived} | {executed} | {equivalent} | {not_covered} | {seed} | {date} |"
        );
    };
    for (chapter, Score { date, seed, totals, percent, verdicts, .. }) in scores {
        let seed = seed.map(|seed| seed.to_string()).unwrap_or_default();
        row(chapter, totals, *percent, &seed, date.split('T').next().unwrap_or_default());
        sum.add(totals);
        survivors.extend(verdicts.iter().filter(|judged| judged.verdict == Verdict::Survived).map(line));
    }
    row("**all**", &sum, sum.percent(), "", "");
    if !survivors.is_empty() {
        let lines = survivors.join("\n");
        let _ = write!(table, "\n<details>\n<summary>The mutants that survive</summary>\n\n{lines}\n\n</details>\n");
    }
    table
}

fn line(judged: &Judged) -> String {
    let Listed { function, instruction, change, source, .. } = &judged.mutant;
    let place = source.as_ref().map_or_else(String::new, |SourceLine { file, line }| format!(", `{file}:{line}`"));
    format!("- `{function}`{place}: `{instruction}` {change}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORE: &str = r#"{"command": ["x"], "date": "2026-01-02T03:04:05Z", "seed": 1, "baseline_s": 1.0, "limit_s": 5.0,
        "totals": {"mutants": 40, "not_covered": 4, "equivalent": 6, "finding": 1, "tests": 1, "time": 1, "survived": 1, "undecided": 0},
        "operators": {}, "functions": {}, "percent": 75.0, "verdicts": [
            {"id": "k@1/remove-barrier/1", "function": "k", "operator": "remove-barrier", "instruction": "bar.sync 0;", "change": "is removed",
             "ptx_line": 9, "source": {"file": "k.cu", "line": 3}, "covered": true, "verdict": "survived", "by": "", "seconds": 1.0},
            {"id": "k@1/remove-guard/1", "function": "k", "operator": "remove-guard", "instruction": "ret;", "change": "is removed",
             "ptx_line": 8, "source": null, "covered": true, "verdict": "tests", "by": "", "seconds": 1.0}]}"#;

    #[test]
    fn a_score_is_a_row_and_a_survivor_a_line() {
        let score = || serde_json::from_str::<Score>(SCORE).unwrap();
        let rendered = scores(&[("one".to_owned(), score()), ("two".to_owned(), score())]);
        assert!(rendered.contains("| one | 75.0 % | 1 | 1 | 1 | 1 | 30 | 6 | 4 | 1 | 2026-01-02 |\n"), "{rendered}");
        assert!(rendered.contains("| **all** | 75.0 % | 2 | 2 | 2 | 2 | 60 | 12 | 8 |  |  |\n"), "{rendered}");
        assert!(rendered.contains("\n- `k`, `k.cu:3`: `bar.sync 0;` is removed\n") && !rendered.contains("ret;"), "{rendered}");
    }

    #[test]
    fn every_operator_is_a_row() {
        assert_eq!(table("operators").unwrap().lines().count(), 2 + Operator::ALL.len());
        assert!(table("nothing").is_err());
    }
}
