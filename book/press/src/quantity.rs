//! Numbers that know whether they are a time, an amount of bytes, a rate or none of them, so that a time is not taken for a share.

use anyhow::{Result, bail};

/// A number of seconds and bytes, each to a power. Operations and counts are plain numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    pub value: f64,
    pub dimension: Dimension,
}

/// The powers of seconds and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    seconds: i8,
    bytes: i8,
}

impl Dimension {
    /// Shares, factors, counts.
    pub const PLAIN: Self = Self { seconds: 0, bytes: 0 };
    /// Times.
    pub const TIME: Self = Self { seconds: 1, bytes: 0 };
    /// Operations per second.
    pub const RATE: Self = Self { seconds: -1, bytes: 0 };
    /// Amounts of memory.
    pub const BYTES: Self = Self { seconds: 0, bytes: 1 };
    /// Bytes per second.
    pub const BANDWIDTH: Self = Self { seconds: -1, bytes: 1 };

    /// Names the dimension.
    pub fn name(self) -> &'static str {
        match self {
            Self::PLAIN => "a plain number",
            Self::TIME => "a time",
            Self::RATE => "a number per second",
            Self::BYTES => "an amount of bytes",
            Self::BANDWIDTH => "bytes per second",
            _ => "a number of an unusual unit",
        }
    }
}

impl Quantity {
    /// Returns a share, a factor, a count.
    pub fn plain(value: f64) -> Self {
        Self { value, dimension: Dimension::PLAIN }
    }

    /// Returns a time, as records have it.
    pub fn milliseconds(value: f64) -> Self {
        Self { value: 1e-3 * value, dimension: Dimension::TIME }
    }

    /// Combines two quantities with `+`, `-`, `*`, or `/`.
    pub fn apply(self, operator: char, other: Self) -> Result<Self> {
        let (one, two) = (self.dimension, other.dimension);
        let power = |sign: i8| Dimension { seconds: one.seconds + sign * two.seconds, bytes: one.bytes + sign * two.bytes };
        let (value, dimension) = match operator {
            '*' => (self.value * other.value, power(1)),
            '/' => (self.value / other.value, power(-1)),
            '+' if one == two => (self.value + other.value, one),
            '-' if one == two => (self.value - other.value, one),
            _ => bail!("{} and {} cannot be added", one.name(), two.name()),
        };
        Ok(Self { value, dimension })
    }
}
