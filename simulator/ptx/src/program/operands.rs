//! Decodes operands: the registers that an instruction reads and writes, with a register of constants for each number and address.

use super::call_graph::address_of_function;
use super::code::{Constant, ConstantValue, Special};
use super::decode::Decoder;
use super::fixed::{FALSE, SINK, TRUE};
use super::scope::{Local, Symbol, special};
use crate::error::{LoadError, syntax};
use crate::syntax::ast::Operand;
use alu::Alu;
use alu::registers::{Kind, Reg};

/// The form of an operand: a register to write to, or what an instruction reads from.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Read(Kind),
    Write(Kind),
}

impl Form {
    pub fn new(kind: Kind, written: bool) -> Self {
        if written { Self::Write(kind) } else { Self::Read(kind) }
    }
}

impl Decoder<'_, '_> {
    /// Returns a register that an instruction writes. A result that the text discards goes to one that nothing reads.
    pub(super) fn destination(&mut self, operand: &Operand<'_>, kind: Kind) -> Result<Reg, LoadError> {
        match operand {
            Operand::Name("_") if kind == Kind::Predicate => Ok(self.temporary_predicate()),
            Operand::Name("_") => Ok(self.take_rows(kind)),
            Operand::Name(name) => self.register(name, kind),
            Operand::Part(..) => match self.register_of(operand) {
                Some((register, found)) if found == kind => Ok(register),
                _ => Err(syntax(self.origin.ptx_line, format!("expected {} as the destination", described(kind)))),
            },
            _ => Err(syntax(self.origin.ptx_line, "expected a register as the destination".to_owned())),
        }
    }

