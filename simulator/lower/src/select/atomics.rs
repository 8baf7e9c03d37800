//! Atomic operations and fences.

use super::memory::scope;
use super::prelude::*;

impl Selector<'_> {
    /// Makes an `atomicrmw`. Like LLVM's back end it leaves out the ordering, which PTX takes as relaxed, and the scope of the device.
    pub fn atomic_update(&mut self, inst: &Inst, op: &str, ptr: &Value, value: &Value, within: &str) -> Result<Vec<Part>> {
        let scalar = self.scalar(&inst.ty)?;
        let bits = scalar.bits();
        let (name, ty) = match (op, scalar) {
            ("add" | "sub", Scalar::Int(32 | 64)) => ("add", format!("u{bits}")),
            ("and" | "or" | "xor", Scalar::Int(32 | 64)) => (op, format!("b{bits}")),
            ("max" | "min", Scalar::Int(32 | 64)) => (op, format!("s{bits}")),
            ("umax" | "umin", Scalar::Int(32 | 64)) => (&op[1..], format!("u{bits}")),
            ("xchg", Scalar::Int(32 | 64) | Scalar::Float | Scalar::Double | Scalar::Ptr) => ("exch", format!("b{bits}")),
            ("uinc_wrap", Scalar::Int(32)) => ("inc", "u32".to_owned()),
            ("udec_wrap", Scalar::Int(32)) => ("dec", "u32".to_owned()),
            ("fadd" | "fsub", Scalar::Float | Scalar::Double) => ("add", format!("f{bits}")),
            ("fadd", Scalar::Half) => ("add.noftz", "f16".to_owned()),
            ("fadd", Scalar::BFloat) if self.target >= 90 => ("add.noftz", "bf16".to_owned()),
            _ => return self.fail(format!("the atomic operation {op} with a value of {bits} bits")),
        };
        let memory = self.memory_operand(ptr)?;
        let part = self.data_part(value)?;
        let part = match op {
            "sub" => self.unary(format!("neg.s{bits}"), scalar, &part)?,
            "fsub" => self.negate_part(scalar, &part)?,
            _ => part,
        };
        let value = self.operand(&part, scalar)?;
        let within = match within {
            "" | "device" | "agent" => "",
            other => scope(other),
        };
        let opcode = format!("atom{within}{}.{name}.{ty}", memory.space.suffix());
        Ok(vec![Part::of(scalar, self.kept(opcode, class(scalar), vec![memory.at(0), value]))])
    }

    /// Makes the code of `cmpxchg`.
    pub fn compare_exchange(&mut self, [ptr, old, new]: [&Value; 3], ordering: Ordering, within: &str) -> Result<Vec<Part>> {
        let scalar = self.scalar(self.function.ty(old))?;
        let bits = scalar.bits();
        if !matches!(scalar, Scalar::Int(32 | 64) | Scalar::Ptr) {
            return self.fail(format!("an atomic exchange of {bits} bits"));
        }
        let memory = self.memory_operand(ptr)?;
        let (old, new) = (self.data(old)?, self.data(new)?);
        let within = scope(within);
        let word = match ordering {
            Ordering::SeqCst => {
                self.effect(format!("fence.sc{within}"), Vec::new());
                ".acquire"
            }
            Ordering::Acquire => ".acquire",
            Ordering::Release => ".release",
            Ordering::AcqRel => ".acq_rel",
            _ => ".relaxed",
        };
        let opcode = format!("atom{word}{within}{}.cas.b{bits}", memory.space.suffix());
        let found = self.kept(opcode, class(scalar), vec![memory.at(0), old.clone(), new]);
        let same = self.pred(format!("setp.eq.s{bits}"), ops![found, old]);
        Ok(vec![Part::of(scalar, found), Part::reg(same)])
    }

    pub fn fence(&mut self, ordering: Ordering, within: &str) -> Vec<Part> {
        if within != "singlethread" {
            let word = if ordering == Ordering::SeqCst { "sc" } else { "acq_rel" };
            self.effect(format!("fence.{word}{}", scope(within)), Vec::new());
        }
        Vec::new()
    }
}
