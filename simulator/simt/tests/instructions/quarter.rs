//! Cases of conversions to and from numbers of 8 bits. The expected result is the nearest among all numbers of the format, found by
//! comparing with each.

use crate::common::Numbers;
use crate::instructions::{Case, Group};

/// The formats: bits of the exponent and of the fraction, and the largest code.
const FORMATS: [(&str, u32, u32, u64); 2] = [("e4m3", 4, 3, 0x7e), ("e5m2", 5, 2, 0x7b)];

/// Returns the number of a code without its sign. All of them, and all those of f16 and f32, are numbers of f64 too.
fn number(code: u64, exponent_bits: u32, fraction_bits: u32) -> f64 {
    let bias = (1 << (exponent_bits - 1)) - 1;
    let (exponent, fraction) = ((code >> fraction_bits) as i32, (code & ((1 << fraction_bits) - 1)) as f64);
    let significand = if exponent == 0 { fraction } else { fraction + f64::from(1 << fraction_bits) };
    significand * 2_f64.powi(exponent.max(1) - bias - fraction_bits as i32)
}

/// Returns the number of an f16.
fn half(bits: u64) -> f64 {
    let magnitude = match bits & 0x7fff {
        0x7c00 => f64::INFINITY,
        0x7c01.. => f64::NAN,
        finite => number(finite, 5, 10),
    };
    if bits & 0x8000 != 0 { -magnitude } else { magnitude }
}

/// Returns the code of the nearest number; between two, the even one.
fn nearest(source: f64, format: (&str, u32, u32, u64), relu: bool) -> u64 {
    let (_, exponent_bits, fraction_bits, most) = format;
    if source.is_nan() {
        return 0x7f;
    }
    if relu && source.is_sign_negative() {
        return 0;
    }
    let sign = u64::from(source.is_sign_negative()) << 7;
    // All numbers beyond the largest have the same nearest one, and distances from this one are exact.
    let magnitude = source.abs().min(2_f64.powi(17));
    let distance = |code: u64| (number(code, exponent_bits, fraction_bits) - magnitude).abs();
    let better = |a: u64, b: u64| {
        let (of_a, of_b) = (distance(a), distance(b));
        if of_b < of_a || (of_b == of_a && b & 1 == 0) { b } else { a }
    };
    sign | if source.is_infinite() { most } else { (0..=most).reduce(better).unwrap() }
}

/// Returns the bits of the f16.
fn widened(code: u64, format: (&str, u32, u32, u64), relu: bool) -> u64 {
    let (_, exponent_bits, fraction_bits, most) = format;
    let (sign, magnitude) = (code >> 7 << 15, code & 0x7f);
    let is_infinite = exponent_bits == 5 && magnitude == 0x7c;
    if magnitude > most && !is_infinite {
        return 0x7fff;
    }
    if relu && sign != 0 {
        return 0;
    }
    // All numbers of both formats are numbers of f16.
    let exact = |bits: &u64| half(*bits) == number(magnitude, exponent_bits, fraction_bits);
    sign | if is_infinite { 0x7c00 } else { (0..0x7c00).find(exact).unwrap() }
}

pub fn groups() -> Vec<Group> {
    let mut numbers = Numbers(0xf8);
    let mut groups = Vec::new();
    for format in FORMATS {
        let (name, ..) = format;
        for relu in [false, true] {
            let modifier = if relu { ".relu" } else { "" };
            // The second part has many numbers halfway between two.
            let mut halves = vec![0, 0x8000, 0x7c00, 0xfc00, 0x7fff, 0xfe01, 0x7bff, 0xfbff, 1, 0x8001];
            halves.extend((0..150).map(|_| numbers.next() & 0xffff));
            halves.extend((0..150).map(|_| numbers.next() & 0xffc0));
            let of_half = |bits: u64| nearest(half(bits), format, relu);
            let cases: Vec<Case> =
                halves.windows(2).map(|pair| (vec![pair[1] << 16 | pair[0]], of_half(pair[1]) << 8 | of_half(pair[0]))).collect();
            groups.push(Group::new(format!("cvt.rn{modifier}.satfinite.{name}x2.f16x2"), "w>h", cases));

            let mut singles = vec![0, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xff81_0000, 0x7f7f_ffff, 1];
            for exponent in 100..=146_u64 {
                for fraction in
                    [0, 0x10_0000, 0x10_0001, 0x0f_ffff, 0x20_0000, 0x08_0000, 0x18_0000, 0x60_0000, 0x70_0000, 0x7f_ffff]
                {
                    singles.push(numbers.below(2) << 31 | exponent << 23 | fraction);
                }
            }
            let of_single = |bits: u64| nearest(f32::from_bits(bits as u32).into(), format, relu);
            let cases: Vec<Case> =
                singles.windows(2).map(|pair| (vec![pair[1], pair[0]], of_single(pair[1]) << 8 | of_single(pair[0]))).collect();
            groups.push(Group::new(format!("cvt.rn{modifier}.satfinite.{name}x2.f32"), "ww>h", cases));

            let cases: Vec<Case> = (0..256_u64)
                .map(|code| {
                    let other = (code * 37) & 0xff;
                    (vec![other << 8 | code], widened(other, format, relu) << 16 | widened(code, format, relu))
                })
                .collect();
            groups.push(Group::new(format!("cvt.rn{modifier}.f16x2.{name}x2"), "h>w", cases));
        }
    }
    groups
}
