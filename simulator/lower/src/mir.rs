//! Instructions of PTX with virtual registers.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// A virtual register, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub usize);

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

    /// Returns the type of its declaration and the prefix of its registers.
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Class::Pred => ("pred", "%p"),
            Class::B16 => ("b16", "%rs"),
            Class::B32 => ("b32", "%r"),
            Class::B64 => ("b64", "%rd"),
            Class::F32 => ("f32", "%f"),
            Class::F64 => ("f64", "%fd"),
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

/// Makes a list of operands of registers, integers, and texts.
macro_rules! ops {
    ($($op:expr),* $(,)?) => { vec![$($crate::mir::Op::from($op)),*] };
}

pub(crate) use ops;

impl From<Reg> for Op {
    fn from(reg: Reg) -> Self {
        Op::Reg(reg)
    }
}

/// Literals.
macro_rules! from_integers {
    ($($ty:ty)*) => { $(impl From<$ty> for Op {
        fn from(value: $ty) -> Self {
            Op::Text(value.to_string().into())
        }
    })* };
}

from_integers!(i32 u32 i64);

impl From<&'static str> for Op {
    fn from(text: &'static str) -> Self {
        Op::Text(text.into())
    }
}

impl From<&[Reg]> for Op {
    fn from(regs: &[Reg]) -> Self {
        Op::List(regs.iter().copied().map(Op::Reg).collect())
    }
}

impl Op {
    /// Adds the registers in it to a list.
    fn add_regs(&self, regs: &mut Vec<Reg>) {
        match self {
            Op::Reg(reg) | Op::Mem(Base::Reg(reg), _) => regs.push(*reg),
            Op::Both(a, b) => regs.extend([*a, *b]),
            Op::List(ops) => ops.iter().for_each(|op| op.add_regs(regs)),
            Op::Text(_) | Op::Mem(..) | Op::Label(_) => {}
        }
    }

    /// Calls a function with each register, to replace it.
    fn each_reg_mut(&mut self, visit: &mut impl FnMut(&mut Reg)) {
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
    /// Returns an instruction without a guard. Its results come first among its operands.
    pub fn new(opcode: impl Into<Cow<'static, str>>, mut ops: Vec<Op>, args: Vec<Op>, effects: bool, dbg: Option<u32>) -> Self {
        let results = ops.len();
        ops.extend(args);
        Self { guard: None, opcode: opcode.into(), ops, results, effects, template: None, dbg }
    }

    /// Returns the registers that it writes.
    pub fn defs(&self) -> Vec<Reg> {
        let mut regs = Vec::new();
        self.ops[..self.results].iter().for_each(|op| op.add_regs(&mut regs));
        regs
    }

    /// Returns the registers that it reads.
    pub fn uses(&self) -> Vec<Reg> {
        let mut regs: Vec<Reg> = self.guard.iter().map(|(reg, _)| *reg).collect();
        self.ops[self.results..].iter().for_each(|op| op.add_regs(&mut regs));
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

impl Block {
    /// Returns its instructions, branches included.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Inst> {
        self.insts.iter().chain(&self.exits)
    }
}

/// A function.
#[derive(Debug, Default)]
pub struct Function {
    pub blocks: Vec<Block>,
    /// The blocks in the order of the text.
    pub order: Vec<usize>,
    /// The class of each register.
    pub regs: Vec<Class>,
    /// Variables in local and shared memory that only this function has.
    pub variables: Vec<String>,
    /// The functions that it calls, by their names in the IR.
    pub callees: BTreeSet<String>,
}

/// Returns the instruction that copies a register of a class.
pub fn mov(class: Class) -> String {
    format!("mov.{}", class.names().0)
}
