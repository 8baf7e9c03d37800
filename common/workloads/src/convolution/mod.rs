//! One-dimensional convolution: every output is a weighted sum of a window of the signal.
//!
//! `output[i] = sum over j < taps of signal[i + j] * filter[j]`
//!
//! In this form the sum is a **correlation**. A convolution is the same sum with the filter reversed, and
//! `of_sounds` reverses it. The original tutorial defines a convolution and computes a correlation. Both are equally fast,
//! but their results differ.
//!
//! # How far from the oracle may a result lie?
//!
//! Let `u = 2^-24` be the unit roundoff of f32, `t[j] = signal[i + j] * filter[j]` the terms of one output, and
//! `S[k] = t[0] + … + t[k]`. A sum that runs through the taps in order makes one rounding error per step, of at most
//! `u |S[k]|`, and inherits the errors before it, so its error grows as `e[k] <= u |S[k]| + (1 + u) e[k - 1]` and ends at
//!
//! `e <= (1 + u)^taps * u * (|S[0]| + … + |S[taps - 1]|)`
//!
//! This is a strict bound, not a statistical one: every correct sum in this order meets it, whatever the data. For terms of random sign,
//! the partial sums stay near zero, and the bound is tight enough to notice one missing tap (see [`Convolution::random`]). For terms of one
//! sign, it grows to the textbook bound `taps * u * sum |t|`.
//!
//! Stages may sum in another order or round each product before they add it. A tree of additions of depth `d`, over products
//! that were rounded, misses the exact sum by at most about `(d + 1) u * sum |t|`. So the tolerance has a second part,
//! [`TREE_DEPTH`](oracles::rounding::TREE_DEPTH)` * u * sum |t|`: it covers a multiplication apart from its addition, and any reduction tree up to that depth.
//!
//! Last, `taps` times the smallest normal f32 covers results that are flushed to zero, as fast arithmetic does. The oracle's own
//! error is on the order of `2^-53` instead of `2^-24`, which is negligible.

mod size;

use std::fmt;
use std::sync::OnceLock;

use bytemuck::cast_slice;
use oracles::random::{generator, values};
use oracles::{Expected, Oracle, convolution};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::error::{NoSuchSize, Result};
use crate::origin::Origin;
use crate::problem::{Arithmetic, Footprint, Problem, Work};
use crate::values::Values;

pub use size::{MOST_SAMPLES, SEED_SIZE, Size, TEACHING_SIZE};

/// A convolution with its inputs.
pub struct Convolution {
    signal: Vec<f32>,
    filter: Vec<f32>,
    values: Values,
    origin: Origin,
    oracle: OnceLock<Oracle>,
}

impl Convolution {
    /// Generates inputs, the same for the same seed on every machine. The numbers are chosen so that a
    /// mistake shows: neighbors differ, both signs occur, and magnitudes are in 0.5..1.
    ///
    /// A missing tap changes an output by at least `0.5 * 0.5`, which is above the tolerance of nine outputs in ten at the
    /// original's 32768 taps, and of every output at a few thousand. If magnitudes could be near zero, a missing tap could go unnoticed; with
    /// only one sign, the tolerance would have to be far larger.
    pub fn random(size: Size, seed: u64) -> Self {
        let mut generator = generator(seed);
        let signal = values(&mut generator, size.samples() as usize);
        let filter = values(&mut generator, size.taps as usize);
        Self { signal, filter, values: Values::Usual, origin: Origin::Seed(seed), oracle: OnceLock::new() }
    }

    /// Takes inputs as given, for the sum in the module's documentation.
    /// Fails when the filter is empty or longer than the signal.
    pub fn new(signal: Vec<f32>, filter: Vec<f32>) -> Result<Self> {
        let (samples, taps) = (signal.len() as u64, filter.len() as u64);
        if taps == 0 || taps > samples || samples > MOST_SAMPLES {
            let reason = format!(
                "a filter needs at least 1 tap; a signal needs at least as many samples as the filter has taps, and at most {MOST_SAMPLES}"
            );
            return Err(NoSuchSize::new(format!("{samples} samples and {taps} taps"), reason));
        }
        Ok(Self { signal, filter, values: Values::Usual, origin: Origin::Given, oracle: OnceLock::new() })
    }

