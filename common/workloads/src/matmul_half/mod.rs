//! The product of two matrices of bf16 numbers: `C = A B`, with sums in f32 and a result that is rounded to bf16.
//!
//! A bf16 has the exponent of an f32 and 8 binary digits. The inputs are rounded first, so that every stage multiplies the same
//! numbers, and the oracle is that of [`Matmul`] for them. They can be rounded further, to the 8 bits of [`fp8`] with a scale for each
//! row of `A` and each column of `B`. And a bias for each column can be added, with 0 in the place of negative results.
//!
//! # How far from the oracle may a result lie?
//!
//! As far as that of a [product of f32 numbers](super::matmul), and by one rounding to 8 digits: [`UNIT_ROUNDOFF`] of the
//! output. What a tensor core loses when it adds is an allowance of its stage.

pub mod fp8;

use std::fmt;
use std::sync::OnceLock;

use bytemuck::cast_slice;
use oracles::random::{generator, normal};
use oracles::{Expected, MOST_PRODUCTS_OF_A_WHOLE_ORACLE, Oracle};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::error::{NoSuchSize, Result};
use crate::matmul::{Matmul, Size};
use crate::matrix::Matrix;
use crate::origin::Origin;
use crate::problem::{Arithmetic, Footprint, Problem, Work};

use fp8::Quantized;

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

/// Demands on a product besides its matrices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Numbers that have 8 bits and a scale for each line.
    pub fp8: bool,
    /// A bias for each column, and 0 in the place of negative results.
    pub bias: bool,
}

/// Two matrices of bf16 numbers to multiply.
pub struct MatmulHalf {
    /// The same numbers as f32.
    product: Matmul,
    a: Vec<u16>,
    b: Vec<u16>,
    /// `A`, and the transpose of `B`, if their numbers have 8 bits.
    quantized: Option<[Quantized; 2]>,
    bias: Option<Vec<f32>>,
    oracle: OnceLock<Oracle>,
}

impl MatmulHalf {
    /// Generates matrices of a normal distribution. The weights and activations of a network often are, and what a GPU's power allows
    /// depends on its numbers. They are the same for the same seed on every machine.
    ///
    /// If they are to have 8 bits, they are multiples of 1/4 times a power of two for each line. The sums of a tensor core, which for such
    /// factors have 13 bits after the leading one, are exact then up to 1024 of these, so a wrong one shows.
    /// Fails when a side is zero or too long, or when there is no whole oracle, which a bias needs.
    pub fn random(size: Size, demand: Demand, seed: u64) -> Result<Self> {
        size.check()?;
        let mut generator = generator(seed);
        let [m, n, k] = [size.m, size.n, size.k].map(|side| side as usize);
        let power = |line: usize| 2.0_f32.powi(line as i32 % 4);
        let mut matrix = |rows: usize, columns: usize, power: &dyn Fn(usize) -> f32| {
            let mut values = normal(&mut generator, rows * columns);
            if demand.fp8 {
                let places = values.iter_mut().enumerate();
                places.for_each(|(place, value)| *value = (*value * 4.0).round_ties_even() / 4.0 * power(place));
            }
            Matrix { rows, columns, values }
        };
        let (a, b) = (matrix(m, k, &|place| power(place / k)), matrix(k, n, &|place| power(place % n)));
        Self::of(Matmul::new(a, b)?.with_origin(Origin::Seed(seed)), demand, seed)
    }

