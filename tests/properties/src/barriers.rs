//! Every barrier of every kernel is needed: if any barrier is removed, the stage that launches the kernel must fail.
//!
//! A barrier whose removal goes unnoticed is either superfluous or invisible to the checks. Both would be our mistake.

use ::window_sums::scan::ONE_PASS;
use conv_shared::SHARED_MISSING_BARRIER;
use kernels::Source;
use kernels::conv_shared::{TILE, WIDE_TILE};
use matmul_half::hopper::{PRODUCER, RING, WGMMA};
use matmul_tiled::sizes::WGMMA_BY_SIZE;
use ptx::mutation::{Mutant, Operator};
use run::Chapter;
use run::report::Outcome;
use run::stage::Stage;
use run::workload::convolution::Size;
use run::workload::matmul_half::Demand;
use run::workload::{Border, Convolution, Correlation, Matmul, MatmulHalf, WindowSums, Workload, correlation, matmul, window_sums};
use unroll::partitioned::FFT_PARTITIONED;

use crate::device::{in_own_process, with_gpu, with_own_simulator};
use crate::matmul::with_tile;
use crate::without::{Choice, Lend, Trial, opcode, outcome, trials};

/// Returns true if a barrier between a block's threads is removed.
fn barrier(mutant: &Mutant) -> bool {
    mutant.operator == Operator::RemoveBarrier && !barrier_of_warp(mutant)
}

/// Returns true if a barrier between a warp's lanes is removed.
fn barrier_of_warp(mutant: &Mutant) -> bool {
    mutant.operator == Operator::RemoveBarrier && opcode(mutant).starts_with("bar.warp.")
}

/// Removes each barrier of each kernel in a chapter's stages, in turn; the stage must fail each time, or be warned of a race within a
/// warp where the barrier orders nothing else. Returns the stage of each barrier, and what was said of it.
fn each_is_needed<W: Workload>(chapter: &Chapter<W>, workload: &W) -> Vec<(&'static str, String)> {
    each_of_kind_is_needed(barrier, chapter.sources, chapter.stages, workload)
}

