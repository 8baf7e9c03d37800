//! Numbers of 8 bits, in pairs: e4m3 and e5m2 (PTX ISA, "Alternate Floating-Point Data Formats").
//!
//! e5m2 is the upper byte of an f16. e4m3 has no infinities, and only one NaN of each sign, so its largest number is 448.

use super::format::{Format, Rounding};
use super::half::{F16, Half, round};

const E4M3: Format = Format { exponent_bits: 4, fraction_bits: 3 };
const E5M2: Format = Format { exponent_bits: 5, fraction_bits: 2 };

/// The canonical NaN of both formats.
const NAN: u8 = 0x7f;

/// The largest number of e4m3, and of e5m2.
const MOST_E4M3: u8 = 0x7e;
const MOST_E5M2: u8 = 0x7b;

/// Puts two numbers in 16 bits, the first in the lower ones.
pub fn pair(low: f64, high: f64, to: impl Fn(f64) -> u8) -> u16 {
    u16::from(to(low)) | u16::from(to(high)) << 8
}

/// Returns the nearest number of e4m3, or the largest.
pub fn to_e4m3(value: f64) -> u8 {
    if value.is_nan() {
        return NAN;
    }
    let sign = u8::from(value.is_sign_negative()) << 7;
    let magnitude = value.abs();
    // An ordinary format ends at 240, because its highest exponent means infinity. Larger numbers are rounded as their halves, whose
    // exponent is lower by one.
    let code = if magnitude < 256.0 {
        E4M3.round(magnitude, Rounding::Nearest)
    } else {
        E4M3.round((magnitude / 2.0).min(240.0), Rounding::Nearest) + (1 << E4M3.fraction_bits)
    };
    sign | (code as u8).min(MOST_E4M3)
}

/// Returns the nearest number of e5m2, or the largest.
pub fn to_e5m2(value: f64) -> u8 {
    if value.is_nan() {
        return NAN;
    }
    let code = E5M2.round(value, Rounding::Nearest) as u8;
    code & 0x80 | (code & 0x7f).min(MOST_E5M2)
}

/// Returns the same number as an f16.
pub fn of_e4m3(code: u8) -> F16 {
    if code & NAN == NAN {
        return round(f64::NAN, Rounding::Nearest);
    }
    // The bits mean a number that is 2^8 times smaller, because the bias of an f16's exponent is larger by 8.
    let small = F16(u16::from(code & 0x80) << 8 | u16::from(code & 0x7f) << 7);
    round(f64::from(small.widen()) * 256.0, Rounding::Nearest)
}

/// Returns the same number as an f16.
pub fn of_e5m2(code: u8) -> F16 {
    round(F16(u16::from(code) << 8).widen().into(), Rounding::Nearest)
}
