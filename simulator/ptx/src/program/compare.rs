//! Comparisons: `setp` into predicates, `set` into registers, of one value or of the two halves of a word.
//!
//! The table has the comparisons of two values. The longer forms of PTX are composed of these here.

use super::code::ConstantValue;
use super::decode::Decoder;
use super::fixed::{FALSE, TRUE};
use crate::error::LoadError;
use crate::syntax::ast::{self, Operand};
use alu::registers::{Kind, Reg};
use alu::{Alu, Row};

/// The parts of a comparison.
struct Comparison<'i, 't> {
    row: &'static Row,
    /// The type of the result of `set`.
    to: &'i str,
    /// The sources are f16 or bf16, or pairs of these.
    of_halves: bool,
    /// The two halves of a word are compared separately.
    is_pair: bool,
    /// The result is combined with a predicate.
    combine: Option<(Alu, &'i Operand<'t>)>,
    destination: &'i Operand<'t>,
    sources: &'i [Operand<'t>],
}

impl<'m, 't> Decoder<'m, 't> {
    /// `setp`, with a second destination and a predicate to combine with. The second destination is the complement; in a comparison
    /// of halves, it is the result of the upper half.
    pub(super) fn compare(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let comparison = self.comparison(instruction)?;
        let (first, second) = match comparison.destination {
            Operand::Pair(first, second) => (
                self.destination(&Operand::Name(first), Kind::Predicate)?,
                Some(self.destination(&Operand::Name(second), Kind::Predicate)?),
            ),
            destination => (self.destination(destination, Kind::Predicate)?, None),
        };
        if comparison.is_pair {
            let second = second.ok_or_else(|| self.unfit())?;
            // The destinations may be sources of the combination too.
            let results = self.compare_halves(&comparison)?;
            self.move_results([(first, results[0]), (second, results[1])]);
            return Ok(());
        }
        let sources = self.sources(comparison.sources, comparison.row.sources)?;
        if second.is_none() && comparison.combine.is_none() {
            self.alu(comparison.row.alu, first, &sources);
            return Ok(());
        }
        let result = self.temporary_predicate();
        let complement = self.temporary_predicate();
        self.alu(comparison.row.alu, result, &sources);
        self.alu(Alu::NotPred, complement, &[result]);
        for part in [result, complement] {
            self.combine(&comparison, part)?;
        }
        match second {
            Some(second) => self.move_results([(first, result), (second, complement)]),
            None => self.alu(Alu::MovPred, first, &[result]),
        }
        Ok(())
    }

    /// `lop3.or.b32 d|p, a, b, c, table, q`: a predicate too, whether the result is not zero, combined with another predicate.
    pub(super) fn lookup_and_test(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let combine = match instruction.opcode {
            "lop3.or.b32" => Alu::OrPred,
            "lop3.and.b32" => Alu::AndPred,
            _ => return Err(self.unknown()),
        };
        let [Operand::Pair(result, test), sources @ .., with] = instruction.operands.as_slice() else {
            return Err(self.unfit());
        };
        let sources = self.sources(sources, &[Kind::Word; 4])?;
        let with = self.source(with, Kind::Predicate)?;
        let (value, is_set) = (self.take_rows(Kind::Word), self.temporary_predicate());
        let zero = self.constant(ConstantValue::Bits(0), Kind::Word);
        self.alu(Alu::Lop3, value, &sources);
        self.alu(Alu::SetpNe32, is_set, &[value, zero]);
        self.alu(combine, is_set, &[is_set, with]);
        let result = self.destination(&Operand::Name(result), Kind::Word)?;
        self.alu(Alu::Mov32, result, &[value]);
        let test = self.destination(&Operand::Name(test), Kind::Predicate)?;
        self.alu(Alu::MovPred, test, &[is_set]);
        Ok(())
    }

    /// Moves two results to their destinations. A destination that guards the instruction itself comes last, because it changes the
    /// guard of whatever follows.
    fn move_results(&mut self, mut moves: [(Reg, Reg); 2]) {
        moves.sort_by_key(|(destination, _)| *destination == self.guard.0);
        for (destination, result) in moves {
            self.alu(Alu::MovPred, destination, &[result]);
        }
    }

