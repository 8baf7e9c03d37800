//! Chapter 01: a convolution, written for a CPU and then for a GPU, and why the obvious way to divide the work is the slow one.
//!
//! # What we compute
//!
//! `output[i] = sum over j < taps of signal[i + j] * filter[j]`
//!
//! Every output looks at a window of the signal and at the whole filter. Neighbouring windows overlap in all samples but two,
//! so there are `outputs * taps` multiply-adds on data that fit in a thousandth of that: 9.7 thousand million on 2.6 MB at
//! the size of the original tutorial. [`common::workload::convolution`] has the inputs and the oracle.
//!
//! # The stages
//!
//! The functions below stand in the order of the table, each beside the launch that it makes. The kernels are in
//! `kernels/cuda/01-conv-naive.cu`.

use common::Chapter;
use common::gpu::Gpu;
use common::guard::poison;
use common::pinned::pinned;
use common::report::{Row, row};
use common::stage::{Copies, Stage};
use common::units::{factor, milliseconds, percent, significant};
use common::workload::Convolution;
use common::workload::convolution::Buffers;
use common::{Error, Result};
use cudarc::driver::{LaunchConfig, PinnedHostSlice, PushKernelArg};
use rayon::prelude::*;

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Convolution> = Chapter {
    name: "01-conv-naive",
    about: "convolution on a GPU, one thread per output",
    sources: &[&kernels::conv_naive::SOURCE],
    stages: &[CPU, CPU_PARALLEL, NAIVE_STRIDED, NAIVE, COPY_ONLY, COPY_ONLY_PINNED],
    mistakes: &[],
    experiments: &[],
    choice: None,
    lesson,
};

/// Threads per block. A multiple of the warp's 32, and small enough that every GPU can hold several blocks at once; the kernels
/// of this chapter share nothing within a block, so that nothing else depends on it.
pub const THREADS: u32 = 256;

// ANCHOR: cpu
/// The formula as a loop: one sum after the other, one multiply-add after the other. Each addition waits for the one before,
/// so that the CPU spends most of its time waiting for itself.
pub const CPU: Stage<Convolution> = Stage::cpu("cpu", "the formula as a plain loop on one core", cpu);

fn cpu(conv: &Convolution, output: &mut [f32]) {
    for (window, output) in conv.signal().windows(conv.filter().len()).zip(output) {
        let mut sum = 0.0;
        for (sample, weight) in window.iter().zip(conv.filter()) {
            sum += sample * weight;
        }
        *output = sum;
    }
}
// ANCHOR_END: cpu

// ANCHOR: cpu-parallel
/// What a CPU deserves to be compared with: all cores, and on each of them a run of neighbouring outputs side by side. Their sums
/// do not depend on each other, so that the compiler puts them into vector registers.
pub const CPU_PARALLEL: Stage<Convolution> =
    Stage::cpu("cpu-parallel", "all cores, neighbouring outputs in vector registers", cpu_parallel);

/// Outputs of one run: their sums fill vector registers enough to keep the adders busy, and leave some for the samples.
const RUN: usize = 32;

fn cpu_parallel(conv: &Convolution, output: &mut [f32]) {
    output.par_chunks_mut(RUN).enumerate().for_each(|(run, output)| {
        let samples = &conv.signal()[run * RUN..];
        if output.len() < RUN {
            // The last run has no neighbours to its right; its outputs are summed one by one.
            for (window, output) in samples.windows(conv.filter().len()).zip(output) {
                *output = window.iter().zip(conv.filter()).map(|(sample, weight)| sample * weight).sum();
            }
            return;
        }
        let mut sums = [0.0; RUN];
        for (window, weight) in samples.windows(RUN).zip(conv.filter()) {
            // As an array its length is known, and the sums stay in registers.
            let Some(window) = window.first_chunk::<RUN>() else { return };
            for (sum, sample) in sums.iter_mut().zip(window) {
                *sum += sample * weight;
            }
        }
        output.copy_from_slice(&sums);
    });
}
// ANCHOR_END: cpu-parallel

// ANCHOR: naive-strided
/// The same division of labour on a GPU: each thread takes a run of neighbouring outputs. The 32 threads of a warp then read, in
/// each step, 32 samples that lie apart, and memory moves a whole sector for each of them.
pub const NAIVE_STRIDED: Stage<Convolution> = Stage::launches(
    "naive-strided",
    "each thread a run of neighbouring outputs: a warp reads samples that lie apart",
    naive_strided,
);

