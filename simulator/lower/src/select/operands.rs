//! Parts as operands of instructions.

use super::prelude::*;

impl Selector<'_> {
    /// Returns an operand: a register, or a literal where PTX takes one.
    pub fn operand(&mut self, part: &Part, scalar: Scalar) -> Result<Op> {
        let bits = match part {
            Part::Reg(reg, _) => return Ok(Op::Reg(*reg)),
            Part::Address(base, offset) => {
                let reg = self.base(base);
                return Ok(Op::Reg(if *offset == 0 {
                    reg
                } else {
                    self.one("add.s64", Class::B64, vec![Op::Reg(reg), int(*offset)])
                }));
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
            literal => {
                let class = class(scalar);
                Ok(self.one(mov(class), class, vec![literal]))
            }
        }
    }

    /// Returns an integer of at most 64 bits as an operand whose upper bits are known.
    pub fn extended(&mut self, part: &Part, width: u32, ext: Ext) -> Result<Op> {
        if width == 1 {
            let reg = self.register(part, Scalar::Int(1))?;
            let one = if ext == Ext::Sign { -1 } else { 1 };
            return Ok(self.value("selp.b32", Class::B32, vec![int(one), int(0), Op::Reg(reg)]));
        }
        let whole = if width <= 32 { 32 } else { 64 };
        match part {
            Part::Bits(bits) => Ok(int(match ext {
                Ext::Sign => signed_bits(*bits, width),
                _ => signed_bits(bits & mask(width), if width == whole { width } else { 64 }),
            })),
            Part::Reg(reg, known) if width != whole && ext != Ext::Any && *known != ext => {
                let reg = *reg;
                Ok(Op::Reg(match (ext, whole) {
                    (Ext::Zero, 32) => self.one("and.b32", Class::B32, vec![Op::Reg(reg), int(mask(width) as i64)]),
                    (Ext::Zero, _) => self.one("and.b64", Class::B64, vec![Op::Reg(reg), int(mask(width) as i64)]),
                    (_, 32) => self.one("bfe.s32", Class::B32, vec![Op::Reg(reg), int(0), int(i64::from(width))]),
                    _ => self.one("bfe.s64", Class::B64, vec![Op::Reg(reg), int(0), int(i64::from(width))]),
                }))
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
            literal if width <= 32 => Ok(self.one("mov.b32", Class::B32, vec![literal])),
            literal => Ok(self.one("mov.b64", Class::B64, vec![literal])),
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
        match <[Part; 1]>::try_from(self.data_parts(value, ty)?) {
            Ok([part]) => Ok(part),
            Err(_) => self.fail("a value of several parts is not supported here"),
        }
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
            Value::Const(_) => match self.part(value, ty) {
                Ok(Part::Bits(bits)) => Some(bits),
                _ => None,
            },
            Value::Local(local) => match self.values[*local as usize].as_deref() {
                Some([Part::Bits(bits)]) => Some(*bits),
                _ => None,
            },
        }
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
