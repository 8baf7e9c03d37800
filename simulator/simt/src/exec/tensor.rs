//! Products of small matrices: `mma` and `wmma.mma`.
//!
//! NVIDIA documents which elements are multiplied, not in which order a tensor core adds nor how often it rounds. Here every product is
//! exact, the k products and C are added in f64 in order of k, and the sum is rounded once to the type of D. The result is therefore
//! within half a unit in its last place, and 2^-49 of the sum of the magnitudes, of the exact one. A tensor core comes less close: it
//! drops bits when it aligns the terms, so only sums that are exact at every step can be expected to agree bit by bit.
//!
//! Products of f64 are multiply-adds in order of k, each rounded, and integers are added without rounding.

use super::registers::{LANES, Registers};
use crate::instructions::float::canonical32;
use crate::program::MultiplyAdd;
use crate::program::fragment::{Fragment, Number, Shape};

/// Executes a product; all lanes take part.
pub fn multiply_add(registers: &mut Registers, operation: &MultiplyAdd) {
    let Shape { m, n, k } = operation.a.shape;
    match operation.d.number {
        Number::S32 => {
            let of_bits = |bits: u64, number: Number| match number {
                Number::S8 => i64::from(bits as i8),
                Number::U8 => i64::from(bits as u8),
                _ => i64::from(bits as i32),
            };
            let [a, b, mut d] = [operation.a, operation.b, operation.c].map(|part| gather(registers, &part, of_bits));
            for (row, sums) in d.chunks_exact_mut(n).enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum += (0..k).map(|i| a[row * k + i] * b[i * n + column]).sum::<i64>();
                }
            }
            scatter(registers, &operation.d, &d, |sum| {
                let clamped = sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
                u64::from(if operation.saturates { clamped } else { sum } as u32)
            });
        }
        number => {
            let [a, b, mut d] = [operation.a, operation.b, operation.c].map(|part| gather(registers, &part, float_of_bits));
            for row in 0..m {
                let sums = &mut d[row * n..][..n];
                for i in 0..k {
                    let factor = a[row * k + i];
                    let terms = sums.iter_mut().zip(&b[i * n..][..n]);
                    match number {
                        Number::F64 => terms.for_each(|(sum, b)| *sum = factor.mul_add(*b, *sum)),
                        _ => terms.for_each(|(sum, b)| *sum += factor * b),
                    }
                }
            }
            scatter(registers, &operation.d, &d, |sum| bits_of_float(sum, number));
        }
    }
}

/// A matrix, row by row, from the lanes' registers.
fn gather<T: Copy + Default>(registers: &Registers, fragment: &Fragment, of_bits: impl Fn(u64, Number) -> T) -> Vec<T> {
    let (rows, columns) = fragment.extents();
    let number = fragment.number;
    let mut matrix = vec![T::default(); rows * columns];
    for (position, register) in fragment.registers.iter().enumerate().take(fragment.count()) {
        for lane in 0..LANES {
            let bits = match number {
                Number::F64 => registers.doubles(*register)[lane],
                _ => u64::from(registers.words(*register)[lane]),
            };
            for element in 0..number.per_register() {
                let (row, column) = fragment.place(lane, position, element);
                matrix[row * columns + column] = of_bits(bits >> (8 * number.bytes() * element), number);
            }
        }
    }
    matrix
}

/// A matrix, row by row, into the lanes' registers.
fn scatter<T: Copy>(registers: &mut Registers, fragment: &Fragment, matrix: &[T], to_bits: impl Fn(T) -> u64) {
    let (_, columns) = fragment.extents();
    let number = fragment.number;
    for (position, register) in fragment.registers.iter().enumerate().take(fragment.count()) {
        for lane in 0..LANES {
            let bits = (0..number.per_register()).fold(0, |bits, element| {
                let (row, column) = fragment.place(lane, position, element);
                bits | to_bits(matrix[row * columns + column]) << (8 * number.bytes() * element)
            });
            match number {
                Number::F64 => registers.doubles_mut(*register)[lane] = bits,
                _ => registers.words_mut(*register)[lane] = bits as u32,
            }
        }
    }
}

/// The value of the low bits of a register.
fn float_of_bits(bits: u64, number: Number) -> f64 {
    match number {
        Number::F16 => half_to_f64(bits as u16),
        Number::Bf16 => f64::from(f32::from_bits(u32::from(bits as u16) << 16)),
        // The lower 13 bits of the register are not looked at.
        Number::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
        Number::F64 => f64::from_bits(bits),
        _ => f64::from(f32::from_bits(bits as u32)),
    }
}

fn bits_of_float(value: f64, number: Number) -> u64 {
    match number {
        Number::F16 => u64::from(half_from_f64(value)),
        Number::F64 => value.to_bits(),
        _ => u64::from(canonical32(value as f32).to_bits()),
    }
}

/// The value of an f16.
fn half_to_f64(bits: u16) -> f64 {
    let exponent = i32::from(bits >> 10 & 0x1f);
    let fraction = f64::from(bits & 0x3ff);
    let magnitude = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 != 0 { -magnitude } else { magnitude }
}

/// The nearest f16, the even one of two that are as near.
fn half_from_f64(value: f64) -> u16 {
    if value.is_nan() {
        return 0x7fff;
    }
    let sign = u16::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    // What lies half a unit above the largest number, or more, is infinite.
    if magnitude >= 65_520.0 {
        return sign | 0x7c00;
    }
    let exponent = (((magnitude.to_bits() >> 52) as i32) - 1023).max(-14);
    // The unit in the last place is 1 here. A carry into the next exponent is right as it stands, since the fraction is zero then.
    let steps = (magnitude * 2_f64.powi(10 - exponent)).round_ties_even() as u16;
    sign | (steps + ((exponent + 14) as u16 * 0x400))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_comes_back_from_f64() {
        for bits in 0..=u16::MAX {
            let is_nan = bits & 0x7fff > 0x7c00;
            assert_eq!(half_from_f64(half_to_f64(bits)), if is_nan { 0x7fff } else { bits });
        }
    }

    #[test]
    fn halves_round_to_the_nearest_even() {
        for (value, expected) in [
            (1.0, 0x3c00),
            // Half a unit above 1, above 1 + one unit, and a little more than half a unit above 1.
            (1.0 + 2_f64.powi(-11), 0x3c00),
            (1.0 + 3.0 * 2_f64.powi(-11), 0x3c02),
            (1.0 + 2_f64.powi(-11) + 2_f64.powi(-40), 0x3c01),
            (2047.5, 0x6800),
            (65_519.9, 0x7bff),
            (65_520.0, 0x7c00),
            (-1e30, 0xfc00),
            (2_f64.powi(-25), 0x0000),
            (1.5 * 2_f64.powi(-25), 0x0001),
            (2_f64.powi(-14) - 2_f64.powi(-26), 0x0400),
            (-0.0, 0x8000),
        ] {
            assert_eq!(half_from_f64(value), expected, "{value}");
        }
    }
}
