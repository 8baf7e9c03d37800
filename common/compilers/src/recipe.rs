//! How the stored PTX is made: with which compiler, and with which options.

/// The version of NVRTC that makes the stored PTX. It writes PTX ISA 8.0, which every driver since 525 loads.
pub const PINNED_VERSION: &str = "12.0.140";

/// Returns the options of every kernel. `architecture` is virtual (`compute_90`) or, for machine code, real (`sm_90`).
///
/// `-lineinfo` lets counters and findings name lines of CUDA C. It costs nothing at run time.
pub fn options(architecture: &str) -> Vec<String> {
    vec![format!("--gpu-architecture={architecture}"), "-lineinfo".to_owned(), "--std=c++17".to_owned()]
}

/// Suffix of architectures with instructions that no other generation has: `compute_90a`.
pub const OWN_INSTRUCTIONS: char = 'a';
