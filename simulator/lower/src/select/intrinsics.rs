//! Calls, by name: intrinsic functions of LLVM and of NVPTX, and all other functions.

use super::prelude::*;
use crate::ir::Callee;

/// Intrinsics that leave nothing in the code.
const IGNORED: [&str; 8] = [
    "llvm.assume",
    "llvm.lifetime.",
    "llvm.dbg.",
    "llvm.experimental.noalias.scope.decl",
    "llvm.donothing",
    "llvm.invariant.",
    "llvm.prefetch",
    "llvm.var.annotation",
];

impl Selector<'_> {
    /// Makes the code of any call.
    pub fn any_call(&mut self, inst: &Inst, callee: &Callee, args: &[Arg], flags: Flags) -> Result<Vec<Part>> {
        let name = match callee {
            Callee::Asm { template, constraints, side_effect } => {
                return self.inline(&inst.ty, template, constraints, *side_effect, args);
            }
            Callee::Pointer(_) => return self.fail("a call through a pointer is not supported"),
            Callee::Function(name) => name,
        };
        if IGNORED.iter().any(|prefix| name.starts_with(prefix)) {
            return Ok(vec![Part::Undef; layout::parts(&inst.ty)?.len()]);
        }
        if let Some(rest) = name.strip_prefix("llvm.nvvm.") {
            return self.nvvm(inst, rest, args);
        }
        match name.strip_prefix("llvm.") {
            Some(rest) => self.llvm(inst, rest, args, flags),
            None => self.call(name, &inst.ty, args),
        }
    }
}
