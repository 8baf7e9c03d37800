//! Integer arithmetic of up to 64 bits, and the choice of arithmetic for all types.

use super::prelude::*;

impl Selector<'_> {
    /// Makes an operation with two operands, element by element.
    pub fn binary(&mut self, inst: &Inst, op: Binary, flags: Flags, a: &Value, b: &Value) -> Result<Vec<Part>> {
        if let Type::Int(width @ 65..) = inst.ty {
            return self.wide_binary(op, width, a, b);
        }
        let scalar = self.scalar(inst.ty.scalar())?;
        if let (Type::Int(32 | 64), Binary::Add) = (&inst.ty, op)
            && let Some(part) = self.multiply_add(&inst.ty, a, b)?
        {
            return Ok(vec![part]);
        }
        let (left, right) = (self.parts(a, &inst.ty)?, self.parts(b, &inst.ty)?);
        if left.len() != right.len() {
            return self.fail("operands of different lengths");
        }
        left.iter().zip(&right).map(|(a, b)| self.binary_part(op, flags, scalar, a, b)).collect()
    }

    pub fn binary_part(&mut self, op: Binary, flags: Flags, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        match scalar {
            Scalar::Int(1) => self.logic(op, a, b),
            Scalar::Int(width) => self.integer(op, width, a, b),
            Scalar::Ptr => self.fail("arithmetic with pointers"),
            _ => self.float_binary(op, flags, scalar, a, b),
        }
    }

    /// Makes `a * b + c` with a product that nothing else needs.
    fn multiply_add(&mut self, ty: &Type, a: &Value, b: &Value) -> Result<Option<Part>> {
        let scalar = self.scalar(ty)?;
        for (product, other) in [(a, b), (b, a)] {
            let Some(inst) = self.uses.def(self.function, product) else { continue };
            let Value::Local(local) = product else { continue };
            let IrOp::Binary { op: Binary::Mul, a: x, b: y, .. } = &inst.op else { continue };
            let place = self.uses.place(product).map(|(block, _)| block);
            if self.uses.users(*local).len() != 1 || place != Some(self.current) {
                continue;
            }
            let (x, y, other) = (self.part(x, ty)?, self.part(y, ty)?, self.part(other, ty)?);
            let (x, y) = (self.register(&x, scalar)?, self.operand(&y, scalar)?);
            let other = self.operand(&other, scalar)?;
            let opcode = if scalar == Scalar::Int(32) { "mad.lo.s32" } else { "mad.lo.s64" };
            return Ok(Some(self.made(opcode, class(scalar), vec![Op::Reg(x), y, other])));
        }
        Ok(None)
    }

    /// Makes arithmetic with truth values.
    pub fn logic(&mut self, op: Binary, a: &Part, b: &Part) -> Result<Part> {
        let (bits_a, bits_b) = (a.truth(), b.truth());
        let opcode = match op {
            Binary::And | Binary::Mul => match (bits_a, bits_b) {
                (Some(true), _) => return Ok(b.clone()),
                (_, Some(true)) => return Ok(a.clone()),
                (Some(false), _) | (_, Some(false)) => return Ok(Part::Bits(0)),
                _ => "and.pred",
            },
            Binary::Or => match (bits_a, bits_b) {
                (Some(false), _) => return Ok(b.clone()),
                (_, Some(false)) => return Ok(a.clone()),
                (Some(true), _) | (_, Some(true)) => return Ok(Part::Bits(1)),
                _ => "or.pred",
            },
            Binary::Xor | Binary::Add | Binary::Sub => match (bits_a, bits_b) {
                (Some(x), Some(y)) => return Ok(Part::Bits(u64::from(x != y))),
                (Some(false), _) => return Ok(b.clone()),
                (_, Some(false)) => return Ok(a.clone()),
                (Some(true), _) => return self.not(b),
                (_, Some(true)) => return self.not(a),
                _ => "xor.pred",
            },
            // Any other amount than zero is undefined, and so is any other divisor than one.
            Binary::Shl | Binary::LShr | Binary::AShr | Binary::UDiv | Binary::SDiv => return Ok(a.clone()),
            Binary::URem | Binary::SRem => return Ok(Part::Bits(0)),
            _ => return self.fail("floating-point arithmetic with truth values"),
        };
        let (a, b) = (self.register(a, Scalar::Int(1))?, self.register(b, Scalar::Int(1))?);
        Ok(self.made(opcode, Class::Pred, vec![Op::Reg(a), Op::Reg(b)]))
    }

    pub fn not(&mut self, part: &Part) -> Result<Part> {
        if let Some(truth) = part.truth() {
            return Ok(Part::Bits(u64::from(!truth)));
        }
        let reg = self.register(part, Scalar::Int(1))?;
        Ok(self.made("not.pred", Class::Pred, vec![Op::Reg(reg)]))
    }

    fn integer(&mut self, op: Binary, width: u32, a: &Part, b: &Part) -> Result<Part> {
        if let (Part::Bits(a), Part::Bits(b)) = (a, b)
            && let Some(bits) = folded(op, *a, *b)
        {
            return Ok(Part::Bits(bits & mask(width)));
        }
        let (whole, reg_class) = whole(width);
        let Some(name) = opcode(op) else { return self.fail("floating-point arithmetic with integers") };
        let (need_a, need_b) = match op {
            Binary::Shl => (Ext::Any, Ext::Zero),
            Binary::LShr | Binary::UDiv | Binary::URem => (Ext::Zero, Ext::Zero),
            Binary::AShr => (Ext::Sign, Ext::Zero),
            Binary::SDiv | Binary::SRem => (Ext::Sign, Ext::Sign),
            _ => (Ext::Any, Ext::Any),
        };
        let is_shift = matches!(op, Binary::Shl | Binary::LShr | Binary::AShr);
        // Constants go last.
        let commutes = matches!(op, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor);
        let (a, b) = if commutes && matches!(a, Part::Bits(_)) { (b, a) } else { (a, b) };
        // A mask that fits leaves zeros above.
        let is_masked = |part: &Part| matches!(part, Part::Bits(_) | Part::Reg(_, Ext::Zero));
        let result = match op {
            Binary::And if is_masked(a) || is_masked(b) => Ext::Zero,
            Binary::Or | Binary::Xor if is_masked(a) && is_masked(b) => Ext::Zero,
            Binary::LShr | Binary::UDiv | Binary::URem => Ext::Zero,
            Binary::AShr | Binary::SRem => Ext::Sign,
            _ => Ext::Any,
        };
        // With zeros above in the result, a constant must have them, too.
        let need_b = if result == Ext::Zero && need_b == Ext::Any && matches!(b, Part::Bits(_)) { Ext::Zero } else { need_b };
        let left = match self.extended(a, width, need_a)? {
            Op::Reg(reg) => Op::Reg(reg),
            literal => Op::Reg(self.moved(literal, reg_class)),
        };
        let right = match self.extended(b, width, need_b)? {
            // The amount of a shift has 32 bits in PTX.
            Op::Reg(reg) if is_shift && whole == 64 => self.value("cvt.u32.u64", Class::B32, vec![Op::Reg(reg)]),
            right => right,
        };
        if let (Binary::SDiv | Binary::UDiv | Binary::URem | Binary::SRem, Part::Bits(by)) = (op, b)
            && width == 32
            && let Some(part) = self.divided(op, left.clone(), *by as u32)
        {
            return Ok(part);
        }
        Ok(Part::Reg(self.one(format!("{name}{whole}"), reg_class, vec![left, right]), result))
    }

    /// Makes a division by a constant, as multiplications and shifts, like other compilers.
    fn divided(&mut self, op: Binary, a: Op, by: u32) -> Option<Part> {
        let is_signed = matches!(op, Binary::SDiv | Binary::SRem);
        let quotient = if is_signed { self.signed_quotient(a.clone(), by as i32)? } else { self.unsigned_quotient(a.clone(), by)? };
        if matches!(op, Binary::UDiv | Binary::SDiv) {
            return Some(Part::reg(quotient));
        }
        let product = self.one("mul.lo.s32", Class::B32, vec![Op::Reg(quotient), int(i64::from(by as i32))]);
        Some(self.made("sub.s32", Class::B32, vec![a, Op::Reg(product)]))
    }

    fn unsigned_quotient(&mut self, a: Op, by: u32) -> Option<Reg> {
        if by < 2 {
            return None;
        }
        if by.is_power_of_two() {
            return Some(self.one("shr.u32", Class::B32, vec![a, int(i64::from(by.trailing_zeros()))]));
        }
        // The smallest shift for which rounding up the reciprocal is exact for all dividends.
        for shift in 0..32_u32 {
            let power = 1_u128 << (32 + shift);
            let factor = power.div_ceil(u128::from(by));
            let error = factor * u128::from(by) - power;
            if factor < 1 << 32 && error <= 1 << shift {
                let factor = Op::Text(factor.to_string().into());
                let high = self.one("mul.hi.u32", Class::B32, vec![a, factor]);
                let shifted = |this: &mut Self| this.one("shr.u32", Class::B32, vec![Op::Reg(high), int(i64::from(shift))]);
                return Some(if shift == 0 { high } else { shifted(self) });
            }
        }
        // A factor of 33 bits: its highest one is the dividend itself, which must not overflow the sum.
        let shift = 32 - (by - 1).leading_zeros();
        let factor = (1_u128 << (32 + shift)).div_ceil(u128::from(by)) - (1 << 32);
        let high = self.one("mul.hi.u32", Class::B32, vec![a.clone(), Op::Text(factor.to_string().into())]);
        let rest = self.one("sub.s32", Class::B32, vec![a, Op::Reg(high)]);
        let half = self.one("shr.u32", Class::B32, vec![Op::Reg(rest), int(1)]);
        let sum = self.one("add.s32", Class::B32, vec![Op::Reg(half), Op::Reg(high)]);
        Some(self.one("shr.u32", Class::B32, vec![Op::Reg(sum), int(i64::from(shift - 1))]))
    }

    fn signed_quotient(&mut self, a: Op, by: i32) -> Option<Reg> {
        if by < 2 {
            return None;
        }
        let sign = |this: &mut Self| this.one("shr.s32", Class::B32, vec![a.clone(), int(31)]);
        if (by as u32).is_power_of_two() {
            let shift = by.trailing_zeros();
            let sign = sign(self);
            let bias = self.one("shr.u32", Class::B32, vec![Op::Reg(sign), int(i64::from(32 - shift))]);
            let sum = self.one("add.s32", Class::B32, vec![a, Op::Reg(bias)]);
            return Some(self.one("shr.s32", Class::B32, vec![Op::Reg(sum), int(i64::from(shift))]));
        }
        for shift in 0..31_u32 {
            let power = 1_u128 << (32 + shift);
            // One more than the quotient, so that truncated products are right for both signs (Granlund and Montgomery).
            let factor = power / by as u128 + 1;
            let error = factor * by as u128 - power;
            if factor < 1 << 32 && error <= 1 << (shift + 1) {
                let mut high = self.one("mul.hi.s32", Class::B32, vec![a.clone(), int(i64::from(factor as u32 as i32))]);
                // As a signed number such a factor is smaller by 2^32.
                if factor >= 1 << 31 {
                    high = self.one("add.s32", Class::B32, vec![Op::Reg(high), a.clone()]);
                }
                let shifted =
                    if shift == 0 { high } else { self.one("shr.s32", Class::B32, vec![Op::Reg(high), int(i64::from(shift))]) };
                let sign = sign(self);
                return Some(self.one("sub.s32", Class::B32, vec![Op::Reg(shifted), Op::Reg(sign)]));
            }
        }
        None
    }
}

/// Returns the instruction of an operation, without the width.
pub fn opcode(op: Binary) -> Option<&'static str> {
    Some(match op {
        Binary::Add => "add.s",
        Binary::Sub => "sub.s",
        Binary::Mul => "mul.lo.s",
        Binary::Shl => "shl.b",
        Binary::LShr => "shr.u",
        Binary::AShr => "shr.s",
        Binary::UDiv => "div.u",
        Binary::SDiv => "div.s",
        Binary::URem => "rem.u",
        Binary::SRem => "rem.s",
        Binary::And => "and.b",
        Binary::Or => "or.b",
        Binary::Xor => "xor.b",
        _ => return None,
    })
}

/// Computes an operation with two constants, if that is worth it.
pub fn folded(op: Binary, a: u64, b: u64) -> Option<u64> {
    Some(match op {
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::And => a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        _ => return None,
    })
}
