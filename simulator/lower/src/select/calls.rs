//! Functions that were not inlined, and functions of the device runtime.

use super::memory::{class_in_memory, memory_type};
use super::prelude::*;

/// The way to pass a value: its type in a parameter list, and its scalars with their offsets.
pub struct Passed {
    /// `.param .b32 ` or `.param .align 4 .b8 `, without the name.
    pub declaration: String,
    /// `[16]` after the name.
    pub extent: String,
    pub places: Vec<layout::Place>,
    pub align: u64,
}

/// Returns how a value is passed, as by LLVM's NVPTX: scalars with at least 32 bits, and everything else as bytes.
pub fn passed(ty: &Type, byval: Option<&Type>, align: u64) -> Result<Passed> {
    let of = byval.unwrap_or(ty);
    let places = layout::places(of)?;
    Ok(match layout::scalar(of) {
        Some(scalar @ (Scalar::Int(..=64) | Scalar::Float | Scalar::Double | Scalar::Ptr)) if byval.is_none() => {
            let (bits, _) = whole(scalar.bits());
            Passed { declaration: format!(".param .b{bits} "), extent: String::new(), places, align: u64::from(bits / 8) }
        }
        _ => {
            let align = align.max(layout::align(of)).min(16);
            let extent = format!("[{}]", layout::size(of)?);
            Passed { declaration: format!(".param .align {align} .b8 "), extent, places, align }
        }
    })
}

/// Returns the type of a scalar in a parameter. A whole one has at least 32 bits.
fn param_type(scalar: Scalar, is_whole: bool) -> &'static str {
    match loaded_type(scalar, is_whole) {
        "u8" => "b8",
        "u16" => "b16",
        ty => ty,
    }
}

/// Returns the type with which a scalar is loaded. Narrow integers are extended by it.
fn loaded_type(scalar: Scalar, is_whole: bool) -> &'static str {
    if is_whole && matches!(scalar, Scalar::Int(..=32)) { "b32" } else { memory_type(scalar, false) }
}

