//! The honest rival: the same result by another algorithm, with NVIDIA's library of Fourier transforms.
//!
//! A convolution is a product of spectra. A transform of `n` points takes about `n log2 n` steps, so that the work hardly depends on the
//! length of the filter, where a sum over the taps grows with it.
//!
//! # Overlap-save
//!
//! A transform sees its points as a ring. A block of `length` samples and the filter, with zeros up to `length`, multiplied bin by bin,
//! give their correlation on the ring; its first `length - taps + 1` values do not run over the ring's end, and are outputs. So the
//! signal is cut into blocks that overlap by `taps - 1` samples, all of them and the filter are transformed in one batch, and the spectra
//! come back in another. Short blocks throw away much of each transform, long ones need more steps per point, and cuFFT has its own
//! opinion on lengths: [`Blocks::candidates`] lists what is possible, and the stage, as programs that transform do, times them all before
//! the run and takes the fastest.
//!
//! # How exact it is
//!
//! Each step of a transform combines every point of the ring with others. Its rounding errors are spread over the whole ring, so that
//! they are relative to the ring's largest values and not to an output's own terms: where the signal has one loud place, the quiet ones
//! around it are as noisy. The worst that can be proved (Higham, *Accuracy and Stability of Numerical Algorithms*, theorem 24.2) is an
//! error, in the 2-norm over the ring, of `log2(n) * c * u` of the result, with `c` below 7 and `u = 2^-24`; for an output that means up
//! to `3 c u log2(n) * ||x|| * ||h||`, with the norms of the block and of the filter. To be met it would need all errors of a ring in one
//! output. Spread evenly, an output has its share of `1 / sqrt(n)`, and `||x|| / sqrt(n)` is at most the largest sample. That is what
//! [`FFT`] is allowed beyond the workload's own tolerance: `u log2(n) * max |x| * ||h||`. It is no proof, but it was watched: on an H200
//! with random signals, signals whose magnitudes range over 2^40, and signals with a few samples a million times louder than the others,
//! at 1 to 8192 taps, it used up at most a fifth of it.

use std::time::Instant;

use common::Result;
use common::cufft::{Cufft, Forward, Inverse};
use common::gpu::Gpu;
use common::requirement::Unmet;
use common::stage::{Prepared, Stage};
use common::workload::convolution::Buffers;
use common::workload::{Convolution, Workload};
use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::unroll::fft::{COLLECT, GATHER, MULTIPLY};

/// The product of the spectra.
pub const FFT: Stage<Convolution> =
    Stage::prepared("fft", "another algorithm: cuFFT, with blocks of the length that is fastest here", |gpu, conv| {
        Ok(Box::new(fastest(gpu, conv)?))
    })
    .requires(requirement)
    .with_allowance(spread_over_the_ring)
    .calls("cuFFT");

fn requirement(gpu: &Gpu, conv: &Convolution) -> Result<Option<Unmet>> {
    if gpu.is_simulated() {
        return Ok(Some(Unmet::Gpu { library: "cuFFT" }));
    }
    if Blocks::candidates(conv.outputs(), conv.taps()).is_empty() {
        let samples = u64::from(conv.outputs()) + u64::from(conv.taps()) - 1;
        return Ok(Some(Unmet::Limit { what: "points in a batch of cuFFT", needed: 2 * samples, limit: i32::MAX as u64 }));
    }
    Ok(Cufft::find().err().map(|error| Unmet::Library { reason: error.to_string() }))
}

/// What the stage's rounding errors may come to beyond the workload's tolerance; derived at the head of this file.
fn spread_over_the_ring(conv: &Convolution) -> f64 {
    const UNIT_ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;
    let longest = Blocks::candidates(conv.outputs(), conv.taps()).iter().map(|blocks| blocks.length).max().unwrap_or(2);
    let largest = conv.signal().iter().fold(0.0_f64, |largest, sample| largest.max(f64::from(sample.abs())));
    let norm = conv.filter().iter().map(|weight| f64::from(*weight).powi(2)).sum::<f64>().sqrt();
    UNIT_ROUNDOFF * f64::from(longest).log2() * largest * norm
}

/// How the signal is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Points of a transform: even, and a product of twos, threes and fives, which transforms take apart best.
    pub length: u32,
    /// Outputs of a block, and samples from one to the next.
    pub hop: u32,
    /// Blocks.
    pub count: u32,
}

impl Blocks {
    /// Shorter transforms are not worth their launches.
    const SHORTEST: u32 = 1024;
    /// Blocks of this many times the filter waste little of a transform; longer ones only need more steps. For short filters, blocks
    /// up to [`Self::LONG_ENOUGH`] are tried all the same: fewer blocks are less to launch.
    const LONGEST: u32 = 32;
    const LONG_ENOUGH: u32 = 8192;

