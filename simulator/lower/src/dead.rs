//! Removes instructions whose results are unused.

use crate::mir::{Function, Inst, Reg};

/// Keeps what has an effect, and what that needs.
pub fn remove(function: &mut Function) {
    let insts: Vec<&Inst> = function.blocks.iter().flat_map(|block| &block.insts).collect();
    // The instructions that define each register, until the register is needed.
    let mut makers: Vec<Vec<usize>> = vec![Vec::new(); function.regs.len()];
    for (at, inst) in insts.iter().enumerate() {
        inst.defs().into_iter().for_each(|reg| makers[reg.0].push(at));
    }
    let mut needed: Vec<bool> = insts.iter().map(|inst| inst.effects).collect();
    let exits = function.blocks.iter().flat_map(|block| &block.exits);
    let mut work: Vec<Reg> = insts.iter().copied().filter(|inst| inst.effects).chain(exits).flat_map(Inst::uses).collect();
    while let Some(reg) = work.pop() {
        for maker in std::mem::take(&mut makers[reg.0]) {
            if !std::mem::replace(&mut needed[maker], true) {
                work.extend(insts[maker].uses());
            }
        }
    }
    let mut needed = needed.into_iter();
    for block in &mut function.blocks {
        block.insts.retain(|_| needed.next().unwrap_or(true));
    }
}
