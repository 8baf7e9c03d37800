//! Parts of values.

use crate::layout::Scalar;
use crate::mir::{Base, Class, Reg};

/// The bits of a register above an integer's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ext {
    /// Unknown.
    Any,
    Zero,
    /// Copies of the sign.
    Sign,
}

/// One scalar of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Integers below 32 bits are in registers of 32 bits, and those between 33 and 63 in registers of 64.
    Reg(Reg, Ext),
    /// A constant: the bits of an integer or of a floating-point number.
    Bits(u64),
    Undef,
    /// A pointer, in the space of the value that it is a part of.
    Address(Base, i64),
}

impl Part {
    /// Returns a register whose upper bits do not matter.
    pub fn reg(reg: Reg) -> Self {
        Part::Reg(reg, Ext::Any)
    }

    /// Returns a register that holds an address.
    pub fn pointer(reg: Reg) -> Self {
        Part::Address(Base::Reg(reg), 0)
    }

    /// Returns a register that holds a scalar.
    pub fn of(scalar: Scalar, reg: Reg) -> Self {
        if scalar == Scalar::Ptr { Part::pointer(reg) } else { Part::reg(reg) }
    }

    /// Returns the bits of a constant.
    pub fn bits(&self) -> Option<u64> {
        if let Part::Bits(bits) = self { Some(*bits) } else { None }
    }

    /// Returns the truth of a part that is constant.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Part::Bits(bits) => Some(bits & 1 != 0),
            Part::Undef => Some(false),
            _ => None,
        }
    }
}

/// Returns the class of the registers that hold a scalar.
pub fn class(scalar: Scalar) -> Class {
    match scalar {
        Scalar::Int(1) => Class::Pred,
        Scalar::Int(..=32) => Class::B32,
        Scalar::Int(_) | Scalar::Ptr => Class::B64,
        Scalar::Half | Scalar::BFloat => Class::B16,
        Scalar::Float => Class::F32,
        Scalar::Double => Class::F64,
    }
}

/// Returns the lowest bits of a word.
pub fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Returns an integer of this width, as a signed number.
pub fn signed_bits(bits: u64, width: u32) -> i64 {
    let above = 64 - width.clamp(1, 64);
    ((bits << above) as i64) >> above
}

/// Returns the type of a floating-point instruction.
pub fn suffix(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Half => "f16",
        Scalar::BFloat => "bf16",
        Scalar::Double => "f64",
        _ => "f32",
    }
}

/// Returns the registers' width and class for integers of a width.
pub fn whole(width: u32) -> (u32, Class) {
    if width <= 32 { (32, Class::B32) } else { (64, Class::B64) }
}