    /// The lengths to choose from: powers of two from twice the filter on, and the one block that holds everything.
    pub fn candidates(outputs: u32, taps: u32) -> Vec<Self> {
        let samples = u64::from(outputs) + u64::from(taps) - 1;
        let shortest = (2 * u64::from(taps)).next_power_of_two().max(Self::SHORTEST.into());
        let longest = shortest.max(u64::from(Self::LONGEST) * u64::from(taps)).max(Self::LONG_ENOUGH.into());
        let powers = std::iter::successors(Some(shortest), |length| Some(2 * length));
        let powers = powers.take_while(|length| *length <= longest && *length < samples);
        powers.chain([smooth_and_even(samples)]).filter_map(|length| Self::of(length, outputs, taps)).collect()
    }

    /// Blocks of a length; `None` when cuFFT could not count their points.
    fn of(length: u64, outputs: u32, taps: u32) -> Option<Self> {
        let most = length - u64::from(taps) + 1;
        let count = u64::from(outputs).div_ceil(most);
        // As few outputs in each block as that many blocks need, so that the last one has its share.
        let hop = u64::from(outputs).div_ceil(count);
        let points = length * (count + 1);
        i32::try_from(points).ok()?;
        Some(Self { length: length as u32, hop: hop as u32, count: count as u32 })
    }

    /// Bins of a spectrum of real numbers.
    fn bins(&self) -> u32 {
        self.length / 2 + 1
    }
}

/// The smallest even product of twos, threes and fives that is at least `least`.
fn smooth_and_even(least: u64) -> u64 {
    let divide = |mut number: u64, factor: u64| {
        while number.is_multiple_of(factor) {
            number /= factor;
        }
        number
    };
    let is_smooth = |number: &u64| [2, 3, 5].into_iter().fold(*number, divide) == 1;
    (least.next_multiple_of(2)..).step_by(2).find(is_smooth).expect("a power of two is never far")
}

/// Times every candidate once it is warm, and keeps the fastest.
fn fastest(gpu: &Gpu, conv: &Convolution) -> Result<Fft> {
    const RUNS: u32 = 10;
    let mut buffers = conv.upload(gpu)?;
    let mut best = None;
    for blocks in Blocks::candidates(conv.outputs(), conv.taps()) {
        let mut fft = Fft::new(gpu, blocks)?;
        let mut run = |runs: u32| -> Result<()> {
            (0..runs).try_for_each(|_| fft.enqueue(gpu, conv, &mut buffers))?;
            Ok(gpu.stream.synchronize()?)
        };
        run(2)?;
        let begun = Instant::now();
        run(RUNS)?;
        let elapsed = begun.elapsed();
        if best.as_ref().is_none_or(|(shortest, _)| elapsed < *shortest) {
            best = Some((elapsed, fft));
        }
    }
    Ok(best.expect("the stage is skipped where there is no candidate").1)
}

/// Plans and memory for one way to cut the signal.
struct Fft {
    blocks: Blocks,
    forward: Forward,
    inverse: Inverse,
    /// The filter's ring, then one for each block.
    rings: CudaSlice<f32>,
    /// Their spectra, real and imaginary parts in turn.
    spectra: CudaSlice<f32>,
}

impl Fft {
    fn new(gpu: &Gpu, blocks: Blocks) -> Result<Self> {
        let cufft = Cufft::find()?;
        let (length, count) = (blocks.length as usize, blocks.count as usize);
        Ok(Self {
            blocks,
            forward: cufft.forward(gpu, length, count + 1)?,
            inverse: cufft.inverse(gpu, length, count)?,
            rings: gpu.stream.alloc_zeros(length * (count + 1))?,
            spectra: gpu.stream.alloc_zeros(2 * blocks.bins() as usize * (count + 1))?,
        })
    }
}

// ANCHOR: fft
impl Prepared<Convolution> for Fft {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        gather(gpu, conv, buffers, self.blocks, &mut self.rings)?;
        self.forward.enqueue(gpu, &self.rings, &mut self.spectra)?;
        multiply(gpu, self.blocks, &mut self.spectra)?;
        // Behind the filter's spectrum.
        let mut of_blocks = self.spectra.slice_mut(2 * self.blocks.bins() as usize..);
        self.inverse.enqueue(gpu, &mut of_blocks, &mut self.rings)?;
        collect(gpu, conv, buffers, self.blocks, &self.rings)
    }
}
// ANCHOR_END: fft

