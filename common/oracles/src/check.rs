//! The comparison of an output with its oracle, and the kind of mistake that a wrong one looks like.
//!
//! A comparison is written so that a NaN fails: `!(error <= tolerance)`. The opposite test, `error > tolerance`, is false for NaN,
//! and a kernel that writes nothing but NaN would pass.
//!
//! An oracle that computes every output takes too long for the largest sizes. There a sample is compared one by one, and sums over
//! runs of outputs cover the rest; see [`Sampled`].

use crate::expected::{Expected, within};
use crate::mismatch::{self, Mismatch, Pattern, Worst};
use crate::output::{Downloaded, POISON};
use crate::sampled::{RUN, RunSum, Sampled};

/// The values to compare an output with.
#[derive(Clone, Debug)]
pub enum Oracle {
    /// The expected value of every output.
    Whole(Vec<Expected>),
    /// The expected values of a sample, and of sums that cover every output.
    Sampled(Sampled),
}

impl Oracle {
    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        match self {
            Oracle::Whole(expected) => expected.len(),
            Oracle::Sampled(sampled) => sampled.outputs,
        }
    }

    /// Returns the expected values of outputs that are rounded once more. An error is at most `unit` of the magnitude, and `largest` is
    /// a bound of all magnitudes.
    pub fn rounded(&self, unit: f64, largest: f64) -> Self {
        let rounded = |expected: Expected| {
            let tolerance = expected.tolerance + unit * (expected.value.abs() + expected.tolerance);
            Expected { tolerance, ..expected }
        };
        match self {
            Oracle::Whole(expected) => Oracle::Whole(expected.iter().copied().map(rounded).collect()),
            Oracle::Sampled(sampled) => Oracle::Sampled(Sampled {
                sample: sampled.sample.iter().map(|&(index, expected)| (index, rounded(expected))).collect(),
                sums: (sampled.sums.iter())
                    .map(|sum| RunSum { tolerance: sum.tolerance * (1.0 + unit) + unit * RUN as f64 * largest, ..*sum })
                    .collect(),
                ..sampled.clone()
            }),
        }
    }

    /// Returns the expected value of every output, unless the oracle is sampled.
    pub fn whole(&self) -> Option<&[Expected]> {
        match self {
            Oracle::Whole(expected) => Some(expected),
            Oracle::Sampled(_) => None,
        }
    }
}

/// Proof that an output was compared with the oracle and passed. Only [`check`] makes one, and a row of the table cannot show
/// a time without it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    max_error: f64,
    tolerance: f64,
    sampled: Option<usize>,
}

impl Accuracy {
    /// Returns the error that comes closest to its tolerance.
    pub fn max_error(&self) -> f64 {
        self.max_error
    }

    /// Returns the tolerance of the output with that error.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Returns the number of outputs compared individually, where sums cover the rest; `None` if every output was.
    pub fn sampled(&self) -> Option<usize> {
        self.sampled
    }
}

/// Compares what a stage left on the device with the oracle. `allowance` is added to every tolerance; it is zero unless the stage
/// declares that it rounds differently. Fails when a value is wrong, missing, or outside the output.
pub fn check(got: &Downloaded, oracle: &Oracle, allowance: f64) -> Result<Accuracy, Box<Mismatch>> {
    let Downloaded { values, breach } = got;
    let total = oracle.outputs();
    let missing = total.abs_diff(values.len());
    let (compared, sums) = match oracle {
        Oracle::Whole(expected) => (one_by_one(values, expected.iter().copied().enumerate(), allowance), None),
        Oracle::Sampled(sampled) => (
            one_by_one(values, sampled.sample.iter().copied(), allowance),
            (missing == 0).then(|| sampled.check(values, allowance)),
        ),
    };
    let Compared { wrong, worst, closest_call } = compared;
    if wrong.is_empty() && missing == 0 && sums.as_ref().is_none_or(|sums| sums.wrong == 0) && breach.is_none() {
        return Ok(Accuracy { sampled: sums.map(|sums| sums.compared), ..closest_call });
    }
    let is_unwritten = |value: &f32| value.to_bits() == POISON;
    let (unwritten, pattern, shift) = match oracle {
        Oracle::Whole(expected) => (
            wrong.iter().filter(|&&index| is_unwritten(&values[index])).count(),
            Pattern::of(&wrong, total),
            mismatch::shift(&wrong, values, expected),
        ),
        Oracle::Sampled(_) => (values.iter().filter(|value| is_unwritten(value)).count(), None, None),
    };
    let wrong = wrong.len() + missing;
    Err(Box::new(Mismatch {
        total,
        wrong,
        unwritten,
        worst,
        pattern,
        shift,
        sampled: sums,
        breach: *breach,
        ..Mismatch::default()
    }))
}

struct Compared {
    /// Indices of the wrong outputs.
    wrong: Vec<usize>,
    /// The wrong output that is furthest off, in units of its tolerance.
    worst: Option<Worst>,
    /// Of the right outputs, the one that is furthest off, in units of its tolerance.
    closest_call: Accuracy,
}

