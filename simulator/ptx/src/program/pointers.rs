//! Which parameters of the kernel an address was made from.
//!
//! A compiler makes the address of an element from the pointer to its array, by additions. The other terms are mostly products, because an
//! index is multiplied by the size of an element, and no product is a pointer. So an address usually comes from one parameter. An offset in
//! bytes that is a parameter of 64 bits itself cannot be told from a pointer; then there are two.

use std::collections::{BTreeSet, HashMap};

use super::code::{Action, ConstantValue, Inst, Program};
use super::registers::{Role, registers};
use alu::Alu;
use alu::registers::Reg;

/// Offsets in the parameter list.
type Offsets = BTreeSet<u32>;

/// Finds the parameters of 64 bits, by their offsets in the list, that the addresses of the instructions in a line of PTX were made from.
///
/// This is for messages about a kernel that failed: it goes through the whole program. What passes through memory or through another
/// thread's register is not followed.
pub fn parameters_of_addresses(program: &Program, ptx_line: u32) -> Vec<u32> {
    let mut origins: HashMap<Reg, Offsets> = HashMap::new();
    for constant in &program.constants {
        if let ConstantValue::Param { offset, width: 8, .. } = constant.value {
            origins.entry(constant.register).or_default().insert(offset);
        }
    }
    // The sets only grow, so this ends.
    while program.code.iter().filter(|inst| follow(inst, &mut origins)).count() > 0 {}
    let in_line = program.code.iter().zip(&program.origins).filter(|(_, origin)| origin.ptx_line == ptx_line);
    let mut offsets = Offsets::new();
    for (inst, _) in in_line {
        registers(program, inst, &mut |role, register, _| {
            offsets.extend(origins.get(&register).filter(|_| role == Role::Address).into_iter().flatten());
        });
    }
    offsets.into_iter().collect()
}

/// Adds what an instruction says about its result. Returns whether that is new.
fn follow(inst: &Inst, origins: &mut HashMap<Reg, Offsets>) -> bool {
    let Action::Alu { alu, destination, sources: [a, b, c, _] } = inst.action else { return false };
    let terms: &[Reg] = match alu {
        Alu::Mov64 | Alu::CvtB64FromU64 | Alu::CvtB64FromS64 | Alu::Sub64 => &[a],
        Alu::Add64 | Alu::Selp64 | Alu::And64 | Alu::Or64 => &[a, b],
        Alu::MadLo64 | Alu::MadWideU32 | Alu::MadWideS32 => &[c],
        _ => return false,
    };
    let found: Offsets = terms.iter().filter_map(|term| origins.get(term)).flatten().copied().collect();
    if found.is_empty() {
        return false;
    }
    let known = origins.entry(destination).or_default();
    let before = known.len();
    known.extend(found);
    known.len() > before
}
