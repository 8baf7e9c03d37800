//! Removes instructions whose results are unused.

use crate::mir::{Function, Inst};

/// Keeps what has an effect, and what that needs.
pub fn remove(function: &mut Function) {
    // The instructions that define each register.
    let mut makers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); function.regs.len()];
    for (block, code) in function.blocks.iter().enumerate() {
        for (at, inst) in code.insts.iter().enumerate() {
            inst.defs().into_iter().for_each(|reg| makers[reg as usize].push((block, at)));
        }
    }
    let mut needed: Vec<Vec<bool>> = function.blocks.iter().map(|block| vec![false; block.insts.len()]).collect();
    let mut seen = vec![false; function.regs.len()];
    let mut work: Vec<u32> = Vec::new();
    for (block, code) in function.blocks.iter().enumerate() {
        for (at, inst) in code.insts.iter().enumerate() {
            if inst.effects {
                needed[block][at] = true;
                work.extend(inst.uses());
            }
        }
        work.extend(code.exits.iter().flat_map(Inst::uses));
    }
    while let Some(reg) = work.pop() {
        if std::mem::replace(&mut seen[reg as usize], true) {
            continue;
        }
        for (block, at) in &makers[reg as usize] {
            if !std::mem::replace(&mut needed[*block][*at], true) {
                work.extend(function.blocks[*block].insts[*at].uses());
            }
        }
    }
    for (block, code) in function.blocks.iter_mut().enumerate() {
        let mut keep = needed[block].iter().copied();
        code.insts.retain(|_| keep.next().unwrap_or(true));
    }
}
