//! Which array in shared memory an address was made from.
//!
//! A compiler makes the address of an element from the address of its array, by additions. A register that only ever holds such addresses
//! belongs to the array, and so does an access through it, wherever it ends up. Registers that may hold other addresses, too, belong to
//! none.

use super::code::{Action, ConstantValue, Inst, Program};
use super::known::constant;
use super::settle::{Fact, settle};
use alu::Alu;
use alu::registers::Kind;
use alu::windows::{SHARED_WINDOW, WINDOW_OFFSET};

/// The values that a register may hold. The order is that of what is known: a value never goes back up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// Nothing that was seen so far.
    Nothing,
    /// Numbers, and addresses of anything else.
    Other,
    /// Addresses made from that of this variable in shared memory.
    Array(u32),
    /// More than one of these.
    Several,
}

impl Fact for Origin {
    fn or(&self, other: &Self) -> Self {
        match (*self, *other) {
            (Origin::Nothing, known) | (known, Origin::Nothing) => known,
            (a, b) if a == b => a,
            _ => Origin::Several,
        }
    }
}

impl Origin {
    /// Returns the origin of a sum. An array plus a number is an address in the array.
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Origin::Array(array), Origin::Nothing | Origin::Other) | (Origin::Nothing | Origin::Other, Origin::Array(array)) => {
                Origin::Array(array)
            }
            (Origin::Nothing, Origin::Nothing) => Origin::Nothing,
            (Origin::Nothing | Origin::Other, Origin::Nothing | Origin::Other) => Origin::Other,
            _ => Origin::Several,
        }
    }

    /// Returns the remainder of it in another kind of value.
    fn mixed(self) -> Self {
        if let Origin::Array(_) = self { Origin::Several } else { self }
    }
}

/// Notes the arrays that loads and stores belong to. Unknown arrays, and those without a size, are left out.
pub fn note_arrays(program: &mut Program) {
    if program.shared_variables.iter().all(|variable| variable.bytes.is_none()) {
        return;
    }
    let origins = origins(program);
    for inst in &program.code {
        if let Action::Load(index) | Action::Store(index) = inst.action {
            let access = &mut program.accesses[index as usize];
            if let Origin::Array(array) = origins[access.address.base as usize] {
                access.array = program.shared_variables[array as usize].bytes.map(|_| array);
            }
        }
    }
}

/// Finds the origin of each register.
fn origins(program: &Program) -> Vec<Origin> {
    let mut origins = vec![Origin::Nothing; program.rows];
    for (_, _, register) in &program.specials {
        origins[*register as usize] = Origin::Other;
    }
    for constant in &program.constants {
        origins[constant.register as usize] = match constant.value {
            ConstantValue::Shared { variable, .. } => Origin::Array(variable),
            _ => Origin::Other,
        };
    }
    settle(program, &mut origins, |origins, inst| result(program, origins, inst));
    origins
}

fn result(program: &Program, origins: &[Origin], inst: &Inst) -> Origin {
    // What comes from memory, from another lane, or from another instruction that is no arithmetic, is not followed.
    let Action::Alu { alu, sources, .. } = inst.action else { return Origin::Other };
    let of = |source: usize| origins[sources[source] as usize];
    match alu {
        Alu::Mov32 | Alu::Mov64 | Alu::CvtB32FromU32 | Alu::CvtB32FromS32 | Alu::CvtB64FromU64 | Alu::CvtB64FromS64 => of(0),
        Alu::CvtB64FromU32 | Alu::CvtB64FromS32 | Alu::CvtB32FromU64 | Alu::CvtB32FromS64 => of(0),
        Alu::Add32 | Alu::Add64 | Alu::AddCarry32 => of(0).plus(of(1)),
        // `cvta`
        Alu::And64 | Alu::Or64 if matches!(constant(program, sources[1]), Some(SHARED_WINDOW | WINDOW_OFFSET)) => of(0),
        Alu::Sub32 | Alu::Sub64 | Alu::SubCarry32 => of(0).plus(of(1).mixed()),
        Alu::MadLo32 | Alu::MadLo64 | Alu::MadWideU32 | Alu::MadWideS32 => of(0).mixed().plus(of(1).mixed()).plus(of(2)),
        Alu::Selp32 | Alu::Selp64 => of(0).or(&of(1)),
        _ => {
            let kinds = alu.row().sources.iter().enumerate();
            let values = kinds.filter(|(_, kind)| **kind != Kind::Predicate);
            values.fold(Origin::Other, |all, (value, _)| all.plus(of(value).mixed()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Module;

    #[test]
    fn an_address_belongs_to_the_array_that_it_was_made_from() {
        let module = Module::parse(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.shared .b32 a[4]; .shared .b32 b[4];\n\
             .reg .b32 %r<20>; .reg .pred %p<2>;\n\
             mov.u32 %r1, a; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.s32 %r4, %r1, %r3;\nLOOP:\nadd.s32 %r4, %r4, 4;\n\
             mov.u32 %r5, b; mad.lo.s32 %r6, %r2, 4, %r5; sub.s32 %r7, %r6, %r3; add.s32 %r8, %r3, %r3;\n\
             selp.b32 %r9, %r4, %r6, %p1; selp.b32 %r10, %r4, %r1, %p1; sub.s32 %r11, %r4, %r6; mov.u32 %r12, %r1; mov.u32 %r12, %r2;\n\
             xor.b32 %r13, %r4, 4; add.s32 %r14, %r4, %r6;\nret;\n}",
        )
        .unwrap();
        let program = &module.kernels()[0].program;
        let origins = origins(program);
        let of = |number: u32| origins[(program.named_registers[0].1.first + number) as usize];
        assert_eq!([1, 4, 10].map(of), [Origin::Array(0); 3]);
        assert_eq!([5, 6, 7].map(of), [Origin::Array(1); 3]);
        assert_eq!([2, 3, 8].map(of), [Origin::Other; 3]);
        assert_eq!([9, 11, 12, 13, 14].map(of), [Origin::Several; 5]);
    }
}
