//! Functions that were not inlined, and functions of the device runtime.

use super::memory::{Memory, class_in_memory, memory_type};
use super::prelude::*;
use crate::layout::Place;

/// The way to pass a value: its type in a parameter list, and its scalars with their offsets.
pub struct Passed {
    /// `.param .b32 ` or `.param .align 4 .b8 `, without the name.
    pub declaration: String,
    /// `[16]` after the name.
    pub extent: String,
    pub places: Vec<Place>,
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
                Some(of) => {
                    let (places, memory) = (self.members(of)?, self.memory_operand(&arg.value)?);
                    self.read(&places, false, &memory)
                }
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
        let received = |(reg, scalar)| if scalar == Scalar::Int(1) { self.lowest_bit(reg, 32) } else { Part::of(scalar, reg) };
        Ok(results.into_iter().map(received).collect())
    }

    /// Returns the scalars of a structure that is copied.
    fn members(&self, of: &Type) -> Result<Vec<Place>> {
        let places = layout::places(of)?;
        if places.iter().any(|(scalar, _)| *scalar == Scalar::Int(1)) {
            return self.fail("a truth value in a structure");
        }
        Ok(places)
    }

    /// Reads scalars one by one.
    fn read(&mut self, places: &[Place], is_whole: bool, memory: &Memory) -> Vec<Part> {
        let mut parts = Vec::with_capacity(places.len());
        for &(scalar, offset) in places {
            let opcode = format!("ld{}.{}", memory.space.suffix(), loaded_type(scalar, is_whole));
            let reg = self.one(opcode, class_in_memory(scalar), vec![memory.at(offset)]);
            parts.push(match scalar {
                Scalar::Int(1) => self.made("setp.ne.s32", Class::Pred, ops![reg, 0]),
                _ => Part::of(scalar, reg),
            });
        }
        parts
    }

    /// Reads a parameter of a function that is no kernel. A structure that is passed by value is copied to a variable in local memory.
    pub fn receive(&mut self, at: usize, name: String) -> Result<Vec<Part>> {
        let param = &self.function.params[at];
        let how = passed(&param.ty, param.byval.as_ref(), param.align)?;
        let memory = Memory { base: Base::Symbol(name), offset: 0, space: Space::Param };
        let Some(of) = &param.byval else { return Ok(self.read(&how.places, how.extent.is_empty(), &memory)) };
        let base = Base::Symbol(self.local_variable(layout::size(of)?, how.align));
        let copy = Memory { base: base.clone(), offset: 0, space: Space::Local };
        for (scalar, offset) in self.members(of)? {
            for part in self.read(&[(scalar, offset)], false, &memory) {
                let value = self.operand(&part, scalar)?;
                self.effect(format!("st.local.{}", param_type(scalar, false)), vec![copy.at(offset), value]);
            }
        }
        Ok(vec![Part::Address(base, 0)])
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
