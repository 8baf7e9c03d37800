//! Numbers for the text of a page: a quantity in a unit, rounded.

use anyhow::{Result, bail, ensure};
use run::units;

use crate::directive::{Arguments, named};
use crate::quantity::{Dimension, Quantity};

/// A unit in which a number is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    pub name: &'static str,
    scale: f64,
    dimension: Dimension,
}

/// The units that a page can ask for.
const UNITS: [(&str, f64, Dimension); 16] = [
    ("s", 1.0, Dimension::TIME),
    ("ms", 1e-3, Dimension::TIME),
    ("µs", 1e-6, Dimension::TIME),
    ("TFLOP/s", 1e12, Dimension::RATE),
    ("Tmul-adds/s", 1e12, Dimension::RATE),
    ("T/s", 1e12, Dimension::RATE),
    ("GHz", 1e9, Dimension::RATE),
    ("TB/s", 1e12, Dimension::BANDWIDTH),
    ("B", 1.0, Dimension::BYTES),
    ("bytes", 1.0, Dimension::BYTES),
    ("GB", 1e9, Dimension::BYTES),
    ("KiB", 1024.0, Dimension::BYTES),
    ("MiB", 1_048_576.0, Dimension::BYTES),
    ("GiB", 1_073_741_824.0, Dimension::BYTES),
    ("%", 1e-2, Dimension::PLAIN),
    ("W", 1.0, Dimension::PLAIN),
];

impl Unit {
    pub fn named(name: &str) -> Result<Self> {
        let units = UNITS.map(|(name, scale, dimension)| (name, Self { name, scale, dimension }));
        named(format_args!("there is no unit {name}"), name, units)
    }

    /// Makes a quantity in this unit.
    pub fn quantity(self, value: f64) -> Quantity {
        Quantity { value: value * self.scale, dimension: self.dimension }
    }
}

/// The way in which a page wants a number written.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Style {
    pub unit: Option<Unit>,
    /// True if the unit is written after the number.
    pub names_unit: bool,
    digits: Option<usize>,
    decimals: Option<usize>,
}

impl Style {
    /// Takes the options of a directive: `unit=ms` writes the number in milliseconds with the unit, `in=ms` without; `digits=2` rounds to
    /// two significant digits, and `decimals=2` to two after the point.
    pub fn take(arguments: &mut Arguments) -> Result<Self> {
        let (with, without) = (arguments.option("unit"), arguments.option("in"));
        ensure!(with.is_none() || without.is_none(), "`unit` writes the unit and `in` leaves it out: take one of them");
        let names_unit = with.is_some();
        let unit = with.or(without).map(|name| Unit::named(&name)).transpose()?;
        let (digits, decimals) = (arguments.number("digits")?, arguments.number("decimals")?);
        ensure!(digits.is_none() || decimals.is_none(), "`digits` and `decimals` exclude each other");
        Ok(Self { unit, names_unit, digits, decimals })
    }

    pub fn write(&self, quantity: Quantity) -> Result<String> {
        let Quantity { value, dimension } = quantity;
        if let Some(Unit { name, scale, dimension: of_unit }) = self.unit {
            ensure!(of_unit == dimension, "this is {}, and {name} is the unit of {}", dimension.name(), of_unit.name());
            let number = self.rounded(value / scale);
            return Ok(if self.names_unit { format!("{number} {name}") } else { number });
        }
        let is_rounded = self.digits.or(self.decimals).is_some();
        Ok(match dimension {
            Dimension::PLAIN => self.rounded(value),
            _ if is_rounded => bail!("rounding {} takes a `unit`", dimension.name()),
            Dimension::TIME => units::milliseconds(1e3 * value),
            Dimension::RATE => units::flops(value),
            Dimension::BANDWIDTH => units::bandwidth(value),
            _ => units::significant(value),
        })
    }

    /// Writes a number in plain notation, by default with three significant digits.
    fn rounded(&self, value: f64) -> String {
        match self.decimals {
            Some(decimals) => format!("{value:.decimals$}"),
            None => units::with_digits(value, self.digits.unwrap_or(3)),
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
