//! Chapter 03: the same multiply-adds with fewer and fewer instructions around them, until little is left but multiply-adds.
//!
//! # What we compute
//!
//! The convolution of chapters 01 and 02, on the same inputs: `output[i] = sum over j < taps of signal[i + j] * filter[j]`.
//!
//! # The stages
//!
//! The stages follow in the order of the table, and each adds one idea. Up to [`WIDE_UNROLL`] they are those of the old tutorial: a
//! thread for each output, and the inner loop unrolled. After it, each thread has a run of neighboring outputs, whose windows overlap, and
//! keeps the samples that they share in registers. The kernels are in `kernels/cuda/03-unroll.cu` and, for the last four stages, in
//! `…-tensor.cu`, `…-fft.cu`, and `…-partitioned.cu` next to it.
//!
//! # Layout
//!
//! - [`runs`]: launches of the kernels whose threads have runs of outputs; [`slices`]: what the planner has to know about them.
//! - [`tensor`]: the convolution as a product of matrices, for tensor cores.
//! - [`fft`]: the rival, another algorithm; [`partitioned`]: the same algorithm with transforms of our own.

pub mod fft;
pub mod partitioned;
pub mod runs;
pub mod slices;
pub mod tensor;

use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::unroll::{BLOCK, RUN};
use run::workload::convolution::{Buffers, Convolution};
use run::{Chapter, Comparison, Gpu, Measure, Result, Stage};

use crate::runs::{ConstantFilter, SplitFilter};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Convolution> = Chapter {
    name: "03-unroll",
    about: "convolution unrolled, then held in registers",
    sources: &[
        &kernels::unroll::SOURCE,
        &kernels::unroll::tensor::SOURCE,
        &kernels::unroll::fft::SOURCE,
        &kernels::unroll::partitioned::SOURCE,
    ],
    stages: &[
        SHARED,
        UNROLL_4,
        UNROLL_8,
        UNROLL_16,
        WIDE_UNROLL,
        REGISTER_TILE,
        SPLIT_FILTER,
        CONSTANT_FILTER,
        LONG_RUN,
        tensor::TF32X3,
        tensor::F16X3,
        fft::FFT,
        partitioned::FFT_PARTITIONED,
    ],
    mistakes: &[],
    variants: &[AT_LEAST_16, AT_LEAST_20, AT_LEAST_24, AT_LEAST_32],
    experiments: &[],
    choice: None,
    lesson: LESSON,
};

/// The lesson of the table.
const LESSON: &[Comparison<Convolution>] = &[
    Comparison::counts(SHARED, UNROLL_8, Measure::InstructionsPerMultiplyAdd)
        .because("Unrolling by 8 removes seven eighths of the loop overhead, and loads the filter in vectors."),
    Comparison::counts(UNROLL_16, REGISTER_TILE, Measure::SharedWavefrontsPerWarpMultiplyAdd)
        .because("A sample that is loaded once serves sixteen neighboring outputs."),
    Comparison::counts(CONSTANT_FILTER, LONG_RUN, Measure::BankConflictShare)
        .because("With an odd number of vectors per thread, neighboring lanes start in different banks."),
    Comparison::times(SHARED, UNROLL_4).because("Three quarters of the loop overhead are gone."),
    Comparison::times(UNROLL_4, UNROLL_16).because("Little is left to gain: the loop is no longer the bottleneck."),
    Comparison::times(UNROLL_16, LONG_RUN).because("The multiply-adds are the same, but each one loads less."),
    Comparison::counts(SHARED, tensor::TF32X3, Measure::ExecutedPerMultiplyAdd).because(
        "Each factor is split into two numbers, which takes three products, and the zeros beside the band are multiplied as well.",
    ),
    Comparison::times(LONG_RUN, tensor::F16X3)
        .because("Tensor cores are fast enough to make up for three products instead of one."),
    Comparison::times(LONG_RUN, fft::FFT)
        .because("The work of a transform hardly grows with the length of the filter.")
        .otherwise("A filter this short is summed sooner than it is transformed."),
    Comparison::times(tensor::F16X3, fft::FFT)
        .because("At this length, the better algorithm beats the faster arithmetic.")
        .otherwise("At this length, the faster arithmetic beats the better algorithm."),
    Comparison::counts(LONG_RUN, partitioned::FFT_PARTITIONED, Measure::InstructionsPerMultiplyAdd)
        .because("A transform takes a few steps for each point, and a sum one for each tap."),
    Comparison::times(fft::FFT, partitioned::FFT_PARTITIONED)
        .because("A transform that fits one block of threads leaves no work for launches before and after it."),
];

