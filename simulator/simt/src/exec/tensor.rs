//! Products of small matrices: `mma`, `wmma.mma`, and the arithmetic of `wgmma`.
//!
//! NVIDIA documents which elements are multiplied, but not in which order a tensor core adds or how often it rounds. This module
//! does what an H200 does. The steps were inferred from its results, and match them bit by bit for every shape of f16, bf16 and
//! tf32 (`tests/tensor`):
//!
//! 1. Every product is exact. Its exponent is the sum of its factors' exponents, so that it may be twice or nearly four times 2 to
//!    that power; the exponent of a subnormal number is the smallest of its own type.
//! 2. All k products and C are aligned to the largest of these exponents, E. Bits below 2^(E - 25) are cut off.
//! 3. The terms are added without rounding.
//! 4. The sum becomes an f32 by cutting off once more, or an f16 by rounding to nearest. Where that makes it zero, it is positive.
//!
//! So the result differs from that of the same number of multiply-adds: its error is always toward zero, and up to one unit in the
//! last place of D. Other generations keep a different number of bits in step 2, which is not modeled. `wmma.mma` does the same,
//! except that for its 8 products of tf32 an H200 goes through steps 2 to 4 twice, with four products each.
//!
//! An H200 has no products of e4m3 and e5m2 but those of `wgmma`. For `mma`, its machine code makes f16 of them: the products of the even
//! pairs of k (0, 1, 4, 5, ...) go through steps 2 to 4 without C, then those of the odd pairs with the first sums as C. What comes out
//! is added to C and rounded to nearest.
//!
//! `wgmma` does the same as `mma` with all of its k products at once, except for e4m3 and e5m2: there it keeps bits down to 2^(E - 13)
//! in step 2, and step 4 keeps no more than 13 digits of an f32 after its leading one (`tests/wgmma`, bit by bit as well).
//!
//! Products of f64 are multiply-adds in order of k, each rounded, and integers are added without rounding.

use super::sparse;
use alu::float::{canonical32, round32};
use alu::format::Rounding;
use alu::half::{self, Bf16, F16, Half};
use alu::quarter;
use alu::registers::{LANES, Registers};
use alu::{Executor, exact};
use ptx::program::fragment::{Fragment, Number, Shape};
use ptx::program::{MultiplyAdd, Wgmma};

