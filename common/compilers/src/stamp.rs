//! The stamp of a stored `.ptx`: comments in its first lines that say what it was made from, so that a test can tell whether it still
//! belongs to its source. The comments of [`crate::registers`] follow it.

use kernels::Source;
use sha2::{Digest, Sha256};

use crate::recipe::options;

/// Returns the `.ptx` stamp for this source and `version` of NVRTC.
pub fn stamp(source: &Source, version: &str) -> String {
    let (path, sha256, options) = (source.path, sha256_of(source), options(source.architecture).join(" "));
    format!("// source: {path}\n// sha256: {sha256}\n// compiler: NVRTC {version}\n// options: {options}\n")
}

/// Returns the SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of a source's headers followed by its CUDA C.
fn sha256_of(source: &Source) -> String {
    sha256(&source.headers.iter().map(|header| header.text).chain([source.cuda]).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::PINNED_VERSION;

    #[test]
    fn a_stamp_names_the_source_its_hash_the_compiler_and_its_options() {
        let expected = format!(
            "// source: kernels/cuda/01-conv-naive.cu\n// sha256: {}\n// compiler: NVRTC 12.0.140\n\
             // options: --gpu-architecture=compute_50 -lineinfo --std=c++17\n",
            sha256(kernels::conv_naive::SOURCE.cuda)
        );
        assert_eq!(stamp(&kernels::conv_naive::SOURCE, PINNED_VERSION), expected);
    }

    #[test]
    fn the_hash_is_sha256() {
        // The standard's own example.
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
