//! Asynchronous copies into shared memory: the data that arrives, the counts, and the findings when a wait is missing.

use ptx::finding::AccessOp;
use simt::{Finding, FindingKind, LaunchError, SourceLine};

use crate::common::{Gpu, Params, every_way};

const ASYNC_COPY: &str = include_str!("async_copy.ptx");
const SOURCE: &str = include_str!("async_copy.cu");

const TILE: usize = 64;

fn inputs(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * i % 97) as f32 - 40.0).collect()
}

/// Returns the line of the source that holds a text; `after` names a line before it.
fn line_of(after: &str, text: &str) -> u32 {
    let start = SOURCE.find(after).expect("the source has this");
    let at = start + SOURCE[start..].find(text).expect("the source has this");
    1 + SOURCE[..at].matches('\n').count() as u32
}

#[test]
fn the_next_tile_comes_while_this_one_is_used() {
    let tiles = 5;
    let inputs = inputs(tiles * TILE);
    let expected: Vec<f32> = (0..inputs.len()).map(|i| inputs[i] + inputs[i / TILE * TILE + (i + 1) % TILE]).collect();
    every_way(ASYNC_COPY, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<f32>(inputs.len()));
        let params = Params::new().with(input).with(output).with(tiles as i32);
        let counters = gpu.launch("pipelined", 1, TILE as u32, 0, &params).counters;
        assert_eq!(gpu.read::<f32>(output, inputs.len()), expected);
        let requests = (tiles * TILE / 32) as u64;
        assert_eq!(counters.async_copy_requests, requests);
        assert_eq!((counters.global_load_requests, counters.global_load_sectors), (requests, 4 * requests));
        assert_eq!(counters.global_load_bytes, 128 * requests);
        assert_eq!(counters.shared_store_requests, 0, "the copies pass no registers");
        assert_eq!(counters.shared_load_requests, 2 * requests);
    });
}

#[test]
fn copies_of_every_width_and_of_fewer_bytes() {
    let inputs = inputs(32 * 16);
    let whole = 9;
    let expected: Vec<f32> = (0..inputs.len())
        .map(|i| {
            let (lane, place) = (i / 16, i % 16);
            // The second quarter has the requested bytes; the third has none in the lanes whose predicate is set.
            let read = match place / 4 {
                1 if lane >= whole => place % 4 < lane % 4,
                2 => lane < whole,
                _ => true,
            };
            if read { inputs[i] } else { 0.0 }
        })
        .collect();
    every_way(ASYNC_COPY, |gpu| {
        let (input, output) = (gpu.buffer(&inputs), gpu.poisoned::<f32>(inputs.len()));
        let params = Params::new().with(input).with(output).with(whole as i32);
        let report = gpu.launch("widths", 1, 32, 0, &params);
        assert_eq!(gpu.read::<f32>(output, inputs.len()), expected);
        assert_eq!(report.counters.async_copy_requests, 6);
    });
}

#[test]
fn a_copy_reads_no_more_than_it_was_told() {
    for (bytes, fits) in [(0, true), (8, true), (12, false), (16, false)] {
        let gpu = Gpu::load(ASYNC_COPY);
        let (input, output) = (gpu.buffer(&[1.5_f32, 2.5]), gpu.poisoned::<f32>(4));
        match gpu.try_launch("part", 1, 1, 0, &Params::new().with(input).with(output).with(bytes)) {
            Ok(_) => assert_eq!(gpu.read::<f32>(output, 4), if bytes == 0 { [0.0; 4] } else { [1.5, 2.5, 0.0, 0.0] }),
            Err(LaunchError::Fault { finding, .. }) => {
                assert!(!fits && matches!(finding.kind, FindingKind::OutOfBounds { .. }), "{bytes} bytes: {finding}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_copy_needs_aligned_addresses() {
    let gpu = Gpu::load(ASYNC_COPY);
    let (input, output) = (gpu.buffer(&[0.0_f32; 16]), gpu.poisoned::<f32>(4));
    for bytes in [4, 16] {
        match gpu.try_launch("part", 1, 1, 0, &Params::new().with(input + 8).with(output).with(bytes)) {
            Err(LaunchError::Fault { finding, .. }) => assert!(matches!(finding.kind, FindingKind::Misaligned { .. }), "{finding}"),
            other => panic!("expected a finding, got {other:?}"),
        }
    }
}

/// Returns the finding and output of a kernel with unfinished copies. It does not wait for them.
fn found(kernel: &str, params: impl Fn(u64, u64) -> Params) -> (Finding, Vec<f32>) {
    let gpu = Gpu::load(ASYNC_COPY);
    let (input, output) = (gpu.buffer(&inputs(2 * TILE)), gpu.poisoned::<f32>(2 * TILE));
    let report = gpu.launch(kernel, 1, TILE as u32, 0, &params(input, output));
    let is_copy = |finding: &&Finding| matches!(finding.kind, FindingKind::UnfinishedCopy { .. });
    let finding = report.findings.iter().find(is_copy).unwrap_or_else(|| panic!("{kernel}: {:?}", report.findings));
    (finding.clone(), gpu.read::<f32>(output, 2 * TILE))
}

#[test]
fn a_missing_wait_is_found_with_both_lines() {
    let source = |line: u32| Some(SourceLine { file: "async_copy.cu".to_owned(), line });
    let buffers = |input: u64, output: u64| Params::new().with(input).with(output);
    let copy_line = line_of("", "cp.async");
    for (kernel, op, text) in [
        ("does_not_wait", AccessOp::Load, "output[i] ="),
        ("overwrites", AccessOp::Store, "s_tile[i] = 1"),
        ("adds", AccessOp::Atomic, "atomicAdd"),
    ] {
        let (finding, left) = found(kernel, buffers);
        // Data that has not arrived is NaN, so the result shows it too.
        assert!(kernel != "does_not_wait" || left[..TILE].iter().all(|value| value.is_nan()));
        let FindingKind::UnfinishedCopy { access, copy } = &finding.kind else { panic!("{kernel}: {finding}") };
        assert_eq!((access.op, access.bytes), (op, 4));
        assert_eq!(copy.source, source(copy_line), "{finding}");
        assert_eq!(finding.location.source, source(line_of(&format!("void {kernel}("), text)), "{finding}");
        assert!(finding.to_string().contains("unfinished asynchronous copy"), "{finding}");
    }
    let (finding, _) = found("waits_for_the_wrong_group", |input, output| buffers(input, output).with(2_i32));
    assert_eq!(finding.location.source, source(line_of("void waits_for_the_wrong_group(", "output[tile")));
}