/// Makes a function of another one that is compiled twice: for any processor, and for those with wide vectors and fused multiply-add.
macro_rules! for_processors {
    ($(#[$doc:meta])* pub fn $name:ident = $anywhere:ident($($argument:ident: $ty:ty),*)) => {
        $(#[$doc])*
        pub fn $name(executor: Executor, $($argument: $ty),*) {
            #[cfg(target_arch = "x86_64")]
            if executor.has_vectors() {
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                fn vector($($argument: $ty),*) {
                    $anywhere($($argument),*);
                }
                // SAFETY: `has_vectors` is true only if the executor found on this processor every feature that `vector` is compiled for.
                return unsafe { vector($($argument),*) };
            }
            let _ = executor;
            $anywhere($($argument),*);
        }
    };
}

for_processors! {
    /// Executes a product of all lanes.
    pub fn multiply_add = multiply_add_anywhere(registers: &mut Registers, operation: &MultiplyAdd)
}

/// Executes a product of all lanes. It is inlined into its two callers with all its steps, so that each gets its own machine code.
#[inline(always)]
fn multiply_add_anywhere(registers: &mut Registers, operation: &MultiplyAdd) {
    let Shape { n, k, .. } = operation.b.shape;
    let (mut a, b) = (matrix(registers, &operation.a), matrix(registers, &operation.b));
    let mut d = matrix(registers, &operation.c);
    if let Some((metadata, selector)) = operation.sparse {
        a = sparse::expanded(&a, &operation.a, registers.words(metadata), selector.into());
    }
    match operation.d.number {
        Number::S32 if operation.xor => add_in_order(&a, &b, &mut d, (n, k), |a, b, sum| (a - b).abs() + sum),
        Number::S32 => add_in_order(&a, &b, &mut d, (n, k), |a, b, sum| a * b + sum),
        Number::F64 if operation.rounding == Rounding::Nearest => add_in_order(&a, &b, &mut d, (n, k), f64::mul_add),
        Number::F64 => add_in_order(&a, &b, &mut d, (n, k), |a, b, sum| exact::multiply_add(a, b, sum, operation.rounding)),
        number if operation.a.is_of_quads() => {
            let of_each = a.chunks_exact(a.len() / 4).zip(b.chunks_exact(b.len() / 4)).zip(d.chunks_exact_mut(8 * n));
            for ((a, b), d) in of_each {
                add_products(a, b, d, (n, k, k), [Number::F16; 2], Sums { number, kept: KEPT, digits: DIGITS });
            }
        }
        number if operation.a.number.is_quarter() => {
            let mut sums = vec![0.0; d.len()];
            for odd in [false, true] {
                let (a, b) = pairs_of_k(&a, &b, n, k, odd);
                add_products(&a, &b, &mut sums, (n, k / 2, k / 2), [Number::F16; 2], Sums { number, kept: KEPT, digits: DIGITS });
            }
            // In the type of D, whose numbers a sum of two f64 holds exactly, or too far away to change the rounding.
            d.iter_mut().zip(&sums).for_each(|(d, sum)| *d += *sum);
        }
        number => {
            // Only `wmma` has products of 16 columns.
            let at_once = if operation.a.number == Number::Tf32 && n == 16 { k / 2 } else { k };
            add_products(&a, &b, &mut d, (n, k, at_once), [operation.a.number; 2], Sums { number, kept: KEPT, digits: DIGITS });
        }
    }
    for (position, register) in operation.d.registers.iter().enumerate().take(operation.d.count()) {
        let bits = scattered(&operation.d, position, &d, operation.saturates);
        registers.set_lanes(operation.d.number.kind(), *register, &bits);
    }
}

/// Adds A B to the sums in order of k. All sums of integers are exact in f64.
#[inline(always)]
fn add_in_order(a: &[f64], b: &[f64], sums: &mut [f64], (n, k): (usize, usize), multiply_add: impl Fn(f64, f64, f64) -> f64) {
    for (row, sums) in a.chunks_exact(k).zip(sums.chunks_exact_mut(n)) {
        for (factor, b) in row.iter().zip(b.chunks_exact(n)) {
            sums.iter_mut().zip(b).for_each(|(sum, b)| *sum = multiply_add(*factor, *b, *sum));
        }
    }
}

for_processors! {
    /// Adds A B to `d`, for a warp's rows of `wgmma`. The matrices are row by row.
    pub fn add_rows = add_rows_anywhere(operation: &Wgmma, a: &[f64], b: &[f64], d: &mut [f64])
}

#[inline(always)]
fn add_rows_anywhere(operation: &Wgmma, a: &[f64], b: &[f64], d: &mut [f64]) {
    let Shape { n, k, .. } = operation.shape;
    let of = [operation.a_number, operation.b_number];
    match (operation.sum, operation.a_number.is_quarter()) {
        (Number::S32, _) => add_in_order(a, b, d, (n, k), |a, b, sum| a * b + sum),
        (number, true) => {
            let kept = Sums { number, kept: KEPT_OF_QUARTERS, digits: KEPT_OF_QUARTERS as u32 };
            add_products(a, b, d, (n, k, k), of, kept);
        }
        (number, false) => add_products(a, b, d, (n, k, k), of, Sums { number, kept: KEPT, digits: DIGITS }),
    }
}

/// How sums are kept.
#[derive(Clone, Copy)]
struct Sums {
    number: Number,
    /// Binary digits after the leading one of the largest term that are kept of every term.
    kept: i32,
    /// Digits after its own leading one that are kept of an f32 sum.
    digits: u32,
}

/// Adds A B, of two types, to sums of another. Each step adds `at_once` products.
#[inline(always)]
fn add_products(a: &[f64], b: &[f64], sums: &mut [f64], (n, k, at_once): (usize, usize, usize), of: [Number; 2], how: Sums) {
    let smallest_sum = smallest_exponent(how.number);
    let [a_exponents, b_exponents] =
        [(a, of[0]), (b, of[1])].map(|(factors, number)| exponents(factors, smallest_exponent(number)));
    let (b, b_exponents) = (b.as_chunks().0, b_exponents.as_chunks().0);
    let step = n / COLUMNS;
    for (block, sums) in sums.as_chunks_mut().0.iter_mut().enumerate() {
        for first in (0..k).step_by(at_once) {
            let (of_a, of_b) = (block / step * k + first, first * step + block % step);
            let terms = Terms {
                a: &a[of_a..][..at_once],
                a_exponents: &a_exponents[of_a..][..at_once],
                b: &b[of_b..],
                b_exponents: &b_exponents[of_b..],
                step,
            };
            *sums = cut_off_sums(&terms, *sums, smallest_sum, how.kept);
            for sum in &mut *sums {
                *sum = as_held(*sum, how.number);
                if how.digits < DIGITS && how.number == Number::F32 && sum.is_finite() {
                    *sum = f64::from_bits(sum.to_bits() & !(u64::MAX >> (64 - (f64::MANTISSA_DIGITS - 1 - how.digits))));
                }
            }
        }
    }
}

/// Returns A's columns and B's rows for every other pair of k.
fn pairs_of_k(a: &[f64], b: &[f64], n: usize, k: usize, odd: bool) -> (Vec<f64>, Vec<f64>) {
    let chosen = |i: &usize| (i / 2 % 2 == 1) == odd;
    let of_a = a.chunks_exact(k).flat_map(|row| (0..k).filter(chosen).map(|i| row[i]));
    let of_b = (0..k).filter(chosen).flat_map(|i| &b[i * n..][..n]).copied();
    (of_a.collect(), of_b.collect())
}

/// The number of binary digits that an H200 keeps of every term. They are counted after the leading one of the largest term.
const KEPT: i32 = 25;

/// The same for factors of e4m3 and e5m2.
const KEPT_OF_QUARTERS: i32 = 13;

/// Binary digits of an f32 after the leading one.
const DIGITS: u32 = f32::MANTISSA_DIGITS - 1;

/// The exponent of zero, which is below that of every other term.
const OF_ZERO: i32 = -2000;

/// Returns the exponent of the smallest normal number of a type.
fn smallest_exponent(number: Number) -> i32 {
    match number {
        Number::F16 | Number::E5M2 => -14,
        Number::E4M3 => -6,
        _ => -126,
    }
}

/// Returns the exponent of a number, for aligning it in a sum. `smallest` is the smallest of its type.
#[inline(always)]
fn exponent(value: f64, smallest: i32) -> i32 {
    if value == 0.0 {
        return OF_ZERO;
    }
    // No number of 32 bits is a subnormal f64.
    ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(smallest)
}

#[inline(always)]
fn exponents(values: &[f64], smallest: i32) -> Vec<i32> {
    let mut exponents = vec![0; values.len()];
    for (exponent_of, value) in exponents.iter_mut().zip(values) {
        *exponent_of = exponent(*value, smallest);
    }
    exponents
}

/// Columns whose sums are computed side by side. The compiler then makes vector instructions. Every product has a multiple of this.
const COLUMNS: usize = 8;

/// Part of a row of A, and its factors from B. They are in [`COLUMNS`] columns.
struct Terms<'a> {
    a: &'a [f64],
    a_exponents: &'a [i32],
    /// B from the first factors on, row by row.
    b: &'a [[f64; COLUMNS]],
    b_exponents: &'a [[i32; COLUMNS]],
    /// From one row of B to the next.
    step: usize,
}

/// Adds the products to C: each term is cut off `kept` digits after the leading digit of 2 to the power of the largest exponent of its
/// column. The sums are exact in f64.
// Loops over arrays, because iterators and closures are not always inlined into the code for vectors.
#[inline(always)]
fn cut_off_sums(terms: &Terms<'_>, c: [f64; COLUMNS], smallest_of_c: i32, kept: i32) -> [f64; COLUMNS] {
    let mut largest = [0; COLUMNS];
    for column in 0..COLUMNS {
        largest[column] = exponent(c[column], smallest_of_c);
    }
    for (a_exponent, b_exponents) in terms.a_exponents.iter().zip(terms.b_exponents.iter().step_by(terms.step)) {
        for column in 0..COLUMNS {
            let exponent = *a_exponent + b_exponents[column];
            largest[column] = if exponent > largest[column] { exponent } else { largest[column] };
        }
    }
    let (mut scales, mut sums) = ([0.0; COLUMNS], [0.0; COLUMNS]);
    for column in 0..COLUMNS {
        // Zero factors and infinite ones make exponents that no power of two has. Where a term is infinite or NaN, so is the sum, at any
        // scale.
        largest[column] = largest[column].clamp(-300, 300);
        scales[column] = power_of_two(kept - largest[column]);
        // Each scaled term is less than 2^27, so the sum of their integral parts is exact. Zero is added, so that a sum of zeros is
        // positive, whatever their signs.
        sums[column] = (c[column] * scales[column]).trunc() + 0.0;
    }
    for (a, b) in terms.a.iter().zip(terms.b.iter().step_by(terms.step)) {
        for column in 0..COLUMNS {
            sums[column] += (*a * b[column] * scales[column]).trunc();
        }
    }
    for column in 0..COLUMNS {
        sums[column] *= power_of_two(largest[column] - kept);
    }
    sums
}

/// Returns 2 to a power that is a normal f64's.
#[inline(always)]
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// Returns a matrix, row by row, from the lanes' registers.
#[inline(always)]
fn matrix(registers: &Registers, fragment: &Fragment) -> Vec<f64> {
    gather(fragment, |position| match fragment.number {
        Number::F64 => *registers.doubles(fragment.registers[position]),
        _ => registers.words(fragment.registers[position]).map(u64::from),
    })
}

/// Returns a matrix, row by row, from the bits of its registers.
#[inline(always)]
pub fn gather(fragment: &Fragment, bits_of: impl Fn(usize) -> [u64; LANES]) -> Vec<f64> {
    let (rows, columns) = fragment.extents();
    let number = fragment.number;
    let mut matrix = vec![0.0; rows * columns];
    for position in 0..fragment.count() {
        let bits = bits_of(position);
        for element in 0..number.per_register() {
            let places = fragment.places(position, element);
            for lane in 0..LANES {
                let (row, column) = places[lane];
                matrix[row * columns + column] = number_of_bits(bits[lane] >> (number.bits() * element), number);
            }
        }
    }
    matrix
}

/// Returns the bits of one register of a matrix of sums. The matrix is given row by row.
#[inline(always)]
pub fn scattered(fragment: &Fragment, position: usize, matrix: &[f64], saturates: bool) -> [u64; LANES] {
    let (_, columns) = fragment.extents();
    let number = fragment.number;
    let mut bits = [0; LANES];
    for element in 0..number.per_register() {
        let places = fragment.places(position, element);
        for lane in 0..LANES {
            let (row, column) = places[lane];
            bits[lane] |= bits_of_sum(matrix[row * columns + column], number, saturates) << (number.bits() * element);
        }
    }
    bits
}

/// Returns the number in a register's low bits. It is a float or an integer.
#[inline(always)]
pub fn number_of_bits(bits: u64, number: Number) -> f64 {
    match number {
        Number::F16 => F16(bits as u16).widen().into(),
        Number::Bf16 => Bf16(bits as u16).widen().into(),
        // The lower 13 bits of the register are ignored.
        Number::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1fff)),
        Number::E4M3 => quarter::of_e4m3(bits as u8).widen().into(),
        Number::E5M2 => quarter::of_e5m2(bits as u8).widen().into(),
        Number::F64 => f64::from_bits(bits),
        Number::S8 => (bits as i8).into(),
        Number::U8 => (bits as u8).into(),
        Number::S4 => ((bits as i8) << 4 >> 4).into(),
        Number::U4 => (bits as u8 & 15).into(),
        Number::B1 => (bits as u8 & 1).into(),
        Number::S32 => (bits as i32).into(),
        _ => f64::from(f32::from_bits(bits as u32)),
    }
}

