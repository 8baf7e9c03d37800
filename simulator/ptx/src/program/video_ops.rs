//! Decodes the video instructions: `vadd.s32.u32.s32.sat.add %r1, %r2.b0, %r3.h1, %r4` and the like, and those on several values.

use super::code::ConstantValue;
use super::decode::Decoder;
use crate::error::LoadError;
use crate::syntax::ast::{Instruction, Operand};
use alu::registers::{Kind, Reg};
use alu::video::{After, Operation, Part, Scalar, Vector};
use alu::{Alu, lookup};

fn is_set(root: &str) -> bool {
    matches!(root, "vset" | "vset2" | "vset4")
}

fn operation(root: &str) -> Option<Operation> {
    Some(match root {
        "vadd" => Operation::Add,
        "vsub" => Operation::Subtract,
        "vabsdiff" => Operation::AbsoluteDifference,
        "vmin" => Operation::Minimum,
        "vmax" => Operation::Maximum,
        "vavrg" => Operation::Average,
        "vshl" => Operation::ShiftLeft,
        "vshr" => Operation::ShiftRight,
        "vmad" => Operation::MultiplyAdd,
        _ => return None,
    })
}

fn comparison(name: &str) -> Option<Operation> {
    Some(match name {
        "eq" => Operation::Equal,
        "ne" => Operation::NotEqual,
        "lt" => Operation::Less,
        "le" => Operation::LessOrEqual,
        "gt" => Operation::Greater,
        "ge" => Operation::GreaterOrEqual,
        _ => return None,
    })
}

/// An opcode's parts.
#[derive(Default)]
struct Spelling<'o> {
    /// Signs of the types: those of the result, which `vset` does not have, and of both sources.
    signs: Vec<bool>,
    comparison: Option<Operation>,
    saturates: bool,
    after: Option<After>,
    others: Vec<&'o str>,
}

impl<'o> Spelling<'o> {
    fn of(opcode: &'o str) -> Self {
        let mut spelling = Self::default();
        for part in opcode.split('.').skip(1) {
            match part {
                "s32" => spelling.signs.push(true),
                "u32" => spelling.signs.push(false),
                "sat" => spelling.saturates = true,
                "add" => spelling.after = Some(After::Add),
                "min" => spelling.after = Some(After::Minimum),
                "max" => spelling.after = Some(After::Maximum),
                part => match comparison(part) {
                    Some(comparison) => spelling.comparison = Some(comparison),
                    None => spelling.others.push(part),
                },
            }
        }
        spelling
    }
}