    /// Takes the matrices of a product, and rounds them. The bias is random.
    /// Fails when there is no whole oracle, which a bias needs.
    pub fn of(product: Matmul, demand: Demand, seed: u64) -> Result<Self> {
        let Size { m, n, k } = product.size();
        let (columns, length) = (n as usize, k as usize);
        if demand.bias && u64::from(m) * u64::from(n) * u64::from(k) > MOST_PRODUCTS_OF_A_WHOLE_ORACLE {
            let reason = format!("it has {MOST_PRODUCTS_OF_A_WHOLE_ORACLE} multiply-adds at most");
            return Err(NoSuchSize::new(format!("a product of {} with a bias", product.size()), reason));
        }
        let transposed = |values: &[f32], rows: usize, columns: usize| -> Vec<f32> {
            (0..rows * columns).map(|place| values[place % rows * columns + place / rows]).collect()
        };
        let quantized = demand.fp8.then(|| {
            let columns_of_b = transposed(product.b(), length, columns);
            [Quantized::of(product.a().iter().copied(), length), Quantized::of(columns_of_b, length)]
        });
        let product = match &quantized {
            Some([a, b]) => product.with_values(a.values(), transposed(&b.values(), columns, length)),
            None => product,
        };
        let rounded = |values: &[f32]| values.iter().copied().map(bf16).collect::<Vec<u16>>();
        let (a, b) = (rounded(product.a()), rounded(product.b()));
        let values = |bits: &[u16]| bits.iter().copied().map(of_bf16).collect::<Vec<f32>>();
        let product = product.with_values(values(&a), values(&b));
        let bias = demand.bias.then(|| normal(&mut generator(seed ^ 1), columns));
        Ok(Self { product, a, b, quantized, bias, oracle: OnceLock::new() })
    }

    /// Returns the three sizes.
    pub fn size(&self) -> Size {
        self.product.size()
    }

    /// Returns the same product, of f32 numbers.
    pub fn product(&self) -> &Matmul {
        &self.product
    }

    /// Returns `A` and the transpose of `B` in 8 bits, if any.
    pub fn quantized(&self) -> Option<&[Quantized; 2]> {
        self.quantized.as_ref()
    }

    /// Returns the bias of each column, if that was asked for.
    pub fn bias(&self) -> Option<&[f32]> {
        self.bias.as_deref()
    }

    /// Returns true if sums of 8-bit numbers are exact; see [`MatmulHalf::random`].
    pub fn has_exact_sums(&self) -> bool {
        matches!(self.product.origin(), Origin::Seed(_)) && self.product.size().k <= 1 << 14
    }

    fn words(&self) -> String {
        let numbers = if self.quantized.is_some() { "fp8" } else { "bf16" };
        if self.bias.is_some() { format!("{numbers} with a bias") } else { numbers.to_owned() }
    }

    /// Adds the bias to a product, and rounds it to bf16.
    fn finished(&self, oracle: Oracle) -> Oracle {
        let largest = self.product.largest_magnitudes();
        match (&self.bias, oracle) {
            (Some(bias), Oracle::Whole(expected)) => {
                let biased = |(expected, bias): (&Expected, &f32)| Expected {
                    value: (expected.value + f64::from(*bias)).max(0.0),
                    // And an addition in f32.
                    tolerance: expected.tolerance + 2.0_f64.powi(-24) * (expected.value.abs() + f64::from(bias.abs())),
                };
                let biased = expected.iter().zip(bias.iter().cycle()).map(biased).collect();
                Oracle::Whole(biased).rounded(UNIT_ROUNDOFF, largest)
            }
            (_, oracle) => oracle.rounded(UNIT_ROUNDOFF, largest),
        }
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
        write!(f, "{}, {:?}", self.words(), self.product)
    }
}

impl Problem for MatmulHalf {
    const NAME: &'static str = "matrix product of bf16 numbers";
    const ARITHMETIC: Arithmetic = Arithmetic::Bf16;

    fn of_case(case: &str, seed: u64) -> Result<Self, String> {
        let case = Case::new(case)?;
        let size = case.size()?;
        case.finish()?;
        Self::random(size, Demand::default(), seed).map_err(|error| error.to_string())
    }

    fn describe(&self) -> String {
        format!("{}, {}", self.words(), self.product.describe())
    }

