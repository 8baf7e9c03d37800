//! The honest rival: the same result by another algorithm, with cuFFT, NVIDIA's library of Fourier transforms.
//!
//! A convolution is a product of spectra. A transform of `n` points takes about `n log2 n` steps, so the work hardly depends on the
//! length of the filter, while the work of a sum over the taps is proportional to it.
//!
//! # Overlap-save
//!
//! A transform sees its points as a ring. Take a block of `length` samples, and the filter with zeros up to `length`. Multiplied bin by
//! bin, their spectra give the correlation on the ring. Its first `length - taps + 1` values do not run over the ring's end: they are
//! outputs. So we cut the signal into blocks that overlap by `taps - 1` samples, transform them and the filter in one batch, multiply, and
//! transform back in another batch. Short blocks waste much of each transform; long blocks need more steps per point; and some
//! lengths suit cuFFT better than others. [`Blocks::candidates`] lists what is possible. The stage times all candidates before the run and
//! keeps the fastest, as other programs that use transforms do.
//!
//! # How exact it is
//!
//! Each step of a transform combines every point of the ring with others. Its rounding errors spread over the whole ring, so they are
//! relative to the ring's largest values, and not to an output's own terms: where the signal has one loud place, the quiet places
//! around it get as much noise. The worst that can be proved (Higham, *Accuracy and Stability of Numerical Algorithms*, theorem 24.2) is an
//! error, in the 2-norm over the ring, of `log2(n) * c * u` of the result, with `c` below 7 and `u = 2^-24`. The product with the filter's
//! spectrum multiplies it by at most the largest magnitude `M` of that spectrum. By Parseval's theorem, an output then has an error of up
//! to `3 c u log2(n) * M * ||x||`, with the norm of the block. That could only happen if all errors of a ring met in one output. If
//! they spread evenly, an output gets `1 / sqrt(n)` of them, and `||x|| / sqrt(n)` is at most the largest sample. That is what [`FFT`] is
//! allowed beyond the workload's own tolerance: `u log2(n) * max |x| * M`.
//!
//! `M` is between the filter's norm `||h||`, for an impulse, and the sum of all magnitudes, for a filter of one sign. With `||h||` in its
//! place, a random test failed on an H200: a signal and a filter that both rise, 3583 outputs and 127 taps, where `M` is almost 10 times `||h||`.
//! Nothing proves that errors spread evenly, but we measured it: with random signals, signals whose magnitudes range over 2^40, and
//! signals with a few samples a million times louder than the others, at 1 to 8192 taps, the stage used at most a fifth of what even
//! `||h||` would allow. Where signal and filter rise, [`FFT_PARTITIONED`](crate::partitioned::FFT_PARTITIONED) used less than a fifth of
//! what `M` allows.

use std::f64::consts::PI;

use cudarc::cufft::CudaFft;
use cudarc::cufft::sys::{cufftType, float2};
use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::unroll::fft::{COLLECT, GATHER, MULTIPLY};
use run::fourier::{cufft, failed, fastest};
use run::workload::convolution::{Buffers, Convolution};
use run::{Gpu, Prepared, Result, Stage, Unmet};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex;

/// The product of the spectra.
pub const FFT: Stage<Convolution> = Stage::prepared(
    "fft",
    "another algorithm: cuFFT, with blocks of the length that is fastest here",
    |gpu, conv: &Convolution| {
        let plans = Blocks::candidates(conv.outputs(), conv.taps()).into_iter().map(|blocks| Fft::new(gpu, blocks));
        Ok(Box::new(fastest(gpu, conv, plans)?))
    },
)
.requires(requirement)
.with_allowance(|conv| spread_over_the_ring(conv, longest(conv)))
.calls("cuFFT");

fn requirement(gpu: &Gpu, conv: &Convolution) -> Result<Option<Unmet>> {
    if gpu.is_simulated() {
        return Ok(Some(Unmet::Gpu { library: "cuFFT" }));
    }
    if Blocks::candidates(conv.outputs(), conv.taps()).is_empty() {
        let samples = u64::from(conv.outputs()) + u64::from(conv.taps()) - 1;
        return Ok(Some(Unmet::Limit { what: "points in a batch of cuFFT", needed: 2 * samples, limit: i32::MAX as u64 }));
    }
    Ok(cufft().err().map(|error| Unmet::Library { reason: error.to_string() }))
}