/// Returns the bits of a sum.
#[inline(always)]
fn bits_of_sum(sum: f64, number: Number, saturates: bool) -> u64 {
    let word = match number {
        Number::F64 => return sum.to_bits(),
        Number::F16 => half::round::<F16>(sum, Rounding::Nearest).0.into(),
        // A conversion from a float saturates by itself.
        Number::S32 if saturates => sum as i32 as u32,
        Number::S32 => sum as i64 as u32,
        _ => canonical32(sum as f32).to_bits(),
    };
    word.into()
}

/// Converts a sum to the type of D.
#[inline(always)]
fn as_held(sum: f64, number: Number) -> f64 {
    match number {
        Number::F16 => f64::from(half::round::<F16>(sum, Rounding::Nearest).widen()) + 0.0,
        // A normal f32 has the same leading digits. This is what the last case does, and faster.
        _ if sum.abs() >= f32::MIN_POSITIVE.into() && sum.abs() < power_of_two(128) => {
            f64::from_bits(sum.to_bits() & !(u64::MAX >> (64 - (f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS))))
        }
        // Cutting off would end at the largest f32, but a tensor core goes on to infinity.
        _ if sum.abs() >= power_of_two(128) => (sum as f32).into(),
        _ => f64::from(round32(sum, Rounding::Zero)) + 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes one sum, by the steps of this module's documentation, in integers.
    fn step_by_step(products: &[f64], c: f64, largest: i32) -> f64 {
        let plain = products.iter().sum::<f64>() + c;
        if !plain.is_finite() {
            return plain;
        }
        let largest = largest.max(-300);
        let cut = |term: f64| (term * power_of_two(KEPT - largest)) as i64;
        (products.iter().map(|product| cut(*product)).sum::<i64>() + cut(c)) as f64 * power_of_two(largest - KEPT)
    }

    /// Returns bits of a linear congruential generator (Knuth, MMIX). They are the upper half of each state.
    fn bits(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 32
    }

    #[test]
    fn a_sum_is_cut_off_as_an_f32() {
        let mut state = 3;
        for case in 0..200_000 {
            // Signs and digits of all kinds, and exponents around those of an f32.
            let digits = (bits(&mut state) << 32 | bits(&mut state)) & 0x800f_ffff_ffff_ffff;
            let sum = f64::from_bits(digits | (1023 - 160 + case % 320) << 52);
            let expected = if sum.abs() >= power_of_two(128) { sum as f32 } else { round32(sum, Rounding::Zero) + 0.0 };
            assert_eq!(as_held(sum, Number::F32).to_bits(), f64::from(expected).to_bits(), "{sum}");
        }
        assert_eq!(as_held(0.0, Number::F32).to_bits(), 0);
        assert!(as_held(f64::NAN, Number::F32).is_nan());
    }

    #[test]
    fn sums_side_by_side_are_those_of_one_at_a_time() {
        let mut state = 7;
        for (number, of_sums) in
            [(Number::F16, Number::F16), (Number::F16, Number::F32), (Number::Bf16, Number::F32), (Number::Tf32, Number::F32)]
        {
            // The exponents of any bits differ much. In the second half of the cases they are near each other.
            for case in 0..20_000 {
                let mut value = |number: Number| {
                    let bits = bits(&mut state);
                    let (one, near, infinity) = match number {
                        Number::F16 => (0x3c00, 0x8fff, 0x7c00),
                        Number::Bf16 => (0x3f80, 0x80ff, 0x7f80),
                        _ => (0x3f80_0000, 0x80ff_ffff, 0x7f80_0000),
                    };
                    let bits = match bits % 64 {
                        0 if case % 3 == 0 => infinity,
                        1 => 0,
                        2 => bits & 0x8000_8000,
                        3 => bits & 0x8007_8007,
                        _ if case >= 10_000 => (bits & near) ^ one,
                        _ => bits,
                    };
                    number_of_bits(bits, number)
                };
                let k = 1 + case % 16;
                let a: Vec<f64> = (0..k).map(|_| value(number)).collect();
                let b: Vec<[f64; COLUMNS]> = (0..k).map(|_| std::array::from_fn(|_| value(number))).collect();
                let c: [f64; COLUMNS] = std::array::from_fn(|_| value(of_sums));
                let (smallest, smallest_sum) = (smallest_exponent(number), smallest_exponent(of_sums));
                let (a_exponents, b_exponents) = (exponents(&a, smallest), exponents(b.as_flattened(), smallest));
                let terms = Terms { a: &a, a_exponents: &a_exponents, b: &b, b_exponents: b_exponents.as_chunks().0, step: 1 };
                let sums = cut_off_sums(&terms, c, smallest_sum, KEPT);
                for column in 0..COLUMNS {
                    let products: Vec<f64> = (0..k).map(|i| a[i] * b[i][column]).collect();
                    let largest = (0..k).map(|i| a_exponents[i] + b_exponents[i * COLUMNS + column]);
                    let largest = largest.fold(exponent(c[column], smallest_sum), i32::max);
                    let expected = step_by_step(&products, c[column], largest);
                    let same = sums[column].to_bits() == expected.to_bits() || (sums[column].is_nan() && expected.is_nan());
                    assert!(same, "{number:?}, {a:?} times {products:?} and {}: {}, not {expected}", c[column], sums[column]);
                }
            }
        }
    }
}
