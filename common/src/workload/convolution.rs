//! One-dimensional convolution: every output is a weighted sum of a window of the signal.
//!
//! `output[i] = sum over j < taps of signal[i + j] * filter[j]`
//!
//! In this form the sum is a **correlation**; a convolution is the same sum with the filter reversed, and
//! [`Convolution::of_sounds`] reverses it. The original tutorial defines the one and computes the other. For speed the two
//! are the same; for the result they are not.
//!
//! # How far from the oracle may a result lie?
//!
//! Let `u = 2^-24` be the unit roundoff of f32, `t[j] = signal[i + j] * filter[j]` the terms of one output, and
//! `S[k] = t[0] + … + t[k]`. A sum that runs through the taps in order makes one rounding error per step, of at most
//! `u |S[k]|`, and inherits the errors before it, so its error grows as `e[k] <= u |S[k]| + (1 + u) e[k - 1]` and ends at
//!
//! `e <= (1 + u)^taps * u * (|S[0]| + … + |S[taps - 1]|)`
//!
//! That is no statistics: no correct sum in this order can miss it, whatever the data, and it adapts to them. For terms of
//! random sign the partial sums stay near zero and the bound is tight enough to see one missing tap (see [`Convolution::random`]); for terms
//! of one sign it grows to the textbook bound `taps * u * sum |t|`, which the data then deserve.
//!
//! Stages may sum in another order or round each product before they add it. A tree of additions of depth `d`, over products
//! that were rounded, misses the exact sum by at most about `(d + 1) u * sum |t|`. So the tolerance has a second part,
//! [`TREE_DEPTH`]` * u * sum |t|`: it covers a multiplication apart from its addition, and any reduction tree up to that depth.
//!
//! Last, `taps` times the smallest normal f32 covers results that are flushed to zero, as fast arithmetic does. The oracle's own
//! error is of the order of `2^-53` in place of `2^-24`, and vanishes in that.

mod sampled;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;

use clap::Args;
use cudarc::driver::CudaSlice;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::arguments::Argument;
use super::{Arithmetic, Delivery, Footprint, MOST_PRODUCTS_OF_A_WHOLE_ORACLE, Plan, Work, Workload, spoil};
use crate::atomic_file::AtomicFile;
use crate::audio::Sound;
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::guard::Guarded;
use crate::progress;
use crate::verify::{Expected, Oracle, same_bits};

/// Reduction trees up to this depth (so over 32768 products) are within the tolerance.
pub const TREE_DEPTH: f64 = 16.0;

/// Rounding to the nearest f32 changes a number by at most this part of it.
pub(super) const UNIT_ROUNDOFF: f64 = 1.0 / (1 << 24) as f64;

/// The original tutorial's size.
pub const SEED_SIZE: Size = Size { outputs: 294_912, taps: 32_768 };

/// Shows every effect, and a simulated GPU ends all rows of chapter 01 within seconds on two cores.
pub const TEACHING_SIZE: Size = Size { outputs: 16_384, taps: 1024 };

/// Kernels count samples with 32 bits, and an index must stay free for the end of the last block.
const MOST_SAMPLES: u64 = 1 << 31;

/// A convolution with its inputs.
pub struct Convolution {
    signal: Vec<f32>,
    filter: Vec<f32>,
    origin: Origin,
    oracle: OnceLock<Oracle>,
}

/// Where the inputs came from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Seed(u64),
    Files { input: String, filter: String, channel: usize, channels: usize },
    Given,
}