fn naive_strided(gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(kernels::conv_naive::NAIVE_STRIDED)?;
    let (outputs, taps) = (conv.outputs(), conv.taps());
    let threads = outputs.div_ceil(kernels::conv_naive::RUN);
    let config = LaunchConfig { grid_dim: (threads.div_ceil(THREADS), 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut output);
    // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values and writes `outputs` results; the workload made
    // the buffers with those lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}
// ANCHOR_END: naive-strided

// ANCHOR: naive
/// One thread per output, so that neighbouring threads read neighbouring samples: what a warp reads in one step lies together in
/// four or five sectors.
pub const NAIVE: Stage<Convolution> = Stage::launches("naive", "one thread per output: a warp reads neighbouring samples", naive);

fn naive(gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(kernels::conv_naive::NAIVE)?;
    let (outputs, taps) = (conv.outputs(), conv.taps());
    let config = LaunchConfig { grid_dim: (outputs.div_ceil(THREADS), 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut output);
    // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values and writes `outputs` results; the workload made
    // the buffers with those lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}
// ANCHOR_END: naive

// ANCHOR: copy-only
/// Nothing but the way there and back, which every program with its data on the host has to go: inputs to the device, outputs to
/// the host, from and to ordinary memory. The system may move or swap such memory at any time, so the driver first copies it to
/// a place of its own.
pub const COPY_ONLY: Stage<Convolution> =
    Stage::copies("copy-only", "no computation: inputs to the device and outputs back, ordinary host memory", |_, conv| {
        Ok(Box::new(Pageable {
            signal: conv.signal().to_vec(),
            filter: conv.filter().to_vec(),
            output: poison(conv.outputs() as usize),
        }))
    });

struct Pageable {
    signal: Vec<f32>,
    filter: Vec<f32>,
    output: Vec<f32>,
}

impl Copies<Convolution> for Pageable {
    fn enqueue(&mut self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        gpu.stream.memcpy_htod(&self.signal, &mut buffers.signal)?;
        gpu.stream.memcpy_htod(&self.filter, &mut buffers.filter)?;
        gpu.stream.memcpy_dtoh(&buffers.output.view(), &mut self.output)?;
        Ok(())
    }

    fn arrived(&self) -> Result<Vec<f32>> {
        Ok(self.output.clone())
    }
}
// ANCHOR_END: copy-only

// ANCHOR: copy-only-pinned
/// The same from and to memory that the system has promised to leave in place: the device fetches it by itself.
pub const COPY_ONLY_PINNED: Stage<Convolution> =
    Stage::copies("copy-only-pinned", "the same copies, pinned host memory", |gpu, conv| {
        Ok(Box::new(Pinned {
            signal: pinned(gpu, conv.signal())?,
            filter: pinned(gpu, conv.filter())?,
            output: pinned(gpu, &poison(conv.outputs() as usize))?,
        }))
    });

struct Pinned {
    signal: PinnedHostSlice<f32>,
    filter: PinnedHostSlice<f32>,
    output: PinnedHostSlice<f32>,
}

impl Copies<Convolution> for Pinned {
    fn enqueue(&mut self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        gpu.stream.memcpy_htod(&self.signal, &mut buffers.signal)?;
        gpu.stream.memcpy_htod(&self.filter, &mut buffers.filter)?;
        gpu.stream.memcpy_dtoh(&buffers.output.view(), &mut self.output)?;
        Ok(())
    }

    fn arrived(&self) -> Result<Vec<f32>> {
        Ok(self.output.as_slice().map_err(Error::from)?.to_vec())
    }
}
// ANCHOR_END: copy-only-pinned

/// What the table shows, in words and from its own numbers.
fn lesson(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = |name| row(rows, name).and_then(Row::counters);
    let timed = |name| row(rows, name).and_then(Row::median_ms);

    if let (Some(strided), Some(naive)) = (counted("naive-strided"), counted("naive")) {
        let sectors = |counters: &simt::Counters| counters.global_load_sectors as f64 / counters.global_load_requests.max(1) as f64;
        let (strided, naive) = (sectors(strided), sectors(naive));
        lines.push(format!(
            "naive-strided asks memory for {} sectors of 32 bytes per load and naive for {}, {} less for the same samples: \
             neighbouring threads should read neighbouring addresses",
            significant(strided),
            significant(naive),
            factor(strided / naive),
        ));
    }
    if let (Some(strided), Some(naive)) = (timed("naive-strided"), timed("naive")) {
        lines.push(format!(
            "naive is {} as fast as naive-strided with the same arithmetic: only the order in which threads touch memory differs",
            factor(strided / naive),
        ));
    }
    if let (Some(naive), Some(copy)) = (timed("naive"), timed("copy-only")) {
        let pinned = timed("copy-only-pinned").map(|pinned| format!(", {} with pinned memory", milliseconds(pinned)));
        lines.push(format!(
            "bringing the data there and back takes {}{}: {} of naive's time comes on top when the data live on the host",
            milliseconds(copy),
            pinned.unwrap_or_default(),
            percent(copy / naive),
        ));
    }
    lines
}
