//! Parts as operands of instructions.

use super::prelude::*;

impl Selector<'_> {
    /// Returns an operand: a register, or a literal where PTX takes one.
    pub fn operand(&mut self, part: &Part, scalar: Scalar) -> Result<Op> {
        let bits = match part {
            Part::Reg(reg, _) => return Ok(Op::Reg(*reg)),
            Part::Address(base, offset) => {
                let reg = self.base(base);
                let whole = vec![Op::Reg(reg), int(*offset)];
                return Ok(if *offset == 0 { Op::Reg(reg) } else { self.value("add.s64", Class::B64, whole) });
            }
            Part::Bits(bits) => *bits,
            Part::Undef => 0,
        };
        Ok(match scalar {
            Scalar::Int(1) => {
                let value = int(i64::from(bits & 1 != 0));
                self.value("mov.pred", Class::Pred, vec![value])
            }
            Scalar::Int(width) => int(signed_bits(bits, width)),
            Scalar::Ptr => int(bits as i64),
            Scalar::Float => f32_bits(bits as u32),
            Scalar::Double => f64_bits(bits),
            Scalar::Half | Scalar::BFloat => {
                self.value("mov.b16", Class::B16, vec![Op::Text(format!("0x{:04X}", bits & 0xffff).into())])
            }
        })
    }

    /// Returns the part in a register, as an operand.
    pub fn in_register(&mut self, part: &Part, scalar: Scalar) -> Result<Op> {
        self.register(part, scalar).map(Op::Reg)
    }

    /// Returns the part in a register.
    pub fn register(&mut self, part: &Part, scalar: Scalar) -> Result<Reg> {
        match self.operand(part, scalar)? {
            Op::Reg(reg) => Ok(reg),
            literal => Ok(self.moved(literal, class(scalar))),
        }
    }

    /// Returns an integer of at most 64 bits as an operand whose upper bits are known.
    pub fn extended(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Op> {
        if width == 1 {
            let reg = self.register(part, Scalar::Int(1))?;
            let one = if ext == Ext::Sign { -1 } else { 1 };
            return Ok(self.value("selp.b32", Class::B32, vec![int(one), int(0), Op::Reg(reg)]));
        }
        let (whole, class) = whole(width);
        match part {
            Part::Bits(bits) => Ok(int(match ext {
                Ext::Sign => signed_bits(*bits, width),
                _ => signed_bits(bits & mask(width), if width == whole { width } else { 64 }),
            })),
            Part::Reg(reg, known) if width != whole && ext != Ext::Any && *known != ext => {
                let (opcode, args) = match ext {
                    Ext::Zero => ("and.b", vec![Op::Reg(*reg), int(mask(width) as i64)]),
                    _ => ("bfe.s", vec![Op::Reg(*reg), int(0), int(i64::from(width))]),
                };
                Ok(self.value(format!("{opcode}{whole}"), class, args))
            }
            _ => self.operand(part, Scalar::Int(width)),
        }
    }

    /// Returns the same in a register, as an operand.
    pub fn extended_in_register(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Op> {
        self.extended_reg(part, width, ext).map(Op::Reg)
    }

    /// Returns the same in a register.
    pub fn extended_reg(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Reg> {
        match self.extended(part, width, ext)? {
            Op::Reg(reg) => Ok(reg),
            literal => Ok(self.moved(literal, whole(width).1)),
        }
    }

    /// Returns an integer as an unsigned or signed number of 64 bits.
    pub fn widened(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Op> {
        match part {
            Part::Bits(bits) => Ok(int(if ext == Ext::Sign { signed_bits(*bits, width) } else { (bits & mask(width)) as i64 })),
            _ if width > 32 => self.extended(part, width, ext),
            _ => {
                let narrow = self.extended(part, width, ext)?;
                let opcode = if ext == Ext::Sign { "cvt.s64.s32" } else { "cvt.u64.u32" };
                Ok(self.value(opcode, Class::B64, vec![narrow]))
            }
        }
    }

    /// Returns a scalar operand of an instruction; pointers are generic.
    pub fn data(&mut self, value: &Value, ty: &Type) -> Result<Op> {
        let scalar = self.scalar(ty)?;
        let part = self.data_part(value, ty)?;
        self.operand(&part, scalar)
    }

    /// Returns the same in a register.
    pub fn data_in_register(&mut self, value: &Value, ty: &Type) -> Result<Op> {
        let scalar = self.scalar(ty)?;
        let part = self.data_part(value, ty)?;
        self.in_register(&part, scalar)
    }

    pub fn data_part(&mut self, value: &Value, ty: &Type) -> Result<Part> {
        let parts = self.data_parts(value, ty)?;
        self.single(parts)
    }

    /// Returns the parts of a value; pointers of no particular space are generic.
    pub fn data_parts(&mut self, value: &Value, ty: &Type) -> Result<Vec<Part>> {
        let parts = self.parts(value, ty)?;
        if !matches!(ty, Type::Ptr(0)) {
            return Ok(parts);
        }
        let space = self.spaces.of(self.module, value, ty);
        self.generic_parts(parts, ty, space)
    }

    /// Returns the value of a constant integer.
    pub fn known(&mut self, value: &Value, ty: &Type) -> Option<u64> {
        match value {
            Value::Const(_) => {
                self.part(value, ty).ok().and_then(|part| if let Part::Bits(bits) = part { Some(bits) } else { None })
            }
            Value::Local(local) => self.known_local(*local),
        }
    }

    /// Returns the value of a local that turned out to be constant.
    pub fn known_local(&self, local: u32) -> Option<u64> {
        if let Some([Part::Bits(bits)]) = self.values[local as usize].as_deref() { Some(*bits) } else { None }
    }

    /// Returns a copy in a new register of a class, which may differ in kind but not in size.
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
