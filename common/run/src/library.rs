//! The libraries of NVIDIA that rows call, with their versions.

use compilers::cublas::CudaBlas;

use crate::fourier;

/// Returns a library's name as a record has it: with the version, where it is known.
pub fn with_version(library: &str) -> String {
    let version = match library {
        "cuBLAS" => CudaBlas::version(),
        "cuFFT" => fourier::version(),
        _ => None,
    };
    version.map_or_else(|| library.to_owned(), |version| format!("{library} {version}"))
}
