//! The fate of a value: whether anything depends on it, and in which way.
//!
//! Compilers load more than a program uses, and a program may look at a value only to decide whether to look again. The checks ask
//! here before they call such a load a defect. The answer follows the register along all paths of the program and through arithmetic,
//! so it errs on the side of "something depends on it".

use super::code::{Action, Inst, Program};
use super::fixed::{SINK, TRUE};
use super::known::written;
use super::operations::{AtomicOp, TensorOp};
use super::wgmma::{FactorA, WgmmaStep};
use alu::registers::{Kind, Reg};
use rustc_hash::FxHashSet;

/// The fate of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Something that outlives the thread depends on it: a store, an address, a branch.
    pub matters: bool,
    /// It decides where a branch goes.
    pub steers: bool,
    /// It is what a compare-and-swap expects to find.
    pub seeds_swap: bool,
}

/// A register before an instruction that holds the value or something computed from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Holder {
    at: u32,
    register: Reg,
    is_predicate: bool,
    /// It holds the value itself.
    is_copy: bool,
}

/// Steps after which everything may depend on the value.
const PATIENCE: usize = 1 << 16;

/// The fate of the value that the instruction at `pc` leaves in a register, as far as it takes until it is known `enough`.
pub fn fate(program: &Program, pc: u32, register: Reg, enough: fn(&Fate) -> bool) -> Fate {
    let mut fate = Fate::default();
    if register == SINK {
        return fate;
    }
    let mut seen = FxHashSet::default();
    let mut open = Vec::new();
    let holder = |at, register, is_predicate, is_copy| Holder { at, register, is_predicate, is_copy };
    successors(program, pc, |at| open.push(holder(at, register, false, true)));
    while let Some(held) = open.pop() {
        if enough(&fate) {
            break;
        }
        if !seen.insert(held) {
            continue;
        }
        if seen.len() > PATIENCE {
            return Fate { matters: true, ..fate };
        }
        let Holder { at, register, is_predicate, is_copy } = held;
        let inst = &program.code[at as usize];
        if is_predicate && inst.guard == register {
            fate.matters = true;
            fate.steers = true;
        }
        match effect(program, inst, register, is_predicate) {
            Effect::None => {}
            Effect::Matters => fate.matters = true,
            Effect::Expected => {
                fate.matters = true;
                fate.seeds_swap |= is_copy;
            }
            Effect::Flows(destination, kind, moves) => successors(program, at, |next| {
                open.push(holder(next, destination, kind == Kind::Predicate, is_copy && moves));
            }),
        }
        let mut overwritten = false;
        written(program, inst, |other, kind| overwritten |= other == register && (kind == Kind::Predicate) == is_predicate);
        if !(overwritten && inst.guard == TRUE) {
            successors(program, at, |next| open.push(holder(next, register, is_predicate, is_copy)));
        }
    }
    fate
}

/// The elements of the load at `pc` that something depends on, one bit each; all if it is another instruction.
pub fn used_elements(program: &Program, pc: u32) -> u32 {
    let Action::Load(index) = program.code[pc as usize].action else { return u32::MAX };
    let access = &program.accesses[index as usize];
    let elements = access.registers.iter().take(access.count as usize).enumerate();
    elements
        .filter(|(_, register)| fate(program, pc, **register, |fate| fate.matters).matters)
        .fold(0, |used, (element, _)| used | 1 << element)
}

/// Returns true if every lane that executes the instruction at `pc` stores what it leaves in a register, or something computed from it.
/// The path ends at the first branch that lanes may take apart, and what is selected or written under a guard may be another value.
pub fn is_stored(program: &Program, pc: u32, register: Reg) -> bool {
    let mut held = FxHashSet::from_iter([(register, false)]);
    let mut at = pc + 1;
    for _ in 0..PATIENCE {
        let inst = &program.code[at as usize];
        let always = inst.guard == TRUE;
        let mut result = None;
        match inst.action {
            Action::Branch { target, .. } if always => {
                at = target;
                continue;
            }
            Action::Branch { .. }
            | Action::Call { .. }
            | Action::Return
            | Action::Exit
            | Action::Trap
            | Action::NoTarget { .. } => {
                return false;
            }
            Action::Store(_) | Action::Atomic(_) if always && held.iter().any(|held| uses(program, inst, *held)) => return true,
            Action::Alu { alu, .. } if always && !alu.row().spelling.starts_with("selp") => {
                result = held.iter().find_map(|(register, is_predicate)| match effect(program, inst, *register, *is_predicate) {
                    Effect::Flows(destination, kind, _) => Some((destination, kind == Kind::Predicate)),
                    _ => None,
                });
            }
            _ => {}
        }
        written(program, inst, |other, kind| {
            held.remove(&(other, kind == Kind::Predicate));
        });
        held.extend(result);
        if held.is_empty() {
            return false;
        }
        at += 1;
    }
    false
}