    /// Replaces the origin of the data.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> u32 {
        (self.signal.len() - self.filter.len() + 1) as u32
    }

    /// Returns the number of filter values, and of multiply-adds per output.
    pub fn taps(&self) -> u32 {
        self.filter.len() as u32
    }

    /// Returns the `outputs + taps - 1` samples.
    pub fn signal(&self) -> &[f32] {
        &self.signal
    }

    /// Returns the `taps` filter values.
    pub fn filter(&self) -> &[f32] {
        &self.filter
    }
}

/// Shows the sizes and the first few values: enough to repeat a failed test, without a million numbers.
impl fmt::Debug for Convolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = |values: &[f32]| values[..values.len().min(8)].to_vec();
        let (signal, filter) = (first(&self.signal), first(&self.filter));
        write!(f, "{}, signal {signal:?} …, filter {filter:?} …", self.describe())
    }
}

impl Problem for Convolution {
    const NAME: &'static str = "convolution";
    const ARITHMETIC: Arithmetic = Arithmetic::F32;

    fn of_case(case: &str, seed: u64) -> Result<Self, String> {
        let (size, values) = Case::new(case)?.size_and_values()?;
        let mut problem = Self { values, ..Self::random(size, seed) };
        values.apply(&mut problem.signal, &mut problem.filter);
        Ok(problem)
    }

    fn describe(&self) -> String {
        self.origin.describe(format!("{} outputs x {} taps{}", self.outputs(), self.taps(), self.values.words()))
    }

    fn sizes(&self) -> Map<String, Value> {
        self.origin.record([("outputs", json!(self.outputs())), ("taps", json!(self.taps()))])
    }

    fn work(&self) -> Work {
        let (outputs, taps, samples) = (self.outputs() as u64, self.taps() as u64, self.signal.len() as u64);
        Work { multiply_adds: outputs * taps, bytes: 4 * (samples + taps + outputs), arithmetic: Self::ARITHMETIC }
    }

    fn part(&self, multiply_adds: u64) -> Option<Self> {
        let (outputs, taps) = (self.outputs() as usize, self.taps() as usize);
        let most = usize::try_from(multiply_adds).unwrap_or(usize::MAX);
        let some_taps = taps.min(512.max(most / outputs));
        let some_outputs = outputs.min(256.max(most / some_taps));
        Self::new(self.signal[..some_outputs + some_taps - 1].to_vec(), self.filter[..some_taps].to_vec()).ok()
    }

    fn footprint(&self) -> Footprint {
        Size { outputs: self.outputs(), taps: self.taps() }.footprint()
    }

    fn inputs(&self) -> Vec<(&'static str, &[u8])> {
        vec![("signal", cast_slice(&self.signal)), ("filter", cast_slice(&self.filter))]
    }

    fn outputs(&self) -> &'static [&'static str] {
        &["output"]
    }

    fn output_len(&self) -> usize {
        self.outputs() as usize
    }

    fn launch_sizes(&self) -> Vec<(&'static str, u32)> {
        vec![("outputs", self.outputs()), ("taps", self.taps())]
    }

    fn expected_at(&self, indices: &[usize]) -> Vec<Expected> {
        let run = |run: &[usize]| convolution::whole(&self.signal[run[0]..][..run.len() + self.filter.len() - 1], &self.filter);
        indices.chunk_by(|one, next| one + 1 == *next).flat_map(run).collect()
    }

    fn oracle(&self) -> &Oracle {
        self.oracle.get_or_init(|| convolution::oracle(&self.signal, &self.filter))
    }

    fn mistakes(&self) -> Vec<(&'static str, Oracle)> {
        let (signal, filter) = (self.signal.as_slice(), self.filter.as_slice());
        let reversed: Vec<f32> = filter.iter().rev().copied().collect();
        let mut mistakes =
            vec![("that runs through the filter backwards: is it filter[j] that belongs to signal[i + j]?", signal, reversed)];
        if let ([shorter @ .., _], [taps @ .., _], [_, later @ ..], [_, rest @ ..]) = (signal, filter, signal, filter)
            && !taps.is_empty()
        {
            mistakes.push(("that leaves out the last tap: what is the last j of its loop?", shorter, taps.to_vec()));
            mistakes.push(("that leaves out the first tap: what is the first j of its loop?", later, rest.to_vec()));
            let same = vec![filter[0]; filter.len()];
            mistakes.push((
                "that multiplies every sample by the first filter value: does the filter's index change?",
                signal,
                same,
            ));
        }
        mistakes.into_iter().map(|(what, signal, filter)| (what, convolution::oracle(signal, &filter))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracles::rounding::UNIT_ROUNDOFF;

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
}
