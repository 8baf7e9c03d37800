//! Integers of more than 64 bits, as two words. Optimizers make them of sums over counters (`i33` and `i65`).

use std::borrow::Cow;

use super::integers::opcode;
use super::prelude::*;
use crate::ir::IntPredicate;

const WORD: Scalar = Scalar::Int(64);

impl Selector<'_> {
    /// Returns the two words of a value, as operands.
    fn words(&mut self, value: &Value, width: u32) -> Result<[Op; 2]> {
        match self.parts(value, &Type::Int(width))?.as_slice() {
            [low, high] => Ok([self.in_register(low, WORD)?, self.in_register(high, WORD)?]),
            _ => self.fail("an integer that is not two words"),
        }
    }

    /// Returns the words with defined bits above the width.
    fn extended_words(&mut self, value: &Value, width: u32, ext: Ext) -> Result<[Op; 2]> {
        let [low, high] = self.words(value, width)?;
        if width == 128 {
            return Ok([low, high]);
        }
        let opcode = if ext == Ext::Sign { "bfe.s64" } else { "bfe.u64" };
        let high = self.one(opcode, Class::B64, vec![high, int(0), int(i64::from(width - 64))]);
        Ok([low, Op::Reg(high)])
    }

    fn word(&mut self, opcode: impl Into<Cow<'static, str>>, args: Vec<Op>) -> Op {
        self.value(opcode, Class::B64, args)
    }

    pub fn wide_binary(&mut self, op: Binary, width: u32, a: &Value, b: &Value) -> Result<Vec<Part>> {
        let words = match op {
            Binary::Add | Binary::Sub => {
                let ([a0, a1], [b0, b1]) = (self.words(a, width)?, self.words(b, width)?);
                // The carry from comparisons: its flag would have to stay from one instruction to the next.
                if op == Binary::Add {
                    let low = self.word("add.s64", vec![a0.clone(), b0]);
                    let carry = self.one("setp.lt.u64", Class::Pred, vec![low.clone(), a0]);
                    let carry = self.word("selp.b64", vec![int(1), int(0), Op::Reg(carry)]);
                    let high = self.word("add.s64", vec![a1, b1]);
                    [low, self.word("add.s64", vec![high, carry])]
                } else {
                    let borrow = self.one("setp.lt.u64", Class::Pred, vec![a0.clone(), b0.clone()]);
                    let borrow = self.word("selp.b64", vec![int(1), int(0), Op::Reg(borrow)]);
                    let low = self.word("sub.s64", vec![a0, b0]);
                    let high = self.word("sub.s64", vec![a1, b1]);
                    [low, self.word("sub.s64", vec![high, borrow])]
                }
            }
            Binary::Mul => {
                let ([a0, a1], [b0, b1]) = (self.words(a, width)?, self.words(b, width)?);
                let low = self.word("mul.lo.s64", vec![a0.clone(), b0.clone()]);
                let high = self.word("mul.hi.u64", vec![a0.clone(), b0.clone()]);
                let high = self.word("mad.lo.s64", vec![a0, b1, high]);
                [low, self.word("mad.lo.s64", vec![a1, b0, high])]
            }
            Binary::And | Binary::Or | Binary::Xor => {
                let ([a0, a1], [b0, b1]) = (self.words(a, width)?, self.words(b, width)?);
                let opcode = format!("{}64", opcode(op).unwrap_or_default());
                [self.word(opcode.clone(), vec![a0, b0]), self.word(opcode, vec![a1, b1])]
            }
            Binary::Shl | Binary::LShr | Binary::AShr => {
                let ty = Type::Int(width);
                let amount = match self.parts(b, &ty)?.first() {
                    Some(Part::Bits(amount)) if *amount < u64::from(width) => *amount as i64,
                    _ => return self.fail("a shift of a wide integer by an amount that is not constant"),
                };
                let ext = if op == Binary::AShr { Ext::Sign } else { Ext::Zero };
                let words = if op == Binary::Shl { self.words(a, width)? } else { self.extended_words(a, width, ext)? };
                self.shifted(op, words, amount)
            }
            _ => return self.fail(format!("a division of integers of {width} bits")),
        };
        Ok(words.into_iter().map(as_part).collect())
    }

    fn shifted(&mut self, op: Binary, [low, high]: [Op; 2], by: i64) -> [Op; 2] {
        let right = if op == Binary::AShr { "shr.s64" } else { "shr.u64" };
        match (op, by) {
            (_, 0) => [low, high],
            (Binary::Shl, 64..) => [int(0), self.word("shl.b64", vec![low, int(by - 64)])],
            (Binary::Shl, _) => {
                let top = self.word("shl.b64", vec![high, int(by)]);
                let carried = self.word("shr.u64", vec![low.clone(), int(64 - by)]);
                [self.word("shl.b64", vec![low, int(by)]), self.word("or.b64", vec![top, carried])]
            }
            (_, 64..) => {
                let above = if op == Binary::AShr { self.word("shr.s64", vec![high.clone(), int(63)]) } else { int(0) };
                [self.word(right, vec![high, int(by - 64)]), above]
            }
            _ => {
                let bottom = self.word("shr.u64", vec![low, int(by)]);
                let carried = self.word("shl.b64", vec![high.clone(), int(64 - by)]);
                [self.word("or.b64", vec![bottom, carried]), self.word(right, vec![high, int(by)])]
            }
        }
    }

    /// Returns a narrower integer as a wide one.
    pub fn widened_words(&mut self, value: &Value, from: u32, ext: Ext) -> Result<Vec<Part>> {
        if from > 64 {
            return Ok(self.extended_words(value, from, ext)?.into_iter().map(as_part).collect());
        }
        let part = self.part(value, &Type::Int(from))?;
        let low = match self.widened(&part, from, ext)? {
            Op::Reg(reg) => Op::Reg(reg),
            literal => Op::Reg(self.moved(literal, Class::B64)),
        };
        let high = if ext == Ext::Sign { self.word("shr.s64", vec![low.clone(), int(63)]) } else { int(0) };
        Ok(vec![as_part(low), as_part(high)])
    }

    pub fn wide_compare(&mut self, predicate: IntPredicate, width: u32, a: &Value, b: &Value) -> Result<Vec<Part>> {
        use IntPredicate::{Eq, Ne, Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
        let is_signed = matches!(predicate, Sgt | Sge | Slt | Sle);
        let ext = if is_signed { Ext::Sign } else { Ext::Zero };
        let ([a0, a1], [b0, b1]) = (self.extended_words(a, width, ext)?, self.extended_words(b, width, ext)?);
        let pred = |this: &mut Self, opcode: String, args: Vec<Op>| this.value(opcode, Class::Pred, args);
        let same = pred(self, "setp.eq.s64".to_owned(), vec![a1.clone(), b1.clone()]);
        let (low, high) = match predicate {
            Eq | Ne => ("setp.eq.s64", ""),
            Ugt | Sgt => ("setp.gt.u64", "setp.gt"),
            Uge | Sge => ("setp.ge.u64", "setp.gt"),
            Ult | Slt => ("setp.lt.u64", "setp.lt"),
            Ule | Sle => ("setp.le.u64", "setp.lt"),
        };
        let low = pred(self, low.to_owned(), vec![a0, b0]);
        let both = pred(self, "and.pred".to_owned(), vec![same, low]);
        Ok(vec![match predicate {
            Eq => as_part(both),
            Ne => self.not(&as_part(both))?,
            _ => {
                let high = pred(self, format!("{high}.{}64", if is_signed { 's' } else { 'u' }), vec![a1, b1]);
                as_part(pred(self, "or.pred".to_owned(), vec![both, high]))
            }
        }])
    }
}

/// Returns a word as a part. Words are registers, or zero.
fn as_part(op: Op) -> Part {
    match op {
        Op::Reg(reg) => Part::reg(reg),
        _ => Part::Bits(0),
    }
}
