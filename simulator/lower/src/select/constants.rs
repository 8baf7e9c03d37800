//! Constants as parts.

use super::prelude::*;
use crate::address::constant_offset;
use crate::space;

const UNSUPPORTED: &str = "a constant that is not supported";

impl Selector<'_> {
    pub fn constant(&mut self, constant: &Constant) -> Result<Vec<Part>> {
        let scalars = layout::parts(&constant.ty)?;
        Ok(match &constant.value {
            Const::Zero => vec![Part::Bits(0); scalars.len()],
            Const::Undef => vec![Part::Undef; scalars.len()],
            Const::Int(bits) => match constant.ty {
                Type::Int(65..) => vec![Part::Bits(*bits as u64), Part::Bits((*bits >> 64) as u64)],
                Type::Int(_) => vec![Part::Bits(*bits as u64)],
                _ => return self.fail("a constant of a wrong type"),
            },
            Const::Float(bits) => vec![Part::Bits(*bits)],
            Const::Bytes(bytes) => bytes.iter().map(|byte| Part::Bits(u64::from(*byte))).collect(),
            Const::Splat(element) => {
                let part = self.constant(element)?;
                scalars.iter().filter_map(|_| part.first().cloned()).collect()
            }
            Const::Aggregate(elements) => {
                let mut parts = Vec::with_capacity(scalars.len());
                for element in elements {
                    parts.extend(self.generic_constant(element)?);
                }
                if parts.len() != scalars.len() {
                    return self.fail("a constant of a wrong type");
                }
                parts
            }
            Const::Global(name) if self.module.global(name).is_none() => {
                return self.fail(format!("the address of {name}, which is not a variable of this module"));
            }
            Const::Global(name) => vec![Part::Address(Base::Symbol(self.names.of(name).to_owned()), 0)],
            Const::Gep { source, base, indices } => {
                let parts = self.constant(base)?;
                vec![match (parts.as_slice(), constant_offset(source, indices)) {
                    ([Part::Address(base, start)], Some(offset)) => Part::Address(base.clone(), start.wrapping_add(offset)),
                    ([Part::Bits(start)], Some(offset)) => Part::Bits(start.wrapping_add_signed(offset)),
                    ([Part::Undef], _) => Part::Undef,
                    _ => return self.fail("a constant address that is not supported"),
                }]
            }
            Const::Cast { op: Cast::AddrSpace, value } => {
                let own = space::of_constant(self.module, value).unwrap_or(Space::Generic);
                // A variable's own space and the generic one.
                match (&value.ty, &constant.ty) {
                    (Type::Ptr(_), Type::Ptr(0)) => {}
                    (Type::Ptr(0), Type::Ptr(to)) if Space::numbered(*to) == Some(own) => {}
                    (Type::Ptr(from), Type::Ptr(to)) if from == to => {}
                    _ => return self.fail("a cast between address spaces that is not supported"),
                }
                self.constant(value)?
            }
            Const::Cast { op: Cast::Bitcast, value } if value.ty == constant.ty => self.constant(value)?,
            Const::Cast { op: op @ (Cast::PtrToInt | Cast::IntToPtr | Cast::Trunc), value } => {
                let (Some(from @ (Scalar::Int(..=64) | Scalar::Ptr)), Some(to @ (Scalar::Int(..=64) | Scalar::Ptr))) =
                    (layout::scalar(&value.ty), layout::scalar(&constant.ty))
                else {
                    return self.fail(UNSUPPORTED);
                };
                let parts = if *op == Cast::PtrToInt { self.generic_constant(value)? } else { self.constant(value)? };
                parts.iter().map(|part| self.convert_part(*op, from, to, part)).collect::<Result<_>>()?
            }
            Const::Binary { op: op @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::Xor | Binary::And | Binary::Or), a, b } => {
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                match (layout::scalar(&constant.ty), a.as_slice(), b.as_slice()) {
                    (Some(scalar @ Scalar::Int(..=64)), [a], [b]) => {
                        vec![self.binary_part(*op, Flags::default(), scalar, a, b)?]
                    }
                    _ => return self.fail(UNSUPPORTED),
                }
            }
            Const::Cast { .. } | Const::Binary { .. } => return self.fail(UNSUPPORTED),
        })
    }

    /// Returns the parts of a constant; addresses in it are generic.
    fn generic_constant(&mut self, constant: &Constant) -> Result<Vec<Part>> {
        let parts = self.constant(constant)?;
        self.generic_parts(parts, &constant.ty, space::of_constant(self.module, constant).unwrap_or(Space::Generic))
    }
}
