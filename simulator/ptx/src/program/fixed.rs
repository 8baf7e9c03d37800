//! Registers that every program has, and placeholders for a register or an instruction.

use alu::registers::Reg;

/// The predicate that is always true; it guards what is not guarded.
pub const TRUE: Reg = 0;

/// The predicate that is always false.
pub const FALSE: Reg = 1;

/// The carry flag, which `add.cc` and similar write for `addc` and similar.
pub const CARRY: Reg = 2;

/// The first predicate that a program can name.
pub const FIRST_PREDICATE: Reg = 3;

/// The placeholder for a result that is dropped (`_` in PTX).
pub const SINK: Reg = Reg::MAX;

/// The placeholder for the reconvergence point of a branch that has none: its paths reconverge at the end of the function.
pub const NOWHERE: u32 = u32::MAX;
