//! Where each local of a function is defined and used.

use crate::ir::{BlockId, Function, Inst, Value};

/// The definitions and uses of a function's locals.
pub struct Uses {
    /// The block and the index of the instruction that defines a local; none for a parameter.
    defs: Vec<Option<(BlockId, usize)>>,
    /// The instructions that use a local, each as often as it does.
    users: Vec<Vec<(BlockId, usize)>>,
}

impl Uses {
    pub fn new(function: &Function) -> Self {
        let mut uses = Self { defs: vec![None; function.locals.len()], users: vec![Vec::new(); function.locals.len()] };
        for (block, insts) in function.body().iter().enumerate() {
            for (at, inst) in insts.insts.iter().enumerate() {
                if let Some(result) = inst.result {
                    uses.defs[result as usize] = Some((block, at));
                }
                inst.op.locals().for_each(|local| uses.users[local as usize].push((block, at)));
            }
        }
        uses
    }

    /// Returns the instruction that defines a value.
    pub fn def<'f>(&self, function: &'f Function, value: &Value) -> Option<&'f Inst> {
        let (block, at) = self.place(value)?;
        function.insts(block).get(at)
    }

    /// Returns the block and the index of the instruction that defines a value.
    pub fn place(&self, value: &Value) -> Option<(BlockId, usize)> {
        self.defs[value.local()? as usize]
    }

    pub fn users(&self, local: u32) -> &[(BlockId, usize)] {
        &self.users[local as usize]
    }
}
