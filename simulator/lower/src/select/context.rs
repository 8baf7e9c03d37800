//! The state while a function is lowered, and how it emits instructions.

use std::borrow::Cow;
use std::collections::HashMap;

use super::part::{Part, whole};
use super::symbols::Names;
use crate::address::Term;
use crate::cfg::Graph;
use crate::error::{Error, Result};
use crate::ir::{Function, Module, Type, Value};
use crate::layout::{self, Scalar};
use crate::mir::{self, Base, Class, Inst, Op, Piece, Reg, ops};
use crate::space::Spaces;
use crate::uses::Uses;
use crate::vectorize::Plan;

/// A function on its way.
pub struct Selector<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
    pub names: &'m Names,
    /// The compute capability that the code is for, times ten.
    pub target: u32,
    pub graph: Graph,
    pub uses: Uses<'m>,
    pub spaces: Spaces<'m>,
    pub plan: Plan,
    pub code: mir::Function,
    /// The block that instructions go to.
    pub current: usize,
    /// The line of the IR and the location of the instruction at hand.
    pub line: u32,
    pub dbg: Option<u32>,
    /// The parts of each local, once it is lowered.
    pub values: Vec<Option<Vec<Part>>>,
    /// Addresses of variables, which the first block loads.
    pub prologue: Vec<Inst>,
    pub symbols: HashMap<String, Reg>,
    /// Sums of a base and a scaled index, and the block that made each.
    pub sums: HashMap<(Reg, Term), Vec<(usize, Reg)>>,
    /// The register of each part of a phi, and its source.
    pub incoming: HashMap<u32, Vec<[Reg; 2]>>,
    /// Constants that phis take from a block.
    pub literals: HashMap<(usize, Class, u64), Reg>,
    /// Labels of tables and of blocks made on the way are numbered.
    pub labels: usize,
}

impl<'m> Selector<'m> {
    /// Returns an error at the instruction at hand.
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error::at(self.line, message)
    }

    pub fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(self.error(message))
    }

    pub fn new_reg(&mut self, class: Class) -> Reg {
        self.code.regs.push(class);
        Reg(self.code.regs.len() - 1)
    }

    pub fn class(&self, reg: Reg) -> Class {
        self.code.regs[reg.0]
    }

    /// Makes an instruction with any number of results.
    pub fn push(&mut self, opcode: impl Into<Cow<'static, str>>, results: Vec<Op>, args: Vec<Op>, effects: bool) {
        self.code.blocks[self.current].insts.push(Inst::new(opcode, results, args, effects, self.dbg));
    }

    /// Makes an instruction with a result in a new register. It has no other effect.
    pub fn one(&mut self, opcode: impl Into<Cow<'static, str>>, class: Class, args: Vec<Op>) -> Reg {
        let reg = self.new_reg(class);
        self.push(opcode, ops![reg], args, false);
        reg
    }

    /// Makes such an instruction, whose result is an integer of 32 bits.
    pub fn b32(&mut self, opcode: impl Into<Cow<'static, str>>, args: Vec<Op>) -> Reg {
        self.one(opcode, Class::B32, args)
    }

    /// Makes such an instruction, whose result is an integer of 64 bits.
    pub fn b64(&mut self, opcode: impl Into<Cow<'static, str>>, args: Vec<Op>) -> Reg {
        self.one(opcode, Class::B64, args)
    }

    /// Makes such an instruction, whose result is a truth value.
    pub fn pred(&mut self, opcode: impl Into<Cow<'static, str>>, args: Vec<Op>) -> Reg {
        self.one(opcode, Class::Pred, args)
    }

    /// Makes such an instruction, whose result is a part.
    pub fn made(&mut self, opcode: impl Into<Cow<'static, str>>, class: Class, args: Vec<Op>) -> Part {
        Part::reg(self.one(opcode, class, args))
    }

    /// Makes an instruction that stays even if nothing uses its result.
    pub fn kept(&mut self, opcode: impl Into<Cow<'static, str>>, class: Class, args: Vec<Op>) -> Reg {
        let reg = self.new_reg(class);
        self.push(opcode, ops![reg], args, true);
        reg
    }

    /// Returns the lowest bit of a register as a truth value.
    pub fn lowest_bit(&mut self, reg: Reg, width: u32) -> Part {
        let bit = self.one(format!("and.b{width}"), whole(width).1, ops![reg, 1]);
        self.made(format!("setp.ne.s{width}"), Class::Pred, ops![bit, 0])
    }

    /// Returns the low and the high half of 64 bits.
    pub fn halves(&mut self, whole: impl Into<Op>) -> [Reg; 2] {
        let halves = [self.new_reg(Class::B32), self.new_reg(Class::B32)];
        self.push("mov.b64", ops![&halves[..]], vec![whole.into()], false);
        halves
    }

    /// Makes instructions from a text with operands. The first operands are results.
    pub fn template(&mut self, pieces: Vec<Piece>, ops: Vec<Op>, results: usize, effects: bool) {
        let inst = Inst { results, template: Some(pieces), ..Inst::new("", Vec::new(), ops, effects, self.dbg) };
        self.code.blocks[self.current].insts.push(inst);
    }

    /// Makes an instruction that must stay.
    pub fn effect(&mut self, opcode: impl Into<Cow<'static, str>>, args: Vec<Op>) {
        self.push(opcode, Vec::new(), args, true);
    }

    /// Returns the scalar of a type that is one.
    pub fn scalar(&self, ty: &Type) -> Result<Scalar> {
        layout::scalar(ty).ok_or_else(|| self.error(format!("a value of type {ty:?} is not supported here")))
    }

    /// Returns the parts of a value. A pointer among them is in the space of the value.
    pub fn parts(&mut self, value: &Value) -> Result<Vec<Part>> {
        match value {
            Value::Local(local) => match &self.values[*local as usize] {
                Some(parts) => Ok(parts.clone()),
                None => self.fail("a value is used before it is defined"),
            },
            Value::Const(value) => self.constant(value),
        }
    }

    /// Returns the part of a scalar.
    pub fn part(&mut self, value: &Value) -> Result<Part> {
        let parts = self.parts(value)?;
        self.single(parts)
    }

    /// Returns the only part of a list.
    pub fn single(&self, parts: Vec<Part>) -> Result<Part> {
        match <[Part; 1]>::try_from(parts) {
            Ok([part]) => Ok(part),
            Err(_) => self.fail("a value of several parts is not supported here"),
        }
    }

    /// Returns the parts of two values side by side.
    pub fn pairs(&mut self, a: &Value, b: &Value) -> Result<Vec<(Part, Part)>> {
        let (left, right) = (self.parts(a)?, self.parts(b)?);
        if left.len() != right.len() {
            return self.fail("operands of different lengths");
        }
        Ok(left.into_iter().zip(right).collect())
    }

    /// Returns a register with the address of a variable.
    pub fn symbol(&mut self, name: &str) -> Reg {
        if let Some(reg) = self.symbols.get(name) {
            return *reg;
        }
        let reg = self.new_reg(Class::B64);
        self.symbols.insert(name.to_owned(), reg);
        self.prologue.push(Inst::new("mov.u64", ops![reg], vec![Op::Text(name.to_owned().into())], false, None));
        reg
    }

    /// Returns the register of a base.
    pub fn base(&mut self, base: &Base) -> Reg {
        match base {
            Base::Reg(reg) => *reg,
            Base::Symbol(name) => self.symbol(name),
        }
    }
}
