//! Which parameters of the kernel an address was made from.
//!
//! A compiler makes the address of an element from the pointer to its array, by additions. The other terms are mostly products, because an
//! index is multiplied by the size of an element, and no product is a pointer. So an address usually comes from one parameter. An offset in
//! bytes that is a parameter of 64 bits itself cannot be told from a pointer; then there are two.

use std::collections::BTreeSet;

use super::code::{Action, ConstantValue, Inst, Program};
use super::registers::{Role, registers};
use super::settle::{Fact, settle};
use alu::Alu;
use alu::registers::Reg;

/// Offsets in the parameter list. The sets only grow, so they settle.
#[derive(Clone, Default, PartialEq)]
struct Offsets(BTreeSet<u32>);

impl Fact for Offsets {
    fn or(&self, other: &Self) -> Self {
        Self(&self.0 | &other.0)
    }
}

/// Finds the 64-bit parameters that a PTX line's addresses were made from. They are given by their offsets in the list.
///
/// This is for messages about a kernel that failed: it goes through the whole program. What passes through memory or through another
/// thread's register is not followed.
pub fn parameters_of_addresses(program: &Program, ptx_line: u32) -> Vec<u32> {
    let mut origins = vec![Offsets::default(); program.rows];
    for constant in &program.constants {
        if let ConstantValue::Param { offset, width: 8, .. } = constant.value {
            origins[constant.register as usize].0.insert(offset);
        }
    }
    settle(program, &mut origins, result);
    let in_line = program.code.iter().zip(&program.origins).filter(|(_, origin)| origin.ptx_line == ptx_line);
    let mut offsets = BTreeSet::new();
    for (inst, _) in in_line {
        registers(program, inst, &mut |role, register, _| {
            if role == Role::Address {
                offsets.extend(&origins[register as usize].0);
            }
        });
    }
    offsets.into_iter().collect()
}

/// Returns the parameters that an instruction's result is made from.
fn result(origins: &[Offsets], inst: &Inst) -> Offsets {
    let Action::Alu { alu, sources: [a, b, c, _], .. } = inst.action else { return Offsets::default() };
    let terms: &[Reg] = match alu {
        Alu::Mov64 | Alu::CvtB64FromU64 | Alu::CvtB64FromS64 | Alu::Sub64 => &[a],
        Alu::Add64 | Alu::Selp64 | Alu::And64 | Alu::Or64 => &[a, b],
        Alu::MadLo64 | Alu::MadWideU32 | Alu::MadWideS32 => &[c],
        _ => &[],
    };
    terms.iter().fold(Offsets::default(), |all, term| all.or(&origins[*term as usize]))
}
