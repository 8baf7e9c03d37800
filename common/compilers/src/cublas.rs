//! cuBLAS, NVIDIA's library of dense linear algebra: the four functions of it that a matrix product needs.
//!
//! This is a binding of our own. `cudarc::cublas` has all of these functions, and would be the better choice. But at the CUDA version that
//! our bindings are made for (12.0, so that drivers of the last years work), cudarc looks for `libcublas.so.12` and older, and never for
//! CUDA 13's `libcublas.so.13`. Opening the library by its path first, as we do for cuFFT, does not help, because the loader goes by the
//! name in the file. The functions have the same types in CUDA 11, 12 and 13. Names and arguments follow `cudarc::cublas`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use crate::error::{Error, Result};
use crate::libraries::{self, Opened};

/// cuBLAS's result; zero is success.
type Status = c_int;
/// What cuBLAS calls a handle: its state for one device and one stream.
type Handle = *mut c_void;

const SUCCESS: Status = 0;
/// `CUBLAS_OP_N`: the factor is not transposed.
const NOT_TRANSPOSED: c_int = 0;
/// `CUDA_R_32F`: the elements are f32.
const F32: c_int = 0;
/// `CUBLAS_GEMM_DEFAULT`: cuBLAS chooses the kernel.
const DEFAULT_ALGORITHM: c_int = -1;

/// How cuBLAS computes a product of f32 matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum ComputeType {
    /// `CUBLAS_COMPUTE_32F`: in f32. This is what `cublasSgemm` does. (Since CUDA 12.9, an environment variable can replace it by sums of
    /// bf16 products.)
    F32 = 68,
    /// `CUBLAS_COMPUTE_32F_FAST_TF32`: on tensor cores, if cuBLAS chooses so, with the factors rounded to tf32, which has 10 bits
    /// after the leading one. `NVIDIA_TF32_OVERRIDE=0` in the environment forbids it.
    FastTf32 = 77,
}

/// The arguments of `cublasGemmEx` for f32 matrices. cuBLAS stores a matrix column by column; a leading dimension is the distance from one
/// column to the next, in elements. Pointers are addresses in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemm {
    /// Rows of `a` and of `c`.
    pub m: i32,
    /// Columns of `b` and of `c`.
    pub n: i32,
    /// Columns of `a` and rows of `b`.
    pub k: i32,
    /// The left factor.
    pub a: u64,
    /// Its leading dimension.
    pub lda: i32,
    /// The right factor.
    pub b: u64,
    /// Its leading dimension.
    pub ldb: i32,
    /// The product.
    pub c: u64,
    /// Its leading dimension.
    pub ldc: i32,
    /// The arithmetic.
    pub compute_type: ComputeType,
}

/// `cublasGemmEx`: handle; whether to transpose either factor; m, n, k; alpha; for each factor the address, the type and the leading
/// dimension; beta; the same of the product; compute type; algorithm.
type GemmEx = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const f32,
    *const c_void,
    c_int,
    c_int,
    *const c_void,
    c_int,
    c_int,
    *const f32,
    *mut c_void,
    c_int,
    c_int,
    c_int,
    c_int,
) -> Status;

/// An open cuBLAS, with a handle on the CUDA context that was current when it was made.
pub struct CudaBlas {
    handle: Handle,
    gemm_ex: GemmEx,
    destroy: unsafe extern "C" fn(Handle) -> Status,
    status_string: unsafe extern "C" fn(Status) -> *const c_char,
    /// Keeps the code of the functions loaded.
    _opened: Opened,
}

impl CudaBlas {
    /// Whether this machine has a cuBLAS that [`CudaBlas::new`] could use. Needs no GPU.
    ///
    /// # Errors
    ///
    /// When there is none. The message says where we looked and how to get one.
    pub fn find() -> Result<()> {
        open().map(|_| ())
    }

