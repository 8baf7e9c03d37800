//! Numbers as people write them in a sentence, with a unit or without: `3.62 ms`, `70.5 %`, `18 923 ms`, `9.7 thousand million`.

use anyhow::{Result, ensure};

use super::quantity::{Dimension, Quantity};

/// A number in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// What it is.
    pub value: f64,
    /// Digits behind the point.
    decimals: usize,
    /// Digits before the point.
    integer_digits: usize,
    /// Whether it is written with a power of ten, as in `1.6e-3`.
    has_exponent: bool,
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// How many seconds, bytes or plain numbers it is.
    pub scale: f64,
    /// Of what.
    pub dimension: Dimension,
}

/// How a unit is written, and what it is.
const UNITS: [(&[&str], f64, Dimension); 24] = [
    (&["s", "second", "seconds"], 1.0, Dimension::TIME),
    (&["ms", "millisecond", "milliseconds"], 1e-3, Dimension::TIME),
    (&["µs", "μs", "us", "microsecond", "microseconds"], 1e-6, Dimension::TIME),
    (&["ns", "nanosecond", "nanoseconds"], 1e-9, Dimension::TIME),
    (&["FLOP/s"], 1.0, Dimension::RATE),
    (&["GFLOP/s", "Gmul-adds/s"], 1e9, Dimension::RATE),
    (&["TFLOP/s", "Tmul-adds/s"], 1e12, Dimension::RATE),
    (&["PFLOP/s"], 1e15, Dimension::RATE),
    (&["MB/s"], 1e6, Dimension::BANDWIDTH),
    (&["GB/s"], 1e9, Dimension::BANDWIDTH),
    (&["TB/s"], 1e12, Dimension::BANDWIDTH),
    (&["B", "byte", "bytes"], 1.0, Dimension::BYTES),
    (&["KB", "kB"], 1e3, Dimension::BYTES),
    (&["MB"], 1e6, Dimension::BYTES),
    (&["GB"], 1e9, Dimension::BYTES),
    (&["KiB"], 1024.0, Dimension::BYTES),
    (&["MiB"], 1_048_576.0, Dimension::BYTES),
    (&["GiB"], 1_073_741_824.0, Dimension::BYTES),
    (&["%", "percent"], 1e-2, Dimension::PLAIN),
    (&["thousand", "k"], 1e3, Dimension::PLAIN),
    (&["million", "M"], 1e6, Dimension::PLAIN),
    (&["G"], 1e9, Dimension::PLAIN),
    (&["T"], 1e12, Dimension::PLAIN),
    (&["times", "x", "×"], 1.0, Dimension::PLAIN),
];

/// Whether a number with this unit was measured, or has to say where else it is from: times, rates, powers and shares.
fn is_measured(word: &str) -> bool {
    let of_measurements = [Dimension::TIME, Dimension::RATE, Dimension::BANDWIDTH];
    let unit = UNITS.iter().find(|(names, ..)| names.contains(&word));
    word == "W" || unit.is_some_and(|(names, _, dimension)| of_measurements.contains(dimension) || names.contains(&"%"))
}

/// Every number in a text. Digits that belong to a name, as in `H200` or `f32`, are none.
pub fn numbers(text: &str) -> Vec<Number> {
    let mut found: Vec<Number> = Vec::new();
    for (start, _) in text.char_indices().filter(|(_, char)| char.is_ascii_digit()) {
        let before = text[..start].chars().next_back();
        let is_inside = before.is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | '.' | '^'));
        if is_inside || found.last().is_some_and(|last| start < last.end) {
            continue;
        }
        found.extend(number(text, start));
    }
    found
}

/// Every number in a text, with its unit if one follows.
pub fn with_units(text: &str) -> Vec<(Number, Option<Unit>)> {
    let unit = |number: &Number| unit(text[number.end..].lines().next().unwrap_or_default());
    numbers(text).into_iter().map(|number| (number.clone(), unit(&number))).collect()
}

