//! The values of the terms of an expression: times, rates and counts of saved runs, as the tables show them.

use anyhow::{Context, Result};
use run::derived::Rate;
use run::record::{Record, StageRecord};
use serde_json::Value;
use simt::Profile;
use simt::bound::Rates;

use crate::archive::{Archive, Run};
use crate::directive::nearest;
use crate::expression::{Term, evaluate};
use crate::facts::Facts;
use crate::quantity::{Dimension, Quantity};

/// The name by which an expression asks for a fact: `[facts]group.key`.
pub const FACTS: &str = "facts";

/// Evaluates an expression. Its terms belong to a run, or to [`FACTS`], unless they name another one.
pub fn worth(archive: &Archive, facts: &Facts, run: &str, expression: &str) -> Result<Quantity> {
    let term = |term: Term| {
        let record = term.record.unwrap_or(run);
        if record == FACTS {
            return facts.value(term.stage, term.field);
        }
        let run = archive.run(record)?;
        archive.note_stage(run, term.stage);
        value(archive, run, term)
    };
    evaluate(expression, &term)
}

fn value(archive: &Archive, run: Run, Term { stage, field, .. }: Term) -> Result<Quantity> {
    let counters;
    let (value, known): (_, Vec<&str>) = match stage {
        "ceiling" => (ceiling(run.record, field), vec!["flops", "bytes", "byte_multiply_adds"]),
        "chip" => (chip(run.record, field), Vec::new()),
        "work" => (work(run.record, field), run.record.workload.keys().map(String::as_str).collect()),
        _ => {
            let row = run.stage(stage)?;
            let value = if field == "bound" { bound(archive, run, row) } else { of_stage(run.record, row, field) };
            counters = serde_json::to_value(row.counters)?;
            let counted = counters.as_object().into_iter().flat_map(|counters| counters.keys().map(String::as_str));
            (value, FIELDS.map(|(name, _)| name).into_iter().chain(counted).chain(["bound"]).collect())
        }
    };
    value.with_context(|| format!("{} has no {stage}.{field}{}", run.name, nearest(field, known)))
}

