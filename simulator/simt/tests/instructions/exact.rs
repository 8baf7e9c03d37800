//! Floating-point arithmetic with exact numbers: slow, and written from the definitions alone.
//!
//! A number is a fraction of integers of any size. Every operation gives the exact result, which is then rounded to a
//! format.

use num_bigint::{BigInt, BigUint};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// A binary format; the exponent's bits follow from the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub bits: u32,
    pub fraction: u32,
}

pub const F64: Format = Format { bits: 64, fraction: 52 };
pub const F32: Format = Format { bits: 32, fraction: 23 };
pub const F16: Format = Format { bits: 16, fraction: 10 };
pub const BF16: Format = Format { bits: 16, fraction: 7 };
pub const TF32: Format = Format { bits: 19, fraction: 10 };

impl Format {
    fn exponent_bits(self) -> u32 {
        self.bits - 1 - self.fraction
    }

    fn bias(self) -> i64 {
        (1 << (self.exponent_bits() - 1)) - 1
    }

    pub fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    pub fn infinity(self) -> u64 {
        ((1 << self.exponent_bits()) - 1) << self.fraction
    }

    pub fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction
    }

    /// Returns all ones except for the sign.
    pub fn nan(self) -> u64 {
        self.sign() - 1
    }

    pub fn is_nan(self, bits: u64) -> bool {
        bits & self.nan() > self.infinity()
    }

    pub fn is_subnormal(self, bits: u64) -> bool {
        bits & self.infinity() == 0 && bits & self.nan() != 0
    }

    /// `.ftz`
    pub fn flush(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign() } else { bits }
    }
}

/// The number that bits represent.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Nan,
    Infinite {
        negative: bool,
    },
    /// The sign matters for zero.
    Finite {
        negative: bool,
        magnitude: BigRational,
    },
}

/// Rounding by its name in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Rn,
    Rz,
    Rm,
    Rp,
    Rna,
}

fn power(exponent: i64) -> BigRational {
    let power = BigInt::one() << exponent.unsigned_abs();
    if exponent < 0 { BigRational::new(BigInt::one(), power) } else { power.into() }
}

fn half() -> BigRational {
    power(-1)
}

impl Value {
    pub fn of(bits: u64, format: Format) -> Self {
        let negative = bits & format.sign() != 0;
        let exponent = (bits & format.infinity()) >> format.fraction;
        let fraction = bits & ((1 << format.fraction) - 1);
        if format.is_nan(bits) {
            return Self::Nan;
        }
        if bits & format.nan() == format.infinity() {
            return Self::Infinite { negative };
        }
        let significand = if exponent == 0 { fraction } else { fraction | 1 << format.fraction };
        let scale = exponent.max(1) as i64 - format.bias() - i64::from(format.fraction);
        Self::Finite { negative, magnitude: BigRational::from(BigInt::from(significand)) * power(scale) }
    }

    pub fn whole(value: i128) -> Self {
        Self::exact(BigRational::from(BigInt::from(value)))
    }

    fn exact(value: BigRational) -> Self {
        Self::Finite { negative: value.is_negative(), magnitude: value.abs() }
    }

    /// With its sign, of a finite number.
    pub fn signed(&self) -> Option<BigRational> {
        match self {
            Self::Finite { negative: true, magnitude } => Some(-magnitude.clone()),
            Self::Finite { magnitude, .. } => Some(magnitude.clone()),
            _ => None,
        }
    }

    fn is_negative(&self) -> bool {
        matches!(self, Self::Infinite { negative: true } | Self::Finite { negative: true, .. })
    }

    fn is_zero(&self) -> bool {
        matches!(self, Self::Finite { magnitude, .. } if magnitude.is_zero())
    }

    fn with_sign(self, negative: bool) -> Self {
        match self {
            Self::Nan => Self::Nan,
            Self::Infinite { .. } => Self::Infinite { negative },
            Self::Finite { magnitude, .. } => Self::Finite { negative, magnitude },
        }
    }

