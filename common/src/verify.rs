//! Whether a stage computed what it should, and if not, what kind of mistake it looks like.
//!
//! The comparison is written so that a NaN fails: `!(error <= tolerance)`. The other way round, `error > tolerance` is false
//! for NaN, and a kernel that writes nothing but NaN passes.

use std::fmt;

use crate::guard::{Breach, Downloaded, POISON};

/// One value of the oracle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// What the computation yields in f64.
    pub value: f64,
    /// How far an honest f32 result may lie from it.
    pub tolerance: f64,
}

impl Expected {
    /// Stands for an output that a stage must leave alone: it still holds the poison that was there before.
    pub const UNTOUCHED: Self = Self { value: f64::NAN, tolerance: f64::NAN };

    /// Whether this is [`Expected::UNTOUCHED`].
    pub fn is_untouched(&self) -> bool {
        self.tolerance.is_nan()
    }

    /// What a stage without rounding errors leaves there.
    pub fn nearest(&self) -> f32 {
        if self.is_untouched() { f32::from_bits(POISON) } else { self.value as f32 }
    }
}

/// Proof that an output was compared with the oracle and passed. Only [`check`] makes one, and a row of the table cannot show
/// a time without it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    max_error: f64,
    tolerance: f64,
}

impl Accuracy {
    /// The error that comes closest to its tolerance.
    pub fn max_error(&self) -> f64 {
        self.max_error
    }

    /// The tolerance at that place.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }
}

/// Compares what a stage left on the device with the oracle. `allowance` is added to every tolerance; it is zero unless the stage
/// says why it rounds otherwise.
///
/// # Errors
///
/// [`Mismatch`], when a value is off, missing, or beside the output.
pub fn check(got: &Downloaded, expected: &[Expected], allowance: f64) -> Result<Accuracy, Box<Mismatch>> {
    let Downloaded { values, breach } = got;
    let mut wrong = Vec::new();
    // Of the values that are right, and of those that are wrong, the one that is furthest off in units of its tolerance.
    let (mut closest_call, mut worst) = (Accuracy { max_error: 0.0, tolerance: 0.0 }, None);
    let (mut highest_passed, mut highest_failed) = (-1.0, -1.0);
    for (index, (&value, oracle)) in values.iter().zip(expected).enumerate() {
        if oracle.is_untouched() && value.to_bits() == POISON {
            continue;
        }
        let expected = Expected { tolerance: oracle.tolerance + allowance, ..*oracle };
        let error = (f64::from(value) - expected.value).abs();
        #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must fail, and it is neither above nor below")]
        let fails = !(error <= expected.tolerance);
        if fails {
            wrong.push(index);
            let ratio = if error.is_nan() { f64::INFINITY } else { error / expected.tolerance };
            if ratio > highest_failed {
                highest_failed = ratio;
                worst = Some(Worst { index, got: value, expected });
            }
        } else if error > highest_passed * expected.tolerance {
            highest_passed = error / expected.tolerance;
            closest_call = Accuracy { max_error: error, tolerance: expected.tolerance };
        }
    }
    let missing = expected.len().abs_diff(values.len());
    if wrong.is_empty() && missing == 0 && breach.is_none() {
        return Ok(closest_call);
    }
    let unwritten = wrong.iter().filter(|&&index| values[index].to_bits() == POISON).count();
    Err(Box::new(Mismatch {
        total: expected.len(),
        wrong: wrong.len() + missing,
        unwritten,
        worst,
        pattern: Pattern::of(&wrong, expected.len()),
        shift: shift(&wrong, values, expected),
        breach: *breach,
    }))
}

/// Whether two arrays hold the same bits. Comparing as numbers would find NaN unequal to itself.
pub fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// What is wrong with an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Length of the output.
    pub total: usize,
    /// Elements outside their tolerance.
    pub wrong: usize,
    /// Elements among them that still hold the poison.
    pub unwritten: usize,
    /// The element that is furthest off.
    pub worst: Option<Worst>,
    /// Where the wrong elements lie, if there is a rule.
    pub pattern: Option<Pattern>,
    /// Every wrong element holds the value that belongs this many places further on.
    pub shift: Option<isize>,
    /// Stores outside the output.
    pub breach: Option<Breach>,
}

