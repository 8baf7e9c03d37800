//! The rival: cuBLAS, NVIDIA's own library of dense linear algebra. It cannot run on the simulator.
//!
//! # Rows and columns
//!
//! We store matrices row by row. cuBLAS reads them column by column, as Fortran does. What cuBLAS reads from our `A` is therefore the
//! transpose `Aᵀ`, although no number has moved. Since `(A B)ᵀ = Bᵀ Aᵀ`, we ask for the product of `B` and `A`, in this order. cuBLAS
//! writes `Cᵀ` column by column, which is `C` row by row.

use compilers::cublas::{ComputeType, CudaBlas, Gemm, Numbers};
use cudarc::driver::{DevicePtr, DevicePtrMut};
use run::workload::matmul::{Buffers, Matmul, Size};
use run::{Gpu, Prepared, Result, Stage, Unmet};

use crate::slices::any_order;
use crate::tensor::rounded_factors;

fn requirement(gpu: &Gpu, product: &Matmul) -> Result<Option<Unmet>> {
    needs(gpu, product.size())
}

/// Checks for a GPU, for an installed cuBLAS, and for sides that it can take.
pub fn needs(gpu: &Gpu, Size { m, n, k }: Size) -> Result<Option<Unmet>> {
    if gpu.is_simulated() {
        return Ok(Some(Unmet::Gpu { library: "cuBLAS" }));
    }
    let sides = Unmet::limit("rows or columns in cuBLAS", m.max(n).max(k), i32::MAX as u64);
    Ok(sides.or_else(|| CudaBlas::find().err().map(|error| Unmet::Library { reason: error.to_string() })))
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
        // SAFETY: the buffers have m * k, k * n and m * n numbers, row by row without gaps, and they outlive the work
        // on the stream.
        Ok(unsafe { self.blas.gemm_ex(row_by_row(product.size(), [a, b, c], self.compute_type, Numbers::F32)) }?)
    }
}

/// Returns the arguments for `C = A B` at these addresses. The matrices are stored row by row without gaps.
pub fn row_by_row(size: Size, [a, b, c]: [u64; 3], compute_type: ComputeType, numbers: Numbers) -> Gemm {
    // `requirement` keeps larger sizes away.
    let [m, n, k] = [size.m, size.n, size.k].map(|side| side as i32);
    // cuBLAS's own `m` is the number of rows of the left factor, Bᵀ, and its `n` is the number of columns of the right one, Aᵀ.
    Gemm { m: n, n: m, k, a: b, lda: n, b: a, ldb: k, c, ldc: n, compute_type, numbers }
}
// ANCHOR_END: cublas

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes on the host as cuBLAS documents its arguments.
    fn gemm(call: &Gemm, a: &[f32], b: &[f32]) -> Vec<f32> {
        let at = |column: i32, leading: i32, row: i32| (column * leading + row) as usize;
        let mut c = vec![0.0; (call.n * call.ldc) as usize];
        for column in 0..call.n {
            for row in 0..call.m {
                let terms = (0..call.k).map(|i| a[at(i, call.lda, row)] * b[at(column, call.ldb, i)]);
                c[at(column, call.ldc, row)] = terms.sum();
            }
        }
        c
    }

    #[test]
    fn the_swapped_product_column_by_column_is_the_product_row_by_row() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let b = [1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 0.0, 0.0, 10.0, 1.0];
        let call = row_by_row(Size { m: 2, n: 3, k: 4 }, [100, 200, 300], ComputeType::F32, Numbers::F32);
        assert_eq!((call.a, call.b, call.c), (200, 100, 300), "the factors are swapped");
        assert_eq!(gemm(&call, &b, &a), [10.0, 42.0, 6.0, 26.0, 86.0, 18.0]);
    }
}
