//! The names that most files of the selection use.

pub use super::context::Selector;
pub use super::part::{Ext, Part, class, mask, signed_bits, suffix, whole};
pub(crate) use crate::error::Result;
pub use crate::ir::{Arg, Binary, Cast, Const, Flags, Inst, Op as IrOp, Ordering, Type, Value};
pub(crate) use crate::layout::{self, Scalar};
pub use crate::mir::{Base, Class, Op, Piece, Reg, f32_bits, f64_bits, int, mov};
pub use crate::space::Space;
