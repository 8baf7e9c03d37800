//! Two matrices to multiply, random or given.

use std::fmt;
use std::sync::OnceLock;

use oracles::matmul::{Outcome, Shape, outcome};
use oracles::random::{generator, values};

use super::size::Size;
use crate::error::Result;
use crate::matrix::Matrix;
use crate::origin::Origin;
use crate::problem::Problem;

/// Two matrices to multiply.
pub struct Matmul {
    pub(super) size: Size,
    pub(super) a: Vec<f32>,
    pub(super) b: Vec<f32>,
    pub(super) origin: Origin,
    pub(super) outcome: OnceLock<Outcome>,
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
        Ok(Self { size, a, b, origin: Origin::Seed(seed), outcome: OnceLock::new() })
    }

    /// Takes two matrices to multiply.
    /// Fails if the first matrix's number of columns is not the second one's number of rows, or a side is too long.
    pub fn new(a: Matrix, b: Matrix) -> Result<Self> {
        let size = Size::of_product((a.rows, a.columns), (b.rows, b.columns))?;
        Ok(Self { size, a: a.values, b: b.values, origin: Origin::Given, outcome: OnceLock::new() })
    }

    /// Replaces the origin of the data.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
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

    /// Returns the largest `sum |a[i][l] * b[l][j]|` of all outputs, or an upper bound where the oracle is sampled. A relative
    /// error of all factors moves an output by at most that fraction of this sum.
    pub fn largest_magnitudes(&self) -> f64 {
        self.outcome().largest_magnitudes
    }

    fn shape(&self) -> Shape {
        let [m, n, k] = [self.size.m, self.size.n, self.size.k].map(|side| side as usize);
        Shape { m, n, k }
    }

    pub(super) fn outcome(&self) -> &Outcome {
        self.outcome.get_or_init(|| outcome(self.shape(), &self.a, &self.b))
    }
}

impl fmt::Debug for Matmul {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = |values: &[f32]| values[..values.len().min(8)].to_vec();
        write!(f, "{}, A {:?} …, B {:?} …", self.describe(), first(&self.a), first(&self.b))
    }
}
