//! cuBLAS, NVIDIA's library of dense linear algebra: finding it and calling the little of it that a matrix product needs.
//!
//! A binding of our own, for the reasons that [`crate::cufft`] has.
//!
//! # Rows and columns
//!
//! We store matrices row by row, cuBLAS reads them column by column, as Fortran does. Read so, the numbers of our `A` are its
//! transpose `Aᵀ`, without a number being moved. Since `(A B)ᵀ = Bᵀ Aᵀ`, the product of the two in the other order, written column by
//! column, is `C` row by row: what has to be swapped are the arguments.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use cudarc::driver::{CudaSlice, CudaViewMut, DevicePtr, DevicePtrMut};
use thiserror::Error;
use toolkit::libraries::{self, NotFound, Opened};

use crate::error::{Error, Result};
use crate::gpu::Gpu;

/// Something that cuBLAS did not do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cuBLAS cannot {what}: {reason}")]
pub struct Failed {
    /// What it was asked to do.
    what: String,
    reason: String,
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        Error::Library(failed.to_string())
    }
}

/// The sizes of a product: `C`, of `m` rows and `n` columns, is `A`, `m` x `k`, times `B`, `k` x `n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of `A` and of `C`.
    pub m: usize,
    /// Columns of `B` and of `C`.
    pub n: usize,
    /// Columns of `A`, rows of `B`.
    pub k: usize,
}

/// How exactly a product of f32 matrices is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// In f32, as fast as cuBLAS can: without tf32, which has to be asked for. (`CUBLAS_COMPUTE_32F`, which `cublasSgemm` has by default. From CUDA
    /// 12.9 on, an environment variable can put sums of bf16 products in its place.)
    F32,
    /// Tensor cores are allowed, with the factors rounded to the nearest numbers of tf32, of 10 bits; whether it takes them is up to
    /// cuBLAS. `NVIDIA_TF32_OVERRIDE=0` in the environment forbids it.
    Tf32,
}

impl Precision {
    fn compute_type(self) -> c_int {
        match self {
            Precision::F32 => CUBLAS_COMPUTE_32F,
            Precision::Tf32 => CUBLAS_COMPUTE_32F_FAST_TF32,
        }
    }
}

/// cuBLAS's result; zero is success.
type Status = c_int;
/// What cuBLAS calls a handle: its state for one device and stream.
type RawHandle = *mut c_void;

// Of cublas_api.h, and the type of an element of library_types.h; the same in CUDA 11, 12 and 13.
const CUBLAS_STATUS_SUCCESS: Status = 0;
const CUBLAS_OP_N: c_int = 0;
const CUBLAS_COMPUTE_32F: c_int = 68;
const CUBLAS_COMPUTE_32F_FAST_TF32: c_int = 77;
const CUBLAS_GEMM_DEFAULT: c_int = -1;
const CUDA_R_32F: c_int = 0;

/// `cublasGemmEx`: handle, whether to transpose either factor, m, n, k, alpha, the factors with type and leading dimension each, beta,
/// the product with the same, type of the computation, algorithm.
type GemmEx = unsafe extern "C" fn(
    RawHandle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    *const c_void,
    c_int,
    c_int,
    *const c_void,
    c_int,
    c_int,
    *const c_void,
    *mut c_void,
    c_int,
    c_int,
    c_int,
    c_int,
) -> Status;

/// The functions of cuBLAS that we call, by their C names.
struct Functions {
    create: unsafe extern "C" fn(*mut RawHandle) -> Status,
    set_stream: unsafe extern "C" fn(RawHandle, *mut c_void) -> Status,
    gemm: GemmEx,
    destroy: unsafe extern "C" fn(RawHandle) -> Status,
    status_string: unsafe extern "C" fn(Status) -> *const c_char,
}

/// The open library.
pub struct Cublas {
    functions: Functions,
    /// Keeps the code behind `functions` loaded.
    _opened: Opened,
}