/// The number that begins at a digit.
fn number(text: &str, start: usize) -> Option<Number> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = start + digits(start);
    // Groups of three, with a space before each.
    if end - start <= 3 && !text[start..].starts_with('0') {
        while let Some(space) = text[end..].chars().next().filter(|next| matches!(next, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')) {
            let group = end + space.len_utf8();
            if digits(group) != 3 {
                break;
            }
            end = group + 3;
        }
    }
    let integer_digits = text[start..end].bytes().filter(u8::is_ascii_digit).count();
    let mut decimals = 0;
    if text[end..].starts_with('.') {
        decimals = digits(end + 1);
        end += if decimals > 0 { 1 + decimals } else { 0 };
    }
    let sign = |at: usize| usize::from(text[at..].starts_with(['-', '+']));
    let mut has_exponent = false;
    if text[end..].starts_with('e') {
        let exponent = end + 1 + sign(end + 1);
        has_exponent = digits(exponent) > 0;
        end = if has_exponent { exponent + digits(exponent) } else { end };
    }
    let plain: String = text[start..end].chars().filter(|char| !char.is_whitespace()).collect();
    let mut value: f64 = plain.parse().ok()?;
    let mut before = text[..start].char_indices().rev();
    let minus = before.next().filter(|(_, char)| matches!(char, '-' | '−'));
    let is_sign = before.next().is_none_or(|(_, char)| char.is_whitespace() || char == '(');
    let start = if let (Some((minus, _)), true) = (minus, is_sign) {
        value = -value;
        minus
    } else {
        start
    };
    Some(Number { value, decimals, integer_digits, has_exponent, start, end })
}

/// The last number of a text with its unit, if it has one. Only a unit and a few words may follow it.
pub fn last(text: &str) -> Option<(Number, Option<Unit>)> {
    let number = numbers(text).pop()?;
    let rest = &text[number.end..];
    let ends = ['.', ';', ':', '|', '\u{2014}'];
    if rest.contains(ends) || rest.split_whitespace().count() > 6 {
        return None;
    }
    let unit = unit(rest);
    Some((number, unit))
}

/// The unit at the beginning of a text: `thousand million`, `ms`, `%`.
fn unit(text: &str) -> Option<Unit> {
    let word = |word: &str| {
        let word = word.trim_matches(['*', '_', ',', ')']);
        UNITS.iter().find(|(names, ..)| names.contains(&word)).map(|&(_, scale, dimension)| Unit { scale, dimension })
    };
    let product = |one: Unit, two: Unit| {
        // Of `million bytes` both count, and of `% ms` nothing does.
        let dimension = if one.dimension == Dimension::PLAIN { two.dimension } else { one.dimension };
        Unit { scale: one.scale * two.scale, dimension }
    };
    text.split_whitespace().map_while(word).reduce(product)
}

/// Where the units of measured numbers end that a text has: the number, and the end of its unit.
pub fn measured(text: &str) -> Vec<(Number, usize)> {
    let with_unit = |number: Number| {
        let rest = &text[number.end..];
        let gap = rest.len() - rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', '\n']).len();
        let word =
            rest[gap..].split(|char: char| !(char.is_alphanumeric() || matches!(char, '/' | '%'))).next().unwrap_or_default();
        is_measured(word).then_some((number.clone(), number.end + gap + word.len()))
    };
    numbers(text).into_iter().filter_map(with_unit).collect()
}

impl Number {
    /// Whether a value is this number when it is rounded to the digits that are shown. Zeros at the end of an integer may stand for
    /// digits that are not, beyond the third: 1350 may be 1347, but 1300 may not.
    pub fn is(&self, value: f64) -> bool {
        self.value == self.rounded(value)
    }

    /// Whether it is one of these, however many digits of them are shown.
    pub fn is_in(&self, others: &[Number]) -> bool {
        others.iter().any(|other| other.value == self.value)
    }

    /// A value with as many digits.
    pub fn rounded(&self, value: f64) -> f64 {
        let parsed = |text: String| text.parse().unwrap_or(f64::NAN);
        if self.has_exponent {
            return parsed(format!("{value:.*e}", self.decimals));
        }
        let mut zeros = 0;
        while self.decimals == 0 && zeros + 3 < self.integer_digits && self.value % 10_f64.powi(zeros as i32 + 1) == 0.0 {
            zeros += 1;
        }
        let place = 10_f64.powi(zeros as i32);
        parsed(format!("{:.*}", self.decimals, value / place)) * place
    }

