//! Makes the text of a stored `.ptx`: the stamp, the register counts, and what the compiler writes, made the same on every machine.
//!
//! The compiler's text is edited by spans of its tree. The rest stays as the compiler wrote it, to the byte.

use std::ops::Range;

use kernels::Source;
use ptx::ast::Module;
use ptx::{edit, parse, to_line_end};

use crate::error::{Error, Result};
use crate::input::Input;
use crate::nvrtc::Nvrtc;
use crate::recipe::options;
use crate::registers;
use crate::stamp::stamp;

/// Makes the comments at the top of a source's `.ptx`: the stamp and the register counts. It compiles for several architectures.
/// `version` is the full version of `nvrtc` ([`Nvrtc::build`]).
pub fn head(nvrtc: &Nvrtc, version: &str, source: &Source) -> String {
    stamp(source, version) + &registers::comments(nvrtc, Input::of(source), source.architecture)
}

/// Makes the text below these comments. Fails with [`Error::Compile`], [`Error::Ptx`], or [`Error::AbsolutePath`].
pub fn body(nvrtc: &Nvrtc, source: &Source) -> Result<String> {
    let ptx = nvrtc.compile(Input::of(source), &options(source.architecture))?;
    same_on_every_machine(&ptx, source)
}

/// Returns the compiler's text without machine-dependent or needless parts.
fn same_on_every_machine(ptx: &str, source: &Source) -> Result<String> {
    let module = parse(ptx).map_err(|error| Error::Ptx { path: source.path, reason: error.to_string() })?;
    let mut edits = without_unused_constants(&module);
    for (_, file) in &module.files {
        let path = relative(file, source);
        if path.starts_with('/') || path.contains(":/") {
            return Err(Error::AbsolutePath { path: source.path, file: path });
        }
        edits.push((module.span_of(file), path));
    }
    Ok(edit(ptx, edits))
}

/// Removes module variables that are unused and not visible from outside. NVRTC 12.0 puts 38 constants of its own headers into every
/// module, and a reader would have to scroll past them.
fn without_unused_constants(module: &Module<'_>) -> Vec<(Range<usize>, String)> {
    module.unused_variables().map(|variable| (to_line_end(module.text, variable.span.clone()), String::new())).collect()
}

/// Returns a `.file` path relative to the root of the repository. NVRTC puts the folder that it runs in before names.
fn relative(file: &str, source: &Source) -> String {
    let headers = source.headers.iter().map(|header| (header.name, header.path));
    let mut known = headers.chain([(source.path, source.path)]);
    let file = file.replace('\\', "/");
    // The whole name: that of one header may be the end of another's.
    let is_called = |name: &str| file.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'));
    known.find(|(name, _)| is_called(name)).map_or(file.clone(), |(_, path)| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 8.0\n.target sm_50\n.address_size 64\n";

    fn made_the_same(ptx: &str) -> Result<String> {
        same_on_every_machine(ptx, &kernels::correlation::SOURCE)
    }

    #[test]
    fn only_hidden_variables_without_a_use_are_left_out() {
        let ptx = |unused: &str| {
            format!(
                "{HEAD}.global .align 4 .u32 USED = 8;\n.visible .global .align 4 .u32 SEEN;\n{unused}.visible .entry k()\n{{\n\
                 .reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.global.u32 %r1, [USED];\nmov.u64 %rd1, RUN_LENGTH;\nret;\n}}\n"
            )
        };
        let prefix_of_another = ".global .align 4 .b8 RUN[8] = {1, 0, 0, 0, 0, 0, 0, 0};\n";
        assert_eq!(made_the_same(&ptx(prefix_of_another)), Ok(ptx("")));
    }

    #[test]
    fn files_are_named_from_the_root_of_the_repository() {
        let (source, header) = ("kernels/cuda/04-correlation-sm-aware.cu", "kernels/cuda/04-correlation.cuh");
        let ptx = |file: &str| format!("{HEAD}\t.file\t1 \"{file}\"\n");
        for (absolute, relative) in [
            ("/home/someone/kernels/cuda/04-correlation-sm-aware.cu", source),
            ("C:\\src\\kernels\\cuda\\04-correlation-sm-aware.cu", source),
            (source, source),
            ("/home/someone/04-correlation.cuh", header),
        ] {
            assert_eq!(made_the_same(&ptx(absolute)), Ok(ptx(relative)));
        }
        for unknown in ["/usr/include/math.h", "C:\\include\\math.h"] {
            assert!(matches!(made_the_same(&ptx(unknown)), Err(Error::AbsolutePath { .. })), "{unknown}");
        }
    }
}
