//! Chapter 01: a convolution, written for a CPU and then for a GPU, and why the obvious way to divide the work is the slow one.
//!
//! # What we compute
//!
//! `output[i] = sum over j < taps of signal[i + j] * filter[j]`
//!
//! Every output reads a window of the signal and the whole filter. Neighboring windows overlap in all samples but two, so the
//! `outputs * taps` multiply-adds reuse the same data again and again: at the size of the original tutorial, 9.7 billion multiply-adds on
//! 2.6 MB. [`run::workload::convolution`] has the inputs and the oracle.
//!
//! # The stages
//!
//! The stages follow in the order of the table, each with the launch that it makes. The kernels are in
//! `kernels/cuda/01-conv-naive.cu`.

use std::sync::Arc;

use baselines::convolution;
use cudarc::driver::{CudaSlice, CudaStream, HostSlice, LaunchConfig, PinnedHostSlice, PushKernelArg};
use oracles::output::poison;
use run::pinned::pinned;
use run::workload::convolution::{Buffers, Convolution};
use run::{Chapter, Comparison, Gpu, Measure, Prepared, Result, Stage};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Convolution> = Chapter {
    name: "01-conv-naive",
    about: "convolution on a GPU, one thread per output",
    sources: &[&kernels::conv_naive::SOURCE],
    stages: &[CPU, CPU_PARALLEL, NAIVE_STRIDED, NAIVE, COPY_ONLY, COPY_ONLY_PINNED, ROUND_TRIP, OVERLAPPED],
    mistakes: &[],
    variants: &[],
    experiments: &[],
    choice: None,
    lesson: LESSON,
};

/// The lesson of the table.
const LESSON: &[Comparison<Convolution>] = &[
    Comparison::counts(NAIVE_STRIDED, NAIVE, Measure::SectorsPerLoad)
        .because("Both load the same samples, but here neighboring threads load neighboring addresses."),
    Comparison::times(NAIVE_STRIDED, NAIVE)
        .because("The arithmetic is the same; only the order in which threads touch memory differs."),
    Comparison::times(NAIVE, COPY_ONLY)
        .because("A program whose data is on the host pays for these copies on top of the kernel.")
        .otherwise("At this size, copying the data takes longer than computing with it."),
    Comparison::times(COPY_ONLY, COPY_ONLY_PINNED).because("The device reads pinned memory without the driver's help."),
    Comparison::times(ROUND_TRIP, OVERLAPPED)
        .because("One piece is copied while another is computed.")
        .otherwise("At this size, the copies are too short for their overlap to be worth the additional launches."),
];

/// Threads per block: a multiple of the 32 lanes of a warp, and few enough that every GPU can hold several blocks at
/// once. The threads of a block share nothing in this chapter, so nothing else depends on the number.
pub const THREADS: u32 = 256;

/// The formula as a loop: one output after another, one multiply-add after another. Each addition waits for the
/// previous one, so the CPU spends most of its time waiting.
pub const CPU: Stage<Convolution> = Stage::cpu("cpu", "the formula as a plain loop on one core", convolution::plain);

/// A fair comparison for a GPU: all cores, each with a run of neighboring outputs at a time. Their sums do not depend
/// on each other, so the compiler keeps them in vector registers.
pub const CPU_PARALLEL: Stage<Convolution> =
    Stage::cpu("cpu-parallel", "all cores, neighboring outputs in vector registers", convolution::parallel);

