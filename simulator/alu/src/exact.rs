//! f64 arithmetic with directed rounding. The host has no wider format for the exact results, so they are computed with integers.

use std::cmp::Ordering;

use super::format::Rounding;

/// Bits of an f64's significand.
const PRECISION: i32 = 53;
/// Exponent of the last bit of the smallest f64.
const LEAST: i32 = -1074;

/// `significand * 2^exponent`. The last bit of the significand is also set if any bits below it were dropped (sticky).
#[derive(Clone, Copy)]
struct Number {
    negative: bool,
    significand: u128,
    exponent: i32,
}

impl Number {
    /// Makes a finite number.
    fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let fraction = u128::from(bits & ((1 << 52) - 1));
        let (significand, exponent) = if exponent == 0 { (fraction, LEAST) } else { (fraction | 1 << 52, LEAST - 1 + exponent) };
        Self { negative: value.is_sign_negative(), significand, exponent }
    }

    /// Returns the same number with a significand of `bits` bits. That must be more than it has now.
    fn widened(self, bits: u32) -> Self {
        let shift = self.significand.leading_zeros() - (128 - bits);
        Self { significand: self.significand << shift, exponent: self.exponent - shift as i32, ..self }
    }

    /// Returns the nearest f64 in a direction.
    fn round(self, rounding: Rounding) -> f64 {
        let signed = |magnitude: f64| if self.negative { -magnitude } else { magnitude };
        let bits = 128 - self.significand.leading_zeros() as i32;
        let dropped = (bits - PRECISION).max(LEAST - self.exponent);
        if dropped <= 0 {
            // Exact: the significand has at most 53 bits, and the power of two does not make it subnormal.
            let steps = (self.exponent - LEAST) as u32;
            return signed(scaled((self.significand as u64) << dropped.unsigned_abs(), steps - dropped.unsigned_abs()));
        }
        let (kept, rest) = match dropped {
            128.. => (0, self.significand),
            dropped => (self.significand >> dropped, self.significand & ((1 << dropped) - 1)),
        };
        let up = match rounding {
            Rounding::Nearest | Rounding::Away => {
                let half = if dropped > 128 { Ordering::Less } else { rest.cmp(&(1 << (dropped - 1))) };
                half == Ordering::Greater || (half == Ordering::Equal && (rounding == Rounding::Away || kept & 1 != 0))
            }
            _ => rest != 0 && !rounding.is_inward(self.negative),
        };
        let value = scaled(kept as u64 + u64::from(up), (self.exponent + dropped - LEAST) as u32);
        signed(if value == f64::INFINITY && rounding.is_inward(self.negative) { f64::MAX } else { value })
    }
}

/// Computes `significand * 2^(steps - 1074)`. The significand has up to 53 bits, or 54 and an even end; fewer only if `steps` is 0.
fn scaled(significand: u64, steps: u32) -> f64 {
    // An addition, not a bitwise or: the hidden bit adds one to the exponent.
    let bits = (u64::from(steps) << 52) + significand;
    f64::from_bits(if steps > 0x7fe { 0x7ff << 52 } else { bits.min(0x7ff << 52) })
}

/// `a + b`
pub fn sum(a: f64, b: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() {
        return a + b;
    }
    add(Number::of(a), Number::of(b), rounding)
}

/// `a * b`
pub fn product(a: f64, b: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return a * b;
    }
    multiply(a, b).round(rounding)
}

/// `a * b + c`, rounded once.
pub fn multiply_add(a: f64, b: f64, c: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() || !c.is_finite() {
        return a.mul_add(b, c);
    }
    add(multiply(a, b), Number::of(c), rounding)
}

/// `a / b`
pub fn quotient(a: f64, b: f64, rounding: Rounding) -> f64 {
    if !a.is_finite() || !b.is_finite() || a == 0.0 || b == 0.0 {
        return a / b;
    }
    let (a, b) = (Number::of(a).widened(127), Number::of(b).widened(53));
    let rest = u128::from(a.significand % b.significand != 0);
    let significand = (a.significand / b.significand) | rest;
    Number { negative: a.negative != b.negative, significand, exponent: a.exponent - b.exponent }.round(rounding)
}

/// Returns the square root.
pub fn root(a: f64, rounding: Rounding) -> f64 {
    if !(a > 0.0 && a < f64::INFINITY) {
        return a.sqrt();
    }
    let mut a = Number::of(a).widened(126);
    if a.exponent % 2 != 0 {
        a = Number { significand: a.significand << 1, exponent: a.exponent - 1, ..a };
    }
    let root = a.significand.isqrt();
    let rest = u128::from(root * root != a.significand);
    // Two bits more than needed, so that the sticky bit is below the rounding bit.
    Number { negative: false, significand: root << 1 | rest, exponent: a.exponent / 2 - 1 }.round(rounding)
}

/// Rounds a whole number, given its magnitude and its sign.
pub fn whole((magnitude, negative): (u64, bool), rounding: Rounding) -> f64 {
    if magnitude == 0 {
        return 0.0;
    }
    Number { negative, significand: u128::from(magnitude), exponent: 0 }.round(rounding)
}

fn multiply(a: f64, b: f64) -> Number {
    let (a, b) = (Number::of(a), Number::of(b));
    Number { negative: a.negative != b.negative, significand: a.significand * b.significand, exponent: a.exponent + b.exponent }
}

fn add(a: Number, b: Number, rounding: Rounding) -> f64 {
    let zero = |negative: bool| if negative { -0.0 } else { 0.0 };
    match (a.significand, b.significand) {
        (0, 0) if a.negative == b.negative => return zero(a.negative),
        (0, 0) => return zero(rounding == Rounding::Down),
        (0, _) => return b.round(rounding),
        (_, 0) => return a.round(rounding),
        _ => {}
    }
    // Products have 106 bits; the bits below them let cancelling numbers, whose exponents differ by one at most, stay exact.
    let (a, b) = (a.widened(126), b.widened(126));
    let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let shift = (large.exponent - small.exponent) as u32;
    let shifted = small.significand.checked_shr(shift).unwrap_or(0);
    let dropped = shift >= 128 || shifted << shift != small.significand;
    let shifted = shifted | u128::from(dropped);
    let (negative, significand) = if large.negative == small.negative {
        (large.negative, large.significand + shifted)
    } else if large.significand >= shifted {
        (large.negative, large.significand - shifted)
    } else {
        (small.negative, shifted - large.significand)
    };
    if significand == 0 {
        return zero(rounding == Rounding::Down);
    }
    Number { negative, significand, exponent: large.exponent }.round(rounding)
}