    /// What a quantity is in the unit of this number. Without one, times are in milliseconds, as in records. A plain number is taken
    /// for one in this unit.
    ///
    /// # Errors
    ///
    /// When it is of another kind.
    pub fn in_unit(&self, unit: Option<Unit>, quantity: Quantity) -> Result<f64> {
        let Some(unit) = unit else {
            return Ok(if quantity.dimension == Dimension::TIME { 1e3 * quantity.value } else { quantity.value });
        };
        let (written, found) = (unit.dimension, quantity.dimension);
        ensure!(
            written == found || found == Dimension::PLAIN,
            "what is written is {}, and the value is {}",
            written.name(),
            found.name()
        );
        Ok(if written == found { quantity.value / unit.scale } else { quantity.value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        numbers(text).into_iter().map(|number| number.value).collect()
    }

    #[test]
    fn numbers_are_found_and_names_are_not() {
        let cases: [(&str, &[f64]); 9] = [
            ("of an H200 with f32 and sm_90", &[]),
            ("294 912 outputs x 32 768 taps", &[294_912.0, 32_768.0]),
            ("in 2008 140 ms", &[2008.0, 140.0]),
            ("1.53x, -7 %, 3-4", &[1.53, -7.0, 3.0, 4.0]),
            ("1.6e-3 / 1.3e-1", &[1.6e-3, 0.13]),
            ("version 12.0.140", &[12.0]),
            ("It ends at 12. Then", &[12.0]),
            ("2 or 2^16", &[2.0, 2.0]),
            ("18\u{202f}923", &[18_923.0]),
        ];
        for (text, expected) in cases {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn a_value_is_a_number_when_it_rounds_to_it() {
        let cases = [
            ("3.62", 3.6249, true),
            ("3.62", 3.6251, false),
            ("0.24", 0.2351, true),
            ("16", 16.49, true),
            ("16", 16.51, false),
            ("1350", 1347.0, true),
            ("1300", 1347.0, false),
            ("1347", 1347.4, true),
            ("100", 103.0, false),
            ("18 900", 18_923.0, true),
            ("1.6e-3", 0.001_649, true),
            ("1.6e-3", 0.001_651, false),
            ("-7", -7.2, true),
            ("0", 0.2, true),
        ];
        for (text, value, is) in cases {
            assert_eq!(last(text).unwrap().0.is(value), is, "{text} and {value}");
        }
    }

    #[test]
    fn a_unit_follows_its_number() {
        let plain = |scale| Some(Unit { scale, dimension: Dimension::PLAIN });
        let cases = [
            ("took 3.62 ms", 3.62, Some(Unit { scale: 1e-3, dimension: Dimension::TIME })),
            ("**18.0 µs**", 18.0, Some(Unit { scale: 1e-6, dimension: Dimension::TIME })),
            ("3 to 4 microseconds", 4.0, Some(Unit { scale: 1e-6, dimension: Dimension::TIME })),
            ("70.5 %", 70.5, plain(1e-2)),
            ("1.28 times", 1.28, plain(1.0)),
            ("8.36x", 8.36, plain(1.0)),
            ("a factor of 1.28", 1.28, None),
            ("9.7 thousand million multiply-adds", 9.7, plain(1e9)),
            ("5.88 bytes", 5.88, Some(Unit { scale: 1.0, dimension: Dimension::BYTES })),
            ("43 of the clocks", 43.0, None),
        ];
        for (text, value, unit) in cases {
            let (number, found) = last(text).unwrap();
            assert_eq!((number.value, found), (value, unit), "{text}");
        }
        assert!(last("none").is_none() && last("In 2008. Then it ended").is_none() && last("| 3.62 ms | yes").is_none());
    }

    #[test]
    fn a_quantity_is_told_in_the_unit_of_the_text() {
        let told = |text: &str, quantity| last(text).map(|(number, unit)| number.in_unit(unit, quantity)).unwrap();
        let close = |found: Result<f64>, expected: f64| (found.unwrap() - expected).abs() < 1e-9 * expected;
        let half_ms = Quantity::milliseconds(0.5);
        assert!(close(told("0.5 ms", half_ms), 0.5) && close(told("500 µs", half_ms), 500.0) && close(told("0.5", half_ms), 0.5));
        assert!(close(told("5 %", Quantity::plain(0.05)), 5.0) && close(told("5 ms", Quantity::plain(4.0)), 4.0));
        let rate = Quantity { value: 57.3e12, dimension: Dimension::RATE };
        assert!(close(told("57.3 TFLOP/s", rate), 57.3) && close(told("57 million million", Quantity::plain(57e12)), 57.0));
        assert!(told("5 %", half_ms).is_err() && told("5 ms", rate).is_err() && told("5 GB/s", rate).is_err());
    }

    #[test]
    fn numbers_with_measured_units_are_found() {
        let text = "It took 3.62 ms, 18\nmicroseconds, 9 KB, 5 steps, 4.3 TB/s (485 W), 7 s, 8 s1 and 3 mss.";
        let found = measured(text).into_iter().map(|(number, end)| &text[number.start..end]).collect::<Vec<_>>();
        assert_eq!(found, ["3.62 ms", "18\nmicroseconds", "4.3 TB/s", "485 W", "7 s"]);
    }
}
