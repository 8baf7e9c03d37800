//! Inline PTX.

use super::prelude::*;
use crate::mir::Piece;

impl Selector<'_> {
    /// Makes the code of `asm "template", "constraints"`.
    pub fn inline(&mut self, ty: &Type, template: &str, constraints: &str, side_effect: bool, args: &[Arg]) -> Result<Vec<Part>> {
        let scalars = layout::parts(ty)?;
        let (mut outputs, mut inputs, mut clobbers_memory) = (Vec::new(), Vec::new(), false);
        for constraint in constraints.split(',').filter(|constraint| !constraint.is_empty()) {
            if let Some(clobber) = constraint.strip_prefix('~') {
                clobbers_memory |= clobber == "{memory}";
            } else if let Some(output) = constraint.strip_prefix('=') {
                outputs.push(output.trim_start_matches('&'));
            } else {
                inputs.push(constraint);
            }
        }
        if outputs.len() != scalars.len() || inputs.len() != args.len() {
            return self.fail(format!("inline PTX with the constraints {constraints}"));
        }
        let results =
            outputs.iter().map(|output| Ok(self.new_reg(self.constraint_class(output)?))).collect::<Result<Vec<Reg>>>()?;
        let mut ops: Vec<Op> = results.iter().copied().map(Op::Reg).collect();
        // Operands that an output starts with are read through it.
        let mut tied = Vec::new();
        for (input, arg) in inputs.iter().zip(args) {
            if let Ok(output) = input.parse::<usize>() {
                let Some(&reg) = results.get(output) else {
                    return self.fail("inline PTX ties an input to an output that it does not have");
                };
                let class = self.class(reg);
                let from = self.input(arg, class)?;
                self.push(mov(class), ops![reg], ops![from], false);
                tied.push(Op::Reg(reg));
                ops.push(Op::Reg(reg));
            } else if matches!(*input, "n" | "i") {
                let part = self.part(&arg.value)?;
                let scalar = self.scalar(self.function.ty(&arg.value))?;
                if !matches!(part, Part::Bits(_)) {
                    return self.fail("inline PTX wants a constant here");
                }
                ops.push(self.operand(&part, scalar)?);
            } else {
                let class = self.constraint_class(input)?;
                ops.push(self.input(arg, class)?.into());
            }
        }
        let pieces = self.pieces(template, ops.len())?;
        ops.extend(tied);
        self.template(pieces, ops, results.len(), side_effect || clobbers_memory);
        results.iter().zip(&scalars).map(|(reg, scalar)| self.output(*reg, *scalar)).collect()
    }

    fn constraint_class(&self, constraint: &str) -> Result<Class> {
        Ok(match constraint {
            "b" => Class::Pred,
            "h" | "c" => Class::B16,
            "r" => Class::B32,
            "l" | "N" => Class::B64,
            "f" => Class::F32,
            "d" => Class::F64,
            _ => return self.fail(format!("inline PTX with the constraint {constraint}")),
        })
    }

    /// Returns an argument in a register of its constraint's class.
    fn input(&mut self, arg: &Arg, want: Class) -> Result<Reg> {
        let scalar = self.scalar(self.function.ty(&arg.value))?;
        let part = self.data_part(&arg.value)?;
        let reg = match scalar {
            Scalar::Int(width @ 2..=31) => self.extended_reg(&part, width, Ext::Zero)?,
            _ => self.register(&part, scalar)?,
        };
        match (class(scalar), want) {
            (Class::B32, Class::B64) => Ok(self.b64("cvt.u64.u32", ops![reg])),
            _ => self.as_class(reg, want).ok_or_else(|| self.error("inline PTX with an operand of another size")),
        }
    }

    fn output(&mut self, reg: Reg, scalar: Scalar) -> Result<Part> {
        match (self.class(reg), class(scalar)) {
            (Class::B32, Class::Pred) => Ok(self.lowest_bit(reg, 32)),
            (_, want) => {
                let reg = self.as_class(reg, want).ok_or_else(|| self.error("inline PTX with a result of another size"))?;
                Ok(Part::of(scalar, reg))
            }
        }
    }

    /// Returns a register's bits in another class, if it can hold them.
    fn as_class(&mut self, reg: Reg, want: Class) -> Option<Reg> {
        let opcode = match (self.class(reg), want) {
            (have, want) if have == want => return Some(reg),
            (Class::B32, Class::B16) => "cvt.u16.u32",
            (Class::B16, Class::B32) => "cvt.u32.u16",
            (Class::B32, Class::F32) | (Class::F32, Class::B32) => "mov.b32",
            (Class::B64, Class::F64) | (Class::F64, Class::B64) => "mov.b64",
            _ => return None,
        };
        Some(self.one(opcode, want, ops![reg]))
    }

    /// Cuts a template at its operands: `$0`, `${0:x}`, and `$$` for a dollar sign.
    pub fn pieces(&self, template: &str, operands: usize) -> Result<Vec<Piece>> {
        let mut pieces = Vec::new();
        let template = template.trim_end();
        let mut segments = template.split('$');
        let mut text = segments.next().unwrap_or("").to_owned();
        while let Some(segment) = segments.next() {
            // Nothing between two dollar signs.
            if segment.is_empty() {
                text.push('$');
                text.push_str(segments.next().unwrap_or(""));
                continue;
            }
            let (number, rest) = match segment.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
                Some((inside, rest)) => (inside.split(':').next().unwrap_or(""), rest),
                None => segment.split_at(segment.find(|c: char| !c.is_ascii_digit()).unwrap_or(segment.len())),
            };
            let Some(operand) = number.parse().ok().filter(|operand| *operand < operands) else {
                return self.fail(format!("inline PTX names the operand ${number}, which it does not have"));
            };
            pieces.push(Piece::Text(std::mem::replace(&mut text, rest.to_owned())));
            pieces.push(Piece::Op(operand));
        }
        if !template.is_empty() && !template.ends_with([';', '}']) {
            text.push(';');
        }
        pieces.push(Piece::Text(text));
        Ok(pieces)
    }
}
