//! The compiler version that makes the stored PTX.

/// The one version of NVRTC that makes the stored PTX. It writes PTX ISA 8.0, which every driver since 525 loads.
pub const PINNED_VERSION: &str = "12.0.140";
