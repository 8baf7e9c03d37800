//! The score that all verdicts make together.

use std::collections::BTreeMap;
use std::io::{self, Write};

use driver::mutants::{Listed, Operator};
use driver::report::Sources;
use driver::scores::{Counts, Judged, Score, Verdict};

use super::selection::Selection;

/// Numbers of mutants: of all, by operator, and by name of the function.
pub type Sums = (Counts, BTreeMap<Operator, Counts>, BTreeMap<String, Counts>);

/// Adds up verdicts, and the mutants that needed no run.
pub fn add_up(selection: &Selection<'_>, verdicts: &[Judged]) -> Sums {
    let (mut totals, mut operators, mut functions) = Sums::default();
    let mut add = |mutant: &Listed, counts: &Counts| {
        totals.add(counts);
        operators.entry(mutant.operator).or_default().add(counts);
        functions.entry(mutant.function.clone()).or_default().add(counts);
    };
    let one = Counts { mutants: 1, ..Counts::default() };
    selection.covered.iter().for_each(|mutant| add(mutant, &one));
    selection.equivalent.iter().for_each(|mutant| add(mutant, &Counts { equivalent: 1, ..one }));
    selection.not_covered.iter().for_each(|mutant| add(mutant, &Counts { not_covered: 1, ..one }));
    for judged in verdicts {
        let mut counts = Counts::default();
        counts.count(judged.verdict);
        add(&judged.mutant, &counts);
    }
    (totals, operators, functions)
}

/// Columns of the table, after the operator's name.
const COLUMNS: [&str; 6] = ["by findings", "by tests", "by time", "survived", "equivalent", "not covered"];

/// Writes the surviving and unrunnable mutants, and a table of all.
pub fn write(score: &Score, out: &mut impl Write) -> io::Result<()> {
    let mut sources = Sources::default();
    for (verdict, title) in
        [(Verdict::Survived, "survived"), (Verdict::Refused, "cannot be loaded"), (Verdict::NotLoaded, "not loaded")]
    {
        for judged in score.verdicts.iter().filter(|judged| judged.verdict == verdict) {
            writeln!(out, "{title}: {}", described(&judged.mutant))?;
            let source = judged.mutant.source.as_ref();
            if let Some(text) = source.and_then(|source| sources.text(&source.file, source.line)) {
                writeln!(out, "    {}", text.line)?;
            }
            if verdict != Verdict::Survived {
                writeln!(out, "    {}", judged.by)?;
            }
            writeln!(out, "    {}\n", judged.mutant.id)?;
        }
    }
    write!(out, "{:18}", "killed")?;
    COLUMNS.iter().try_for_each(|column| write!(out, "  {column}"))?;
    writeln!(out)?;
    let rows = score.operators.iter().map(|(operator, counts)| (operator.name(), counts));
    for (name, counts) in rows.chain([("total", &score.totals)]) {
        write!(out, "{name:18}")?;
        let Counts { finding, tests, time, survived, equivalent, not_covered, .. } = *counts;
        for (column, count) in COLUMNS.iter().zip([finding, tests, time, survived, equivalent, not_covered]) {
            write!(out, "  {count:>width$}", width = column.len())?;
        }
        writeln!(out)?;
    }
    let (killed, survived) = (score.totals.killed(), score.totals.survived);
    if let Some(percent) = score.percent {
        writeln!(out, "\nscore: {percent:.1} %, {killed} of {} mutants killed", killed + survived)?;
    }
    Ok(())
}

/// Describes a verdict and its mutant.
pub fn line(judged: &Judged) -> String {
    let verdict = match judged.verdict {
        Verdict::Finding => "killed by a finding",
        Verdict::Tests => "killed by the tests",
        Verdict::Time => "killed by time",
        Verdict::Survived => "SURVIVED",
        Verdict::Refused => "cannot be loaded",
        Verdict::NotLoaded => "was not loaded",
    };
    format!("{verdict}: {} ({:.1} s)", described(&judged.mutant), judged.seconds)
}

/// Describes a mutant: what it changes, and where.
pub fn described(mutant: &Listed) -> String {
    let Listed { function, instruction, change, ptx_line, source, .. } = mutant;
    let place = match source {
        Some(source) => format!("{}:{}", source.file, source.line),
        None => format!("PTX line {ptx_line}"),
    };
    format!("{function}, {place}: `{instruction}` {change}")
}
