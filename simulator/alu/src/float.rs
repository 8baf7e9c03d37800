//! Floating-point functions of one lane, where Rust's operators differ from a GPU or leave the result open.

use super::format::{self, Format, Rounding};

/// Replaces a NaN by the canonical one, which every f32 operation returns (PTX ISA, section on floating-point instructions). The
/// payload of an operand does not pass through.
///
/// The choice is between integers. Between floats, the compiler treats every NaN as equivalent and removes it.
#[inline(always)]
pub fn canonical32(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { 0x7fff_ffff } else { bits })
}

/// Returns the result of an f64 operation. If it is NaN, it becomes the first NaN among the operands, made quiet, or, for an invalid
/// operation on numbers, the negative quiet NaN. The order of operands is that of an H200. Otherwise the host's compiler would
/// decide, because it may swap operands.
#[inline(always)]
pub fn pass_nan<const N: usize>(value: f64, operands: [f64; N]) -> f64 {
    const QUIET: u64 = 1 << 51;
    let is_nan = |bits: u64| bits & (u64::MAX >> 1) > 0x7ff << 52;
    if !is_nan(value.to_bits()) {
        return value;
    }
    let operand = operands.into_iter().map(f64::to_bits).find(|bits| is_nan(*bits));
    f64::from_bits(operand.map_or(0xfff8 << 48, |bits| bits | QUIET))
}

/// Returns the smaller number; a NaN only if both are, and -0 below +0.
#[inline(always)]
pub fn min32(a: f32, b: f32) -> f32 {
    canonical32(if b.is_nan() || a < b || (a == b && a.is_sign_negative()) { a } else { b })
}

/// Returns the larger number; a NaN only if both are, and +0 above -0.
#[inline(always)]
pub fn max32(a: f32, b: f32) -> f32 {
    canonical32(if b.is_nan() || a > b || (a == b && a.is_sign_positive()) { a } else { b })
}

/// Returns the smaller number, as [`min32`].
#[inline(always)]
pub fn min64(a: f64, b: f64) -> f64 {
    pass_nan(if b.is_nan() || a < b || (a == b && a.is_sign_negative()) { a } else { b }, [b])
}

/// Returns the larger number, as [`min32`].
#[inline(always)]
pub fn max64(a: f64, b: f64) -> f64 {
    pass_nan(if b.is_nan() || a > b || (a == b && a.is_sign_positive()) { a } else { b }, [b])
}

/// Clamps to [0, 1]; NaN becomes 0.
#[inline(always)]
pub fn saturate32(value: f32) -> f32 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// Flushes a subnormal number to a zero of the same sign. `.ftz` does so with operands and results.
#[inline(always)]
pub fn flush32(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}

/// Flushes as [`flush32`] does.
#[inline(always)]
pub fn flush64(value: f64) -> f64 {
    let bits = value.to_bits();
    f64::from_bits(if bits & 0x7ff << 52 == 0 { bits & 1 << 63 } else { bits })
}

/// Rounds an exact f64, or one rounded to odd, to an f32.
#[inline(always)]
pub fn round32(value: f64, rounding: Rounding) -> f32 {
    f32::from_bits(Format::SINGLE.round(value, rounding))
}

/// `a + b`
#[inline(always)]
pub fn add32(a: f32, b: f32, rounding: Rounding) -> f32 {
    round32(format::sum(a.into(), b.into(), rounding), rounding)
}

/// `a * b`, which f64 holds.
#[inline(always)]
pub fn mul32(a: f32, b: f32, rounding: Rounding) -> f32 {
    round32(f64::from(a) * f64::from(b), rounding)
}

/// `a * b + c`, rounded once.
#[inline(always)]
pub fn fma32(a: f32, b: f32, c: f32, rounding: Rounding) -> f32 {
    round32(format::sum(f64::from(a) * f64::from(b), c.into(), rounding), rounding)
}

