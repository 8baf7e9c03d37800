//! The options that every kernel is compiled with.

/// The options for every kernel; `architecture` is virtual (`compute_90`). `-lineinfo` lets counters and findings name lines
/// of CUDA C, and costs nothing at run time.
pub fn options(architecture: &str) -> Vec<String> {
    vec![format!("--gpu-architecture={architecture}"), "-lineinfo".to_owned(), "--std=c++17".to_owned()]
}
