//! Chapter 03: the same multiply-adds with ever fewer instructions around them, until little is left but multiply-adds.
//!
//! # What we compute
//!
//! What chapters 01 and 02 compute, on the same inputs: `output[i] = sum over j < taps of signal[i + j] * filter[j]`.
//!
//! # The stages
//!
//! They stand in the order of the table, each with one idea more than the one before. Up to [`WIDE_UNROLL`] they are those of the
//! tutorial of 2008: a thread for each output, and the inner loop unrolled. Behind it the threads have runs of neighbouring outputs, whose
//! windows overlap, and keep what they share in registers. The kernels are in `kernels/cuda/03-unroll.cu`.
//!
//! # Layout
//!
//! - [`slices`]: into how many slices the filter is cut for a GPU.
//! - [`runs`]: launches of the kernels whose threads have runs of outputs.
//! - [`tensor`]: the convolution as a product of matrices, for tensor cores.
//! - [`fft`]: the rival, another algorithm.

pub mod fft;
pub mod runs;
pub mod slices;
pub mod tensor;

use common::Chapter;
use common::Result;
use common::gpu::Gpu;
use common::report::{Row, row};
use common::stage::Stage;
use common::units::{factor, percent, significant};
use common::workload::Convolution;
use common::workload::convolution::Buffers;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::unroll::{BLOCK, RUN};
use runs::{ConstantFilter, SplitFilter};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Convolution> = Chapter {
    name: "03-unroll",
    about: "convolution unrolled, then held in registers",
    sources: &[&kernels::unroll::SOURCE, &kernels::unroll::tensor::SOURCE, &kernels::unroll::fft::SOURCE],
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
    ],
    mistakes: &[],
    experiments: &[],
    choice: None,
    lesson,
};

/// Where chapter 02 ended: both operands in shared memory. Each multiply-add has two loads beside it, and the instructions of a loop.
pub const SHARED: Stage<Convolution> =
    Stage::launches("shared", "a tile of signal and filter in shared memory, one multiply-add per turn", |gpu, conv, buffers| {
        launch(kernels::unroll::SHARED, gpu, conv, buffers)
    });

/// Of the loop's instructions, a quarter is left; the filter comes in vectors of four, a quarter of its loads.
pub const UNROLL_4: Stage<Convolution> =
    Stage::launches("unroll-4", "four multiply-adds per turn of the loop", |gpu, conv, buffers| {
        launch(kernels::unroll::UNROLL_4, gpu, conv, buffers)
    });

/// An eighth.
pub const UNROLL_8: Stage<Convolution> =
    Stage::launches("unroll-8", "eight", |gpu, conv, buffers| launch(kernels::unroll::UNROLL_8, gpu, conv, buffers));

/// A sixteenth of very little.
pub const UNROLL_16: Stage<Convolution> =
    Stage::launches("unroll-16", "sixteen", |gpu, conv, buffers| launch(kernels::unroll::UNROLL_16, gpu, conv, buffers));

/// The tutorial's last stage: larger tiles, unrolled.
pub const WIDE_UNROLL: Stage<Convolution> =
    Stage::launches("wide-unroll", "sixteen, and tiles of four times as many taps", |gpu, conv, buffers| {
        launch(kernels::unroll::WIDE_UNROLL, gpu, conv, buffers)
    });

/// A sample that is loaded once serves sixteen outputs.
pub const REGISTER_TILE: Stage<Convolution> = Stage::launches(
    "register-tile",
    "sixteen neighbouring outputs per thread: their samples stay in registers",
    runs::register_tile,
);

/// A sixteenth of the threads is too few for a GPU. There is more to divide than outputs.
pub const SPLIT_FILTER: Stage<Convolution> =
    Stage::prepared("split-filter", "blocks for slices of the filter, so that there are enough for the whole chip", |gpu, conv| {
        Ok(Box::new(SplitFilter::prepare(gpu, conv)?))
    });

/// A multiply-add has three operands, and to read all of them from the lanes' own registers takes longer than the arithmetic.
pub const CONSTANT_FILTER: Stage<Convolution> =
    Stage::prepared("constant-filter", "the filter from constant memory, in registers of the whole warp", |gpu, conv| {
        Ok(Box::new(ConstantFilter::prepare(gpu, conv, kernels::unroll::CONSTANT_FILTER, RUN)?))
    });

