//! The comparison of outputs that are too expensive to compute twice: a sample one by one, and sums that cover every output.
//!
//! The idea is that of R. Freivalds ("Probabilistic machines can use less running time", 1977): to check that `C = A B`, compare
//! `C x` with `A (B x)` for a random vector `x`, which takes `n^2` operations instead of `n^3`. A vector for the whole output would be
//! blind to small errors, because the rounding errors of a correct result add up in the sum as well. So the outputs are cut into runs
//! of [`RUN`] neighbors, and each run has sums of its own. With weights `w[x] = z^x` for random complex numbers `z` of magnitude 1,
//!
//! `sum over x of z^x output[start + x]`
//!
//! can be computed from the inputs with 1/[`RUN`] of the work that the outputs take, for products of matrices as well as for
//! convolutions.
//!
//! # What passes
//!
//! A weight has magnitude 1, so the sum of a correct run is off by at most the sum of its tolerances. That holds for every `z`: a correct
//! output never fails by bad luck. The tolerance of an output that is not in the sample is not known; see [`roundings`].
//!
//! # What fails
//!
//! - A NaN anywhere, and with it every output that was not written, because the sum of its run is NaN.
//! - An output that is the only wrong one of its run, if it is off by more than the run's tolerances together (twice that, if the
//!   correct outputs of the run use up theirs). Its weight has magnitude 1, so no `z` hides it.
//! - Several wrong outputs in a run, unless their errors cancel. The mean over all `z` of the squared sum is the sum of the squared
//!   errors. Errors of 0 and 1 unit cancel for at most [`RUN`]` - 1` of all `z`, so with probability 0; near such a `z` the sum is small,
//!   and [`POINTS`] independent points make it unlikely that all of them are near one.
//!
//! Errors that are smaller than that, but larger than the tolerance of a single output, are the task of the sample: if a fraction `p` of
//! the outputs is wrong, a sample of `s` misses all of them with probability `(1 - p)^s`. For one output in a thousand and `s = 16384`,
//! that is `8e-8`.
//!
//! The points come from a generator with a fixed seed, so that a run can be repeated. Chance here means the chance that a mistake, which
//! knows nothing of the seed, fits the points.

use std::array;
use std::f64::consts::PI;
use std::ops::Range;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::expected::{Expected, within};
use crate::mismatch::WrongSums;
use crate::parallel;

/// Outputs of a run: the checks take 1/64 of the work of the outputs, and a run's tolerance is that of 64 outputs.
pub const RUN: usize = 64;

/// Points at which the sums of each run are compared.
pub const POINTS: usize = 2;

/// Outputs of the sample that [`indices_of_sample`] chooses.
pub const SAMPLED: usize = 16_384;

/// Most products of an oracle that computes every output. Beyond it, an oracle computes a sample, and sums of the rest. This many take
/// some seconds on two cores, and a product of 4096 x 4096 matrices has sixteen times as many.
pub const MOST_PRODUCTS_OF_A_WHOLE_ORACLE: u64 = 1 << 32;

/// A complex number: real and imaginary part.
pub type Complex = [f64; 2];

/// The expected sums of a run of outputs.
#[derive(Clone, Copy, Debug)]
pub struct RunSum {
    /// The weighted sum at each point.
    pub values: [Complex; POINTS],
    /// How far the sums of a correct run may lie from these.
    pub tolerance: f64,
}

/// An oracle of a sample's outputs and the sums of all runs.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// Number of outputs.
    pub outputs: usize,
    /// Outputs in a row. A run ends where its row ends.
    pub columns: usize,
    /// The expected values of the sample, by index.
    pub sample: Vec<(usize, Expected)>,
    /// Factors of the outputs in their sums, where the outputs themselves are not linear in the inputs.
    pub scales: Option<Vec<f64>>,
    /// The expected sums of every run, in order.
    pub sums: Vec<RunSum>,
}

impl Sampled {
    /// Compares the sums of every run.
    pub(crate) fn check(&self, values: &[f32], allowance: f64) -> WrongSums {
        let weights = Weights::new();
        let runs: Vec<Range<usize>> = runs(self.outputs, self.columns).collect();
        let is_wrong = parallel::map(runs.len().min(self.sums.len()), |at| {
            let (run, expected) = (&runs[at], &self.sums[at]);
            let scale = |index: usize| self.scales.as_ref().map_or(1.0, |scales| scales[index]);
            let tolerance = expected.tolerance + allowance * run.clone().map(scale).sum::<f64>();
            let sums = weights.sums(run.clone().map(|index| scale(index) * f64::from(values[index])));
            let error = |(sum, value): (Complex, Complex)| (sum[0] - value[0]).hypot(sum[1] - value[1]);
            !sums.into_iter().zip(expected.values).map(error).all(|error| within(error, tolerance))
        });
        let wrong: Vec<&Range<usize>> = runs.iter().zip(is_wrong).filter(|(_, is_wrong)| *is_wrong).map(|(run, _)| run).collect();
        // A run without an expected sum would go unchecked.
        let missing = runs.len().abs_diff(self.sums.len());
        WrongSums {
            compared: self.sample.len(),
            sums: runs.len(),
            wrong: wrong.len() + missing,
            first: wrong.first().map(|&run| run.clone()),
        }
    }
}

