//! Addresses and their spaces.

use super::memory::Memory;
use super::prelude::*;
use crate::address::{Term, Widen, steps};

impl Selector<'_> {
    /// Returns the parts of a value, with a generic pointer.
    pub fn generic_parts(&mut self, parts: Vec<Part>, ty: &Type, space: Space) -> Result<Vec<Part>> {
        if !matches!(ty, Type::Ptr(0)) {
            return Ok(parts);
        }
        parts.into_iter().map(|part| self.converted(part, space, Space::Generic)).collect()
    }

    /// Returns a pointer of a space in another one.
    fn converted(&mut self, part: Part, from: Space, to: Space) -> Result<Part> {
        if from == to || part == Part::Undef {
            return Ok(part);
        }
        let opcode = match (from, to) {
            (Space::Param, Space::Generic) => {
                return self.fail("the address of a parameter is not supported here; copy the parameter first");
            }
            (_, Space::Generic) => format!("cvta{}.u64", from.suffix()),
            (Space::Generic, _) => format!("cvta.to{}.u64", to.suffix()),
            _ => return self.fail(format!("an address in the space {from:?} is used as one in {to:?}")),
        };
        let (base, offset) = self.base_and_offset(&part)?;
        let base = self.base(&base);
        Ok(Part::Address(Base::Reg(self.b64(opcode, ops![base])), offset))
    }

    /// Returns a pointer in the space that its users expect of it.
    pub fn in_space(&mut self, value: &Value, want: Space) -> Result<Part> {
        let part = self.part(value)?;
        self.converted(part, self.spaces.of(value), want)
    }

    /// Returns the parts of a value that becomes another one; a pointer comes in the space of that.
    pub fn parts_as(&mut self, value: &Value, result: Option<u32>) -> Result<Vec<Part>> {
        match (self.function.ty(value), result) {
            (Type::Ptr(0), Some(result)) => Ok(vec![self.in_space(value, self.spaces.of_local(result))?]),
            _ => self.parts(value),
        }
    }

    /// Makes the code of `getelementptr`.
    pub fn element_address(&mut self, inst: &Inst, source: &Type, base: &Value, indices: &[Value]) -> Result<Vec<Part>> {
        if !matches!(inst.ty, Type::Ptr(_)) {
            return self.fail("vectors of addresses are not supported");
        }
        let (terms, mut offset) = steps(&self.uses, source, indices)?;
        let space = match (inst.result, self.function.ty(base)) {
            (Some(result), Type::Ptr(0)) => self.spaces.of_local(result),
            _ => self.spaces.of(base),
        };
        let part = self.in_space(base, space)?;
        if part == Part::Undef {
            return Ok(vec![part]);
        }
        let (mut base, start) = self.base_and_offset(&part)?;
        offset = offset.wrapping_add(start);
        for term in terms {
            // Selection may have found a constant.
            if let Some(bits) = self.known_local(term.index) {
                let index = if term.widen == Widen::Sign { i64::from(bits as u32 as i32) } else { bits as i64 };
                offset = offset.wrapping_add(index.wrapping_mul(term.scale));
            } else {
                let from = self.base(&base);
                base = Base::Reg(self.sum(from, term)?);
            }
        }
        Ok(vec![Part::Address(base, offset)])
    }

    /// Returns a register with a base plus a scaled index.
    fn sum(&mut self, base: Reg, term: Term) -> Result<Reg> {
        let current = self.current;
        let known = self
            .sums
            .get(&(base, term))
            .and_then(|sums| sums.iter().find(|(block, _)| self.graph.dominates(*block, current)).map(|(_, reg)| *reg));
        if let Some(reg) = known {
            return Ok(reg);
        }
        let index = Value::Local(term.index);
        let (part, scalar) = (self.part(&index)?, self.scalar(self.function.ty(&index))?);
        let reg = match (term.widen, scalar) {
            (Widen::No, Scalar::Int(64)) => {
                let index = self.operand(&part, scalar)?;
                self.add_scaled(base, index, term.scale)
            }
            (widen @ (Widen::Zero | Widen::Sign), Scalar::Int(32)) => {
                let index = self.operand(&part, scalar)?;
                let (letter, fits) = match widen {
                    Widen::Zero => ('u', u32::try_from(term.scale).is_ok()),
                    _ => ('s', i32::try_from(term.scale).is_ok()),
                };
                if fits && term.scale != 1 {
                    self.b64(format!("mad.wide.{letter}32"), ops![index, term.scale, base])
                } else {
                    let index = self.b64(format!("cvt.{letter}64.{letter}32"), vec![index]);
                    self.add_scaled(base, index.into(), term.scale)
                }
            }
            (_, Scalar::Int(width @ 2..=63)) => {
                let index = self.widened(&part, width, Ext::Sign)?;
                self.add_scaled(base, index, term.scale)
            }
            _ => return self.fail("an index of this type is not supported"),
        };
        self.sums.entry((base, term)).or_default().push((current, reg));
        Ok(reg)
    }

    fn add_scaled(&mut self, base: Reg, index: Op, scale: i64) -> Reg {
        let scaled = if scale == 1 {
            index
        } else if scale > 0 && (scale as u64).is_power_of_two() {
            self.b64("shl.b64", ops![index, scale.trailing_zeros()]).into()
        } else {
            self.b64("mul.lo.s64", ops![index, scale]).into()
        };
        self.b64("add.s64", ops![base, scaled])
    }

    /// Returns a pointer as the operand of accesses.
    pub fn memory_operand(&mut self, ptr: &Value) -> Result<Memory> {
        let space = self.spaces.of(ptr);
        let part = self.part(ptr)?;
        let (base, offset) = self.base_and_offset(&part)?;
        if i32::try_from(offset).is_ok() {
            return Ok(Memory { base, offset, space });
        }
        let reg = self.base(&base);
        let reg = self.b64("add.s64", ops![reg, offset]);
        Ok(Memory { base: Base::Reg(reg), offset: 0, space })
    }
}
