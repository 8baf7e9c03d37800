//! Decodes moves and conversions: between registers and their parts, of addresses, and between registers of different widths.

use super::code::{Action, ConstantValue, Special};
use super::decode::Decoder;
use super::scope::special;
use crate::error::LoadError;
use crate::syntax::ast::{self, Operand, Type};
use alu::Alu;
use alu::registers::{Kind, Reg};
use alu::windows::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_OFFSET};

impl<'m, 't> Decoder<'m, 't> {
    /// `mov`: between registers, of addresses and clocks, and between a register and its parts.
    pub(super) fn mov(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        match instruction.operands.as_slice() {
            [Operand::Vector(to), Operand::Vector(from)] if to.len() == from.len() => self.move_vector(to, from),
            [Operand::Vector(to), Operand::Name(special)] if is_vector_register(special) => self.move_special(to, special),
            [Operand::Vector(parts), whole] => self.unpack(parts, whole),
            [whole, Operand::Vector(parts)] => self.pack(whole, parts),
            [destination, Operand::Name("%clock_hi" | "%globaltimer_hi")] => {
                let destination = self.destination(destination, Kind::Word)?;
                let (clock, high) = (self.take_rows(Kind::Double), self.take_rows(Kind::Double));
                let width = self.constant(ConstantValue::Bits(32), Kind::Word);
                self.emit(Action::Clock { destination: clock, kind: Kind::Double });
                self.alu(Alu::ShrU64, high, &[clock, width]);
                self.alu(Alu::CvtB32FromU64, destination, &[high]);
                Ok(())
            }
            [destination, Operand::Name("%is_explicit_cluster")] => {
                let destination = self.destination(destination, Kind::Predicate)?;
                let zero = self.constant(ConstantValue::Bits(0), Kind::Word);
                let is_explicit = self.special(Special::IsExplicitCluster, Kind::Word);
                self.alu(Alu::SetpNe32, destination, &[is_explicit, zero]);
                Ok(())
            }
            [destination, Operand::Name(clock @ ("%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo"))] => {
                let kind = if matches!(*clock, "%clock64" | "%globaltimer") { Kind::Double } else { Kind::Word };
                let destination = self.destination(destination, kind)?;
                self.emit(Action::Clock { destination, kind });
                Ok(())
            }
            [destination, source] => {
                let row = self.row(instruction.opcode)?;
                let destination = self.destination(destination, row.destination)?;
                let source = self.source(source, row.sources[0])?;
                self.alu(row.alu, destination, &[source]);
                Ok(())
            }
            _ => Err(self.unfit()),
        }
    }

    /// `mov.v2.f32 v, {%f1, %f2}`, and `mov.b128`, whose registers are vectors of two.
    fn move_vector(&mut self, to: &[Operand<'t>], from: &[Operand<'t>]) -> Result<(), LoadError> {
        let width = match self.opcode.rsplit('.').next().and_then(|ty| ty.get(1..)) {
            Some("64" | "128") => Kind::Double,
            Some("8" | "16" | "32") => Kind::Word,
            _ => return Err(self.unknown()),
        };
        let alu = if width == Kind::Double { Alu::Mov64 } else { Alu::Mov32 };
        // Through copies, because a register may be on both sides.
        let mut copies = Vec::with_capacity(from.len());
        for source in from {
            let (source, copy) = (self.source(source, width)?, self.take_rows(width));
            self.alu(alu, copy, &[source]);
            copies.push(copy);
        }
        for (destination, copy) in to.iter().zip(copies) {
            if !matches!(destination, Operand::Name("_")) {
                let destination = self.destination(destination, width)?;
                self.alu(alu, destination, &[copy]);
            }
        }
        Ok(())
    }

    /// `mov.v4.u32 v, %tid`
    fn move_special(&mut self, to: &[Operand<'t>], special: &str) -> Result<(), LoadError> {
        if self.opcode != "mov.v4.u32" || to.len() != 4 {
            return Err(self.unfit());
        }
        for (destination, axis) in to.iter().zip(["x", "y", "z", "w"]) {
            let source = self.source(&Operand::Name(&format!("{special}.{axis}")), Kind::Word)?;
            let destination = self.destination(destination, Kind::Word)?;
            self.alu(Alu::Mov32, destination, &[source]);
        }
        Ok(())
    }

    /// `mov.b64 {%r1, %r2}, %rd1` and `mov.b32 {b0, b1, b2, b3}, %r1`
    fn unpack(&mut self, parts: &[Operand<'t>], whole: &Operand<'t>) -> Result<(), LoadError> {
        let (alu, kind, bits) = match (self.opcode, parts.len()) {
            ("mov.b32", 2) => (Alu::Unpack16, Kind::Word, 16),
            ("mov.b64", 2) => (Alu::Unpack32, Kind::Double, 32),
            ("mov.b64", 4) => (Alu::Unpack16From64, Kind::Double, 16),
            ("mov.b16", 2) | ("mov.b32", 4) => (Alu::BfeU32, Kind::Word, 8),
            _ => return Err(self.unfit()),
        };
        let whole = self.source(whole, kind)?;
        let width = self.constant(ConstantValue::Bits(bits), Kind::Word);
        for (position, part) in parts.iter().enumerate().filter(|(_, part)| !matches!(part, Operand::Name("_"))) {
            let destination = self.destination(part, Kind::Word)?;
            let start = self.constant(ConstantValue::Bits(bits * position as u64), Kind::Word);
            let sources = [whole, start, width];
            self.alu(alu, destination, &sources[..alu.row().sources.len()]);
        }
        Ok(())
    }

    /// `mov.b64 %rd1, {%r1, %r2}`
    fn pack(&mut self, whole: &Operand<'t>, parts: &[Operand<'t>]) -> Result<(), LoadError> {
        let (alu, kind) = match (self.opcode, parts.len()) {
            ("mov.b32", 2) => (Alu::Pack32, Kind::Word),
            ("mov.b64", 2) => (Alu::Pack64, Kind::Double),
            ("mov.b64", 4) => (Alu::Pack64From16, Kind::Double),
            ("mov.b16", 2) | ("mov.b32", 4) => return self.pack_bytes(whole, parts),
            _ => return Err(self.unfit()),
        };
        let destination = self.destination(whole, kind)?;
        let sources = parts.iter().map(|part| self.source(part, Kind::Word)).collect::<Result<Vec<_>, _>>()?;
        self.alu(alu, destination, &sources);
        Ok(())
    }

    /// `mov.b32 %r1, {b0, b1, b2, b3}`
    fn pack_bytes(&mut self, whole: &Operand<'t>, parts: &[Operand<'t>]) -> Result<(), LoadError> {
        let destination = self.destination(whole, Kind::Word)?;
        let width = self.constant(ConstantValue::Bits(8), Kind::Word);
        let mut packed = self.constant(ConstantValue::Bits(0), Kind::Word);
        for (position, part) in parts.iter().enumerate() {
            let part = self.source(part, Kind::Word)?;
            let start = self.constant(ConstantValue::Bits(8 * position as u64), Kind::Word);
            let next = self.take_rows(Kind::Word);
            self.alu(Alu::Bfi32, next, &[part, packed, start, width]);
            packed = next;
        }
        self.alu(Alu::Mov32, destination, &[packed]);
        Ok(())
    }

