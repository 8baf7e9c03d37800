//! Registers per thread of each kernel, which decide how many blocks fit on a multiprocessor.
//!
//! PTX does not say: registers are given out when it becomes machine code. So the compiler makes machine code too, for each
//! architecture that the simulator has a profile of, and the numbers are written into the PTX as comments in front of its first
//! directive, one line per architecture:
//!
//! ```text
//! // registers sm_90: naive 30, naive_strided 40
//! ```
//!
//! To every other reader of PTX that is a comment. The simulator reads it when it loads the module, whoever wrote it.

use std::collections::BTreeMap;
use std::fmt::Write;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::read::{Object, ObjectSection, ObjectSymbol, SymbolIndex};
use thiserror::Error;

use crate::nvrtc::{CompileError, Input, Nvrtc};
use crate::options::options;

/// The architectures for which registers are counted: those of the simulated GPUs that a compiler of today still knows.
pub const ARCHITECTURES: [u32; 4] = [75, 80, 89, 90];

/// The attribute of `.nv.info` that tells the registers of a kernel, and the form that it has there: a value of a length that is given.
const REGISTER_COUNT: u8 = 0x2f;
const SIZED_VALUE: u8 = 4;

/// Machine code that is not what NVIDIA's compilers make.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the machine code is not understood: {0}")]
pub struct NotUnderstood(String);

/// Compiles CUDA C to PTX with the comments in front, for the simulator: what [`Nvrtc::compile`] makes, and how many registers it will
/// take. `architecture` is virtual (`compute_75`).
///
/// # Errors
///
/// With the compiler's messages.
pub fn compile(nvrtc: &Nvrtc, input: Input<'_>, architecture: &str) -> Result<String, CompileError> {
    let ptx = nvrtc.compile(input, &options(architecture))?;
    Ok(comments(nvrtc, input, architecture) + &ptx)
}

/// The comments for a source, one line per architecture that is not older than `architecture` (virtual) and that this compiler makes
/// code for. An architecture for which the source does not compile has no line; its registers are then unknown.
pub fn comments(nvrtc: &Nvrtc, input: Input<'_>, architecture: &str) -> String {
    let oldest: u32 = architecture.trim_start_matches("compute_").parse().unwrap_or(0);
    let known = nvrtc.architectures();
    let mut comments = String::new();
    for target in ARCHITECTURES.into_iter().filter(|target| *target >= oldest && known.contains(target)) {
        let cubin = nvrtc.compile_to_cubin(input, &options(&format!("sm_{target}")));
        if let Some(counts) = cubin.ok().and_then(|cubin| of_cubin(&cubin).ok()) {
            comments += &comment(target, &counts);
        }
    }
    comments
}

/// The comment for one architecture; empty when there is no kernel.
fn comment(target: u32, counts: &BTreeMap<String, u32>) -> String {
    let mut line = String::new();
    for (kernel, count) in counts {
        let separator = if line.is_empty() { "" } else { ", " };
        // A String takes all that is written to it.
        let _ = write!(line, "{separator}{kernel} {count}");
    }
    if line.is_empty() { line } else { format!("// registers sm_{target}: {line}\n") }
}

/// Registers per thread of each kernel of a cubin.
///
/// A cubin is an ELF file. Its section `.nv.info` is a list of attributes: a byte for the form, a byte for the attribute, two bytes for a
/// value or for the length of the value that follows. The register count's value is the number of a symbol, and the count. (The layout
/// is not documented by NVIDIA; it is what binary tools such as CuAssembler read, and the counts are those that `ptxas -v` prints.)
///
/// # Errors
///
/// When it is no such file.
pub fn of_cubin(cubin: &[u8]) -> Result<BTreeMap<String, u32>, NotUnderstood> {
    let wrong = |what: &str| NotUnderstood(what.to_owned());
    let elf: ElfFile<'_, FileHeader64<Endianness>> = ElfFile::parse(cubin).map_err(|error| NotUnderstood(error.to_string()))?;
    let info = elf.section_by_name(".nv.info").ok_or_else(|| wrong("it has no section .nv.info"))?;
    let mut rest = info.data().map_err(|error| NotUnderstood(error.to_string()))?;
    let mut counts = BTreeMap::new();
    while let [form, attribute, low, high, after @ ..] = rest {
        rest = after;
        if *form != SIZED_VALUE {
            continue;
        }
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let (value, after) = rest.split_at_checked(length).ok_or_else(|| wrong("an attribute is cut off"))?;
        rest = after;
        if *attribute != REGISTER_COUNT {
            continue;
        }
        let Some((&symbol, &count)) = value.first_chunk().zip(value.last_chunk()).filter(|_| value.len() == 8) else {
            return Err(wrong("a register count is not two words"));
        };
        let symbol = elf.symbol_by_index(SymbolIndex(u32::from_le_bytes(symbol) as usize));
        let name = symbol.and_then(|symbol| symbol.name().map(str::to_owned)).map_err(|error| NotUnderstood(error.to_string()))?;
        counts.insert(name, u32::from_le_bytes(count));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_lists_the_kernels_in_order() {
        let counts = BTreeMap::from([("b".to_owned(), 40), ("a".to_owned(), 9)]);
        assert_eq!(comment(90, &counts), "// registers sm_90: a 9, b 40\n");
        assert_eq!(comment(90, &BTreeMap::new()), "");
    }

    #[test]
    fn what_is_no_cubin_is_refused() {
        assert!(of_cubin(b"").is_err());
        assert!(of_cubin(b"\x7fELF and no more").is_err());
    }
}
