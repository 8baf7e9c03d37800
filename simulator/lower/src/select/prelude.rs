//! The names that most files of the selection use.

pub use super::context::Selector;
pub use super::part::{Ext, Part, class, mask, signed_bits, suffix, whole};
pub(crate) use crate::error::Result;
pub use crate::ir::{Arg, Binary, Cast, Const, Constant, Flags, Inst, IntPredicate, Op as IrOp, Ordering, Type, Value};
pub(crate) use crate::layout::{self, Scalar};
pub(crate) use crate::mir::ops;
pub use crate::mir::{Base, Class, Op, Reg, mov};
pub use crate::space::Space;