/// `a * b + c`, rounded once to nearest. WebAssembly has no instruction for that, and a function for one number at a time takes ten times as long
/// as arithmetic in f64, of which it has vectors.
#[inline(always)]
pub fn fused32(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_arch = "wasm32") { fma32(a, b, c, Rounding::Nearest) } else { a.mul_add(b, c) }
}

/// `a / b`
#[inline(always)]
pub fn div32(a: f32, b: f32, rounding: Rounding) -> f32 {
    round32(format::quotient(a.into(), b.into()), rounding)
}

/// Returns the square root.
#[inline(always)]
pub fn sqrt32(a: f32, rounding: Rounding) -> f32 {
    round32(format::root(a.into()), rounding)
}

/// `min` and `max` with `.NaN`: a NaN operand is the result.
#[inline(always)]
pub fn or_nan32(a: f32, b: f32, otherwise: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::from_bits(0x7fff_ffff) } else { otherwise }
}

/// `min` and `max` with `.xorsign.abs`: the magnitude is given, the sign is that of the product. A NaN stays a NaN.
#[inline(always)]
pub fn xor_sign32(a: f32, b: f32, magnitude: f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    f32::from_bits(if magnitude.is_nan() { 0x7fff_ffff } else { magnitude.to_bits() | sign })
}

/// Clamps to [0, 1]; NaN becomes 0.
#[inline(always)]
pub fn saturate64(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// Converts f64 to f32; a NaN keeps the bits that fit.
#[inline(always)]
pub fn cvt32(a: f64, rounding: Rounding) -> f32 {
    f32::from_bits(Format::SINGLE.narrowed(a, rounding))
}

/// Rounds an f32 to the precision of TF32. The lower bits become zeros, also those of a NaN.
#[inline(always)]
pub fn tf32(a: f32, rounding: Rounding) -> f32 {
    f32::from_bits(Format::TF32.round(a.into(), rounding) << 13)
}

/// Rounds like [`tf32`], but halves away from zero. An H200 cuts off the lower bits of a NaN, so a NaN whose payload is
/// only there becomes infinity.
#[inline(always)]
pub fn tf32_away(a: f32) -> f32 {
    if a.is_nan() { f32::from_bits(a.to_bits() & !0x1fff) } else { tf32(a, Rounding::Away) }
}

/// Turns a negative number into 0, and NaN into the canonical NaN.
#[inline(always)]
pub fn relu32(a: f32) -> f32 {
    if a <= 0.0 { 0.0 } else { canonical32(a) }
}

/// `.satfinite` of tf32: an infinity becomes the largest number of its sign. For NaN, an H200 does the same to its bits.
#[inline(always)]
pub fn finite_tf32(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff >= 0x7f80_0000 { bits - 0x2000 } else { bits })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiply_add_in_doubles_has_the_bits_of_a_fused_one() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
        };
        let special = [
            0,
            1 << 31,
            1,
            0x7f_ffff,
            0x80_0000,
            0x3f80_0000,
            0xbf80_0001,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
        ];
        let mut number = |case: u32| match (case, random()) {
            (0, bits) => special[bits as usize % special.len()],
            // Exponents near each other, so that sums cancel or meet in the middle.
            (1, bits) => (bits & 0x807f_ffff) | (0x3e00_0000 + (bits >> 8 & 7) * 0x80_0000),
            // Few bits, so that results fall halfway between two numbers.
            (2, bits) => bits & 0xfff8_0000,
            (_, bits) => bits,
        };
        for case in 0..2_000_000_u32 {
            let [a, b, c] = [number(case % 4), number(case / 4 % 4), number(case / 16 % 4)].map(f32::from_bits);
            let (fused, doubles) = (a.mul_add(b, c), fma32(a, b, c, Rounding::Nearest));
            let same = fused.to_bits() == doubles.to_bits() || fused.is_nan() && doubles.is_nan();
            assert!(same, "{a:e} * {b:e} + {c:e}: {fused:e} and {doubles:e}");
        }
    }
}
