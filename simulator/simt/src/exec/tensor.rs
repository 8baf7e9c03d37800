//! Products of small matrices: `mma` and `wmma.mma`.
//!
//! NVIDIA documents which elements are multiplied, but not in which order a tensor core adds or how often it rounds. This module
//! does what an H200 does. The steps were inferred from its results, and match them bit by bit for every shape of f16, bf16 and
//! tf32 (`tests/tensor`):
//!
//! 1. Every product is exact. Its exponent is the sum of its factors' exponents, so that it may be twice or nearly four times 2 to
//!    that power; the exponent of a subnormal number is the smallest of its type.
//! 2. All k products and C are aligned to the largest of these exponents, E. Bits below 2^(E - 25) are cut off.
//! 3. The terms are added without rounding.
//! 4. The sum becomes an f32 by cutting off once more, or an f16 by rounding to nearest.
//!
//! So the result differs from that of the same number of multiply-adds: its error is always toward zero, and up to one unit in the
//! last place of D. Other generations keep a different number of bits in step 2, which is not modeled. `wmma.mma` does the same,
//! except that for its 8 products of tf32 an H200 goes through steps 2 to 4 twice, with four products each.
//!
//! Products of f64 are multiply-adds in order of k, each rounded, and integers are added without rounding.

use crate::instructions::float::{canonical32, round32};
use crate::instructions::format::Rounding;
use crate::instructions::half::{self, Bf16, F16, Half};
use crate::program::MultiplyAdd;
use crate::program::fragment::{Fragment, Number, Shape};
use crate::registers::{LANES, Registers};

/// Executes a product of all lanes.
pub fn multiply_add(registers: &mut Registers, operation: &MultiplyAdd) {
    let Shape { n, k, .. } = operation.a.shape;
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
        Number::F64 => {
            let [a, b, mut d] = [operation.a, operation.b, operation.c].map(|part| gather(registers, &part, float_of_bits));
            for (row, sums) in d.chunks_exact_mut(n).enumerate() {
                for i in 0..k {
                    let factor = a[row * k + i];
                    sums.iter_mut().zip(&b[i * n..][..n]).for_each(|(sum, b)| *sum = factor.mul_add(*b, *sum));
                }
            }
            scatter(registers, &operation.d, &d, f64::to_bits);
        }
        number => {
            let [a, b, mut d] = [operation.a, operation.b, operation.c].map(|part| gather(registers, &part, float_of_bits));
            let (smallest, smallest_sum) = (smallest_exponent(operation.a.number), smallest_exponent(number));
            // Only `wmma` has products of 16 columns.
            let at_once = if operation.a.number == Number::Tf32 && n == 16 { k / 2 } else { k };
            let a_exponents: Vec<i32> = a.iter().map(|factor| exponent(*factor, smallest)).collect();
            // Column by column, so that both factors of a sum are contiguous.
            let b: Vec<f64> = (0..n * k).map(|i| b[i % k * n + i / k]).collect();
            let b_exponents: Vec<i32> = b.iter().map(|factor| exponent(*factor, smallest)).collect();
            for (row, sums) in d.chunks_exact_mut(n).enumerate() {
                let (a, a_exponents) = (&a[row * k..][..k], &a_exponents[row * k..][..k]);
                for (column, sum) in sums.iter_mut().enumerate() {
                    let (b, b_exponents) = (&b[column * k..][..k], &b_exponents[column * k..][..k]);
                    for i in (0..k).step_by(at_once) {
                        let terms = i..i + at_once;
                        let exponents = a_exponents[terms.clone()].iter().zip(&b_exponents[terms.clone()]).map(|(a, b)| a + b);
                        let largest = exponents.fold(exponent(*sum, smallest_sum), i32::max);
                        let products = a[terms.clone()].iter().zip(&b[terms]).map(|(a, b)| a * b);
                        *sum = as_held(cut_off_sum(products, *sum, largest), number);
                    }
                }
            }
            scatter(registers, &operation.d, &d, |sum| match number {
                Number::F16 => u64::from(half::round::<F16>(sum, Rounding::Nearest).0),
                _ => u64::from(canonical32(sum as f32).to_bits()),
            });
        }
    }
}

/// Binary digits after the leading one of the largest term that an H200 keeps of every term.
const KEPT: i32 = 25;

/// The exponent of zero, which is below that of every other term.
const OF_ZERO: i32 = -2000;

/// The exponent of the smallest normal number of a type.
fn smallest_exponent(number: Number) -> i32 {
    if number == Number::F16 { -14 } else { -126 }
}

/// The exponent of a number of a type, for aligning it in a sum.
fn exponent(value: f64, smallest: i32) -> i32 {
    if value == 0.0 {
        return OF_ZERO;
    }
    // No number of 32 bits is a subnormal f64.
    ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(smallest)
}

/// The sum of the terms, each cut off [`KEPT`] digits after the leading digit of 2 to the power of `largest`; exact in f64.
fn cut_off_sum(products: impl Iterator<Item = f64> + Clone, c: f64, largest: i32) -> f64 {
    // Exact products of finite factors are finite in f64.
    let plain = products.clone().sum::<f64>() + c;
    if !plain.is_finite() {
        return plain;
    }
    // Zero factors make exponents that no power of two has.
    let largest = largest.max(-300);
    let cut = |term: f64| (term * power_of_two(KEPT - largest)) as i64;
    (products.map(cut).sum::<i64>() + cut(c)) as f64 * power_of_two(largest - KEPT)
}

/// 2 to a power that is a normal f64's.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
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
        // The lower 13 bits of the register are ignored.
        Number::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
        Number::F64 => f64::from_bits(bits),
        _ => f64::from(f32::from_bits(bits as u32)),
    }
}

/// Converts a sum to the type of D.
fn as_held(sum: f64, number: Number) -> f64 {
    match number {
        Number::F16 => half::round::<F16>(sum, Rounding::Nearest).widen().into(),
        // Cutting off would end at the largest f32, but a tensor core goes on to infinity.
        _ if sum.abs() >= power_of_two(128) => (sum as f32).into(),
        _ => round32(sum, Rounding::Zero).into(),
    }
}
