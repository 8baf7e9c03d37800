//! Comparisons and selections.

use super::prelude::*;

/// Returns the comparison's name in PTX, and whether it is signed.
pub fn comparison(predicate: IntPredicate) -> (&'static str, bool) {
    match predicate {
        IntPredicate::Eq => ("eq", false),
        IntPredicate::Ne => ("ne", false),
        IntPredicate::Ugt => ("gt", false),
        IntPredicate::Uge => ("ge", false),
        IntPredicate::Ult => ("lt", false),
        IntPredicate::Ule => ("le", false),
        IntPredicate::Sgt => ("gt", true),
        IntPredicate::Sge => ("ge", true),
        IntPredicate::Slt => ("lt", true),
        IntPredicate::Sle => ("le", true),
    }
}

impl Selector<'_> {
    pub fn compare(&mut self, predicate: IntPredicate, a: &Value, b: &Value) -> Result<Vec<Part>> {
        let ty = self.function.ty(a);
        if let Type::Int(width @ 65..) = ty {
            return self.wide_compare(predicate, *width, a, b);
        }
        let scalar = self.scalar(ty.scalar())?;
        let pairs = if let Type::Ptr(0) = ty {
            let (in_a, in_b) = (self.spaces.of(a), self.spaces.of(b));
            let is_same = in_a == in_b && matches!((a, b), (Value::Local(_), Value::Local(_)));
            let space = if is_same && in_a != Space::Param { in_a } else { Space::Generic };
            vec![(self.in_space(a, space)?, self.in_space(b, space)?)]
        } else {
            self.pairs(a, b)?
        };
        pairs.iter().map(|(a, b)| self.compare_parts(predicate, scalar, a, b)).collect()
    }

    fn compare_parts(&mut self, predicate: IntPredicate, scalar: Scalar, a: &Part, b: &Part) -> Result<Part> {
        let is_equality = matches!(predicate, IntPredicate::Eq | IntPredicate::Ne);
        let (name, is_signed) = comparison(predicate);
        let (width, args) = match scalar {
            Scalar::Int(1) if is_equality => {
                let differ = self.logic(Binary::Xor, a, b)?;
                return if predicate == IntPredicate::Eq { self.not(&differ) } else { Ok(differ) };
            }
            Scalar::Int(width) => {
                let is_sign = |part: &Part| matches!(part, Part::Reg(_, Ext::Sign) | Part::Bits(_));
                let ext = if is_signed || is_equality && is_sign(a) && is_sign(b) { Ext::Sign } else { Ext::Zero };
                (whole(width).0, ops![self.extended_reg(a, width, ext)?, self.extended(b, width, ext)?])
            }
            Scalar::Ptr => (64, ops![self.register(a, scalar)?, self.operand(b, scalar)?]),
            _ => return self.fail("an integer comparison of other values"),
        };
        let letter = if is_signed || is_equality { 's' } else { 'u' };
        Ok(self.made(format!("setp.{name}.{letter}{width}"), Class::Pred, args))
    }

    pub fn compare_floats(&mut self, predicate: &str, a: &Value, b: &Value) -> Result<Vec<Part>> {
        let scalar = self.scalar(self.function.ty(a).scalar())?;
        let pairs = self.pairs(a, b)?;
        let name = match predicate {
            "false" | "true" => return Ok(vec![Part::Bits(u64::from(predicate == "true")); pairs.len()]),
            "ord" => "num".to_owned(),
            "uno" => "nan".to_owned(),
            "oeq" | "ogt" | "oge" | "olt" | "ole" | "one" => predicate[1..].to_owned(),
            "ueq" | "ugt" | "uge" | "ult" | "ule" | "une" => format!("{}u", &predicate[1..]),
            _ => return self.fail(format!("unknown predicate {predicate}")),
        };
        let compared = pairs.iter().map(|(a, b)| {
            let (ty, args) = if scalar == Scalar::BFloat {
                ("f32", ops![self.widened_float(scalar, a)?, self.widened_float(scalar, b)?])
            } else {
                (suffix(scalar), ops![self.register(a, scalar)?, self.operand(b, scalar)?])
            };
            Ok(self.made(format!("setp.{name}.{ty}"), Class::Pred, args))
        });
        compared.collect()
    }

    /// Makes the code of `select`.
    pub fn select(&mut self, inst: &Inst, condition: &Value, a: &Value, b: &Value) -> Result<Vec<Part>> {
        let conditions = self.parts(condition)?;
        let (a, b) = (self.parts_as(a, inst.result)?, self.parts_as(b, inst.result)?);
        let scalars = layout::parts(&inst.ty)?;
        if a.len() != scalars.len() || b.len() != scalars.len() {
            return self.fail("operands of different lengths");
        }
        let per_element = matches!(self.function.ty(condition), Type::Vector(..));
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
        // A register is taken as it is, and a literal with these bits above.
        let mut side = |part: &Part| match (part, scalar) {
            (Part::Bits(_), Scalar::Int(width)) => self.extended(part, width, ext),
            _ => self.operand(part, scalar),
        };
        let args = ops![side(a)?, side(b)?, condition];
        let class = class(scalar);
        let reg = self.one(format!("selp.{}", class.names().0), class, args);
        Ok(if scalar == Scalar::Ptr { Part::pointer(reg) } else { Part::Reg(reg, ext) })
    }

    fn select_truth(&mut self, condition: &Part, a: &Part, b: &Part) -> Result<Part> {
        if a.truth() == Some(true) {
            return self.logic(Binary::Or, condition, b);
        }
        let no = self.not(condition)?;
        if b.truth() == Some(true) {
            return self.logic(Binary::Or, &no, a);
        }
        let left = self.logic(Binary::And, condition, a)?;
        let right = self.logic(Binary::And, &no, b)?;
        self.logic(Binary::Or, &left, &right)
    }
}
