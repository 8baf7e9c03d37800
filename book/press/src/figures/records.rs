//! What the terms of a mark are worth: times, rates and counts of the saved runs, as the tables show them.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};
use common::derived::Rate;
use common::record::{Record, StageRecord};
use serde_json::Value;

use super::expression::{Leaves, Term};
use super::quantity::{Dimension, Quantity};
use crate::generated::{self, root};

/// All saved runs, by name: `<device>/<run>`.
pub struct Records {
    runs: BTreeMap<String, Record>,
    /// Chapters as they were measured, each with what was counted of it, for the bounds.
    pairs: Vec<(Record, Record)>,
}

impl Records {
    /// Reads `book/results`.
    ///
    /// # Errors
    ///
    /// When a file there is no record.
    pub fn read() -> Result<Self> {
        let mut runs = BTreeMap::new();
        for device in fs::read_dir(root().join("book/results"))? {
            let device = device?.path();
            for run in fs::read_dir(&device)? {
                let run = run?.path();
                let record = Record::parse(&fs::read_to_string(&run)?).with_context(|| run.display().to_string())?;
                let name = |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                runs.insert(format!("{}/{}", name(&device), name(&run.with_extension(""))), record);
            }
        }
        Ok(Self { runs, pairs: generated::measured_and_counted()? })
    }

    /// One of them.
    ///
    /// # Errors
    ///
    /// When there is none of that name.
    pub fn of(&self, name: &str) -> Result<OfRecord<'_>> {
        self.runs.get(name).with_context(|| format!("there is no record book/results/{name}.json"))?;
        Ok(OfRecord { records: self, name: name.to_owned() })
    }
}

/// The terms of one record, if they do not name another.
pub struct OfRecord<'a> {
    records: &'a Records,
    name: String,
}

impl Leaves for OfRecord<'_> {
    fn term(&self, Term { record, stage, field }: Term) -> Result<Quantity> {
        let name = record.unwrap_or(&self.name);
        let record = self.records.runs.get(name).with_context(|| format!("there is no record book/results/{name}.json"))?;
        match stage {
            "ceiling" => ceiling(record, field).with_context(|| format!("{name} has no ceiling.{field}")),
            "work" => work(record, field).with_context(|| format!("{name} has no work.{field}")),
            _ => {
                let Some(row) = record.stages.iter().find(|row| row.name == stage) else {
                    let known = record.stages.iter().map(|row| row.name.as_str()).collect::<Vec<_>>();
                    bail!("{name} has no stage {stage}, but {}", known.join(", "));
                };
                let value = if field == "bound" { self.bound(record, row) } else { of_stage(record, row, field) };
                value.with_context(|| format!("{name} has no {stage}.{field}"))
            }
        }
    }
}

impl OfRecord<'_> {
    /// The least time of a stage: of what a simulated run counted, and for a measured run what the table of bounds says.
    fn bound(&self, record: &Record, stage: &StageRecord) -> Option<Quantity> {
        if let Some(bound) = record.bound(stage) {
            return Some(Quantity::milliseconds(bound.least_ms()));
        }
        let is_same = |measured: &Record| (&measured.chapter, &measured.date) == (&record.chapter, &record.date);
        let (measured, counted) = self.records.pairs.iter().find(|(measured, _)| is_same(measured))?;
        let rows = generated::bounded(measured, counted);
        rows.iter().find(|row| row.name == stage.name).map(|row| Quantity::milliseconds(row.bound.least_ms()))
    }
}

fn ceiling(record: &Record, field: &str) -> Option<Quantity> {
    let ceilings = record.ceilings?;
    Some(match field {
        "flops" => Quantity { value: ceilings.flops, dimension: Dimension::RATE },
        "bytes" => Quantity { value: ceilings.bytes_per_s, dimension: Dimension::BANDWIDTH },
        "byte_multiply_adds" => Quantity { value: ceilings.byte_multiply_adds?, dimension: Dimension::RATE },
        _ => return None,
    })
}

/// The least work of the computation, and its sizes.
fn work(record: &Record, field: &str) -> Option<Quantity> {
    if field == "bytes" {
        return Some(Quantity { value: record.work().bytes as f64, dimension: Dimension::BYTES });
    }
    record.workload.get(field)?.as_f64().map(Quantity::plain)
}

