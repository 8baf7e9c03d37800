//! Instructions of PTX with virtual registers.

use std::borrow::Cow;

/// A virtual register.
pub type Reg = u32;

/// The kind of value that a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Pred,
    B16,
    B32,
    B64,
    F32,
    F64,
}

impl Class {
    pub const ALL: [Class; 6] = [Class::Pred, Class::B16, Class::B32, Class::B64, Class::F32, Class::F64];

    /// Returns the type of its declaration.
    pub fn ty(self) -> &'static str {
        match self {
            Class::Pred => "pred",
            Class::B16 => "b16",
            Class::B32 => "b32",
            Class::B64 => "b64",
            Class::F32 => "f32",
            Class::F64 => "f64",
        }
    }

    /// Returns the start of its registers' names.
    pub fn prefix(self) -> &'static str {
        match self {
            Class::Pred => "%p",
            Class::B16 => "%rs",
            Class::B32 => "%r",
            Class::B64 => "%rd",
            Class::F32 => "%f",
            Class::F64 => "%fd",
        }
    }
}

/// The start of an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    Reg(Reg),
    Symbol(String),
}

/// An operand.
#[derive(Clone, Debug)]
pub enum Op {
    Reg(Reg),
    /// A literal, or the name of a special register or of a variable.
    Text(Cow<'static, str>),
    /// `[base+offset]`
    Mem(Base, i64),
    /// `{a, b}`
    List(Vec<Op>),
    /// `a|b`
    Both(Reg, Reg),
    /// A block.
    Label(usize),
}

impl Op {
    /// Calls a function with each register.
    pub fn each_reg(&self, visit: &mut impl FnMut(Reg)) {
        match self {
            Op::Reg(reg) | Op::Mem(Base::Reg(reg), _) => visit(*reg),
            Op::Both(a, b) => [a, b].into_iter().for_each(|reg| visit(*reg)),
            Op::List(ops) => ops.iter().for_each(|op| op.each_reg(visit)),
            Op::Text(_) | Op::Mem(..) | Op::Label(_) => {}
        }
    }

    /// Calls a function with each register, to replace it.
    pub fn each_reg_mut(&mut self, visit: &mut impl FnMut(&mut Reg)) {
        match self {
            Op::Reg(reg) | Op::Mem(Base::Reg(reg), _) => visit(reg),
            Op::Both(a, b) => [a, b].into_iter().for_each(visit),
            Op::List(ops) => ops.iter_mut().for_each(|op| op.each_reg_mut(visit)),
            Op::Text(_) | Op::Mem(..) | Op::Label(_) => {}
        }
    }
}

/// A part of inline PTX.
#[derive(Clone, Debug)]
pub enum Piece {
    Text(String),
    /// The operand with this number.
    Op(usize),
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// The predicate under which it executes, and whether it must be false.
    pub guard: Option<(Reg, bool)>,
    pub opcode: Cow<'static, str>,
    /// The results come first.
    pub ops: Vec<Op>,
    /// How many of them are results.
    pub results: usize,
    /// It stays even without a use of its results.
    pub effects: bool,
    /// Inline PTX; then the opcode is empty.
    pub template: Option<Vec<Piece>>,
    /// The node of its `!dbg`.
    pub dbg: Option<u32>,
}

impl Inst {
    /// Returns the registers that it writes.
    pub fn defs(&self) -> Vec<Reg> {
        let mut regs = Vec::new();
        self.ops[..self.results].iter().for_each(|op| op.each_reg(&mut |reg| regs.push(reg)));
        regs
    }

    /// Returns the registers that it reads.
    pub fn uses(&self) -> Vec<Reg> {
        let mut regs: Vec<Reg> = self.guard.iter().map(|(reg, _)| *reg).collect();
        self.ops[self.results..].iter().for_each(|op| op.each_reg(&mut |reg| regs.push(reg)));
        regs
    }

    /// Replaces registers.
    pub fn rename(&mut self, name: impl Fn(Reg) -> Reg) {
        if let Some((reg, _)) = &mut self.guard {
            *reg = name(*reg);
        }
        self.ops.iter_mut().for_each(|op| op.each_reg_mut(&mut |reg| *reg = name(*reg)));
    }

    /// Returns the registers of a copy: to and from.
    pub fn copy(&self) -> Option<(Reg, Reg)> {
        match (self.opcode.starts_with("mov.") && self.guard.is_none(), self.ops.as_slice()) {
            (true, [Op::Reg(to), Op::Reg(from)]) => Some((*to, *from)),
            _ => None,
        }
    }
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub insts: Vec<Inst>,
    /// The branches at its end.
    pub exits: Vec<Inst>,
    pub successors: Vec<usize>,
}

/// A function.
#[derive(Debug)]
pub struct Function {
    pub blocks: Vec<Block>,
    /// The blocks in the order of the text.
    pub order: Vec<usize>,
    /// The class of each register.
    pub regs: Vec<Class>,
    /// Variables in local and shared memory that only this function has.
    pub variables: Vec<String>,
}

/// Returns a literal integer.
pub fn int(value: i64) -> Op {
    Op::Text(value.to_string().into())
}

/// Returns a literal number in the form of its bits.
pub fn f32_bits(bits: u32) -> Op {
    Op::Text(format!("0f{bits:08X}").into())
}

pub fn f64_bits(bits: u64) -> Op {
    Op::Text(format!("0d{bits:016X}").into())
}

/// Returns the instruction that copies a register of a class.
pub fn mov(class: Class) -> String {
    format!("mov.{}", class.ty())
}
