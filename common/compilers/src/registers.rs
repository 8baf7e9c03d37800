//! Registers per thread of each kernel, which limit how many blocks fit on a multiprocessor.
//!
//! PTX does not say how many: registers are assigned when PTX becomes machine code. So the compiler makes machine code too, for each
//! architecture that the simulator has a profile of, and the numbers go into the stored PTX, as comments before its first directive
//! ([`register_counts`]).
//!
//! To every other reader of PTX this is a comment. The simulated driver reads it when it loads the module, so the numbers are there for any
//! program and for PTX from anywhere, without a second file that could be lost or out of date.

use std::collections::BTreeMap;

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::ElfFile;
use object::read::{Object, ObjectSection, ObjectSymbol, SymbolIndex};
use ptx::register_counts;

use crate::error::{Error, Result};
use crate::input::Input;
use crate::nvrtc::Nvrtc;
use crate::recipe::{OWN_INSTRUCTIONS, options};
use crate::versions::COUNTED_ARCHITECTURES;

/// Attribute of `.nv.info` that holds a kernel's registers. Its form is a value preceded by its length.
const REGISTER_COUNT: u8 = 0x2f;
const SIZED_VALUE: u8 = 4;

/// Makes the comments for a source: one line for each architecture from `architecture` (virtual) on that this compiler supports.
///
/// An architecture for which the source does not compile has no line; its registers are then unknown.
pub fn comments(nvrtc: &Nvrtc, input: Input<'_>, architecture: &str) -> String {
    let oldest = architecture.trim_start_matches("compute_");
    // PTX for `compute_90a` runs on 9.0 and nowhere else.
    let only = oldest.strip_suffix(OWN_INSTRUCTIONS);
    let oldest: u32 = only.unwrap_or(oldest).parse().unwrap_or(0);
    let known = nvrtc.architectures();
    let fits = |target: u32| if only.is_some() { target == oldest } else { target >= oldest };
    let mut comments = String::new();
    for target in COUNTED_ARCHITECTURES.into_iter().filter(|target| fits(*target) && known.contains(target)) {
        let suffix = only.map_or(String::new(), |_| OWN_INSTRUCTIONS.to_string());
        let cubin = nvrtc.compile_to_cubin(input, &options(&format!("sm_{target}{suffix}")));
        if let Some(counts) = cubin.ok().and_then(|cubin| of_cubin(&cubin).ok()) {
            comments += &register_counts::comment(target, &counts);
        }
    }
    comments
}

/// Reads the registers per thread of each kernel of a cubin.
///
/// A cubin is an ELF file. Its section `.nv.info` is a list of attributes: a byte for the form, a byte for the attribute, and two bytes for
/// a value or for the length of the value that follows. The value of the register count is a symbol's index and the count. (NVIDIA does
/// not document this layout. Tools such as CuAssembler read it this way, and the counts are those that `ptxas -v` prints.)
/// Fails with [`Error::MachineCode`] if it is no such file.
pub fn of_cubin(cubin: &[u8]) -> Result<BTreeMap<String, u32>> {
    let wrong = |what: &str| Error::MachineCode(what.to_owned());
    let unreadable = |error: object::read::Error| Error::MachineCode(error.to_string());
    let elf: ElfFile<'_, FileHeader64<Endianness>> = ElfFile::parse(cubin).map_err(unreadable)?;
    let info = elf.section_by_name(".nv.info").ok_or_else(|| wrong("it has no section .nv.info"))?;
    let mut rest = info.data().map_err(unreadable)?;
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
        let name = symbol.and_then(|symbol| symbol.name().map(str::to_owned)).map_err(unreadable)?;
        counts.insert(name, u32::from_le_bytes(count));
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_cubin_is_refused() {
        assert!(of_cubin(b"").is_err());
        assert!(of_cubin(b"\x7fELF and no more").is_err());
    }
}
