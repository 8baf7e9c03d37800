//! A diagnosis as data: the whole stage, and each experiment with what it took.

use run::timing::Timing;
use simt::bound::Bound;
use simt::{Counters, Profile};

use super::without::Loads;

/// A stage, whole and with parts of its work removed.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The whole stage, verified.
    pub whole: Trial,
    /// The whole once more after the experiments, on a GPU, because the clock may have changed.
    pub again: Option<Timing>,
    /// The experiments, in the order of the table.
    pub experiments: Vec<Trial>,
    /// The library whose kernels the stage launches next to ours.
    pub library: Option<&'static str>,
    /// The simulated GPU.
    pub profile: Option<&'static Profile>,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its name.
    pub name: String,
    /// The work that is left.
    pub left: String,
    /// The kind of experiment.
    pub kind: Kind,
    /// Its effort, or why it was left out.
    pub effort: Result<Effort, String>,
}

/// The origin of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is removed.
    Whole,
    /// These loads are removed.
    Without(Loads),
    /// A kernel that the chapter wrote for the purpose.
    Own,
}

/// The effort of a trial.
#[derive(Clone, Debug)]
pub enum Effort {
    /// On a GPU.
    Timed {
        /// The time.
        timing: Timing,
        /// Registers per thread of the kernel that has the most.
        registers: u32,
    },
    /// On the simulator.
    Counted {
        /// The counts.
        counters: Box<Counters>,
        /// The least time that the simulated GPU needs, and its bottleneck.
        bound: Bound,
    },
}

impl Effort {
    /// Returns the counts, on the simulator.
    pub fn counters(&self) -> Option<&Counters> {
        match self {
            Effort::Timed { .. } => None,
            Effort::Counted { counters, .. } => Some(counters),
        }
    }

    /// Returns the time in milliseconds. On the simulator, it is the least time that the counts need.
    pub fn cost_ms(&self) -> f64 {
        match self {
            Effort::Timed { timing, .. } => timing.median_ms,
            Effort::Counted { bound, .. } => bound.least_ms(),
        }
    }
}

impl Diagnosis {
    /// Returns the time of the whole, in milliseconds: the mean of before and after, or the least time that its counts need.
    pub fn whole_ms(&self) -> f64 {
        let first = self.whole.effort.as_ref().map_or(f64::NAN, Effort::cost_ms);
        self.again.map_or(first, |again| (first + again.median_ms) / 2.0)
    }

    /// Returns the time of a trial divided by that of the whole; `None` for a trial that was left out.
    pub fn share(&self, trial: &Trial) -> Option<f64> {
        Some(trial.effort.as_ref().ok()?.cost_ms() / self.whole_ms())
    }
}