/// Returns the longest transform that the stage may choose.
fn longest(conv: &Convolution) -> u32 {
    Blocks::candidates(conv.outputs(), conv.taps()).iter().map(|blocks| blocks.length).max().unwrap_or(2)
}

/// Returns the largest rounding errors of transforms of `length` points. They are allowed beyond the workload's tolerance, and derived
/// at the head of this file.
pub(crate) fn spread_over_the_ring(conv: &Convolution, length: u32) -> f64 {
    const UNIT_ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;
    let largest = conv.signal().iter().fold(0.0_f64, |largest, sample| largest.max(f64::from(sample.abs())));
    UNIT_ROUNDOFF * f64::from(length).log2() * largest * largest_of_spectrum(conv.filter())
}

/// Returns the largest magnitude of the filter's spectrum, at any frequency. It is looked for at four times as many frequencies as there are
/// taps or more. Between these, a magnitude is at most `1 / cos(pi / 8)` times as large (Ehlich and Zeller, "Schwankung von Polynomen
/// zwischen Gitterpunkten", 1964).
fn largest_of_spectrum(filter: &[f32]) -> f64 {
    let mut points: Vec<Complex<f64>> = filter.iter().map(|weight| Complex::from(f64::from(*weight))).collect();
    points.resize((4 * filter.len()).next_power_of_two(), Complex::default());
    FftPlanner::new().plan_fft_forward(points.len()).process(&mut points);
    points.iter().map(|point| point.norm()).fold(0.0, f64::max) / (PI / 8.0).cos()
}

/// The division of the signal into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Points of a transform: even, and a product of twos, threes and fives, for which transforms are fastest.
    pub length: u32,
    /// Outputs of a block, and samples from the start of one block to the next.
    pub hop: u32,
    /// Blocks.
    pub count: u32,
}

impl Blocks {
    /// Shorter transforms are not worth their launches.
    const SHORTEST: u32 = 1024;
    /// The longest block, in filter lengths, which wastes little of a transform. Longer ones only need more steps. For
    /// short filters we try blocks up to [`Self::LONG_ENOUGH`] anyway, because fewer blocks need less launching.
    const LONGEST: u32 = 32;
    const LONG_ENOUGH: u32 = 8192;

    /// Lists the possible lengths: powers of two from twice the filter's length, and the one block that holds everything.
    pub fn candidates(outputs: u32, taps: u32) -> Vec<Self> {
        let samples = u64::from(outputs) + u64::from(taps) - 1;
        let shortest = (2 * u64::from(taps)).next_power_of_two().max(Self::SHORTEST.into());
        let longest = shortest.max(u64::from(Self::LONGEST) * u64::from(taps)).max(Self::LONG_ENOUGH.into());
        let powers = std::iter::successors(Some(shortest), |length| Some(2 * length));
        let powers = powers.take_while(|length| *length <= longest && *length < samples);
        powers.chain([smooth_and_even(samples)]).filter_map(|length| Self::of(length, outputs, taps)).collect()
    }

    /// Returns blocks of this length. `None`: cuFFT could not count their points.
    fn of(length: u64, outputs: u32, taps: u32) -> Option<Self> {
        let most = length - u64::from(taps) + 1;
        let count = u64::from(outputs).div_ceil(most);
        // Spread the outputs evenly over the blocks, so that the last one is not nearly empty.
        let hop = u64::from(outputs).div_ceil(count);
        let points = length * (count + 1);
        i32::try_from(points).ok()?;
        Some(Self { length: length as u32, hop: hop as u32, count: count as u32 })
    }

    /// Returns the bins of a spectrum of real numbers.
    fn bins(&self) -> u32 {
        self.length / 2 + 1
    }
}

/// Returns the smallest even 5-smooth number that is at least `least`. Its prime factors are two, three, and five.
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

/// Plans and memory for one way to cut the signal.
struct Fft {
    blocks: Blocks,
    forward: CudaFft,
    inverse: CudaFft,
    /// The filter's ring, then one for each block.
    rings: CudaSlice<f32>,
    /// Their spectra.
    spectra: CudaSlice<float2>,
}

