//! The product of two matrices: `C = A B`, each stored row after row.
//!
//! `c[i][j] = sum over l < k of a[i][l] * b[l][j]`, with `A` of `m` rows and `k` columns and `B` of `k` rows and `n` columns.
//!
//! # How far from the oracle may a result lie?
//!
//! As in a [convolution](super::convolution): every output here is one with `k` taps: with `u = 2^-24`, and the partial sums `S` of
//! the terms in their order, a sum in that order misses by at most `(1 + u)^k u sum |S|`. A second part,
//! [`TREE_DEPTH`](oracles::rounding::TREE_DEPTH)` * u * sum |t|`, covers products that are rounded before they are added, and sums that are cut into pieces. A stage that
//! rounds its factors declares an allowance of its own ([`Matmul::largest_magnitudes`]).
//!
//! Above [`MOST_PRODUCTS_OF_A_WHOLE_ORACLE`](oracles::MOST_PRODUCTS_OF_A_WHOLE_ORACLE), the oracle is sampled; see [`oracles::matmul`].

mod size;

use std::fmt;
use std::sync::OnceLock;

use bytemuck::cast_slice;
use oracles::matmul::{Outcome, Shape, of_row, outcome};
use oracles::random::{generator, values};
use oracles::{Expected, Oracle};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::origin::Origin;
use crate::problem::{Arithmetic, Footprint, Problem, Work};
use crate::values::Values;

pub use size::{DEEPEST, HEADLINE_SIZE, LONGEST_SIDE, SEED_SIZE, Size, TEACHING_SIZE};

/// Two matrices to multiply.
pub struct Matmul {
    size: Size,
    a: Vec<f32>,
    b: Vec<f32>,
    values: Values,
    origin: Origin,
    outcome: OnceLock<Outcome>,
}

impl Matmul {
    /// Generates matrices, the same for the same seed on every machine: both signs, and magnitudes in 0.5..1,
    /// so that a product that is missing shows (see [`Convolution::random`](crate::Convolution::random)). Fails when a side is zero
    /// or too long.
    pub fn random(size: Size, seed: u64) -> Result<Self> {
        size.check()?;
        let mut generator = generator(seed);
        let a = values(&mut generator, size.m as usize * size.k as usize);
        let b = values(&mut generator, size.k as usize * size.n as usize);
        Ok(Self { size, a, b, values: Values::Usual, origin: Origin::Seed(seed), outcome: OnceLock::new() })
    }

    /// Takes two matrices to multiply.
    /// Fails if the first matrix's number of columns is not the second one's number of rows, or a side is too long.
    pub fn new(a: Matrix, b: Matrix) -> Result<Self> {
        let size = Size::of_product((a.rows, a.columns), (b.rows, b.columns))?;
        Ok(Self { size, a: a.values, b: b.values, values: Values::Usual, origin: Origin::Given, outcome: OnceLock::new() })
    }

    /// Replaces the origin of the data.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Replaces the values of both matrices.
    pub(crate) fn with_values(self, a: Vec<f32>, b: Vec<f32>) -> Self {
        Self { a, b, outcome: OnceLock::new(), ..self }
    }

    /// Returns where the values came from.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the three sizes.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Returns the `m * k` values of `A`.
    pub fn a(&self) -> &[f32] {
        &self.a
    }

    /// Returns the `k * n` values of `B`.
    pub fn b(&self) -> &[f32] {
        &self.b
    }

    /// Returns the largest `sum |a[i][l] * b[l][j]|` of all outputs. With a sampled oracle, it is an upper bound. A relative error
    /// of all factors moves an output by at most that fraction of this sum.
    pub fn largest_magnitudes(&self) -> f64 {
        self.outcome().largest_magnitudes
    }

    fn shape(&self) -> Shape {
        let [m, n, k] = [self.size.m, self.size.n, self.size.k].map(|side| side as usize);
        Shape { m, n, k }
    }

    fn outcome(&self) -> &Outcome {
        self.outcome.get_or_init(|| outcome(self.shape(), &self.a, &self.b))
    }
}

impl fmt::Debug for Matmul {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = |values: &[f32]| values[..values.len().min(8)].to_vec();
        write!(f, "{}, A {:?} …, B {:?} …", self.describe(), first(&self.a), first(&self.b))
    }
}

impl Problem for Matmul {
    const NAME: &'static str = "matrix product";
    const ARITHMETIC: Arithmetic = Arithmetic::F32;

    fn of_case(case: &str, seed: u64) -> Result<Self, String> {
        let (size, values) = Case::new(case)?.size_and_values()?;
        let mut problem = Self { values, ..Self::random(size, seed).map_err(|error| error.to_string())? };
        values.apply(&mut problem.a, &mut problem.b);
        Ok(problem)
    }

    fn describe(&self) -> String {
        self.origin.describe(format!("{}{}", self.size, self.values.words()))
    }

    fn sizes(&self) -> Map<String, Value> {
        let Size { m, n, k } = self.size;
        self.origin.record([("m", json!(m)), ("n", json!(n)), ("k", json!(k))])
    }

    fn work(&self) -> Work {
        let Size { m, n, k } = self.size;
        let numbers = self.a.len() + self.b.len() + self.output_len();
        Work { multiply_adds: u64::from(m) * u64::from(n) * u64::from(k), bytes: 4 * numbers as u64, arithmetic: Self::ARITHMETIC }
    }

