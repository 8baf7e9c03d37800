//! Gives the two sides of a copy one register where they are never needed at the same time, and removes the copy.
//!
//! Phis leave two copies on each way into a block. Most of them go: a counter is then advanced in place.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::mir::{Function, Inst, Reg};

/// Removes copies until none can be.
pub fn coalesce(function: &mut Function) {
    // Two registers that were merged may let others be.
    for _ in 0..4 {
        if !round(function) {
            break;
        }
    }
}

fn round(function: &mut Function) -> bool {
    // Copies in loops are worth more; without a count of executions, the order of the text is as good as any.
    let insts = function.order.iter().flat_map(|block| &function.blocks[*block].insts);
    let is_same_class = |(to, from): &(Reg, Reg)| function.regs[to.0] == function.regs[from.0];
    let copies: Vec<(Reg, Reg)> = insts.filter_map(Inst::copy).filter(is_same_class).collect();
    if copies.is_empty() {
        return false;
    }
    let copied: HashSet<Reg> = copies.iter().flat_map(|(to, from)| [*to, *from]).collect();
    let live = live_out(function, &copied);
    let mut conflicts = interference(function, &copied, live);
    let mut parent: HashMap<Reg, Reg> = HashMap::new();
    for (to, from) in copies {
        let (to, from) = (find(&parent, to), find(&parent, from));
        if to == from || conflicts.get(&to).is_some_and(|others| others.contains(&from)) {
            continue;
        }
        parent.insert(from, to);
        let theirs = conflicts.remove(&from).unwrap_or_default();
        for other in &theirs {
            if let Some(set) = conflicts.get_mut(other) {
                set.remove(&from);
                set.insert(to);
            }
        }
        conflicts.entry(to).or_default().extend(theirs);
    }
    for block in &mut function.blocks {
        for inst in block.insts.iter_mut().chain(&mut block.exits) {
            inst.rename(|reg| find(&parent, reg));
        }
        block.insts.retain(|inst| inst.copy().is_none_or(|(to, from)| to != from));
    }
    !parent.is_empty()
}

fn find(parent: &HashMap<Reg, Reg>, reg: Reg) -> Reg {
    let mut at = reg;
    while let Some(next) = parent.get(&at) {
        at = *next;
    }
    at
}

/// Returns the registers of interest that are live after each block.
fn live_out(function: &Function, of_interest: &HashSet<Reg>) -> Vec<BTreeSet<Reg>> {
    let count = function.blocks.len();
    let (mut read, mut written) = (vec![BTreeSet::new(); count], vec![HashSet::new(); count]);
    for (at, block) in function.blocks.iter().enumerate() {
        for inst in block.all() {
            read[at].extend(inst.uses().into_iter().filter(|reg| of_interest.contains(reg) && !written[at].contains(reg)));
            written[at].extend(inst.defs().into_iter().filter(|reg| of_interest.contains(reg)));
        }
    }
    let mut into = read;
    let mut out: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); count];
    let mut changed = true;
    while changed {
        changed = false;
        for &block in function.order.iter().rev() {
            let mut new = BTreeSet::new();
            for next in &function.blocks[block].successors {
                new.extend(into[*next].iter().copied());
            }
            if new.len() != out[block].len() {
                for reg in &new {
                    if !written[block].contains(reg) {
                        into[block].insert(*reg);
                    }
                }
                out[block] = new;
                changed = true;
            }
        }
    }
    out
}

/// Returns the registers that hold different values at the same time.
fn interference(function: &Function, of_interest: &HashSet<Reg>, live_out: Vec<BTreeSet<Reg>>) -> HashMap<Reg, BTreeSet<Reg>> {
    let mut conflicts: HashMap<Reg, BTreeSet<Reg>> = HashMap::new();
    let mut add = |a: Reg, b: Reg| {
        if a != b {
            conflicts.entry(a).or_default().insert(b);
            conflicts.entry(b).or_default().insert(a);
        }
    };
    for (mut live, block) in live_out.into_iter().zip(&function.blocks) {
        for inst in block.all().rev() {
            let copy_source = inst.copy().map(|(_, from)| from);
            let of_interest = |reg: &Reg| of_interest.contains(reg);
            let defined: Vec<Reg> = inst.defs().into_iter().filter(of_interest).collect();
            let used: Vec<Reg> = inst.uses().into_iter().filter(of_interest).collect();
            for (at, reg) in defined.iter().enumerate() {
                live.iter().filter(|other| Some(**other) != copy_source).for_each(|other| add(*reg, *other));
                defined[..at].iter().for_each(|other| add(*reg, *other));
                // Inline PTX may write a result before it has read all operands.
                if inst.template.is_some() {
                    used.iter().for_each(|other| add(*reg, *other));
                }
            }
            live.retain(|reg| !defined.contains(reg));
            live.extend(used);
        }
    }
    conflicts
}
