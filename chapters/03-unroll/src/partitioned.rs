//! The convolution by Fourier transforms of our own: the algorithm of [`fft`](crate::fft), in one or three launches instead of five.
//!
//! # Overlap-save, in parts
//!
//! A transform of [`POINTS`] points fits one block of threads: registers hold the points, and shared memory exchanges them. A filter of
//! [`MOST_TAPS_OF_ONE_PART`] taps or fewer fits such a transform, and leaves enough of it for outputs. Then one kernel does everything: it
//! transforms the filter and a block of the signal, multiplies, and transforms back.
//!
//! A longer filter is cut into parts of [`PART`] taps (*uniformly partitioned* overlap-save). Block `m` of the outputs is the sum, over the
//! parts `p`, of block `m + p` of the signal convolved with part `p` of the filter. The sum is taken over the spectra, so each block of
//! the signal is transformed once, and each block of the outputs is transformed back once.
//!
//! # Two blocks in one transform
//!
//! The points of a transform are complex, and samples are real. The convolution with a real filter treats the real and the imaginary
//! parts alike and keeps them apart. So the first half of the signal's blocks goes into the real parts and the second half into the
//! imaginary parts: such a pair costs one transform.
//!
//! # How exact it is
//!
//! As exact as [`fft`](crate::fft), for the same reasons: `u log2(n) * max |x| * M` beyond the workload's tolerance, with the largest magnitude
//! `M` of the filter's spectrum. Several parts of the filter have smaller spectra than the whole, and their errors are independent.

use std::f64::consts::TAU;

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::unroll::partitioned::{CONVOLVE, MULTIPLY_PARTS, PAIRS, PART, POINTS, RADIX, THREADS, TRANSFORM, TRANSFORM_BACK};
use run::workload::convolution::{Buffers, Convolution};
use run::{Gpu, Prepared, Result, Stage, Unmet, planner};

use crate::fft::spread_over_the_ring;

/// Transforms in shared memory, with the products between them.
pub const FFT_PARTITIONED: Stage<Convolution> = Stage::prepared(
    "fft-partitioned",
    "transforms of our own, each in one block of threads, that cut, multiply, and collect as well",
    prepare,
)
.requires(room_for_spectra)
.with_allowance(|conv| spread_over_the_ring(conv, POINTS));

/// A longer filter leaves a transform too few outputs: it is cut into parts.
pub const MOST_TAPS_OF_ONE_PART: u32 = 3072;

/// The division of filter and signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Parts of the filter.
    pub parts: u32,
    /// Outputs of a block, and samples from the start of one block to the next.
    pub hop: u32,
    /// Pairs of blocks: block `i` and block `i + pairs` share a transform.
    pub pairs: u32,
}

impl Cut {
    /// Cuts a convolution into blocks that stay within a ring of [`POINTS`].
    pub fn of(outputs: u32, taps: u32) -> Self {
        if taps > MOST_TAPS_OF_ONE_PART {
            return Self { parts: taps.div_ceil(PART), hop: PART, pairs: outputs.div_ceil(2 * PART) };
        }
        let pairs = outputs.div_ceil(2 * (POINTS - taps + 1));
        // Spread the outputs evenly over the blocks, so that the last one is not nearly empty.
        Self { parts: 1, hop: outputs.div_ceil(2 * pairs), pairs }
    }

    /// Returns the number of spectra of filter parts and signal pairs. The last pair of outputs needs pairs of the signal after its own:
    /// one for each further part.
    fn transforms(&self) -> u32 {
        self.parts + self.pairs + self.parts - 1
    }

    /// Returns the samples from a pair's real to its imaginary parts.
    fn distance(&self) -> u32 {
        self.pairs * self.hop
    }
}

fn prepare(gpu: &Gpu, conv: &Convolution) -> Result<Box<dyn Prepared<Convolution>>> {
    let cut = Cut::of(conv.outputs(), conv.taps());
    Ok(if cut.parts == 1 { Box::new(OnePart::prepare(gpu, cut)?) } else { Box::new(Parts::prepare(gpu, cut)?) })
}

/// More spectra than this are not worth their memory.
const MOST_BYTES: u64 = 4 << 30;