fn of_stage(record: &Record, stage: &StageRecord, field: &str) -> Option<Quantity> {
    let time = |ms: Option<f64>| ms.map(Quantity::milliseconds);
    match field {
        "time" => time(stage.median_ms),
        "p10" => time(stage.p10_ms),
        "p90" => time(stage.p90_ms),
        "error" => stage.max_error.map(Quantity::plain),
        "tolerance" => stage.tolerance.map(Quantity::plain),
        "rate" => record.rate(stage).map(|rate| match rate {
            Rate::Flops(value) | Rate::MultiplyAdds(value) => Quantity { value, dimension: Dimension::RATE },
            Rate::Bytes(value) => Quantity { value, dimension: Dimension::BANDWIDTH },
        }),
        "share" => record.share_of_ceiling(stage).map(|(share, _)| Quantity::plain(share)),
        "sectors_per_load" => stage.counters?.sectors_per_load().map(Quantity::plain),
        "ideal_sectors_per_load" => stage.counters?.ideal_sectors_per_load().map(Quantity::plain),
        "ptx_per_multiply_add" => of_stage(record, stage, "ptx_thread_instructions_per_multiply_add"),
        _ => match field.strip_suffix("_per_multiply_add") {
            Some(name) => {
                let amount = count(stage, name)?;
                Some(Quantity { value: record.per_multiply_add(1) * amount.value, ..amount })
            }
            None => count(stage, field),
        },
    }
}

/// What was counted, by the name that the record has for it.
fn count(stage: &StageRecord, name: &str) -> Option<Quantity> {
    let counters = stage.counters?;
    match name {
        "bytes" => return Some(Quantity { value: counters.bytes_moved() as f64, dimension: Dimension::BYTES }),
        "bank_conflicts" => return Some(Quantity::plain(counters.bank_conflicts() as f64)),
        _ => {}
    }
    let value = serde_json::to_value(counters).ok()?.get(name).and_then(Value::as_f64)?;
    let dimension = if name.ends_with("_bytes") { Dimension::BYTES } else { Dimension::PLAIN };
    Some(Quantity { value, dimension })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::expression::evaluate;

    fn value(record: &str, expression: &str) -> Result<f64> {
        Ok(evaluate(expression, &Records::read()?.of(record)?)?.value)
    }

    /// The record says 16 384 x 1024 for chapter 03 on the simulator.
    #[test]
    fn terms_are_worth_what_the_tables_show() {
        let sim = |expression| value("sim-h200/03-unroll", expression).unwrap();
        assert_eq!(sim("work.outputs * work.taps"), sim("work.multiply_adds"));
        assert_eq!(sim("32 * (shared.global_load_sectors + shared.global_store_sectors)"), sim("shared.bytes"));
        assert_eq!(sim("shared.bytes / work.multiply_adds"), sim("shared.bytes_per_multiply_add"));
        assert_eq!(sim("shared.ptx_thread_instructions / work.multiply_adds"), sim("shared.ptx_per_multiply_add"));
        assert_eq!(sim("shared.global_load_sectors / shared.global_load_requests"), sim("shared.sectors_per_load"));
        assert!(sim("shared.bound") > 0.0 && sim("shared.bound") < 1e-3);

        let gpu = |expression| value("nvidia-h200/03-unroll", expression).unwrap();
        assert!((gpu("2 * work.multiply_adds / fft.time") / gpu("fft.rate") - 1.0).abs() < 1e-12);
        assert!((gpu("fft.rate / ceiling.flops") / gpu("fft.share") - 1.0).abs() < 1e-12);
        assert!(gpu("fft.p10") <= gpu("fft.time") && gpu("fft.time") <= gpu("fft.p90") && gpu("fft.error") < gpu("fft.tolerance"));
        assert!(gpu("shared.bound") > 1e-3 && gpu("shared.bound") < gpu("shared.time"));
        assert_eq!(gpu("{nvidia-h200/03-unroll}fft.time"), gpu("fft.time"));
        let window = value("nvidia-h200/05-window-sums", "vector.rate / ceiling.bytes").unwrap();
        assert!((window / value("nvidia-h200/05-window-sums", "vector.share").unwrap() - 1.0).abs() < 1e-12);
        assert!(value("nvidia-h200/04-correlation-sm-aware", "dp4a.rate / ceiling.byte_multiply_adds").is_ok());
    }

    #[test]
    fn what_no_record_has_is_told() {
        let cases = [
            ("nvidia-h200/01-conv", "naive.time", "no record book/results/nvidia-h200/01-conv.json"),
            ("nvidia-h200/01-conv-naive", "{sim-h200/lost}naive.time", "no record book/results/sim-h200/lost.json"),
            ("nvidia-h200/01-conv-naive", "shared.time", "has no stage shared, but cpu, cpu-parallel"),
            ("nvidia-h200/01-conv-naive", "naive.speed", "has no naive.speed"),
            ("nvidia-h200/01-conv-naive", "naive.f32_fma", "has no naive.f32_fma"),
            ("sim-h200/01-conv-naive", "naive.time", "has no naive.time"),
            ("sim-h200/01-conv-naive", "ceiling.flops", "has no ceiling.flops"),
            ("nvidia-h200/01-conv-naive", "work.width", "has no work.width"),
            ("nvidia-h200/03-unroll", "by-size.bound", "has no stage by-size"),
        ];
        for (record, expression, message) in cases {
            let error = format!("{:#}", value(record, expression).unwrap_err());
            assert!(error.contains(message), "{record}: {expression}: {error}");
        }
    }
}
