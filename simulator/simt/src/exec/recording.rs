//! The recording of one warp: which registers its last instruction changed.

use crate::steps::{Step, StepRecord, Values, Write};
use alu::registers::{Kind, Reg, Registers};
use ptx::finding::Location;
use ptx::program::Program;

/// The state of a recording: the registers as the last recorded instruction found them.
#[derive(Debug)]
pub struct Recording<'a> {
    record: &'a StepRecord,
    /// Instructions that the block may execute.
    fuel: u64,
    seen: Option<Registers>,
    /// The last instruction is recorded, and its effect is not.
    is_open: bool,
}

impl<'a> Recording<'a> {
    pub fn new(record: &'a StepRecord, fuel: u64) -> Self {
        Self { record, fuel, seen: None, is_open: false }
    }

    /// Returns true if it records this warp of the block.
    pub fn is_of(&self, warp: u32) -> bool {
        self.record.warp == warp
    }

    /// Records the next instruction, if wanted, and returns its number. `fuel` is what the block has left.
    pub fn begin(
        &mut self,
        program: &Program,
        registers: &Registers,
        location: impl FnOnce() -> Location,
        (lanes, fuel): (u32, u64),
    ) -> u64 {
        let mut recorded = self.record.lock();
        let number = recorded.executed;
        recorded.executed += 1;
        self.is_open = number >= self.record.first && recorded.steps.len() < self.record.limit;
        if self.is_open {
            if self.seen.is_none() {
                self.seen = Some(registers.clone());
                recorded.start = writes(program, |kind, register| Some(values(registers, kind, register))).collect();
            }
            let clock = self.fuel.saturating_sub(fuel);
            recorded.steps.push(Step { location: location(), lanes, clock, writes: Vec::new() });
        }
        number
    }

    /// Notes what the last instruction changed.
    pub fn finish(&mut self, program: &Program, registers: &Registers) {
        if let Some(seen) = self.seen.as_mut().filter(|_| self.is_open) {
            let mut recorded = self.record.lock();
            let Some(step) = recorded.steps.last_mut() else { return };
            for write in writes(program, |kind, register| changed(seen, registers, kind, register)) {
                // An instruction that the decoder splits changes some of them twice.
                step.writes.retain(|earlier| earlier.register != write.register);
                step.writes.push(write);
            }
        }
    }
}

/// Returns the registers of a program for which there are values.
fn writes(program: &Program, mut values: impl FnMut(Kind, Reg) -> Option<Values>) -> impl Iterator<Item = Write> {
    program
        .named_registers
        .iter()
        .flat_map(|(name, family)| family.registers().enumerate().map(move |register| (name, family, register)))
        .filter_map(move |(name, family, (number, register))| {
            let values = values(family.kind, register)?;
            Some(Write { register: family.name_of(name, number as u32), values })
        })
}

/// Returns the values of a register.
fn values(registers: &Registers, kind: Kind, register: Reg) -> Values {
    match kind {
        Kind::Predicate => Values::Predicate(registers.predicate(register)),
        Kind::Word => Values::Words(*registers.words(register)),
        Kind::Double => Values::Doubles(*registers.doubles(register)),
    }
}

/// Returns a register's values if they differ from `seen`, and updates `seen`.
fn changed(seen: &mut Registers, now: &Registers, kind: Kind, register: Reg) -> Option<Values> {
    let now = values(now, kind, register);
    if values(seen, kind, register) == now {
        return None;
    }
    match now {
        Values::Predicate(bits) => seen.set_predicate(register, u32::MAX, bits),
        Values::Words(words) => *seen.words_mut(register) = words,
        Values::Doubles(doubles) => *seen.doubles_mut(register) = doubles,
    }
    Some(now)
}
