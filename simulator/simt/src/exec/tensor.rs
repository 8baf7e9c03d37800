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
use crate::instructions::format::Rounding;
use crate::instructions::half::{self, Bf16, F16, Half};
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
        Number::F16 => F16(bits as u16).widen().into(),
        Number::Bf16 => Bf16(bits as u16).widen().into(),
        // The lower 13 bits of the register are not looked at.
        Number::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
        Number::F64 => f64::from_bits(bits),
        _ => f64::from(f32::from_bits(bits as u32)),
    }
}

fn bits_of_float(value: f64, number: Number) -> u64 {
    match number {
        Number::F16 => u64::from(half::round::<F16>(value, Rounding::Nearest).0),
        Number::F64 => value.to_bits(),
        _ => u64::from(canonical32(value as f32).to_bits()),
    }
}