/// The same division of the work on a GPU: each thread computes a run of neighboring outputs. In each step, the 32
/// threads of a warp then read 32 samples that are far apart, and memory moves a whole sector for each of them.
pub const NAIVE_STRIDED: Stage<Convolution> = Stage::launches(
    "naive-strided",
    "each thread computes a run of neighboring outputs, so a warp reads samples that are far apart",
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
    // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values, and writes `outputs` results.
    // The workload made the buffers with those lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}

// ANCHOR: naive
/// One thread per output, so that neighboring threads read neighboring samples: a warp's samples are side by side, in
/// four or five sectors.
pub const NAIVE: Stage<Convolution> = Stage::launches("naive", "one thread per output, so a warp reads neighboring samples", naive);

fn naive(gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(kernels::conv_naive::NAIVE)?;
    let (outputs, taps) = (conv.outputs(), conv.taps());
    let config = LaunchConfig { grid_dim: (outputs.div_ceil(THREADS), 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut output);
    // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values, and writes `outputs` results.
    // The workload made the buffers with those lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}
// ANCHOR_END: naive

/// No computation, only the copies that every program with host data needs: the inputs to the device, the outputs back,
/// in ordinary host memory. The system may move or swap such memory at any time, so the driver first copies it to
/// memory of its own.
pub const COPY_ONLY: Stage<Convolution> =
    Stage::copies("copy-only", "no computation: inputs to the device and outputs back, ordinary host memory", |_, conv| {
        Ok(Box::new(HostMemory {
            signal: conv.signal().to_vec(),
            filter: conv.filter().to_vec(),
            output: poison(conv.outputs() as usize),
            values: |output| Ok(output.clone()),
        }))
    });

/// The same copies in pinned memory, which the system will not move: the device reads and writes it by itself.
pub const COPY_ONLY_PINNED: Stage<Convolution> =
    Stage::copies("copy-only-pinned", "the same copies, pinned host memory", |gpu, conv| {
        Ok(Box::new(HostMemory::<PinnedHostSlice<f32>> {
            signal: pinned(gpu, conv.signal())?,
            filter: pinned(gpu, conv.filter())?,
            output: pinned(gpu, &poison(conv.outputs() as usize))?,
            values: |output| Ok(output.as_slice()?.to_vec()),
        }))
    });

/// The host's side of the copies, in memory of one kind.
struct HostMemory<M> {
    signal: M,
    filter: M,
    output: M,
    /// Reads such memory.
    values: fn(&M) -> Result<Vec<f32>>,
}

impl<M: HostSlice<f32>> Prepared<Convolution> for HostMemory<M> {
    fn enqueue(&mut self, gpu: &Gpu, _: &Convolution, buffers: &mut Buffers) -> Result<()> {
        gpu.stream.memcpy_htod(&self.signal, &mut buffers.signal)?;
        gpu.stream.memcpy_htod(&self.filter, &mut buffers.filter)?;
        gpu.stream.memcpy_dtoh(&buffers.output.view(), &mut self.output)?;
        Ok(())
    }

    fn arrived(&self) -> Result<Option<Vec<f32>>> {
        (self.values)(&self.output).map(Some)
    }
}

/// The cost for a program whose data is on the host: samples to the device, then the kernel, then outputs back.
pub const ROUND_TRIP: Stage<Convolution> =
    Stage::prepared("round-trip", "samples to the device, naive, outputs back, one after the other", |gpu, conv| {
        Ok(Box::new(Pieces::new(gpu, conv, 1)?))
    });

/// The same in pieces, each on a stream of its own: the device copies one piece in, computes another and copies a third
/// back at the same time.
pub const OVERLAPPED: Stage<Convolution> =
    Stage::prepared("overlapped", "the same in eight pieces, each on a stream of its own", |gpu, conv| {
        Ok(Box::new(Pieces::new(gpu, conv, 8)?))
    });

/// A part of the outputs, with its memory on both sides.
struct Piece {
    stream: Arc<CudaStream>,
    signal: PinnedHostSlice<f32>,
    signal_on_device: CudaSlice<f32>,
    output_on_device: CudaSlice<f32>,
    output: PinnedHostSlice<f32>,
}

/// The pieces of a convolution, in order.
struct Pieces(Vec<Piece>);

impl Pieces {
    fn new(gpu: &Gpu, conv: &Convolution, count: u32) -> Result<Self> {
        let (outputs, halo) = (conv.outputs() as usize, conv.taps() as usize - 1);
        let length = outputs.div_ceil(count as usize);
        let piece = |first: usize| {
            let outputs = length.min(outputs - first);
            // The windows of the last outputs reach into the next piece.
            let samples = &conv.signal()[first..first + outputs + halo];
            let stream = gpu.context.new_stream()?;
            Ok(Piece {
                signal: pinned(gpu, samples)?,
                signal_on_device: stream.alloc_zeros(samples.len())?,
                output_on_device: stream.alloc_zeros(outputs)?,
                output: pinned(gpu, &poison(outputs))?,
                stream,
            })
        };
        Ok(Self((0..outputs).step_by(length).map(piece).collect::<Result<_>>()?))
    }
}

impl Prepared<Convolution> for Pieces {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(kernels::conv_naive::NAIVE)?;
        let taps = conv.taps();
        // ANCHOR: overlapped-enqueue
        for Piece { stream, signal, signal_on_device, output_on_device, output } in &mut self.0 {
            let outputs = output.len() as u32;
            let config =
                LaunchConfig { grid_dim: (outputs.div_ceil(THREADS), 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
            // Begin after what was enqueued before.
            stream.join(&gpu.stream)?;
            stream.memcpy_htod(signal, signal_on_device)?;
            let mut launch = stream.launch_builder(&kernel);
            launch.arg(&*signal_on_device).arg(&buffers.filter).arg(&outputs).arg(&taps).arg(&mut *output_on_device);
            // SAFETY: the kernel reads `outputs + taps - 1` samples and `taps` filter values, and writes `outputs`
            // results. `Pieces::new` made the buffers of the piece with those lengths.
            unsafe { launch.launch(config) }?;
            stream.memcpy_dtoh(&*output_on_device, output)?;
        }
        // Whatever is enqueued next, and the clock that times all this, waits for every piece.
        for piece in &self.0 {
            gpu.stream.join(&piece.stream)?;
        }
        // ANCHOR_END: overlapped-enqueue
        Ok(())
    }

    fn arrived(&self) -> Result<Option<Vec<f32>>> {
        let mut outputs = Vec::new();
        for piece in &self.0 {
            outputs.extend_from_slice(piece.output.as_slice()?);
        }
        Ok(Some(outputs))
    }
}