/// Returns the runs of outputs in rows of `columns`.
pub fn runs(outputs: usize, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let rows = (0..outputs).step_by(columns.max(1)).map(move |start| start..(start + columns).min(outputs));
    rows.flat_map(|row| row.clone().step_by(RUN).map(move |start| start..(start + RUN).min(row.end)))
}

/// The weights of a run's outputs.
pub struct Weights {
    /// `z` of each point.
    pub points: [Complex; POINTS],
    /// For each output of a run, `z^x` of each point.
    pub powers: [[Complex; POINTS]; RUN],
}

impl Weights {
    /// Returns the weights, the same at every call.
    pub fn new() -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(64);
        // The outputs are real, so `z` and its conjugate say the same; near 1 and -1, neighboring weights are nearly equal or opposite.
        let angles: [f64; POINTS] = array::from_fn(|_| PI / 8.0 + 0.75 * PI * f64::from(generator.next_u32()) / 2.0_f64.powi(32));
        let power = |x: usize| angles.map(|angle| [(angle * x as f64).cos(), (angle * x as f64).sin()]);
        Self { points: power(1), powers: array::from_fn(power) }
    }

    /// Returns the weighted sums of a run.
    pub fn sums(&self, run: impl Iterator<Item = f64>) -> [Complex; POINTS] {
        let mut sums = [[0.0; 2]; POINTS];
        for (value, weights) in run.zip(&self.powers) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum = [sum[0] + weight[0] * value, sum[1] + weight[1] * value];
            }
        }
        sums
    }
}

/// Chooses the indices of a sample, in ascending order: both ends, and a random output of each of `SAMPLED` equal stretches.
pub fn indices_of_sample(outputs: usize) -> Vec<usize> {
    let mut generator = ChaCha8Rng::seed_from_u64(4096);
    let stretches = SAMPLED.min(outputs);
    let start = |stretch: usize| (stretch as u128 * outputs as u128 / stretches as u128) as usize;
    let mut index = |stretch: usize| start(stretch) + generator.next_u64() as usize % (start(stretch + 1) - start(stretch));
    let mut indices: Vec<usize> = (0..stretches).map(&mut index).collect();
    indices[0] = 0;
    indices[stretches - 1] = outputs - 1;
    indices
}

/// Returns the number of roundings that an output's tolerance covers: the largest ratio of the sample's tolerances to `unit * magnitude`,
/// where the magnitude is an upper bound for the sum of the output's terms without their signs.
///
/// The sums of a run need the tolerances of all its outputs, and computing those would take as long as the outputs. Magnitudes have
/// cheap upper bounds: by the inequality of Cauchy and Schwarz, `sum |a[l] b[l]| <= |a| |b|`. What a bound on magnitudes does not know is
/// how the partial sums of the terms behave. They stay small when signs are mixed, and grow steadily when all signs agree. That is a
/// property of the data, and the sample shows it. It visits every part of the output, so the largest ratio in the sample is a fair bound
/// for the rest, of which a run adds up 64. `at_least` is a floor for data that are mostly zeros, where a sample may see nothing.
pub fn roundings(ratios: impl Iterator<Item = f64>, at_least: f64) -> f64 {
    // A window of zeros has no ratio.
    ratios.filter(|ratio| ratio.is_finite()).fold(at_least, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_with_their_rows() {
        assert_eq!(runs(200, 100).collect::<Vec<_>>(), [0..64, 64..100, 100..164, 164..200]);
        assert_eq!(runs(65, 65).collect::<Vec<_>>(), [0..64, 64..65]);
    }

    #[test]
    fn the_sample_visits_every_stretch_and_both_ends() {
        for outputs in [1, 2, 5, SAMPLED, SAMPLED + 1, 100_000] {
            let sample = indices_of_sample(outputs);
            assert_eq!((sample.len(), sample[0], sample[sample.len() - 1]), (outputs.min(SAMPLED), 0, outputs - 1));
            assert!(sample.is_sorted_by(|one, next| one < next));
            assert!(sample.windows(2).all(|pair| pair[1] - pair[0] <= 2 * outputs.div_ceil(SAMPLED)), "{outputs}");
        }
    }

    #[test]
    fn weights_have_magnitude_1_and_the_points_differ() {
        let weights = Weights::new();
        assert!(weights.powers.as_flattened().iter().all(|[re, im]| (re.hypot(*im) - 1.0).abs() < 1e-15));
        let [[one, _], [other, _]] = weights.points;
        assert!((one - other).abs() > 0.1 && one.abs() < 0.93 && other.abs() < 0.93, "{one} {other}");
    }
}