/// The worst element of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Its index.
    pub index: usize,
    /// What the stage wrote.
    pub got: f32,
    /// What the oracle says.
    pub expected: Expected,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { total, wrong, unwritten, worst, pattern, shift, breach } = self;
        if *wrong > 0 {
            write!(f, "{wrong} of {total} outputs are wrong")?;
            if let Some(pattern) = pattern {
                write!(f, ": {pattern}")?;
            }
        } else {
            write!(f, "all {total} outputs are right")?;
        }
        if *unwritten > 0 {
            let which = if unwritten == wrong { "none of these".to_owned() } else { format!("{unwritten} of these never") };
            write!(
                f,
                "\n  {which} was written: {} the poison that was there before",
                if unwritten == wrong { "they hold" } else { "still there is" }
            )?;
        }
        if let Some(Worst { index, got, expected: Expected { value, tolerance } }) = worst
            && unwritten < wrong
        {
            if value.is_nan() {
                write!(f, "\n  worst: output[{index}] is {got}, where nothing belongs")?;
            } else {
                write!(f, "\n  worst: output[{index}] is {got}, expected {value:.7} within {tolerance:.2e}")?;
            }
        }
        if let Some(shift) = shift {
            write!(
                f,
                "\n  each of them has the value of output[i {} {}]: an index is off",
                if *shift < 0 { '-' } else { '+' },
                shift.abs()
            )?;
        }
        if let Some(Breach { elements, nearest }) = breach {
            let place = if *nearest > 0 {
                format!("{nearest} past the last output")
            } else {
                format!("{} before the first output", -nearest)
            };
            write!(
                f,
                "\n  {elements} elements beside the output were overwritten, the nearest {place}: a bounds check is missing"
            )?;
        }
        Ok(())
    }
}

/// A rule that says which elements are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Every one.
    All,
    /// A single one.
    Only(usize),
    /// From an index to the end.
    From {
        /// The first that is wrong.
        first: usize,
        /// The power of two that this is a last block of, full or not.
        block: Option<usize>,
    },
    /// From the start up to an index.
    UpTo(usize),
    /// One run in the middle.
    Run(usize, usize),
    /// The same places in every block.
    Periodic {
        /// Length of the block.
        period: usize,
        /// First place in each block.
        first: usize,
        /// Last place in each block.
        last: usize,
    },
}

/// Sizes of blocks and tiles in which kernels tend to go wrong.
const PERIODS: [usize; 14] = [2, 3, 4, 5, 7, 8, 9, 16, 32, 64, 128, 256, 512, 1024];

impl Pattern {
    /// The rule behind the indices in `wrong` (in ascending order), if there is a plain one.
    fn of(wrong: &[usize], total: usize) -> Option<Self> {
        let (&first, &last) = (wrong.first()?, wrong.last()?);
        if wrong.len() == total {
            return Some(Pattern::All);
        }
        if wrong.len() == 1 {
            return Some(Pattern::Only(first));
        }
        if last - first + 1 == wrong.len() {
            return Some(if last + 1 == total {
                let starts_block = |block: &usize| first.is_multiple_of(*block) && total - first <= *block;
                Pattern::From { first, block: [32, 64, 128, 256, 512, 1024].into_iter().find(starts_block) }
            } else if first == 0 {
                Pattern::UpTo(last)
            } else {
                Pattern::Run(first, last)
            });
        }
        PERIODS.into_iter().find_map(|period| Self::periodic(wrong, total, period))
    }

