//! The lists that a new version of a compiler or a library makes longer. `tests/house/src/versions.rs` says what to do then.

use std::ops::RangeInclusive;

/// Numbers that end library file names (toolkits 11 to 13), newest first.
///
/// NVRTC 11 is `.so.11.2`, and cuFFT is one behind.
pub const LIBRARY_NUMBERS: &[&str] =
    if cfg!(windows) { &["130_0", "120_0", "112_0", "13", "12", "11", "10"] } else { &["13", "12", "11.2", "11", "10"] };
/// Library folders under the root of a toolkit or conda environment.
pub const TOOLKIT_FOLDERS: [&str; 5] = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "bin"];
/// Folders of the libraries of CUDA 13 among Python's packages. Until CUDA 12, each library had a folder of its own.
pub const PACKAGE_FOLDERS: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cu13/bin/x86_64"];
/// Suffix of the Python packages that we ask people to install.
pub const PACKAGE_SUFFIX: &str = "cu12";

/// The oldest clang that compiles our header.
pub const OLDEST_CLANG: u32 = 18;
/// Numbers in the names of clangs of Linux distributions.
pub const CLANG_NUMBERS: RangeInclusive<u32> = OLDEST_CLANG..=40;
/// The newest architecture for which we ask clang for PTX 8.0. NVRTC 12.0 writes it, too. For newer ones, clang chooses a version.
pub const LAST_OF_PTX_8_0: u32 = 90;

/// The architectures for which registers are counted: those of the simulated GPUs that current compilers still know.
pub const COUNTED_ARCHITECTURES: [u32; 4] = [75, 80, 89, 90];
