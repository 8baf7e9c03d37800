//! What a chapter's table shows, as data: two stages, what is compared between them, and why they differ.
//!
//! A lesson is a list of [`Comparison`]s. [`sentences`] looks up both stages in the record of a run and says what it finds. Stages are given
//! by their constants, so a misspelled one does not compile; a stage that was not run, or that failed, drops its sentence.

use std::fmt;

use crate::measure::Measure;
use crate::record::{Record, StageRecord};
use crate::stage::Stage;
use crate::units::{factor, milliseconds};
use crate::workload::{Arithmetic, Workload};

/// Values that differ by less than this share are called alike.
const ALIKE: f64 = 0.02;

/// One sentence of a lesson: how `to` differs from `from`, and why.
pub struct Comparison<W: Workload> {
    /// The stage to start from.
    pub from: Stage<W>,
    /// The stage that has something else.
    pub to: Stage<W>,
    /// What is compared.
    pub quantity: Quantity,
    /// Why they differ: a sentence.
    pub why: &'static str,
    /// What to say instead where `to` is not the faster one. Of counts there is no such case: they follow from the kernels.
    pub otherwise: Option<&'static str>,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The median time.
    Time,
    /// Something that the simulator counts.
    Count(Measure),
}

impl<W: Workload> Comparison<W> {
    /// Compares the times of two stages. `why` says why `to` is faster, and is left out where it is not.
    pub const fn times(from: Stage<W>, to: Stage<W>, why: &'static str) -> Self {
        Self { from, to, quantity: Quantity::Time, why, otherwise: None }
    }

    /// Compares what the simulator counts of two stages.
    pub const fn counts(from: Stage<W>, to: Stage<W>, measure: Measure, why: &'static str) -> Self {
        Self { from, to, quantity: Quantity::Count(measure), why, otherwise: None }
    }

    /// Says why `to` is not faster, where that depends on the size or on the device.
    pub const fn otherwise(self, why: &'static str) -> Self {
        Self { otherwise: Some(why), ..self }
    }

