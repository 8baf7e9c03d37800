//! The stamp of a stored `.ptx`: comments in its first lines that say what it was made from, so that a test can tell whether it still
//! belongs to its source. The comments of [`crate::registers`] follow it.

use std::fmt;

use sha2::{Digest, Sha256};

use kernels::Source;

use crate::recipe::options;

/// The first lines of a stored `.ptx`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Path of the CUDA C file from the root of the repository.
    pub source: String,
    /// SHA-256 of that file.
    pub sha256: String,
    /// Name and version of the compiler.
    pub compiler: String,
    /// The compiler's options.
    pub options: String,
}

impl Stamp {
    /// The stamp of a `.ptx` that this `version` of NVRTC makes from the source as it is now.
    pub fn of(source: &Source, version: &str) -> Stamp {
        Stamp {
            source: source.path.to_owned(),
            sha256: sha256_of(&[source]),
            compiler: format!("NVRTC {version}"),
            options: options(source.architecture).join(" "),
        }
    }

    /// Reads the stamp of a stored `.ptx`; `None` when it has none.
    pub fn read(ptx: &str) -> Option<Stamp> {
        let mut lines = ptx.lines();
        let mut field = |name: &str| Some(lines.next()?.strip_prefix("// ")?.strip_prefix(name)?.strip_prefix(": ")?.to_owned());
        Some(Stamp { source: field("source")?, sha256: field("sha256")?, compiler: field("compiler")?, options: field("options")? })
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stamp { source, sha256, compiler, options } = self;
        writeln!(f, "// source: {source}")?;
        writeln!(f, "// sha256: {sha256}")?;
        writeln!(f, "// compiler: {compiler}")?;
        writeln!(f, "// options: {options}")
    }
}

/// SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of the CUDA C of several sources, one after the other, each preceded by its headers.
pub fn sha256_of(sources: &[&Source]) -> String {
    let texts = sources.iter().flat_map(|source| source.headers.iter().map(|header| header.text).chain([source.cuda]));
    sha256(&texts.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::PINNED_VERSION;

    #[test]
    fn a_stamp_reads_back_as_it_was_written() {
        let stamp = Stamp::of(&kernels::conv_naive::SOURCE, PINNED_VERSION);
        assert_eq!(Stamp::read(&format!("{stamp}.version 8.0\n")), Some(stamp));
        assert_eq!(Stamp::read(".version 8.0\n"), None);
    }

    #[test]
    fn the_hash_is_sha256() {
        // The standard's own example.
        assert_eq!(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
