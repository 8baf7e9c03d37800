//! The stage on tensor cores, with factors of eleven binary digits.

use kernels::matmul::tensor::{COLUMNS, DEPTH, ROWS, SHARED_BYTES, TENSOR_TF32 as KERNEL, TENSOR_TF32_ANY, THREADS};
use run::planner::{self, Model, Slices, Sum, multiprocessors};
use run::workload::matmul::{Matmul, Size};
use run::{Gpu, Prepared, Result, Stage, Unmet};

use crate::slices::{self, Blocks};

/// Tensor cores for factors of 11 binary digits. One instruction of a warp multiplies 16 x 8 by 8 x 8 numbers.
pub const TENSOR_TF32: Stage<Matmul> = Stage::prepared("tensor-tf32", "tensor cores, factors of 11 binary digits", prepare)
    .needs_compute_capability(8, 0)
    .requires(|gpu, _| Ok(Unmet::shared_memory(SHARED_BYTES, gpu.most_shared_bytes()?)))
    .with_allowance(rounded_factors);

/// Returns the rounding errors of a product on tensor cores. Each factor is rounded to the nearest number of 11 digits,
/// an error of up to `2^-11` of itself, so a product is off by at most `2^-10 + 2^-22` of itself. When a tensor core
/// adds, it cuts off all digits more than 23 below the largest of the numbers, for each of up to nine numbers: `2^-19`
/// of the magnitudes for every eight columns of A is more than that.
pub fn rounded_factors(product: &Matmul) -> f64 {
    let of_factors = 2.0_f64.powi(-10) + 2.0_f64.powi(-22);
    let of_sums = f64::from(product.size().k.div_ceil(8)) * 2.0_f64.powi(-19);
    (of_factors + of_sums) * product.largest_magnitudes()
}

/// A block has a multiprocessor to itself. No constants were fitted for this kernel (`kernels/NOTES.md`,
/// "06-matmul-tiled", "The choice by size"): slices are cut only as long as there is an idle multiprocessor for each,
/// and no shorter than [`SHORTEST`].
struct OneBlockEach;

impl Model for OneBlockEach {
    fn resident(&self) -> u64 {
        1
    }

    fn one_round_only(&self) -> bool {
        true
    }

    fn round(&self, blocks: u64, slice: u32) -> f64 {
        blocks as f64 * f64::from(slice)
    }
}

/// Columns of A in the shortest slice: those of four pairs of tiles, before rounding up to a multiple of [`DEPTH`].
const SHORTEST: u32 = 4 * DEPTH;

/// Returns the slices of a product on a device.
pub fn slices(size: Size, multiprocessors: u32) -> Slices {
    let tiles = u64::from(size.m.div_ceil(ROWS)) * u64::from(size.n.div_ceil(COLUMNS));
    let sum = Sum { most: size.k.div_ceil(SHORTEST), ..Sum::new(size.k, DEPTH) };
    planner::plan(tiles, sum, multiprocessors, &OneBlockEach).slices
}

fn prepare(gpu: &Gpu, product: &Matmul) -> Result<Box<dyn Prepared<Matmul>>> {
    let size = product.size();
    let vectors = size.n.is_multiple_of(4) && size.k.is_multiple_of(4);
    let kernel = if vectors { KERNEL } else { TENSOR_TF32_ANY };
    let blocks = Blocks { kernel, sides: (ROWS, COLUMNS), threads: THREADS, shared_bytes: SHARED_BYTES };
    slices::prepare(gpu, product, blocks, slices(size, multiprocessors(gpu)?))
}
