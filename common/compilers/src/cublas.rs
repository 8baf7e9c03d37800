//! cuBLAS, NVIDIA's library of dense linear algebra: the functions of it that a matrix product needs.
//!
//! This is a binding of our own. `cudarc::cublas` has all of these functions, and would be the better choice. But at the CUDA version that
//! our bindings are made for (12.0, so that drivers of the last years work), cudarc looks for `libcublas.so.12` and older, and never for
//! CUDA 13's `libcublas.so.13`. Opening the library by its path first, as we do for cuFFT, does not help, because the loader goes by the
//! name in the file. The functions have the same types in CUDA 11, 12 and 13. Names and arguments follow `cudarc::cublas`.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use crate::error::{Error, Result};
use crate::libraries::{self, Opened, functions, words};

/// cuBLAS's result; zero is success.
type Status = c_int;
/// The state of cuBLAS for one device and one stream.
type Handle = *mut c_void;

const SUCCESS: Status = 0;
/// `CUBLAS_OP_N`: the factor is not transposed.
const NOT_TRANSPOSED: c_int = 0;
/// `CUBLAS_GEMM_DEFAULT`: cuBLAS chooses the kernel.
const DEFAULT_ALGORITHM: c_int = -1;

/// Ways in which cuBLAS computes a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ComputeType {
    /// `CUBLAS_COMPUTE_32F`: in f32, as `cublasSgemm` does. (Since CUDA 12.9, an environment variable can replace it by sums of
    /// bf16 products.)
    F32 = 68,
    /// `CUBLAS_COMPUTE_32F_FAST_TF32`: on tensor cores, if cuBLAS chooses so, with the factors rounded to tf32, which has 10 bits
    /// after the leading one. `NVIDIA_TF32_OVERRIDE=0` in the environment forbids it.
    FastTf32 = 77,
}

/// Types of the numbers of all three matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Numbers {
    /// `CUDA_R_32F`.
    F32 = 0,
    /// `CUDA_R_16BF`.
    Bf16 = 14,
}

/// `cublasGemmEx` arguments for the product `c` of matrices `a` and `b`. `a` and `c` have `m` rows, `b` and `c` have `n` columns, and `k` is
/// the number of columns of `a` and of rows of `b`. Pointers are addresses in device memory. cuBLAS stores a matrix column by column; a leading
/// dimension (`lda` is that of `a`) is the distance from one column to the next, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the comment above names the fields")]
pub struct Gemm {
    pub m: i32,
    pub n: i32,
    pub k: i32,
    pub a: u64,
    pub lda: i32,
    pub b: u64,
    pub ldb: i32,
    pub c: u64,
    pub ldc: i32,
    pub compute_type: ComputeType,
    pub numbers: Numbers,
}

impl Gemm {
    // ANCHOR: row_by_row
    /// Returns the arguments for `C = A B` at these addresses. The matrices are stored row by row without gaps.
    ///
    /// What cuBLAS reads from such a matrix, column by column, is its transpose, and `C` is written as its transpose, too: it is that of
    /// `B` times that of `A`.
    pub fn row_by_row([m, n, k]: [i32; 3], [a, b, c]: [u64; 3], compute_type: ComputeType, numbers: Numbers) -> Self {
        // cuBLAS's own `m` is the number of rows of the left factor, Bᵀ, and its `n` is the number of columns of the right one, Aᵀ.
        Self { m: n, n: m, k, a: b, lda: n, b: a, ldb: k, c, ldc: n, compute_type, numbers }
    }
    // ANCHOR_END: row_by_row
}

functions! {
    /// The functions of cuBLAS that we call.
    struct Functions {
        create = "cublasCreate_v2" (*mut Handle) -> Status;
        destroy = "cublasDestroy_v2" (Handle) -> Status;
        set_stream = "cublasSetStream_v2" (Handle, *mut c_void) -> Status;
        // Which part of the version: 0, 1, 2 for major, minor, patch.
        property = "cublasGetProperty" (c_int, *mut c_int) -> Status;
        // The youngest: CUDA 11.4 brought it.
        status_string = "cublasGetStatusString" (Status) -> *const c_char;
        // Whether to transpose either factor; m, n, k; alpha; for each factor the address, the type and the leading dimension; beta; the
        // same of the product; compute type; algorithm.
        gemm_ex = "cublasGemmEx" (
            Handle, c_int, c_int, c_int, c_int, c_int, *const f32, *const c_void, c_int, c_int, *const c_void, c_int, c_int,
            *const f32, *mut c_void, c_int, c_int, c_int, c_int
        ) -> Status;
    }
}