    fn sizes(&self) -> Map<String, Value> {
        let mut sizes = self.product.sizes();
        sizes.extend(self.quantized.as_ref().map(|_| ("numbers".to_owned(), json!("fp8"))));
        sizes.extend(self.bias.as_ref().map(|_| ("bias".to_owned(), json!(true))));
        sizes
    }

    fn work(&self) -> Work {
        let work = self.product.work();
        Work { bytes: work.bytes / 2, arithmetic: Self::ARITHMETIC, ..work }
    }

    fn part(&self, multiply_adds: u64) -> Option<Self> {
        let demand = Demand { fp8: self.quantized.is_some(), bias: self.bias.is_some() };
        self.product.part(multiply_adds).and_then(|product| Self::of(product, demand, 0).ok())
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
        if self.bias.is_some() {
            return indices.iter().map(|&index| self.expected()[index]).collect();
        }
        let expected = Oracle::Whole(self.product.expected_at(indices));
        expected.rounded(UNIT_ROUNDOFF, 0.0).whole().expect("it was given whole").to_vec()
    }

    fn oracle(&self) -> &Oracle {
        self.oracle.get_or_init(|| self.finished(self.product.oracle().clone()))
    }

    fn row_len(&self) -> Option<usize> {
        self.product.row_len()
    }

    fn mistakes(&self) -> Vec<(&'static str, Oracle)> {
        self.product.mistakes().into_iter().map(|(words, oracle)| (words, self.finished(oracle))).collect()
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
        let product = Matmul::new(matrix(1, &[1.001, 3.0]), matrix(2, &[256.5, 0.25])).unwrap();
        let half = MatmulHalf::of(product, Demand::default(), 13).unwrap();
        let expected = half.expected()[0];
        assert_eq!(expected.value, 256.0 + 0.75);
        assert!(expected.tolerance >= 257.0 / 256.0 * 0.99 && expected.tolerance < 1.01, "{expected:?}");
    }

    #[test]
    fn normal_numbers_have_mean_0_and_variance_1() {
        let half = MatmulHalf::random(Size { m: 64, n: 64, k: 512 }, Demand::default(), 13).unwrap();
        let values = half.product().a();
        let mean = |power: i32| values.iter().map(|value| f64::from(value.powi(power))).sum::<f64>() / values.len() as f64;
        assert!(mean(1).abs() < 0.02 && (mean(2) - 1.0).abs() < 0.02, "{} {}", mean(1), mean(2));
        assert!((mean(4) - 3.0).abs() < 0.2, "the fourth moment is {}, that of a normal distribution 3", mean(4));
    }

    #[test]
    fn numbers_of_8_bits_times_their_scales_are_the_numbers_of_16() {
        let demand = Demand { fp8: true, bias: true };
        let half = MatmulHalf::random(Size { m: 5, n: 9, k: 64 }, demand, 13).unwrap();
        let [a, b] = half.quantized().unwrap();
        assert_eq!(a.values(), half.product().a());
        assert_eq!((a.scales.len(), b.scales.len(), b.values()[64 + 3]), (5, 9, half.product().b()[3 * 9 + 1]));
        let bias = f64::from(half.bias().unwrap()[1]);
        let plain = MatmulHalf::random(Size { m: 5, n: 9, k: 64 }, Demand { bias: false, ..demand }, 13).unwrap();
        assert_eq!(half.expected()[9 + 1].value, (plain.expected()[9 + 1].value + bias).max(0.0));
        let size = Size { m: 1 << 12, n: 1 << 12, k: 1 << 12 };
        let large = Matmul::new(
            Matrix { rows: 1 << 12, columns: 1 << 12, values: vec![1.0; 1 << 24] },
            Matrix { rows: 1 << 12, columns: 1 << 12, values: vec![1.0; 1 << 24] },
        );
        assert!(MatmulHalf::of(large.unwrap(), demand, 13).unwrap_err().to_string().contains(&size.to_string()));
    }
}
