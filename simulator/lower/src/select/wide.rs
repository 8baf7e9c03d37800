//! Integers of more than 64 bits, as two words. Optimizers make them of sums over counters (`i33` and `i65`).

use super::compare::comparison;
use super::prelude::*;

const WORD: Scalar = Scalar::Int(64);

impl Selector<'_> {
    /// Returns the two words of a value.
    fn words(&mut self, value: &Value) -> Result<[Reg; 2]> {
        match self.parts(value)?.as_slice() {
            [low, high] => Ok([self.register(low, WORD)?, self.register(high, WORD)?]),
            _ => self.fail("an integer that is not two words"),
        }
    }

    /// Returns the words with defined bits above the width.
    fn extended_words(&mut self, value: &Value, width: u32, ext: Ext) -> Result<[Reg; 2]> {
        let [low, high] = self.words(value)?;
        if width == 128 {
            return Ok([low, high]);
        }
        let opcode = if ext == Ext::Sign { "bfe.s64" } else { "bfe.u64" };
        Ok([low, self.b64(opcode, ops![high, 0, width - 64])])
    }

    pub fn wide_binary(&mut self, op: Binary, width: u32, a: &Value, b: &Value) -> Result<Vec<Part>> {
        if matches!(op, Binary::Shl | Binary::LShr | Binary::AShr) {
            let by = match self.parts(b)?.first() {
                Some(Part::Bits(amount)) if *amount < u64::from(width) => *amount as i64,
                _ => return self.fail("a shift of a wide integer by an amount that is not constant"),
            };
            let ext = if op == Binary::AShr { Ext::Sign } else { Ext::Zero };
            let words = if op == Binary::Shl { self.words(a)? } else { self.extended_words(a, width, ext)? };
            return Ok(self.shifted(op, words, by).into());
        }
        if !matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::And | Binary::Or | Binary::Xor) {
            return self.fail(format!("a division of integers of {width} bits"));
        }
        let ([a0, a1], [b0, b1]) = (self.words(a)?, self.words(b)?);
        let words = match op {
            // The carry from comparisons: its flag would have to stay from one instruction to the next.
            Binary::Add => {
                let low = self.b64("add.s64", ops![a0, b0]);
                let carry = self.pred("setp.lt.u64", ops![low, a0]);
                let carry = self.b64("selp.b64", ops![1, 0, carry]);
                let high = self.b64("add.s64", ops![a1, b1]);
                [low, self.b64("add.s64", ops![high, carry])]
            }
            Binary::Sub => {
                let borrow = self.pred("setp.lt.u64", ops![a0, b0]);
                let borrow = self.b64("selp.b64", ops![1, 0, borrow]);
                let low = self.b64("sub.s64", ops![a0, b0]);
                let high = self.b64("sub.s64", ops![a1, b1]);
                [low, self.b64("sub.s64", ops![high, borrow])]
            }
            Binary::Mul => {
                let low = self.b64("mul.lo.s64", ops![a0, b0]);
                let high = self.b64("mul.hi.u64", ops![a0, b0]);
                let high = self.b64("mad.lo.s64", ops![a0, b1, high]);
                [low, self.b64("mad.lo.s64", ops![a1, b0, high])]
            }
            _ => {
                let opcode = match op {
                    Binary::And => "and.b64",
                    Binary::Or => "or.b64",
                    _ => "xor.b64",
                };
                [self.b64(opcode, ops![a0, b0]), self.b64(opcode, ops![a1, b1])]
            }
        };
        Ok(words.map(Part::reg).into())
    }

    fn shifted(&mut self, op: Binary, [low, high]: [Reg; 2], by: i64) -> [Part; 2] {
        let right = if op == Binary::AShr { "shr.s64" } else { "shr.u64" };
        let words = match (op, by) {
            (_, 0) => [low, high],
            (Binary::Shl, 64..) => return [Part::Bits(0), self.made("shl.b64", Class::B64, ops![low, by - 64])],
            (Binary::Shl, _) => {
                let top = self.b64("shl.b64", ops![high, by]);
                let carried = self.b64("shr.u64", ops![low, 64 - by]);
                [self.b64("shl.b64", ops![low, by]), self.b64("or.b64", ops![top, carried])]
            }
            (_, 64..) => {
                let above = self.above(high, op == Binary::AShr);
                return [self.made(right, Class::B64, ops![high, by - 64]), above];
            }
            _ => {
                let bottom = self.b64("shr.u64", ops![low, by]);
                let carried = self.b64("shl.b64", ops![high, 64 - by]);
                [self.b64("or.b64", ops![bottom, carried]), self.b64(right, ops![high, by])]
            }
        };
        words.map(Part::reg)
    }

    /// Returns the word above another one: copies of its sign, or zero.
    fn above(&mut self, word: Reg, is_signed: bool) -> Part {
        if is_signed { self.made("shr.s64", Class::B64, ops![word, 63]) } else { Part::Bits(0) }
    }

    /// Returns a narrower integer as a wide one.
    pub fn widened_words(&mut self, value: &Value, from: u32, ext: Ext) -> Result<Vec<Part>> {
        if from > 64 {
            return Ok(self.extended_words(value, from, ext)?.map(Part::reg).into());
        }
        let part = self.part(value)?;
        let low = self.widened(&part, from, ext)?;
        let low = self.in_register(low, Class::B64);
        Ok(vec![Part::reg(low), self.above(low, ext == Ext::Sign)])
    }

    pub fn wide_compare(&mut self, predicate: IntPredicate, width: u32, a: &Value, b: &Value) -> Result<Vec<Part>> {
        let (name, is_signed) = comparison(predicate);
        let ext = if is_signed { Ext::Sign } else { Ext::Zero };
        let ([a0, a1], [b0, b1]) = (self.extended_words(a, width, ext)?, self.extended_words(b, width, ext)?);
        let is_equality = matches!(predicate, IntPredicate::Eq | IntPredicate::Ne);
        let same = self.pred("setp.eq.s64", ops![a1, b1]);
        let low = if is_equality { "setp.eq.s64".to_owned() } else { format!("setp.{name}.u64") };
        let low = self.pred(low, ops![a0, b0]);
        let both = self.pred("and.pred", ops![same, low]);
        Ok(vec![match predicate {
            IntPredicate::Eq => Part::reg(both),
            IntPredicate::Ne => self.not(&Part::reg(both))?,
            _ => {
                // If the high words differ, they decide.
                let letter = if is_signed { 's' } else { 'u' };
                let high = self.pred(format!("setp.{}t.{letter}64", &name[..1]), ops![a1, b1]);
                self.made("or.pred", Class::Pred, ops![both, high])
            }
        }])
    }
}
