//! The fate of a value: whether anything depends on it, and in which way.
//!
//! Compilers load more than a program uses, and a program may look at a value only to decide whether to look again. The checks ask
//! here before they call such a load a defect. The answer follows the register along all paths of the program and through arithmetic,
//! so it errs on the side of "something depends on it".

use super::code::{Action, Inst, Program};
use super::fixed::{SINK, TRUE};
use super::flow::successors;
use super::operations::{Atomic, AtomicOp};
use super::registers::{Role, reads_are_known, registers, written};
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

/// A register that holds the value or something computed from it. This is before the instruction at `at`.
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

/// Traces the value that the instruction at `pc` leaves in a register. This ends when `enough` of its fate is known.
pub fn fate(program: &Program, pc: u32, register: Reg, enough: fn(&Fate) -> bool) -> Fate {
    let mut fate = Fate::default();
    if register == SINK {
        return fate;
    }
    let mut seen = FxHashSet::default();
    let mut open = Vec::new();
    let holder = |at, register, is_predicate, is_copy| Holder { at, register, is_predicate, is_copy };
    open.extend(successors(&program.code, pc).map(|at| holder(at, register, false, true)));
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
            Effect::Flows(destination, kind, moves) => {
                let result = |next| holder(next, destination, kind == Kind::Predicate, is_copy && moves);
                open.extend(successors(&program.code, at).map(result));
            }
        }
        let mut overwritten = false;
        written(program, inst, &mut |other, kind| overwritten |= other == register && (kind == Kind::Predicate) == is_predicate);
        if !(overwritten && inst.guard == TRUE) {
            open.extend(successors(&program.code, at).map(|next| Holder { at: next, ..held }));
        }
    }
    fate
}

/// Finds the elements of the load at `pc` that something depends on. Each is one bit; all are set for another instruction.
pub fn used_elements(program: &Program, pc: u32) -> u32 {
    let Action::Load(index) = program.code[pc as usize].action else { return u32::MAX };
    let access = &program.accesses[index as usize];
    let elements = access.registers.iter().take(access.count as usize).enumerate();
    elements
        .filter(|(_, register)| fate(program, pc, **register, |fate| fate.matters).matters)
        .fold(0, |used, (element, _)| used | 1 << element)
}

/// Returns true if every executing lane stores what `pc` leaves in `register`. Something computed from it counts, too.
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
        written(program, inst, &mut |other, kind| {
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

/// Returns true if a branch depends on what `pc` read.
///
/// `read` are the registers with the value. The branch is on the way to the next read of memory, which cannot begin before the value is there.
pub fn guards(program: &Program, pc: u32, read: &[Reg]) -> bool {
    let mut held: FxHashSet<_> = read.iter().filter(|register| **register != SINK).map(|register| (*register, false)).collect();
    let mut at = pc + 1;
    while !held.is_empty() {
        let inst = &program.code[at as usize];
        match inst.action {
            Action::Branch { .. } | Action::Exit | Action::Return => return held.contains(&(inst.guard, true)),
            Action::Alu { .. } => {}
            _ => return false,
        }
        let flows = held.iter().filter_map(|(register, is_predicate)| match effect(program, inst, *register, *is_predicate) {
            Effect::Flows(destination, kind, _) => Some((destination, kind == Kind::Predicate)),
            _ => None,
        });
        let results: Vec<_> = flows.collect();
        written(program, inst, &mut |other, kind| {
            held.remove(&(other, kind == Kind::Predicate));
        });
        held.extend(results);
        at += 1;
    }
    false
}

/// Returns true if an instruction uses a register or a predicate.
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
    // What is rare between a load and the end of its value counts as a use.
    let mut is_read = !reads_are_known(program, inst);
    registers(program, inst, &mut |role, other, kind| {
        is_read |= role != Role::Written && other == register && (kind == Kind::Predicate) == is_predicate;
    });
    match inst.action {
        _ if !is_read => Effect::None,
        Action::Alu { alu, destination, .. } => {
            let row = alu.row();
            Effect::Flows(destination, row.destination, row.spelling.starts_with("mov."))
        }
        Action::Atomic(index) => match program.atomics[index as usize] {
            Atomic { op: AtomicOp::CompareAndSwap, operands: [expected, ..], .. } if expected == register => Effect::Expected,
            _ => Effect::Matters,
        },
        _ => Effect::Matters,
    }
}