impl Cublas {
    /// The first cuBLAS that loads, in the order of [`toolkit::Library::candidates`]; looked for once per process.
    ///
    /// # Errors
    ///
    /// When there is none; the message says where was looked and what mends it.
    pub fn find() -> Result<&'static Cublas, NotFound> {
        static FOUND: OnceLock<Result<Cublas, NotFound>> = OnceLock::new();
        let found = FOUND.get_or_init(|| libraries::CUBLAS.open_first(Cublas::bind));
        found.as_ref().map_err(Clone::clone)
    }

    /// Opens the library at `path`, or, for a bare file name, the one that the loader finds under it.
    ///
    /// # Errors
    ///
    /// When it does not load, or is no cuBLAS from CUDA 11.4 on.
    pub fn open(path: &Path) -> Result<Cublas, NotFound> {
        Cublas::bind(libraries::CUBLAS.open(path)?)
    }

    fn bind(opened: Opened) -> Result<Cublas, NotFound> {
        // SAFETY: the types are those of the declarations in cublas_api.h, which have not changed since CUDA 11; what is older has no
        // `cublasGetStatusString`. The library stays loaded as long as the functions.
        let functions = unsafe {
            Functions {
                create: opened.function("cublasCreate_v2")?,
                set_stream: opened.function("cublasSetStream_v2")?,
                gemm: opened.function("cublasGemmEx")?,
                destroy: opened.function("cublasDestroy_v2")?,
                status_string: opened.function("cublasGetStatusString")?,
            }
        };
        Ok(Cublas { functions, _opened: opened })
    }

    /// What multiplies on the stream of `gpu`. It takes time to make, and memory that cuBLAS works in, so make it once.
    ///
    /// # Errors
    ///
    /// What cuBLAS refuses, for example for lack of memory.
    pub fn handle(&self, gpu: &Gpu) -> Result<Handle<'_>> {
        gpu.context.bind_to_thread()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the pointer is to a live handle.
        let status = unsafe { (self.functions.create)(&mut raw) };
        self.check(status, || "begin".to_owned())?;
        let handle = Handle { library: self, raw };
        // SAFETY: the handle was just made, and the stream lives as long as the device, which outlives the stages' handles.
        let status = unsafe { (self.functions.set_stream)(raw, gpu.stream.cu_stream().cast()) };
        self.check(status, || "use the stream".to_owned())?;
        Ok(handle)
    }

    fn check(&self, status: Status, what: impl FnOnce() -> String) -> Result<(), Failed> {
        if status == CUBLAS_STATUS_SUCCESS { Ok(()) } else { Err(Failed { what: what(), reason: self.describe(status) }) }
    }

    /// cuBLAS's own words for a status.
    fn describe(&self, status: Status) -> String {
        // SAFETY: the function takes any number and returns a string of static life, or null.
        let text = unsafe { (self.functions.status_string)(status) };
        if text.is_null() {
            return format!("error {status}");
        }
        // SAFETY: it is not null, so it is the NUL-terminated static string that cuBLAS documents.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        format!("{text} (error {status})")
    }
}

/// cuBLAS on a stream.
pub struct Handle<'cublas> {
    library: &'cublas Cublas,
    raw: RawHandle,
}

impl Handle<'_> {
    /// Enqueues `C = A B`, all three row by row and without gaps. `gpu` is the one that the handle was made for.
    ///
    /// # Errors
    ///
    /// When a buffer has fewer numbers than its matrix, or a side is longer than cuBLAS counts; and cuBLAS's errors.
    pub fn multiply(
        &self,
        gpu: &Gpu,
        shape: Shape,
        a: &CudaSlice<f32>,
        b: &CudaSlice<f32>,
        c: &mut CudaViewMut<'_, f32>,
        precision: Precision,
    ) -> Result<()> {
        shape.fits(a.len(), b.len(), c.len())?;
        gpu.context.bind_to_thread()?;
        let (a, _a_read) = a.device_ptr(&gpu.stream);
        let (b, _b_read) = b.device_ptr(&gpu.stream);
        let (c, _c_written) = c.device_ptr_mut(&gpu.stream);
        let Call { m, n, k, left, ld_left, right, ld_right, ld_product } = Call::swapped(shape, a, b)?;
        let (one, zero) = (1.0_f32, 0.0_f32);
        // SAFETY: the handle is live; cuBLAS reads the factors of the buffers, which are long enough, and writes the product, which nothing
        // is read from, because beta is zero. Both scalars are on the host, where a new handle looks for them, and are read in the call.
        let status = unsafe {
            (self.library.functions.gemm)(
                self.raw,
                CUBLAS_OP_N,
                CUBLAS_OP_N,
                m,
                n,
                k,
                ptr::from_ref(&one).cast(),
                left as *const c_void,
                CUDA_R_32F,
                ld_left,
                right as *const c_void,
                CUDA_R_32F,
                ld_right,
                ptr::from_ref(&zero).cast(),
                c as *mut c_void,
                CUDA_R_32F,
                ld_product,
                precision.compute_type(),
                CUBLAS_GEMM_DEFAULT,
            )
        };
        Ok(self.library.check(status, || format!("multiply {shape}"))?)
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from cuBLAS and is destroyed once, here. A failure leaves nothing to be done.
        let _ = unsafe { (self.library.functions.destroy)(self.raw) };
    }
}

