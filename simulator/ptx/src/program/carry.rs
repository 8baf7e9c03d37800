//! Arithmetic with the carry flag: `add.cc`, `addc`, and the same for `sub` and `mad`.
//!
//! The flag is a predicate of its own. An instruction becomes two rows of the table: one computes the sum and one the carry. Both
//! read the flag before it is written.

use super::decode::Decoder;
use super::fixed::{CARRY, FALSE, TRUE};
use crate::error::LoadError;
use crate::syntax::ast;

impl<'t> Decoder<'_, 't> {
    /// Decodes an instruction with the carry flag.
    pub(super) fn carry(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let opcode = instruction.opcode;
        let row = self.row(opcode)?;
        let [destination, operands @ ..] = instruction.operands.as_slice() else { return Err(self.unfit()) };
        // The last source is the flag.
        let [kinds @ .., _] = row.sources else { return Err(self.unfit()) };
        let destination = self.destination(destination, row.destination)?;
        let mut sources = self.sources(operands, kinds)?;
        sources.push(match instruction.root() {
            "addc" | "subc" | "madc" => CARRY,
            // Without a borrow, which is the complement of a carry.
            "sub" => TRUE,
            _ => FALSE,
        });
        match alu::lookup(&format!("carry of {opcode}")) {
            None => self.alu(row.alu, destination, &sources),
            Some(carry) => {
                let flag = self.temporary_predicate();
                self.alu(carry.alu, flag, &sources);
                self.alu(row.alu, destination, &sources);
                self.alu(alu::Alu::MovPred, CARRY, &[flag]);
            }
        }
        Ok(())
    }
}