// ANCHOR: fft
impl Fft {
    fn new(gpu: &Gpu, blocks: Blocks) -> Result<Self> {
        cufft()?;
        let (length, count) = (blocks.length as i32, blocks.count as i32);
        // A batch of `length` numbers each, one right after the other, and the same for the `length / 2 + 1` bins of
        // each spectrum.
        let forward = CudaFft::plan_1d(length, cufftType::CUFFT_R2C, count + 1, gpu.stream.clone()).map_err(failed("plan"))?;
        let inverse = CudaFft::plan_1d(length, cufftType::CUFFT_C2R, count, gpu.stream.clone()).map_err(failed("plan"))?;
        let rings = gpu.stream.alloc_zeros((blocks.length * (blocks.count + 1)) as usize)?;
        let spectra = gpu.stream.alloc_zeros((blocks.bins() * (blocks.count + 1)) as usize)?;
        Ok(Self { blocks, forward, inverse, rings, spectra })
    }
}

impl Prepared<Convolution> for Fft {
    fn enqueue(&mut self, gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers) -> Result<()> {
        gather(gpu, conv, buffers, self.blocks, &mut self.rings)?;
        self.forward.exec_r2c(&self.rings, &mut self.spectra).map_err(failed("transform"))?;
        multiply(gpu, self.blocks, &mut self.spectra)?;
        // The spectra of the blocks, which come after the filter's. The transform back may overwrite them.
        let mut of_blocks = self.spectra.slice_mut(self.blocks.bins() as usize..);
        self.inverse.exec_c2r(&mut of_blocks, &mut self.rings).map_err(failed("transform back"))?;
        collect(gpu, conv, buffers, self.blocks, &self.rings)
    }
}
// ANCHOR_END: fft

/// Threads of a block of the kernels below.
const THREADS: u32 = 256;

fn one_for_each(values: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (values.div_ceil(THREADS), 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// Enqueues the kernel that cuts the signal: the filter's ring first, then the blocks, each followed by zeros.
pub fn gather(gpu: &Gpu, conv: &Convolution, buffers: &Buffers, blocks: Blocks, rings: &mut CudaSlice<f32>) -> Result<()> {
    let Blocks { length, hop, count } = blocks;
    let (samples, taps) = (conv.signal().len() as u32, conv.taps());
    let kernel = gpu.kernel(GATHER)?;
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.signal).arg(&samples).arg(&buffers.filter).arg(&taps).arg(&length).arg(&hop).arg(&count).arg(rings);
    // SAFETY: the kernel reads `samples` samples and `taps` filter values, and writes `length * (count + 1)` values,
    // which `rings` has.
    unsafe { launch.launch(one_for_each(length * (count + 1))) }?;
    Ok(())
}

/// Enqueues the kernel that multiplies every block's spectrum by the filter's. The filter's comes first.
pub fn multiply(gpu: &Gpu, blocks: Blocks, spectra: &mut CudaSlice<float2>) -> Result<()> {
    /// Blocks next to each other in the grid: short spectra fill the device, too.
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

/// Enqueues the kernel that takes the outputs from the rings.
pub fn collect(gpu: &Gpu, conv: &Convolution, buffers: &mut Buffers, blocks: Blocks, rings: &CudaSlice<f32>) -> Result<()> {
    let Blocks { length, hop, .. } = blocks;
    let outputs = conv.outputs();
    let kernel = gpu.kernel(COLLECT)?;
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(rings).arg(&length).arg(&hop).arg(&outputs).arg(&mut output);
    // SAFETY: the kernel reads the first `hop` of every `length` values until it has `outputs`, which the blocks have,
    // and writes `outputs` values, which `output` has.
    unsafe { launch.launch(one_for_each(outputs)) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spectrum_of_one_sign_is_largest_at_rest_and_that_of_a_wave_at_its_frequency() {
        let wave: Vec<f32> = [0.0, 3.0, 0.0, -3.0].repeat(5);
        for (filter, expected) in [(vec![2.5; 7], 17.5), (vec![0.0, -4.0, 0.0], 4.0), (wave, 30.0)] {
            let found = largest_of_spectrum(&filter) * (PI / 8.0).cos();
            // The search may miss the peak by as much as it allows for.
            assert!(found <= expected * (1.0 + 1e-9) && largest_of_spectrum(&filter) >= expected, "{found}, not {expected}");
        }
    }

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
