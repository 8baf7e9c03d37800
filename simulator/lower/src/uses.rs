//! Where each local of a function is defined and used.

use crate::ir::{BlockId, Function, Inst, Local, Op, Value};

/// A function, and the definitions and uses of its locals.
pub struct Uses<'f> {
    pub function: &'f Function,
    /// The block and the index of the instruction that defines a local; none for a parameter.
    defs: Vec<Option<(BlockId, usize)>>,
    /// The instructions that use a local, each as often as it does.
    users: Vec<Vec<(BlockId, usize)>>,
}

impl<'f> Uses<'f> {
    pub fn new(function: &'f Function) -> Self {
        let count = function.locals.len();
        let mut uses = Self { function, defs: vec![None; count], users: vec![Vec::new(); count] };
        for (block, insts) in function.blocks.iter().enumerate() {
            for (at, inst) in insts.iter().enumerate() {
                if let Some(result) = inst.result {
                    uses.defs[result as usize] = Some((block, at));
                }
                inst.op.locals().for_each(|local| uses.users[local as usize].push((block, at)));
            }
        }
        uses
    }

    /// Returns the operation that defines a value.
    pub fn def(&self, value: &Value) -> Option<&'f Op> {
        let (block, at) = self.place(value)?;
        Some(&self.function.blocks[block][at].op)
    }

    /// Returns the block and index of the instruction that defines a value.
    pub fn place(&self, value: &Value) -> Option<(BlockId, usize)> {
        self.defs[value.local()? as usize]
    }

    /// Returns the instructions that use a local, with their blocks and indices.
    pub fn users(&self, local: Local) -> impl Iterator<Item = (BlockId, usize, &'f Inst)> + Clone {
        self.users[local as usize].iter().map(|&(block, at)| (block, at, &self.function.blocks[block][at]))
    }
}
