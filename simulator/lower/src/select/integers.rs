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
            && let Some(part) = self.multiply_add(scalar, a, b)?
        {
            return Ok(vec![part]);
        }
        let pairs = self.pairs(a, b)?;
        pairs.iter().map(|(a, b)| self.binary_part(op, flags, scalar, a, b)).collect()
    }

    pub fn binary_part(&mut self, op: Binary, flags: Flags, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        match scalar {
            Scalar::Int(1) => self.logic(op, a, b),
            Scalar::Int(width) => self.integer(op, width, a, b),
            Scalar::Ptr => self.fail("arithmetic with pointers"),
            _ => self.float_binary(op, flags, scalar, a, b),
        }
    }

    /// Makes `a * b + c` if nothing else needs the product.
    fn multiply_add(&mut self, scalar: Scalar, a: &Value, b: &Value) -> Result<Option<Part>> {
        for (product, other) in [(a, b), (b, a)] {
            let Some(IrOp::Binary { op: Binary::Mul, a: x, b: y, .. }) = self.uses.def(product) else { continue };
            let is_here = self.uses.place(product).is_some_and(|(block, _)| block == self.current);
            if !is_here || product.local().is_none_or(|local| self.uses.users(local).count() != 1) {
                continue;
            }
            let (x, y, other) = (self.part(x)?, self.part(y)?, self.part(other)?);
            let args = ops![self.register(&x, scalar)?, self.operand(&y, scalar)?, self.operand(&other, scalar)?];
            return Ok(Some(self.made(format!("mad.lo.s{}", scalar.bits()), class(scalar), args)));
        }
        Ok(None)
    }

    /// Makes arithmetic with truth values.
    pub fn logic(&mut self, op: Binary, a: &Part, b: &Part) -> Result<Part> {
        // The neutral element is the constant that leaves the other operand as it is.
        let (opcode, neutral) = match op {
            Binary::And | Binary::Mul => ("and.pred", true),
            Binary::Or => ("or.pred", false),
            Binary::Xor | Binary::Add | Binary::Sub => ("xor.pred", false),
            // Any other amount than zero is undefined, and so is any other divisor than one.
            Binary::Shl | Binary::LShr | Binary::AShr | Binary::UDiv | Binary::SDiv => return Ok(a.clone()),
            Binary::URem | Binary::SRem => return Ok(Part::Bits(0)),
            _ => return self.fail("floating-point arithmetic with truth values"),
        };
        let constant = match (a.truth(), b.truth()) {
            (Some(truth), _) if truth == neutral => return Ok(b.clone()),
            (_, Some(truth)) if truth == neutral => return Ok(a.clone()),
            (a, b) => a.or(b),
        };
        match constant {
            Some(_) if opcode == "xor.pred" => self.not(if a.truth().is_some() { b } else { a }),
            Some(truth) => Ok(Part::Bits(u64::from(truth))),
            None => {
                let (a, b) = (self.register(a, Scalar::Int(1))?, self.register(b, Scalar::Int(1))?);
                Ok(self.made(opcode, Class::Pred, ops![a, b]))
            }
        }
    }

    pub fn not(&mut self, part: &Part) -> Result<Part> {
        if let Some(truth) = part.truth() {
            return Ok(Part::Bits(u64::from(!truth)));
        }
        let reg = self.register(part, Scalar::Int(1))?;
        Ok(self.made("not.pred", Class::Pred, ops![reg]))
    }

    fn integer(&mut self, op: Binary, width: u32, a: &Part, b: &Part) -> Result<Part> {
        if let (Part::Bits(a), Part::Bits(b)) = (a, b)
            && let Some(bits) = folded(op, *a, *b)
        {
            return Ok(Part::Bits(bits & mask(width)));
        }
        let (whole, reg_class) = whole(width);
        // Constants go last.
        let commutes = matches!(op, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor);
        let (a, b) = if commutes && matches!(a, Part::Bits(_)) { (b, a) } else { (a, b) };
        // A mask that fits leaves zeros above.
        let is_masked = |part: &Part| matches!(part, Part::Bits(_) | Part::Reg(_, Ext::Zero));
        let masked = |is_masked| if is_masked { Ext::Zero } else { Ext::Any };
        // The instruction, the bits that it needs above both operands, and those that it leaves above the result.
        let (name, need_a, need_b, result) = match op {
            Binary::Add => ("add.s", Ext::Any, Ext::Any, Ext::Any),
            Binary::Sub => ("sub.s", Ext::Any, Ext::Any, Ext::Any),
            Binary::Mul => ("mul.lo.s", Ext::Any, Ext::Any, Ext::Any),
            Binary::Shl => ("shl.b", Ext::Any, Ext::Zero, Ext::Any),
            Binary::LShr => ("shr.u", Ext::Zero, Ext::Zero, Ext::Zero),
            Binary::AShr => ("shr.s", Ext::Sign, Ext::Zero, Ext::Sign),
            Binary::UDiv => ("div.u", Ext::Zero, Ext::Zero, Ext::Zero),
            Binary::SDiv => ("div.s", Ext::Sign, Ext::Sign, Ext::Any),
            Binary::URem => ("rem.u", Ext::Zero, Ext::Zero, Ext::Zero),
            Binary::SRem => ("rem.s", Ext::Sign, Ext::Sign, Ext::Sign),
            Binary::And => ("and.b", Ext::Any, Ext::Any, masked(is_masked(a) || is_masked(b))),
            Binary::Or => ("or.b", Ext::Any, Ext::Any, masked(is_masked(a) && is_masked(b))),
            Binary::Xor => ("xor.b", Ext::Any, Ext::Any, masked(is_masked(a) && is_masked(b))),
            _ => return self.fail("floating-point arithmetic with integers"),
        };
        let is_shift = matches!(op, Binary::Shl | Binary::LShr | Binary::AShr);
        // With zeros above in the result, a constant must have them, too.
        let need_b = if result == Ext::Zero && need_b == Ext::Any && matches!(b, Part::Bits(_)) { Ext::Zero } else { need_b };
        let left = self.extended_reg(a, width, need_a)?;
        let right = match self.extended(b, width, need_b)? {
            // The amount of a shift has 32 bits in PTX.
            Op::Reg(reg) if is_shift && whole == 64 => self.b32("cvt.u32.u64", ops![reg]).into(),
            right => right,
        };
        if let (Binary::SDiv | Binary::UDiv | Binary::URem | Binary::SRem, Part::Bits(by)) = (op, b)
            && width == 32
            && let Some(part) = self.divided(op, left, *by as u32)
        {
            return Ok(part);
        }
        Ok(Part::Reg(self.one(format!("{name}{whole}"), reg_class, ops![left, right]), result))
    }

    /// Makes multiplications and shifts for a division by a constant. Other compilers do the same.
    fn divided(&mut self, op: Binary, a: Reg, by: u32) -> Option<Part> {
        let is_signed = matches!(op, Binary::SDiv | Binary::SRem);
        let quotient = if is_signed { self.signed_quotient(a, by as i32)? } else { self.unsigned_quotient(a, by)? };
        if matches!(op, Binary::UDiv | Binary::SDiv) {
            return Some(Part::reg(quotient));
        }
        let product = self.b32("mul.lo.s32", ops![quotient, by as i32]);
        Some(self.made("sub.s32", Class::B32, ops![a, product]))
    }

    fn unsigned_quotient(&mut self, a: Reg, by: u32) -> Option<Reg> {
        if by < 2 {
            return None;
        }
        if by.is_power_of_two() {
            return Some(self.b32("shr.u32", ops![a, by.trailing_zeros()]));
        }
        // The smallest shift for which rounding up the reciprocal is exact for all dividends.
        for shift in 0..32_u32 {
            let power = 1_u128 << (32 + shift);
            let factor = power.div_ceil(u128::from(by));
            let error = factor * u128::from(by) - power;
            if factor < 1 << 32 && error <= 1 << shift {
                let high = self.b32("mul.hi.u32", ops![a, factor as u32]);
                return Some(if shift == 0 { high } else { self.b32("shr.u32", ops![high, shift]) });
            }
        }
        // A factor of 33 bits: its highest one is the dividend itself, which must not overflow the sum.
        let shift = 32 - (by - 1).leading_zeros();
        let factor = (1_u128 << (32 + shift)).div_ceil(u128::from(by)) - (1 << 32);
        let high = self.b32("mul.hi.u32", ops![a, factor as u32]);
        let rest = self.b32("sub.s32", ops![a, high]);
        let half = self.b32("shr.u32", ops![rest, 1]);
        let sum = self.b32("add.s32", ops![half, high]);
        Some(self.b32("shr.u32", ops![sum, shift - 1]))
    }

    fn signed_quotient(&mut self, a: Reg, by: i32) -> Option<Reg> {
        if by < 2 {
            return None;
        }
        if (by as u32).is_power_of_two() {
            let shift = by.trailing_zeros();
            let sign = self.b32("shr.s32", ops![a, 31]);
            let bias = self.b32("shr.u32", ops![sign, 32 - shift]);
            let sum = self.b32("add.s32", ops![a, bias]);
            return Some(self.b32("shr.s32", ops![sum, shift]));
        }
        for shift in 0..31_u32 {
            let power = 1_u128 << (32 + shift);
            // One more than the quotient, so that truncated products are right for both signs (Granlund and Montgomery).
            let factor = power / by as u128 + 1;
            let error = factor * by as u128 - power;
            if factor < 1 << 32 && error <= 1 << (shift + 1) {
                let mut high = self.b32("mul.hi.s32", ops![a, factor as i32]);
                // As a signed number such a factor is smaller by 2^32.
                if factor >= 1 << 31 {
                    high = self.b32("add.s32", ops![high, a]);
                }
                if shift > 0 {
                    high = self.b32("shr.s32", ops![high, shift]);
                }
                let sign = self.b32("shr.s32", ops![a, 31]);
                return Some(self.b32("sub.s32", ops![high, sign]));
            }
        }
        None
    }
}

/// Computes an operation with two constants, if that is worth it.
fn folded(op: Binary, a: u64, b: u64) -> Option<u64> {
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