    /// Returns the bits, rounded. A NaN is the canonical one.
    pub fn round(&self, format: Format, mode: Mode) -> u64 {
        let (negative, magnitude) = match self {
            Self::Nan => return format.nan(),
            Self::Infinite { negative } => return format.infinity() | if *negative { format.sign() } else { 0 },
            Self::Finite { negative, magnitude } => (*negative, magnitude),
        };
        let sign = if negative { format.sign() } else { 0 };
        if magnitude.is_zero() {
            return sign;
        }
        let mut exponent = magnitude.numer().bits() as i64 - magnitude.denom().bits() as i64;
        if *magnitude < power(exponent) {
            exponent -= 1;
        }
        let quantum = exponent.max(1 - format.bias()) - i64::from(format.fraction);
        let scaled = magnitude / power(quantum);
        let (floor, rest) = (scaled.floor().to_integer(), scaled.fract());
        let is_odd = &floor % 2 != BigInt::zero();
        let up = match mode {
            Mode::Rn => rest > half() || (rest == half() && is_odd),
            Mode::Rna => rest >= half(),
            Mode::Rz => false,
            Mode::Rm => negative && !rest.is_zero(),
            Mode::Rp => !negative && !rest.is_zero(),
        };
        let steps = u64::try_from(floor + BigInt::from(u8::from(up))).expect("it has the bits of a significand");
        let hidden = 1 << format.fraction;
        let magnitude = if steps < hidden {
            steps
        } else {
            let exponent = (quantum + i64::from(format.fraction) + format.bias()) as u64;
            (exponent << format.fraction) + (steps - hidden)
        };
        let inwards = match mode {
            Mode::Rn | Mode::Rna => false,
            Mode::Rz => true,
            Mode::Rm => !negative,
            Mode::Rp => negative,
        };
        sign | if magnitude < format.infinity() { magnitude } else { format.infinity() - u64::from(inwards) }
    }

    pub fn add(&self, other: &Self, mode: Mode) -> Self {
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite { negative: a }, Self::Infinite { negative: b }) if a != b => Self::Nan,
            (Self::Infinite { .. }, _) => self.clone(),
            (_, Self::Infinite { .. }) => other.clone(),
            _ => {
                let sum = self.signed().unwrap() + other.signed().unwrap();
                if !sum.is_zero() {
                    return Self::exact(sum);
                }
                let both = self.is_zero() && other.is_zero() && self.is_negative() == other.is_negative();
                Self::exact(sum).with_sign(if both { self.is_negative() } else { mode == Mode::Rm })
            }
        }
    }

    pub fn negated(&self) -> Self {
        self.clone().with_sign(!self.is_negative())
    }

    pub fn multiply(&self, other: &Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) => Self::Nan,
            (Self::Infinite { .. }, _) | (_, Self::Infinite { .. }) if self.is_zero() || other.is_zero() => Self::Nan,
            (Self::Infinite { .. }, _) | (_, Self::Infinite { .. }) => Self::Infinite { negative },
            (Self::Finite { magnitude: a, .. }, Self::Finite { magnitude: b, .. }) => Self::Finite { negative, magnitude: a * b },
        }
    }

    pub fn divide(&self, other: &Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (Self::Nan, _) | (_, Self::Nan) | (Self::Infinite { .. }, Self::Infinite { .. }) => Self::Nan,
            _ if self.is_zero() && other.is_zero() => Self::Nan,
            (Self::Infinite { .. }, _) => Self::Infinite { negative },
            (_, Self::Infinite { .. }) => Self::Finite { negative, magnitude: BigRational::zero() },
            _ if other.is_zero() => Self::Infinite { negative },
            (Self::Finite { magnitude: a, .. }, Self::Finite { magnitude: b, .. }) => Self::Finite { negative, magnitude: a / b },
        }
    }

    /// Returns the square root. An irrational one is approximated by a number between the same neighbors in every format.
    pub fn root(&self) -> Self {
        match self {
            Self::Nan => Self::Nan,
            _ if self.is_zero() => self.clone(),
            _ if self.is_negative() => Self::Nan,
            Self::Infinite { .. } => self.clone(),
            Self::Finite { magnitude, .. } => {
                const SCALE: u32 = 700;
                let scaled = (magnitude * power(2 * i64::from(SCALE))).to_integer();
                let root: BigUint = scaled.to_biguint().expect("it is positive").sqrt();
                let root = BigRational::from(BigInt::from(root));
                let is_exact = &root * &root == magnitude * power(2 * i64::from(SCALE));
                let root = if is_exact { root } else { root + half() };
                Self::Finite { negative: false, magnitude: root * power(-i64::from(SCALE)) }
            }
        }
    }
}
