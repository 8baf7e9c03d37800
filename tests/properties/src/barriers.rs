//! Every barrier of every kernel is needed: if any barrier is removed, the stage that launches the kernel must fail.
//!
//! A barrier whose removal goes unnoticed is either superfluous or invisible to the checks. Both would be our mistake.

use std::collections::BTreeSet;

use conv_shared::SHARED_MISSING_BARRIER;
use kernels::conv_shared::{TILE, WIDE_TILE};
use kernels::{Kernel, Source};
use ptx::mutation::{Mutant, Operator, mutants_of};
use ptx::parse;
use run::Chapter;
use run::gpu::Gpu;
use run::report::{Outcome, Place};
use run::runner;
use run::stage::Stage;
use run::workload::convolution::Size;
use run::workload::{Border, Convolution, Correlation, Matmul, WindowSums, Workload, correlation, matmul, window_sums};
use unroll::partitioned::FFT_PARTITIONED;

use crate::device::{in_own_process, with_gpu, with_own_simulator};

/// A kernel from which an instruction was taken.
#[derive(Debug)]
pub struct Lesser {
    pub stage: &'static str,
    pub kernel: &'static str,
    /// The opcode of what was taken, and its line of PTX.
    pub opcode: String,
    pub line: u32,
    /// How the stage failed, or what it was warned of; nothing if nobody missed the instruction.
    pub said: Option<String>,
}

/// Which mutants of a kernel to run.
pub type Choice = fn(&Mutant) -> bool;

/// Lends the device for one run.
pub type Lend = fn(&mut dyn FnMut(&Gpu) -> Outcome) -> Outcome;

/// The chosen mutants of a kernel.
fn chosen(ptx: &str, kernel: &str, choice: Choice) -> Vec<Mutant> {
    let module = parse(ptx).unwrap();
    let kernel = module.kernel(kernel).expect("a kernel of the module");
    mutants_of(&module, kernel).into_iter().filter(choice).collect()
}

/// The opcode of the instruction that a mutant changes.
fn opcode(mutant: &Mutant) -> &str {
    mutant.instruction.split([' ', ';']).find(|word| !word.starts_with('@')).unwrap_or_default()
}

/// The outcome of a stage whose PTX file is replaced by this text.
fn outcome<W: Workload>(gpu: &Gpu, stage: &Stage<W>, source: &'static Source, ptx: Option<String>, workload: &W) -> Outcome {
    gpu.replace_ptx(source, ptx).unwrap();
    let finished = runner::run(gpu, &[*stage], workload, 0).unwrap();
    gpu.replace_ptx(source, None).unwrap();
    finished.rows.into_iter().next().expect("a row for a stage").outcome
}

