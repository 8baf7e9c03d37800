//! Every barrier of every kernel is needed: with any one taken out, the stage that launches the kernel must fail.
//!
//! A barrier that can go unnoticed is either superfluous or beyond what the checks see, and both are faults of this project.

use common::error::Result;
use common::gpu::Gpu;
use common::report::{Failure, Outcome};
use common::runner;
use common::stage::Stage;
use common::workload::convolution::{Buffers, Size};
use common::workload::{Convolution, Workload};
use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::{Kernel, Source};

use crate::device::with_gpu;

/// `tests/mutants/tiled.cu`: a right kernel with two barriers, so that this test has something to find whatever the chapters hold.
pub static TILED: Source = Source {
    stem: "../../tests/mutants/tiled",
    cuda: include_str!("../mutants/tiled.cu"),
    ptx: include_str!("../mutants/tiled.ptx"),
    architecture: "compute_50",
    constants: &[],
};

const TILED_STAGE: Stage<Convolution> = Stage::launches("tiled", "right, with two barriers", tiled);

/// Threads of a block of `tiled`.
const TILE: u32 = 128;

fn tiled(gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(Kernel { source: &TILED, name: "tiled" })?;
    let (outputs, taps) = (conv.outputs(), conv.taps());
    let config = LaunchConfig { grid_dim: (outputs.div_ceil(TILE), 1, 1), block_dim: (TILE, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut output);
    // SAFETY: the kernel guards every access to its inputs and its output, whose lengths follow from `outputs` and `taps`.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// The text with one of its barriers taken out, for each of them, with the line where it stood.
fn without_each_barrier(ptx: &str) -> Vec<(usize, String)> {
    let is_barrier = |line: &str| {
        let opcode = line.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
        ["bar.sync", "barrier.sync", "bar.red", "barrier.red"].iter().any(|barrier| opcode.starts_with(barrier))
    };
    let barriers = ptx.lines().enumerate().filter(|(_, line)| is_barrier(line)).map(|(at, _)| at);
    let without = |at: usize| {
        let kept = ptx.lines().enumerate().map(|(line, text)| if line == at { "" } else { text });
        (at + 1, kept.collect::<Vec<_>>().join("\n"))
    };
    barriers.map(without).collect()
}

/// Takes out each barrier of a source in turn and runs the stages; some stage must fail each time, and none with all barriers in.
/// How many barriers there are.
fn each_is_needed<W: Workload>(source: &'static Source, stages: &[Stage<W>], workload: &W) -> usize {
    with_gpu(|gpu| {
        if !gpu.is_simulated() {
            // On a GPU a race may go well a thousand times.
            return 0;
        }
        let failures = || runner::run(gpu, stages, workload, 0).unwrap().rows.into_iter().filter(|row| row.failed()).count();
        assert_eq!(failures(), 0, "{} fails with all its barriers", source.path());
        let mutants = without_each_barrier(source.ptx);
        for (line, ptx) in &mutants {
            gpu.substitute(source, Some(ptx.clone())).unwrap();
            assert_ne!(failures(), 0, "nobody misses the barrier of line {line} of {}", source.ptx_path());
        }
        gpu.substitute(source, None).unwrap();
        mutants.len()
    })
}

#[test]
fn no_barrier_of_a_chapter_can_be_taken_out() {
    let conv = Convolution::random(Size { outputs: 700, taps: 300 }, 13);
    each_is_needed(&kernels::conv_naive::SOURCE, conv_naive::CHAPTER.stages, &conv);
}

#[test]
fn a_barrier_that_is_taken_out_is_missed() {
    let conv = Convolution::random(Size { outputs: 700, taps: 300 }, 13);
    let simulated = with_gpu(|gpu| gpu.is_simulated());
    assert_eq!(each_is_needed(&TILED, &[TILED_STAGE], &conv), if simulated { 2 } else { 0 });
}

#[test]
fn a_missing_barrier_is_told_as_the_race_that_it_leaves() {
    if !with_gpu(|gpu| gpu.is_simulated()) {
        return;
    }
    let conv = Convolution::random(Size { outputs: 128, taps: 200 }, 13);
    for ((_, ptx), written) in without_each_barrier(TILED.ptx).into_iter().zip(["s_filter[threadIdx.x] =", "s_signal[i] ="]) {
        let finished = with_gpu(|gpu| {
            gpu.substitute(&TILED, Some(ptx)).unwrap();
            let finished = runner::run(gpu, &[TILED_STAGE], &conv, 0).unwrap();
            gpu.substitute(&TILED, None).unwrap();
            finished
        });
        let Outcome::Failed(Failure::Defects(findings)) = &finished.rows[0].outcome else {
            panic!("{:?}", finished.rows[0].outcome)
        };
        let line = 1 + TILED.cuda.lines().position(|line| line.contains(written)).unwrap();
        let text = findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(text.contains("data race on shared memory") && text.contains(&format!("tiled.cu:{line}")), "line {line}:\n{text}");
    }
}

#[test]
fn only_barriers_are_taken_out() {
    let ptx = "mov.u32 %r1, 0;\n  bar.sync \t0;\n@%p1 bar.red.popc.u32 %r2, 0, %p2;\nbar.warp.sync -1;\n// bar.sync";
    let lines: Vec<_> = without_each_barrier(ptx).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [2, 3]);
}
