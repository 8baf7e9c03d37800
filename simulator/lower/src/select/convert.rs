//! Conversions between types.

use super::prelude::*;

impl Selector<'_> {
    pub fn convert(&mut self, inst: &Inst, op: Cast, from: &Type, value: &Value) -> Result<Vec<Part>> {
        let to = &inst.ty;
        match (op, from, to) {
            (Cast::Bitcast, _, _) => return self.bitcast(from, to, value, inst.result),
            (Cast::AddrSpace, Type::Ptr(_), Type::Ptr(number)) => {
                let space = match (number, inst.result) {
                    (0, Some(result)) => self.spaces.of_local(result),
                    _ => Space::numbered(*number).unwrap_or(Space::Generic),
                };
                return Ok(vec![self.in_space(value, from, space)?]);
            }
            (Cast::Trunc, Type::Int(65..), Type::Int(65..)) => return self.parts(value, from),
            (Cast::Trunc, Type::Int(65..), Type::Int(width)) => {
                let Some(low) = self.parts(value, from)?.into_iter().next() else {
                    return self.fail("a value without parts");
                };
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
        let parts = if op == Cast::PtrToInt { self.data_parts(value, from)? } else { self.parts(value, from)? };
        parts.iter().map(|part| self.convert_part(op, source, target, part)).collect()
    }

    fn convert_part(&mut self, op: Cast, from: Scalar, to: Scalar, part: &Part) -> Result<Part> {
        if *part == Part::Undef {
            return Ok(Part::Bits(0));
        }
        match (op, from, to) {
            (Cast::Trunc, Scalar::Int(from), Scalar::Int(to)) => self.truncate(from, to, part),
            (Cast::Zext, Scalar::Int(from), Scalar::Int(to)) => self.extend(from, to, Ext::Zero, part),
            (Cast::Sext, Scalar::Int(from), Scalar::Int(to)) => self.extend(from, to, Ext::Sign, part),
            (Cast::PtrToInt, Scalar::Ptr, Scalar::Int(to)) => {
                let whole = self.operand(part, Scalar::Ptr)?;
                match whole {
                    Op::Reg(reg) => self.truncate(64, to, &Part::reg(reg)),
                    _ => Ok(part.clone()),
                }
            }
            (Cast::IntToPtr, Scalar::Int(from), Scalar::Ptr) => {
                let whole = self.widened(part, from, Ext::Zero)?;
                Ok(match whole {
                    Op::Reg(reg) => Part::pointer(reg),
                    _ => part.clone(),
                })
            }
            (Cast::FpTrunc | Cast::FpExt, ..) if from == to => Ok(part.clone()),
            (Cast::FpTrunc, ..) => {
                let whole = self.in_register(part, from)?;
                if (from, to) == (Scalar::Double, Scalar::BFloat) {
                    return self.fail("a conversion from double to bfloat");
                }
                Ok(self.made(format!("cvt.rn.{}.{}", suffix(to), suffix(from)), class(to), vec![whole]))
            }
            (Cast::FpExt, Scalar::BFloat, _) => {
                let float = self.widened_float(from, part)?;
                Ok(match (float, to) {
                    (Op::Reg(reg), Scalar::Float) => Part::reg(reg),
                    (float, _) => self.made("cvt.f64.f32", Class::F64, vec![float]),
                })
            }
            (Cast::FpExt, ..) => {
                let whole = self.in_register(part, from)?;
                Ok(self.made(format!("cvt.{}.{}", suffix(to), suffix(from)), class(to), vec![whole]))
            }
            (Cast::FpToSi | Cast::FpToUi, _, Scalar::Int(width)) => {
                let source = if from == Scalar::BFloat { Scalar::Float } else { from };
                let number = self.widened_float(from, part)?;
                let number = if from == Scalar::Half { self.in_register(part, from)? } else { number };
                let (letter, ext) = if op == Cast::FpToSi { ('s', Ext::Sign) } else { ('u', Ext::Zero) };
                let (bits, reg_class) = whole(width);
                let reg = self.one(format!("cvt.rzi.{letter}{bits}.{}", suffix(source)), reg_class, vec![number]);
                if width == 1 {
                    return Ok(self.made("setp.ne.s32", Class::Pred, vec![Op::Reg(reg), int(0)]));
                }
                Ok(Part::Reg(reg, ext))
            }
            (Cast::SiToFp | Cast::UiToFp, Scalar::Int(width), _) => {
                let (letter, ext) = if op == Cast::SiToFp { ('s', Ext::Sign) } else { ('u', Ext::Zero) };
                if width == 1 && matches!(to, Scalar::Float | Scalar::Double) {
                    let condition = self.register(part, Scalar::Int(1))?;
                    let one = self.float_literal(to, if ext == Ext::Sign { -1.0 } else { 1.0 });
                    let zero = self.float_literal(to, 0.0);
                    let opcode = format!("selp.{}", suffix(to));
                    return Ok(self.made(opcode, class(to), vec![one, zero, Op::Reg(condition)]));
                }
                let whole = self.extended_in_register(part, width, ext)?;
                let bits = if width <= 32 { 32 } else { 64 };
                if to == Scalar::BFloat {
                    return self.fail("a conversion from an integer to bfloat");
                }
                Ok(self.made(format!("cvt.rn.{}.{letter}{bits}", suffix(to)), class(to), vec![whole]))
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
        if to == 1 {
            let (and, setp, reg_class) =
                if from <= 32 { ("and.b32", "setp.ne.s32", Class::B32) } else { ("and.b64", "setp.ne.s64", Class::B64) };
            let bit = self.one(and, reg_class, vec![Op::Reg(reg), int(1)]);
            return Ok(self.made(setp, Class::Pred, vec![Op::Reg(bit), int(0)]));
        }
        if from > 32 && to <= 32 {
            return Ok(self.made("cvt.u32.u64", Class::B32, vec![Op::Reg(reg)]));
        }
        Ok(Part::reg(reg))
    }

    /// Extends an integer by zeros or by its sign.
    pub fn extend(&mut self, from: u32, to: u32, ext: Ext, part: &Part) -> Result<Part> {
        if let Part::Bits(bits) = part {
            let value = match ext {
                Ext::Sign => signed_bits(*bits, from) as u64,
                _ => bits & mask(from),
            };
            return Ok(Part::Bits(value & mask(to)));
        }
        if from == 1 && to > 32 {
            let condition = self.register(part, Scalar::Int(1))?;
            let one = if ext == Ext::Sign { -1 } else { 1 };
            return Ok(Part::Reg(self.one("selp.b64", Class::B64, vec![int(one), int(0), Op::Reg(condition)]), ext));
        }
        let whole = if to <= 32 { self.extended(part, from, ext)? } else { self.widened(part, from, ext)? };
        match whole {
            Op::Reg(reg) => Ok(Part::Reg(reg, ext)),
            _ => self.fail("an extension of a constant"),
        }
    }
}