/// Removes each barrier of one kind in some stages' kernels.
fn each_of_kind_is_needed<W: Workload>(
    kind: Choice,
    sources: &[&'static Source],
    stages: &[Stage<W>],
    workload: &W,
) -> Vec<(&'static str, String)> {
    let lend: Lend = |run| with_gpu(|gpu| run(gpu));
    let said = |trial: Trial<W>| {
        let (stage, kernel, line) = (trial.stage.name, trial.kernel.name, trial.mutant.ptx_line);
        let said = trial.said(workload, lend);
        (stage, said.unwrap_or_else(|| panic!("nobody misses the barrier of line {line} of {kernel}, launched by {stage}")))
    };
    trials(sources, stages, workload, kind, lend).into_iter().map(said).collect()
}

#[test]
fn no_barrier_of_a_transform_can_be_removed_not_even_those_of_a_warp() {
    if !races_are_found() {
        return;
    }
    let missed = |kind: Choice, taps| {
        let conv = Convolution::random(Size { outputs: 300, taps }, 13);
        each_of_kind_is_needed(kind, unroll::CHAPTER.sources, &[FFT_PARTITIONED], &conv).len()
    };
    // `convolve` transforms twice forth and once back, and the block waits once more between the first two.
    assert_eq!((missed(barrier, 600), missed(barrier_of_warp, 600)), (4, 3));
    // `transform` and `transform_back`.
    assert_eq!((missed(barrier, 4097), missed(barrier_of_warp, 4097)), (2, 2));
}

/// Removes the barriers of products. Some kernels then wait without end, and that fault makes the device useless to the process.
#[test]
#[ignore = "started by the next test, in a process of its own"]
fn own_process_products() {
    // Of more columns than three buffers hold.
    let product = Matmul::random(matmul::Size { m: 40, n: 36, k: 300 }, 13).unwrap();
    let lend: Lend = |run| with_own_simulator(|gpu| run(gpu));
    // Of every tile for every size, and of slices.
    let tiles = [with_tile::<0, 1>(), with_tile::<1, 1>(), with_tile::<2, 2>(), with_tile::<3, 2>()];
    let others = matmul_tiled::CHAPTER.stages.iter().filter(|stage| **stage != WGMMA_BY_SIZE);
    let stages: Vec<_> = others.copied().chain(tiles).collect();
    let trials = trials(matmul_tiled::CHAPTER.sources, &stages, &product, barrier, lend);
    let unmissed: Vec<_> = trials.iter().filter(|trial| trial.said(&product, lend).is_none()).collect();
    let unmissed: Vec<_> = unmissed.iter().map(|trial| (trial.kernel.name, trial.mutant.ptx_line)).collect();
    assert_eq!(unmissed, []);
    let missed = |stage| trials.iter().filter(|trial| trial.stage.name == stage).count();
    let stages = ["tiled", "register-tile-1d", "register-tile", "vector", "warp-tile"].map(missed);
    let asynchronous = ["double-buffered", "small-tile", "by-size", "tensor-tf32"].map(missed);
    assert_eq!((stages, asynchronous), ([2; 5], [2; 4]));
    let hopper = ["wgmma-tf32", "wgmma-by-size", "tensor-3xtf32"].map(missed);
    println!("{hopper:?} barriers of asynchronous kernels are needed");
}

#[test]
fn no_barrier_of_a_product_can_be_removed() {
    if races_are_found() {
        let said = in_own_process("barriers::own_process_products");
        assert!(said.contains("barriers of asynchronous kernels are needed"), "{said}");
        // More slabs than the ring has stages.
        let halves = MatmulHalf::random(matmul::Size { m: 40, n: 40, k: 392 }, Demand::default(), 13).unwrap();
        let failures = each_of_kind_is_needed(barrier, matmul_half::CHAPTER.sources, &[WGMMA, RING, PRODUCER], &halves);
        assert_eq!(["wgmma", "ring", "producer"].map(|stage| count(&failures, stage)), [2, 2, 1]);
        assert_said(&failures, "data race on shared memory");
    }
}

/// Returns true on the simulator. On a GPU a race can end well a thousand times, and we do not know which kernels were launched.
fn races_are_found() -> bool {
    with_gpu(|gpu| gpu.is_simulated())
}

/// Makes a filter of more than two tiles. One tile overwrites another, and the last tile is partial.
fn long(tile: u32) -> Convolution {
    Convolution::random(Size { outputs: 300, taps: 2 * tile + 1 }, 13)
}

/// Counts the barriers of a stage that were missed.
fn count(failures: &[(&'static str, String)], stage: &str) -> usize {
    failures.iter().filter(|(name, _)| *name == stage).count()
}

fn assert_said(failures: &[(&'static str, String)], words: &str) {
    for (name, text) in failures {
        assert!(text.contains(words), "{name}:\n{text}");
    }
}

#[test]
fn no_barrier_of_chapters_01_and_02_can_be_removed() {
    if !races_are_found() {
        return;
    }
    assert_eq!(each_is_needed(&conv_naive::CHAPTER, &long(100)).len(), 0);

    let failures = each_is_needed(&conv_shared::CHAPTER, &long(WIDE_TILE));
    let tiles = failures.iter().map(|(name, _)| *name).filter(|name| name.starts_with("shared")).collect::<Vec<_>>();
    assert_eq!(tiles, ["shared", "shared", "shared-wide", "shared-wide"]);
    // The compiler has unrolled the eight rounds of the tree, each with its barrier.
    let reductions = ["block-per-output", "block-shuffle"].map(|stage| count(&failures, stage));
    assert_eq!((reductions, failures.len()), ([8, 1], 4 + 8 + 1));
    let line = |text: &str| {
        let line = 1 + kernels::conv_shared::SOURCE.cuda.lines().position(|line| line.contains(text)).expect("it is in the source");
        format!("02-conv-shared.cu:{line},")
    };
    let (filter, signal, reads) = (line("s_filter[k] = "), line("s_signal[k] = "), line("sum += *window++ * *weight++"));
    for (name, text) in failures.iter().filter(|(name, _)| name.starts_with("shared")) {
        assert!(text.contains("data race on shared memory") && text.contains("help: put __syncthreads()"), "{name}:\n{text}");
        assert!((text.contains(&filter) || text.contains(&signal)) && text.contains(&reads), "{name}: both lines in\n{text}");
    }
}

#[test]
fn no_barrier_of_chapter_03_can_be_removed() {
    if !races_are_found() {
        return;
    }
    // Long enough that a slice has tiles that overwrite others as well.
    let failures = each_is_needed(&unroll::CHAPTER, &long(kernels::unroll::LONG_TILE));
    let missed = |stage| count(&failures, stage);
    let tiles = ["shared", "unroll-4", "unroll-8", "unroll-16", "wide-unroll"].map(missed);
    let runs = ["register-tile", "split-filter", "constant-filter", "long-run"].map(missed);
    // Of the last one, one is in the kernel that looks for the largest magnitudes.
    let tensor = ["tensor-tf32x3", "tensor-f16x3"].map(missed);
    assert_eq!((tiles, runs, tensor), ([2; 5], [3; 4], [1, 3]));
    // A filter of three parts: one in each of the two kernels that transform.
    assert_eq!(missed("fft-partitioned"), 2);
    assert_said(&failures, "data race on shared memory");
}

#[test]
fn no_barrier_of_chapter_05_can_be_removed() {
    if !races_are_found() {
        return;
    }
    // Of windows in several parts, and rows of several iterations.
    let sums = WindowSums::random(window_sums::Size { width: 2100, height: 2 }, 515, Border::Valid, 13).unwrap();
    let Chapter { sources, stages, .. } = ::window_sums::CHAPTER;
    let (looks_back, others): (Vec<_>, Vec<_>) = stages.iter().copied().partition(|stage| *stage == ONE_PASS);
    let failures = each_of_kind_is_needed(barrier, sources, &others, &sums);
    let stages = ["shared-slices", "registers", "shared-tile", "sliding", "vector", "row-scan", "tile-scan"];
    assert_eq!(stages.map(|stage| count(&failures, stage)), [0, 0, 2, 3, 2, 2, 2]);
    assert_said(&failures, "data race on shared memory");
    // A row of three tiles, whose windows reach from one into the other.
    let sums = WindowSums::random(window_sums::Size { width: 17_000, height: 1 }, 515, Border::Valid, 13).unwrap();
    assert_eq!(each_of_kind_is_needed(barrier, sources, &looks_back, &sums).len(), 5);
}

#[test]
fn no_barrier_of_chapter_04_can_be_removed() {
    if !races_are_found() {
        return;
    }
    // Of more rows than a tile of `tensor` holds, so that a second one is written over it. Every second row of the image starts at a
    // multiple of 16 bytes, so it is copied in the background.
    let size = correlation::Size { image: (40, 90), template: (9, 70) };
    let failures = each_is_needed(&correlation_sm_aware::CHAPTER, &Correlation::random(size, Border::Valid, 13));
    let names: Vec<_> = failures.iter().map(|(name, _)| *name).collect();
    // `box-sums` and `tensor` launch `row_sums` as well, which has one.
    let expected = [
        "shared",
        "shared-sm",
        "shared-unroll-4",
        "shared-sums",
        "dp4a",
        "dp4a-tile",
        "box-sums",
        "box-sums",
        "tensor",
        "tensor",
        "tensor",
    ];
    // Four of the seven are the turns of the warpgroups that share the outputs.
    assert_eq!(names, [&expected[..], &["wgmma"; 7], &["wgmma-roles"; 3]].concat());
    assert_said(&failures, "race on shared memory");
}

#[test]
fn the_barrier_that_a_kernel_lacks_on_purpose_is_missed_at_sizes_of_two_tiles_and_more() {
    if !races_are_found() {
        return;
    }
    let fails = |taps| {
        let conv = Convolution::random(Size { outputs: 300, taps }, 13);
        match with_gpu(|gpu| outcome(gpu, &SHARED_MISSING_BARRIER, &kernels::conv_shared::SOURCE, None, &conv)) {
            Outcome::Failed(failure) => failure.to_string().contains("data race on shared memory"),
            other => panic!("{other:?}"),
        }
    };
    assert!(fails(TILE + 1) && fails(2 * TILE));
}
