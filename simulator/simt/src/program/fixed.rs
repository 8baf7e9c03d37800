//! Registers that every program has, and numbers that stand for none.

use crate::registers::Reg;

/// The predicate that is always true; it guards what is not guarded.
pub const TRUE: Reg = 0;

/// The predicate that is always false.
pub const FALSE: Reg = 1;

/// The carry flag: what `add.cc` and its like leave for `addc` and its like.
pub const CARRY: Reg = 2;

/// The first predicate that a program can name.
pub const FIRST_PREDICATE: Reg = 3;

/// A register that swallows what is written to it (`_` in PTX).
pub const SINK: Reg = Reg::MAX;

/// No instruction: where a branch has no reconvergence point, its paths meet at the end of the function only.
pub const NOWHERE: u32 = u32::MAX;