/// Runs each stage with each chosen mutant of the kernels that it launches, in turn. Without a mutant, the stage must be right, and be
/// warned of nothing.
pub fn without_each_in_turn<W: Workload>(
    sources: &[&'static Source],
    stages: &[Stage<W>],
    workload: &W,
    choice: Choice,
    lend: Lend,
) -> Vec<Lesser> {
    let mut lesser = Vec::new();
    for stage in stages.iter().filter(|stage| stage.place() == Place::Device) {
        let measured = match lend(&mut |gpu| runner::run(gpu, &[*stage], workload, 0).unwrap().rows.remove(0).outcome) {
            Outcome::Verified(measured) => measured,
            Outcome::Skipped(_) => continue,
            other => panic!("{} as it is: {other:?}", stage.name),
        };
        assert!(measured.warnings.is_empty(), "{} as it is: {:?}", stage.name, measured.warnings);
        let launched: BTreeSet<&str> = measured.launches.iter().map(|launch| launch.report.kernel.as_str()).collect();
        let of_chapter = |kernel: &Kernel| sources.contains(&kernel.source);
        for kernel in kernels::all().filter(of_chapter).filter(|kernel| launched.contains(kernel.name)) {
            for mutant in chosen(kernel.source.ptx, kernel.name, choice) {
                let ptx = mutant.apply(kernel.source.ptx);
                let said = match lend(&mut |gpu| outcome(gpu, stage, kernel.source, Some(ptx.clone()), workload)) {
                    Outcome::Failed(failure) => Some(failure.to_string()),
                    Outcome::Verified(measured) if !measured.warnings.is_empty() => {
                        Some(measured.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
                    }
                    _ => None,
                };
                let (opcode, line) = (opcode(&mutant).to_owned(), mutant.ptx_line);
                lesser.push(Lesser { stage: stage.name, kernel: kernel.name, opcode, line, said });
            }
        }
    }
    lesser
}

/// A barrier between the threads of a block is removed.
fn barrier(mutant: &Mutant) -> bool {
    mutant.operator == Operator::RemoveBarrier && !barrier_of_warp(mutant)
}

/// A barrier between the lanes of a warp is removed.
fn barrier_of_warp(mutant: &Mutant) -> bool {
    mutant.operator == Operator::RemoveBarrier && opcode(mutant).starts_with("bar.warp.")
}

/// Removes each barrier of each kernel that a chapter's stages launch, in turn; the stage must fail each time, or be warned of a race
/// within a warp where the barrier orders nothing else. What was said of it, barrier by barrier.
fn each_is_needed<W: Workload>(chapter: &Chapter<W>, workload: &W) -> Vec<(&'static str, String)> {
    each_of_kind_is_needed(barrier, chapter.sources, chapter.stages, workload)
}

/// The same for the barriers of one kind, in the kernels of some stages.
fn each_of_kind_is_needed<W: Workload>(
    kind: Choice,
    sources: &[&'static Source],
    stages: &[Stage<W>],
    workload: &W,
) -> Vec<(&'static str, String)> {
    let missed = |Lesser { stage, kernel, line, said, .. }: Lesser| {
        (stage, said.unwrap_or_else(|| panic!("nobody misses the barrier of line {line} of {kernel}, launched by {stage}")))
    };
    without_each_in_turn(sources, stages, workload, kind, |run| with_gpu(|gpu| run(gpu))).into_iter().map(missed).collect()
}

#[test]
fn no_barrier_of_a_transform_can_be_removed_not_even_those_of_a_warp() {
    if !with_gpu(|gpu| gpu.is_simulated()) {
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

/// Without a barrier, some of these kernels wait for each other without end, and after that fault the process has no use of the device.
#[test]
#[ignore = "started by the next test, in a process of its own"]
fn own_process_products() {
    // Of more columns than three buffers hold.
    let product = Matmul::random(matmul::Size { m: 40, n: 36, k: 300 }, 13).unwrap();
    let failures = without_each_in_turn(matmul_tiled::CHAPTER.sources, matmul_tiled::CHAPTER.stages, &product, barrier, |run| {
        with_own_simulator(|gpu| run(gpu))
    });
    let unmissed: Vec<_> =
        failures.iter().filter(|lesser| lesser.said.is_none()).map(|lesser| (lesser.kernel, lesser.line)).collect();
    // The compiler has put a copy of the loop behind it, for the last slab of an odd number. Nothing is copied over that slab.
    let ring = kernels::matmul::hopper::SOURCE.ptx;
    let of_ring = chosen(ring, "wgmma_ring", barrier).iter().map(|mutant| mutant.ptx_line).max();
    assert_eq!(unmissed, [("wgmma_ring", of_ring.expect("it has barriers"))]);
    let missed = |stage| failures.iter().filter(|lesser| lesser.stage == stage).count();
    let stages = ["tiled", "register-tile-1d", "register-tile", "vector", "warp-tile"].map(missed);
    let asynchronous = ["double-buffered", "small-tile", "by-size", "tensor-tf32"].map(missed);
    assert_eq!((stages, asynchronous), ([2; 5], [2; 4]));
    let hopper = ["wgmma", "wgmma-ring", "wgmma-producer", "wgmma-tf32", "tensor-3xtf32"].map(missed);
    println!("{hopper:?} barriers of asynchronous kernels are needed");
}

#[test]
fn no_barrier_of_a_product_can_be_removed() {
    if with_gpu(|gpu| gpu.is_simulated()) {
        let said = in_own_process("barriers::own_process_products");
        assert!(said.contains("barriers of asynchronous kernels are needed"), "{said}");
    }
}

#[test]
fn no_barrier_of_a_chapter_can_be_removed() {
    if !with_gpu(|gpu| gpu.is_simulated()) {
        // On a GPU a race can end well a thousand times, and we do not know which kernels were launched.
        return;
    }
    // Filters of more than two tiles, so that one tile overwrites another and the last tile is partial.
    let long = |tile| Convolution::random(Size { outputs: 300, taps: 2 * tile + 1 }, 13);
    assert_eq!(each_is_needed(&conv_naive::CHAPTER, &long(100)).len(), 0);

    let failures = each_is_needed(&conv_shared::CHAPTER, &long(WIDE_TILE));
    let names: Vec<_> = failures.iter().map(|(name, _)| *name).collect();
    let tiles = names.iter().filter(|name| name.starts_with("shared")).copied().collect::<Vec<_>>();
    assert_eq!(tiles, ["shared", "shared", "shared-wide", "shared-wide"]);
    // The compiler has unrolled the eight rounds of the tree, each with its barrier.
    let missed = |stage| names.iter().filter(|name| **name == stage).count();
    assert_eq!((missed("block-per-output"), missed("block-shuffle"), names.len()), (8, 1, 4 + 8 + 1));
    let line = |text: &str| {
        let line = 1 + kernels::conv_shared::SOURCE.cuda.lines().position(|line| line.contains(text)).expect("it is in the source");
        format!("02-conv-shared.cu:{line},")
    };
    let (filter, signal, reads) = (line("s_filter[k] = "), line("s_signal[k] = "), line("sum += *window++ * *weight++"));
    for (name, text) in failures.iter().filter(|(name, _)| name.starts_with("shared")) {
        assert!(text.contains("data race on shared memory") && text.contains("help: put __syncthreads()"), "{name}:\n{text}");
        assert!((text.contains(&filter) || text.contains(&signal)) && text.contains(&reads), "{name}: both lines in\n{text}");
    }

    // Long enough that a slice has tiles that overwrite others as well.
    let failures = each_is_needed(&unroll::CHAPTER, &long(kernels::unroll::LONG_TILE));
    let missed = |stage| failures.iter().filter(|(name, _)| *name == stage).count();
    let tiles = ["shared", "unroll-4", "unroll-8", "unroll-16", "wide-unroll"].map(missed);
    let runs = ["register-tile", "split-filter", "constant-filter", "long-run"].map(missed);
    // Of the last one, one is in the kernel that looks for the largest magnitudes.
    let tensor = ["tensor-tf32x3", "tensor-f16x3"].map(missed);
    assert_eq!((tiles, runs, tensor), ([2; 5], [3; 4], [1, 3]));
    // A filter of three parts: one in each of the two kernels that transform.
    assert_eq!(missed("fft-partitioned"), 2);
    for (name, text) in failures {
        assert!(text.contains("data race on shared memory"), "{name}:\n{text}");
    }

    // Of windows in several parts, and rows of several iterations.
    let sums = WindowSums::random(window_sums::Size { width: 2100, height: 2 }, 515, Border::Valid, 13).unwrap();
    let failures = each_is_needed(&::window_sums::CHAPTER, &sums);
    let missed = |stage| failures.iter().filter(|(name, _)| *name == stage).count();
    let stages = ["shared-slices", "registers", "shared-tile", "sliding", "vector", "row-scan", "tile-scan"].map(missed);
    assert_eq!(stages, [0, 0, 2, 3, 2, 2, 2]);
    for (name, text) in failures {
        assert!(text.contains("data race on shared memory"), "{name}:\n{text}");
    }

    // Of more rows than a tile of `tensor` holds, so that a second one is written over it.
    let size = correlation::Size { image: (40, 90), template: (9, 70) };
    let failures = each_is_needed(&correlation_sm_aware::CHAPTER, &Correlation::random(size, Border::Clamp, 13));
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
    assert_eq!(names, [&expected[..], &["wgmma"; 7]].concat());
    for (name, text) in failures {
        assert!(text.contains("race on shared memory"), "{name}:\n{text}");
    }
}

#[test]
fn the_barrier_that_a_kernel_lacks_on_purpose_is_missed_at_sizes_of_two_tiles_and_more() {
    if !with_gpu(|gpu| gpu.is_simulated()) {
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
