//! Verdicts on mutants, and their sums: what `simcuda mutate --json` writes and the book shows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::mutants::{Listed, Operator};

/// The outcome of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The simulator found a defect that only the mistake causes.
    Finding,
    /// The command failed.
    Tests,
    /// The command took too long, or a kernel did not end.
    Time,
    /// Nothing noticed it.
    Survived,
    /// The simulator cannot load a module with this mistake.
    Refused,
    /// The command did not load a module with this mutant this time.
    NotLoaded,
}

/// A mutant and its verdict.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The mutant.
    #[serde(flatten)]
    pub mutant: Listed,
    /// Its outcome.
    pub verdict: Verdict,
    /// The first line of the finding, the command's end, or the obstacle.
    pub by: String,
    /// How long the run took, in seconds.
    pub seconds: f64,
}

/// All verdicts and their sums.
#[derive(Debug, Serialize, Deserialize)]
pub struct Score {
    /// The command and its arguments.
    pub command: Vec<String>,
    /// When it ended.
    pub date: String,
    /// The seed, if only a sample was run.
    pub seed: Option<u64>,
    /// Seconds of the run without a mutant.
    pub baseline_s: f64,
    /// The most seconds of a run with one.
    pub limit_s: f64,
    /// Over all.
    pub totals: Counts,
    /// By operator.
    pub operators: BTreeMap<Operator, Counts>,
    /// By name of the function.
    pub functions: BTreeMap<String, Counts>,
    /// Killed mutants in percent of those that were killed or survived; `None` if there are none.
    pub percent: Option<f64>,
    /// All mutants that were run, by name.
    pub verdicts: Vec<Judged>,
}

/// Numbers of mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All that were asked for.
    pub mutants: usize,
    /// In code that the command does not execute.
    pub not_covered: usize,
    /// Known to make no difference.
    pub equivalent: usize,
    /// Killed by a finding of the simulator.
    pub finding: usize,
    /// Killed by the tests.
    pub tests: usize,
    /// Killed by time.
    pub time: usize,
    /// Not noticed.
    pub survived: usize,
    /// Run without a verdict: refused by the simulator, or not loaded.
    pub undecided: usize,
}

impl Counts {
    /// Returns all that were killed.
    pub fn killed(&self) -> usize {
        self.finding + self.tests + self.time
    }

    /// Returns the killed mutants in percent of the killed and the survivors.
    pub fn percent(&self) -> Option<f64> {
        let decided = self.killed() + self.survived;
        (decided > 0).then(|| 100.0 * self.killed() as f64 / decided as f64)
    }

    /// Counts a mutant that was run.
    pub fn count(&mut self, verdict: Verdict) {
        *match verdict {
            Verdict::Finding => &mut self.finding,
            Verdict::Tests => &mut self.tests,
            Verdict::Time => &mut self.time,
            Verdict::Survived => &mut self.survived,
            Verdict::Refused | Verdict::NotLoaded => &mut self.undecided,
        } += 1;
    }

    /// Adds other numbers.
    pub fn add(&mut self, other: &Self) {
        self.mutants += other.mutants;
        self.not_covered += other.not_covered;
        self.equivalent += other.equivalent;
        self.finding += other.finding;
        self.tests += other.tests;
        self.time += other.time;
        self.survived += other.survived;
        self.undecided += other.undecided;
    }
}
