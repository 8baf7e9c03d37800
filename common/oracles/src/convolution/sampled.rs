//! The oracle of a large convolution: a sample, and sums that cover all outputs.
//!
//! The sums are those of [`Sampled`]. For the run that starts at output `i`, and with `s` the signal from sample `i` on,
//!
//! `sum over x of z^x output[i + x] = sum over j of filter[j] * d[j]`, with `d[j] = sum over x of z^x s[j + x]`
//!
//! and from one `d` to the next, one sample leaves the window and one enters: `d[j + 1] = (d[j] - s[j]) / z + z^(run - 1) s[j + run]`.
//! So all outputs of a run together take two complex multiply-adds per tap. Because `z` has magnitude 1, the errors of this recurrence do
//! not grow: in f64, they stay below `2^-53 * taps * sum |s|`, a thousandth of a run's tolerance at the largest sizes.

use super::sums;
use crate::parallel;
use crate::progress;
use crate::rounding::{TREE_DEPTH, UNIT_ROUNDOFF, flushed, norm};
use crate::sampled::{Complex, POINTS, RunSum, Sampled, Weights, indices_of_sample, roundings, runs};

/// Computes expected values for a sample, and expected sums for all outputs.
pub fn sampled(signal: &[f32], filter: &[f32]) -> Sampled {
    let (outputs, taps) = (signal.len() - filter.len() + 1, filter.len());
    let bar = progress::bar("oracle", outputs as u64);
    let filter_norm = norm(filter);
    let one = |index: usize| {
        let [expected] = sums::<1>(&signal[index..], filter);
        let ratio = (expected.tolerance - flushed(taps)) / (UNIT_ROUNDOFF * filter_norm * norm(&signal[index..index + taps]));
        ((index, expected), ratio)
    };
    let indices = indices_of_sample(outputs);
    let (sample, ratios): (Vec<_>, Vec<_>) = parallel::map(indices.len(), |at| one(indices[at])).into_iter().unzip();
    // A sum of terms that are mostly zeros rounds seldom.
    let roundings = roundings(ratios.into_iter(), TREE_DEPTH + (taps as f64).sqrt());

    let weights = Weights::new();
    let runs: Vec<_> = runs(outputs, outputs).collect();
    let sums = parallel::map(runs.len(), |at| {
        let run = &runs[at];
        let window = &signal[run.start..run.end + taps - 1];
        let values = run_sums(window, filter, run.len(), &weights);
        bar.inc(run.len());
        let tolerance = roundings * UNIT_ROUNDOFF * filter_norm * norm(window) + flushed(taps);
        RunSum { values, tolerance: tolerance * run.len() as f64 }
    });
    Sampled { outputs, columns: outputs, sample, scales: None, sums }
}

