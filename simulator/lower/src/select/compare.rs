//! Comparisons and selections.

use super::prelude::*;
use crate::ir::IntPredicate;

impl Selector<'_> {
    pub fn compare(&mut self, predicate: IntPredicate, ty: &Type, a: &Value, b: &Value) -> Result<Vec<Part>> {
        if let Type::Int(width @ 65..) = ty {
            return self.wide_compare(predicate, *width, a, b);
        }
        let scalar = self.scalar(ty.scalar())?;
        let (left, right) = if let Type::Ptr(0) = ty {
            let (in_a, in_b) = (self.spaces.of(self.module, a, ty), self.spaces.of(self.module, b, ty));
            let is_same = in_a == in_b && matches!((a, b), (Value::Local(_), Value::Local(_)));
            let space = if is_same && in_a != Space::Param { in_a } else { Space::Generic };
            (vec![self.in_space(a, ty, space)?], vec![self.in_space(b, ty, space)?])
        } else {
            (self.parts(a, ty)?, self.parts(b, ty)?)
        };
        if left.len() != right.len() {
            return self.fail("operands of different lengths");
        }
        left.iter().zip(&right).map(|(a, b)| self.compare_parts(predicate, scalar, a, b)).collect()
    }

    fn compare_parts(&mut self, predicate: IntPredicate, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        use IntPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        let name = match predicate {
            Eq => "eq",
            Ne => "ne",
            Ugt | Sgt => "gt",
            Uge | Sge => "ge",
            Ult | Slt => "lt",
            Ule | Sle => "le",
        };
        let is_signed = matches!(predicate, Sgt | Sge | Slt | Sle);
        let width = match scalar {
            Scalar::Int(1) if matches!(predicate, Eq | Ne) => {
                let differ = self.logic(Binary::Xor, a, b)?;
                return if predicate == Eq { self.not(&differ) } else { Ok(differ) };
            }
            Scalar::Int(width) => width,
            Scalar::Ptr => 64,
            _ => return self.fail("an integer comparison of other values"),
        };
        let is_sign = |part: &Part| matches!(part, Part::Reg(_, Ext::Sign) | Part::Bits(_));
        let ext = if is_signed || matches!(predicate, Eq | Ne) && is_sign(a) && is_sign(b) { Ext::Sign } else { Ext::Zero };
        let left = if scalar == Scalar::Ptr { self.register(a, scalar)? } else { self.extended_reg(a, width, ext)? };
        let right = if scalar == Scalar::Ptr { self.operand(b, scalar)? } else { self.extended(b, width, ext)? };
        let (letter, whole) =
            (if is_signed || matches!(predicate, Eq | Ne) { 's' } else { 'u' }, if width <= 32 { 32 } else { 64 });
        Ok(self.made(format!("setp.{name}.{letter}{whole}"), Class::Pred, vec![Op::Reg(left), right]))
    }

    pub fn compare_floats(&mut self, predicate: &str, ty: &Type, a: &Value, b: &Value) -> Result<Vec<Part>> {
        let scalar = self.scalar(ty.scalar())?;
        let (left, right) = (self.parts(a, ty)?, self.parts(b, ty)?);
        if left.len() != right.len() {
            return self.fail("operands of different lengths");
        }
        let name = match predicate {
            "false" | "true" => return Ok(vec![Part::Bits(u64::from(predicate == "true")); left.len()]),
            "ord" => "num".to_owned(),
            "uno" => "nan".to_owned(),
            "oeq" | "ogt" | "oge" | "olt" | "ole" | "one" => predicate[1..].to_owned(),
            "ueq" | "ugt" | "uge" | "ult" | "ule" | "une" => format!("{}u", &predicate[1..]),
            _ => return self.fail(format!("unknown predicate {predicate}")),
        };
        let mut parts = Vec::with_capacity(left.len());
        for (a, b) in left.iter().zip(&right) {
            let (a, b) = if scalar == Scalar::BFloat {
                (self.widened_float(scalar, a)?, self.widened_float(scalar, b)?)
            } else {
                (self.in_register(a, scalar)?, self.operand(b, scalar)?)
            };
            let ty = if scalar == Scalar::BFloat { "f32" } else { suffix(scalar) };
            parts.push(self.made(format!("setp.{name}.{ty}"), Class::Pred, vec![a, b]));
        }
        Ok(parts)
    }

    /// Makes the code of `select`.
    pub fn select(
        &mut self,
        condition: &Value,
        condition_type: &Type,
        ty: &Type,
        sides: [&Value; 2],
        result: Option<u32>,
    ) -> Result<Vec<Part>> {
        let conditions = self.parts(condition, condition_type)?;
        let (a, b) = (self.parts_as(sides[0], ty, result)?, self.parts_as(sides[1], ty, result)?);
        let scalars = self.scalars(ty)?;
        if a.len() != scalars.len() || b.len() != scalars.len() {
            return self.fail("operands of different lengths");
        }
        let per_element = matches!(condition_type, Type::Vector(..));
        let mut parts = Vec::with_capacity(scalars.len());
        for (at, scalar) in scalars.iter().enumerate() {
            let Some(condition) = conditions.get(if per_element { at } else { 0 }) else {
                return self.fail("a selection without a condition");
            };
            parts.push(self.select_part(condition, *scalar, &a[at], &b[at])?);
        }
        Ok(parts)
    }

    pub fn select_part(&mut self, condition: &Part, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        if let Some(truth) = condition.truth() {
            return Ok(if truth { a.clone() } else { b.clone() });
        }
        if *a == Part::Undef || a == b {
            return Ok(b.clone());
        }
        if *b == Part::Undef {
            return Ok(a.clone());
        }
        if scalar == Scalar::Int(1) {
            return self.select_truth(condition, a, b);
        }
        let condition = self.register(condition, Scalar::Int(1))?;
        // Both sides have the same bits above if they had them before.
        let ext = match (a, b) {
            (Part::Reg(_, a), Part::Reg(_, b)) if a == b => *a,
            (Part::Reg(_, known), Part::Bits(_)) | (Part::Bits(_), Part::Reg(_, known)) => *known,
            (Part::Bits(_), Part::Bits(_)) => Ext::Zero,
            _ => Ext::Any,
        };
        let (left, right) = match scalar {
            Scalar::Int(width) => (self.literal(a, width, ext)?, self.literal(b, width, ext)?),
            _ => (self.operand(a, scalar)?, self.operand(b, scalar)?),
        };
        let class = class(scalar);
        let reg = self.one(format!("selp.{}", class.ty()), class, vec![left, right, Op::Reg(condition)]);
        Ok(if scalar == Scalar::Ptr { Part::pointer(reg) } else { Part::Reg(reg, ext) })
    }

    /// Returns a register as it is, or a literal with these bits above.
    fn literal(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Op> {
        match part {
            Part::Bits(_) => self.extended(part, width, ext),
            _ => self.operand(part, Scalar::Int(width)),
        }
    }

    fn select_truth(&mut self, condition: &Part, a: &Part, b: &Part) -> Result<Part> {
        match (a.truth(), b.truth()) {
            (Some(true), Some(false)) => return Ok(condition.clone()),
            (Some(false), Some(true)) => return self.not(condition),
            (Some(true), None) => return self.logic(Binary::Or, condition, b),
            (None, Some(false)) => return self.logic(Binary::And, condition, a),
            _ => {}
        }
        let no = self.not(condition)?;
        match (a.truth(), b.truth()) {
            (Some(false), None) => self.logic(Binary::And, &no, b),
            (None, Some(true)) => self.logic(Binary::Or, &no, a),
            _ => {
                let left = self.logic(Binary::And, condition, a)?;
                let right = self.logic(Binary::And, &no, b)?;
                self.logic(Binary::Or, &left, &right)
            }
        }
    }
}
