//! The bound against times that were measured: never above them, and in their order.

use std::fs;

use common::record::{Record, StageRecord};
use common::report::Place;
use serde_json::Value;
use simt::bound::{Bound, bound};
use simt::{Counters, Profile};

use crate::generated::root;

/// Chapters with a record of an H200 at the headline size, and one of the simulated H200 at a teaching size.
fn records() -> Vec<(Record, Record)> {
    let read = |device: &str, file: &str| {
        let text = fs::read_to_string(root().join("book/results").join(device).join(file)).ok()?;
        Some(Record::parse(&text).unwrap_or_else(|error| panic!("{device}/{file}: {error}")))
    };
    let files = kernels::sources().iter().map(|source| format!("{}.json", source.stem));
    files.filter_map(|file| Some((read("nvidia-h200", &file)?, read("sim-h200", &file)?))).collect()
}

/// What would be counted at another size. The counts that bind a stage are those of its inner loop, and grow with the multiply-adds.
fn scaled(counters: &Counters, factor: f64) -> Counters {
    let Ok(Value::Object(mut counts)) = serde_json::to_value(counters) else { panic!("counters are an object") };
    for count in counts.values_mut() {
        *count = ((count.as_u64().expect("a count is a number") as f64 * factor) as u64).into();
    }
    serde_json::from_value(Value::Object(counts)).expect("what was written as counters can be read as counters")
}

/// The stages that were timed on the GPU and counted on the simulator: name, milliseconds, bound at the GPU's size.
fn stages(measured: &Record, counted: &Record) -> Vec<(String, f64, Bound)> {
    let h200 = Profile::named("h200").expect("a profile of the table");
    let factor = measured.work().multiply_adds as f64 / counted.work().multiply_adds as f64;
    let on_device = |stage: &&StageRecord| stage.place == Place::Device;
    let timed = measured.stages.iter().filter(on_device).filter_map(|stage| Some((stage, stage.median_ms?)));
    timed
        .filter_map(|(stage, median_ms)| {
            let counters = counted.stages.iter().find(|other| other.name == stage.name)?.counters?;
            Some((stage.name.clone(), median_ms, bound(&scaled(&counters, factor), measured.work().bytes, h200)))
        })
        .collect()
}

#[test]
fn no_stage_was_faster_than_its_bound() {
    for (measured, counted) in records() {
        for (name, median_ms, bound) in stages(&measured, &counted) {
            let (chapter, least_ms) = (&measured.chapter, bound.least_ms());
            assert!(least_ms <= median_ms, "{chapter}, {name}: at least {least_ms} ms, and it took {median_ms} ms: {bound:?}");
            // A bound that is far below says nothing.
            assert!(least_ms >= median_ms / 10.0, "{chapter}, {name}: at least {least_ms} ms, and it took {median_ms} ms");
        }
    }
}

#[test]
fn the_bound_orders_neighbouring_stages_as_the_measured_times_do() {
    let mut pairs = 0;
    for (measured, counted) in records() {
        for pair in stages(&measured, &counted).windows(2) {
            let [(slow, slow_ms, slow_bound), (fast, fast_ms, fast_bound)] = pair else { unreachable!("windows of two") };
            let order = (slow_ms.total_cmp(fast_ms), slow_bound.least_ms().total_cmp(&fast_bound.least_ms()));
            assert_eq!(
                order.0,
                order.1,
                "{}: {slow} took {slow_ms} ms and {fast} {fast_ms} ms, but the bounds are {} and {} ms",
                measured.chapter,
                slow_bound.least_ms(),
                fast_bound.least_ms(),
            );
            pairs += 1;
        }
    }
    assert!(pairs > 0, "no two stages of a chapter were both timed and counted");
}
