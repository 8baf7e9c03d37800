//! The lessons of a chapter's table, as data: two stages, what is compared between them, and why they differ.
//!
//! A lesson is a list of [`Comparison`]s. [`sentences`] looks up both stages in the record of a run and says what it finds. Stages are given
//! by their constants, so a misspelled one does not compile; a stage that was not run, or that failed, drops its sentence.

use crate::results::record::{Record, StageRecord};
use crate::units::{factor, milliseconds};
use crate::{Measure, Stage, Workload};

/// Relative difference below which values are called alike.
const ALIKE: f64 = 0.02;

/// One sentence of a lesson: how `to` differs from `from`, and why.
pub struct Comparison<W: Workload> {
    /// The stage to start from.
    pub from: Stage<W>,
    /// The stage that has something else.
    pub to: Stage<W>,
    /// The quantity that is compared.
    pub quantity: Quantity,
    /// The reason why they differ: a sentence.
    pub why: &'static str,
    /// The sentence to use instead if `to` is not the faster one. Counts have no such case, because they follow from the kernels.
    pub otherwise: Option<&'static str>,
}

/// The quantity that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The median time.
    Time,
    /// Something that the simulator counts.
    Count(Measure),
}

impl<W: Workload> Comparison<W> {
    /// Compares the times of two stages.
    pub const fn times(from: Stage<W>, to: Stage<W>) -> Self {
        Self { from, to, quantity: Quantity::Time, why: "", otherwise: None }
    }

    /// Compares what the simulator counts of two stages.
    pub const fn counts(from: Stage<W>, to: Stage<W>, measure: Measure) -> Self {
        Self { quantity: Quantity::Count(measure), ..Self::times(from, to) }
    }

    /// Says why they differ. For times, this is why `to` is faster, and is left out where it is not.
    pub const fn because(self, why: &'static str) -> Self {
        Self { why, ..self }
    }

    /// Says why `to` is not faster on some sizes or devices.
    pub const fn otherwise(self, why: &'static str) -> Self {
        Self { otherwise: Some(why), ..self }
    }

    /// Says what a run shows of it, and the reason; `None` where a stage has no such number, or where both have none of it.
    pub fn sentence(&self, record: &Record) -> Option<String> {
        let value = |stage| self.quantity.of(record, record.stage(stage)?);
        let (of_from, of_to) = (value(&self.from)?, value(&self.to)?);
        if of_from == 0.0 && of_to == 0.0 {
            return None;
        }
        let (from, to) = (self.from.name, self.to.name);
        let [from_number, to_number] = [of_from, of_to].map(|value| self.quantity.number(value));
        let (verb, unit, comparative) = match self.quantity {
            Quantity::Time => ("takes", String::new(), "as long"),
            Quantity::Count(measure) => ("has", format!(" {}", measure.unit(record.work().arithmetic)), "as many"),
        };
        let compared = if self.quantity == Quantity::Count(Measure::BankConflictShare) || of_from == 0.0 || of_to == 0.0 {
            format!("; {from} {verb} {from_number}.")
        } else if (of_from / of_to - 1.0).abs() < ALIKE {
            format!(", about {comparative} as {from} ({from_number}).")
        } else if of_to < of_from {
            format!("; {from} {verb} {} {comparative} ({from_number}).", factor(of_from / of_to))
        } else {
            format!(", {} {comparative} as {from} ({from_number}).", factor(of_to / of_from))
        };
        let why = match self.quantity {
            Quantity::Time if of_to >= of_from => self.otherwise,
            Quantity::Time | Quantity::Count(_) => Some(self.why),
        };
        let why = why.map_or_else(String::new, |why| format!(" {why}"));
        Some(format!("{to} {verb} {to_number}{unit}{compared}{why}"))
    }
}

impl Quantity {
    fn of(self, record: &Record, stage: &StageRecord) -> Option<f64> {
        match self {
            Quantity::Time => stage.median_ms,
            Quantity::Count(measure) => measure.of(&stage.counters?, record.work()),
        }
    }

    fn number(self, value: f64) -> String {
        match self {
            Quantity::Time => milliseconds(value),
            Quantity::Count(measure) => measure.number(value),
        }
    }
}

