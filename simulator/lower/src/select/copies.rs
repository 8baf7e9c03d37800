//! `memcpy`, `memmove`, and `memset` of a few bytes.

use super::memory::memory_type;
use super::prelude::*;

/// Most bytes that are copied without a loop. Kernels copy structures of parameters; a loop over a large array is left to the
/// program.
const MOST_BYTES: u64 = 4096;

impl Selector<'_> {
    pub fn copy_memory(&mut self, name: &str, args: &[Arg]) -> Result<Vec<Part>> {
        let [to, from, length, ..] = args else { return self.fail(format!("llvm.{name} with other arguments than it has")) };
        let Some(bytes) = self.known(&length.value).filter(|bytes| *bytes <= MOST_BYTES) else {
            return self.fail(format!("{name} of more than {MOST_BYTES} bytes, or of a number that is not constant"));
        };
        if name == "memset" {
            return self.fill(to, &from.value, bytes);
        }
        let source = self.memory_operand(&from.value)?;
        let target = self.memory_operand(&to.value)?;
        let align = to.align.min(from.align);
        let mut loaded = Vec::new();
        for (offset, width) in steps(bytes, align) {
            let class = if width == 8 { Class::B64 } else { Class::B32 };
            let opcode = format!("ld{}.{}", source.space.suffix(), ty(width));
            loaded.push((self.one(opcode, class, vec![source.at(offset)]), offset, width));
        }
        // All loads first, so that the two may overlap.
        for (reg, offset, width) in loaded {
            self.effect(format!("st{}.{}", target.space.suffix(), ty(width)), ops![target.at(offset), reg]);
        }
        Ok(Vec::new())
    }

    fn fill(&mut self, to: &Arg, value: &Value, bytes: u64) -> Result<Vec<Part>> {
        let known = self.known(value);
        let target = self.memory_operand(&to.value)?;
        // A byte that is known only when the kernel runs, in all bytes of a word.
        let word = match known {
            Some(_) => None,
            None => {
                let part = self.part(value)?;
                let byte = self.extended(&part, 8, Ext::Zero)?;
                Some(self.b32("mul.lo.s32", ops![byte, 0x0101_0101]))
            }
        };
        for (offset, width) in steps(bytes, if word.is_some() { to.align.min(4) } else { to.align }) {
            let pattern = (known.unwrap_or(0) & 0xff).wrapping_mul(0x0101_0101_0101_0101);
            let value = match word {
                Some(word) => word.into(),
                None if width == 8 => self.register(&Part::Bits(pattern), Scalar::Int(64))?.into(),
                None => signed_bits(pattern, width as u32 * 8).into(),
            };
            self.effect(format!("st{}.{}", target.space.suffix(), ty(width)), vec![target.at(offset), value]);
        }
        Ok(Vec::new())
    }
}

/// Returns the type of an access.
fn ty(width: u64) -> &'static str {
    memory_type(Scalar::Int(width as u32 * 8), false)
}

/// Offsets and widths of the accesses.
fn steps(bytes: u64, align: u64) -> Vec<(u64, u64)> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < bytes {
        let width = [8, 4, 2, 1].into_iter().find(|width| at + width <= bytes && align >= *width).unwrap_or(1);
        steps.push((at, width));
        at += width;
    }
    steps
}
