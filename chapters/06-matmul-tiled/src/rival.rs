//! The rival: cuBLAS, NVIDIA's own library of dense linear algebra. It cannot run on the simulator.
//!
//! # Rows and columns
//!
//! We store matrices row by row. cuBLAS reads them column by column, as Fortran does. What cuBLAS reads from our `A` is therefore the
//! transpose `Aᵀ`, although no number has moved. Since `(A B)ᵀ = Bᵀ Aᵀ`, we ask for the product of `B` and `A`, in this order. cuBLAS
//! writes `Cᵀ` column by column, which is `C` row by row.

use compilers::cublas::{ComputeType, CudaBlas, Gemm, Numbers};
use cudarc::driver::{DevicePtr, DevicePtrMut};
use run::library::needs_cublas;
use run::workload::matmul::{Buffers, Matmul, Size};
use run::{Gpu, Prepared, Result, Stage, Unmet};

use crate::slices::any_order;
use crate::tensor::rounded_factors;

fn requirement(gpu: &Gpu, product: &Matmul) -> Result<Option<Unmet>> {
    let Size { m, n, k } = product.size();
    needs_cublas(gpu, m.max(n).max(k))
}

/// cuBLAS in single precision.
pub const CUBLAS: Stage<Matmul> =
    Stage::prepared("cublas", "the vendor's library, in f32", |gpu, _| prepare(gpu, ComputeType::F32))
        .calls("cuBLAS")
        .requires(requirement)
        .with_allowance(any_order);

/// cuBLAS on tensor cores, with the factors rounded to tf32.
pub const CUBLAS_TF32: Stage<Matmul> =
    Stage::prepared("cublas-tf32", "the vendor's library, with factors of 11 binary digits", |gpu, _| {
        prepare(gpu, ComputeType::FastTf32)
    })
    .calls("cuBLAS")
    .needs_compute_capability(8, 0)
    .requires(requirement)
    .with_allowance(rounded_factors);

/// A product by cuBLAS.
struct Library {
    blas: CudaBlas,
    compute_type: ComputeType,
}

fn prepare(gpu: &Gpu, compute_type: ComputeType) -> Result<Box<dyn Prepared<Matmul>>> {
    gpu.context.bind_to_thread()?;
    // SAFETY: the context is current, and it lives as long as the device, which outlives its stages; so does its
    // default stream.
    let blas = unsafe { CudaBlas::new(gpu.stream.cu_stream().cast()) }?;
    Ok(Box::new(Library { blas, compute_type }))
}

// ANCHOR: cublas
impl Prepared<Matmul> for Library {
    fn enqueue(&mut self, gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
        let mut output = buffers.output.view_mut();
        let (a, _a_is_read) = buffers.a.device_ptr(&gpu.stream);
        let (b, _b_is_read) = buffers.b.device_ptr(&gpu.stream);
        let (c, _c_is_written) = output.device_ptr_mut(&gpu.stream);
        gpu.context.bind_to_thread()?;
        // `requirement` keeps larger sizes away.
        let [m, n, k] = [product.size().m, product.size().n, product.size().k].map(|side| side as i32);
        // SAFETY: the buffers have m * k, k * n and m * n numbers, row by row without gaps, and they outlive the work
        // on the stream.
        Ok(unsafe { self.blas.gemm_ex(Gemm::row_by_row([m, n, k], [a, b, c], self.compute_type, Numbers::F32)) }?)
    }
}
// ANCHOR_END: cublas