    /// Returns the operand's register, if it is one, with its kind.
    pub(super) fn register_of(&self, operand: &Operand<'_>) -> Option<(Reg, Kind)> {
        match operand {
            Operand::Name(name) => self.any_register(name),
            Operand::Part(vector, part) => match self.scopes.part(vector, *part)? {
                Symbol::Register(register, kind) => Some((register, kind)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the register of that name.
    pub(super) fn register(&self, name: &str, kind: Kind) -> Result<Reg, LoadError> {
        let found = match self.any_register(name) {
            Some((register, found)) if found == kind => return Ok(register),
            Some((_, found)) => format!("{name}, {}", described(found)),
            None => name.to_owned(),
        };
        Err(syntax(self.origin.ptx_line, format!("expected {}, found {found}", described(kind))))
    }

    /// Returns any register of that name, with its kind.
    pub(super) fn any_register(&self, name: &str) -> Option<(Reg, Kind)> {
        match self.scopes.find(name)? {
            Symbol::Register(register, kind) => Some((register, kind)),
            _ => None,
        }
    }

    /// Returns the register that holds an operand's value; a number gets a register of constants.
    pub(super) fn source(&mut self, operand: &Operand<'_>, kind: Kind) -> Result<Reg, LoadError> {
        let line = self.origin.ptx_line;
        let mismatch = |found: &str| syntax(line, format!("expected {}, found {found}", described(kind)));
        match operand {
            Operand::Name(name) => match self.scopes.find(name) {
                Some(Symbol::Register(register, found)) if found == kind => Ok(register),
                Some(Symbol::Register(..)) => self.register(name, kind),
                Some(symbol) => self.address_value(symbol, 0, kind).ok_or_else(|| mismatch(name)),
                None => match special(name) {
                    Some(special) if kind != Kind::Predicate => Ok(self.special(special, kind)),
                    // The fourth element of `%tid` and its like.
                    _ if name.strip_suffix('w').is_some_and(|vector| special(&format!("{vector}x")).is_some()) => {
                        Ok(self.constant(ConstantValue::Bits(0), kind))
                    }
                    _ if self.module.functions.iter().any(|function| function.is_kernel && function.name == *name) => {
                        Err(self.unsupported("a launch from a kernel (dynamic parallelism)"))
                    }
                    _ if kind == Kind::Double => {
                        let address = address_of_function(self.module, name).ok_or_else(|| mismatch(name))?;
                        Ok(self.constant(ConstantValue::Bits(address), kind))
                    }
                    _ => Err(mismatch(name)),
                },
            },
            Operand::Offset(name, offset) => self.address_of(name, Some(*offset), kind).ok_or_else(|| mismatch(name)),
            Operand::Element(name, index) => {
                self.address_of(name, self.element_offset(name, *index), kind).ok_or_else(|| mismatch(name))
            }
            Operand::Part(vector, _) => match self.register_of(operand) {
                Some((register, found)) if found == kind => Ok(register),
                _ => Err(mismatch(vector)),
            },
            Operand::Not(name) => {
                let source = self.register(name, Kind::Predicate)?;
                let complement = self.temporary_predicate();
                self.alu(Alu::NotPred, complement, &[source]);
                Ok(complement)
            }
            Operand::Integer(bits) if kind == Kind::Predicate => Ok(if *bits != 0 { TRUE } else { FALSE }),
            Operand::Integer(bits) => Ok(self.constant(ConstantValue::Bits(*bits), kind)),
            Operand::F32(bits) if kind == Kind::Word => Ok(self.constant(ConstantValue::Bits(u64::from(*bits)), kind)),
            Operand::F64(bits) if kind != Kind::Predicate => {
                let single = (f64::from_bits(*bits) as f32).to_bits();
                let bits = if kind == Kind::Word { u64::from(single) } else { *bits };
                Ok(self.constant(ConstantValue::Bits(bits), kind))
            }
            _ => Err(mismatch("another operand")),
        }
    }

    /// Returns the registers of an instruction's sources. There must be as many sources as kinds.
    pub(super) fn sources(&mut self, operands: &[Operand<'_>], kinds: &[Kind]) -> Result<Vec<Reg>, LoadError> {
        if operands.len() != kinds.len() {
            return Err(self.unfit());
        }
        operands.iter().zip(kinds).map(|(operand, kind)| self.source(operand, *kind)).collect()
    }

    /// Fills in the registers of a vector's elements, or of one operand. They are the first `count`; the others stay as they are.
    pub(super) fn elements(
        &mut self,
        operand: &Operand<'_>,
        count: usize,
        form: Form,
        registers: &mut [Reg],
    ) -> Result<(), LoadError> {
        let elements = elements(operand);
        if elements.len() != count || count > registers.len() {
            return Err(self.unfit());
        }
        for (register, element) in registers.iter_mut().zip(elements) {
            *register = self.register_for(element, form)?;
        }
        Ok(())
    }

    /// Returns the register of an operand of this form.
    pub(super) fn register_for(&mut self, operand: &Operand<'_>, form: Form) -> Result<Reg, LoadError> {
        match form {
            Form::Write(kind) => self.destination(operand, kind),
            Form::Read(kind) => self.source(operand, kind),
        }
    }

    /// Returns the registers of operands of these forms, and no others.
    pub(super) fn registers<const N: usize>(&mut self, operands: &[Operand<'_>], forms: [Form; N]) -> Result<[Reg; N], LoadError> {
        let operands: &[_; N] = self.exactly(operands)?;
        let mut registers = [SINK; N];
        for ((register, operand), form) in registers.iter_mut().zip(operands).zip(forms) {
            *register = self.register_for(operand, form)?;
        }
        Ok(registers)
    }

    /// Returns the operands, if they are `N`.
    pub(super) fn exactly<'o, 't, const N: usize>(&self, operands: &'o [Operand<'t>]) -> Result<&'o [Operand<'t>; N], LoadError> {
        operands.try_into().map_err(|_| self.unfit())
    }

    fn address_of(&mut self, name: &str, offset: Option<i64>, kind: Kind) -> Option<Reg> {
        self.address_value(self.scopes.find(name)?, offset?, kind)
    }

    fn address_value(&mut self, symbol: Symbol, offset: i64, kind: Kind) -> Option<Reg> {
        if kind == Kind::Predicate {
            return None;
        }
        let value = match symbol {
            Symbol::Register(..) | Symbol::Vector(..) => return None,
            Symbol::Local(Local { at, in_frame: true, .. }) => {
                return Some(self.address_in_frame(i64::from(at).wrapping_add(offset), kind));
            }
            Symbol::Shared(variable) => {
                let at = self.program.shared_variables[variable as usize].offset;
                ConstantValue::Shared { offset: i64::from(at).wrapping_add(offset) as u64, variable }
            }
            Symbol::Local(Local { at, .. }) | Symbol::Param(at) => ConstantValue::Bits(i64::from(at).wrapping_add(offset) as u64),
            Symbol::Variable(variable) => ConstantValue::Address { variable, offset },
        };
        Some(self.constant(value, kind))
    }

    /// Returns the register of a constant; equal constants share one.
    pub(super) fn constant(&mut self, value: ConstantValue, kind: Kind) -> Reg {
        let double = kind == Kind::Double;
        if let Some(register) = self.constants.get(&(value, double)) {
            return *register;
        }
        let register = self.take_rows(kind);
        self.constants.insert((value, double), register);
        self.program.constants.push(Constant { register, kind, value });
        register
    }

    pub(super) fn special(&mut self, special: Special, kind: Kind) -> Reg {
        let key = (special, kind == Kind::Double);
        if let Some(register) = self.specials.get(&key) {
            return *register;
        }
        let register = self.take_rows(kind);
        self.specials.insert(key, register);
        self.program.specials.push((special, kind, register));
        register
    }

    pub(super) fn take_rows(&mut self, kind: Kind) -> Reg {
        let first = self.next_row;
        self.next_row += if kind == Kind::Double { 2 } else { 1 };
        first as Reg
    }
}

/// Returns the elements of a vector, or the operand itself.
pub(super) fn elements<'o, 't>(operand: &'o Operand<'t>) -> &'o [Operand<'t>] {
    match operand {
        Operand::Vector(elements) => elements,
        single => std::slice::from_ref(single),
    }
}

fn described(kind: Kind) -> &'static str {
    match kind {
        Kind::Predicate => "a predicate",
        Kind::Word => "a 32-bit value",
        Kind::Double => "a 64-bit value",
    }
}
