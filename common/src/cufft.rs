//! cuFFT, NVIDIA's library of Fourier transforms: finding it and calling the little of it that a convolution needs.
//!
//! A binding of our own, for the reason that [`toolkit::nvrtc`] has one: cudarc's knows the file names of its own CUDA version only and
//! panics where there is none, and Python's package managers put the library where no loader looks.

use std::ffi::{c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;

use cudarc::driver::{CudaSlice, CudaViewMut, DevicePtr, DevicePtrMut};
use thiserror::Error;
use toolkit::libraries::{self, NotFound, Opened};

use crate::error::{Error, Result};
use crate::gpu::Gpu;

/// A call of cuFFT that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cuFFT cannot {what}: {}", describe(*.status))]
pub struct Failed {
    /// What it was asked to do.
    what: String,
    status: Status,
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        Error::Library(failed.to_string())
    }
}

/// cuFFT's result; zero is success.
type Status = c_int;
/// What cuFFT calls a plan.
type Handle = c_int;

const SUCCESS: Status = 0;
/// `CUFFT_R2C` and `CUFFT_C2R` of cufft.h.
const REAL_TO_COMPLEX: c_int = 0x2a;
const COMPLEX_TO_REAL: c_int = 0x2c;

/// `cufftPlanMany`: plan, rank, lengths, then embedding, stride and distance of the input and of the output, kind, batch.
type PlanMany = unsafe extern "C" fn(
    *mut Handle,
    c_int,
    *mut c_int,
    *mut c_int,
    c_int,
    c_int,
    *mut c_int,
    c_int,
    c_int,
    c_int,
    c_int,
) -> Status;

/// The functions of cuFFT that we call, by their C names.
struct Functions {
    plan_many: PlanMany,
    set_stream: unsafe extern "C" fn(Handle, *mut c_void) -> Status,
    execute_forward: unsafe extern "C" fn(Handle, *mut f32, *mut c_void) -> Status,
    execute_inverse: unsafe extern "C" fn(Handle, *mut c_void, *mut f32) -> Status,
    destroy: unsafe extern "C" fn(Handle) -> Status,
}

/// The open library.
pub struct Cufft {
    functions: Functions,
    /// Keeps the code behind `functions` loaded.
    _opened: Opened,
}

impl Cufft {
    /// The first cuFFT that loads, in the order of [`toolkit::Library::candidates`]; looked for once per process.
    ///
    /// # Errors
    ///
    /// When there is none; the message says where was looked and what mends it.
    pub fn find() -> Result<&'static Cufft, NotFound> {
        static FOUND: OnceLock<Result<Cufft, NotFound>> = OnceLock::new();
        let found = FOUND.get_or_init(|| libraries::CUFFT.open_first(Cufft::bind));
        found.as_ref().map_err(Clone::clone)
    }

    /// Opens the library at `path`, or, for a bare file name, the one that the loader finds under it.
    ///
    /// # Errors
    ///
    /// When it does not load, or is no cuFFT.
    pub fn open(path: &Path) -> Result<Cufft, NotFound> {
        Cufft::bind(libraries::CUFFT.open(path)?)
    }

    fn bind(opened: Opened) -> Result<Cufft, NotFound> {
        // SAFETY: the types are those of the declarations in cufft.h, which have not changed since CUDA 5; the library stays loaded as
        // long as the functions.
        let functions = unsafe {
            Functions {
                plan_many: opened.function("cufftPlanMany")?,
                set_stream: opened.function("cufftSetStream")?,
                execute_forward: opened.function("cufftExecR2C")?,
                execute_inverse: opened.function("cufftExecC2R")?,
                destroy: opened.function("cufftDestroy")?,
            }
        };
        Ok(Cufft { functions, _opened: opened })
    }

    /// A plan for transforms on the stream of `gpu`: `count` blocks of `length` real numbers, one after the other, to spectra of
    /// `length / 2 + 1` complex numbers, one after the other.
    ///
    /// # Errors
    ///
    /// What cuFFT refuses, for example for lack of memory.
    pub fn forward(&'static self, gpu: &Gpu, length: usize, count: usize) -> Result<Forward> {
        let handle = self.plan(gpu, REAL_TO_COMPLEX, length, count)?;
        Ok(Forward(Plan { library: self, handle, length, count }))
    }

    /// A plan for the way back. The result is `length` times what [`Cufft::forward`] began with.
    ///
    /// # Errors
    ///
    /// As [`Cufft::forward`].
    pub fn inverse(&'static self, gpu: &Gpu, length: usize, count: usize) -> Result<Inverse> {
        let handle = self.plan(gpu, COMPLEX_TO_REAL, length, count)?;
        Ok(Inverse(Plan { library: self, handle, length, count }))
    }

    fn plan(&self, gpu: &Gpu, kind: c_int, length: usize, count: usize) -> Result<Handle> {
        gpu.context.bind_to_thread()?;
        let what = || format!("plan {count} transforms of {length} points");
        let int = |number: usize| c_int::try_from(number).map_err(|_| Failed { what: what(), status: INVALID_SIZE });
        let (mut points, count) = (int(length)?, int(count)?);
        let mut handle = 0;
        // SAFETY: the pointers are to live integers, and no embedding (null) means that the blocks are packed.
        let status = unsafe {
            (self.functions.plan_many)(&mut handle, 1, &mut points, ptr::null_mut(), 1, 0, ptr::null_mut(), 1, 0, kind, count)
        };
        check(status, what)?;
        // SAFETY: the plan was just made, and the stream lives as long as the device, which outlives the stages' plans.
        let status = unsafe { (self.functions.set_stream)(handle, gpu.stream.cu_stream().cast()) };
        check(status, || "use the stream".to_owned())?;
        Ok(handle)
    }
}