/// Returns true if an instruction does anything with a register, or with a predicate.
fn uses(program: &Program, inst: &Inst, (register, is_predicate): (Reg, bool)) -> bool {
    !matches!(effect(program, inst, register, is_predicate), Effect::None)
}

/// The effect of a register on an instruction.
enum Effect {
    None,
    Matters,
    /// A compare-and-swap expects it.
    Expected,
    /// Another register depends on it, or is a copy of it.
    Flows(Reg, Kind, bool),
}

fn effect(program: &Program, inst: &Inst, register: Reg, is_predicate: bool) -> Effect {
    let matters = |condition: bool| if condition { Effect::Matters } else { Effect::None };
    match inst.action {
        Action::Alu { alu, destination, sources } => {
            let row = alu.row();
            let reads = |(source, kind): (&Reg, &Kind)| *source == register && (*kind == Kind::Predicate) == is_predicate;
            match sources.iter().zip(row.sources).any(reads) {
                true => Effect::Flows(destination, row.destination, row.spelling.starts_with("mov.")),
                false => Effect::None,
            }
        }
        Action::Load(index) => matters(!is_predicate && program.accesses[index as usize].address.base == register),
        Action::Store(index) => {
            let access = &program.accesses[index as usize];
            let stored = access.registers.iter().take(access.count as usize).any(|stored| *stored == register);
            matters(!is_predicate && (stored || access.address.base == register))
        }
        Action::Atomic(index) => {
            let atomic = &program.atomics[index as usize];
            match !is_predicate && (atomic.address.base == register || atomic.operands.contains(&register)) {
                true if atomic.operands[0] == register && atomic.op == AtomicOp::CompareAndSwap => Effect::Expected,
                found => matters(found),
            }
        }
        Action::Tensor(index) => match &program.tensor_ops[index as usize] {
            TensorOp::MultiplyAdd(op) => {
                matters(!is_predicate && [op.a, op.b, op.c].iter().any(|fragment| fragment.registers.contains(&register)))
            }
            _ => Effect::Matters,
        },
        Action::Wgmma(WgmmaStep::Start(index)) => {
            let wgmma = &program.wgmmas[index as usize];
            let in_a = matches!(wgmma.a, FactorA::Registers(registers) if registers.contains(&register));
            let of_words = wgmma.d.contains(&register) || in_a || wgmma.a == FactorA::Shared(register) || wgmma.b == register;
            matters(if is_predicate { wgmma.adds == register } else { of_words })
        }
        Action::Wgmma(WgmmaStep::Fence | WgmmaStep::Commit | WgmmaStep::Wait { .. }) => Effect::None,
        // Their operands are in memory, or they have none.
        Action::Branch { .. }
        | Action::Call { .. }
        | Action::Return
        | Action::Exit
        | Action::Trap
        | Action::Print { .. }
        | Action::AssertFail { .. }
        | Action::Allocate { .. }
        | Action::Free { .. }
        | Action::CommitCopies
        | Action::CommitBulk
        | Action::WaitForBulk { .. }
        | Action::ProxyFence
        | Action::WaitForCopies { .. }
        | Action::ClusterArrive { .. }
        | Action::ClusterWait { .. }
        | Action::SetRegisters { .. }
        | Action::Fence { .. }
        | Action::Clock { .. }
        | Action::CopyLocal { .. }
        | Action::CopyFrame { .. }
        | Action::Save { .. }
        | Action::Restore { .. }
        | Action::Nothing => Effect::None,
        Action::Barrier { barrier, threads, poll, .. } => matters(match is_predicate {
            true => poll.is_some_and(|poll| poll.source == register),
            false => barrier == register || threads == Some(register),
        }),
        Action::WarpSync { members } => matters(!is_predicate && members == register),
        // Rare between a load and the end of its value: the value counts as used.
        Action::Copy(_)
        | Action::Mbarrier(_)
        | Action::BulkCopy(_)
        | Action::ClusterCopy(_)
        | Action::Texture(_)
        | Action::NoTarget { .. }
        | Action::Exchange(_) => Effect::Matters,
    }
}

/// The instructions that may follow one in the same function.
fn successors(program: &Program, at: u32, mut each: impl FnMut(u32)) {
    let inst = &program.code[at as usize];
    let always = inst.guard == TRUE;
    match inst.action {
        Action::Branch { target, .. } => {
            each(target);
            if !always {
                each(at + 1);
            }
        }
        Action::Return | Action::Exit | Action::Trap | Action::NoTarget { .. } if always => {}
        _ => each(at + 1),
    }
}