/// Returns the least time of a stage: from the counts of a simulated run, or for a measured run what its table of bounds says.
fn bound(archive: &Archive, run: Run, stage: &StageRecord) -> Option<Quantity> {
    if let Some(bound) = run.record.bound(stage) {
        return Some(Quantity::milliseconds(bound.least_ms()));
    }
    let rows = archive.pair(run.name).ok()?.bounded();
    rows.iter().find(|row| row.name == stage.name).map(|row| Quantity::milliseconds(row.bound.least_ms()))
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

/// Returns a property of the GPU that a run simulated.
fn chip(record: &Record, field: &str) -> Option<Quantity> {
    let chip = Profile::named(record.device.profile.as_deref()?)?;
    let rates = Rates::of(chip.compute_capability);
    let (value, dimension) = match field {
        "multiprocessors" => (chip.multiprocessors.into(), Dimension::PLAIN),
        "schedulers" => (rates.issue, Dimension::PLAIN),
        "f32_lanes" => (rates.f32, Dimension::PLAIN),
        "passes" => (rates.wavefronts, Dimension::PLAIN),
        "max_threads" => (chip.max_threads_per_sm.into(), Dimension::PLAIN),
        "max_blocks" => (chip.max_blocks_per_sm.into(), Dimension::PLAIN),
        "max_threads_per_block" => (chip.max_threads_per_block.into(), Dimension::PLAIN),
        "clock" => (1e3 * f64::from(chip.clock_khz), Dimension::RATE),
        "register_bytes" => (4.0 * f64::from(chip.registers_per_sm), Dimension::BYTES),
        "shared_bytes" => (chip.shared_bytes_per_sm.into(), Dimension::BYTES),
        // A word from each bank, per clock.
        "bank_bytes" => (rates.wavefronts * 32.0 * 4.0, Dimension::BYTES),
        "l2_bytes" => (chip.l2_bytes as f64, Dimension::BYTES),
        "l2_bytes_per_clock" => (rates.l2_bytes?, Dimension::BYTES),
        "memory_bytes" => (chip.memory_bytes as f64, Dimension::BYTES),
        "memory_bandwidth" => (memory_bandwidth(chip), Dimension::BANDWIDTH),
        _ => return None,
    };
    Some(Quantity { value, dimension })
}

/// Returns the bytes per second of a GPU's memory interface. It transfers twice per clock.
pub fn memory_bandwidth(chip: &Profile) -> f64 {
    2.0 * f64::from(chip.memory_clock_khz) * 1e3 * f64::from(chip.memory_bus_bits) / 8.0
}

/// Returns the least work of the computation, and its sizes.
fn work(record: &Record, field: &str) -> Option<Quantity> {
    if field == "bytes" {
        return Some(Quantity { value: record.work().bytes as f64, dimension: Dimension::BYTES });
    }
    record.workload.get(field)?.as_f64().map(Quantity::plain)
}

/// A number of a stage.
type Field = fn(&Record, &StageRecord) -> Option<Quantity>;

/// Numbers of a stage that are not simply a counter.
const FIELDS: [(&str, Field); 11] = [
    ("time", |_, stage| stage.median_ms.map(Quantity::milliseconds)),
    // Launched one by one. For long work that is the same.
    ("launched", |_, stage| stage.launched_ms.or(stage.median_ms).map(Quantity::milliseconds)),
    ("clock", |_, stage| {
        let megahertz = stage.sensors.as_ref()?.sm_mhz?;
        Some(Quantity { value: 1e6 * f64::from(megahertz), dimension: Dimension::RATE })
    }),
    ("watts", |_, stage| stage.sensors.as_ref()?.watts.map(Quantity::plain)),
    ("error", |_, stage| stage.max_error.map(Quantity::plain)),
    ("tolerance", |_, stage| stage.tolerance.map(Quantity::plain)),
    ("rate", |record, stage| {
        let (value, dimension) = match record.rate(stage)? {
            Rate::Flops(value) | Rate::MultiplyAdds(value) => (value, Dimension::RATE),
            Rate::Bytes(value) => (value, Dimension::BANDWIDTH),
        };
        Some(Quantity { value, dimension })
    }),
    ("bytes", |_, stage| Some(Quantity { value: stage.counters?.bytes_moved() as f64, dimension: Dimension::BYTES })),
    ("sectors_per_load", |_, stage| stage.counters?.sectors_per_load().map(Quantity::plain)),
    ("ptx_per_multiply_add", |record, stage| of_stage(record, stage, "ptx_thread_instructions_per_multiply_add")),
    ("wavefronts_per_shared_request", |_, stage| {
        let counters = stage.counters?;
        let requests = counters.shared_load_requests + counters.shared_store_requests;
        let wavefronts = counters.shared_load_wavefronts + counters.shared_store_wavefronts;
        (requests > 0).then(|| Quantity::plain(wavefronts as f64 / requests as f64))
    }),
];

fn of_stage(record: &Record, stage: &StageRecord, field: &str) -> Option<Quantity> {
    if let Some((_, value)) = FIELDS.iter().find(|(name, _)| *name == field) {
        return value(record, stage);
    }
    if let Some(name) = field.strip_suffix("_per_multiply_add") {
        let amount = of_stage(record, stage, name)?;
        return Some(Quantity { value: record.per_multiply_add(1) * amount.value, ..amount });
    }
    // What was counted, by the name that the record has for it.
    let value = serde_json::to_value(stage.counters?).ok()?.get(field).and_then(Value::as_f64)?;
    let dimension = if field.ends_with("_bytes") { Dimension::BYTES } else { Dimension::PLAIN };
    Some(Quantity { value, dimension })
}

/// Returns a fact about a run in words: `date`, `device`, or `bound_by` of a stage, the part of the simulated chip that needs most time.
pub fn words(run: Run, field: &str) -> Option<Result<String>> {
    let device = &run.record.device;
    match field {
        "date" => Some(Ok(run.day().to_owned())),
        "device" => Some(Ok(format!("{}; driver {}; {}", device.name, device.driver, device.compiler))),
        _ => field.strip_suffix(".bound_by").map(|stage| {
            let bound = run.record.bound(run.stage(stage)?).with_context(|| format!("{} has no counts of {stage}", run.name))?;
            Ok(bound.binding().map_or_else(String::new, |part| part.unit.to_string()))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts::parse("[sheet]\nsource = \"a data sheet\"\n[sheet.facts]\nrate = \"495 TFLOP/s\"\n").unwrap()
    }

    #[test]
    fn terms_are_worth_what_the_tables_show() {
        let (archive, facts) = (Archive::read().unwrap(), facts());
        let value = |record, expression| worth(&archive, &facts, record, expression).unwrap().value;
        let sim = |expression| value("sim-h200/03-unroll", expression);
        assert_eq!(sim("work.outputs * work.taps"), sim("work.multiply_adds"));
        assert_eq!(sim("32 * (shared.global_load_sectors + shared.global_store_sectors)"), sim("shared.bytes"));
        assert_eq!(sim("shared.bytes / work.multiply_adds"), sim("shared.bytes_per_multiply_add"));
        assert_eq!(sim("shared.ptx_thread_instructions / work.multiply_adds"), sim("shared.ptx_per_multiply_add"));
        assert_eq!(sim("shared.global_load_sectors / shared.global_load_requests"), sim("shared.sectors_per_load"));
        assert!(sim("shared.bound") > 0.0 && sim("shared.bound") < 1e-3);
        // NVIDIA's data sheet of the H200 SXM has 67 TFLOP/s and 4.8 TB/s.
        assert_eq!((sim("2 * chip.multiprocessors * chip.f32_lanes * chip.clock") / 1e12).round(), 67.0);
        assert_eq!((sim("chip.memory_bandwidth") / 1e11).round(), 48.0);

        let gpu = |expression| value("nvidia-h200/03-unroll", expression);
        assert!((gpu("2 * work.multiply_adds / fft.time") / gpu("fft.rate") - 1.0).abs() < 1e-12);
        assert!(gpu("shared.rate") < gpu("ceiling.flops") && gpu("fft.error") < gpu("fft.tolerance"));
        assert!(gpu("shared.bound") > 1e-3 && gpu("shared.bound") < gpu("shared.time"));
        assert_eq!(gpu("[nvidia-h200/03-unroll]fft.time"), gpu("fft.time"));
        assert_eq!(gpu("fft.rate / [facts]sheet.rate"), gpu("fft.rate") / 495e12);
    }

    #[test]
    fn a_number_is_stale_with_any_of_its_stages() {
        let archive = Archive::read().unwrap().judged_by(|_, stage| stage == "shared");
        let is_stale = |expression| {
            worth(&archive, &facts(), "nvidia-h200/03-unroll", expression).unwrap();
            archive.take_stale()
        };
        assert!(is_stale("fft.time / shared.time") && !is_stale("fft.time"));
    }
}