/// An open cuBLAS with a handle on a CUDA context. The context is the one that was current when it was made.
pub struct CudaBlas {
    handle: Handle,
    functions: Functions,
    /// Keeps the code of the functions loaded.
    _opened: Opened,
}

impl CudaBlas {
    /// Fails if [`CudaBlas::new`] would find no cuBLAS, and says where we looked. Needs no GPU.
    pub fn find() -> Result<()> {
        open().map(|_| ())
    }

    /// Returns the version of the cuBLAS that is used, such as `13.1.0`; `None` if there is none.
    pub fn version() -> Option<String> {
        let (functions, _opened) = open().ok()?;
        let part = |which| {
            let mut value = 0;
            // SAFETY: the pointer is to a live variable, and the function takes any number.
            let status = unsafe { (functions.property)(which, &mut value) };
            (status == SUCCESS).then(|| value.to_string())
        };
        Some([part(0)?, part(1)?, part(2)?].join("."))
    }

    /// Opens cuBLAS and makes a handle that works on `stream`. This takes time, and device memory for cuBLAS to work in, so do it once.
    /// Fails when there is no cuBLAS, and when cuBLAS itself refuses, for example for lack of memory.
    ///
    /// # Safety
    ///
    /// `stream` is a live stream of the CUDA context that is current on this thread, and outlives the result.
    pub unsafe fn new(stream: *mut c_void) -> Result<Self> {
        let (functions, opened) = open()?;
        let mut blas = Self { handle: ptr::null_mut(), functions, _opened: opened };
        // SAFETY: the pointer is to a live handle, which the function sets.
        let status = unsafe { (blas.functions.create)(&mut blas.handle) };
        blas.check(status, || "make a handle".to_owned())?;
        // SAFETY: the handle is live, and so is the stream, as the caller guarantees.
        let status = unsafe { (blas.functions.set_stream)(blas.handle, stream) };
        blas.check(status, || "use the stream".to_owned())?;
        Ok(blas)
    }

    /// Enqueues `c = a b`, or fails in the words of cuBLAS.
    ///
    /// # Safety
    ///
    /// The addresses in `gemm` are of device memory that holds matrices of these sizes and leading dimensions, and that stays allocated
    /// until the stream has done the work. Nothing else reads or writes `c` meanwhile.
    pub unsafe fn gemm_ex(&self, gemm: Gemm) -> Result<()> {
        let Gemm { m, n, k, a, lda, b, ldb, c, ldc, compute_type, numbers } = gemm;
        let numbers = numbers as c_int;
        let (alpha, beta) = (1.0_f32, 0.0_f32);
        // SAFETY: the handle is live, and the matrices are as the caller guarantees. Both scalars are in host memory, where a new handle
        // expects them, and are read before the call returns.
        let status = unsafe {
            (self.functions.gemm_ex)(
                self.handle,
                NOT_TRANSPOSED,
                NOT_TRANSPOSED,
                m,
                n,
                k,
                &alpha,
                a as *const c_void,
                numbers,
                lda,
                b as *const c_void,
                numbers,
                ldb,
                &beta,
                c as *mut c_void,
                numbers,
                ldc,
                compute_type as c_int,
                DEFAULT_ALGORITHM,
            )
        };
        self.check(status, || format!("multiply {m} x {k} by {k} x {n}"))
    }

    fn check(&self, status: Status, action: impl FnOnce() -> String) -> Result<()> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: the function takes any number, and returns a string that is never freed, or null.
        let words = unsafe { words((self.functions.status_string)(status)) };
        let reason = words.map_or(format!("error {status}"), |words| format!("{words} (error {status})"));
        Err(Error::Call { library: "cuBLAS", action: action(), reason })
    }
}

impl Drop for CudaBlas {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: cuBLAS made the handle, and it is destroyed once, here. If that fails, there is nothing left to do.
            let _ = unsafe { (self.functions.destroy)(self.handle) };
        }
    }
}

/// Opens the first cuBLAS that has all that we call.
fn open() -> Result<(Functions, Opened)> {
    // SAFETY: the types are those of the declarations in cublas_api.h, the same in CUDA 11, 12 and 13. The library stays open with its
    // functions.
    libraries::CUBLAS.open_first(|opened| Ok((unsafe { Functions::load(&opened) }?, opened)))
}

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
        let call = Gemm::row_by_row([2, 3, 4], [100, 200, 300], ComputeType::F32, Numbers::F32);
        assert_eq!((call.a, call.b, call.c), (200, 100, 300), "the factors are swapped");
        assert_eq!(gemm(&call, &b, &a), [10.0, 42.0, 6.0, 26.0, 86.0, 18.0]);
    }
}
