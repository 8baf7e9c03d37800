//! Barriers in shared memory and bulk copies: when data arrives, and the findings when a thread waits forever, or does not wait.

use ptx::finding::{BulkCopyMisuse, MbarrierMisuse};
use simt::{Finding, FindingKind, LaunchError, LaunchOptions, SourceLine, WarpOrder};

use crate::common::{Gpu, Params, every_way};

const MBARRIER: &str = include_str!("mbarrier.ptx");
const SOURCE: &str = include_str!("mbarrier.cu");

const TILE: usize = 128;
const THREADS: u32 = 32 + TILE as u32;

fn inputs(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * i % 97) as f32 - 40.0).collect()
}

#[test]
fn threads_wait_for_the_state_that_their_arrival_told() {
    let inputs = inputs(TILE);
    let expected: Vec<f32> = (0..TILE).map(|i| inputs[TILE - 1 - i] + 3.0).collect();
    every_way(MBARRIER, |gpu| {
        let data = gpu.buffer(&inputs);
        gpu.launch("turns", 1, TILE as u32, 0, &Params::new().with(data).with(3_i32).with(1_i32));
        assert_eq!(gpu.read::<f32>(data, TILE), expected);
    });
}

#[test]
fn a_warp_copies_ahead_of_those_that_compute() {
    let tiles = 7;
    let inputs = inputs(tiles * TILE);
    let expected: Vec<f32> = (0..inputs.len()).map(|i| inputs[i] + inputs[i / TILE * TILE + (i + 1) % TILE]).collect();
    let run = |gpu: &Gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<f32>(inputs.len()));
        let params = Params::new().with(input).with(output).with(tiles as i32).with(1_i32).with(0_u32);
        let counters = gpu.launch("pipelined", 1, THREADS, 0, &params).counters;
        assert_eq!(gpu.read::<f32>(output, inputs.len()), expected);
        assert_eq!(counters.async_copy_requests, 2 * tiles as u64, "each copy by itself");
        assert_eq!((counters.global_load_requests, counters.global_load_sectors), (0, 16 * tiles as u64));
        assert_eq!(counters.global_load_bytes, 512 * tiles as u64);
        assert_eq!(counters.shared_store_requests, 0, "the copies pass no registers");
    };
    every_way(MBARRIER, run);
    for seed in 0..24 {
        let gpu = in_order(WarpOrder::Shuffled(seed));
        run(&gpu);
    }
}

#[test]
fn who_drops_out_is_not_waited_for() {
    every_way(MBARRIER, |gpu| {
        let phases = gpu.buffer(&[0_i32; TILE / 2]);
        gpu.launch("drops", 1, TILE as u32, 0, &Params::new().with(phases));
        assert_eq!(gpu.read::<i32>(phases, TILE / 2), [2; TILE / 2]);
    });
}

fn in_order(warp_order: WarpOrder) -> Gpu {
    Gpu::with_options(MBARRIER, LaunchOptions { warp_order, ..LaunchOptions::default() })
}

fn pipelined(gpu: &Gpu, waits: i32, excess: u32) -> Result<Vec<Finding>, LaunchError> {
    let (input, output) = (gpu.buffer(&inputs(7 * TILE)), gpu.poisoned::<f32>(7 * TILE));
    let params = Params::new().with(input).with(output).with(7_i32).with(waits).with(excess);
    gpu.try_launch("pipelined", 1, THREADS, 0, &params).map(|report| report.findings)
}

/// Returns the line of the source that holds a text.
fn at(text: &str) -> Option<SourceLine> {
    let line = 1 + SOURCE.lines().position(|line| line.contains(text)).expect("the source has this") as u32;
    Some(SourceLine { file: "mbarrier.cu".to_owned(), line })
}