    /// `set`: the result as a number, all ones or 1.0 for true.
    pub(super) fn compare_into_register(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let comparison = self.comparison(instruction)?;
        let destination = self.destination(comparison.destination, Kind::Word)?;
        let half = comparison.of_halves;
        let yes = match comparison.to {
            "u32" | "s32" if comparison.is_pair => 0xffff,
            "u32" | "s32" => 0xffff_ffff,
            "u16" | "s16" if half && !comparison.is_pair => 0xffff,
            "f32" if !half => f32::to_bits(1.0),
            "f16" | "f16x2" => 0x3c00,
            "bf16" | "bf16x2" => 0x3f80,
            _ => return Err(self.unknown()),
        };
        let yes = self.constant(ConstantValue::Bits(yes.into()), Kind::Word);
        let no = self.constant(ConstantValue::Bits(0), Kind::Word);
        if comparison.is_pair {
            let results = self.compare_halves(&comparison)?;
            let halves = [self.take_rows(Kind::Word), self.take_rows(Kind::Word)];
            for (half, result) in halves.into_iter().zip(results) {
                self.alu(Alu::Selp32, half, &[yes, no, result]);
            }
            self.alu(Alu::Pack32, destination, &halves);
        } else {
            let sources = self.sources(comparison.sources, comparison.row.sources)?;
            let result = self.temporary_predicate();
            self.alu(comparison.row.alu, result, &sources);
            self.combine(&comparison, result)?;
            self.alu(Alu::Selp32, destination, &[yes, no, result]);
        }
        Ok(())
    }

    /// Parses an opcode, whose modifiers may come in any order. `set` has two types.
    fn comparison<'i>(&self, instruction: &'i ast::Instruction<'t>) -> Result<Comparison<'i, 't>, LoadError> {
        let unsupported = || self.unknown();
        let (mut combine, mut types, mut others) = (None, Vec::new(), Vec::new());
        for part in instruction.opcode.split('.').skip(1) {
            match part {
                "and" => combine = Some(Alu::AndPred),
                "or" => combine = Some(Alu::OrPred),
                "xor" => combine = Some(Alu::XorPred),
                part if alu::is_type(part) => types.push(part),
                part => others.push(part),
            }
        }
        let (to, ty) = match (instruction.root(), types.as_slice()) {
            ("setp", [ty]) => ("", *ty),
            ("set", [to, ty]) => (*to, *ty),
            _ => return Err(unsupported()),
        };
        let single = ty.strip_suffix("f16x2").map(|b| format!("{b}f16"));
        let (ty, of_halves) = (single.as_deref().unwrap_or(ty), ty.contains("f16"));
        let row = alu::lookup(&format!("setp.{}.{ty}", others.join("."))).ok_or_else(unsupported)?;
        let [destination, sources @ ..] = instruction.operands.as_slice() else { return Err(self.unfit()) };
        let (sources, with) = match (sources, combine) {
            ([sources @ .., with], Some(combine)) => (sources, Some((combine, with))),
            (sources, _) => (sources, None),
        };
        Ok(Comparison { row, to, is_pair: single.is_some(), of_halves, combine: with, destination, sources })
    }

    /// Combines a result with the instruction's predicate, if it has one.
    fn combine(&mut self, comparison: &Comparison<'_, 't>, result: Reg) -> Result<(), LoadError> {
        if let Some((alu, with)) = comparison.combine {
            let with = self.source(with, Kind::Predicate)?;
            self.alu(alu, result, &[result, with]);
        }
        Ok(())
    }

    /// Compares the lower and the upper halves of two words.
    fn compare_halves(&mut self, comparison: &Comparison<'_, 't>) -> Result<[Reg; 2], LoadError> {
        let wholes = self.sources(comparison.sources, comparison.row.sources)?;
        let mut results = [FALSE, TRUE];
        for (half, result) in results.iter_mut().enumerate() {
            let shift = self.constant(ConstantValue::Bits(16 * half as u64), Kind::Word);
            let parts = [self.take_rows(Kind::Word), self.take_rows(Kind::Word)];
            for (part, whole) in parts.into_iter().zip(&wholes) {
                self.alu(Alu::Unpack16, part, &[*whole, shift]);
            }
            *result = self.temporary_predicate();
            self.alu(comparison.row.alu, *result, &parts);
            self.combine(comparison, *result)?;
        }
        Ok(results)
    }
}
