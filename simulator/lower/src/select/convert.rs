//! Conversions between types.

use super::prelude::*;

impl Selector<'_> {
    pub fn convert(&mut self, inst: &Inst, op: Cast, value: &Value) -> Result<Vec<Part>> {
        let (from, to) = (self.function.ty(value), &inst.ty);
        match (op, from, to) {
            (Cast::Bitcast, _, _) => return self.bitcast(inst, value),
            (Cast::AddrSpace, Type::Ptr(_), Type::Ptr(number)) => {
                let space = match (number, inst.result) {
                    (0, Some(result)) => self.spaces.of_local(result),
                    _ => Space::numbered(*number).unwrap_or(Space::Generic),
                };
                return Ok(vec![self.in_space(value, space)?]);
            }
            (Cast::Trunc, Type::Int(65..), Type::Int(65..)) => return self.parts(value),
            (Cast::Trunc, Type::Int(65..), Type::Int(width)) => {
                let Some(low) = self.parts(value)?.into_iter().next() else { return self.fail("a value without parts") };
                return Ok(vec![self.truncate(64, *width, &low)?]);
            }
            (Cast::Zext, Type::Int(width), Type::Int(65..)) => return self.widened_words(value, *width, Ext::Zero),
            (Cast::Sext, Type::Int(width), Type::Int(65..)) => return self.widened_words(value, *width, Ext::Sign),
            (_, Type::Int(65..), _) | (_, _, Type::Int(65..)) => {
                return self.fail("a conversion between a wide integer and another type");
            }
            _ => {}
        }
        let (source, target) = (self.scalar(from.scalar())?, self.scalar(to.scalar())?);
        let parts = if op == Cast::PtrToInt { self.data_parts(value)? } else { self.parts(value)? };
        parts.iter().map(|part| self.convert_part(op, source, target, part)).collect()
    }

    pub fn convert_part(&mut self, op: Cast, from: Scalar, to: Scalar, part: &Part) -> Result<Part> {
        if *part == Part::Undef {
            return Ok(Part::Bits(0));
        }
        let (letter, ext) = match op {
            Cast::FpToSi | Cast::SiToFp | Cast::Sext => ('s', Ext::Sign),
            _ => ('u', Ext::Zero),
        };
        match (op, from, to) {
            (Cast::Trunc, Scalar::Int(from), Scalar::Int(to)) => self.truncate(from, to, part),
            (Cast::Zext | Cast::Sext, Scalar::Int(from), Scalar::Int(to)) => self.extend(from, to, ext, part),
            (Cast::PtrToInt, Scalar::Ptr, Scalar::Int(to)) => match self.operand(part, Scalar::Ptr)? {
                Op::Reg(reg) => self.truncate(64, to, &Part::reg(reg)),
                _ => self.truncate(64, to, part),
            },
            (Cast::IntToPtr, Scalar::Int(from), Scalar::Ptr) => match self.widened(part, from, Ext::Zero)? {
                Op::Reg(reg) => Ok(Part::pointer(reg)),
                _ => Ok(part.clone()),
            },
            (Cast::FpTrunc | Cast::FpExt, ..) if from == to => Ok(part.clone()),
            (Cast::FpTrunc, Scalar::Double, Scalar::BFloat) => self.fail("a conversion from double to bfloat"),
            (Cast::FpExt, Scalar::BFloat, _) => {
                let float = self.widened_float(from, part)?;
                Ok(if to == Scalar::Float { Part::reg(float) } else { self.made("cvt.f64.f32", Class::F64, ops![float]) })
            }
            (Cast::FpTrunc | Cast::FpExt, ..) => {
                let whole = self.register(part, from)?;
                let rounding = if op == Cast::FpTrunc { ".rn" } else { "" };
                Ok(self.made(format!("cvt{rounding}.{}.{}", suffix(to), suffix(from)), class(to), ops![whole]))
            }
            (Cast::FpToSi | Cast::FpToUi, _, Scalar::Int(width)) => {
                let number = if from == Scalar::BFloat { self.widened_float(from, part)? } else { self.register(part, from)? };
                let source = if from == Scalar::BFloat { Scalar::Float } else { from };
                let (bits, reg_class) = whole(width);
                let reg = self.one(format!("cvt.rzi.{letter}{bits}.{}", suffix(source)), reg_class, ops![number]);
                Ok(if width == 1 { self.made("setp.ne.s32", Class::Pred, ops![reg, 0]) } else { Part::Reg(reg, ext) })
            }
            (Cast::SiToFp | Cast::UiToFp, Scalar::Int(1), Scalar::Float | Scalar::Double) => {
                let condition = self.register(part, from)?;
                let one = self.float_literal(to, if ext == Ext::Sign { -1.0 } else { 1.0 })?;
                let args = ops![one, self.float_literal(to, 0.0)?, condition];
                Ok(self.made(format!("selp.{}", suffix(to)), class(to), args))
            }
            (Cast::SiToFp | Cast::UiToFp, Scalar::Int(_), Scalar::BFloat) => self.fail("a conversion from an integer to bfloat"),
            (Cast::SiToFp | Cast::UiToFp, Scalar::Int(width), _) => {
                let number = self.extended_reg(part, width, ext)?;
                Ok(self.made(format!("cvt.rn.{}.{letter}{}", suffix(to), whole(width).0), class(to), ops![number]))
            }
            _ => self.fail(format!("a conversion from {from:?} to {to:?}")),
        }
    }

    pub fn truncate(&mut self, from: u32, to: u32, part: &Part) -> Result<Part> {
        if let Part::Bits(bits) = part {
            return Ok(Part::Bits(bits & mask(to)));
        }
        if from <= to {
            return Ok(part.clone());
        }
        let reg = self.register(part, Scalar::Int(from))?;
        Ok(match to {
            1 => self.lowest_bit(reg, whole(from).0),
            ..=32 if from > 32 => self.made("cvt.u32.u64", Class::B32, ops![reg]),
            _ => Part::reg(reg),
        })
    }

    /// Extends an integer by zeros or by its sign.
    pub fn extend(&mut self, from: u32, to: u32, ext: Ext, part: &Part) -> Result<Part> {
        if let Part::Bits(bits) = part {
            let value = if ext == Ext::Sign { signed_bits(*bits, from) as u64 } else { bits & mask(from) };
            return Ok(Part::Bits(value & mask(to)));
        }
        if from == 1 && to > 32 {
            let condition = self.register(part, Scalar::Int(1))?;
            let one = if ext == Ext::Sign { -1 } else { 1 };
            return Ok(Part::Reg(self.b64("selp.b64", ops![one, 0, condition]), ext));
        }
        match if to <= 32 { self.extended(part, from, ext)? } else { self.widened(part, from, ext)? } {
            Op::Reg(reg) => Ok(Part::Reg(reg, ext)),
            _ => self.fail("an extension of a constant"),
        }
    }
}