    fn part(&self, multiply_adds: u64) -> Option<Self> {
        let Size { m, n, k } = self.size;
        // Kernels work on whole tiles, also where the product is smaller.
        let tile = |m: u32, n: u32| u64::from(m.max(64)) * u64::from(n.max(64));
        let (some_m, some_n) = (m.min(128), n.min(128));
        let some_k = k.min(u32::try_from(multiply_adds / tile(some_m, some_n)).unwrap_or(u32::MAX).max(64));
        let corner = |values: &[f32], rows: u32, columns: u32, pitch: u32| {
            let rows = values.chunks(pitch as usize).take(rows as usize);
            rows.flat_map(|row| &row[..columns as usize]).copied().collect()
        };
        let a = Matrix { rows: some_m as usize, columns: some_k as usize, values: corner(&self.a, some_m, some_k, k) };
        let b = Matrix { rows: some_k as usize, columns: some_n as usize, values: corner(&self.b, some_k, some_n, n) };
        Self::new(a, b).ok()
    }

    fn footprint(&self) -> Footprint {
        self.size.footprint()
    }

    fn inputs(&self) -> Vec<(&'static str, &[u8])> {
        vec![("a", cast_slice(&self.a)), ("b", cast_slice(&self.b))]
    }

    fn outputs(&self) -> &'static [&'static str] {
        &["c"]
    }

    fn output_len(&self) -> usize {
        self.size.m as usize * self.size.n as usize
    }

    fn launch_sizes(&self) -> Vec<(&'static str, u32)> {
        let Size { m, n, k } = self.size;
        vec![("m", m), ("n", n), ("k", k)]
    }

    fn expected_at(&self, indices: &[usize]) -> Vec<Expected> {
        let columns = self.size.n as usize;
        let neighbors = indices.chunk_by(|one, next| one + 1 == *next && next % columns != 0);
        let run = |run: &[usize]| of_row(self.shape(), &self.a, &self.b, run[0] / columns, run[0] % columns, run.len());
        neighbors.flat_map(run).collect()
    }

    fn oracle(&self) -> &Oracle {
        &self.outcome().oracle
    }

    fn row_len(&self) -> Option<usize> {
        Some(self.size.n as usize)
    }

    fn mistakes(&self) -> Vec<(&'static str, Oracle)> {
        let [m, n, k] = [self.size.m, self.size.n, self.size.k].map(|extent| extent as usize);
        let transposed = |values: &[f32], rows: usize| -> Vec<f32> {
            let columns = values.len() / rows;
            (0..values.len()).map(|index| values[index % rows * columns + index / rows]).collect()
        };
        let product = |m, n, k, a: &[f32], b: &[f32]| outcome(Shape { m, n, k }, a, b).oracle;
        let mut mistakes = Vec::new();
        if n == k && n > 1 {
            mistakes.push((
                "that reads b as if it were transposed: is b[i][column] at i * n + column?",
                product(m, n, k, &self.a, &transposed(&self.b, k)),
            ));
        }
        if m == k && m > 1 {
            mistakes.push((
                "that reads a as if it were transposed: is a[row][i] at row * k + i?",
                product(m, n, k, &transposed(&self.a, m), &self.b),
            ));
        }
        if m > 1 && n > 1 {
            // The transposed product, in the places of the product.
            let other = product(n, m, k, &transposed(&self.b, k), &transposed(&self.a, m));
            mistakes.push(("that stores c transposed: is c[row][column] at row * n + column?", other));
        }
        if k > 1 {
            let shorter: Vec<f32> = self.a.chunks(k).flat_map(|row| &row[..k - 1]).copied().collect();
            let other = product(m, n, k - 1, &shorter, &self.b[..(k - 1) * n]);
            mistakes.push(("that leaves out the last term of each sum: what is the last i of its loop?", other));
        }
        mistakes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    fn matrix(rows: usize, values: &[f32]) -> Matrix {
        Matrix { rows, columns: values.len() / rows, values: values.to_vec() }
    }

    fn product(a: Matrix, b: Matrix) -> Vec<f64> {
        Matmul::new(a, b).unwrap().expected().iter().map(|expected| expected.value).collect()
    }

    #[test]
    fn products_agree_with_values_worked_out_by_hand() {
        // No two rows or columns alike, and no two sizes, so that a swapped index shows.
        let (a, b) = (
            matrix(2, &[1.0, 2.0, 3.0, 4.0, -5.0, 6.0]),
            matrix(3, &[7.0, 8.0, 9.0, 10.0, 11.0, -12.0, 0.5, 0.25, 1.0, 2.0, 3.0, 4.0]),
        );
        let first = [7.0 + 22.0 + 3.0, 8.0 - 24.0 + 6.0, 9.0 + 1.0 + 9.0, 10.0 + 0.5 + 12.0];
        let second = [28.0 - 55.0 + 6.0, 32.0 + 60.0 + 12.0, 36.0 - 2.5 + 18.0, 40.0 - 1.25 + 24.0];
        assert_eq!(product(a, b), [first, second].concat());
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        let error = Matmul::new(matrix(1, &[1.0, 2.0]), matrix(3, &[1.0, 2.0, 3.0])).unwrap_err().to_string();
        assert!(error.contains("2 columns") && error.contains("3 rows") && error.lines().count() == 1, "{error}");
    }
}
