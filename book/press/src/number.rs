//! Numbers for the text of a page: a quantity in a unit, rounded.

use anyhow::{Context, Result, bail, ensure};
use run::units;

use crate::directive::{Arguments, nearest};
use crate::quantity::{Dimension, Quantity};

/// A unit in which a number is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    name: &'static str,
    scale: f64,
    dimension: Dimension,
}

const fn unit(name: &'static str, scale: f64, dimension: Dimension) -> Unit {
    Unit { name, scale, dimension }
}

/// The units that a page can ask for.
const UNITS: [Unit; 16] = [
    unit("s", 1.0, Dimension::TIME),
    unit("ms", 1e-3, Dimension::TIME),
    unit("µs", 1e-6, Dimension::TIME),
    unit("TFLOP/s", 1e12, Dimension::RATE),
    unit("Tmul-adds/s", 1e12, Dimension::RATE),
    unit("T/s", 1e12, Dimension::RATE),
    unit("GHz", 1e9, Dimension::RATE),
    unit("TB/s", 1e12, Dimension::BANDWIDTH),
    unit("B", 1.0, Dimension::BYTES),
    unit("bytes", 1.0, Dimension::BYTES),
    unit("GB", 1e9, Dimension::BYTES),
    unit("KiB", 1024.0, Dimension::BYTES),
    unit("MiB", 1_048_576.0, Dimension::BYTES),
    unit("GiB", 1_073_741_824.0, Dimension::BYTES),
    unit("%", 1e-2, Dimension::PLAIN),
    unit("W", 1.0, Dimension::PLAIN),
];

impl Unit {
    /// Returns the unit of that name.
    pub fn named(name: &str) -> Result<Self> {
        let unit = UNITS.into_iter().find(|unit| unit.name == name);
        unit.with_context(|| format!("there is no unit {name}{}", nearest(name, UNITS.map(|unit| unit.name))))
    }

    /// Makes a quantity in this unit.
    pub fn quantity(self, value: f64) -> Quantity {
        Quantity { value: value * self.scale, dimension: self.dimension }
    }
}

/// The way in which a page wants a number written.
#[derive(Debug)]
pub struct Style {
    /// The unit, and whether it is written after the number.
    unit: Option<(Unit, bool)>,
    digits: Option<Digits>,
}

/// The precision of a number.
#[derive(Clone, Copy, Debug)]
enum Digits {
    /// This many significant digits.
    Significant(usize),
    /// This many digits after the point.
    Decimals(usize),
}

impl Style {
    /// Takes the options of a directive: `unit=ms` writes the number in milliseconds with the unit, `in=ms` without; `digits=2` rounds to
    /// two significant digits, and `decimals=2` to two after the point.
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

    /// Returns the name of the unit, if one was asked for.
    pub fn unit_name(&self) -> Option<&'static str> {
        self.unit.map(|(unit, _)| unit.name)
    }

    /// Returns the same without the unit's name.
    pub fn without_unit(&self) -> Self {
        Self { unit: self.unit.map(|(unit, _)| (unit, false)), digits: self.digits }
    }

    /// Returns true if nothing was asked for.
    pub fn is_default(&self) -> bool {
        self.unit.is_none() && self.digits.is_none()
    }

    /// Writes a quantity.
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
        match self {
            Self::Significant(digits) => units::with_digits(value, digits),
            Self::Decimals(decimals) => format!("{value:.decimals$}"),
        }
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
        assert_eq!(message(Quantity::milliseconds(2.0), "unit=us"), "there is no unit us; nearest: ms, s, µs");
        assert_eq!(message(Quantity::milliseconds(2.0), "digits=2"), "rounding a time takes a `unit`");
        assert!(message(Quantity::plain(2.0), "unit=% in=%").contains("take one of them"));
    }
}