    /// Opens cuBLAS and makes a handle that works on `stream`. This takes time, and device memory for cuBLAS to work in, so do it once.
    ///
    /// # Errors
    ///
    /// When there is no cuBLAS, and what cuBLAS itself refuses, for example for lack of memory.
    ///
    /// # Safety
    ///
    /// `stream` is a live stream of the CUDA context that is current on this thread, and outlives the result.
    pub unsafe fn new(stream: *mut c_void) -> Result<Self> {
        let opened = open()?;
        // SAFETY: the type is that of the declaration in cublas_api.h, the same in CUDA 11, 12 and 13.
        let create: unsafe extern "C" fn(*mut Handle) -> Status = unsafe { opened.function("cublasCreate_v2") }?;
        // SAFETY: the type is that of the declaration in cublas_api.h, the same in CUDA 11, 12 and 13.
        let set_stream: unsafe extern "C" fn(Handle, *mut c_void) -> Status = unsafe { opened.function("cublasSetStream_v2") }?;
        // SAFETY: the types of the fields are those of the declarations in cublas_api.h, the same in CUDA 11, 12 and 13. The struct keeps
        // the library loaded as long as it keeps the functions.
        let (gemm_ex, destroy, status_string) =
            unsafe { (opened.function("cublasGemmEx")?, opened.function("cublasDestroy_v2")?, opened.function(STATUS_STRING)?) };
        let mut blas = Self { handle: ptr::null_mut(), gemm_ex, destroy, status_string, _opened: opened };
        // SAFETY: the pointer is to a live handle, which the function sets.
        let status = unsafe { create(&mut blas.handle) };
        blas.check(status, || "make a handle".to_owned())?;
        // SAFETY: the handle is live, and so is the stream, as the caller guarantees.
        let status = unsafe { set_stream(blas.handle, stream) };
        blas.check(status, || "use the stream".to_owned())?;
        Ok(blas)
    }

    /// Enqueues `c = a b`.
    ///
    /// # Errors
    ///
    /// What cuBLAS refuses.
    ///
    /// # Safety
    ///
    /// The addresses in `gemm` are of device memory that holds matrices of these sizes and leading dimensions, and that stays allocated
    /// until the stream has done the work. Nothing else reads or writes `c` meanwhile.
    pub unsafe fn gemm_ex(&self, gemm: Gemm) -> Result<()> {
        let Gemm { m, n, k, a, lda, b, ldb, c, ldc, compute_type } = gemm;
        let (alpha, beta) = (1.0_f32, 0.0_f32);
        // SAFETY: the handle is live, and the matrices are as the caller guarantees. Both scalars are in host memory, where a new handle
        // expects them, and are read before the call returns.
        let status = unsafe {
            (self.gemm_ex)(
                self.handle,
                NOT_TRANSPOSED,
                NOT_TRANSPOSED,
                m,
                n,
                k,
                &alpha,
                a as *const c_void,
                F32,
                lda,
                b as *const c_void,
                F32,
                ldb,
                &beta,
                c as *mut c_void,
                F32,
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
        let text = unsafe { (self.status_string)(status) };
        let reason = if text.is_null() {
            format!("error {status}")
        } else {
            // SAFETY: it is not null, so it is the NUL-terminated string that cuBLAS documents, which is never freed.
            format!("{} (error {status})", unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        Err(Error::Call { library: "cuBLAS", action: action(), reason })
    }
}

impl Drop for CudaBlas {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: cuBLAS made the handle, and it is destroyed once, here. If that fails, there is nothing left to do.
            let _ = unsafe { (self.destroy)(self.handle) };
        }
    }
}

/// The youngest of the functions that we call: CUDA 11.4 brought it.
const STATUS_STRING: &str = "cublasGetStatusString";

/// Opens the first cuBLAS that has all that we call.
fn open() -> Result<Opened> {
    libraries::CUBLAS.open_first(|opened| {
        // SAFETY: the pointer is not called, and any type of a function pointer will do to ask for it.
        unsafe { opened.function::<unsafe extern "C" fn()>(STATUS_STRING) }?;
        Ok(opened)
    })
}
