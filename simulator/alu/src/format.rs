//! Rounding to a narrower format, in any direction and without double rounding.
//!
//! Arithmetic of f32 and narrower formats is computed in f64 and then rounded. If f64 cannot hold the exact result, it holds the
//! result *rounded to odd*: of the two nearest f64 numbers, the one whose last bit is set. That number is on the same side of every
//! number of the narrower format, and of every midpoint between two of them, as the exact result. So rounding it gives the same as
//! rounding the exact result. f64 must have two bits more than the narrower format (Boldo and Melquiond, "Emulation of FMA and
//! correctly rounded sums: proved algorithms using rounding to odd", IEEE Transactions on Computers 57, 2008), and has many more.

/// The rounding direction for a number that the format cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rz`: toward zero.
    Zero,
    /// `.rm`: down.
    Down,
    /// `.rp`: up.
    Up,
    /// `.rna`: to nearest, ties away from zero.
    Away,
}

impl Rounding {
    /// Returns true if it rounds numbers of this sign toward zero. Numbers that the format holds stay as they are.
    #[inline(always)]
    pub fn is_inward(self, negative: bool) -> bool {
        match self {
            Self::Nearest | Self::Away => false,
            Self::Zero => true,
            Self::Down => !negative,
            Self::Up => negative,
        }
    }
}

/// A binary format with a sign bit, infinities and subnormals. Its canonical NaN has all bits below the sign set.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub exponent_bits: u32,
    pub fraction_bits: u32,
}

impl Format {
    pub const SINGLE: Self = Self { exponent_bits: 8, fraction_bits: 23 };
    pub const F16: Self = Self { exponent_bits: 5, fraction_bits: 10 };
    pub const BF16: Self = Self { exponent_bits: 8, fraction_bits: 7 };
    /// 19 bits, the upper ones of an f32.
    pub const TF32: Self = Self { exponent_bits: 8, fraction_bits: 10 };

    /// Returns the bits of a number in this format.
    #[inline(always)]
    pub fn round(self, value: f64, rounding: Rounding) -> u32 {
        const SIGN: u64 = 1 << 63;
        const HIDDEN: u64 = 1 << 52;
        let bias = (1 << (self.exponent_bits - 1)) - 1;
        let infinity = ((1 << self.exponent_bits) - 1) << self.fraction_bits;
        let bits = value.to_bits();
        let sign = ((bits >> 63) as u32) << (self.exponent_bits + self.fraction_bits);
        let magnitude = bits & !SIGN;
        if magnitude >= 0x7ff << 52 {
            return if magnitude > 0x7ff << 52 { (1 << (self.exponent_bits + self.fraction_bits)) - 1 } else { sign | infinity };
        }
        let exponent = (magnitude >> 52) as i32 - 1023;
        let significand = if exponent == -1023 { magnitude } else { magnitude & (HIDDEN - 1) | HIDDEN };
        // A subnormal number has fewer bits, possibly none.
        let missing = (1 - bias - exponent).max(0);
        let dropped = (52 - self.fraction_bits as i32 + missing).min(54) as u32;
        let kept = (significand >> dropped) as u32;
        let rest = significand & ((1 << dropped) - 1);
        let half = 1 << (dropped - 1);
        let up = match rounding {
            Rounding::Nearest => rest > half || (rest == half && kept & 1 != 0),
            Rounding::Away => rest >= half,
            _ => rest != 0 && !rounding.is_inward(sign != 0),
        };
        // The addition carries from the fraction into the exponent, which a bitwise or would not. The hidden bit is part of `kept`.
        let above = (exponent + bias - 1).max(0);
        let largest = infinity - 1;
        if above > 1 << self.exponent_bits {
            return sign | self.beyond(sign != 0, rounding);
        }
        let result = ((above as u32) << self.fraction_bits) + kept + u32::from(up);
        sign | if result > largest { self.beyond(sign != 0, rounding) } else { result }
    }

    /// Rounds like [`round`](Self::round), but keeps a NaN's sign and upper payload bits. The NaN becomes quiet. This is how an
    /// H200 converts from f64.
    #[inline(always)]
    pub fn narrowed(self, value: f64, rounding: Rounding) -> u32 {
        if !value.is_nan() {
            return self.round(value, rounding);
        }
        let bits = value.to_bits();
        let sign = ((bits >> 63) as u32) << (self.exponent_bits + self.fraction_bits);
        let quiet = ((1 << (self.exponent_bits + 1)) - 1) << (self.fraction_bits - 1);
        let payload = (bits & ((1 << 52) - 1)) >> (52 - self.fraction_bits);
        sign | quiet | payload as u32
    }

    /// Returns the result for numbers beyond the largest one, without the sign.
    #[inline(always)]
    fn beyond(self, negative: bool, rounding: Rounding) -> u32 {
        let infinity = ((1 << self.exponent_bits) - 1) << self.fraction_bits;
        if rounding.is_inward(negative) { infinity - 1 } else { infinity }
    }
}

/// Rounds to odd, given the nearest f64 and its error. Only the sign of the error matters.
#[inline(always)]
fn odd(nearest: f64, missing: f64) -> f64 {
    let bits = nearest.to_bits();
    // The error of an infinity is NaN, which changes nothing.
    let inexact = missing != 0.0 && !missing.is_nan();
    if !inexact || bits & 1 != 0 {
        return nearest;
    }
    let outwards = (missing < 0.0) == (nearest < 0.0);
    f64::from_bits(if outwards { bits + 1 } else { bits - 1 })
}

/// `a + b` rounded to odd. `a` and `b` come from formats much narrower than f64, so nothing overflows.
#[inline(always)]
pub fn sum(a: f64, b: f64, rounding: Rounding) -> f64 {
    let sum = a + b;
    if rounding == Rounding::Down && sum == 0.0 && (a.is_sign_negative() || b.is_sign_negative()) {
        // The operands have different signs, or both are -0.
        return -0.0;
    }
    let from_b = sum - a;
    odd(sum, (a - (sum - from_b)) + (b - from_b))
}

/// `a / b` rounded to odd.
#[inline(always)]
pub fn quotient(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    let remainder = (-quotient).mul_add(b, a);
    odd(quotient, if b < 0.0 { -remainder } else { remainder })
}

/// Returns the square root rounded to odd.
#[inline(always)]
pub fn root(a: f64) -> f64 {
    let root = a.sqrt();
    odd(root, (-root).mul_add(root, a))
}

/// Rounds a whole number to odd, given its magnitude and its sign.
#[inline(always)]
pub fn whole((magnitude, negative): (u64, bool)) -> f64 {
    let value = if magnitude >> 53 == 0 {
        magnitude as f64
    } else {
        ((magnitude >> 11) | u64::from(magnitude & 0x7ff != 0)) as f64 * 2048.0
    };
    if negative { -value } else { value }
}