fn room_for_spectra(_: &Gpu, conv: &Convolution) -> Result<Option<Unmet>> {
    let cut = Cut::of(conv.outputs(), conv.taps());
    let spectra = if cut.parts == 1 { 0 } else { cut.transforms() + cut.pairs };
    Ok(Unmet::limit("bytes for spectra", u64::from(spectra) * u64::from(POINTS) * 8, MOST_BYTES))
}

/// Returns the rotations between a transform's passes, as real and imaginary parts: for each of [`THREADS`] shares of a circle of
/// [`POINTS`], and then for each of [`RADIX`] shares of one of [`THREADS`], the share 1 and 2 times, 3 and 4 times, and 8 and 12 times.
pub fn turns() -> Vec<f32> {
    const TIMES: [[u32; 2]; 3] = [[1, 2], [3, 4], [8, 12]];
    let mut turns = Vec::new();
    for (points, shares) in [(POINTS, THREADS), (THREADS, RADIX)] {
        for pair in TIMES {
            for (share, times) in (0..shares).flat_map(|share| pair.map(|times| (share, times))) {
                // Clockwise, as a transform rotates.
                let (sine, cosine) = (-TAU * f64::from(share * times) / f64::from(points)).sin_cos();
                turns.extend([cosine as f32, sine as f32]);
            }
        }
    }
    turns
}

/// Returns a grid with one block of threads per transform.
fn transforms(count: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (count, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// A filter that fits one transform.
struct OnePart {
    cut: Cut,
    /// Blocks of threads: no more than are resident at once, because each of them transforms the filter.
    blocks: u32,
    turns: CudaSlice<f32>,
}

impl OnePart {
    /// Blocks of [`CONVOLVE`] on a multiprocessor, for which it is compiled.
    const RESIDENT: u32 = 2;

    fn prepare(gpu: &Gpu, cut: Cut) -> Result<Self> {
        let rounds = cut.pairs.div_ceil(Self::RESIDENT * planner::multiprocessors(gpu)?);
        Ok(Self { cut, blocks: cut.pairs.div_ceil(rounds), turns: gpu.stream.clone_htod(&turns())? })
    }
}

impl Prepared<Convolution> for OnePart {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(CONVOLVE)?;
        let (samples, taps, outputs) = (conv.signal().len() as u32, conv.taps(), conv.outputs());
        let Cut { hop, pairs, .. } = self.cut;
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&buffers.signal).arg(&samples).arg(&buffers.filter).arg(&taps).arg(&hop).arg(&pairs).arg(&self.turns);
        launch.arg(&outputs).arg(&mut output);
        // SAFETY: the kernel reads `samples` samples, `taps` filter values, and the rotations, and writes `outputs` results;
        // the workload and `turns` made the buffers with those lengths.
        unsafe { launch.launch(transforms(self.blocks)) }?;
        Ok(())
    }
}

/// A filter in several parts.
struct Parts {
    cut: Cut,
    turns: CudaSlice<f32>,
    /// Spectra of the parts of the filter and, after them, of the pairs of the signal.
    spectra: CudaSlice<f32>,
    /// Spectra of the pairs of the outputs.
    sums: CudaSlice<f32>,
}

impl Parts {
    fn prepare(gpu: &Gpu, cut: Cut) -> Result<Self> {
        let values = |spectra: u32| 2 * POINTS as usize * spectra as usize;
        // SAFETY: the launches write all spectra before they read them.
        let (spectra, sums) = unsafe { (gpu.stream.alloc(values(cut.transforms()))?, gpu.stream.alloc(values(cut.pairs))?) };
        Ok(Self { cut, turns: gpu.stream.clone_htod(&turns())?, spectra, sums })
    }
}

impl Prepared<Convolution> for Parts {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        self.transform(gpu, conv, buffers)?;
        self.multiply(gpu)?;
        self.transform_back(gpu, conv, buffers)
    }
}

impl Parts {
    /// Bins of a block of [`MULTIPLY_PARTS`], one per lane.
    const BINS: u32 = 32;
    /// The most warps of such a block.
    const MOST_GROUPS: u32 = 16;