/// Returns the simulator's counts that a lesson compares, in its order.
pub fn measures<W: Workload>(lesson: &[Comparison<W>]) -> Vec<Measure> {
    let measure = |comparison: &Comparison<W>| match comparison.quantity {
        Quantity::Time => None,
        Quantity::Count(measure) => Some(measure),
    };
    lesson.iter().filter_map(measure).collect()
}

/// Returns the lesson of a run, a line for each comparison.
pub fn sentences<W: Workload>(lesson: &[Comparison<W>], record: &Record) -> Vec<String> {
    lesson.iter().filter_map(|comparison| comparison.sentence(record)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::record::made_up;
    use crate::workload::Convolution;
    use simt::Counters;

    const SLOW: Stage<Convolution> = Stage::cpu("slow", "a stage", |_, _| {});
    const FAST: Stage<Convolution> = Stage::cpu("fast", "another", |_, _| {});
    const WHY: &str = "It does less.";

    /// Returns a run of both stages.
    fn record(slow: (Option<f64>, Option<Counters>), fast: (Option<f64>, Option<Counters>)) -> Record {
        let stage = |name, (median_ms, counters)| StageRecord { median_ms, counters, ..made_up::stage(name) };
        Record { stages: vec![stage("slow", slow), stage("fast", fast)], ..made_up::record() }
    }

    fn loads(requests: u64, sectors: u64) -> (Option<f64>, Option<Counters>) {
        (None, Some(Counters { global_load_requests: requests, global_load_sectors: sectors, ..Counters::default() }))
    }

    #[test]
    fn counts_are_reported_with_their_ratio() {
        let sectors = Comparison::counts(SLOW, FAST, Measure::SectorsPerLoad).because(WHY);
        for (slow, fast, text) in [
            (loads(2, 33), loads(2, 9), "fast has 4.50 sectors per load; slow has 3.67x as many (16.5). It does less."),
            (loads(2, 9), loads(2, 33), "fast has 16.5 sectors per load, 3.67x as many as slow (4.50). It does less."),
            (loads(2, 900), loads(2, 902), "fast has 451 sectors per load, about as many as slow (450). It does less."),
            (loads(2, 9), loads(2, 0), "fast has 0 sectors per load; slow has 4.50. It does less."),
        ] {
            assert_eq!(sectors.sentence(&record(slow, fast)).as_deref(), Some(text));
        }
    }

    #[test]
    fn times_are_reported_with_the_reason_that_fits_their_order() {
        let times = Comparison::times(SLOW, FAST).because(WHY);
        let timed = |slow, fast| record((Some(slow), None), (Some(fast), None));
        let faster = "fast takes 1.00 ms; slow takes 3.00x as long (3.00 ms). It does less.";
        let slower = "fast takes 3.00 ms, 3.00x as long as slow (1.00 ms).";
        assert_eq!(times.sentence(&timed(3.0, 1.0)).as_deref(), Some(faster));
        assert_eq!(times.sentence(&timed(1.0, 3.0)).as_deref(), Some(slower));
        let times = times.otherwise("It waits.");
        assert_eq!(times.sentence(&timed(3.0, 1.0)).as_deref(), Some(faster));
        assert_eq!(times.sentence(&timed(1.0, 3.0)), Some(format!("{slower} It waits.")));
    }

    #[test]
    fn nothing_is_said_without_numbers_on_both_sides() {
        let conflicts = Comparison::counts(SLOW, FAST, Measure::BankConflicts).because(WHY);
        assert_eq!(conflicts.sentence(&record(loads(2, 9), loads(2, 9))), None, "neither has bank conflicts");
        let sectors = Comparison::counts(SLOW, FAST, Measure::SectorsPerLoad).because(WHY);
        assert_eq!(sectors.sentence(&record(loads(2, 9), (None, None))), None, "one was not counted");
        let mut alone = record(loads(2, 9), loads(2, 9));
        alone.stages.pop();
        assert_eq!(sectors.sentence(&alone), None, "one was not run");
        assert!(sentences(&[sectors], &alone).is_empty());
    }
}
