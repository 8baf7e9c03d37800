//! Floating-point arithmetic.

use std::borrow::Cow;

use super::prelude::*;

impl Selector<'_> {
    pub fn float_binary(&mut self, op: Binary, flags: Flags, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        let ty = suffix(scalar);
        let opcode = match (op, scalar) {
            (Binary::FAdd | Binary::FSub | Binary::FMul, Scalar::BFloat) => return self.bfloat_binary(op, a, b),
            (Binary::FDiv, Scalar::Half | Scalar::BFloat) => {
                let args = ops![self.widened_float(scalar, a)?, self.widened_float(scalar, b)?];
                let quotient = self.one("div.rn.f32", Class::F32, args);
                return Ok(self.made(format!("cvt.rn.{ty}.f32"), Class::B16, ops![quotient]));
            }
            (Binary::FRem, Scalar::Float | Scalar::Double) => return self.remainder(flags, scalar, a, b),
            (Binary::FDiv, _) if a.bits() == Some(float_bits(scalar, 1.0)) => return self.unary(format!("rcp.rn.{ty}"), scalar, b),
            (Binary::FAdd, _) => "add",
            (Binary::FSub, _) => "sub",
            (Binary::FMul, _) => "mul",
            (Binary::FDiv, _) => "div",
            _ => return self.fail(format!("the operation {op:?} with values of type {scalar:?}")),
        };
        self.two(format!("{opcode}.rn.{ty}"), scalar, a, b)
    }

    /// Makes arithmetic of `bf16`, which before sm_90 has a fused multiply-add only. These forms round once, as the plain ones do.
    fn bfloat_binary(&mut self, op: Binary, a: &Part, b: &Part) -> Result<Part> {
        let scalar = Scalar::BFloat;
        let (a, b) = (self.register(a, scalar)?, self.register(b, scalar)?);
        let bits = match op {
            Binary::FMul => 0x8000,
            Binary::FAdd => 0x3f80,
            _ => 0xbf80,
        };
        let constant = self.register(&Part::Bits(bits), scalar)?;
        let args = match op {
            Binary::FMul => [a, b, constant],
            Binary::FAdd => [a, constant, b],
            _ => [b, constant, a],
        };
        Ok(self.made("fma.rn.bf16", Class::B16, args.map(Op::Reg).into()))
    }

    /// Makes `x - trunc(x / y) * y`, as LLVM's back end expands it.
    fn remainder(&mut self, flags: Flags, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        let (ty, class) = (suffix(scalar), class(scalar));
        let (x, y) = (self.register(a, scalar)?, self.register(b, scalar)?);
        let quotient = self.one(format!("div.rn.{ty}"), class, ops![x, y]);
        let whole = self.one(format!("cvt.rzi.{ty}.{ty}"), class, ops![quotient]);
        let rest = if flags.contract {
            let negated = self.one(format!("neg.{ty}"), class, ops![whole]);
            self.one(format!("fma.rn.{ty}"), class, ops![negated, y, x])
        } else {
            let product = self.one(format!("mul.rn.{ty}"), class, ops![whole, y]);
            self.one(format!("sub.rn.{ty}"), class, ops![x, product])
        };
        let infinite = self.pred(format!("testp.infinite.{ty}"), ops![y]);
        Ok(self.made(format!("selp.{ty}"), class, ops![x, rest, infinite]))
    }

    /// Returns a half or a bfloat as a float.
    pub fn widened_float(&mut self, scalar: Scalar, part: &Part) -> Result<Reg> {
        let reg = self.register(part, scalar)?;
        Ok(match scalar {
            Scalar::Half => self.one("cvt.f32.f16", Class::F32, ops![reg]),
            Scalar::BFloat => {
                let zero = self.register(&Part::Bits(0), scalar)?;
                self.one("mov.b32", Class::F32, ops![&[zero, reg][..]])
            }
            _ => reg,
        })
    }

    pub fn negate(&mut self, value: &Value) -> Result<Vec<Part>> {
        let scalar = self.scalar(self.function.ty(value).scalar())?;
        let parts = self.parts(value)?;
        parts.iter().map(|part| self.negate_part(scalar, part)).collect()
    }

    pub fn negate_part(&mut self, scalar: Scalar, part: &Part) -> Result<Part> {
        match part {
            Part::Bits(bits) => Ok(Part::Bits(bits ^ 1 << (scalar.bits() - 1))),
            _ => self.unary(format!("neg.{}", suffix(scalar)), scalar, part),
        }
    }

    /// Makes a product and a sum, rounded once.
    pub fn fused(&mut self, inst: &Inst, [a, b, c]: [&Value; 3], negate_product: bool, negate_c: bool) -> Result<Vec<Part>> {
        let scalar = self.scalar(inst.ty.scalar())?;
        let (factors, addends) = (self.pairs(a, b)?, self.parts(c)?);
        let fused = factors.into_iter().zip(addends).map(|((mut a, mut b), mut c)| {
            // A constant factor takes the sign for nothing.
            if negate_product {
                let factor = if matches!(b, Part::Bits(_)) { &mut b } else { &mut a };
                *factor = self.negate_part(scalar, factor)?;
            }
            if negate_c {
                c = self.negate_part(scalar, &c)?;
            }
            self.fma(scalar, &a, &b, &c)
        });
        fused.collect()
    }

    pub fn fma(&mut self, scalar: Scalar, a: &Part, b: &Part, c: &Part) -> Result<Part> {
        // A constant factor goes second, where a literal is allowed.
        let (a, b) = if matches!(a, Part::Bits(_)) { (b, a) } else { (a, b) };
        let args = ops![self.register(a, scalar)?, self.operand(b, scalar)?, self.operand(c, scalar)?];
        Ok(self.made(format!("fma.rn.{}", suffix(scalar)), class(scalar), args))
    }

    /// Returns the literal of a number as a double or a float.
    pub fn float_literal(&mut self, scalar: Scalar, value: f64) -> Result<Op> {
        self.operand(&Part::Bits(float_bits(scalar, value)), scalar)
    }

    pub fn unary(&mut self, opcode: impl Into<Cow<'static, str>>, scalar: Scalar, a: &Part) -> Result<Part> {
        let a = self.register(a, scalar)?;
        Ok(self.made(opcode, class(scalar), ops![a]))
    }

    pub fn two(&mut self, opcode: String, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        let args = ops![self.register(a, scalar)?, self.operand(b, scalar)?];
        Ok(self.made(opcode, class(scalar), args))
    }
}

/// Returns the bits of a number as a double or a float.
fn float_bits(scalar: Scalar, value: f64) -> u64 {
    if scalar == Scalar::Double { value.to_bits() } else { u64::from((value as f32).to_bits()) }
}
