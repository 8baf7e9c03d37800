//! The bound against times that were measured: never above them, and in their order.

use crate::generated::{Bounded, bounded, measured_and_counted};

#[test]
fn no_stage_was_faster_than_its_bound() {
    for (measured, counted) in measured_and_counted().unwrap() {
        for Bounded { name, median_ms, bound } in bounded(&measured, &counted) {
            let (chapter, least_ms) = (&measured.chapter, bound.least_ms());
            assert!(least_ms <= median_ms, "{chapter}, {name}: at least {least_ms} ms, and it took {median_ms} ms: {bound:?}");
            // A bound that is far below says nothing.
            assert!(least_ms >= median_ms / 10.0, "{chapter}, {name}: at least {least_ms} ms, and it took {median_ms} ms");
        }
    }
}

/// Two stages whose bounds differ by less than this part differ in how long they wait, of which a bound knows nothing.
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
