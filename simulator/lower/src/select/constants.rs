//! Constants as parts.

use super::integers::{folded, opcode};
use super::prelude::*;
use crate::address::{constant_offset, signed};
use crate::space;

impl Selector<'_> {
    pub fn constant(&mut self, value: &Const, ty: &Type) -> Result<Vec<Part>> {
        let scalars = self.scalars(ty)?;
        Ok(match value {
            Const::Zero => scalars.iter().map(|_| Part::Bits(0)).collect(),
            Const::Undef => vec![Part::Undef; scalars.len()],
            Const::Int(bits) => match ty {
                Type::Int(65..) => vec![Part::Bits(*bits as u64), Part::Bits((*bits >> 64) as u64)],
                Type::Int(_) => vec![Part::Bits(*bits as u64)],
                _ => return self.fail("a constant of a wrong type"),
            },
            Const::Float(bits) => vec![Part::Bits(*bits)],
            Const::Bytes(bytes) => bytes.iter().map(|byte| Part::Bits(u64::from(*byte))).collect(),
            Const::Splat(ty, value) => {
                let part = self.constant(value, ty)?;
                scalars.iter().filter_map(|_| part.first().cloned()).collect()
            }
            Const::Aggregate(elements) => {
                let mut parts = Vec::with_capacity(scalars.len());
                for (ty, value) in elements {
                    let part = self.constant(value, ty)?;
                    // Aggregates hold generic addresses.
                    parts.extend(self.generic_parts(part, ty, space::of_constant(self.module, value).unwrap_or(Space::Generic))?);
                }
                if parts.len() != scalars.len() {
                    return self.fail("a constant of a wrong type");
                }
                parts
            }
            Const::Global(name) if !self.module.globals.iter().any(|global| global.name == *name) => {
                return self.fail(format!("the address of {name}, which is not a variable of this module"));
            }
            Const::Global(name) => vec![Part::Address(Base::Symbol(self.names.of(name).to_owned()), 0)],
            Const::Gep { source, base, base_type, indices } => {
                let parts = self.constant(base, base_type)?;
                let offset = constant_offset(source, indices);
                match (parts.as_slice(), offset) {
                    ([Part::Address(base, start)], Some(offset)) => vec![Part::Address(base.clone(), start.wrapping_add(offset))],
                    ([Part::Bits(start)], Some(offset)) => vec![Part::Bits(start.wrapping_add_signed(offset))],
                    ([Part::Undef], _) => vec![Part::Undef],
                    _ => return self.fail("a constant address that is not supported"),
                }
            }
            Const::Cast { op, from, value, to } => self.constant_cast(*op, from, value, to)?,
            Const::Binary { op, ty, a, b } => {
                let is_number = |value: &Const| matches!(value, Const::Int(_) | Const::Zero);
                let known = match (signed(a, ty), signed(b, ty), ty) {
                    (Some(x), Some(y), Type::Int(width @ ..=64)) if is_number(a) && is_number(b) => {
                        folded(*op, x as u64, y as u64).map(|bits| bits & mask(*width))
                    }
                    _ => None,
                };
                match known {
                    Some(bits) => vec![Part::Bits(bits)],
                    None => return self.constant_binary(*op, ty, a, b),
                }
            }
        })
    }

    fn constant_cast(&mut self, op: Cast, from: &Type, value: &Const, to: &Type) -> Result<Vec<Part>> {
        let parts = self.constant(value, from)?;
        match (op, parts.as_slice()) {
            (Cast::AddrSpace, [part @ Part::Address(..)]) => {
                // A variable's own space and the generic one.
                match (from, to) {
                    (Type::Ptr(_), Type::Ptr(0)) => Ok(vec![part.clone()]),
                    (Type::Ptr(0), Type::Ptr(to))
                        if Space::numbered(*to) == Some(space::of_constant(self.module, value).unwrap_or(Space::Generic)) =>
                    {
                        Ok(vec![part.clone()])
                    }
                    (Type::Ptr(from), Type::Ptr(to)) if from == to => Ok(vec![part.clone()]),
                    _ => self.fail("a cast between address spaces that is not supported"),
                }
            }
            (Cast::Bitcast, _) if from == to => Ok(parts),
            (Cast::PtrToInt, _) => {
                let parts = self.generic_parts(parts, from, space::of_constant(self.module, value).unwrap_or(Space::Generic))?;
                let Some(part) = parts.first() else { return self.fail("a constant that is not supported") };
                let whole = self.operand(part, Scalar::Ptr)?;
                match layout::scalar(to) {
                    Some(Scalar::Int(64)) => Ok(vec![match whole {
                        Op::Reg(reg) => Part::reg(reg),
                        _ => part.clone(),
                    }]),
                    Some(Scalar::Int(..=32)) => Ok(vec![self.made("cvt.u32.u64", Class::B32, vec![whole])]),
                    _ => self.fail("a constant that is not supported"),
                }
            }
            (Cast::IntToPtr, [part]) => match part {
                Part::Reg(reg, _) => Ok(vec![Part::pointer(*reg)]),
                _ => Ok(parts),
            },
            (Cast::Trunc, [Part::Bits(bits)]) => match to {
                Type::Int(width @ ..=64) => Ok(vec![Part::Bits(bits & mask(*width))]),
                _ => self.fail("a constant that is not supported"),
            },
            (Cast::Trunc, [part]) if layout::scalar(from) == Some(Scalar::Int(64)) => {
                let whole = self.operand(part, Scalar::Int(64))?;
                Ok(vec![self.made("cvt.u32.u64", Class::B32, vec![whole])])
            }
            _ => self.fail("a constant that is not supported"),
        }
    }

    /// Makes arithmetic with addresses of variables.
    fn constant_binary(&mut self, op: Binary, ty: &Type, a: &Const, b: &Const) -> Result<Vec<Part>> {
        let (Type::Int(width @ (32 | 64)), Binary::Add | Binary::Sub | Binary::Mul | Binary::Xor, Some(name)) =
            (ty, op, opcode(op))
        else {
            return self.fail("a constant that is not supported");
        };
        let scalar = Scalar::Int(*width);
        let (a, b) = (self.constant(a, ty)?, self.constant(b, ty)?);
        let (Some(a), Some(b)) = (a.first(), b.first()) else { return self.fail("a constant that is not supported") };
        let (a, b) = (self.register(a, scalar)?, self.operand(b, scalar)?);
        Ok(vec![self.made(format!("{name}{width}"), class(scalar), vec![Op::Reg(a), b])])
    }
}