impl Convolution {
    /// Inputs from a random generator; the same for the same seed on every machine. They are numbers with which a mistake shows:
    /// no two neighbours alike, both signs, and magnitudes in 0.5..1.
    ///
    /// A missing tap changes an output by at least `0.5 * 0.5`, which is above the tolerance of nine outputs in ten at the
    /// original's 32768 taps, and of every output at a few thousand. With magnitudes down to zero, a tap that hardly counts could
    /// go missing unseen; with one sign only, the tolerance would have to be far larger.
    pub fn random(size: Size, seed: u64) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let signal = values(&mut generator, size.samples() as usize);
        let filter = values(&mut generator, size.taps as usize);
        Self { signal, filter, origin: Origin::Seed(seed), oracle: OnceLock::new() }
    }

    /// Inputs as given: the sum as the head of this module writes it.
    ///
    /// # Errors
    ///
    /// [`Error::Size`] when the filter is empty or longer than the signal.
    pub fn new(signal: Vec<f32>, filter: Vec<f32>) -> Result<Self> {
        let (samples, taps) = (signal.len() as u64, filter.len() as u64);
        if taps == 0 || taps > samples || samples > MOST_SAMPLES {
            return Err(Error::Size {
                asked: format!("{samples} samples and {taps} taps"),
                reason: format!("a filter has 1 tap or more, and a signal as many samples at least and {MOST_SAMPLES} at most"),
            });
        }
        Ok(Self { signal, filter, origin: Origin::Given, oracle: OnceLock::new() })
    }

    /// One computation per channel of the result: `sound` convolved with `filter`, as long as both together less one sample.
    ///
    /// The sum needs samples before the first and after the last, which are silence, and a convolution runs through its filter
    /// backwards. A filter of one channel serves every channel of the sound, and a sound of one channel gets one result per
    /// channel of the filter.
    ///
    /// # Errors
    ///
    /// When the two do not go together.
    pub fn of_sounds(sound: &Sound, filter: &Sound) -> Result<Vec<Self>> {
        if sound.rate != filter.rate {
            return Err(Error::SampleRates {
                input: sound.name.clone(),
                input_rate: sound.rate,
                filter: filter.name.clone(),
                filter_rate: filter.rate,
            });
        }
        let (frames, taps) = (sound.frames(), filter.frames());
        if taps > frames {
            return Err(Error::LongFilter { filter: filter.name.clone(), taps, input: sound.name.clone(), frames });
        }
        let samples = frames as u64 + 2 * (taps as u64 - 1);
        if samples > MOST_SAMPLES {
            return Err(Error::Size {
                asked: format!("{} of {frames} samples with a filter of {taps}", sound.name),
                reason: format!("with its silence before and after it must have {MOST_SAMPLES} samples at most"),
            });
        }
        let channels = sound.channels.len().max(filter.channels.len());
        let convolve = |channel: usize| {
            let silence = vec![0.0; taps - 1];
            let signal = [&silence[..], &sound.channels[channel % sound.channels.len()], &silence].concat();
            let filter_channel = &filter.channels[channel % filter.channels.len()];
            let origin = Origin::Files { input: sound.name.clone(), filter: filter.name.clone(), channel, channels };
            let filter = filter_channel.iter().rev().copied().collect();
            Self { signal, filter, origin, oracle: OnceLock::new() }
        };
        Ok((0..channels).map(convolve).collect())
    }

    /// Number of outputs.
    pub fn outputs(&self) -> u32 {
        (self.signal.len() - self.filter.len() + 1) as u32
    }

    /// Number of filter values, and of multiply-adds per output.
    pub fn taps(&self) -> u32 {
        self.filter.len() as u32
    }

    /// The `outputs + taps - 1` samples.
    pub fn signal(&self) -> &[f32] {
        &self.signal
    }

    /// The `taps` filter values.
    pub fn filter(&self) -> &[f32] {
        &self.filter
    }
}

/// The sizes and the first few values: enough to repeat a failed test, and not a million numbers.
impl fmt::Debug for Convolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = |values: &[f32]| values[..values.len().min(8)].to_vec();
        let (signal, filter) = (first(&self.signal), first(&self.filter));
        write!(f, "{}, signal {signal:?} …, filter {filter:?} …", self.describe())
    }
}

/// Values of either sign with magnitudes in 0.5..1; made from bits, so that no rounding can differ between machines.
pub(super) fn values(generator: &mut ChaCha8Rng, count: usize) -> Vec<f32> {
    let value = |bits: u32| {
        let magnitude = f32::from_bits(0x3f00_0000 | bits >> 9);
        if bits & 1 == 0 { magnitude } else { -magnitude }
    };
    (0..count).map(|_| value(generator.next_u32())).collect()
}

// ANCHOR: oracle
/// Outputs that the oracle computes together, so that the compiler can use the CPU's vectors.
const SIDE_BY_SIDE: usize = 8;

/// The expected value and the tolerance of each output: plain sums in f64, in the order of the taps.
fn whole(signal: &[f32], filter: &[f32]) -> Vec<Expected> {
    let outputs = signal.len() - filter.len() + 1;
    let mut expected = vec![Expected::default(); outputs];
    let bar = progress::bar("oracle", outputs as u64);
    expected.par_chunks_mut(SIDE_BY_SIDE).enumerate().for_each(|(chunk, results)| {
        let first = chunk * SIDE_BY_SIDE;
        if results.len() == SIDE_BY_SIDE {
            results.copy_from_slice(&sums::<SIDE_BY_SIDE>(&signal[first..], filter));
        } else {
            for (lane, result) in results.iter_mut().enumerate() {
                [*result] = sums::<1>(&signal[first + lane..], filter);
            }
        }
        bar.inc(results.len());
    });
    expected
}

