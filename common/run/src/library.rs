//! The libraries of NVIDIA that rows call, with their versions.

use compilers::cublas::CudaBlas;

use crate::{Gpu, Result, Unmet, fourier};

/// Returns a library's name as a record has it: with the version, where it is known.
pub fn with_version(library: &str) -> String {
    let version = match library {
        "cuBLAS" => CudaBlas::version(),
        "cuFFT" => fourier::version(),
        _ => None,
    };
    version.map_or_else(|| library.to_owned(), |version| format!("{library} {version}"))
}

/// Checks for a GPU, for cuBLAS, and that sides fit it.
pub fn needs_cublas(gpu: &Gpu, longest_side: u32) -> Result<Option<Unmet>> {
    if gpu.is_simulated() {
        return Ok(Some(Unmet::Gpu { library: "cuBLAS" }));
    }
    let sides = Unmet::limit("rows or columns in cuBLAS", longest_side, i32::MAX as u64);
    Ok(sides.or_else(|| CudaBlas::find().err().map(|error| Unmet::Library { reason: error.to_string() })))
}