/// Returns the sums over `run` outputs that have these samples.
fn run_sums(samples: &[f32], filter: &[f32], run: usize, weights: &Weights) -> [Complex; POINTS] {
    let mut window = weights.sums(samples[..run].iter().map(|&sample| f64::from(sample)));
    let last = weights.powers[run - 1];
    let mut sums = [[0.0; 2]; POINTS];
    for (j, &tap) in filter.iter().enumerate() {
        let tap = f64::from(tap);
        let leaves = f64::from(samples[j]);
        // The last tap needs no window after its own.
        let enters = samples.get(j + run).map_or(0.0, |&sample| f64::from(sample));
        for point in 0..POINTS {
            let ([re, im], [z_re, z_im]) = (window[point], weights.points[point]);
            sums[point] = [sums[point][0] + tap * re, sums[point][1] + tap * im];
            // Divided by z, which is multiplied by its conjugate.
            let re = re - leaves;
            let enter = last[point];
            window[point] = [re * z_re + im * z_im + enters * enter[0], im * z_re - re * z_im + enters * enter[1]];
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Accuracy, Oracle, check};
    use crate::convolution::whole;
    use crate::mismatch::Mismatch;
    use crate::output::Downloaded;
    use crate::random::{generator, values};
    use crate::sampled::RUN;

    /// A signal and a filter.
    type Inputs = (Vec<f32>, Vec<f32>);

    fn random(outputs: usize, taps: usize) -> Inputs {
        let mut generator = generator(13);
        (values(&mut generator, outputs + taps - 1), values(&mut generator, taps))
    }

    fn in_f32((signal, filter): &Inputs) -> Vec<f32> {
        let windows = signal.windows(filter.len());
        windows.map(|window| window.iter().zip(filter).fold(0.0_f32, |sum, (sample, tap)| sum + sample * tap)).collect()
    }

    fn verdict(values: &[f32], sampled: &Sampled) -> Result<Accuracy, Box<Mismatch>> {
        check(&Downloaded { values: values.to_vec(), breach: None }, &Oracle::Sampled(sampled.clone()), 0.0)
    }

    #[test]
    fn the_sums_of_a_run_are_those_of_its_outputs() {
        for (outputs, taps) in [(1, 1), (1, 40), (63, 5), (64, 1), (65, 64), (200, 129)] {
            let (signal, filter) = random(outputs, taps);
            let sampled = sampled(&signal, &filter);
            let weights = Weights::new();
            assert_eq!(sampled.sums.len(), outputs.div_ceil(RUN));
            for (sum, expected) in sampled.sums.iter().zip(whole(&signal, &filter).chunks(RUN)) {
                for point in 0..POINTS {
                    for part in 0..2 {
                        let values =
                            expected.iter().zip(&weights.powers).map(|(expected, weight)| expected.value * weight[point][part]);
                        let direct: f64 = values.sum();
                        assert!((sum.values[point][part] - direct).abs() < 1e-11, "{outputs}x{taps}: {sum:?}, {direct}");
                    }
                }
            }
        }
    }

    #[test]
    fn correct_outputs_pass_also_where_rounding_errors_pile_up_or_most_is_silence() {
        let random = random(20_011, 130);
        let one_sign = (vec![0.1; 9000], vec![1.1; 3000]);
        let click: Vec<f32> = (0..5000).map(|at| if (2000..2040).contains(&at) { 0.7 } else { 0.0 }).collect();
        let loud_then_quiet: Vec<f32> = (0..6000).map(|at| if at < 3000 { 1e6 } else { 1e-3 * ((at * at) as f32).sin() }).collect();
        let decay: Vec<f32> = (0..700).map(|at| (-0.02 * at as f32).exp()).collect();
        let sounds = [click, loud_then_quiet].map(|sound| (sound, decay.clone()));
        for (case, inputs) in [random, one_sign].into_iter().chain(sounds).enumerate() {
            let outcome = verdict(&in_f32(&inputs), &sampled(&inputs.0, &inputs.1));
            assert!(outcome.is_ok(), "case {case}: {}", outcome.unwrap_err());
        }
    }

    #[test]
    fn one_wrong_output_anywhere_is_found_without_the_sample() {
        let inputs = random(3 * RUN + 7, 300);
        let right = in_f32(&inputs);
        let sampled = Sampled { sample: Vec::new(), ..sampled(&inputs.0, &inputs.1) };
        let largest = sampled.sums.iter().map(|sum| sum.tolerance).fold(0.0, f64::max) as f32;
        assert!(2.0 * largest < 0.25, "a missing tap would go unseen: {largest}");
        for index in 0..right.len() {
            for wrong in [right[index] + 2.0 * largest, right[index] - 2.0 * largest, f32::NAN, f32::NEG_INFINITY] {
                let mut values = right.clone();
                values[index] = wrong;
                let sums = verdict(&values, &sampled).expect_err("one output is wrong").sampled.expect("the oracle is sampled");
                assert!(sums.wrong == 1 && sums.first.is_some_and(|run| run.contains(&index)), "{index}, {wrong}");
            }
        }
        let shifted: Vec<f32> = right[1..].iter().chain(&right[..1]).copied().collect();
        assert_eq!(
            verdict(&shifted, &sampled).expect_err("every output is its neighbor's").sampled.map(|sums| sums.wrong),
            Some(4)
        );
        let mut swapped = right.clone();
        swapped.swap(70, 71);
        assert_eq!(verdict(&swapped, &sampled).expect_err("two are swapped").sampled.map(|sums| sums.wrong), Some(1));
    }
}
