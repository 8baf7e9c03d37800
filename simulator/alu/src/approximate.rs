//! Functions that a GPU approximates (`.approx`, `.full`). PTX guarantees an accuracy, but not the bits, which differ between GPUs.
//!
//! Here they are computed in f64 and rounded to nearest, which is at least as accurate as any GPU. They use `libm`, which gives the
//! same bits on every host, whereas Rust's own functions come from the host's C library.

use std::f64::consts::TAU;
use std::fmt;

use super::float::{canonical32, flush64};

/// The accuracy that PTX guarantees for an approximate function (PTX ISA 9.1, at each instruction).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// Within this many units in the last place of the correctly rounded result.
    Ulps(u32),
    /// The same as `Ulps(2)`, for divisors between 2^-126 and 2^126.
    Quotient,
    /// Relative error, as an exponent of two.
    Relative(f64),
    /// The same as `Relative`, for a normal result. A subnormal result has too few bits for such a small error, and PTX does not
    /// state its error. All results of an H200 were within one unit in the last place, but not all within half a unit.
    RelativeOfNormal(f64),
    /// Absolute error, as an exponent of two.
    Absolute(f64),
    /// The error of a logarithm, as an exponent of two: absolute for numbers between 0.5 and 2, relative elsewhere.
    Logarithm(f64),
    /// The error of sine and cosine.
    Angle,
    /// The function uses the upper 32 bits. PTX states nothing else.
    UpperHalf,
    /// PTX states nothing.
    Unstated,
}

impl Accuracy {
    /// Returns the largest allowed distance from the exact result; `None` if nothing is guaranteed. `input` is the last operand,
    /// and `bits` is the number of bits in the result's significand.
    pub fn bound(self, input: f64, exact: f64, bits: i32) -> Option<f64> {
        let unit = || (exact.abs().log2().floor().max(if bits == 24 { -126.0 } else { -14.0 }) - f64::from(bits - 1)).exp2();
        let angle = input.abs();
        match self {
            // The correctly rounded result is up to half a unit from the exact one.
            Self::Ulps(units) => Some((f64::from(units) + 0.5) * unit()),
            Self::Quotient if (2_f64.powi(-126)..=2_f64.powi(126)).contains(&angle) => Some(2.5 * unit()),
            Self::Relative(exponent) => Some(exact.abs() * exponent.exp2()),
            // For a normal result, the relative error is larger.
            Self::RelativeOfNormal(exponent) => Some((exact.abs() * exponent.exp2()).max(unit())),
            Self::Absolute(exponent) => Some(exponent.exp2()),
            Self::Logarithm(exponent) if input > 0.5 && input < 2.0 => Some(exponent.exp2()),
            Self::Logarithm(exponent) => Some(exact.abs() * exponent.exp2()),
            Self::Angle if angle <= TAU => Some((-20.5_f64).exp2()),
            Self::Angle if angle <= 50.0 * TAU => Some((-14.7_f64).exp2()),
            Self::Quotient | Self::Angle | Self::UpperHalf | Self::Unstated => None,
        }
    }
}

impl fmt::Display for Accuracy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ulps(units) => write!(formatter, "{units} ulp"),
            Self::Quotient => write!(formatter, "2 ulp for divisors between 2^-126 and 2^126; 0 beyond"),
            Self::Relative(exponent) => write!(formatter, "relative 2^{exponent}"),
            Self::RelativeOfNormal(exponent) => {
                write!(formatter, "relative 2^{exponent}; of a subnormal result nothing is promised, an H200 gives it within 1 ulp")
            }
            Self::Absolute(exponent) => write!(formatter, "absolute 2^{exponent}"),
            Self::Logarithm(exponent) => write!(formatter, "absolute 2^{exponent} between 0.5 and 2, elsewhere relative"),
            Self::Angle => write!(formatter, "absolute 2^-20.5 within ±2π, 2^-14.7 within ±100π"),
            Self::UpperHalf => write!(formatter, "of the upper 32 bits; PTX promises no bound"),
            Self::Unstated => write!(formatter, "PTX promises no bound"),
        }
    }
}

/// Applies a function of f64 to an f32.
pub fn through64(function: impl Fn(f64) -> f64, a: f32) -> f32 {
    canonical32(function(f64::from(a)) as f32)
}

/// Returns the reciprocal of the square root.
#[inline(always)]
pub fn rsqrt(a: f32) -> f32 {
    canonical32((1.0 / f64::from(a).sqrt()) as f32)
}

/// `a / b` as `a` times the reciprocal of `b`: beyond 2^126 that is zero (PTX ISA, `div`).
#[inline(always)]
pub fn div(a: f32, b: f32) -> f32 {
    let vast = b.abs() > f32::from_bits(253 << 23) && b.abs() < f32::INFINITY;
    canonical32(if vast { a * 0_f32.copysign(b) } else { a / b })
}

/// Applies a function to the upper 32 bits of an f64. The lower bits become zero, and subnormal numbers are zeros.
#[inline(always)]
pub fn of_upper_half(a: f64, function: impl Fn(f64) -> f64) -> f64 {
    let upper = |value: f64| f64::from_bits(value.to_bits() & !0xffff_ffff);
    let result = flush64(function(flush64(upper(a))));
    if result.is_nan() || a.is_nan() { f64::from_bits(0x7fff_ffff << 32) } else { upper(result) }
}
