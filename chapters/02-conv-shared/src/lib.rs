//! Chapter 02: the same convolution with its operands in shared memory, and what happens when a barrier is missing.
//!
//! # What we compute
//!
//! What chapter 01 computes, on the same inputs: `output[i] = sum over j < taps of signal[i + j] * filter[j]`. There, each
//! multiply-add fetched its sample and its filter value from global memory. Here, the threads of a block first bring a tile of the
//! filter and the samples under it into shared memory, together, and then each takes from there what it needs.
//!
//! # The stages
//!
//! [`conv_naive::NAIVE`] stands on top, so that there is something to compare with. The others differ in their kernel alone, which
//! are in `kernels/cuda/02-conv-shared.cu`. [`SHARED_MISSING_BARRIER`] has a race, as the tutorial of 2008 had it, and runs only when
//! it is named.

use common::Chapter;
use common::Result;
use common::gpu::Gpu;
use common::report::{Row, row};
use common::stage::Stage;
use common::units::{count, factor, percent};
use common::workload::Convolution;
use common::workload::convolution::Buffers;
use conv_naive::NAIVE;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::conv_shared::BLOCK;

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Convolution> = Chapter {
    name: "02-conv-shared",
    about: "convolution with tiles of signal and filter in shared memory",
    sources: &[&kernels::conv_naive::SOURCE, &kernels::conv_shared::SOURCE],
    stages: &[NAIVE, SHARED, SHARED_WIDE],
    mistakes: &[SHARED_MISSING_BARRIER],
    experiments: &[],
    choice: None,
    lesson,
};

/// A block fetches each value of a tile once, in place of once per thread.
pub const SHARED: Stage<Convolution> =
    Stage::launches("shared", "a tile of signal and filter in shared memory: fetched once per block", |gpu, conv, buffers| {
        launch(kernels::conv_shared::SHARED, gpu, conv, buffers)
    });

/// Neighbouring tiles of a block overlap by a block's length of samples, which are copied twice. Larger tiles are fewer, and copy less.
pub const SHARED_WIDE: Stage<Convolution> =
    Stage::launches("shared-wide", "the same with tiles of four times as many taps: less is copied twice", |gpu, conv, buffers| {
        launch(kernels::conv_shared::SHARED_WIDE, gpu, conv, buffers)
    });

/// What the tutorial of 2008 did: it waits until a tile is written, and not until it has been read.
pub const SHARED_MISSING_BARRIER: Stage<Convolution> =
    Stage::launches("shared-missing-barrier", "no barrier between using a tile and loading the next", |gpu, conv, buffers| {
        launch(kernels::conv_shared::SHARED_MISSING_BARRIER, gpu, conv, buffers)
    });

// ANCHOR: launch
/// Launches one of the kernels of this chapter, which all take the same grid: a thread for each output, in blocks of the size that
/// they were compiled for, because it is also the size of their arrays in shared memory.
fn launch(kernel: Kernel, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let (outputs, taps) = (conv.outputs(), conv.taps());
    let config = LaunchConfig { grid_dim: (outputs.div_ceil(BLOCK), 1, 1), block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut output);
    // SAFETY: the kernels read `outputs + taps - 1` samples and `taps` filter values and write `outputs` results; the workload made
    // the buffers with those lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}
// ANCHOR_END: launch

/// What the table shows, in words and from its own numbers.
fn lesson(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = |name| row(rows, name).and_then(Row::counters);
    let timed = |name| row(rows, name).and_then(Row::median_ms);

    if let (Some(naive), Some(shared)) = (counted("naive"), counted("shared")) {
        lines.push(format!(
            "naive loads {} sectors of global memory and shared {}, {} less: a block fetches once what its threads share",
            count(naive.global_load_sectors),
            count(shared.global_load_sectors),
            factor(naive.global_load_sectors as f64 / shared.global_load_sectors as f64),
        ));
        // Where there is no L1 cache, naive's loads pass through nothing that shared memory has as well.
        if naive.global_load_wavefronts > 0 {
            lines.push(format!(
                "but every multiply-add still fetches two operands, and L1 and shared memory are the same banks: warps pass through \
                 them {} times in naive and {} times in shared",
                count(passes(naive)),
                count(passes(shared)),
            ));
        }
    }
    if let (Some(shared), Some(wide)) = (counted("shared"), counted("shared-wide")) {
        lines.push(format!(
            "shared-wide loads {} less than shared and still makes {} of its passes: copying was a small part of the work",
            factor(shared.global_load_sectors as f64 / wide.global_load_sectors as f64),
            percent(passes(wide) as f64 / passes(shared) as f64),
        ));
    }
    if let (Some(naive), Some(shared)) = (timed("naive"), timed("shared")) {
        lines.push(format!("shared is {} as fast as naive", factor(naive / shared)));
    }
    if let (Some(shared), Some(wide)) = (timed("shared"), timed("shared-wide")) {
        lines.push(format!("shared-wide takes {} of shared's time", percent(wide / shared)));
    }
    lines
}

/// Passes of warps through the banks of L1 and shared memory, loads and stores together.
fn passes(counters: &simt::Counters) -> u64 {
    counters.global_load_wavefronts + counters.shared_load_wavefronts + counters.shared_store_wavefronts
}
