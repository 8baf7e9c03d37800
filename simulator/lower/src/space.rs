//! Address spaces, and which one each pointer of a function points into.
//!
//! CUDA C has generic pointers only. A kernel's parameters point to global memory, variables have their own space, and an address
//! keeps the space of the address that it was made from. So most accesses can name their space, as those of other compilers do. The
//! assumption that a pointer has one space is dropped as soon as two spaces meet in a phi or a select.

use crate::ir::{Callee, Cast, Const, Constant, Function, Inst, Local, Module, Op, Type, Value};
use crate::uses::Uses;

/// A state space of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Const,
    Local,
    /// The parameters of a kernel.
    Param,
}

impl Space {
    /// Returns the space with a number of LLVM's.
    pub fn numbered(number: u32) -> Option<Self> {
        Some(match number {
            0 => Space::Generic,
            1 => Space::Global,
            3 => Space::Shared,
            4 => Space::Const,
            5 => Space::Local,
            101 => Space::Param,
            _ => return None,
        })
    }

    /// Returns its suffix in an opcode, such as `.global`.
    pub fn suffix(self) -> &'static str {
        match self {
            Space::Generic => "",
            Space::Global => ".global",
            Space::Shared => ".shared",
            Space::Const => ".const",
            Space::Local => ".local",
            Space::Param => ".param",
        }
    }
}

/// The space of each pointer of a function.
pub struct Spaces<'m> {
    module: &'m Module,
    function: &'m Function,
    /// Those of locals. `None`: it is undefined, so that any space will do.
    locals: Vec<Option<Space>>,
}

impl<'m> Spaces<'m> {
    pub fn new(module: &'m Module, uses: &Uses<'m>) -> Self {
        let function = uses.function;
        let mut spaces = Spaces { module, function, locals: vec![None; function.locals.len()] };
        for (at, param) in function.params.iter().enumerate() {
            spaces.locals[at] = Some(match param.ty {
                // A structure that is passed by value is copied, unless it can be read where it is.
                Type::Ptr(0) if param.byval.is_some() && is_only_read(uses, at as u32) => Space::Param,
                Type::Ptr(0) if param.byval.is_some() => Space::Local,
                Type::Ptr(0) if function.is_kernel => Space::Global,
                Type::Ptr(number) => numbered(number),
                _ => continue,
            });
        }
        let insts = function.blocks.iter().flatten();
        let pointers: Vec<&Inst> = insts.filter(|inst| matches!(inst.ty, Type::Ptr(_))).collect();
        // A pointer's space goes from none to one to generic, so this ends.
        let mut changed = true;
        while changed {
            changed = false;
            for inst in &pointers {
                let Some(local) = inst.result else { continue };
                let old = spaces.locals[local as usize];
                let new = meet(old, spaces.of_inst(inst));
                spaces.locals[local as usize] = new;
                changed |= new != old;
            }
        }
        spaces
    }

    fn of_inst(&self, inst: &Inst) -> Option<Space> {
        if let Type::Ptr(number @ 1..) = inst.ty {
            return Some(numbered(number));
        }
        match &inst.op {
            Op::Gep { base: value, .. } | Op::Freeze(value) | Op::Cast { op: Cast::Bitcast, value, .. } => self.found(value),
            Op::Cast { op: Cast::AddrSpace, value, .. } => match self.function.ty(value) {
                Type::Ptr(number @ 1..) => Space::numbered(*number),
                _ => self.found(value),
            },
            Op::Phi(incoming) => incoming.iter().fold(None, |space, (value, _)| meet(space, self.found(value))),
            Op::Select { a, b, .. } => meet(self.found(a), self.found(b)),
            Op::Alloca { .. } => Some(Space::Local),
            // The host passes pointers to global memory only.
            Op::Load { ptr, .. } if self.function.is_kernel && self.found(ptr) == Some(Space::Param) => Some(Space::Global),
            Op::Call { callee: Callee::Function(name), args, .. } if name.starts_with("llvm.ptrmask") => {
                args.first().and_then(|arg| self.found(&arg.value))
            }
            _ => Some(Space::Generic),
        }
    }

    fn found(&self, value: &Value) -> Option<Space> {
        match value {
            Value::Local(local) => self.locals[*local as usize],
            Value::Const(constant) => of_constant(self.module, constant),
        }
    }

    /// Returns the space of a pointer.
    pub fn of(&self, value: &Value) -> Space {
        match self.function.ty(value) {
            Type::Ptr(number @ 1..) => numbered(*number),
            _ => self.found(value).unwrap_or(Space::Generic),
        }
    }

    /// Returns the space of a local; generic if it is undefined.
    pub fn of_local(&self, local: Local) -> Space {
        self.locals[local as usize].unwrap_or(Space::Generic)
    }
}

/// Returns true if only loads use a pointer and its derived addresses.
fn is_only_read(uses: &Uses, param: Local) -> bool {
    let mut pointers = vec![param];
    while let Some(local) = pointers.pop() {
        for (_, _, inst) in uses.users(local) {
            let is_read = match &inst.op {
                Op::Load { access, .. } => !access.volatile,
                // A function other than a kernel has no addresses of parameters to compute with.
                Op::Gep { base, indices, .. } => {
                    pointers.extend(inst.result);
                    *base == Value::Local(local)
                        && (uses.function.is_kernel || indices.iter().all(|index| matches!(index, Value::Const(_))))
                }
                Op::Call { callee: Callee::Function(name), args, .. } => {
                    let is_target = args.first().is_some_and(|to| to.value == Value::Local(local));
                    name.starts_with("llvm.lifetime.")
                        || name.starts_with("llvm.memcpy") && !is_target
                        || args.iter().all(|arg| arg.value != Value::Local(local) || arg.byval.is_some())
                }
                _ => false,
            };
            if !is_read {
                return false;
            }
        }
    }
    true
}

/// Returns the space that two pointers share. Generic is below all others.
fn meet(a: Option<Space>, b: Option<Space>) -> Option<Space> {
    match (a, b) {
        (None, other) | (other, None) => other,
        (Some(a), Some(b)) => Some(if a == b { a } else { Space::Generic }),
    }
}

/// Returns the space with a number; generic if there is none.
fn numbered(number: u32) -> Space {
    Space::numbered(number).unwrap_or(Space::Generic)
}

/// Returns the space of a constant pointer; none if it is undefined.
pub fn of_constant(module: &Module, constant: &Constant) -> Option<Space> {
    match &constant.value {
        Const::Undef => None,
        // Variables without a space are in global memory.
        Const::Global(name) => Some(module.global(name).map_or(Space::Generic, |global| match global.space {
            0 => Space::Global,
            number => numbered(number),
        })),
        Const::Gep { base: value, .. } | Const::Cast { op: Cast::AddrSpace | Cast::Bitcast, value } => of_constant(module, value),
        _ => Some(Space::Generic),
    }
}
