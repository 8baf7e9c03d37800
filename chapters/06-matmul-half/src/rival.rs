//! The rival: cuBLAS, NVIDIA's own library of dense linear algebra. It cannot run on the simulator.
//!
//! How the arguments come to be swapped, [`Gemm::row_by_row`] explains.

use compilers::cublas::{ComputeType, CudaBlas, Gemm, Numbers};
use cudarc::driver::{DevicePtr, DevicePtrMut};
use run::library::needs_cublas;
use run::workload::matmul_half::{Buffers, MatmulHalf, Size};
use run::{Gpu, Prepared, Result, Stage, Unmet};

use crate::needs::{NO_BIAS, of_sums};

/// cuBLAS, with the kernel that it chooses by itself.
pub const CUBLAS: Stage<MatmulHalf> = Stage::prepared("cublas", "the vendor's library", |gpu, _| prepare(gpu))
    .calls("cuBLAS")
    .needs_compute_capability(8, 0)
    .requires(requirement)
    .with_allowance(of_sums);

fn requirement(gpu: &Gpu, product: &MatmulHalf) -> Result<Option<Unmet>> {
    if product.bias().is_some() {
        return Ok(Some(NO_BIAS));
    }
    let Size { m, n, k } = product.size();
    needs_cublas(gpu, m.max(n).max(k))
}

/// A product by cuBLAS.
struct Library {
    blas: CudaBlas,
}

fn prepare(gpu: &Gpu) -> Result<Box<dyn Prepared<MatmulHalf>>> {
    gpu.context.bind_to_thread()?;
    // SAFETY: the context is current, and it lives as long as the device, which outlives its stages; so does its
    // default stream.
    let blas = unsafe { CudaBlas::new(gpu.stream.cu_stream().cast()) }?;
    Ok(Box::new(Library { blas }))
}

impl Prepared<MatmulHalf> for Library {
    fn enqueue(&mut self, gpu: &Gpu, product: &MatmulHalf, buffers: &mut Buffers) -> Result<()> {
        let mut output = buffers.output.view_mut();
        let (a, _a_is_read) = buffers.a.device_ptr(&gpu.stream);
        let (b, _b_is_read) = buffers.b.device_ptr(&gpu.stream);
        let (c, _c_is_written) = output.device_ptr_mut(&gpu.stream);
        gpu.context.bind_to_thread()?;
        // `requirement` keeps larger sizes away.
        let [m, n, k] = [product.size().m, product.size().n, product.size().k].map(|side| side as i32);
        let gemm = Gemm::row_by_row([m, n, k], [a, b, c], ComputeType::F32, Numbers::Bf16);
        // SAFETY: the buffers have m * k, k * n and m * n numbers, row by row without gaps, and they outlive the work
        // on the stream.
        Ok(unsafe { self.blas.gemm_ex(gemm) }?)
    }
}