    /// The wrong elements are one run of places in every block of `period`.
    fn periodic(wrong: &[usize], total: usize, period: usize) -> Option<Self> {
        let first = wrong.iter().map(|index| index % period).min()?;
        let last = wrong.iter().map(|index| index % period).max()?;
        let in_run = |index: &usize| (first..=last).contains(&(index % period));
        let whole = (0..total).filter(in_run).count() == wrong.len();
        (whole && last - first + 1 < period).then_some(Pattern::Periodic { period, first, last })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Pattern::All => write!(f, "every one"),
            Pattern::Only(index) => write!(f, "only output[{index}]"),
            Pattern::From { first, block: Some(block) } => write!(f, "only the last block of {block}, from output[{first}] on"),
            Pattern::From { first, block: None } => write!(f, "all from output[{first}] on"),
            Pattern::UpTo(last) => write!(f, "all up to output[{last}]"),
            Pattern::Run(first, last) => write!(f, "all from output[{first}] to output[{last}]"),
            Pattern::Periodic { period, first, last } if first == last => {
                write!(f, "every {period}{} one, at output[{period} k + {first}]", ordinal(period))
            }
            Pattern::Periodic { period, first, last } => write!(f, "places {first} to {last} of every block of {period}"),
        }
    }
}

/// The ending of an ordinal number.
fn ordinal(number: usize) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// Whether every wrong element holds what belongs to a neighbour, the same one for all.
fn shift(wrong: &[usize], values: &[f32], expected: &[Expected]) -> Option<isize> {
    // One wrong element may be like its neighbour by chance.
    if wrong.len() < 4 {
        return None;
    }
    let belongs = |index: usize, shift: isize| {
        let neighbour = index.checked_add_signed(shift).and_then(|neighbour| expected.get(neighbour));
        // An element whose neighbour lies outside the output says nothing.
        neighbour.is_none_or(|neighbour| (f64::from(values[index]) - neighbour.value).abs() <= neighbour.tolerance)
    };
    [1, -1, 2, -2].into_iter().find(|&shift| wrong.iter().all(|&index| belongs(index, shift)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::poison;

    fn expected(len: usize) -> Vec<Expected> {
        (0..len).map(|i| Expected { value: (i * i) as f64, tolerance: 0.25 }).collect()
    }

    fn right(len: usize) -> Vec<f32> {
        (0..len).map(|i| (i * i) as f32).collect()
    }

    fn mismatch(values: Vec<f32>) -> Box<Mismatch> {
        let len = values.len();
        check(&Downloaded { values, breach: None }, &expected(len), 0.0).expect_err("is wrong")
    }

    #[test]
    fn a_right_output_passes_and_tells_its_closest_call() {
        let mut values = right(100);
        values[7] += 0.125;
        let accuracy = check(&Downloaded { values, breach: None }, &expected(100), 0.0).unwrap();
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
    fn what_must_stay_untouched_does() {
        let mut oracle = expected(4);
        oracle[1] = Expected::UNTOUCHED;
        let outcome = |value: f32| {
            let values = vec![0.0, value, 4.0, 9.0];
            check(&Downloaded { values, breach: None }, &oracle, 0.0).map_err(|mismatch| mismatch.to_string())
        };
        assert!(outcome(oracle[1].nearest()).is_ok());
        for value in [0.0, f32::NAN] {
            let error = outcome(value).unwrap_err();
            assert!(error.contains("only output[1]") && error.contains("where nothing belongs"), "{error}");
        }
    }

    #[test]
    fn a_short_output_fails() {
        let error = check(&Downloaded { values: right(99), breach: None }, &expected(100), 0.0).unwrap_err();
        assert_eq!(error.wrong, 1);
    }

    #[test]
    fn a_store_beside_a_right_output_fails() {
        let breach = Some(Breach { elements: 24, nearest: 1 });
        let error = check(&Downloaded { values: right(10), breach }, &expected(10), 0.0).unwrap_err();
        assert!(error.to_string().contains("24 elements beside the output"), "{error}");
    }

    #[test]
    fn patterns_are_recognised() {
        type Rule = fn(usize) -> bool;
        let cases: [(Rule, &str); 9] = [
            (|_| true, "every one"),
            (|i| i == 999, "only output[999]"),
            (|i| i >= 768, "only the last block of 256, from output[768] on"),
            (|i| i >= 101, "all from output[101] on"),
            (|i| i < 8, "all up to output[7]"),
            (|i| (256..512).contains(&i), "all from output[256] to output[511]"),
            (|i| i % 16 == 15, "every 16th one, at output[16 k + 15]"),
            (|i| i % 256 >= 240, "places 240 to 255 of every block of 256"),
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
    fn elements_that_nobody_wrote_are_told_apart() {
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