    /// `cvta`: converts between addresses in a space and generic ones. Global and constant addresses are generic already.
    pub(super) fn convert_address(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let [destination, source] = self.exactly(&instruction.operands)?;
        // All blocks of a cluster are in one window, each with a part of its own.
        let opcode =
            ["::cta", "::cluster", "::entry"].iter().fold(instruction.opcode.to_owned(), |opcode, scope| opcode.replace(scope, ""));
        let (alu, operand) = match opcode.as_str() {
            "cvta.global.u64" | "cvta.to.global.u64" | "cvta.const.u64" | "cvta.to.const.u64" => (Alu::Mov64, None),
            "cvta.shared.u64" => (Alu::Or64, Some(SHARED_WINDOW)),
            "cvta.local.u64" => (Alu::Or64, Some(LOCAL_WINDOW)),
            "cvta.param.u64" => (Alu::Or64, Some(PARAM_WINDOW)),
            "cvta.to.shared.u64" | "cvta.to.local.u64" | "cvta.to.param.u64" => (Alu::And64, Some(WINDOW_OFFSET)),
            _ => return Err(self.unknown()),
        };
        let destination = self.destination(destination, Kind::Double)?;
        let mut sources = vec![self.source(source, Kind::Double)?];
        sources.extend(operand.map(|bits| self.constant(ConstantValue::Bits(bits), Kind::Double)));
        self.alu(alu, destination, &sources);
        Ok(())
    }

    /// `cvt`, whose registers may be wider than its types (PTX ISA, "Operand Size Exceeding Instruction-Type Size").
    pub(super) fn convert(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let opcode = instruction.opcode;
        let row = self.row(opcode)?;
        let [destination, operands @ ..] = instruction.operands.as_slice() else { return Err(self.unfit()) };
        if operands.len() != row.sources.len() {
            return Err(self.unfit());
        }
        let mut sources = Vec::with_capacity(operands.len());
        for (operand, kind) in operands.iter().zip(row.sources) {
            sources.push(match (self.wide_register(operand), kind) {
                (Some(wide), Kind::Word) => {
                    let low = self.take_rows(Kind::Word);
                    self.alu(Alu::CvtB32FromU64, low, &[wide]);
                    low
                }
                _ => self.source(operand, *kind)?,
            });
        }
        let Some(wide) = self.wide_register(destination).filter(|_| row.destination == Kind::Word) else {
            let destination = self.destination(destination, row.destination)?;
            self.alu(row.alu, destination, &sources);
            return Ok(());
        };
        let narrow = self.take_rows(Kind::Word);
        self.alu(row.alu, narrow, &sources);
        let is_signed = opcode.rsplit('.').nth(1).is_some_and(|ty| ty.starts_with('s'));
        self.alu(if is_signed { Alu::CvtB64FromS32 } else { Alu::CvtB64FromU32 }, wide, &[narrow]);
        Ok(())
    }

    /// Returns the operand's register, if it has 64 bits.
    fn wide_register(&self, operand: &Operand<'_>) -> Option<Reg> {
        self.register_of(operand).filter(|(_, kind)| *kind == Kind::Double).map(|(register, _)| register)
    }

    /// Returns the offset in bytes of an element of an array.
    pub(super) fn element_offset(&self, name: &str, index: i64) -> Option<i64> {
        let own = self.module.functions[self.current].variables();
        let variable = own.chain(&self.module.variables).find(|variable| variable.name == name)?;
        let Type::Bytes(bytes) = variable.ty else { return None };
        index.checked_mul(bytes.into())
    }
}

/// Returns true if a special register has elements, as `%tid` has `%tid.x`.
fn is_vector_register(name: &str) -> bool {
    special(&format!("{name}.x")).is_some()
}
