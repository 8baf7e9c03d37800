//! The score that all verdicts make together.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use simcuda::mutants::{Listed, Operator};
use simcuda::scores::{Counts, Judged, Score, Verdict};

use super::selection::Selection;

/// The run that the verdicts are from.
#[derive(Debug)]
pub struct Session {
    pub command: Vec<String>,
    pub sample: Option<u32>,
    pub seed: u64,
    pub baseline: Duration,
    pub limit: Duration,
}

/// Adds up verdicts.
pub fn add_up(session: &Session, selection: &Selection<'_>, mut verdicts: Vec<Judged>) -> Score {
    verdicts.sort_by(|a, b| a.mutant.id.cmp(&b.mutant.id));
    let mut totals = Counts::default();
    let mut operators: BTreeMap<Operator, Counts> = BTreeMap::new();
    let mut functions: BTreeMap<String, Counts> = BTreeMap::new();
    let mut add = |mutant: &Listed, change: &dyn Fn(&mut Counts)| {
        change(&mut totals);
        change(operators.entry(mutant.operator).or_default());
        change(functions.entry(mutant.function.clone()).or_default());
    };
    let Selection { covered, equivalent, not_covered, .. } = selection;
    covered.iter().chain(equivalent).chain(not_covered).for_each(|mutant| add(mutant, &|counts| counts.mutants += 1));
    equivalent.iter().for_each(|mutant| add(mutant, &|counts| counts.equivalent += 1));
    not_covered.iter().for_each(|mutant| add(mutant, &|counts| counts.not_covered += 1));
    verdicts.iter().for_each(|judged| add(&judged.mutant, &|counts| counts.count(judged.verdict)));
    let Session { command, sample, seed, baseline, limit } = session;
    Score {
        command: command.clone(),
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        seed: sample.map(|_| *seed),
        baseline_s: baseline.as_secs_f64(),
        limit_s: limit.as_secs_f64(),
        percent: totals.percent(),
        totals,
        operators,
        functions,
        verdicts,
    }
}

/// Columns of the table, after the operator's name.
const COLUMNS: [&str; 6] = ["by findings", "by tests", "by time", "survived", "equivalent", "not covered"];

/// Writes the mutants that survived or could not be run, and a table of all.
pub fn write(score: &Score, out: &mut impl Write) -> io::Result<()> {
    for (verdict, title) in
        [(Verdict::Survived, "survived"), (Verdict::Refused, "cannot be loaded"), (Verdict::NotLoaded, "not loaded")]
    {
        for judged in score.verdicts.iter().filter(|judged| judged.verdict == verdict) {
            writeln!(out, "{title}: {}", described(&judged.mutant))?;
            if let Some(line) = source_line(&judged.mutant) {
                writeln!(out, "    {line}")?;
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

/// Returns the line of CUDA C, if the file can be read.
fn source_line(mutant: &Listed) -> Option<String> {
    let source = mutant.source.as_ref()?;
    let text = fs::read_to_string(&source.file).ok()?;
    let line = text.lines().nth((source.line as usize).checked_sub(1)?)?;
    Some(line.trim().to_owned())
}
