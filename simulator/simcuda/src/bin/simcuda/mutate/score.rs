//! What all verdicts together say, for people and as JSON.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use simcuda::mutants::{Listed, Operator};

use super::selection::Selection;
use super::trial::{Judged, Verdict};

/// How the verdicts came about.
#[derive(Debug)]
pub struct Session {
    pub command: Vec<String>,
    pub sample: Option<u32>,
    pub seed: u64,
    pub baseline: Duration,
    pub limit: Duration,
}

/// All verdicts and their sums.
#[derive(Debug, Serialize)]
pub struct Score {
    command: Vec<String>,
    date: String,
    /// The seed, if only a sample was run.
    seed: Option<u64>,
    /// Seconds of the run without a mutant.
    baseline_s: f64,
    limit_s: f64,
    /// Mutants in code that the command does not execute, apart from those in `counts`, are counted here alone.
    totals: Counts,
    operators: BTreeMap<Operator, Counts>,
    functions: BTreeMap<String, Counts>,
    /// Killed mutants in percent of those that were killed or survived; `None` if there are none.
    pub percent: Option<f64>,
    verdicts: Vec<Judged>,
}

/// Numbers of mutants.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Counts {
    /// All that were asked for.
    mutants: usize,
    not_covered: usize,
    equivalent: usize,
    /// Killed by a finding of the simulator.
    finding: usize,
    /// Killed by the tests.
    tests: usize,
    /// Killed by time.
    time: usize,
    survived: usize,
    /// Run without a verdict: refused by the simulator, or not loaded.
    undecided: usize,
}

impl Counts {
    fn killed(&self) -> usize {
        self.finding + self.tests + self.time
    }

    /// The share of killed mutants in percent.
    fn percent(&self) -> Option<f64> {
        let decided = self.killed() + self.survived;
        (decided > 0).then(|| 100.0 * self.killed() as f64 / decided as f64)
    }

    fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Finding => &mut self.finding,
            Verdict::Tests => &mut self.tests,
            Verdict::Time => &mut self.time,
            Verdict::Survived => &mut self.survived,
            Verdict::Refused | Verdict::NotLoaded => &mut self.undecided,
        } += 1;
    }
}

impl Score {
    /// Adds up verdicts.
    pub fn new(session: &Session, selection: &Selection<'_>, mut verdicts: Vec<Judged>) -> Self {
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
        Self {
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
}

/// Columns of the table, after the operator's name.
const COLUMNS: [&str; 6] = ["by findings", "by tests", "by time", "survived", "equivalent", "not covered"];

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (verdict, title) in
            [(Verdict::Survived, "survived"), (Verdict::Refused, "cannot be loaded"), (Verdict::NotLoaded, "not loaded")]
        {
            for judged in self.verdicts.iter().filter(|judged| judged.verdict == verdict) {
                writeln!(f, "{title}: {}", described(&judged.mutant))?;
                if let Some(line) = source_line(&judged.mutant) {
                    writeln!(f, "    {line}")?;
                }
                if verdict != Verdict::Survived {
                    writeln!(f, "    {}", judged.by)?;
                }
                writeln!(f, "    {}\n", judged.mutant.id)?;
            }
        }
        write!(f, "{:18}", "killed")?;
        COLUMNS.iter().try_for_each(|column| write!(f, "  {column}"))?;
        writeln!(f)?;
        let rows = self.operators.iter().map(|(operator, counts)| (operator.name(), counts));
        for (name, counts) in rows.chain([("total", &self.totals)]) {
            write!(f, "{name:18}")?;
            let Counts { finding, tests, time, survived, equivalent, not_covered, .. } = *counts;
            for (column, count) in COLUMNS.iter().zip([finding, tests, time, survived, equivalent, not_covered]) {
                write!(f, "  {count:>width$}", width = column.len())?;
            }
            writeln!(f)?;
        }
        let (killed, survived) = (self.totals.killed(), self.totals.survived);
        if let Some(percent) = self.percent {
            writeln!(f, "\nscore: {percent:.1} %, {killed} of {} mutants killed", killed + survived)?;
        }
        Ok(())
    }
}

/// A mutant for people: what it changes, and where.
pub fn described(mutant: &Listed) -> String {
    let Listed { function, instruction, change, ptx_line, source, .. } = mutant;
    let place = match source {
        Some(source) => format!("{}:{}", source.file, source.line),
        None => format!("PTX line {ptx_line}"),
    };
    format!("{function}, {place}: `{instruction}` {change}")
}

/// The line of CUDA C, if the file can be read.
fn source_line(mutant: &Listed) -> Option<String> {
    let source = mutant.source.as_ref()?;
    let text = fs::read_to_string(&source.file).ok()?;
    let line = text.lines().nth((source.line as usize).checked_sub(1)?)?;
    Some(line.trim().to_owned())
}
