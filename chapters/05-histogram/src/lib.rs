//! Chapter 05, histograms: many threads add to few counters.
//!
//! # What we compute
//!
//! How often each gray level occurs in an image. [`run::workload::histogram`] has the inputs and the oracle.
//!
//! # The stages
//!
//! The stages follow in the order of the table. The kernels are in `kernels/cuda/05-histogram.cu`. All of them count in integers, and a last
//! small kernel delivers the counts as the numbers that the table checks.

use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::{Kernel, histogram as kernel};
use run::workload::histogram::{Buffers, Histogram};
use run::{Chapter, Comparison, Gpu, Measure, Result, Stage};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Histogram> = Chapter {
    name: "05-histogram",
    about: "histograms: many threads add to few counters",
    sources: &[&kernel::SOURCE],
    stages: &[CPU, GLOBAL, PER_BLOCK, PER_WARP],
    mistakes: &[],
    variants: &[],
    experiments: &[],
    choice: None,
    lesson: LESSON,
};

/// The lesson of the table.
const LESSON: &[Comparison<Histogram>] = &[
    Comparison::counts(GLOBAL, PER_BLOCK, Measure::GlobalAtomicOperations)
        .because("Blocks count in shared memory, and add to the image's counters once."),
    Comparison::times(GLOBAL, PER_BLOCK).because("Blocks do not compete for the same counters."),
    Comparison::times(PER_BLOCK, PER_WARP).because("Each warp has counters of its own."),
];

/// The formula as a loop, with counters for each piece of work.
pub const CPU: Stage<Histogram> = Stage::cpu("cpu", "counters for each core, then added up", baselines::histogram::pieces);

/// Zeroes the counters, counts `pixels` pixels per block, and delivers the counts.
fn count(gpu: &Gpu, workload: &Histogram, buffers: &mut Buffers, kernel: Kernel, pixels: u32) -> Result<()> {
    gpu.stream.memset_zeros(&mut buffers.counts)?;
    let counting = gpu.kernel(kernel)?;
    let count = workload.pixels() as i32;
    let grid_dim = (workload.pixels().div_ceil(pixels), 1, 1);
    let config = LaunchConfig { grid_dim, block_dim: (kernel::THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut launch = gpu.stream.launch_builder(&counting);
    launch.arg(&buffers.image).arg(&count).arg(&mut buffers.counts);
    // SAFETY: the kernels read `count` pixels of the image, and add to the counter of each; the workload refuses pixels
    // that are no gray level, and has a counter for each level.
    unsafe { launch.launch(config) }?;
    let delivering = gpu.kernel(kernel::DELIVER)?;
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (kernel::LEVELS, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&delivering);
    launch.arg(&buffers.counts).arg(&mut output);
    // SAFETY: the kernel has a thread for each level, and the counters and the output have as many elements.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Counters in global memory.
pub const GLOBAL: Stage<Histogram> =
    Stage::launches("global", "each thread adds to a counter in global memory", |gpu, workload, buffers| {
        count(gpu, workload, buffers, kernel::GLOBAL, kernel::THREADS)
    });

/// Counters in shared memory.
pub const PER_BLOCK: Stage<Histogram> =
    Stage::launches("per-block", "each block counts in shared memory, and adds its counts once", |gpu, workload, buffers| {
        count(gpu, workload, buffers, kernel::PER_BLOCK, kernel::CHUNK)
    });

/// Counters for each warp.
pub const PER_WARP: Stage<Histogram> =
    Stage::launches("per-warp", "each warp has counters of its own", |gpu, workload, buffers| {
        count(gpu, workload, buffers, kernel::PER_WARP, kernel::CHUNK)
    });
