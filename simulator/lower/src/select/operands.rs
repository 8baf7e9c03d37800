//! Parts as operands of instructions.

use super::prelude::*;

impl Selector<'_> {
    /// Returns an operand: a register, or a literal where PTX takes one.
    pub fn operand(&mut self, part: &Part, scalar: Scalar) -> Result<Op> {
        let bits = match part {
            Part::Reg(reg, _) => return Ok(Op::Reg(*reg)),
            Part::Address(base, offset) => {
                let reg = self.base(base);
                return Ok(if *offset == 0 { reg } else { self.b64("add.s64", ops![reg, *offset]) }.into());
            }
            Part::Bits(bits) => *bits,
            Part::Undef => 0,
        };
        Ok(match scalar {
            Scalar::Int(1) => self.pred("mov.pred", ops![i64::from(bits & 1 != 0)]).into(),
            Scalar::Int(width) => signed_bits(bits, width).into(),
            Scalar::Ptr => (bits as i64).into(),
            Scalar::Float => Op::Text(format!("0f{bits:08X}").into()),
            Scalar::Double => Op::Text(format!("0d{bits:016X}").into()),
            Scalar::Half | Scalar::BFloat => {
                let literal = Op::Text(format!("0x{:04X}", bits & 0xffff).into());
                self.one("mov.b16", Class::B16, vec![literal]).into()
            }
        })
    }

    /// Returns the part in a register.
    pub fn register(&mut self, part: &Part, scalar: Scalar) -> Result<Reg> {
        let op = self.operand(part, scalar)?;
        Ok(self.in_register(op, class(scalar)))
    }

    /// Returns the register of an operand; a literal goes into a new one.
    pub fn in_register(&mut self, op: Op, class: Class) -> Reg {
        if let Op::Reg(reg) = op { reg } else { self.moved(op, class) }
    }

    /// Returns an integer of at most 64 bits as an extended operand. Its upper bits are known.
    pub fn extended(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Op> {
        if width == 1 {
            let reg = self.register(part, Scalar::Int(1))?;
            let one = if ext == Ext::Sign { -1 } else { 1 };
            return Ok(self.b32("selp.b32", ops![one, 0, reg]).into());
        }
        let (whole, class) = whole(width);
        match part {
            Part::Bits(bits) => Ok(Op::from(match ext {
                Ext::Sign => signed_bits(*bits, width),
                _ => signed_bits(bits & mask(width), if width == whole { width } else { 64 }),
            })),
            Part::Reg(reg, known) if width != whole && ext != Ext::Any && *known != ext => {
                let (opcode, args) = match ext {
                    Ext::Zero => ("and.b", ops![*reg, mask(width) as i64]),
                    _ => ("bfe.s", ops![*reg, 0, width]),
                };
                Ok(self.one(format!("{opcode}{whole}"), class, args).into())
            }
            _ => self.operand(part, Scalar::Int(width)),
        }
    }

    /// Returns the same in a register.
    pub fn extended_reg(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Reg> {
        let op = self.extended(part, width, ext)?;
        Ok(self.in_register(op, whole(width).1))
    }

    /// Returns an integer as an unsigned or signed number of 64 bits.
    pub fn widened(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Op> {
        match part {
            Part::Bits(bits) => {
                Ok(Op::from(if ext == Ext::Sign { signed_bits(*bits, width) } else { (bits & mask(width)) as i64 }))
            }
            _ if width > 32 => self.extended(part, width, ext),
            _ => {
                let narrow = self.extended(part, width, ext)?;
                let opcode = if ext == Ext::Sign { "cvt.s64.s32" } else { "cvt.u64.u32" };
                Ok(self.b64(opcode, vec![narrow]).into())
            }
        }
    }

    /// Returns a scalar operand of an instruction; pointers are generic.
    pub fn data(&mut self, value: &Value) -> Result<Op> {
        let (part, scalar) = (self.data_part(value)?, self.scalar(self.function.ty(value))?);
        self.operand(&part, scalar)
    }

    /// Returns the same in a register.
    pub fn data_reg(&mut self, value: &Value) -> Result<Reg> {
        let (part, scalar) = (self.data_part(value)?, self.scalar(self.function.ty(value))?);
        self.register(&part, scalar)
    }

    pub fn data_part(&mut self, value: &Value) -> Result<Part> {
        let parts = self.data_parts(value)?;
        self.single(parts)
    }

    /// Returns the parts of a value; pointers of no particular space are generic.
    pub fn data_parts(&mut self, value: &Value) -> Result<Vec<Part>> {
        let parts = self.parts(value)?;
        self.generic_parts(parts, self.function.ty(value), self.spaces.of(value))
    }

    /// Returns the value of a constant integer.
    pub fn known(&mut self, value: &Value) -> Option<u64> {
        match value {
            Value::Const(_) => self.part(value).ok().and_then(|part| part.bits()),
            Value::Local(local) => self.known_local(*local),
        }
    }

    /// Returns the value of a local that turned out to be constant.
    pub fn known_local(&self, local: u32) -> Option<u64> {
        if let Some([part]) = self.values[local as usize].as_deref() { part.bits() } else { None }
    }

    /// Returns a copy in a new register of a class. The class may differ in kind but not in size.
    pub fn moved(&mut self, from: Op, class: Class) -> Reg {
        self.one(mov(class), class, vec![from])
    }

    /// Returns the address of a part that is one.
    pub fn base_and_offset(&mut self, part: &Part) -> Result<(Base, i64)> {
        match part {
            Part::Address(base, offset) => Ok((base.clone(), *offset)),
            _ => Ok((Base::Reg(self.register(part, Scalar::Ptr)?), 0)),
        }
    }
}
