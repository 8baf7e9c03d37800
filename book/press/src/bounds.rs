//! The bounds of what the simulator counted, compared with measured times: never above them, and in the same order.

use std::fs;

use common::record::Record;

use crate::generated::{Bounded, bounded, measured_and_counted, root};

#[test]
fn no_stage_was_faster_than_its_bound() {
    for (measured, counted) in measured_and_counted().unwrap() {
        for Bounded { name, median_ms, bound } in bounded(&measured, &counted) {
            let (chapter, least_ms) = (&measured.chapter, bound.least_ms());
            assert!(least_ms <= median_ms, "{chapter}, {name}: at least {least_ms} ms, and it took {median_ms} ms: {bound:?}");
            // A bound far below the time explains nothing.
            assert!(least_ms >= median_ms / 10.0, "{chapter}, {name}: at least {least_ms} ms, and it took {median_ms} ms");
        }
    }
}

/// A bound does not know how long a stage waits, so it cannot order stages whose bounds differ by less than this fraction.
const ALIKE: f64 = 0.05;

#[test]
fn the_bound_orders_neighbouring_stages_as_the_measured_times_do() {
    let mut pairs = 0;
    for (measured, counted) in measured_and_counted().unwrap() {
        for pair in bounded(&measured, &counted).windows(2) {
            let [one, next] = pair else { unreachable!("windows of two") };
            let (one_ms, next_ms) = (one.bound.least_ms(), next.bound.least_ms());
            if (one_ms - next_ms).abs() < ALIKE * one_ms {
                continue;
            }
            assert_eq!(
                one.median_ms.total_cmp(&next.median_ms),
                one_ms.total_cmp(&next_ms),
                "{}: {} took {} ms and {} {} ms, but the bounds are {one_ms} and {next_ms} ms",
                measured.chapter,
                one.name,
                one.median_ms,
                next.name,
                next.median_ms,
            );
            pairs += 1;
        }
    }
    assert!(pairs > 0, "no two stages of a chapter were both timed and counted");
}

#[test]
fn the_original_rows_of_the_window_sums_keep_the_order_that_was_published_for_their_gpu() {
    let path = root().join("book/results/sim-9800gt/05-window-sums.json");
    let record = Record::parse(&fs::read_to_string(path).unwrap()).unwrap();
    let bound = |name: &str| {
        let stage = record.stages.iter().find(|stage| stage.name == name).expect("a stage of that name");
        record.bound(stage).expect("counts of the simulator").least_ms()
    };
    let [fused, split, slices] = ["fused-global", "split-global", "shared-slices"].map(bound);
    // 12, 7 and 1.65 ms.
    assert!(fused > 1.2 * split && split > 2.0 * slices, "{fused}, {split} and {slices} ms");
}