/// Launches one of the kernels with a thread for each output. They differ only in how the compiler unrolled their loop.
fn launch(kernel: Kernel, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let (outputs, taps) = (conv.outputs(), conv.taps());
    let config = LaunchConfig { grid_dim: (outputs.div_ceil(BLOCK), 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut output);
    // SAFETY: the kernels read `outputs + taps - 1` samples and `taps` filter values, and write `outputs` results; the
    // workload made the buffers with those lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// The end of chapter 02: both operands in shared memory. Each multiply-add comes with two loads and the instructions
/// of a loop.
pub const SHARED: Stage<Convolution> = Stage::launches(
    "shared",
    "a tile of signal and filter in shared memory, one multiply-add per iteration",
    |gpu, conv, buffers| launch(kernels::unroll::SHARED, gpu, conv, buffers),
);

/// Unrolling by 4 removes three quarters of the loop overhead. The filter is loaded in vectors of four, with a quarter
/// of the loads.
pub const UNROLL_4: Stage<Convolution> =
    Stage::launches("unroll-4", "four multiply-adds per iteration of the loop", |gpu, conv, buffers| {
        launch(kernels::unroll::UNROLL_4, gpu, conv, buffers)
    });

/// Unrolling by 8 leaves an eighth of the loop overhead.
pub const UNROLL_8: Stage<Convolution> = Stage::launches("unroll-8", "eight multiply-adds per iteration", |gpu, conv, buffers| {
    launch(kernels::unroll::UNROLL_8, gpu, conv, buffers)
});

/// Unrolling by 16: a sixteenth of the loop overhead remains, which was already small.
pub const UNROLL_16: Stage<Convolution> =
    Stage::launches("unroll-16", "sixteen multiply-adds per iteration", |gpu, conv, buffers| {
        launch(kernels::unroll::UNROLL_16, gpu, conv, buffers)
    });

/// The tutorial's last stage: larger tiles, unrolled.
pub const WIDE_UNROLL: Stage<Convolution> = Stage::launches(
    "wide-unroll",
    "sixteen multiply-adds per iteration, and tiles of four times as many taps",
    |gpu, conv, buffers| launch(kernels::unroll::WIDE_UNROLL, gpu, conv, buffers),
);

/// A sample that is loaded once serves sixteen outputs.
pub const REGISTER_TILE: Stage<Convolution> = Stage::launches(
    "register-tile",
    "sixteen neighboring outputs per thread: their samples stay in registers",
    |gpu, conv, buffers| runs::whole_filter(kernels::unroll::REGISTER_TILE, gpu, conv, buffers),
);

/// The register tile with a smaller tile of taps. Its 6 KB of shared memory limit nothing: as many blocks are resident
/// as its registers allow. No promise to the compiler costs it a register.
pub const AT_LEAST_16: Stage<Convolution> =
    Stage::launches("at-least-16", "a register tile compiled for at least 16 resident blocks", |gpu, conv, buffers| {
        runs::whole_filter(kernels::unroll::AT_LEAST_16, gpu, conv, buffers)
    });

/// A quarter more warps, with fewer registers each.
pub const AT_LEAST_20: Stage<Convolution> =
    Stage::launches("at-least-20", "the same for at least 20 resident blocks", |gpu, conv, buffers| {
        runs::whole_filter(kernels::unroll::AT_LEAST_20, gpu, conv, buffers)
    });

/// From here on the registers are too few, and the compiler spills.
pub const AT_LEAST_24: Stage<Convolution> =
    Stage::launches("at-least-24", "the same for at least 24 resident blocks", |gpu, conv, buffers| {
        runs::whole_filter(kernels::unroll::AT_LEAST_24, gpu, conv, buffers)
    });

/// All warps a multiprocessor holds, each with half the registers it needs.
pub const AT_LEAST_32: Stage<Convolution> =
    Stage::launches("at-least-32", "the same for at least 32 resident blocks", |gpu, conv, buffers| {
        runs::whole_filter(kernels::unroll::AT_LEAST_32, gpu, conv, buffers)
    });

/// Slices of the filter, for more threads. Sixteen outputs per thread leave too few to fill a GPU.
pub const SPLIT_FILTER: Stage<Convolution> = Stage::prepared(
    "split-filter",
    "a block for each slice of the filter, so that there are enough for the whole chip",
    |gpu, conv| Ok(Box::new(SplitFilter::prepare(gpu, conv)?)),
);

/// The filter in warp-wide registers. Reading all three operands from a lane's own takes longer than a multiply-add.
pub const CONSTANT_FILTER: Stage<Convolution> =
    Stage::prepared("constant-filter", "the filter from constant memory, in registers that the whole warp shares", |gpu, conv| {
        Ok(Box::new(ConstantFilter::prepare(gpu, conv, kernels::unroll::CONSTANT_FILTER, RUN)?))
    });

/// Longer runs, which need fewer loads. Their odd number of vectors leaves no two lanes waiting for the same bank.
pub const LONG_RUN: Stage<Convolution> = Stage::prepared(
    "long-run",
    "28 outputs per thread: fewer loads, and an odd number of vectors avoids bank conflicts",
    |gpu, conv| Ok(Box::new(ConstantFilter::prepare(gpu, conv, kernels::unroll::LONG, kernels::unroll::LONG_RUN)?)),
);
