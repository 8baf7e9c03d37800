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
use run::planner::multiprocessors;
use run::workload::histogram::{Buffers, Histogram, LEVELS};
use run::{Chapter, Comparison, Gpu, Measure, Result, Stage};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Histogram> = Chapter {
    name: "05-histogram",
    about: "histograms: many threads add to few counters",
    sources: &[&kernel::SOURCE],
    stages: &[CPU, GLOBAL, PER_BLOCK, PER_WARP, WIDE, BYTES, LANES],
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
    Comparison::times(PER_BLOCK, WIDE).because("Fewer blocks have fewer counts to add, and each load has 16 bytes."),
    Comparison::times(WIDE, BYTES).because("A pixel is a byte instead of four."),
    Comparison::times(BYTES, LANES).because("A column of counters for each lane is in a bank of its own."),
];

/// The formula as a loop, with counters for each piece of work.
pub const CPU: Stage<Histogram> = Stage::cpu("cpu", "counters for each core, then added up", baselines::histogram::pieces);

/// Zeroes the counters, counts the pixels, and delivers the counts.
fn count(gpu: &Gpu, workload: &Histogram, buffers: &mut Buffers, kernel: Kernel, blocks: u32, threads: u32) -> Result<()> {
    gpu.stream.memset_zeros(&mut buffers.counts)?;
    let counting = gpu.kernel(kernel)?;
    let count = workload.pixels() as i32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
    let mut launch = gpu.stream.launch_builder(&counting);
    if [kernel::BYTES, kernel::LANES].contains(&kernel) {
        launch.arg(&buffers.bytes)
    } else {
        launch.arg(&buffers.image)
    };
    launch.arg(&count).arg(&mut buffers.counts);
    // SAFETY: the kernels read `count` pixels, each an `i32` or a byte as they declare, of an array that an allocation
    // begins with, and add to the counter of each; the workload refuses pixels that are no gray level, and has a
    // counter for each level. `global` needs a thread for each pixel, and `per_block` and `per_warp` a block for each
    // CHUNK of them, which their stages launch.
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
        count(gpu, workload, buffers, kernel::GLOBAL, workload.pixels().div_ceil(kernel::THREADS), kernel::THREADS)
    });

/// Counters in shared memory.
pub const PER_BLOCK: Stage<Histogram> =
    Stage::launches("per-block", "each block counts in shared memory, and adds its counts once", |gpu, workload, buffers| {
        count(gpu, workload, buffers, kernel::PER_BLOCK, workload.pixels().div_ceil(kernel::CHUNK), kernel::THREADS)
    });

/// Counters for each warp.
pub const PER_WARP: Stage<Histogram> =
    Stage::launches("per-warp", "each warp has counters of its own", |gpu, workload, buffers| {
        count(gpu, workload, buffers, kernel::PER_WARP, workload.pixels().div_ceil(kernel::CHUNK), kernel::THREADS)
    });

/// Counts with a block per multiprocessor. Small images have fewer.
fn count_in_one_wave(gpu: &Gpu, workload: &Histogram, buffers: &mut Buffers, kernel: Kernel) -> Result<()> {
    let blocks = multiprocessors(gpu)?.min(workload.pixels().div_ceil(kernel::CHUNK));
    count(gpu, workload, buffers, kernel, blocks, kernel::WIDE_THREADS)
}

/// Returns the least bytes where a pixel is a byte.
fn of_bytes(workload: &Histogram) -> u64 {
    u64::from(workload.pixels()) + 4 * LEVELS as u64
}

/// Loads of 16 bytes, and one block per multiprocessor.
pub const WIDE: Stage<Histogram> =
    Stage::launches("wide", "one block per multiprocessor, with loads of 16 bytes", |gpu, workload, buffers| {
        count_in_one_wave(gpu, workload, buffers, kernel::WIDE)
    });

/// The image as bytes.
pub const BYTES: Stage<Histogram> =
    Stage::launches("bytes", "the same, with one byte per pixel in memory", |gpu, workload, buffers| {
        count_in_one_wave(gpu, workload, buffers, kernel::BYTES)
    })
    .with_least_bytes(of_bytes);

/// A column of counters for each lane.
pub const LANES: Stage<Histogram> =
    Stage::launches("lanes", "bytes, with counters for each lane, in a bank of its own", |gpu, workload, buffers| {
        count_in_one_wave(gpu, workload, buffers, kernel::LANES)
    })
    .with_least_bytes(of_bytes);
