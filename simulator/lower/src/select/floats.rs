//! Floating-point arithmetic.

use super::prelude::*;

impl Selector<'_> {
    pub fn float_binary(&mut self, op: Binary, flags: Flags, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        let ty = suffix(scalar);
        match (op, scalar) {
            (Binary::FAdd | Binary::FSub | Binary::FMul, Scalar::BFloat) => return self.bfloat_binary(op, a, b),
            (Binary::FDiv, Scalar::Half | Scalar::BFloat) => {
                let (a, b) = (self.widened_float(scalar, a)?, self.widened_float(scalar, b)?);
                let quotient = self.one("div.rn.f32", Class::F32, vec![a, b]);
                let opcode = if scalar == Scalar::Half { "cvt.rn.f16.f32" } else { "cvt.rn.bf16.f32" };
                return Ok(self.made(opcode, Class::B16, vec![Op::Reg(quotient)]));
            }
            (Binary::FRem, Scalar::Float | Scalar::Double) => return self.remainder(flags, scalar, a, b),
            _ => {}
        }
        let opcode = match op {
            Binary::FAdd => format!("add.rn.{ty}"),
            Binary::FSub => format!("sub.rn.{ty}"),
            Binary::FMul => format!("mul.rn.{ty}"),
            Binary::FDiv => {
                let is_one = match (a, scalar) {
                    (Part::Bits(bits), Scalar::Float) => *bits == u64::from(1.0_f32.to_bits()),
                    (Part::Bits(bits), Scalar::Double) => *bits == 1.0_f64.to_bits(),
                    _ => false,
                };
                if is_one {
                    let b = self.register(b, scalar)?;
                    return Ok(self.made(format!("rcp.rn.{ty}"), class(scalar), vec![Op::Reg(b)]));
                }
                format!("div.rn.{ty}")
            }
            _ => return self.fail(format!("the operation {op:?} with values of type {scalar:?}")),
        };
        let a = self.in_register(a, scalar)?;
        let b = self.operand(b, scalar)?;
        Ok(self.made(opcode, class(scalar), vec![a, b]))
    }

    /// Makes arithmetic of `bf16`, which before sm_90 has a fused multiply-add only. These forms round once, as the plain ones do.
    fn bfloat_binary(&mut self, op: Binary, a: &Part, b: &Part) -> Result<Part> {
        let scalar = Scalar::BFloat;
        let (a, b) = (self.in_register(a, scalar)?, self.in_register(b, scalar)?);
        let constant = |this: &mut Self, bits: u64| this.operand(&Part::Bits(bits), scalar);
        let args = match op {
            Binary::FMul => vec![a, b, constant(self, 0x8000)?],
            Binary::FAdd => vec![a, constant(self, 0x3f80)?, b],
            _ => vec![b, constant(self, 0xbf80)?, a],
        };
        Ok(self.made("fma.rn.bf16", Class::B16, args))
    }

    /// Makes `x - trunc(x / y) * y`, as LLVM's back end expands it.
    fn remainder(&mut self, flags: Flags, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        let (ty, reg_class) = (suffix(scalar), class(scalar));
        let (x, y) = (self.in_register(a, scalar)?, self.in_register(b, scalar)?);
        let quotient = self.one(format!("div.rn.{ty}"), reg_class, vec![x.clone(), y.clone()]);
        let whole = self.one(format!("cvt.rzi.{ty}.{ty}"), reg_class, vec![Op::Reg(quotient)]);
        let rest = if flags.contract {
            let negated = self.one(format!("neg.{ty}"), reg_class, vec![Op::Reg(whole)]);
            self.one(format!("fma.rn.{ty}"), reg_class, vec![Op::Reg(negated), y.clone(), x.clone()])
        } else {
            let product = self.one(format!("mul.rn.{ty}"), reg_class, vec![Op::Reg(whole), y.clone()]);
            self.one(format!("sub.rn.{ty}"), reg_class, vec![x.clone(), Op::Reg(product)])
        };
        let infinite = self.one(format!("testp.infinite.{ty}"), Class::Pred, vec![y]);
        Ok(self.made(format!("selp.{ty}"), reg_class, vec![x, Op::Reg(rest), Op::Reg(infinite)]))
    }

    /// Returns a half or a bfloat as a float.
    pub fn widened_float(&mut self, scalar: Scalar, part: &Part) -> Result<Op> {
        let reg = self.in_register(part, scalar)?;
        Ok(Op::Reg(match scalar {
            Scalar::Half => self.one("cvt.f32.f16", Class::F32, vec![reg]),
            Scalar::BFloat => {
                let zero = self.operand(&Part::Bits(0), scalar)?;
                self.one("mov.b32", Class::F32, vec![Op::List(vec![zero, reg])])
            }
            _ => return Ok(reg),
        }))
    }

    pub fn negate(&mut self, ty: &Type, value: &Value) -> Result<Vec<Part>> {
        let scalar = self.scalar(ty.scalar())?;
        let parts = self.parts(value, ty)?;
        parts.iter().map(|part| self.negate_part(scalar, part)).collect()
    }

    pub fn negate_part(&mut self, scalar: Scalar, part: &Part) -> Result<Part> {
        if let Part::Bits(bits) = part {
            return Ok(Part::Bits(bits ^ 1 << (scalar.bits() - 1)));
        }
        let reg = self.register(part, scalar)?;
        Ok(self.made(format!("neg.{}", suffix(scalar)), class(scalar), vec![Op::Reg(reg)]))
    }

    /// Makes a product and a sum, rounded once.
    pub fn fused(&mut self, inst: &Inst, [a, b, c]: [&Value; 3], negate_product: bool, negate_c: bool) -> Result<Vec<Part>> {
        let scalar = self.scalar(inst.ty.scalar())?;
        let parts = [self.parts(a, &inst.ty)?, self.parts(b, &inst.ty)?, self.parts(c, &inst.ty)?];
        (0..parts[0].len())
            .map(|at| {
                let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(|operand: usize| parts[operand].get(at).cloned()) else {
                    return self.fail("operands of different lengths");
                };
                // A constant factor takes the sign for nothing.
                let (a, b) = match (negate_product, &b) {
                    (false, _) => (a, b),
                    (true, Part::Bits(_)) => (a, self.negate_part(scalar, &b)?),
                    (true, _) => (self.negate_part(scalar, &a)?, b),
                };
                let c = if negate_c { self.negate_part(scalar, &c)? } else { c };
                self.fma(scalar, &a, &b, &c)
            })
            .collect()
    }

    pub fn fma(&mut self, scalar: Scalar, a: &Part, b: &Part, c: &Part) -> Result<Part> {
        // A constant factor goes second, where a literal is allowed.
        let (a, b) = if matches!(a, Part::Bits(_)) { (b, a) } else { (a, b) };
        let a = self.in_register(a, scalar)?;
        let (b, c) = (self.operand(b, scalar)?, self.operand(c, scalar)?);
        Ok(self.made(format!("fma.rn.{}", suffix(scalar)), class(scalar), vec![a, b, c]))
    }

    /// Returns a constant of a floating-point type.
    pub fn float_literal(&mut self, scalar: Scalar, value: f64) -> Op {
        match scalar {
            Scalar::Double => f64_bits(value.to_bits()),
            _ => f32_bits((value as f32).to_bits()),
        }
    }
}