#[test]
fn a_tile_that_is_copied_over_while_it_is_read_is_found() {
    for seed in 0..24 {
        match pipelined(&in_order(WarpOrder::Shuffled(seed)), 0, 0) {
            Ok(findings) => {
                let wrong = |finding: &Finding| matches!(finding.kind, FindingKind::Race { same_warp: false, .. });
                assert!(findings.iter().any(wrong), "order {seed}: {findings:?}");
            }
            // The producer may also be far enough ahead to arrive twice in a phase.
            Err(LaunchError::Fault { finding, .. }) => {
                let FindingKind::InvalidMbarrier { misuse, .. } = finding.kind else { panic!("{finding}") };
                assert_eq!(misuse, MbarrierMisuse::TooManyArrivals { count: 1, lacking: 0 });
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn bytes_that_nobody_copies_are_waited_for_in_vain() {
    for seed in 0..8 {
        let gpu = in_order(WarpOrder::Shuffled(seed));
        let Err(LaunchError::Fault { finding, .. }) = pipelined(&gpu, 1, 64) else { panic!("order {seed}: nothing was found") };
        let FindingKind::MbarrierDeadlock { arrivals, bytes, .. } = finding.kind else { panic!("order {seed}: {finding}") };
        assert!((arrivals, bytes) == (0, 64) || (arrivals, bytes) == (TILE as u32, 0), "{finding}");
        assert!(finding.to_string().starts_with("deadlock: threads wait for the mbarrier at "), "{finding}");
    }
}

#[test]
fn a_missing_wait_is_found() {
    let gpu = Gpu::load(MBARRIER);
    let (input, output) = (gpu.buffer(&inputs(TILE)), gpu.poisoned::<f32>(TILE));
    let report = gpu.launch("does_not_wait", 1, TILE as u32, 0, &Params::new().with(input).with(output));
    let unfinished = report.findings.iter().find_map(|finding| match &finding.kind {
        FindingKind::UnfinishedCopy { copy, .. } => Some((finding, copy)),
        _ => None,
    });
    let (finding, copy) = unfinished.unwrap_or_else(|| panic!("{:?}", report.findings));
    assert_eq!(copy.source, at("(shared_address(s_to))"), "{finding}");
    assert_eq!(finding.location.source, at("output[threadIdx.x] = s_tile"), "{finding}");
    assert!(gpu.read::<f32>(output, TILE).iter().all(|value| value.is_nan()), "what has not arrived is no number");

    // Without the first wait of `turns`, the writes of other threads may not have happened.
    for seed in 0..8 {
        let gpu = in_order(WarpOrder::Shuffled(seed));
        let data = gpu.buffer(&inputs(TILE));
        let report = gpu.launch("turns", 1, TILE as u32, 0, &Params::new().with(data).with(1_i32).with(0_i32));
        let is_race = |finding: &Finding| matches!(finding.kind, FindingKind::Race { same_warp: false, .. });
        assert!(report.findings.iter().any(is_race), "order {seed}: {:?}", report.findings);
    }
}

#[test]
fn a_barrier_that_may_not_be_initialized_yet_is_found() {
    let gpu = Gpu::load(MBARRIER);
    let findings = gpu.launch("initializes_late", 1, 64, 0, &Params::new()).findings;
    assert!(matches!(findings[..], [Finding { kind: FindingKind::Race { same_warp: false, .. }, .. }]), "{findings:?}");
    // In some orders the second warp runs first.
    let first =
        (0..8).find_map(|seed| in_order(WarpOrder::Shuffled(seed)).try_launch("initializes_late", 1, 64, 0, &Params::new()).err());
    let Some(LaunchError::Fault { finding, .. }) = first else { panic!("{first:?}") };
    assert!(matches!(finding.kind, FindingKind::InvalidMbarrier { misuse: MbarrierMisuse::NotInitialized, .. }), "{finding}");
}

#[test]
fn what_a_barrier_or_a_copy_cannot_do_is_told() {
    let launch = |offset: i32, bytes: u32, expected: u32, arrivals: i32, initializes: i32, elements: usize| {
        let gpu = Gpu::load(MBARRIER);
        let input = gpu.buffer(&inputs(elements));
        let params = Params::new().with(input).with(offset).with(bytes).with(expected).with(arrivals).with(initializes);
        match gpu.try_launch("one_thread", 1, 1, 0, &params) {
            Ok(_) => None,
            Err(LaunchError::Fault { finding, .. }) => Some(finding.kind),
            Err(error) => panic!("{error}"),
        }
    };
    let misused = |kind| match kind {
        Some(FindingKind::InvalidMbarrier { misuse, .. }) => misuse,
        other => panic!("expected a misuse, got {other:?}"),
    };
    assert_eq!(launch(0, 512, 1, 0, 1, TILE), None);
    assert_eq!(misused(launch(0, 16, 0, 0, 1, TILE)), MbarrierMisuse::Count { count: 0 });
    assert_eq!(misused(launch(0, 16, 1 << 20, 0, 1, TILE)), MbarrierMisuse::Count { count: 1 << 20 });
    assert_eq!(misused(launch(0, 16, 1, 0, 0, TILE)), MbarrierMisuse::NotInitialized);
    assert_eq!(misused(launch(0, 16, 1, 1, 0, TILE)), MbarrierMisuse::NotInitialized);
    // A phase ends with its last arrival, so any number of single arrivals is allowed.
    assert_eq!(launch(0, 16, 2, 5, 1, TILE), None);
    assert_eq!(launch(0, 20, 1, 0, 1, TILE), Some(FindingKind::InvalidBulkCopy { misuse: BulkCopyMisuse::Size { bytes: 20 } }));
    assert!(matches!(launch(1, 16, 1, 0, 1, TILE), Some(FindingKind::Misaligned { .. })));
    assert!(matches!(launch(0, 512, 1, 0, 1, TILE - 4), Some(FindingKind::OutOfBounds { .. })));
    assert!(matches!(launch(4096, 16, 1, 0, 1, TILE), Some(FindingKind::OutOfBounds { .. })));
    assert!(matches!(launch(0, u32::MAX - 15, 1, 0, 1, TILE), Some(FindingKind::OutOfBounds { .. })));
}
