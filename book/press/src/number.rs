//! Numbers for the text of a page: a quantity in a unit, with so many significant digits.

use anyhow::{Context, Result, bail, ensure};
use common::units;

use crate::directive::{Arguments, nearest};
use crate::quantity::{Dimension, Quantity};

/// A unit in which a number is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    name: &'static str,
    scale: f64,
    dimension: Dimension,
}

/// The units that a page can ask for.
const UNITS: [Unit; 25] = [
    Unit { name: "s", scale: 1.0, dimension: Dimension::TIME },
    Unit { name: "ms", scale: 1e-3, dimension: Dimension::TIME },
    Unit { name: "µs", scale: 1e-6, dimension: Dimension::TIME },
    Unit { name: "ns", scale: 1e-9, dimension: Dimension::TIME },
    Unit { name: "GFLOP/s", scale: 1e9, dimension: Dimension::RATE },
    Unit { name: "TFLOP/s", scale: 1e12, dimension: Dimension::RATE },
    Unit { name: "Gmul-adds/s", scale: 1e9, dimension: Dimension::RATE },
    Unit { name: "Tmul-adds/s", scale: 1e12, dimension: Dimension::RATE },
    Unit { name: "T/s", scale: 1e12, dimension: Dimension::RATE },
    Unit { name: "GB/s", scale: 1e9, dimension: Dimension::BANDWIDTH },
    Unit { name: "TB/s", scale: 1e12, dimension: Dimension::BANDWIDTH },
    Unit { name: "B", scale: 1.0, dimension: Dimension::BYTES },
    Unit { name: "bytes", scale: 1.0, dimension: Dimension::BYTES },
    Unit { name: "KB", scale: 1e3, dimension: Dimension::BYTES },
    Unit { name: "MB", scale: 1e6, dimension: Dimension::BYTES },
    Unit { name: "GB", scale: 1e9, dimension: Dimension::BYTES },
    Unit { name: "KiB", scale: 1024.0, dimension: Dimension::BYTES },
    Unit { name: "MiB", scale: 1_048_576.0, dimension: Dimension::BYTES },
    Unit { name: "%", scale: 1e-2, dimension: Dimension::PLAIN },
    Unit { name: "k", scale: 1e3, dimension: Dimension::PLAIN },
    Unit { name: "M", scale: 1e6, dimension: Dimension::PLAIN },
    Unit { name: "G", scale: 1e9, dimension: Dimension::PLAIN },
    Unit { name: "T", scale: 1e12, dimension: Dimension::PLAIN },
    Unit { name: "W", scale: 1.0, dimension: Dimension::PLAIN },
    Unit { name: "MHz", scale: 1e6, dimension: Dimension::RATE },
];

impl Unit {
    /// The unit of that name.
    ///
    /// # Errors
    ///
    /// Names the nearest ones when there is none.
    pub fn named(name: &str) -> Result<Self> {
        let unit = UNITS.into_iter().find(|unit| unit.name == name);
        unit.with_context(|| format!("there is no unit {name}{}", nearest(name, UNITS.iter().map(|unit| unit.name))))
    }

    /// So many of it.
    pub fn quantity(self, value: f64) -> Quantity {
        Quantity { value: value * self.scale, dimension: self.dimension }
    }
}

/// How a page wants a number written.
#[derive(Debug)]
pub struct Style {
    /// The unit, and whether it is written behind the number.
    unit: Option<(Unit, bool)>,
    digits: Option<Digits>,
}

/// How exactly a number is written.
#[derive(Clone, Copy, Debug)]
enum Digits {
    /// So many digits that count.
    Significant(usize),
    /// So many digits after the point.
    Decimals(usize),
}

impl Style {
    /// Takes the options of a directive: `unit=ms` writes the number in milliseconds with the unit, `in=ms` without; `digits=2` rounds to
    /// two significant digits, and `decimals=2` to two after the point.
    ///
    /// # Errors
    ///
    /// When a unit does not exist or a number of digits is no number.
    pub fn take(arguments: &mut Arguments) -> Result<Self> {
        let (with, without) = (arguments.option("unit"), arguments.option("in"));
        ensure!(with.is_none() || without.is_none(), "`unit` writes the unit and `in` leaves it out: take one of them");
        let unit = match (with, without) {
            (Some(name), _) => Some((Unit::named(&name)?, true)),
            (None, Some(name)) => Some((Unit::named(&name)?, false)),
            (None, None) => None,
        };
        let digits = match (arguments.number("digits")?, arguments.number("decimals")?) {
            (digits, None) => digits.map(Digits::Significant),
            (None, decimals) => decimals.map(Digits::Decimals),
            _ => bail!("`digits` and `decimals` exclude each other"),
        };
        Ok(Self { unit, digits })
    }