    /// What a run shows of it; `None` where a stage has no such number, or where both have none of it.
    pub fn observe(&self, record: &Record) -> Option<Observation> {
        let value = |stage| self.quantity.of(record, record.stage(stage)?);
        let (from, to) = (value(&self.from)?, value(&self.to)?);
        if from == 0.0 && to == 0.0 {
            return None;
        }
        let why = match self.quantity {
            Quantity::Time if to >= from => self.otherwise,
            Quantity::Time | Quantity::Count(_) => Some(self.why),
        };
        let arithmetic = record.work().arithmetic;
        Some(Observation { from: (self.from.name, from), to: (self.to.name, to), quantity: self.quantity, arithmetic, why })
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

/// A comparison with the numbers of a run. Its text is a sentence, and a second one for the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The name and the value of the stage to start from.
    pub from: (&'static str, f64),
    /// The name and the value of the other stage.
    pub to: (&'static str, f64),
    /// What was compared.
    pub quantity: Quantity,
    /// What was multiplied, which decides what counts are divided by.
    pub arithmetic: Arithmetic,
    /// Why they differ.
    pub why: Option<&'static str>,
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((from, of_from), (to, of_to)) = (self.from, self.to);
        let (from_number, to_number) = (self.quantity.number(of_from), self.quantity.number(of_to));
        let (verb, unit, comparative) = match self.quantity {
            Quantity::Time => ("takes", String::new(), "as long"),
            Quantity::Count(measure) => ("has", format!(" {}", measure.unit(self.arithmetic)), "as many"),
        };
        write!(f, "{to} {verb} {to_number}{unit}")?;
        if self.quantity == Quantity::Count(Measure::BankConflictShare) || of_from == 0.0 || of_to == 0.0 {
            write!(f, "; {from} {verb} {from_number}.")?;
        } else if (of_from / of_to - 1.0).abs() < ALIKE {
            write!(f, ", about {comparative} as {from} ({from_number}).")?;
        } else if of_to < of_from {
            write!(f, "; {from} {verb} {} {comparative} ({from_number}).", factor(of_from / of_to))?;
        } else {
            write!(f, ", {} {comparative} as {from} ({from_number}).", factor(of_to / of_from))?;
        }
        self.why.map_or(Ok(()), |why| write!(f, " {why}"))
    }
}

/// What a lesson compares among the simulator's counts, in its order.
pub fn measures<W: Workload>(lesson: &[Comparison<W>]) -> Vec<Measure> {
    let measure = |comparison: &Comparison<W>| match comparison.quantity {
        Quantity::Time => None,
        Quantity::Count(measure) => Some(measure),
    };
    lesson.iter().filter_map(measure).collect()
}

/// What a run shows, a line for each comparison.
pub fn sentences<W: Workload>(lesson: &[Comparison<W>], record: &Record) -> Vec<String> {
    lesson.iter().filter_map(|comparison| Some(comparison.observe(record)?.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Convolution;
    use simt::Counters;

    const SLOW: Stage<Convolution> = Stage::cpu("slow", "a stage", |_, _| {});
    const FAST: Stage<Convolution> = Stage::cpu("fast", "another", |_, _| {});
    const WHY: &str = "It does less.";

    /// A run of both stages.
    fn record(slow: (Option<f64>, Option<Counters>), fast: (Option<f64>, Option<Counters>)) -> Record {
        let stage = |name: &str, (median_ms, counters): (Option<f64>, Option<Counters>)| {
            let empty = r#""place": "device", "verified": true, "skipped": null, "failure": null, "kernels": {}, "median_ms": null, "p10_ms": null,
                "p90_ms": null, "max_error": null, "tolerance": null, "counters": {}, "findings": []"#;
            let mut stage: StageRecord = serde_json::from_str(&format!(r#"{{"name": "{name}", {empty}}}"#)).unwrap();
            (stage.median_ms, stage.counters) = (median_ms, counters);
            stage
        };
        let text = r#"{"chapter": "x", "commit": "c", "date": "d", "device": {"kind": "sim", "name": "n",
            "compute_capability": "9.0", "profile": null, "driver": "d", "compiler": "c"}, "workload": {"multiply_adds": 100},
            "ceilings": null, "ceiling_kernels": {}, "stages": []}"#;
        let mut record = Record::parse(text).unwrap();
        record.stages = vec![stage("slow", slow), stage("fast", fast)];
        record
    }

    fn loads(requests: u64, sectors: u64) -> (Option<f64>, Option<Counters>) {
        (None, Some(Counters { global_load_requests: requests, global_load_sectors: sectors, ..Counters::default() }))
    }

    fn said(comparison: &Comparison<Convolution>, record: &Record) -> Option<String> {
        comparison.observe(record).map(|observation| observation.to_string())
    }

    #[test]
    fn counts_are_reported_with_their_ratio() {
        let sectors = Comparison::counts(SLOW, FAST, Measure::SectorsPerLoad, WHY);
        for (slow, fast, text) in [
            (loads(2, 33), loads(2, 9), "fast has 4.50 sectors per load; slow has 3.67x as many (16.5). It does less."),
            (loads(2, 9), loads(2, 33), "fast has 16.5 sectors per load, 3.67x as many as slow (4.50). It does less."),
            (loads(2, 900), loads(2, 902), "fast has 451 sectors per load, about as many as slow (450). It does less."),
            (loads(2, 9), loads(2, 0), "fast has 0 sectors per load; slow has 4.50. It does less."),
        ] {
            assert_eq!(said(&sectors, &record(slow, fast)).as_deref(), Some(text));
        }
    }

    #[test]
    fn times_are_reported_with_the_reason_that_fits_their_order() {
        let times = Comparison::times(SLOW, FAST, WHY);
        let timed = |slow, fast| record((Some(slow), None), (Some(fast), None));
        let faster = "fast takes 1.00 ms; slow takes 3.00x as long (3.00 ms). It does less.";
        let slower = "fast takes 3.00 ms, 3.00x as long as slow (1.00 ms).";
        assert_eq!(said(&times, &timed(3.0, 1.0)).as_deref(), Some(faster));
        assert_eq!(said(&times, &timed(1.0, 3.0)).as_deref(), Some(slower));
        let times = times.otherwise("It waits.");
        assert_eq!(said(&times, &timed(3.0, 1.0)).as_deref(), Some(faster));
        assert_eq!(said(&times, &timed(1.0, 3.0)), Some(format!("{slower} It waits.")));
    }

    #[test]
    fn nothing_is_said_without_numbers_on_both_sides() {
        let conflicts = Comparison::counts(SLOW, FAST, Measure::BankConflicts, WHY);
        assert_eq!(said(&conflicts, &record(loads(2, 9), loads(2, 9))), None, "neither has bank conflicts");
        let sectors = Comparison::counts(SLOW, FAST, Measure::SectorsPerLoad, WHY);
        assert_eq!(said(&sectors, &record(loads(2, 9), (None, None))), None, "one was not counted");
        let mut alone = record(loads(2, 9), loads(2, 9));
        alone.stages.pop();
        assert_eq!(said(&sectors, &alone), None, "one was not run");
        assert!(sentences(&[sectors], &alone).is_empty());
    }
}
