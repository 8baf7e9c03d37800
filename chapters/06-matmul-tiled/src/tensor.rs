//! The stage on tensor cores, with factors of eleven binary digits.

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::matmul::tensor::{COLUMNS, DEPTH, ROWS, SHARED_BYTES, TENSOR_TF32 as KERNEL, TENSOR_TF32_ANY, THREADS};
use run::Result;
use run::gpu::Gpu;
use run::planner::{self, Model, Slices, Sum, multiprocessors};
use run::requirement::Unmet;
use run::stage::{Prepared, Stage};
use run::workload::Matmul;
use run::workload::matmul::{Buffers, Size};

use crate::slices::{add_slices, partial_sums};

/// One instruction of a warp multiplies 16 x 8 by 8 x 8 numbers of 11 binary digits.
pub const TENSOR_TF32: Stage<Matmul> = Stage::prepared("tensor-tf32", "tensor cores, factors of 11 binary digits", prepare)
    .needs_compute_capability(8, 0)
    .requires(|gpu, _| {
        let available = gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        Ok(Unmet::shared_memory(SHARED_BYTES, available.unsigned_abs()))
    })
    .with_allowance(rounded_factors);

/// The rounding errors of a product on tensor cores. Each factor is rounded to the nearest number of 11 digits, an
/// error of up to `2^-11` of itself, so a product is off by at most `2^-10 + 2^-22` of itself. When a tensor core adds,
/// it cuts off all digits more than 23 below the largest of the numbers, for each of up to nine numbers: `2^-19` of the
/// magnitudes for every eight columns of A is more than that.
pub fn rounded_factors(product: &Matmul) -> f64 {
    let of_factors = 2.0_f64.powi(-10) + 2.0_f64.powi(-22);
    let of_sums = f64::from(product.size().k.div_ceil(8)) * 2.0_f64.powi(-19);
    (of_factors + of_sums) * product.largest_magnitudes()
}

/// A product on tensor cores, with memory for partial sums if there are several slices.
struct Tensor {
    slices: Slices,
    partial: Option<CudaSlice<f32>>,
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

/// Columns of A in the shortest slice, but for rounding up to a multiple of [`DEPTH`]: those of four pairs of tiles.
const SHORTEST: u32 = 4 * DEPTH;

/// The slices of a product on a device.
pub fn slices(size: Size, multiprocessors: u32) -> Slices {
    let tiles = u64::from(size.m.div_ceil(ROWS)) * u64::from(size.n.div_ceil(COLUMNS));
    let sum = Sum { most: size.k.div_ceil(SHORTEST), ..Sum::new(size.k, DEPTH) };
    planner::plan(tiles, sum, multiprocessors, &OneBlockEach).slices
}

fn prepare(gpu: &Gpu, product: &Matmul) -> Result<Box<dyn Prepared<Matmul>>> {
    let slices = slices(product.size(), multiprocessors(gpu)?);
    Ok(Box::new(Tensor { slices, partial: partial_sums(gpu, product.size(), slices.count)? }))
}

impl Prepared<Matmul> for Tensor {
    fn enqueue(&mut self, gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
        let Size { m, n, k } = product.size();
        let vectors = n.is_multiple_of(4) && k.is_multiple_of(4);
        let function = gpu.kernel(if vectors { KERNEL } else { TENSOR_TF32_ANY })?;
        function.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED_BYTES as i32)?;
        let grid_dim = (n.div_ceil(COLUMNS), m.div_ceil(ROWS), self.slices.count);
        let config = LaunchConfig { grid_dim, block_dim: (THREADS, 1, 1), shared_mem_bytes: SHARED_BYTES };
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&function);
        launch.arg(&buffers.a).arg(&buffers.b).arg(&m).arg(&n).arg(&k).arg(&self.slices.length);
        match &mut self.partial {
            None => launch.arg(&mut output),
            Some(partial) => launch.arg(partial),
        };
        // SAFETY: the kernel reads `m * k` and `k * n` numbers, and writes `m * n` for each slice; the workload made
        // the matrices with those lengths, and for several slices `prepare` made `partial` with `m * n` numbers for
        // each. The launch gives the block shared memory for all pairs of tiles.
        unsafe { launch.launch(config) }?;
        if let Some(partial) = &self.partial {
            add_slices(gpu, product, partial, self.slices.count, buffers)?;
        }
        Ok(())
    }
}
