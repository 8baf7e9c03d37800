//! Removes instructions whose results nobody uses.

use crate::mir::{Function, Inst};

/// Keeps what has an effect, and what that needs.
pub fn remove(function: &mut Function) {
    // The instructions that define each register.
    let mut makers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); function.regs.len()];
    for (block, code) in function.blocks.iter().enumerate() {
        for (at, inst) in code.insts.iter().enumerate() {
            inst.each_def(|reg| makers[reg as usize].push((block, at)));
        }
    }
    let mut needed: Vec<Vec<bool>> = function.blocks.iter().map(|block| vec![false; block.insts.len()]).collect();
    let mut seen = vec![false; function.regs.len()];
    let mut work: Vec<u32> = Vec::new();
    let want = |inst: &Inst, work: &mut Vec<u32>| inst.each_use(|reg| work.push(reg));
    for (block, code) in function.blocks.iter().enumerate() {
        for (at, inst) in code.insts.iter().enumerate() {
            if inst.effects {
                needed[block][at] = true;
                want(inst, &mut work);
            }
        }
        code.exits.iter().for_each(|inst| want(inst, &mut work));
    }
    while let Some(reg) = work.pop() {
        if std::mem::replace(&mut seen[reg as usize], true) {
            continue;
        }
        for (block, at) in &makers[reg as usize] {
            if !std::mem::replace(&mut needed[*block][*at], true) {
                want(&function.blocks[*block].insts[*at], &mut work);
            }
        }
    }
    for (block, code) in function.blocks.iter_mut().enumerate() {
        let mut keep = needed[block].iter().copied();
        code.insts.retain(|_| keep.next().unwrap_or(true));
    }
}
