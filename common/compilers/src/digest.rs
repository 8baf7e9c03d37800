//! The identity of a kernel: a digest of its stored PTX, which changes when the kernel's machine code may change, and not when a comment,
//! a line number or another kernel of the file does.
//!
//! A record names the kernels that each of its rows rests on with their digests, so that a row whose kernel has changed since can be
//! told from one that still holds. What is digested is the *stored* PTX, also of a run on a GPU for which NVRTC compiled the same source
//! for that very GPU: that text depends on the machine, and the stored one only on the source.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kernels::{Kernel, Source};
use ptx::LoadError;

use crate::stamp::sha256;

/// Returns the digest of each kernel of a PTX text, by name: SHA-256 of its canonical text ([`ptx::canonical`]).
/// Fails with [`LoadError::Syntax`] if the text is not PTX.
pub fn of_text(ptx: &str) -> Result<BTreeMap<String, String>, LoadError> {
    let module = ptx::parse(ptx)?;
    module.kernels().map(|kernel| Ok((kernel.name.to_owned(), sha256(&module.canonical(kernel.name)?)))).collect()
}

/// Returns the digests of a source's kernels, by name; empty while the source has no stored PTX.
pub fn of_source(source: &Source) -> BTreeMap<String, String> {
    /// Digests of the texts parsed so far. Parsing a large text takes milliseconds.
    static KNOWN: Mutex<BTreeMap<&str, BTreeMap<String, String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(source.path).or_insert_with(|| of_text(source.ptx).unwrap_or_default()).clone()
}

/// Returns the name of a source in records: that of its `.cu` without the extension, for example `03-unroll`.
pub fn stem(source: &Source) -> &'static str {
    let name = source.path.rsplit('/').next().unwrap_or(source.path);
    name.strip_suffix(".cu").unwrap_or(name)
}

/// Returns the name of a kernel in records: its source and its name, for example `03-unroll/shared`.
pub fn name(kernel: Kernel) -> String {
    format!("{}/{}", stem(kernel.source), kernel.name)
}

/// Returns the digest of a kernel; `None` while it has no stored PTX.
pub fn of(kernel: Kernel) -> Option<String> {
    of_source(kernel.source).remove(kernel.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_has_a_digest_of_its_own() {
        let mut seen = BTreeMap::new();
        for kernel in kernels::all() {
            let digest = of(kernel).unwrap_or_else(|| panic!("{} has no stored PTX", kernel.name));
            let twin = seen.insert(digest, name(kernel));
            assert_eq!(twin, None, "the same digest as {}", kernel.name);
        }
    }

    #[test]
    fn only_the_kernel_that_changes_gets_another_digest() {
        let source = &kernels::conv_shared::SOURCE;
        let before = of_text(source.ptx).unwrap();
        assert!(before.len() > 1);
        let (head, kernel) = source.ptx.split_once(".entry shared(").unwrap();
        let comment = format!("// a comment\n{head}.entry shared({kernel}\n// another\n");
        assert_eq!(of_text(&comment).unwrap(), before);
        let changed = format!("{head}.entry shared({}", kernel.replacen("fma.rn.f32", "fma.rz.f32", 1));
        let after = of_text(&changed).unwrap();
        let differ: Vec<&String> = before.iter().filter(|(name, digest)| after[*name] != **digest).map(|(name, _)| name).collect();
        assert_eq!(differ, ["shared"]);
    }
}