impl<'t> Decoder<'_, 't> {
    /// Returns true for a video instruction without a row of its own. Rows know no selectors, such as that of `%r1.b0`.
    pub(super) fn is_video(instruction: &Instruction<'_>) -> bool {
        let root = instruction.root();
        let has_selector = |operand: &Operand<'_>| matches!(operand, Operand::Name(name) if name.contains('.'));
        (is_set(root) || operation(root.trim_end_matches(['2', '4'])).is_some())
            && (lookup(instruction.opcode).is_none() || instruction.operands.iter().any(has_selector))
    }

    pub(super) fn video(&mut self, instruction: &Instruction<'t>) -> Result<(), LoadError> {
        let unsupported = || self.unknown();
        let root = instruction.root();
        let mut spelling = Spelling::of(instruction.opcode);
        let operation = if is_set(root) { spelling.comparison } else { operation(root.trim_end_matches(['2', '4'])) };
        let operation = operation.ok_or_else(unsupported)?;
        if is_set(root) {
            // The result is 0 or 1.
            spelling.signs.insert(0, false);
        }
        let [result, a, b] = spelling.signs[..] else { return Err(unsupported()) };
        let signs = [result, a, b];
        match root.as_bytes().last() {
            Some(lanes @ (b'2' | b'4')) => self.video_vector(instruction, &spelling, operation, signs, u32::from(lanes - b'0')),
            _ => self.video_scalar(instruction, &spelling, operation, signs),
        }
    }

    fn video_scalar(
        &mut self,
        instruction: &Instruction<'t>,
        spelling: &Spelling<'_>,
        operation: Operation,
        [result_signed, a_signed, b_signed]: [bool; 3],
    ) -> Result<(), LoadError> {
        let (destination, a, b, c) = match instruction.operands.as_slice() {
            [destination, a, b] => (destination, a, b, None),
            [destination, a, b, c] => (destination, a, b, Some(c)),
            _ => return Err(self.unfit()),
        };
        let unfit = || self.unfit();
        let part =
            |selector: Option<&str>, signed| selector.map_or(Some(Part::word(signed)), |selector| selected(selector, signed));
        let (a, a_selector) = self.video_operand(a).ok_or_else(unfit)?;
        let (b, b_selector) = self.video_operand(b).ok_or_else(unfit)?;
        let (destination, selector) = self.video_operand(destination).ok_or_else(unfit)?;
        let merges = selector.is_some();
        let mut form = Scalar {
            operation,
            a: part(a_selector, a_signed).ok_or_else(unfit)?,
            b: part(b_selector, b_signed).ok_or_else(unfit)?,
            result: part(selector, result_signed).ok_or_else(unfit)?,
            saturates: spelling.saturates,
            after: spelling.after.unwrap_or(if merges { After::Merge } else { After::Nothing }),
            wraps: false,
            negated: matches!(a, Operand::Negative(_)) != matches!(b, Operand::Negative(_)),
            c_negated: matches!(c, Some(Operand::Negative(_))),
            plus_one: false,
            shift: 0,
        };
        let is_multiply_add = operation == Operation::MultiplyAdd;
        for other in &spelling.others {
            match (*other, operation) {
                ("clamp", Operation::ShiftLeft | Operation::ShiftRight) => form.wraps = false,
                ("wrap", Operation::ShiftLeft | Operation::ShiftRight) => form.wraps = true,
                ("po", Operation::MultiplyAdd) => form.plus_one = true,
                ("shr7", Operation::MultiplyAdd) => form.shift = 7,
                ("shr15", Operation::MultiplyAdd) => form.shift = 15,
                _ => return Err(self.unknown()),
            }
        }
        let needs_c = is_multiply_add || form.after != After::Nothing;
        let is_negated = form.negated || form.c_negated;
        if needs_c != c.is_some() || (is_negated && !is_multiply_add) || (merges && (is_multiply_add || spelling.after.is_some())) {
            return Err(self.unfit());
        }
        let (a, b) = (positive(a), positive(b));
        let c = c.map_or(Operand::Integer(0), positive);
        self.emit_video(Alu::VideoScalar, &destination, [&a, &b, &c], form.control())
    }

    fn video_vector(
        &mut self,
        instruction: &Instruction<'t>,
        spelling: &Spelling<'_>,
        operation: Operation,
        [signed, a_signed, b_signed]: [bool; 3],
        lanes: u32,
    ) -> Result<(), LoadError> {
        let [destination, a, b, c] = self.exactly(&instruction.operands)?;
        let unfit = || self.unfit();
        let fits = spelling.others.is_empty() && matches!(spelling.after, None | Some(After::Add));
        if !fits || !(lanes == 2 || lanes == 4) {
            return Err(self.unknown());
        }
        let (a, a_selector) = self.video_operand(a).ok_or_else(unfit)?;
        let (b, b_selector) = self.video_operand(b).ok_or_else(unfit)?;
        let (destination, selector) = self.video_operand(destination).ok_or_else(unfit)?;
        // Digits, the highest part first.
        let parts = |selector: Option<&str>, default: &str| {
            let digits = selector.map_or(Some(default), |selector| selector.strip_prefix(if lanes == 2 { 'h' } else { 'b' }))?;
            let parts: Option<Vec<u32>> = digits.bytes().rev().map(|digit| digit.checked_sub(b'0').map(u32::from)).collect();
            parts.filter(|parts| parts.iter().all(|part| *part < 2 * lanes))
        };
        let (all, of_b) = if lanes == 2 { ("10", "32") } else { ("3210", "7654") };
        let packed = |parts: Option<Vec<u32>>| {
            let parts = parts.filter(|parts| parts.len() == lanes as usize)?;
            Some(parts.iter().rev().fold(0, |packed, part| packed << 4 | part))
        };
        let mask = parts(selector, all).filter(|parts| parts.iter().all(|part| *part < lanes)).ok_or_else(unfit)?;
        let form = Vector {
            operation,
            lanes,
            a_signed,
            b_signed,
            signed,
            saturates: spelling.saturates,
            adds: spelling.after.is_some(),
            mask: mask.iter().fold(0, |mask, part| mask | 1 << part),
            a_parts: packed(parts(a_selector, all)).ok_or_else(unfit)?,
            b_parts: packed(parts(b_selector, of_b)).ok_or_else(unfit)?,
        };
        self.emit_video(Alu::VideoVector, &destination, [&a, &b, c], form.control())
    }

    fn emit_video(
        &mut self,
        alu: Alu,
        destination: &Operand<'t>,
        sources: [&Operand<'t>; 3],
        control: u64,
    ) -> Result<(), LoadError> {
        let destination = self.destination(destination, Kind::Word)?;
        let mut registers: Vec<Reg> = Vec::with_capacity(4);
        for source in sources {
            registers.push(self.source(source, Kind::Word)?);
        }
        registers.push(self.constant(ConstantValue::Bits(control), Kind::Double));
        self.alu(alu, destination, &registers);
        Ok(())
    }

    /// Splits an operand from its selector: `%r1.b0` into `%r1` and `b0`.
    fn video_operand<'o>(&self, operand: &'o Operand<'t>) -> Option<(Operand<'t>, Option<&'t str>)> {
        let whole = |name: &'t str| match name.rsplit_once('.') {
            Some((register, selector)) if self.any_register(name).is_none() => {
                self.any_register(register).map(|_| (register, Some(selector)))
            }
            _ => Some((name, None)),
        };
        match operand {
            Operand::Name(name) => whole(name).map(|(name, selector)| (Operand::Name(name), selector)),
            Operand::Negative(name) => whole(name).map(|(name, selector)| (Operand::Negative(name), selector)),
            operand => Some((operand.clone(), None)),
        }
    }
}

/// Returns the operand without its sign, which the instruction's form has.
fn positive<'t>(operand: impl std::borrow::Borrow<Operand<'t>>) -> Operand<'t> {
    match operand.borrow() {
        Operand::Negative(name) => Operand::Name(name),
        operand => operand.clone(),
    }
}

/// Returns the part of a word that `b0`-`b3`, `h0` or `h1` selects.
fn selected(selector: &str, signed: bool) -> Option<Part> {
    let number = |digits: &str, end: u32| digits.parse::<u32>().ok().filter(|number| *number < end);
    match selector.split_at_checked(1)? {
        ("b", digits) => Some(Part { start: 8 * number(digits, 4)?, bits: 8, signed }),
        ("h", digits) => Some(Part { start: 16 * number(digits, 2)?, bits: 16, signed }),
        _ => None,
    }
}