    /// Whether nothing was asked for.
    pub fn is_default(&self) -> bool {
        self.unit.is_none() && self.digits.is_none()
    }

    /// Writes a quantity.
    ///
    /// # Errors
    ///
    /// When the unit is one of something else.
    pub fn write(&self, quantity: Quantity) -> Result<String> {
        let Quantity { value, dimension } = quantity;
        if let Some((unit, named)) = self.unit {
            ensure!(
                unit.dimension == dimension,
                "this is {}, and {} is the unit of {}",
                dimension.name(),
                unit.name,
                unit.dimension.name()
            );
            let number = self.digits.unwrap_or(Digits::Significant(3)).write(value / unit.scale);
            return Ok(if named { format!("{number} {}", unit.name) } else { number });
        }
        if let Some(digits) = self.digits.filter(|_| dimension == Dimension::PLAIN) {
            return Ok(digits.write(value));
        }
        ensure!(self.digits.is_none(), "rounding {} takes a `unit`", dimension.name());
        Ok(match dimension {
            Dimension::TIME => units::milliseconds(1e3 * value),
            Dimension::RATE => units::flops(value),
            Dimension::BANDWIDTH => units::bandwidth(value),
            _ => units::significant(value),
        })
    }
}

impl Digits {
    /// Writes a number in plain notation.
    fn write(self, value: f64) -> String {
        let digits = match self {
            Self::Decimals(decimals) => return format!("{value:.decimals$}"),
            Self::Significant(_) if value == 0.0 => return "0".to_owned(),
            Self::Significant(digits) => digits.max(1),
        };
        // Rounded first: 9.96 with two digits is 10.
        let rounded: f64 = format!("{value:.*e}", digits - 1).parse().unwrap_or(value);
        let before_point = rounded.abs().log10().floor() as i32 + 1;
        format!("{rounded:.0$}", (digits as i32 - before_point).max(0) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(quantity: Quantity, options: &str) -> Result<String> {
        Style::take(&mut Arguments::parse(options)?)?.write(quantity)
    }

    #[test]
    fn a_number_is_written_in_the_unit_and_with_the_digits_that_are_asked_for() {
        let time = Quantity::milliseconds(0.337_4);
        let cases = [
            (time, "", "337 µs"),
            (time, "unit=ms", "0.337 ms"),
            (time, "in=ms", "0.337"),
            (time, "unit=µs digits=2", "340 µs"),
            (Quantity::milliseconds(4943.2), "unit=ms digits=4", "4943 ms"),
            (Quantity::plain(9.96), "", "9.96"),
            (Quantity::plain(9.96), "digits=2", "10"),
            (Quantity::plain(0.006_77), "decimals=2", "0.01"),
            (Quantity::plain(0.054_3), "unit=%", "5.43 %"),
            (Quantity::plain(0.054_3), "unit=% digits=1", "5 %"),
            (Quantity { value: 57.1e9, dimension: Dimension::BYTES }, "unit=GB digits=2", "57 GB"),
            (Quantity { value: 65.8e12, dimension: Dimension::RATE }, "", "65.8 TFLOP/s"),
            (Quantity { value: 4.28e12, dimension: Dimension::BANDWIDTH }, "", "4.28 TB/s"),
        ];
        for (quantity, options, expected) in cases {
            assert_eq!(written(quantity, options).unwrap(), expected, "{options}");
        }
    }

    #[test]
    fn a_unit_of_something_else_is_refused() {
        let message = |quantity, options| written(quantity, options).unwrap_err().to_string();
        assert_eq!(message(Quantity::plain(2.0), "unit=ms"), "this is a plain number, and ms is the unit of a time");
        assert_eq!(message(Quantity::milliseconds(2.0), "unit=us"), "there is no unit us; nearest: ms, ns, s");
        assert_eq!(message(Quantity::milliseconds(2.0), "digits=2"), "rounding a time takes a `unit`");
        assert!(message(Quantity::plain(2.0), "unit=% in=%").contains("take one of them"));
    }
}