/// Fewer loads again, and no two lanes that wait for one bank.
pub const LONG_RUN: Stage<Convolution> = Stage::prepared(
    "long-run",
    "28 outputs per thread: fewer loads, and an odd number of vectors against bank conflicts",
    |gpu, conv| Ok(Box::new(ConstantFilter::prepare(gpu, conv, kernels::unroll::LONG, kernels::unroll::LONG_RUN)?)),
);

// ANCHOR: launch
/// Launches one of the kernels with a thread for each output: they differ in what the compiler made of their loop.
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

    if let (Some(shared), Some(unrolled)) = (counted("shared"), counted("unroll-8")) {
        lines.push(format!(
            "unroll-8 executes {} PTX instructions per multiply-add where shared has {}: the loop around them is what is saved",
            significant(instructions(unrolled)),
            significant(instructions(shared)),
        ));
    }
    if let (Some(unrolled), Some(tile)) = (counted("unroll-16"), counted("register-tile")) {
        lines.push(format!(
            "a warp of unroll-16 passes through shared memory {} times per multiply-add, and one of register-tile {} times: what one \
             output has loaded, its neighbours use",
            significant(wavefronts(unrolled)),
            significant(wavefronts(tile)),
        ));
    }
    if let (Some(constant), Some(long)) = (counted("constant-filter"), counted("long-run")) {
        lines.push(format!(
            "{} of constant-filter's passes through shared memory are bank conflicts, and {} of long-run's",
            percent(conflicts(constant)),
            percent(conflicts(long)),
        ));
    }
    if let (Some(shared), Some(four), Some(sixteen)) = (timed("shared"), timed("unroll-4"), timed("unroll-16")) {
        lines.push(format!(
            "four steps per turn make it {} as fast as one, sixteen only {} as fast as four: the loop was no longer what it waited for",
            factor(shared / four),
            factor(four / sixteen),
        ));
    }
    if let (Some(sixteen), Some(long)) = (timed("unroll-16"), timed("long-run")) {
        lines.push(format!(
            "long-run is {} as fast as unroll-16 with the same multiply-adds: it fetches less for each of them",
            factor(sixteen / long),
        ));
    }
    if let (Some(shared), Some(tensor)) = (counted("shared"), counted("tensor-tf32x3")) {
        lines.push(format!(
            "tensor-tf32x3 has {} multiply-adds of tensor cores for one of shared: three products, of factors in two parts, and the \
             zeros beside the band",
            significant(tensor.tensor_multiply_adds as f64 / shared.f32_fma.max(1) as f64),
        ));
    }
    if let (Some(long), Some(tensor)) = (timed("long-run"), timed("tensor-f16x3")) {
        lines.push(format!(
            "tensor-f16x3 is {} as fast as long-run, with three products for each of its own",
            factor(long / tensor)
        ));
    }
    let sums = ["register-tile", "split-filter", "constant-filter", "long-run", "tensor-tf32x3", "tensor-f16x3"];
    let fastest = sums.into_iter().filter_map(|name| Some((name, timed(name)?))).min_by(|one, other| one.1.total_cmp(&other.1));
    if let (Some((name, sum)), Some(fft)) = (fastest, timed("fft")) {
        lines.push(if fft < sum {
            format!(
                "fft is {} as fast as {name}: its work hardly grows with the filter, and this one is long enough",
                factor(sum / fft)
            )
        } else {
            format!("{name} is {} as fast as fft: a filter this short is summed sooner than it is transformed", factor(fft / sum))
        });
    }
    lines
}

/// PTX instructions per multiply-add.
fn instructions(counters: &simt::Counters) -> f64 {
    counters.ptx_thread_instructions as f64 / counters.f32_fma.max(1) as f64
}

/// Passes of a warp through the banks of shared memory, per multiply-add of the warp.
fn wavefronts(counters: &simt::Counters) -> f64 {
    let passes = counters.shared_load_wavefronts + counters.shared_store_wavefronts;
    32.0 * passes as f64 / counters.f32_fma.max(1) as f64
}

/// The share of passes through shared memory that are there because lanes wanted different words of one bank.
fn conflicts(counters: &simt::Counters) -> f64 {
    let passes = counters.shared_load_wavefronts + counters.shared_store_wavefronts;
    counters.bank_conflicts() as f64 / passes.max(1) as f64
}