    /// Transforms the parts of the filter and the pairs of the signal.
    fn transform(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &Buffers) -> Result<()> {
        let kernel = gpu.kernel(TRANSFORM)?;
        let (samples, taps, parts, distance) = (conv.signal().len() as u32, conv.taps(), self.cut.parts, self.cut.distance());
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&buffers.signal).arg(&samples).arg(&buffers.filter).arg(&taps).arg(&parts).arg(&distance);
        launch.arg(&self.turns).arg(&mut self.spectra);
        // SAFETY: the kernel reads `samples` samples, `taps` filter values, and the rotations, and writes a spectrum for each
        // block; the workload and `turns` made the buffers with those lengths, and `prepare` made `spectra` for that many blocks.
        unsafe { launch.launch(transforms(self.cut.transforms())) }?;
        Ok(())
    }

    /// Adds up the products of spectra, bin by bin.
    fn multiply(&mut self, gpu: &Gpu) -> Result<()> {
        let kernel = gpu.kernel(MULTIPLY_PARTS)?;
        let Cut { parts, pairs, .. } = self.cut;
        // Warps of a block take the same bins, so that a spectrum that several of them read comes from L1.
        let groups = pairs.div_ceil(PAIRS);
        let chunks = groups.div_ceil(Self::MOST_GROUPS);
        let config = LaunchConfig {
            grid_dim: (POINTS / Self::BINS, chunks, 1),
            block_dim: (Self::BINS, groups.div_ceil(chunks), 1),
            shared_mem_bytes: 0,
        };
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&self.spectra).arg(&parts).arg(&pairs).arg(&mut self.sums);
        // SAFETY: the kernel reads the spectra of `parts` parts and of `pairs + parts - 1` pairs after them, all of which
        // `transform` wrote, and writes `pairs` spectra; `prepare` made both buffers with those lengths.
        unsafe { launch.launch(config) }?;
        Ok(())
    }

    /// Makes outputs of the sums.
    fn transform_back(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        let kernel = gpu.kernel(TRANSFORM_BACK)?;
        let (outputs, distance) = (conv.outputs(), self.cut.distance());
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&self.sums).arg(&distance).arg(&self.turns).arg(&outputs).arg(&mut output);
        // SAFETY: the kernel reads a spectrum for each block, which `multiply` had written, and the rotations, and writes `outputs`
        // results; the workload made `output` with that length.
        unsafe { launch.launch(transforms(self.cut.pairs)) }?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_outputs_and_run_over_no_ring() {
        for outputs in [1, 2, 1000, 4095, 294_912, 10_000_019] {
            for taps in [1, 2, MOST_TAPS_OF_ONE_PART, MOST_TAPS_OF_ONE_PART + 1, 4096, 4097, 32_768] {
                let cut @ Cut { parts, hop, pairs } = Cut::of(outputs, taps);
                let of_part = taps.div_ceil(parts).max(if parts > 1 { PART } else { 1 });
                assert!(hop + of_part - 1 <= POINTS && parts * of_part >= taps, "{outputs} x {taps}: {cut:?}");
                assert!(2 * pairs * hop >= outputs && (2 * pairs - 1) * hop < outputs + hop, "{outputs} x {taps}: {cut:?}");
            }
        }
    }

    #[test]
    fn the_original_size_has_a_transform_for_most_multiprocessors_of_an_h200() {
        let cut = Cut::of(294_912, 32_768);
        assert_eq!((cut, cut.transforms()), (Cut { parts: 16, hop: 2048, pairs: 72 }, 103));
    }

    #[test]
    fn rotations_are_those_of_a_circle() {
        let turns = turns();
        assert_eq!(turns.len(), 3 * 4 * (THREADS + RADIX) as usize);
        let of = |at: usize| (turns[2 * at], turns[2 * at + 1]);
        let close = |(x, y): (f32, f32), real: f32, imaginary: f32| (x - real).abs() < 1e-7 && (y - imaginary).abs() < 1e-7;
        let (points, half) = (2 * THREADS as usize, 0.5_f32.sqrt());
        // No rotation; 4 times a 32nd of a circle; and, in a tile, 8 times another 32nd.
        assert!(close(of(0), 1.0, 0.0) && close(of(1), 1.0, 0.0));
        assert!(close(of(points + 2 * 128 + 1), half, -half), "{:?}", of(points + 2 * 128 + 1));
        assert!(close(of(3 * points + 2 * 32 + 2 * 8), 0.0, -1.0), "{:?}", of(3 * points + 2 * 32 + 2 * 8));
    }
}
