//! Which array in shared memory an address was made from.
//!
//! A compiler makes the address of an element from the address of its array, by additions. A register that only ever holds such addresses
//! belongs to the array, and so does an access through it, wherever it ends up. Registers that may hold other addresses, too, belong to
//! none.

use rustc_hash::FxHashMap as HashMap;

use crate::syntax::ast::{Base, Instruction, Operand, Statement};

/// The values that a register may hold. The order is that of what is known: a value never goes back up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin<'t> {
    /// Nothing that was seen so far.
    Nothing,
    /// Numbers, and addresses of anything else.
    Other,
    /// Addresses made from that of this array.
    Array(&'t str),
    /// More than one of these.
    Several,
}

impl<'t> Origin<'t> {
    /// Returns the origin of a register that has one value or the other.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Origin::Nothing, known) | (known, Origin::Nothing) => known,
            (a, b) if a == b => a,
            _ => Origin::Several,
        }
    }

    /// A sum. An array plus a number is an address in the array.
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
        match self {
            Origin::Array(_) => Origin::Several,
            other => other,
        }
    }
}

/// How often a function is gone through. Compilers write a value before its uses, but for those of a loop; in another order nothing is
/// found.
const PATIENCE: usize = 32;

/// The array of each register of a function.
#[derive(Debug, Default)]
pub struct Arrays<'t> {
    origins: HashMap<&'t str, Origin<'t>>,
}

impl<'t> Arrays<'t> {
    /// Finds the arrays of a function's registers. `is_array` tells the arrays by name.
    pub fn of(body: &[Statement<'t>], is_array: impl Fn(&str) -> bool) -> Self {
        let mut arrays = Self::default();
        let instructions = || {
            body.iter().filter_map(|statement| match statement {
                Statement::Instruction(instruction) => Some(instruction),
                _ => None,
            })
        };
        let mentions = |operand: &Operand<'_>| matches!(operand, Operand::Name(name) | Operand::Offset(name, _) if is_array(name));
        if !instructions().any(|instruction| instruction.operands.iter().any(mentions)) {
            return arrays;
        }
        arrays.origins = instructions().filter_map(result).map(|(name, _)| (name, Origin::Nothing)).collect();
        for _ in 0..PATIENCE {
            let mut changed = false;
            for instruction in instructions() {
                let Some((name, sources)) = result(instruction) else { continue };
                let origin = arrays.result(instruction.opcode, sources, &is_array);
                let entry = arrays.origins.entry(name).or_insert(Origin::Nothing);
                let joined = entry.or(origin);
                changed |= joined != *entry;
                *entry = joined;
            }
            if !changed {
                return arrays;
            }
        }
        Self::default()
    }

    /// The array that an address belongs to, if it belongs to one.
    pub fn array(&self, base: Base<'t>) -> Option<&'t str> {
        match base {
            Base::Name(name) => match self.origins.get(name)? {
                Origin::Array(array) => Some(array),
                _ => None,
            },
            Base::Absolute => None,
        }
    }

    fn result(&self, opcode: &str, sources: &[Operand<'t>], is_array: &impl Fn(&str) -> bool) -> Origin<'t> {
        let origin = |operand: &Operand<'t>| match operand {
            Operand::Name(name) | Operand::Offset(name, _) if is_array(name) => Origin::Array(name),
            Operand::Name(name) | Operand::Offset(name, _) => self.origins.get(name).copied().unwrap_or(Origin::Other),
            _ => Origin::Other,
        };
        let operation = opcode.split('.').next().unwrap_or_default();
        match (operation, sources) {
            // What comes from memory, or from another function, was not followed.
            ("ld" | "ldu" | "call" | "atom", _) => Origin::Other,
            ("mov" | "cvta" | "cvt", [source]) => origin(source),
            ("add", [a, b]) => origin(a).plus(origin(b)),
            ("sub", [a, b]) => origin(a).plus(origin(b).mixed()),
            ("mad", [a, b, c]) => origin(a).mixed().plus(origin(b).mixed()).plus(origin(c)),
            ("selp", [a, b, _]) => origin(a).or(origin(b)),
            _ => sources.iter().fold(Origin::Other, |all, source| all.plus(origin(source).mixed())),
        }
    }
}

/// The register that an instruction writes, and its sources.
fn result<'i, 't>(instruction: &'i Instruction<'t>) -> Option<(&'t str, &'i [Operand<'t>])> {
    match instruction.operands.as_slice() {
        [Operand::Name(name), sources @ ..] => Some((name, sources)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax;

    #[test]
    fn an_address_belongs_to_the_array_that_it_was_made_from() {
        let module = syntax::parse(
            ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() {\n.shared .b32 a[4]; .shared .b32 b[4];\n\
             .reg .b32 %r<20>; .reg .pred %p<2>;\n\
             mov.u32 %r1, a; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.s32 %r4, %r1, %r3;\nLOOP:\nadd.s32 %r4, %r4, 4;\n\
             mov.u32 %r5, b; mad.lo.s32 %r6, %r2, 4, %r5; sub.s32 %r7, %r6, %r3; add.s32 %r8, %r3, %r3;\n\
             selp.b32 %r9, %r4, %r6, %p1; selp.b32 %r10, %r4, %r1, %p1; sub.s32 %r11, %r4, %r6; mov.u32 %r12, %r1; mov.u32 %r12, %r2;\n\
             xor.b32 %r13, %r4, 4; add.s32 %r14, %r4, %r6;\nret;\n}",
        )
        .unwrap();
        let body = module.functions[0].body.as_deref().unwrap();
        let arrays = Arrays::of(body, |name| matches!(name, "a" | "b"));
        let of = |name| arrays.array(Base::Name(name));
        assert_eq!(["%r1", "%r4", "%r10"].map(of), [Some("a"); 3]);
        assert_eq!(["%r5", "%r6", "%r7"].map(of), [Some("b"); 3]);
        assert_eq!(["%r2", "%r3", "%r8", "%r9", "%r11", "%r12", "%r13", "%r14"].map(of), [None; 8]);
    }
}
