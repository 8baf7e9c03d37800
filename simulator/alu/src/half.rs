//! f16 and bf16: lanes of 16 bits, alone and in pairs.
//!
//! Every function computes in f64 and rounds once (see [`format`]). A computed NaN is the canonical one, with all bits but the sign
//! set.

use super::float;
use super::format::{self, Format, Rounding};
use crate::registers::{LANES, lanes};

/// A number of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct F16(pub u16);

/// A number of 16 bits with the range of an f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bf16(pub u16);

/// A value in half of a word.
pub trait HalfWord: Copy {
    /// Makes it from its bits.
    fn from_bits(bits: u16) -> Self;
    /// Returns its bits.
    fn bits(self) -> u16;
}

/// f16 or bf16.
pub trait Half: HalfWord {
    /// Its format.
    const FORMAT: Format;
    /// Returns the same number as an f32.
    fn widen(self) -> f32;
}

macro_rules! half_words {
    ($($ty:ty, |$bits:ident| $from:expr, |$value:ident| $to:expr;)*) => {$(
        impl HalfWord for $ty {
            #[inline(always)]
            fn from_bits($bits: u16) -> Self {
                $from
            }

            #[inline(always)]
            fn bits(self) -> u16 {
                let $value = self;
                $to
            }
        }
    )*};
}

half_words! {
    u16, |bits| bits, |value| value;
    i16, |bits| bits as i16, |value| value as u16;
    F16, |bits| F16(bits), |value| value.0;
    Bf16, |bits| Bf16(bits), |value| value.0;
}

impl Half for F16 {
    const FORMAT: Format = Format::F16;

    #[inline(always)]
    fn widen(self) -> f32 {
        let sign = u32::from(self.0 & 0x8000) << 16;
        let magnitude = u32::from(self.0 & 0x7fff) << 13;
        let bits = if magnitude >= 0x1f << 23 {
            // Infinity and NaN have the highest exponent of either format.
            magnitude | 0xff << 23
        } else {
            // As an f32, the same bits are a number that is 2^112 times smaller; this also holds for subnormal numbers.
            (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits()
        };
        f32::from_bits(sign | bits)
    }
}

impl Half for Bf16 {
    const FORMAT: Format = Format::BF16;

    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.0) << 16)
    }
}

/// Two values in one word, the first in the low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Two<T>(pub T, pub T);

impl<T> Two<T> {
    /// Applies a function to each value.
    #[inline(always)]
    pub fn map<R>(self, function: impl Fn(T) -> R) -> Two<R> {
        Two(function(self.0), function(self.1))
    }

    /// Applies a function to each value and its partner.
    #[inline(always)]
    pub fn zip<U, R>(self, other: Two<U>, function: impl Fn(T, U) -> R) -> Two<R> {
        Two(function(self.0, other.0), function(self.1, other.1))
    }
}

impl<T: HalfWord> Two<T> {
    #[inline(always)]
    fn of(word: u32) -> Self {
        Self(T::from_bits(word as u16), T::from_bits((word >> 16) as u16))
    }

    #[inline(always)]
    fn word(self) -> u32 {
        u32::from(self.0.bits()) | u32::from(self.1.bits()) << 16
    }
}

lanes! {
    Word words words_mut:
    F16 = F16(0), |word| F16(word as u16), |value| u32::from(value.0);
    Bf16 = Bf16(0), |word| Bf16(word as u16), |value| u32::from(value.0);
    Two<u16> = Two(0, 0), |word| Two::of(word), |value| value.word();
    Two<i16> = Two(0, 0), |word| Two::of(word), |value| value.word();
    Two<F16> = Two(F16(0), F16(0)), |word| Two::of(word), |value| value.word();
    Two<Bf16> = Two(Bf16(0), Bf16(0)), |word| Two::of(word), |value| value.word();
}

/// Rounds an exact f64, or one rounded to odd, to 16 bits.
#[inline(always)]
pub fn round<T: Half>(value: f64, rounding: Rounding) -> T {
    T::from_bits(T::FORMAT.round(value, rounding) as u16)
}

