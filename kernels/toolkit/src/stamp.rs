//! What stands at the top of a stored `.ptx`, so that a test can tell whether it still belongs to its source; and how the
//! text below it is made the same on every machine. Between the two stand the comments of [`crate::registers`].

use std::fmt;

use sha2::{Digest, Sha256};
use thiserror::Error;

use kernels::Source;

use crate::nvrtc::{CompileError, Input, Nvrtc};
use crate::options::options;
use crate::registers;

/// The first lines of a stored `.ptx`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Path of the CUDA C file from the root of the repository.
    pub source: String,
    /// SHA-256 of that file.
    pub sha256: String,
    /// Name and version of the compiler.
    pub compiler: String,
    /// Options that it was given.
    pub options: String,
}

impl Stamp {
    /// The stamp that a `.ptx` of this source must carry now, if `version` of NVRTC makes it.
    pub fn of(source: &Source, version: &str) -> Stamp {
        Stamp {
            source: source.path(),
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

/// Why a `.ptx` could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GenerateError {
    /// The CUDA C does not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The PTX would differ between machines.
    #[error("the PTX of {path} names a file by an absolute path, which differs between machines: {line}")]
    AbsolutePath {
        /// Path of the CUDA C file.
        path: String,
        /// The line of PTX.
        line: String,
    },
}

/// Makes the whole text of a source's `.ptx`. `version` is that of `nvrtc`, in full.
///
/// # Errors
///
/// See [`GenerateError`].
pub fn generate(nvrtc: &Nvrtc, version: &str, source: &Source) -> Result<String, GenerateError> {
    let path = source.path();
    let input = Input::of(source, &path);
    let ptx = nvrtc.compile(input, &options(source.architecture))?;
    let body = relative_files(&without_unused_constants(&ptx), source);
    let is_absolute = |line: &&str| line.trim_start().starts_with(".file") && (line.contains("\"/") || line.contains(":/"));
    if let Some(line) = body.lines().find(is_absolute) {
        return Err(GenerateError::AbsolutePath { path, line: line.trim().to_owned() });
    }
    let registers = registers::comments(nvrtc, input, source.architecture);
    Ok(format!("{}{registers}{body}", Stamp::of(source, version)))
}

/// SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of the CUDA C of several sources, one after the other, each after its headers.
pub fn sha256_of(sources: &[&Source]) -> String {
    let texts = sources.iter().flat_map(|source| source.headers.iter().map(|header| header.text).chain([source.cuda]));
    sha256(&texts.collect::<String>())
}

/// Leaves out module variables that nothing refers to and nothing outside can see: NVRTC 12.0 puts 38 constants of its own
/// headers into every module, and a reader would have to scroll past them.
fn without_unused_constants(ptx: &str) -> String {
    let is_unused = |line: &str| {
        // Only `.visible` variables can be found by the host.
        let Some(declaration) = line.strip_prefix(".global ") else { return false };
        let declared = declaration.split([' ', '=', '[', ';']).find(|word| !word.is_empty() && is_name(word));
        declared.is_some_and(|name| count_names(ptx, name) == 1)
    };
    ptx.split_inclusive('\n').filter(|line| !is_unused(line)).collect()
}

/// Whether a word of a declaration is the name and not a directive or the number behind `.align`.
fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$' | '%'))
}

/// How often a name stands in a text as a whole word.
fn count_names(text: &str, name: &str) -> usize {
    let continues = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '$');
    text.match_indices(name)
        .filter(|(at, _)| !text[..*at].ends_with(continues) && !text[at + name.len()..].starts_with(continues))
        .count()
}

/// Writes the files of `.file` lines as paths from the root of the repository: NVRTC puts the folder that it happens to run in before the
/// names that it was given.
fn relative_files(ptx: &str, source: &Source) -> String {
    let headers = source.headers.iter().map(|header| (header.name.to_owned(), header.path()));
    let known: Vec<(String, String)> = headers.chain([(source.path(), source.path())]).collect();
    let rewrite = |line: &str| match line.split_once('"') {
        Some((directive, file)) if directive.trim_start().starts_with(".file") => {
            let file = file.trim_end().trim_end_matches('"').replace('\\', "/");
            let relative = known.iter().find(|(name, _)| file.ends_with(name)).map_or(&file, |(_, path)| path);
            format!("{directive}\"{relative}\"\n")
        }
        _ => line.to_owned(),
    };
    ptx.split_inclusive('\n').map(rewrite).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pinned::PINNED_VERSION;

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

    #[test]
    fn only_hidden_variables_without_a_use_are_left_out() {
        let used = ".global .align 4 .u32 USED = 8;\nld.global.u32 %r1, [USED];\n";
        let visible = ".visible .global .align 4 .u32 SEEN;\n";
        let prefix_of_another = ".global .align 4 .b8 RUN[8] = {1, 0, 0, 0, 0, 0, 0, 0};\nmov.u64 %rd1, RUN_LENGTH;\n";
        let ptx = format!("{used}{visible}{prefix_of_another}");
        assert_eq!(without_unused_constants(&ptx), format!("{used}{visible}mov.u64 %rd1, RUN_LENGTH;\n"));
    }

    #[test]
    fn file_lines_name_the_source_from_the_root_of_the_repository() {
        let (source, header) = ("kernels/cuda/04-correlation-sm-aware.cu", "kernels/cuda/04-correlation.cuh");
        for (absolute, relative) in [
            ("/home/someone/kernels/cuda/04-correlation-sm-aware.cu", source),
            ("C:\\src\\kernels\\cuda\\04-correlation-sm-aware.cu", source),
            (source, source),
            ("/home/someone/04-correlation.cuh", header),
        ] {
            let ptx = |file: &str| format!("\t.file\t1 \"{file}\"\nret;\n");
            assert_eq!(relative_files(&ptx(absolute), &kernels::correlation::SOURCE), ptx(relative));
        }
    }
}