/// Threads of a block of the kernels below.
const THREADS: u32 = 256;

fn one_for_each(values: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (values.div_ceil(THREADS), 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// Enqueues the cutting of the signal: the filter's ring first, then the blocks, zeros behind both.
///
/// # Errors
///
/// The driver's errors.
pub fn gather(gpu: &Gpu, conv: &Convolution, buffers: &Buffers, blocks: Blocks, rings: &mut CudaSlice<f32>) -> Result<()> {
    let Blocks { length, hop, count } = blocks;
    let (samples, taps) = (conv.signal().len() as u32, conv.taps());
    let kernel = gpu.kernel(GATHER)?;
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&samples).arg(&buffers.filter).arg(&taps).arg(&length).arg(&hop).arg(&count).arg(rings);
    // SAFETY: the kernel reads `samples` samples and `taps` filter values, and writes `length * (count + 1)` values, which `rings` has.
    unsafe { launch.launch(one_for_each(length * (count + 1))) }?;
    Ok(())
}

/// Enqueues the product of every block's spectrum with the filter's, which stands before them.
///
/// # Errors
///
/// The driver's errors.
pub fn multiply(gpu: &Gpu, blocks: Blocks, spectra: &mut CudaSlice<f32>) -> Result<()> {
    /// Blocks side by side, so that short spectra fill the device as well.
    const SIDE_BY_SIDE: u32 = 32;
    let (bins, scale) = (blocks.bins(), 1.0 / blocks.length as f32);
    let kernel = gpu.kernel(MULTIPLY)?;
    let mut config = one_for_each(bins);
    config.grid_dim.1 = blocks.count.min(SIDE_BY_SIDE);
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(spectra).arg(&bins).arg(&blocks.count).arg(&scale);
    // SAFETY: the kernel reads and writes `bins` complex numbers for each of `count + 1` blocks, which `spectra` has.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Enqueues the gathering of the outputs.
///
/// # Errors
///
/// The driver's errors.
pub fn collect(gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers, blocks: Blocks, rings: &CudaSlice<f32>) -> Result<()> {
    let Blocks { length, hop, .. } = blocks;
    let outputs = conv.outputs();
    let kernel = gpu.kernel(COLLECT)?;
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(rings).arg(&length).arg(&hop).arg(&outputs).arg(&mut output);
    // SAFETY: the kernel reads the first `hop` of every `length` values, as many as make `outputs`, which the blocks have, and writes the
    // outputs.
    unsafe { launch.launch(one_for_each(outputs)) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_covers_the_outputs_and_runs_over_no_ring() {
        for outputs in [1, 2, 1000, 1023, 294_912, 10_000_019] {
            for taps in [1, 2, 512, 513, 4096, 32_768] {
                let candidates = Blocks::candidates(outputs, taps);
                assert!(!candidates.is_empty(), "{outputs} x {taps}");
                for Blocks { length, hop, count } in candidates {
                    assert!(hop >= 1 && hop <= length - taps + 1, "{outputs} x {taps}: {hop} of {length}");
                    assert!(count * hop >= outputs && (count - 1) * hop < outputs, "{outputs} x {taps}: {count} of {hop}");
                    assert_eq!(smooth_and_even(length.into()), u64::from(length));
                }
            }
        }
    }

    #[test]
    fn the_original_size_has_the_lengths_that_are_known_to_be_good() {
        let lengths: Vec<u32> = Blocks::candidates(294_912, 32_768).iter().map(|blocks| blocks.length).collect();
        assert_eq!(lengths, [65_536, 131_072, 262_144, 327_680]);
        let three = Blocks { length: 131_072, hop: 98_304, count: 3 };
        assert!(Blocks::candidates(294_912, 32_768).contains(&three));
    }

    #[test]
    fn short_filters_get_blocks_that_are_worth_their_launches() {
        let lengths: Vec<u32> = Blocks::candidates(1_000_000, 3).iter().map(|blocks| blocks.length).collect();
        assert_eq!(lengths, [1024, 2048, 4096, 8192, 1_012_500]);
    }

    #[test]
    fn lengths_are_even_products_of_small_primes() {
        for (least, length) in [(1, 2), (2, 2), (3, 4), (7, 8), (11, 12), (49, 50), (101, 108), (327_679, 327_680)] {
            assert_eq!(smooth_and_even(least), length, "from {least}");
        }
    }

    #[test]
    fn more_points_than_cufft_counts_are_not_asked_for() {
        assert!(Blocks::candidates(1 << 31, 4).is_empty());
    }
}