/// The first `N` outputs of a signal.
fn sums<const N: usize>(signal: &[f32], filter: &[f32]) -> [Expected; N] {
    let mut sum = [0.0_f64; N];
    let mut partial_sums = [0.0_f64; N];
    let mut magnitudes = [0.0_f64; N];
    for (j, &weight) in filter.iter().enumerate() {
        let window = &signal[j..j + N];
        for lane in 0..N {
            let term = f64::from(window[lane]) * f64::from(weight);
            sum[lane] += term;
            partial_sums[lane] += sum[lane].abs();
            magnitudes[lane] += term.abs();
        }
    }
    let taps = filter.len() as f64;
    // (1 + u)^taps, from above.
    let growth = (taps * UNIT_ROUNDOFF).exp();
    std::array::from_fn(|lane| Expected {
        value: sum[lane],
        tolerance: growth * UNIT_ROUNDOFF * (partial_sums[lane] + TREE_DEPTH * magnitudes[lane]) + flushed(filter.len()),
    })
}
// ANCHOR_END: oracle

/// The part of a tolerance that covers results which are flushed to zero.
pub(super) fn flushed(terms: usize) -> f64 {
    terms as f64 * f64::from(f32::MIN_POSITIVE)
}

/// The arrays of a convolution on a device.
pub struct Buffers {
    /// The `outputs + taps - 1` samples.
    pub signal: CudaSlice<f32>,
    /// The `taps` filter values.
    pub filter: CudaSlice<f32>,
    /// Room for the outputs.
    pub output: Guarded,
}

impl Workload for Convolution {
    type Options = Options;
    type Buffers = Buffers;

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        if let (Some(input), Some(filter), Some(output)) = (&options.input, &options.filter, &options.output) {
            // Before the long run: nobody should wait for a result that cannot be written.
            let file = AtomicFile::create(output)?;
            let (input, filter) = (Sound::read(input)?, Sound::read(filter)?);
            let parts = Self::of_sounds(&input, &filter)?;
            parts[0].footprint().check(gpu)?;
            let delivery = WetSound { file, rate: input.rate };
            return Ok(Plan { parts, delivery: Some(Box::new(delivery)) });
        }
        let size = options.size.unwrap_or(if gpu.is_simulated() { TEACHING_SIZE } else { SEED_SIZE });
        size.footprint().check(gpu)?;
        Ok(Plan { parts: vec![Self::random(size, seed)], delivery: None })
    }

    fn describe(&self) -> String {
        let sizes = format!("{} outputs x {} taps", self.outputs(), self.taps());
        match &self.origin {
            Origin::Seed(seed) => format!("{sizes}, seed {seed}"),
            Origin::Files { input, filter, channel, channels } => {
                let channel = if *channels > 1 { format!(", channel {} of {channels}", channel + 1) } else { String::new() };
                format!("{sizes}: {input} through {filter}{channel}")
            }
            Origin::Given => sizes,
        }
    }

    fn sizes(&self) -> Map<String, Value> {
        let mut sizes = Map::new();
        sizes.insert("outputs".into(), json!(self.outputs()));
        sizes.insert("taps".into(), json!(self.taps()));
        match &self.origin {
            Origin::Seed(seed) => {
                sizes.insert("seed".into(), json!(seed));
            }
            Origin::Files { input, filter, channel, .. } => {
                sizes.insert("seed".into(), Value::Null);
                sizes.insert("input".into(), json!(input));
                sizes.insert("filter".into(), json!(filter));
                sizes.insert("channel".into(), json!(channel + 1));
            }
            Origin::Given => {
                sizes.insert("seed".into(), Value::Null);
            }
        }
        sizes
    }

    fn work(&self) -> Work {
        let (outputs, taps, samples) = (self.outputs() as u64, self.taps() as u64, self.signal.len() as u64);
        Work { multiply_adds: outputs * taps, bytes: 4 * (samples + taps + outputs), arithmetic: Arithmetic::F32 }
    }

    fn footprint(&self) -> Footprint {
        Size { outputs: self.outputs(), taps: self.taps() }.footprint()
    }

    fn output_len(&self) -> usize {
        self.outputs() as usize
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            signal: gpu.stream.clone_htod(&self.signal)?,
            filter: gpu.stream.clone_htod(&self.filter)?,
            output: Guarded::new(gpu, self.output_len())?,
        })
    }

    fn output(buffers: &mut Buffers) -> &mut Guarded {
        &mut buffers.output
    }

    fn inputs_intact(&self, gpu: &Gpu, buffers: &Buffers) -> Result<bool> {
        let signal = gpu.stream.clone_dtoh(&buffers.signal)?;
        let filter = gpu.stream.clone_dtoh(&buffers.filter)?;
        Ok(same_bits(&signal, &self.signal) && same_bits(&filter, &self.filter))
    }

    fn launch_sizes(&self) -> Vec<(&'static str, u32)> {
        vec![("outputs", self.outputs()), ("taps", self.taps())]
    }

    fn pointers(&self, gpu: &Gpu, buffers: &Buffers) -> Vec<(&'static str, Argument)> {
        let stream = &gpu.stream;
        vec![
            ("signal", Argument::array(&buffers.signal, stream)),
            ("filter", Argument::array(&buffers.filter, stream)),
            ("output", Argument::array(&buffers.output.view(), stream)),
        ]
    }

    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        spoil(gpu, &mut buffers.signal.as_view_mut())?;
        spoil(gpu, &mut buffers.filter.as_view_mut())
    }

    fn oracle(&self) -> &Oracle {
        self.oracle.get_or_init(|| {
            if self.work().multiply_adds <= MOST_PRODUCTS_OF_A_WHOLE_ORACLE {
                Oracle::Whole(whole(&self.signal, &self.filter))
            } else {
                Oracle::Sampled(sampled::oracle(&self.signal, &self.filter))
            }
        })
    }
}

