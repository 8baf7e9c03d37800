//! cuFFT, NVIDIA's library of Fourier transforms, for the stages that compare kernels with it.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Instant;

use compilers::libraries;
use cudarc::cufft::result::CufftError;
use cudarc::cufft::sys;

use crate::{Gpu, Prepared, Result, Workload};

/// Makes sure that cudarc finds cuFFT, and returns the path. It must run before any other call of cuFFT.
/// Fails when this machine has no cuFFT. The message says where we looked and how to get one.
pub fn cufft() -> compilers::Result<PathBuf> {
    static FOUND: OnceLock<compilers::Result<PathBuf>> = OnceLock::new();
    // SAFETY: looking for a library runs its initializers, and cuFFT's touch nothing in this process but their own memory.
    FOUND.get_or_init(|| libraries::CUFFT.open_for_cudarc(|| unsafe { sys::is_culib_present() })).clone()
}

/// Returns the version of cuFFT, such as `12.1.0`; `None` if there is none.
pub fn version() -> Option<String> {
    use sys::libraryPropertyType_t::{MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL};

    cufft().ok()?;
    let part = |which| {
        let mut value = 0;
        // SAFETY: cudarc found the library, and the pointer is to a live variable.
        let status = unsafe { sys::cufftGetProperty(which, &mut value) };
        (status == sys::cufftResult::CUFFT_SUCCESS).then(|| value.to_string())
    };
    Some([part(MAJOR_VERSION)?, part(MINOR_VERSION)?, part(PATCH_LEVEL)?].join("."))
}

/// Converts an error of cuFFT to one of ours.
pub fn failed(action: &str) -> impl Fn(CufftError) -> compilers::Error {
    move |CufftError(status)| compilers::Error::Call { library: "cuFFT", action: action.to_owned(), reason: format!("{status:?}") }
}

/// Times every plan after a warm-up and returns the fastest. There must be one.
pub fn fastest<W: Workload, P: Prepared<W>>(gpu: &Gpu, workload: &W, plans: impl Iterator<Item = Result<P>>) -> Result<P> {
    const RUNS: u32 = 10;
    let mut buffers = workload.upload(gpu)?;
    let mut best = None;
    for plan in plans {
        let mut plan = plan?;
        let mut run = |runs: u32| -> Result<()> {
            (0..runs).try_for_each(|_| plan.enqueue(gpu, workload, &mut buffers))?;
            Ok(gpu.stream.synchronize()?)
        };
        run(2)?;
        let begun = Instant::now();
        run(RUNS)?;
        let elapsed = begun.elapsed();
        if best.as_ref().is_none_or(|(shortest, _)| elapsed < *shortest) {
            best = Some((elapsed, plan));
        }
    }
    Ok(best.expect("the stage is skipped where there is no plan").1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cudarc_finds_the_cufft_that_was_opened_by_its_path() {
        let Ok(path) = cufft().inspect_err(|error| eprintln!("skipped: {error}")) else { return };
        let mut version = 0;
        // SAFETY: the pointer is to a live integer.
        let status = unsafe { sys::cufftGetVersion(&mut version) };
        assert!(status == sys::cufftResult::CUFFT_SUCCESS && version > 0, "{}: {status:?}, version {version}", path.display());
    }
}
