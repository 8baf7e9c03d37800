//! Address spaces, and which one each pointer of a function points into.
//!
//! CUDA C has generic pointers only. A kernel's parameters point to global memory, variables have their own space, and an address
//! keeps the space of the address that it was made from. So most accesses can name their space, as those of other compilers do. The
//! assumption that a pointer has one space is dropped as soon as two spaces meet in a phi or a select.

use crate::ir::{Callee, Cast, Const, Function, Inst, Local, Module, Op, Type, Value};
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

    /// As part of an opcode: `.global`.
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

/// The space of each local that is a pointer. `None`: it is undefined, so that any space will do. And whether the function is a kernel.
pub struct Spaces(Vec<Option<Space>>, bool);

impl Spaces {
    pub fn new(module: &Module, function: &Function, uses: &Uses) -> Self {
        let mut spaces = Spaces(vec![None; function.locals.len()], function.is_kernel);
        for (at, param) in function.params.iter().enumerate() {
            spaces.0[at] = Some(match param.ty {
                // A structure that is passed by value is copied, unless it can be read where it is.
                Type::Ptr(0) if param.byval.is_some() && is_only_read(function, uses, at as u32) => Space::Param,
                Type::Ptr(0) if param.byval.is_some() => Space::Local,
                Type::Ptr(0) if function.is_kernel => Space::Global,
                Type::Ptr(number) => Space::numbered(number).unwrap_or(Space::Generic),
                _ => continue,
            });
        }
        let insts = function.body().iter().flat_map(|block| &block.insts);
        let pointers: Vec<&Inst> = insts.filter(|inst| inst.result.is_some() && matches!(inst.ty, Type::Ptr(_))).collect();
        // A pointer's space goes from none to one to generic, so this ends.
        let mut changed = true;
        while changed {
            changed = false;
            for inst in &pointers {
                let Some(local) = inst.result else { continue };
                let old = spaces.0[local as usize];
                let new = meet(old, spaces.of_inst(module, inst));
                if new != old {
                    spaces.0[local as usize] = new;
                    changed = true;
                }
            }
        }
        spaces
    }

    fn of_inst(&self, module: &Module, inst: &Inst) -> Option<Space> {
        if let Type::Ptr(number @ 1..) = inst.ty {
            return Some(Space::numbered(number).unwrap_or(Space::Generic));
        }
        match &inst.op {
            Op::Gep { base, .. } => self.found(module, base),
            Op::Freeze(value) => self.found(module, value),
            Op::Cast { op: Cast::AddrSpace, from: Type::Ptr(0), value, .. } => self.found(module, value),
            Op::Cast { op: Cast::AddrSpace, from: Type::Ptr(number), .. } => Space::numbered(*number),
            Op::Cast { op: Cast::Bitcast, value, .. } => self.found(module, value),
            Op::Phi(incoming) => incoming.iter().fold(None, |space, (value, _)| meet(space, self.found(module, value))),
            Op::Select { a, b, .. } => meet(self.found(module, a), self.found(module, b)),
            Op::Alloca { .. } => Some(Space::Local),
            // The host passes pointers to global memory only.
            Op::Load { ptr, .. } if self.1 && self.found(module, ptr) == Some(Space::Param) => Some(Space::Global),
            Op::Call { callee: Callee::Function(name), args, .. } if name.starts_with("llvm.ptrmask") => {
                args.first().and_then(|arg| self.found(module, &arg.value))
            }
            _ => Some(Space::Generic),
        }
    }

    fn found(&self, module: &Module, value: &Value) -> Option<Space> {
        match value {
            Value::Local(local) => self.0[*local as usize],
            Value::Const(value) => of_constant(module, value),
        }
    }

    /// Returns the space of a pointer.
    pub fn of(&self, module: &Module, value: &Value, ty: &Type) -> Space {
        match ty {
            Type::Ptr(number @ 1..) => Space::numbered(*number).unwrap_or(Space::Generic),
            _ => self.found(module, value).unwrap_or(Space::Generic),
        }
    }

    /// Returns the space of a local; generic if it is undefined.
    pub fn of_local(&self, local: u32) -> Space {
        self.0[local as usize].unwrap_or(Space::Generic)
    }
}

/// Returns true if only loads use a pointer and the addresses made from it.
fn is_only_read(function: &Function, uses: &Uses, param: Local) -> bool {
    let blocks = function.body();
    let mut pointers = vec![param];
    while let Some(local) = pointers.pop() {
        for (block, at) in uses.users(local) {
            let inst = &blocks[*block].insts[*at];
            let is_read = match &inst.op {
                Op::Load { access, .. } => !access.volatile,
                // A function other than a kernel has no addresses of parameters to compute with.
                Op::Gep { base, indices, .. } => {
                    let is_constant = |(_, index): &(Type, Value)| matches!(index, Value::Const(_));
                    *base == Value::Local(local) && (function.is_kernel || indices.iter().all(is_constant))
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
            if let (Op::Gep { .. }, Some(result)) = (&inst.op, inst.result) {
                pointers.push(result);
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

/// Returns the space of a variable. Those without one are in global memory.
pub fn of_variable(module: &Module, name: &str) -> Space {
    match module.global(name).map(|global| global.space) {
        Some(0) => Space::Global,
        Some(number) => Space::numbered(number).unwrap_or(Space::Generic),
        None => Space::Generic,
    }
}

/// Returns the space of a constant pointer; none if it is undefined.
pub fn of_constant(module: &Module, value: &Const) -> Option<Space> {
    match value {
        Const::Undef => None,
        Const::Global(name) => Some(of_variable(module, name)),
        Const::Gep { base, .. } => of_constant(module, base),
        Const::Cast { op: Cast::AddrSpace | Cast::Bitcast, value, .. } => of_constant(module, value),
        _ => Some(Space::Generic),
    }
}