/// The part of the command line that only convolutions have.
#[derive(Clone, Debug, Default, Args)]
pub struct Options {
    /// Outputs and taps, for example 4096x512; `seed` is the original tutorial's 294912x32768
    #[arg(long, value_name = "OUTPUTSxTAPS")]
    pub size: Option<Size>,
    /// Sound to convolve, a WAV file of one or two channels
    #[arg(long, value_name = "WAV", requires_all = ["filter", "output"], conflicts_with = "size")]
    pub input: Option<PathBuf>,
    /// Impulse response to convolve it with, for example that of a room
    #[arg(long, value_name = "WAV", requires_all = ["input", "output"])]
    pub filter: Option<PathBuf>,
    /// Where to write the result, as 32-bit float WAV
    #[arg(long, value_name = "WAV", requires_all = ["input", "filter"])]
    pub output: Option<PathBuf>,
}

/// How many outputs, of how many taps each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Number of outputs.
    pub outputs: u32,
    /// Number of filter values.
    pub taps: u32,
}

impl Size {
    /// Samples that the outputs need.
    pub fn samples(&self) -> u64 {
        u64::from(self.outputs) + u64::from(self.taps) - 1
    }

    /// How much memory a convolution of this size takes.
    pub fn footprint(&self) -> Footprint {
        let inputs = 4 * (self.samples() + u64::from(self.taps));
        let outputs = u64::from(self.outputs);
        // On the host twice what is on the device (a copy to compare), and the oracle's two f64 per output.
        let device_bytes = inputs + 4 * outputs;
        Footprint { device_bytes, host_bytes: 2 * device_bytes + 16 * outputs }
    }
}

impl FromStr for Size {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "seed" {
            return Ok(SEED_SIZE);
        }
        let wrong = |reason: &str| Error::Size { asked: format!("size {text:?}"), reason: reason.to_owned() };
        let form = "expected OUTPUTSxTAPS as in 4096x512, or `seed`";
        let (outputs, taps) = text.split_once(['x', 'X']).ok_or_else(|| wrong(form))?;
        let number = |digits: &str| -> Result<u64> {
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(wrong(form));
            }
            // Digits that do not fit 64 bits are a number all the same, only too large.
            Ok(digits.parse().unwrap_or(u64::MAX))
        };
        let (outputs, taps) = (number(outputs)?, number(taps)?);
        if outputs == 0 || taps == 0 {
            return Err(wrong("both numbers must be at least 1"));
        }
        if outputs.saturating_add(taps) - 1 > MOST_SAMPLES {
            return Err(wrong("outputs + taps - 1 samples must be 2^31 at most, because kernels count them with 32 bits"));
        }
        Ok(Size { outputs: outputs as u32, taps: taps as u32 })
    }
}