/// Rounds like [`round`], but a NaN keeps the bits that fit.
#[inline(always)]
pub fn narrowed<T: Half>(value: f64, rounding: Rounding) -> T {
    T::from_bits(T::FORMAT.narrowed(value, rounding) as u16)
}

/// Rounds like [`round`], to nearest.
#[inline(always)]
fn nearest<T: Half>(value: f64) -> T {
    round(value, Rounding::Nearest)
}

/// `a + b`
#[inline(always)]
pub fn add<T: Half>(a: T, b: T) -> T {
    nearest(format::sum(a.widen().into(), b.widen().into(), Rounding::Nearest))
}

/// `a - b`
#[inline(always)]
pub fn sub<T: Half>(a: T, b: T) -> T {
    nearest(format::sum(a.widen().into(), (-b.widen()).into(), Rounding::Nearest))
}

/// `a * b`
#[inline(always)]
pub fn mul<T: Half>(a: T, b: T) -> T {
    nearest(f64::from(a.widen()) * f64::from(b.widen()))
}

/// `a * b + c`, rounded once.
#[inline(always)]
pub fn fma<T: Half>(a: T, b: T, c: T) -> T {
    nearest(format::sum(f64::from(a.widen()) * f64::from(b.widen()), c.widen().into(), Rounding::Nearest))
}

/// The NaN that a tensor copy fills in out of bounds.
const OUT_OF_BOUNDS: u16 = 0x7ff7;

/// `a * b + c`, or 0 if an operand is [`OUT_OF_BOUNDS`].
///
/// PTX ISA, `fma`: `.oob` makes the result 0 if an operand is the NaN of what is out of bounds.
#[inline(always)]
pub fn fma_in_bounds<T: Half>(a: T, b: T, c: T) -> T {
    if [a, b, c].iter().any(|operand| operand.bits() == OUT_OF_BOUNDS) { T::from_bits(0) } else { fma(a, b, c) }
}

/// Functions that f32 computes exactly, on the widened numbers.
macro_rules! by_single {
    ($($(#[$doc:meta])* $name:ident($($a:ident),+) $meaning:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: Half>($($a: T),+) -> T {
            $(let $a = $a.widen();)+
            nearest(f64::from($meaning))
        }
    )*};
}

by_single! {
    /// `-a`
    neg(a) -a;
    /// The magnitude.
    abs(a) a.abs();
    /// The smaller number; a NaN only if both are, and -0 below +0.
    min(a, b) float::min32(a, b);
    /// The larger number, as [`min`].
    max(a, b) float::max32(a, b);
    /// `.NaN`
    or_nan(a, b, otherwise) float::or_nan32(a, b, otherwise);
    /// `.xorsign.abs`, given the magnitude.
    xor_sign(a, b, magnitude) float::xor_sign32(a, b, magnitude);
    /// `.sat`: clamps to [0, 1]; NaN becomes 0.
    saturate(value) float::saturate32(value);
    /// `.relu`: a negative number becomes 0, and NaN the canonical NaN.
    relu(value) float::relu32(value);
}

/// `.satfinite`: an infinity becomes the largest number of its sign.
#[inline(always)]
pub fn finite<T: Half>(value: T) -> T {
    let infinity = ((1_u16 << T::FORMAT.exponent_bits) - 1) << T::FORMAT.fraction_bits;
    if value.bits() & 0x7fff == infinity { T::from_bits(value.bits() - 1) } else { value }
}

/// `.ftz`: flushes a subnormal number to a zero of the same sign.
#[inline(always)]
pub fn flush<T: Half>(value: T) -> T {
    let exponent = ((1_u16 << T::FORMAT.exponent_bits) - 1) << T::FORMAT.fraction_bits;
    if value.bits() & exponent == 0 { T::from_bits(value.bits() & 0x8000) } else { value }
}

/// Flushes a number and returns it as an f32.
#[inline(always)]
pub fn widen_flushed(value: F16) -> f32 {
    flush(value).widen()
}

/// Computes a function of f64 on 16-bit numbers.
pub fn through64<T: Half>(a: T, function: impl Fn(f64) -> f64) -> T {
    nearest(function(a.widen().into()))
}
