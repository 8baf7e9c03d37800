//! The bounds of what the simulator counted, compared with measured times: never above them, and in the same order.

use press::archive::{Archive, Bounded, Pair};

/// The records of the H200.
const DEVICE: &str = "nvidia-h200";

/// Stages limited by a queue that no bound models, with their chapters: atomic additions to one address follow one another.
const QUEUES: [(&str, &str); 1] = [("05-histogram", "global")];

/// Returns the stages that were measured and counted with the same kernels.
fn same_kernels<'a>(pair: &Pair<'a>) -> Vec<Bounded<'a>> {
    let is_same = |stage: &str| {
        let [measured, counted] = [pair.measured, pair.counted].map(|run| run.stage(stage).ok().map(|row| &row.kernels));
        let (Some(measured), Some(counted)) = (measured, counted) else { return false };
        measured.iter().all(|(kernel, digest)| counted.get(kernel).is_none_or(|other| other == digest))
    };
    pair.bounded().into_iter().filter(|row| is_same(row.name)).collect()
}

#[test]
fn no_stage_was_faster_than_its_bound() {
    for pair in Archive::read().unwrap().pairs(DEVICE) {
        for Bounded { name, median_ms, bound } in same_kernels(&pair) {
            let (chapter, least_ms) = (&pair.measured.record.chapter, bound.least_ms());
            assert!(least_ms <= median_ms, "{chapter}, {name}: at least {least_ms} ms, and it took {median_ms} ms: {bound:?}");
            // A bound far below the time explains nothing.
            let is_far = least_ms < median_ms / 10.0;
            assert_eq!(
                is_far,
                QUEUES.contains(&(chapter, name)),
                "{chapter}, {name}: at least {least_ms} ms, and it took {median_ms} ms"
            );
        }
    }
}

#[test]
fn a_bound_uses_the_counts_of_the_largest_run() {
    let archive = Archive::read().unwrap();
    for (measured, counted) in [
        ("nvidia-h200/02-conv-shared", "sim-h200/02-conv-shared"),
        ("nvidia-h200/03-unroll.294912x64", "sim-h200/03-unroll.seed"),
        ("nvidia-h200/05-histogram", "sim-h200/05-histogram.seed"),
        // Larger ones have a bias or numbers of 8 bits.
        ("nvidia-h200/06-matmul-half", "sim-h200/06-matmul-half"),
        ("nvidia-h100/05-window-sums", "sim-h100/05-window-sums.8192x64"),
    ] {
        assert_eq!(archive.pair(measured).unwrap().counted.name, counted, "{measured}");
    }
}

/// Stages whose counts at the teaching size do not scale.
///
/// `bytes` and `lanes` have at most one block for each multiprocessor, which clears and adds up its counters once; and so small an image never enters
/// their loop of vector loads. `tile-scan` has blocks of 992 outputs, and a row of the teaching image has 1010: two blocks. A block of `one-pass` fills a
/// tile of 8192 pixels, and that row has an eighth of them.
const NOT_OF_EACH_OUTPUT: [(&str, &str); 4] =
    [("05-histogram", "bytes"), ("05-histogram", "lanes"), ("05-window-sums", "tile-scan"), ("05-window-sums", "one-pass")];

#[test]
fn counts_of_a_small_run_scale_except_for_what_blocks_do_once() {
    let archive = Archive::read().unwrap();
    let all = archive.runs_where(|run| run.device() == "sim-h200");
    let mut too_high = Vec::new();
    for (measured, counted) in all.iter().flat_map(|larger| all.iter().map(move |small| (*larger, *small))) {
        let pair = Pair { measured, counted };
        let grows = counted.record.work().multiply_adds < measured.record.work().multiply_adds;
        if measured.record.chapter != counted.record.chapter || !grows || !pair.is_of_one_kind() {
            continue;
        }
        for stage in &measured.record.stages {
            let (Some(scaled), Some(exact)) = (pair.bound(stage), measured.record.bound(stage)) else { continue };
            let ratio = scaled.least_ms() / exact.least_ms();
            assert!(ratio > 0.99, "{}, {}: {ratio}", measured.name, stage.name);
            // Blocks at the edges add less.
            if ratio > 1.2 {
                too_high.push((measured.record.chapter.as_str(), stage.name.as_str()));
            }
        }
    }
    assert_eq!(too_high, NOT_OF_EACH_OUTPUT);
}

/// The relative difference below which bounds cannot order stages. A bound does not know how long a stage waits.
const ALIKE: f64 = 0.05;

/// A stage slower than its predecessor despite a lower bound. It waits for a copy before it multiplies, and nothing else goes on
/// meanwhile.
const WAITING: (&str, &str) = ("06-matmul-half", "wgmma");

#[test]
fn the_bound_orders_neighbouring_stages_as_the_measured_times_do() {
    let mut pairs = 0;
    for pair in Archive::read().unwrap().pairs(DEVICE) {
        for neighbours in same_kernels(&pair).windows(2) {
            let [one, next] = neighbours else { unreachable!("windows of two") };
            let (one_ms, next_ms) = (one.bound.least_ms(), next.bound.least_ms());
            if (one_ms - next_ms).abs() < ALIKE * one_ms {
                continue;
            }
            let agrees = one.median_ms.total_cmp(&next.median_ms) == one_ms.total_cmp(&next_ms);
            let waits = WAITING == (pair.measured.record.chapter.as_str(), next.name);
            assert_eq!(
                agrees, !waits,
                "{}: {} took {} ms and {} {} ms, but the bounds are {one_ms} and {next_ms} ms",
                pair.measured.record.chapter, one.name, one.median_ms, next.name, next.median_ms,
            );
            pairs += 1;
        }
    }
    assert!(pairs > 0, "no two stages of a chapter were both timed and counted");
}

#[test]
fn the_original_rows_of_the_window_sums_keep_the_order_that_was_published_for_their_gpu() {
    let archive = Archive::read().unwrap();
    let run = archive.run("sim-9800gt/05-window-sums").unwrap();
    let bound = |name: &str| run.record.bound(run.stage(name).unwrap()).expect("counts of the simulator").least_ms();
    let [fused, split, slices] = ["fused-global", "split-global", "shared-slices"].map(bound);
    // 12, 7 and 1.65 ms.
    assert!(fused > 1.2 * split && split > 2.0 * slices, "{fused}, {split} and {slices} ms");
}
