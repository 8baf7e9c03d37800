//! Facts about the values of registers, found by going over a program until none changes.
//!
//! Each register has one fact, which holds for everything that is written to it. This loses little, because compilers write most registers in
//! one place only.

use super::code::{Inst, Program};
use super::registers::written;
use alu::registers::Kind;

/// A fact about a value.
pub trait Fact: Clone + PartialEq {
    /// Passes over a program before facts that still change are widened.
    const PATIENCE: usize = usize::MAX;

    /// Returns the fact that holds for both of two values.
    fn or(&self, other: &Self) -> Self;

    /// Returns a weaker fact than this one, which was another `before`. It changes a few times at the most.
    fn widened(self, _before: &Self) -> Self {
        self
    }
}

/// Joins each register's fact with those of everything written to it. `result` returns the fact about an instruction's results,
/// given the facts so far.
pub fn settle<F: Fact>(program: &Program, facts: &mut [F], result: impl Fn(&[F], &Inst) -> F) {
    for pass in 0.. {
        let mut changed = false;
        for inst in &program.code {
            written(program, inst, &mut |register, kind| {
                let Some(before) = facts.get(register as usize).filter(|_| kind != Kind::Predicate) else { return };
                let mut after = before.or(&result(facts, inst));
                if pass >= F::PATIENCE {
                    after = after.widened(before);
                }
                if after != *before {
                    changed = true;
                    facts[register as usize] = after;
                }
            });
        }
        if !changed {
            return;
        }
    }
}
