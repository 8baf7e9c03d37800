//! A description of a wrong output: how many elements, which, and what kind of mistake that looks like.

use std::fmt;
use std::ops::Range;

use crate::expected::Expected;
use crate::output::{Breach, POISON};

/// The ways in which an output is wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mismatch {
    /// Length of the output.
    pub total: usize,
    /// Elements outside their tolerance, of all that were compared one by one.
    pub wrong: usize,
    /// Elements that still hold the poison.
    pub unwritten: usize,
    /// The element that is furthest off.
    pub worst: Option<Worst>,
    /// Which elements are wrong, if a simple rule says so.
    pub pattern: Option<Pattern>,
    /// Every wrong element holds the value that belongs at this distance from it.
    pub shift: Option<isize>,
    /// The sums that were compared, if not every element was compared one by one.
    pub sampled: Option<WrongSums>,
    /// Stores outside the output.
    pub breach: Option<Breach>,
    /// Outputs of a row, if they are a picture or a matrix.
    pub row: Option<usize>,
    /// The names of the arrays that the output consists of, one after another and equally long, if there are several.
    pub arrays: &'static [&'static str],
    /// A mistake that gives these outputs, as a phrase after "a kernel".
    pub looks_like: Option<&'static str>,
}

/// The part of a mismatch that only a sampled comparison has.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongSums {
    /// Elements that were compared one by one.
    pub compared: usize,
    /// Sums over runs of neighboring elements that were compared; every element is in one run.
    pub sums: usize,
    /// Sums outside their tolerance.
    pub wrong: usize,
    /// The elements of the first run with a wrong sum.
    pub first: Option<Range<usize>>,
}

/// The worst element of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Its index.
    pub index: usize,
    /// The value that the stage wrote.
    pub got: f32,
    /// The oracle's value.
    pub expected: Expected,
}

impl Mismatch {
    /// Returns the array that is entirely wrong, if all others are right.
    pub fn wrong_array(&self) -> Option<&'static str> {
        let each = self.total.checked_div(self.arrays.len())?;
        let place = match self.pattern? {
            Pattern::From { first, .. } => first,
            Pattern::UpTo(last) | Pattern::Run(_, last) => last + 1 - self.wrong,
            Pattern::All | Pattern::Only(_) | Pattern::Periodic { .. } => return None,
        };
        if self.wrong == each && place.is_multiple_of(each) { self.arrays.get(place / each).copied() } else { None }
    }

    /// Returns an output as the kernel's author knows it.
    fn place(&self, index: usize) -> String {
        let each = self.total.checked_div(self.arrays.len()).unwrap_or(self.total);
        let (array, index) = match self.arrays.get(index / each.max(1)) {
            Some(array) => (*array, index % each),
            None => ("output", index),
        };
        match self.row {
            Some(row) => format!("{array}[{index}] (column {}, row {})", index % row, index / row),
            None => format!("{array}[{index}]"),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { total, wrong, unwritten, worst, pattern, shift, sampled, breach, .. } = self;
        match sampled {
            Some(sampled) => write!(f, "{wrong} of {} sampled outputs are wrong, {sampled}", sampled.compared)?,
            None if *wrong > 0 => write!(f, "{wrong} of {total} outputs are wrong")?,
            None => write!(f, "all {total} outputs are right")?,
        }
        if let Some(array) = self.wrong_array() {
            write!(f, ": every one of {array}")?;
        } else if let Some(pattern) = pattern {
            write!(f, ": {pattern}")?;
        }
        if *unwritten > 0 {
            let which = if sampled.is_some() {
                format!("{unwritten} of {total} outputs were")
            } else if unwritten == wrong {
                "none of these was".to_owned()
            } else {
                format!("{unwritten} of these were")
            };
            let never = if sampled.is_none() && unwritten == wrong { "" } else { "never " };
            write!(f, "\n  {which} {never}written: the poison from before the run is still there")?;
        }
        if let Some(Worst { index, got, expected: Expected { value, tolerance } }) = worst
            && (unwritten < wrong || got.to_bits() != POISON)
        {
            let place = self.place(*index);
            if value.is_nan() {
                write!(f, "\n  worst: {place} is {got}, but nothing belongs there")?;
            } else if *tolerance == 0.0 {
                write!(f, "\n  worst: {place} is {got}, expected exactly {value:.7}")?;
            } else {
                write!(f, "\n  worst: {place} is {got}, expected {value:.7} within {tolerance:.2e}")?;
            }
        }
        if let Some(shift) = shift {
            let sign = if *shift < 0 { '-' } else { '+' };
            write!(f, "\n  each of them has the value of output[i {sign} {}]: an index is off", shift.abs())?;
        }
        if let Some(Breach { elements, nearest }) = breach {
            let place = if *nearest > 0 {
                format!("{nearest} past the last output")
            } else {
                format!("{} before the first output", -nearest)
            };
            write!(
                f,
                "\n  {elements} elements outside the output were overwritten, the nearest {place}: a bounds check is missing"
            )?;
        }
        if sampled.is_some() {
            write!(f, "\n  run a smaller --size to compare every output")?;
        }
        Ok(())
    }
}

impl fmt::Display for WrongSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sums, wrong, first, .. } = self;
        write!(f, "{wrong} of {sums} sums over neighboring outputs are wrong")?;
        match first {
            Some(Range { start, end }) => write!(f, ", the first over output[{start}] to output[{}]", end - 1),
            None => Ok(()),
        }
    }
}

/// A rule that says which elements are wrong. Ends of a range are wrong, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the comments of the variants name the fields")]
pub enum Pattern {
    /// Every one.
    All,
    /// A single one.
    Only(usize),
    /// From an index to the end; `block` is the power of two that this is a last block of, full or not.
    From { first: usize, block: Option<usize> },
    /// From the start up to an index.
    UpTo(usize),
    /// One run in the middle.
    Run(usize, usize),
    /// The offsets from `first` to `last` in every block of length `period`.
    Periodic { period: usize, first: usize, last: usize },
}

/// Sizes of blocks and tiles in which kernels tend to go wrong.
const PERIODS: [usize; 14] = [2, 3, 4, 5, 7, 8, 9, 16, 32, 64, 128, 256, 512, 1024];

impl Pattern {
    /// Returns a simple rule for the indices in `wrong` (in ascending order), if any.
    pub(crate) fn of(wrong: &[usize], total: usize) -> Option<Self> {
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

    /// Returns the rule if every `period` has the same wrong offsets. They must be contiguous.
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
            Pattern::Periodic { period, first, last } => write!(f, "offsets {first} to {last} of every block of {period}"),
        }
    }
}

fn ordinal(number: usize) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// Returns the distance to the neighbor whose value each wrong element holds. It must be the same for all.
pub(crate) fn shift(wrong: &[usize], values: &[f32], expected: &[Expected]) -> Option<isize> {
    // A few wrong elements may resemble their neighbors by chance.
    if wrong.len() < 4 {
        return None;
    }
    let belongs = |index: usize, shift: isize| {
        let neighbor = index.checked_add_signed(shift).and_then(|neighbor| expected.get(neighbor));
        // An element whose neighbor lies outside the output is no evidence against the shift.
        neighbor.is_none_or(|neighbor| (f64::from(values[index]) - neighbor.value).abs() <= neighbor.tolerance)
    };
    [1, -1, 2, -2].into_iter().find(|&shift| wrong.iter().all(|&index| belongs(index, shift)))
}
