//! Chapter 02: the same convolution with its operands in shared memory, and what happens when a barrier is missing.
//!
//! # What we compute
//!
//! The convolution of chapter 01, on the same inputs: `output[i] = sum over j < taps of signal[i + j] * filter[j]`. There, each
//! multiply-add loads its sample and its filter value from global memory. Here, the threads of a block first copy a tile of the filter and
//! the samples under it to shared memory, together, and then each thread loads its operands from there.
//!
//! # The stages
//!
//! The stages follow in the order of the table. [`conv_naive::NAIVE`] is the first row, to compare with. The other stages differ only in
//! their kernels, which are in `kernels/cuda/02-conv-shared.cu`. [`SHARED_MISSING_BARRIER`] has the race that the old tutorial had, and
//! runs only when it is named.
//!
//! The last three are for few outputs and many taps, where a thread for each output leaves most of the GPU idle. Many threads add up one
//! output together. Their kernels are in `kernels/cuda/02-conv-shared-reduction.cu`.

use conv_naive::NAIVE;
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::conv_shared::{BLOCK, reduction};
use run::workload::convolution::{Buffers, Convolution};
use run::{Chapter, Comparison, Gpu, Measure, Result, Stage, Unmet};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Convolution> = Chapter {
    name: "02-conv-shared",
    about: "convolution with tiles of signal and filter in shared memory",
    sources: &[&kernels::conv_naive::SOURCE, &kernels::conv_shared::SOURCE, &reduction::SOURCE],
    stages: &[NAIVE, SHARED, SHARED_WIDE, BLOCK_PER_OUTPUT, WARP_PER_OUTPUT, BLOCK_SHUFFLE],
    mistakes: &[SHARED_MISSING_BARRIER],
    variants: &[],
    experiments: &[],
    choice: None,
    lesson: LESSON,
};

/// The lesson of the table.
const LESSON: &[Comparison<Convolution>] = &[
    Comparison::counts(NAIVE, SHARED, Measure::SectorsLoaded).because("A block loads once what its threads share."),
    Comparison::counts(NAIVE, SHARED, Measure::BankWavefronts).because("L1 and shared memory use the same banks, and every multiply-add still loads two operands from them."),
    Comparison::counts(SHARED, SHARED_WIDE, Measure::SectorsLoaded).because("With larger tiles, fewer samples are copied twice."),
    Comparison::counts(SHARED, SHARED_WIDE, Measure::BankWavefronts).because("Copying is a small part of the work."),
    Comparison::times(NAIVE, SHARED).because("A load from shared memory does not have to find its line in a cache first, so warps wait less."),
    Comparison::times(SHARED, SHARED_WIDE).because("Fewer tiles mean fewer copies and fewer barriers."),
    Comparison::counts(BLOCK_PER_OUTPUT, WARP_PER_OUTPUT, Measure::BankWavefronts).because("Its lanes pass their sums from register to register instead of through shared memory."),
    Comparison::times(NAIVE, BLOCK_SHUFFLE).because("With few outputs, a thread for each of them leaves most of the GPU idle.").otherwise(
        "With this many outputs, a thread for each of them fills the GPU, and adding up the sums of many threads is extra work.",
    ),
];

// ANCHOR: launch
/// Launches one of this chapter's kernels. Blocks have the size that the kernels were compiled for, because it is also
/// the size of their arrays in shared memory.
fn launch(
    kernel: Kernel,
    threads: u32,
    outputs_per_block: u32,
    gpu: &Gpu,
    conv: &Convolution,
    buffers: &mut Buffers,
) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let (outputs, taps) = (conv.outputs(), conv.taps());
    let blocks = outputs.div_ceil(outputs_per_block);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut output);
    // SAFETY: the kernels read `outputs + taps - 1` samples and `taps` filter values, and write `outputs` results; the
    // workload made the buffers with those lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}
// ANCHOR_END: launch

/// A shared-memory tile, loaded once per block instead of once per thread.
pub const SHARED: Stage<Convolution> =
    Stage::launches("shared", "a tile of signal and filter in shared memory: loaded once per block", |gpu, conv, buffers| {
        launch(kernels::conv_shared::SHARED, BLOCK, BLOCK, gpu, conv, buffers)
    });

/// Larger tiles, which are fewer, so less is copied. The samples under neighboring tiles overlap by the length of a
/// block, and the overlap is copied twice.
pub const SHARED_WIDE: Stage<Convolution> =
    Stage::launches("shared-wide", "tiles of four times as many taps: less is copied twice", |gpu, conv, buffers| {
        launch(kernels::conv_shared::SHARED_WIDE, BLOCK, BLOCK, gpu, conv, buffers)
    });

/// One block for each output. Its threads add up their sums in shared memory, half of them in each round.
pub const BLOCK_PER_OUTPUT: Stage<Convolution> = Stage::launches(
    "block-per-output",
    "a block of 256 threads for each output, which add up their sums in shared memory",
    |gpu, conv, buffers| launch(reduction::BLOCK_PER_OUTPUT, reduction::BLOCK, 1, gpu, conv, buffers),
)
.requires(block_for_each_output);

/// Checks the number of blocks. The grids of the first GPUs can have few.
fn block_for_each_output(gpu: &Gpu, conv: &Convolution) -> Result<Option<Unmet>> {
    let limit = gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?;
    Ok(Unmet::limit("blocks", conv.outputs(), limit.unsigned_abs()))
}

/// One warp for each output. Its lanes add up their sums with shuffles: without shared memory, and without a barrier.
pub const WARP_PER_OUTPUT: Stage<Convolution> = Stage::launches(
    "warp-per-output",
    "a warp for each output, whose lanes add up their sums with shuffles",
    |gpu, conv, buffers| {
        launch(reduction::WARP_PER_OUTPUT, reduction::BLOCK, reduction::BLOCK / reduction::WARP, gpu, conv, buffers)
    },
)
.needs_compute_capability(3, 0);

/// The most threads for each output: shuffles within the warps, then one barrier, then shuffles among the sums of the warps.
pub const BLOCK_SHUFFLE: Stage<Convolution> = Stage::launches(
    "block-shuffle",
    "a block of 1024 threads for each output, with shuffles and one barrier",
    |gpu, conv, buffers| launch(reduction::BLOCK_SHUFFLE, reduction::WIDE_BLOCK, 1, gpu, conv, buffers),
)
.needs_compute_capability(3, 0);

/// The mistake of the old tutorial: the block waits until a tile is written, but not until it has been read.
pub const SHARED_MISSING_BARRIER: Stage<Convolution> =
    Stage::launches("shared-missing-barrier", "no barrier between using a tile and loading the next", |gpu, conv, buffers| {
        launch(kernels::conv_shared::SHARED_MISSING_BARRIER, BLOCK, BLOCK, gpu, conv, buffers)
    });