/// The result file of a run with `--output`.
struct WetSound {
    file: AtomicFile,
    rate: u32,
}

impl Delivery<Convolution> for WetSound {
    fn deliver(mut self: Box<Self>, _: &[Convolution], outputs: &[Vec<f32>]) -> Result<String> {
        let path = self.file.path().display().to_string();
        let peak = crate::audio::write(&mut self.file, outputs, self.rate)?;
        self.file.commit()?;
        let clips = if peak > 1.0 { "; a player will clip it, lower its gain first" } else { "" };
        Ok(format!("wrote {path}: {} channel(s) at {} Hz, peak {peak:.2}{clips}", outputs.len(), self.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_values_worked_out_by_hand() {
        let conv = Convolution::new(vec![1.0, -2.0, 3.0, 5.0], vec![10.0, 100.0]).unwrap();
        let values: Vec<f64> = conv.expected().iter().map(|expected| expected.value).collect();
        assert_eq!(values, [-190.0, 280.0, 530.0]);
    }

    #[test]
    fn the_tolerance_of_one_product_is_a_few_roundings() {
        let conv = Convolution::new(vec![3.0], vec![2.0]).unwrap();
        let tolerance = conv.expected()[0].tolerance;
        let roundings = tolerance / (6.0 * UNIT_ROUNDOFF);
        assert!((17.0..17.001).contains(&roundings), "{roundings}");
    }

    #[test]
    fn random_inputs_repeat_and_differ_between_seeds() {
        let size = Size { outputs: 100, taps: 7 };
        let (a, b, c) = (Convolution::random(size, 13), Convolution::random(size, 13), Convolution::random(size, 14));
        assert_eq!(a.signal(), b.signal());
        assert_eq!(a.filter(), b.filter());
        assert_ne!(a.signal(), c.signal());
        assert!(a.signal().iter().chain(a.filter()).all(|value| (0.5..1.0).contains(&value.abs())));
    }

    #[test]
    fn random_inputs_are_those_of_every_other_machine() {
        let conv = Convolution::random(Size { outputs: 2, taps: 2 }, 13);
        let bits: Vec<u32> = conv.signal().iter().chain(conv.filter()).map(|value| value.to_bits()).collect();
        // Results of different machines and versions compare only while these stay.
        assert_eq!(bits, [0xbf1c_a0d9, 0xbf2b_41dd, 0xbf59_bbe7, 0xbf0a_1a44, 0xbf20_6d20]);
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        for text in ["", "x", "12", "0x5", "5x0", "-1x5", "+1x5", "1x2x3", "4294967296x1", "99999999999999999999x1", "2147483648x2"]
        {
            let error = text.parse::<Size>().expect_err(text).to_string();
            assert!(error.contains(text) && error.lines().count() == 1, "{error}");
        }
        assert_eq!("seed".parse::<Size>().unwrap(), SEED_SIZE);
        assert_eq!("12X3".parse::<Size>().unwrap(), Size { outputs: 12, taps: 3 });
    }

    #[test]
    fn a_missing_tap_is_outside_the_tolerance_of_nine_outputs_in_ten_at_the_original_size() {
        let taps = SEED_SIZE.taps;
        let conv = Convolution::random(Size { outputs: 400, taps }, 13);
        let noticed = conv.expected().iter().filter(|expected| expected.tolerance < 0.25).count();
        assert!(noticed > 360, "{noticed} of 400");
    }

    #[test]
    fn a_sound_convolved_with_a_click_is_the_sound() {
        let sound = Sound { name: "voice".into(), rate: 8000, channels: vec![vec![0.5, -0.25, 0.125]] };
        let click = Sound { name: "click".into(), rate: 8000, channels: vec![vec![1.0, 0.0], vec![0.0, 2.0]] };
        let parts = Convolution::of_sounds(&sound, &click).unwrap();
        let values = |part: &Convolution| part.expected().iter().map(|expected| expected.value).collect::<Vec<_>>();
        assert_eq!(values(&parts[0]), [0.5, -0.25, 0.125, 0.0]);
        assert_eq!(values(&parts[1]), [0.0, 1.0, -0.5, 0.25]);
    }
}
