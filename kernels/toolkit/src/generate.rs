//! Makes the text of a stored `.ptx`: the stamp, the register counts, and what the compiler writes, made the same on every machine.
//!
//! The compiler's text is edited line by line, which is all that this needs: unused constants are whole lines, and so are `.file`s. The
//! rest has to stay as the compiler wrote it, to the byte.

use kernels::Source;

use crate::error::{Error, Result};
use crate::nvrtc::{Input, Nvrtc};
use crate::recipe::options;
use crate::registers;
use crate::stamp::Stamp;

/// Makes the whole text of a source's `.ptx`. `version` is the full version of `nvrtc` ([`Nvrtc::build`]).
///
/// # Errors
///
/// [`Error::Compile`], [`Error::AbsolutePath`]
pub fn generate(nvrtc: &Nvrtc, version: &str, source: &Source) -> Result<String> {
    let body = body(nvrtc, source)?;
    Ok(head(nvrtc, version, source) + &body)
}

/// The comments at the top of a source's `.ptx`: the stamp and the register counts. It compiles for several architectures.
pub fn head(nvrtc: &Nvrtc, version: &str, source: &Source) -> String {
    format!("{}{}", Stamp::of(source, version), registers::comments(nvrtc, Input::of(source), source.architecture))
}

/// The text below these comments: what the compiler writes, made the same on every machine.
///
/// # Errors
///
/// [`Error::Compile`], [`Error::AbsolutePath`]
pub fn body(nvrtc: &Nvrtc, source: &Source) -> Result<String> {
    let ptx = nvrtc.compile(Input::of(source), &options(source.architecture))?;
    let body = relative_files(&without_unused_constants(&ptx), source);
    let is_absolute = |line: &&str| line.trim_start().starts_with(".file") && (line.contains("\"/") || line.contains(":/"));
    if let Some(line) = body.lines().find(is_absolute) {
        return Err(Error::AbsolutePath { path: source.path, line: line.trim().to_owned() });
    }
    Ok(body)
}

/// Leaves out module variables that nothing refers to and that are not visible from outside. NVRTC 12.0 puts 38 constants of its own
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

/// Whether a word of a declaration is the name, and not a directive or the number after `.align`.
fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$' | '%'))
}

/// How often a name occurs in a text as a whole word.
fn count_names(text: &str, name: &str) -> usize {
    let continues = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '$');
    text.match_indices(name)
        .filter(|(at, _)| !text[..*at].ends_with(continues) && !text[at + name.len()..].starts_with(continues))
        .count()
}

/// Writes the files of `.file` lines as paths from the root of the repository. NVRTC puts the folder that it runs in before the names that
/// it was given.
fn relative_files(ptx: &str, source: &Source) -> String {
    let headers = source.headers.iter().map(|header| (header.name, header.path));
    let known: Vec<(&str, &str)> = headers.chain([(source.path, source.path)]).collect();
    let rewrite = |line: &str| match line.split_once('"') {
        Some((directive, file)) if directive.trim_start().starts_with(".file") => {
            let file = file.trim_end().trim_end_matches('"').replace('\\', "/");
            let relative = known.iter().find(|(name, _)| file.ends_with(name)).map_or(file.as_str(), |(_, path)| path);
            format!("{directive}\"{relative}\"\n")
        }
        _ => line.to_owned(),
    };
    ptx.split_inclusive('\n').map(rewrite).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
