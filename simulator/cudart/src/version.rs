//! Which version of the runtime the program uses.
//!
//! One library serves both, under two names. Some functions have other arguments in CUDA 13 than in CUDA 12, under the same name.

use std::sync::OnceLock;

use crate::driver;

/// A version of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Cuda12,
    Cuda13,
}

impl Version {
    /// Returns the version that the program asked the loader for.
    pub fn current() -> Self {
        static VERSION: OnceLock<Version> = OnceLock::new();
        *VERSION.get_or_init(|| {
            let path = driver::own_path();
            let is_13 = path.as_deref().and_then(|path| path.to_str()).is_some_and(|path| path.ends_with(".so.13"));
            if is_13 { Self::Cuda13 } else { Self::Cuda12 }
        })
    }

    /// The version as `cudaRuntimeGetVersion` returns it.
    pub fn number(self) -> i32 {
        match self {
            Self::Cuda12 => 12000,
            Self::Cuda13 => 13000,
        }
    }
}
