//! Mutation of PTX: small, deliberate mistakes, to see whether a test suite notices them.
//!
//! - `operator`: [`Operator`], the kinds of mistake.
//! - `change`: what each operator makes of an instruction.
//! - `mutant`: [`Mutant`], one mistake in one function, with a name that stays the same as long as the function's code does.
//!
//! # What is left out
//!
//! A mutant that cannot behave differently says nothing about the tests. These rules leave out such mutants where a look at the text
//! proves it. Each errs on the side of a mutant too many.
//!
//! - An instruction whose result no instruction mentions is not changed.
//! - Zero is neither added instead of subtracted nor the reverse. The minimum of a value and itself is its maximum.
//! - A branch to the next instruction is not removed.
//! - A fence for the block's own threads is not removed next to a barrier of the block, which orders the same accesses.
//! - A bound is not changed in a comparison that only chooses between the two values that it compares: when they are equal, either
//!   choice is the same value.
//! - A constant of a comparison is not changed where that is the same as changing the bound: `i < 8` becomes `i <= 8`, but not `i < 9`
//!   as well.

mod change;
mod mutant;
mod operator;

pub use mutant::{Mutant, find, mutants, mutants_of};
pub use operator::Operator;
