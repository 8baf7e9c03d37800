//! Instructions of LLVM IR to instructions of PTX, one function at a time.
//!
//! A value is a list of parts, one for each scalar of its type, so that vectors and structures need no instructions of their own.
//! An address is a part that keeps a constant offset until it is used.
//!
//! - `part`: parts of values.
//! - `context`: the state while a function is lowered, and how it emits instructions.
//! - `prelude`: the names that most files use.
//! - `symbols`: names of variables, functions, and parameters in PTX.
//! - `constants`: constants as parts.
//! - `operands`: parts as operands of instructions.
//! - `integers`, `wide`, `floats`, `compare`, `convert`, `bits`: arithmetic.
//! - `pointers`: addresses and their spaces.
//! - `memory`, `atomics`: accesses.
//! - `aggregates`: vectors and structures.
//! - `inline`: inline PTX.
//! - `calls`: functions that were not inlined.
//! - `classes`, `math`, `warp`, `copies`, `intrinsics`: intrinsic functions.
//! - `control`: branches and phis.
//! - `function`: a whole function.

mod aggregates;
mod atomics;
mod bits;
mod calls;
mod classes;
mod compare;
mod constants;
mod context;
mod control;
mod convert;
mod copies;
mod floats;
mod function;
mod inline;
mod integers;
mod intrinsics;
mod math;
mod memory;
mod operands;
mod part;
mod pointers;
mod prelude;
mod symbols;
mod warp;
mod wide;

pub use calls::passed;
pub use function::lower;
pub use symbols::{Names, parameter};
