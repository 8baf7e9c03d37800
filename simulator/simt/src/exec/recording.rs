//! The recording of one warp: which registers its last instruction changed.

use crate::program::Program;
use crate::registers::{Kind, LANES, Reg, Registers};
use crate::steps::{StepRecord, Values, Write};

/// The state of a recording: the registers as the last instruction found them.
#[derive(Debug)]
pub struct Recording<'a> {
    pub record: &'a StepRecord,
    seen: Option<Registers>,
}

impl<'a> Recording<'a> {
    pub fn new(record: &'a StepRecord) -> Self {
        Self { record, seen: None }
    }

    /// Whether it records this warp of the block.
    pub fn is_of(&self, warp: u32) -> bool {
        self.record.warp == warp
    }

    /// Notes what the last instruction changed.
    pub fn finish(&mut self, program: &Program, registers: &Registers) {
        let Some(seen) = &mut self.seen else {
            self.seen = Some(registers.clone());
            return;
        };
        for named in &program.named_registers {
            for (number, register) in named.registers().enumerate() {
                if let Some(values) = changed(seen, registers, named.kind, register) {
                    self.record.note(Write { register: named.name_of(number as u32), values });
                }
            }
        }
    }
}

/// The values of a register if they differ from those seen before, which are replaced by them.
fn changed(seen: &mut Registers, now: &Registers, kind: Kind, register: Reg) -> Option<Values> {
    match kind {
        Kind::Predicate => {
            let bits = now.predicate(register);
            let differs = seen.predicate(register) != bits;
            seen.set_predicate(register, u32::MAX, bits);
            differs.then_some(Values::Predicate(bits))
        }
        Kind::Word => {
            let words: [u32; LANES] = *now.words(register);
            let differs = *seen.words(register) != words;
            *seen.words_mut(register) = words;
            differs.then_some(Values::Words(words))
        }
        Kind::Double => {
            let doubles: [u64; LANES] = *now.doubles(register);
            let differs = *seen.doubles(register) != doubles;
            *seen.doubles_mut(register) = doubles;
            differs.then_some(Values::Doubles(doubles))
        }
    }
}
