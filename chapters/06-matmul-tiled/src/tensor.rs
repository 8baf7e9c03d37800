//! The stage on tensor cores, with factors of eleven binary digits.

use common::Result;
use common::gpu::Gpu;
use common::stage::{Prepared, Stage};
use common::workload::Matmul;
use common::workload::matmul::{Buffers, Size};
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::matmul::tensor::{COLUMNS, DEPTH, ROWS, SHARED_BYTES, TENSOR_TF32 as KERNEL, TENSOR_TF32_ANY, THREADS};

use crate::choice::multiprocessors;
use crate::slices::{add_slices, partial_sums};

/// Tensor cores multiply 16 x 8 by 8 x 8 numbers with an instruction, of which each has eleven digits.
pub const TENSOR_TF32: Stage<Matmul> = Stage::prepared("tensor-tf32", "tensor cores, factors of 11 binary digits", prepare)
    .needs_compute_capability(8, 0)
    .skipped_where(|gpu, _| match gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) {
        Ok(bytes) if bytes.unsigned_abs() >= SHARED_BYTES => None,
        Ok(bytes) => Some(format!("a block takes {SHARED_BYTES} bytes of shared memory, and the device has {bytes}")),
        Err(error) => Some(common::Error::from(error).to_string()),
    })
    .with_allowance(rounded_factors);

/// What rounding does to a product by tensor cores: each factor is the nearest number of eleven digits, so off by `2^-11` of itself, and
/// their product by `2^-10 + 2^-22` of itself at most. Adding, a tensor core cuts off what lies more than 23 digits below the largest of the
/// numbers that it adds, for each of up to nine of them: `2^-19` of the magnitudes for every eight columns of A is more than that.
pub fn rounded_factors(product: &Matmul) -> f64 {
    let of_factors = 2.0_f64.powi(-10) + 2.0_f64.powi(-22);
    let of_sums = f64::from(product.size().k.div_ceil(8)) * 2.0_f64.powi(-19);
    (of_factors + of_sums) * product.largest_magnitudes()
}

/// A product on tensor cores, with room for partial sums where there are several slices.
struct Tensor {
    slice: u32,
    slices: u32,
    partial: Option<CudaSlice<f32>>,
}

/// As many slices as there are multiprocessors for each tile of the result, but none of fewer columns than four tiles have.
fn prepare(gpu: &Gpu, product: &Matmul) -> Result<Box<dyn Prepared<Matmul>>> {
    let Size { m, n, k } = product.size();
    let tiles = u64::from(m.div_ceil(ROWS)) * u64::from(n.div_ceil(COLUMNS));
    let for_each = (u64::from(multiprocessors(gpu)?) / tiles).max(1) as u32;
    let wanted = for_each.min(k.div_ceil(4 * DEPTH)).max(1);
    let slice = k.div_ceil(wanted).next_multiple_of(DEPTH);
    let slices = k.div_ceil(slice);
    Ok(Box::new(Tensor { slice, slices, partial: partial_sums(gpu, product.size(), slices)? }))
}

impl Prepared<Matmul> for Tensor {
    // ANCHOR: tensor_tf32
    fn enqueue(&mut self, gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
        let Size { m, n, k } = product.size();
        let vectors = n.is_multiple_of(4) && k.is_multiple_of(4);
        let function = gpu.kernel(if vectors { KERNEL } else { TENSOR_TF32_ANY })?;
        function.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, SHARED_BYTES as i32)?;
        let grid_dim = (n.div_ceil(COLUMNS), m.div_ceil(ROWS), self.slices);
        let config = LaunchConfig { grid_dim, block_dim: (THREADS, 1, 1), shared_mem_bytes: SHARED_BYTES };
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&function);
        launch.arg(&buffers.a).arg(&buffers.b).arg(&m).arg(&n).arg(&k).arg(&self.slice);
        match &mut self.partial {
            None => launch.arg(&mut output),
            Some(partial) => launch.arg(partial),
        };
        // SAFETY: as for the stages with slices; the launch has the shared memory for all pairs of tiles.
        unsafe { launch.launch(config) }?;
        if let Some(partial) = &self.partial {
            add_slices(gpu, product, partial, self.slices, buffers)?;
        }
        Ok(())
    }
    // ANCHOR_END: tensor_tf32
}
