//! Decodes calls of functions: parameters and results in local memory, no recursion.

use super::decode::{Decoder, syntax};
use super::scope::Symbol;
use super::{Action, NOWHERE};
use crate::module::LoadError;
use crate::ptx::ast::{self, Operand, Statement};

/// Most functions that one kernel may reach.
const MOST_FUNCTIONS: usize = 1 << 12;

/// A function of the program under way.
pub(super) struct Function {
    /// Index in the module.
    pub index: usize,
    /// Where its code starts; known once it is decoded.
    pub entry: u32,
    pub frame: Frame,
}

/// Where a function's parameters and results stand in local memory. A function that can be on the stack only once, since recursion
/// is refused, has one place for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub params: Vec<(u32, u32)>,
    pub returns: Vec<(u32, u32)>,
}

impl<'m, 't> Decoder<'m, 't> {
    /// `call (results), function, (arguments)`: copies the arguments, goes there, copies the results.
    pub(super) fn call(&mut self, instruction: &'m ast::Instruction<'t>) -> Result<(), LoadError> {
        let (results, name, arguments): (&[&str], &str, &[&str]) = match instruction.operands.as_slice() {
            [Operand::Name(name)] => (&[], name, &[]),
            [Operand::Name(name), Operand::List(arguments)] => (&[], name, arguments),
            [Operand::List(results), Operand::Name(name)] => (results, name, &[]),
            [Operand::List(results), Operand::Name(name), Operand::List(arguments)] => (results, name, arguments),
            _ => return Err(self.unsupported("an indirect call")),
        };
        let module = self.module;
        let index = module.functions.iter().position(|function| function.name == name && function.body.is_some());
        let Some(index) = index else {
            let declared = module.functions.iter().any(|function| function.name == name);
            let what = if declared { format!("a call of the external function {name}") } else { format!("a call through {name}") };
            return Err(self.unsupported(&what));
        };
        let callee = &module.functions[index];
        if callee.is_kernel || callee.params.len() != arguments.len() || callee.returns.len() != results.len() {
            return Err(self.operands_of(instruction));
        }
        let number = match self.functions.iter().position(|function| function.index == index) {
            Some(number) => number,
            None => self.add_function(index)?,
        };
        let frame = self.functions[number].frame.clone();
        for (argument, (to, bytes)) in arguments.iter().zip(frame.params) {
            let from = self.local_symbol(argument, bytes)?;
            self.emit(Action::CopyLocal { from, to, bytes });
        }
        self.calls.push((self.program.code.len(), number));
        self.emit(Action::Call { target: NOWHERE });
        for (result, (from, bytes)) in results.iter().zip(frame.returns) {
            let to = self.local_symbol(result, bytes)?;
            self.emit(Action::CopyLocal { from, to, bytes });
        }
        Ok(())
    }

    fn add_function(&mut self, index: usize) -> Result<usize, LoadError> {
        let function = &self.module.functions[index];
        if calls_itself(self.module, index) {
            return Err(self.unsupported(&format!("recursion (function {} calls itself)", function.name)));
        }
        if self.functions.len() > MOST_FUNCTIONS {
            return Err(self.unsupported("a kernel with so many functions"));
        }
        let mut place = |variables: &[ast::Variable<'t>]| -> Result<Vec<(u32, u32)>, LoadError> {
            variables
                .iter()
                .map(|variable| {
                    let bytes = variable.bytes.ok_or_else(|| syntax(variable.line, format!("{} has no size", variable.name)))?;
                    Ok((self.take_local(variable.align, bytes, variable.line)?, bytes as u32))
                })
                .collect()
        };
        let frame = Frame { params: place(&function.params)?, returns: place(&function.returns)? };
        self.functions.push(Function { index, entry: 0, frame });
        Ok(self.functions.len() - 1)
    }

    /// The place of a parameter or a result of a call, which is as large as the callee's.
    fn local_symbol(&self, name: &str, bytes: u32) -> Result<u32, LoadError> {
        match self.scopes.find(name) {
            Some(Symbol::Local(offset, found)) if found == bytes => Ok(offset),
            _ => Err(syntax(self.origin.ptx_line, format!("expected a parameter of {bytes} bytes for a call, found {name}"))),
        }
    }
}

/// Whether a function can reach itself by calls.
fn calls_itself(module: &ast::Module<'_>, function: usize) -> bool {
    let mut reached = vec![false; module.functions.len()];
    let mut open = vec![function];
    while let Some(caller) = open.pop() {
        for statement in module.functions[caller].body.iter().flatten() {
            let Statement::Instruction(instruction) = statement else { continue };
            if !instruction.opcode.starts_with("call") {
                continue;
            }
            for operand in &instruction.operands {
                let Operand::Name(name) = operand else { continue };
                let Some(callee) = module.functions.iter().position(|f| f.name == *name && f.body.is_some()) else { continue };
                if callee == function {
                    return true;
                }
                if !std::mem::replace(&mut reached[callee], true) {
                    open.push(callee);
                }
            }
        }
    }
    false
}
