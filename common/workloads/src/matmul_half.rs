//! The product of two matrices of bf16 numbers: `C = A B`, with sums in f32 and a result that is rounded to bf16.
//!
//! A bf16 has the exponent of an f32 and 8 binary digits. The inputs are rounded first, so that every stage multiplies the same
//! numbers, and the oracle is that of [`Matmul`] for them.
//!
//! # How far from the oracle may a result lie?
//!
//! As far as that of a [product of f32 numbers](super::matmul), and by one rounding to 8 digits: [`UNIT_ROUNDOFF`] of the
//! output. What a tensor core loses when it adds is an allowance of its stage.

use std::fmt;
use std::sync::OnceLock;

use bytemuck::cast_slice;
use oracles::random::{generator, normal};
use oracles::{Expected, Oracle};
use serde_json::{Map, Value};

use crate::case::Case;
use crate::error::Result;
use crate::matmul::{Matmul, Size};
use crate::matrix::Matrix;
use crate::origin::Origin;
use crate::problem::{Arithmetic, Footprint, Problem, Work};

/// The largest relative error of rounding to 8 binary digits.
pub const UNIT_ROUNDOFF: f64 = 1.0 / 256.0;

/// Rounds to the nearest bf16, with ties to the even one. Returns its bits, which are the upper half of an f32.
pub fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// Returns the value of a bf16.
pub fn of_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Two matrices of bf16 numbers to multiply.
pub struct MatmulHalf {
    /// The same numbers as f32.
    product: Matmul,
    a: Vec<u16>,
    b: Vec<u16>,
    oracle: OnceLock<Oracle>,
}

impl MatmulHalf {
    /// Generates matrices of a normal distribution, as the weights and activations of a network often are. What a GPU's power allows
    /// depends on its numbers. They are the same for the same seed on every machine.
    /// Fails when a side is zero or too long.
    pub fn random(size: Size, seed: u64) -> Result<Self> {
        size.check()?;
        let mut generator = generator(seed);
        let [m, n, k] = [size.m, size.n, size.k].map(|side| side as usize);
        let mut matrix = |rows: usize, columns: usize| Matrix { rows, columns, values: normal(&mut generator, rows * columns) };
        Ok(Self::of(Matmul::new(matrix(m, k), matrix(k, n))?.with_origin(Origin::Seed(seed))))
    }

    /// Takes the matrices of a product, and rounds them.
    pub fn of(product: Matmul) -> Self {
        let rounded = |values: &[f32]| values.iter().copied().map(bf16).collect::<Vec<u16>>();
        let (a, b) = (rounded(product.a()), rounded(product.b()));
        let values = |bits: &[u16]| bits.iter().copied().map(of_bf16).collect::<Vec<f32>>();
        let product = product.with_values(values(&a), values(&b));
        Self { product, a, b, oracle: OnceLock::new() }
    }

    /// Returns the three sizes.
    pub fn size(&self) -> Size {
        self.product.size()
    }

    /// Returns the same product, of f32 numbers.
    pub fn product(&self) -> &Matmul {
        &self.product
    }

    /// Returns the `m * k` numbers of `A`, as bits.
    pub fn a(&self) -> &[u16] {
        &self.a
    }

    /// Returns the `k * n` numbers of `B`, as bits.
    pub fn b(&self) -> &[u16] {
        &self.b
    }
}

impl fmt::Debug for MatmulHalf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bf16, {:?}", self.product)
    }
}

impl Problem for MatmulHalf {
    const NAME: &'static str = "matrix product of bf16 numbers";
    const ARITHMETIC: Arithmetic = Arithmetic::Bf16;

    fn of_case(case: &str, seed: u64) -> Result<Self, String> {
        let case = Case::new(case)?;
        let size = case.size()?;
        case.finish()?;
        Self::random(size, seed).map_err(|error| error.to_string())
    }

    fn describe(&self) -> String {
        format!("bf16, {}", self.product.describe())
    }

    fn sizes(&self) -> Map<String, Value> {
        self.product.sizes()
    }

    fn work(&self) -> Work {
        let work = self.product.work();
        Work { bytes: work.bytes / 2, arithmetic: Self::ARITHMETIC, ..work }
    }

    fn part(&self, multiply_adds: u64) -> Option<Self> {
        self.product.part(multiply_adds).map(Self::of)
    }

    fn footprint(&self) -> Footprint {
        self.size().footprint()
    }

    fn inputs(&self) -> Vec<(&'static str, &[u8])> {
        vec![("a", cast_slice(&self.a)), ("b", cast_slice(&self.b))]
    }

    fn outputs(&self) -> &'static [&'static str] {
        self.product.outputs()
    }

    fn output_len(&self) -> usize {
        self.product.output_len()
    }

    fn launch_sizes(&self) -> Vec<(&'static str, u32)> {
        self.product.launch_sizes()
    }

    fn expected_at(&self, indices: &[usize]) -> Vec<Expected> {
        let expected = Oracle::Whole(self.product.expected_at(indices));
        expected.rounded(UNIT_ROUNDOFF, 0.0).whole().expect("it was given whole").to_vec()
    }

    fn oracle(&self) -> &Oracle {
        self.oracle.get_or_init(|| self.product.oracle().rounded(UNIT_ROUNDOFF, self.product.largest_magnitudes()))
    }

    fn row_len(&self) -> Option<usize> {
        self.product.row_len()
    }

    fn mistakes(&self) -> Vec<(&'static str, Oracle)> {
        let largest = self.product.largest_magnitudes();
        let mistakes = self.product.mistakes().into_iter();
        mistakes.map(|(words, oracle)| (words, oracle.rounded(UNIT_ROUNDOFF, largest))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_eight_digits_and_ties_to_even() {
        for (value, rounded) in [
            (1.0, 1.0),
            (1.0 + 1.0 / 256.0, 1.0),
            (1.0 + 3.0 / 256.0, 1.0 + 4.0 / 256.0),
            (-1.0 - 1.1 / 256.0, -1.0 - 2.0 / 256.0),
            (255.5, 256.0),
            (f32::MAX, f32::INFINITY),
            (f32::NEG_INFINITY, f32::NEG_INFINITY),
        ] {
            assert_eq!(of_bf16(bf16(value)), rounded, "{value}");
        }
        assert!(of_bf16(bf16(f32::NAN)).is_nan() && of_bf16(bf16(f32::from_bits(0x7f80_0001))).is_nan());
    }

    #[test]
    fn a_product_is_that_of_the_rounded_numbers() {
        let matrix = |rows, values: &[f32]| Matrix { rows, columns: values.len() / rows, values: values.to_vec() };
        let half = MatmulHalf::of(Matmul::new(matrix(1, &[1.001, 3.0]), matrix(2, &[256.5, 0.25])).unwrap());
        let expected = half.expected()[0];
        assert_eq!(expected.value, 256.0 + 0.75);
        assert!(expected.tolerance >= 257.0 / 256.0 * 0.99 && expected.tolerance < 1.01, "{expected:?}");
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let half = MatmulHalf::random(Size { m: 64, n: 64, k: 512 }, 13).unwrap();
        let values = half.product().a();
        let mean = |power: i32| values.iter().map(|value| f64::from(value.powi(power))).sum::<f64>() / values.len() as f64;
        assert!(mean(1).abs() < 0.02 && (mean(2) - 1.0).abs() < 0.02, "{} {}", mean(1), mean(2));
        assert!((mean(4) - 3.0).abs() < 0.2, "the fourth moment is {}, that of a normal distribution 3", mean(4));
    }
}