impl Shape {
    /// Whether buffers of these lengths hold the matrices.
    fn fits(self, a: usize, b: usize, c: usize) -> Result<(), Failed> {
        for (matrix, rows, columns, length) in [("A", self.m, self.k, a), ("B", self.k, self.n, b), ("C", self.m, self.n, c)] {
            if rows.checked_mul(columns).is_none_or(|numbers| numbers > length) {
                return Err(self.refuse(format!("{matrix} is {rows} x {columns}, and its buffer has {length} numbers")));
            }
        }
        Ok(())
    }

    fn refuse(self, reason: String) -> Failed {
        Failed { what: format!("multiply {self}"), reason }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { m, n, k } = self;
        write!(f, "{m} x {k} by {k} x {n}")
    }
}

/// The arguments of `cublasGemmEx` that the order of storage decides, as it sees them: column by column, the product, `m` x `n`, is the
/// left factor, `m` x `k`, times the right one, `k` x `n`. A leading dimension (`ld`) is what lies from one column to the next.
#[derive(Debug)]
struct Call<M> {
    m: c_int,
    n: c_int,
    k: c_int,
    left: M,
    ld_left: c_int,
    right: M,
    ld_right: c_int,
    ld_product: c_int,
}

impl<M> Call<M> {
    /// `Cᵀ = Bᵀ Aᵀ`: the transposes are `n` x `m`, `n` x `k` and `k` x `m`, and one of their columns is one of our rows.
    fn swapped(shape: Shape, a: M, b: M) -> Result<Call<M>, Failed> {
        let int = |side: usize| c_int::try_from(side).map_err(|_| shape.refuse(format!("it counts up to {}", c_int::MAX)));
        let (m, n, k) = (int(shape.m)?, int(shape.n)?, int(shape.k)?);
        Ok(Call { m: n, n: m, k, left: b, ld_left: n, right: a, ld_right: k, ld_product: n })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { m: 2, n: 3, k: 4 };

    #[test]
    fn a_file_that_is_no_library_is_refused_by_name() {
        let error = Cublas::open(Path::new("/nonexistent/libcublas.so.12")).err().expect("nothing is there");
        let text = error.to_string();
        assert!(text.contains("/nonexistent/libcublas.so.12"), "{text}");
        assert!(text.contains("pip install nvidia-cublas-cu12"), "{text}");
        assert!(text.contains("UNROLLED_CUBLAS"), "{text}");
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn another_library_is_refused_for_what_it_lacks() {
        let error = Cublas::open(Path::new("libc.so.6")).err().expect("libc does not multiply matrices");
        assert!(error.to_string().starts_with("libc.so.6 has no cublasCreate_v2; `pip install "), "{error}");
        assert_eq!(crate::Error::from(error).exit_status(), 2);
    }

    /// What cuBLAS documents of its arguments, computed.
    fn gemm(call: &Call<&[f32]>) -> Vec<f32> {
        let at = |column: c_int, ld: c_int, row: c_int| (column * ld + row) as usize;
        let mut product = vec![0.0; (call.n * call.ld_product) as usize];
        for column in 0..call.n {
            for row in 0..call.m {
                let terms = (0..call.k).map(|i| call.left[at(i, call.ld_left, row)] * call.right[at(column, call.ld_right, i)]);
                product[at(column, call.ld_product, row)] = terms.sum();
            }
        }
        product
    }

    #[test]
    fn the_swapped_product_column_by_column_is_the_product_row_by_row() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let b = [1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 3.0, 0.0, 0.0, 0.0, 10.0, 1.0];
        let call = Call::swapped(SHAPE, a.as_slice(), b.as_slice()).unwrap();
        assert_eq!(gemm(&call), [10.0, 42.0, 6.0, 26.0, 86.0, 18.0]);
    }

    #[test]
    fn buffers_that_are_too_short_are_refused() {
        assert_eq!(SHAPE.fits(8, 12, 6), Ok(()));
        for (a, b, c, reason) in [
            (7, 12, 6, "A is 2 x 4, and its buffer has 7 numbers"),
            (8, 11, 6, "B is 4 x 3, and its buffer has 11 numbers"),
            (8, 12, 5, "C is 2 x 3, and its buffer has 5 numbers"),
        ] {
            let error = SHAPE.fits(a, b, c).unwrap_err();
            assert_eq!(error.to_string(), format!("cuBLAS cannot multiply 2 x 4 by 4 x 3: {reason}"));
        }
        let overflowing = Shape { m: usize::MAX, n: 1, k: 2 };
        assert!(overflowing.fits(usize::MAX, 2, usize::MAX).is_err());
    }

    #[test]
    fn sides_that_cublas_cannot_count_are_refused() {
        let shape = Shape { m: 1 << 31, n: 1, k: 1 };
        let error = Call::swapped(shape, (), ()).unwrap_err();
        assert_eq!(error.to_string(), "cuBLAS cannot multiply 2147483648 x 1 by 1 x 1: it counts up to 2147483647");
    }
}