impl Selector<'_> {
    pub fn call(&mut self, name: &str, ty: &Type, args: &[Arg]) -> Result<Vec<Part>> {
        let Some(function) = self.module.function(name) else {
            return self.fail(format!("a call of {name}, which is not declared"));
        };
        if function.is_kernel {
            return self.fail(format!("a call of the kernel {name}"));
        }
        if function.is_variadic {
            return self.fail(format!("a call of {name}, which takes a variable number of arguments"));
        }
        if function.params.len() != args.len() || function.result != *ty {
            return self.fail(format!("a call of {name} with other parameters than it has"));
        }
        self.code.callees.insert(name.to_owned());
        let returned = if *ty == Type::Void { None } else { Some(passed(ty, None, layout::align(ty))?) };
        let count = returned.as_ref().map_or(0, |how| how.places.len());
        let (mut text, mut inputs) = ("{\n".to_owned(), Vec::new());
        for (at, arg) in args.iter().enumerate() {
            let how = passed(self.function.ty(&arg.value), arg.byval.as_ref(), arg.align)?;
            text += &format!("\t{}param{at}{};\n", how.declaration, how.extent);
            if how.places.is_empty() {
                continue;
            }
            let parts = match &arg.byval {
                Some(of) => self.read_copy(&arg.value, of)?,
                None => self.data_parts(&arg.value)?,
            };
            if parts.len() != how.places.len() {
                return self.fail("an argument of a wrong type");
            }
            for ((scalar, offset), part) in how.places.iter().zip(&parts) {
                let ty = param_type(*scalar, how.extent.is_empty());
                text += &format!("\tst.param.{ty} [param{at}+{offset}], ${};\n", count + inputs.len());
                inputs.push(Op::Reg(self.passed_value(part, *scalar)?));
            }
        }
        let mut results = Vec::new();
        let (mut taken, mut after) = ("", String::new());
        if let Some(how) = &returned {
            text += &format!("\t{}retval0{};\n", how.declaration, how.extent);
            taken = "(retval0), ";
            for (at, (scalar, offset)) in how.places.iter().enumerate() {
                let ty = param_type(*scalar, how.extent.is_empty());
                after += &format!("\tld.param.{ty} ${at}, [retval0+{offset}];\n");
                results.push((self.new_reg(class_in_memory(*scalar)), *scalar));
            }
        }
        let list: Vec<String> = (0..args.len()).map(|at| format!("param{at}")).collect();
        let callee = self.names.of(name).replace('$', "$$");
        text += &format!("\tcall.uni {taken}{callee}, ({});\n{after}\t}}", list.join(", "));
        let ops: Vec<Op> = results.iter().map(|(reg, _)| Op::Reg(*reg)).chain(inputs).collect();
        let pieces = self.pieces(&text, ops.len())?;
        self.template(pieces, ops, count, true);
        Ok(results.into_iter().map(|(reg, scalar)| self.received(scalar, reg)).collect())
    }

    /// Returns a scalar that was passed, by the register that it was loaded into.
    fn received(&mut self, scalar: Scalar, reg: Reg) -> Part {
        if scalar == Scalar::Int(1) { self.lowest_bit(reg, 32) } else { Part::of(scalar, reg) }
    }

    /// Reads what a pointer points to, for a parameter that is passed by value.
    fn read_copy(&mut self, ptr: &Value, of: &Type) -> Result<Vec<Part>> {
        let places = layout::places(of)?;
        let memory = self.memory_operand(ptr)?;
        let prefix = format!("ld{}", memory.space.suffix());
        places.into_iter().map(|(scalar, place)| self.read_member(&prefix, scalar, memory.at(place))).collect()
    }

    /// Reads one scalar of a structure.
    fn read_member(&mut self, prefix: &str, scalar: Scalar, address: Op) -> Result<Part> {
        if scalar == Scalar::Int(1) {
            return self.fail("a truth value in a structure");
        }
        let opcode = format!("{prefix}.{}", loaded_type(scalar, false));
        Ok(Part::of(scalar, self.one(opcode, class(scalar), vec![address])))
    }

    /// Reads the parameters of a function that is no kernel.
    pub fn receive(&mut self, at: usize) -> Result<Vec<Part>> {
        let param = &self.function.params[at];
        let how = passed(&param.ty, param.byval.as_ref(), param.align)?;
        let name = super::symbols::parameter(self.names.of(&self.function.name), at);
        if let Some(of) = &param.byval {
            return self.receive_copy(&name, of, how);
        }
        let is_whole = how.extent.is_empty();
        let mut parts = Vec::with_capacity(how.places.len());
        for (scalar, offset) in how.places {
            let address = Op::Mem(Base::Symbol(name.clone()), offset as i64);
            let opcode = format!("ld.param.{}", loaded_type(scalar, is_whole));
            let reg = self.one(opcode, class_in_memory(scalar), vec![address]);
            parts.push(match scalar {
                Scalar::Int(1) => self.made("setp.ne.s32", Class::Pred, ops![reg, 0]),
                _ => Part::of(scalar, reg),
            });
        }
        Ok(parts)
    }

    /// Copies a structure that was passed by value to a variable in local memory.
    fn receive_copy(&mut self, name: &str, of: &Type, how: Passed) -> Result<Vec<Part>> {
        let copy = self.local_variable(layout::size(of)?, how.align);
        for (scalar, offset) in how.places {
            let part = self.read_member("ld.param", scalar, Op::Mem(Base::Symbol(name.to_owned()), offset as i64))?;
            let value = self.operand(&part, scalar)?;
            let address = Op::Mem(Base::Symbol(copy.clone()), offset as i64);
            self.effect(format!("st.local.{}", param_type(scalar, false)), vec![address, value]);
        }
        Ok(vec![Part::Address(Base::Symbol(copy), 0)])
    }

    /// Returns a scalar in the form in which it is passed.
    fn passed_value(&mut self, part: &Part, scalar: Scalar) -> Result<Reg> {
        match scalar {
            Scalar::Int(width @ ..=31) => self.extended_reg(part, width, Ext::Zero),
            _ => self.register(part, scalar),
        }
    }

    /// Adds a variable in local memory and returns its name.
    pub fn local_variable(&mut self, bytes: u64, align: u64) -> String {
        let name = format!("__local_{}", self.labels);
        self.labels += 1;
        self.code.variables.push(format!(".local .align {} .b8 {name}[{}];", align.clamp(1, 128), bytes.max(1)));
        name
    }

    /// Stores the value that a function returns.
    pub fn return_value(&mut self, value: &Value) -> Result<()> {
        let ty = self.function.ty(value);
        let how = passed(ty, None, layout::align(ty))?;
        let parts = self.data_parts(value)?;
        for ((scalar, offset), part) in how.places.iter().zip(&parts) {
            let value = self.passed_value(part, *scalar)?;
            let address = Op::Mem(Base::Symbol("func_retval0".to_owned()), *offset as i64);
            self.effect(format!("st.param.{}", param_type(*scalar, how.extent.is_empty())), ops![address, value]);
        }
        Ok(())
    }
}