fn one_by_one(values: &[f32], expected: impl Iterator<Item = (usize, Expected)>, allowance: f64) -> Compared {
    let closest_call = Accuracy { max_error: 0.0, tolerance: 0.0, sampled: None };
    let mut compared = Compared { wrong: Vec::new(), worst: None, closest_call };
    let (mut highest_passed, mut highest_failed) = (-1.0, -1.0);
    for (index, oracle) in expected {
        let Some(&value) = values.get(index) else { continue };
        if oracle.is_untouched() && value.to_bits() == POISON {
            continue;
        }
        let expected = Expected { tolerance: oracle.tolerance + allowance, ..oracle };
        let error = (f64::from(value) - expected.value).abs();
        if !within(error, expected.tolerance) {
            compared.wrong.push(index);
            let ratio = if error.is_nan() { f64::INFINITY } else { error / expected.tolerance };
            if ratio > highest_failed {
                highest_failed = ratio;
                compared.worst = Some(Worst { index, got: value, expected });
            }
        } else if error > highest_passed * expected.tolerance {
            highest_passed = error / expected.tolerance;
            compared.closest_call = Accuracy { max_error: error, tolerance: expected.tolerance, sampled: None };
        }
    }
    compared
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Breach, poison};

    fn expected(len: usize) -> Vec<Expected> {
        (0..len).map(|i| Expected { value: (i * i) as f64, tolerance: 0.25 }).collect()
    }

    fn right(len: usize) -> Vec<f32> {
        (0..len).map(|i| (i * i) as f32).collect()
    }

    fn mismatch(values: Vec<f32>) -> Box<Mismatch> {
        let len = values.len();
        check(&Downloaded { values, breach: None }, &Oracle::Whole(expected(len)), 0.0).expect_err("is wrong")
    }

    #[test]
    fn a_right_output_passes_and_reports_its_closest_call() {
        let mut values = right(100);
        values[7] += 0.125;
        let accuracy = check(&Downloaded { values, breach: None }, &Oracle::Whole(expected(100)), 0.0).unwrap();
        assert_eq!((accuracy.max_error(), accuracy.tolerance()), (0.125, 0.25));
    }

    #[test]
    fn nan_infinity_and_poison_fail() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(POISON)] {
            let mut values = right(100);
            values[31] = bad;
            assert_eq!(mismatch(values).pattern, Some(Pattern::Only(31)), "{bad}");
        }
    }

    #[test]
    fn what_must_stay_untouched_is_checked() {
        let mut oracle = expected(4);
        oracle[1] = Expected::UNTOUCHED;
        let untouched = f32::from_bits(POISON);
        let oracle = Oracle::Whole(oracle);
        let outcome = |value: f32| {
            let values = vec![0.0, value, 4.0, 9.0];
            check(&Downloaded { values, breach: None }, &oracle, 0.0).map_err(|mismatch| mismatch.to_string())
        };
        assert!(outcome(untouched).is_ok());
        for value in [0.0, f32::NAN] {
            let error = outcome(value).unwrap_err();
            assert!(error.contains("only output[1]") && error.contains("but nothing belongs there"), "{error}");
        }
    }

    #[test]
    fn a_short_output_fails() {
        let error = check(&Downloaded { values: right(99), breach: None }, &Oracle::Whole(expected(100)), 0.0).unwrap_err();
        assert_eq!(error.wrong, 1);
    }

    #[test]
    fn a_store_outside_a_right_output_fails() {
        let breach = Some(Breach { elements: 24, nearest: 1 });
        let error = check(&Downloaded { values: right(10), breach }, &Oracle::Whole(expected(10)), 0.0).unwrap_err();
        assert!(error.to_string().contains("24 elements outside the output"), "{error}");
    }

    #[test]
    fn patterns_are_recognized() {
        type Rule = fn(usize) -> bool;
        let cases: [(Rule, &str); 9] = [
            (|_| true, "every one"),
            (|i| i == 999, "only output[999]"),
            (|i| i >= 768, "only the last block of 256, from output[768] on"),
            (|i| i >= 101, "all from output[101] on"),
            (|i| i < 8, "all up to output[7]"),
            (|i| (256..512).contains(&i), "all from output[256] to output[511]"),
            (|i| i % 16 == 15, "every 16th one, at output[16 k + 15]"),
            (|i| i % 256 >= 240, "offsets 240 to 255 of every block of 256"),
            (|i| i % 2 == 1, "every 2nd one, at output[2 k + 1]"),
        ];
        for (is_wrong, pattern) in cases {
            let values = right(1000).into_iter().enumerate().map(|(i, value)| if is_wrong(i) { value + 9.5 } else { value });
            let report = mismatch(values.collect());
            assert_eq!(report.pattern.map(|pattern| pattern.to_string()).as_deref(), Some(pattern), "{report}");
        }
        let scattered = right(1000).into_iter().enumerate().map(|(i, value)| if [3, 50, 333].contains(&i) { -1.0 } else { value });
        assert_eq!(mismatch(scattered.collect()).pattern, None);
    }

    #[test]
    fn an_output_of_two_arrays_is_told_by_their_names() {
        let report = |range: std::ops::Range<usize>| {
            let values = right(1000).into_iter().enumerate().map(|(i, value)| if range.contains(&i) { value + 9.5 } else { value });
            let report = mismatch(values.collect());
            crate::Mismatch { arrays: &["sums", "squares"], row: Some(100), ..*report }.to_string()
        };
        assert!(report(0..500).contains("500 of 1000 outputs are wrong: every one of sums"), "{}", report(0..500));
        let second = report(500..1000);
        assert!(second.contains("every one of squares") && second.contains("worst: squares["), "{second}");
        assert!(second.contains("row ") && !second.contains("output["), "{second}");
        assert!(report(500..999).contains("all from output[500] to output[998]"), "{}", report(500..999));
    }

    #[test]
    fn unwritten_elements_are_reported() {
        let mut values = right(1000);
        values.splice(744.., poison(256));
        let report = mismatch(values);
        assert_eq!(report.unwritten, 256);
        assert!(report.to_string().contains("the poison"), "{report}");
    }

    #[test]
    fn a_shifted_index_is_named() {
        let values = (0..100).map(|i: i32| ((i + 1) * (i + 1)) as f32).collect();
        assert_eq!(mismatch(values).shift, Some(1));
    }
}