/// A plan with the memory that cuFFT works in.
struct Plan {
    library: &'static Cufft,
    handle: Handle,
    length: usize,
    count: usize,
}

impl Plan {
    fn reals(&self) -> usize {
        self.length * self.count
    }

    fn complexes(&self) -> usize {
        (self.length / 2 + 1) * self.count
    }
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the handle came from cuFFT and is destroyed once, here. A failure leaves nothing to be done.
        let _ = unsafe { (self.library.functions.destroy)(self.handle) };
    }
}

/// Transforms of real numbers.
pub struct Forward(Plan);

impl Forward {
    /// Enqueues the transforms. `spectra` holds real and imaginary parts in turn.
    ///
    /// # Errors
    ///
    /// cuFFT's errors.
    ///
    /// # Panics
    ///
    /// When a buffer is shorter than the plan's numbers.
    pub fn enqueue(&self, gpu: &Gpu, reals: &CudaSlice<f32>, spectra: &mut CudaSlice<f32>) -> Result<()> {
        let plan = &self.0;
        assert!(reals.len() >= plan.reals() && spectra.len() >= 2 * plan.complexes(), "the buffers are too short for the plan");
        let (from, _read) = reals.device_ptr(&gpu.stream);
        let (to, _written) = spectra.device_ptr_mut(&gpu.stream);
        // SAFETY: the plan is live, reads the reals and writes the spectra, which are long enough; with two buffers it leaves its input.
        let status = unsafe { (plan.library.functions.execute_forward)(plan.handle, from as *mut f32, to as *mut c_void) };
        Ok(check(status, || "transform".to_owned())?)
    }
}

/// Transforms of spectra.
pub struct Inverse(Plan);

impl Inverse {
    /// Enqueues the transforms of `spectra`, which are lost by them.
    ///
    /// # Errors
    ///
    /// cuFFT's errors.
    ///
    /// # Panics
    ///
    /// When a buffer is shorter than the plan's numbers.
    pub fn enqueue(&self, gpu: &Gpu, spectra: &mut CudaViewMut<'_, f32>, reals: &mut CudaSlice<f32>) -> Result<()> {
        let plan = &self.0;
        assert!(reals.len() >= plan.reals() && spectra.len() >= 2 * plan.complexes(), "the buffers are too short for the plan");
        let (from, _spent) = spectra.device_ptr_mut(&gpu.stream);
        let (to, _written) = reals.device_ptr_mut(&gpu.stream);
        // SAFETY: the plan is live, reads and may overwrite the spectra, and writes the reals; both are long enough.
        let status = unsafe { (plan.library.functions.execute_inverse)(plan.handle, from as *mut c_void, to as *mut f32) };
        Ok(check(status, || "transform back".to_owned())?)
    }
}

const INVALID_SIZE: Status = 8;

fn check(status: Status, what: impl FnOnce() -> String) -> Result<(), Failed> {
    if status == SUCCESS { Ok(()) } else { Err(Failed { what: what(), status }) }
}

/// The words of cufft.h for a status; cuFFT has no function that says them.
fn describe(status: Status) -> String {
    let words = match status {
        1 => "the plan is not valid",
        2 => "it could not allocate memory",
        4 => "a pointer or parameter is not valid",
        5 => "it had an internal error",
        6 => "a transform could not be executed on the GPU",
        7 => "the library could not be initialised",
        INVALID_SIZE => "the size is not supported",
        9 => "the data are not aligned",
        _ => return format!("error {status}"),
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_library_is_refused_by_name() {
        let error = Cufft::open(Path::new("/nonexistent/libcufft.so.12")).err().expect("nothing is there");
        let text = error.to_string();
        assert!(text.contains("/nonexistent/libcufft.so.12"), "{text}");
        assert!(text.contains("pip install nvidia-cufft-cu12"), "{text}");
    }

    #[test]
    fn a_failure_says_what_and_why() {
        let failed = check(2, || "plan 3 transforms of 8 points".to_owned()).unwrap_err();
        assert_eq!(failed.to_string(), "cuFFT cannot plan 3 transforms of 8 points: it could not allocate memory");
    }
}
