//! Decodes calls of functions, by name and through pointers: parameters and results in local memory, no recursion.

use super::call_graph::{Call, defined, function_address, statements};
use super::frame::{Frame, Function};

use super::code::{Action, ConstantValue};
use super::decode::Decoder;
use super::fixed::{FALSE, NOWHERE, TRUE};
use super::scope::Symbol;
use crate::error::{LoadError, syntax};
use crate::instructions::{self, Alu};
use crate::ptx::ast::{self, Operand, Statement};
use crate::registers::{Kind, Reg};

/// Most functions that one kernel may reach.
const MOST_FUNCTIONS: usize = 1 << 12;

impl<'m, 't> Decoder<'m, 't> {
    /// `call (results), function, (arguments)`: copies the arguments, goes there, copies the results.
    pub(super) fn call(&mut self, instruction: &'m ast::Instruction<'t>) -> Result<(), LoadError> {
        let call = Call::of(instruction).ok_or_else(|| self.operands_of(instruction))?;
        if let Some(through) = call.through {
            return self.call_through(instruction, &call, through);
        }
        let module = self.module;
        let Some(index) = defined(module, call.callee) else {
            return match (call.callee, call.results, call.arguments) {
                ("vprintf", [result], [format, arguments]) => {
                    let result = Some(self.local_symbol(result, 4)?);
                    let (format, arguments) = (self.local_symbol(format, 8)?, self.local_symbol(arguments, 8)?);
                    self.emit(Action::Print { format, arguments, result });
                    Ok(())
                }
                ("__assertfail", [], [message, file, line, function, _char_bytes]) => {
                    let params = [
                        self.local_symbol(message, 8)?,
                        self.local_symbol(file, 8)?,
                        self.local_symbol(line, 4)?,
                        self.local_symbol(function, 8)?,
                    ];
                    self.emit(Action::AssertFail { params });
                    Ok(())
                }
                (name, ..) if module.functions.iter().any(|function| function.name == name) => {
                    Err(self.unsupported(&format!("a call of the external function {name}")))
                }
                (name, ..) => Err(self.unsupported(&format!("a call through {name}"))),
            };
        };
        if !fits(&module.functions[index], &call) {
            return Err(self.operands_of(instruction));
        }
        self.call_function(index, &call)
    }

    fn call_function(&mut self, index: usize, call: &Call<'_>) -> Result<(), LoadError> {
        let number = match self.functions.iter().position(|function| function.index == index) {
            Some(number) => number,
            None => self.add_function(index)?,
        };
        let frame = self.functions[number].frame.clone();
        for (argument, (to, bytes)) in call.arguments.iter().zip(frame.params) {
            let from = self.local_symbol(argument, bytes)?;
            self.emit(Action::CopyLocal { from, to, bytes });
        }
        self.calls.push((self.program.code.len(), number));
        self.emit(Action::Call { target: NOWHERE });
        for (result, (from, bytes)) in call.results.iter().zip(frame.returns) {
            let to = self.local_symbol(result, bytes)?;
            self.emit(Action::CopyLocal { from, to, bytes });
        }
        Ok(())
    }

    /// `call (results), pointer, (arguments), prototype`: a sequence of calls by name, each by the lanes whose pointer holds that
    /// function's address.
    fn call_through(&mut self, instruction: &'m ast::Instruction<'t>, call: &Call<'_>, through: &str) -> Result<(), LoadError> {
        let guard = self.guard;
        let pointer = self.source(&Operand::Name(call.callee), Kind::Double)?;
        let candidates = self
            .call_graph
            .candidates(self.module, self.current, through)
            .ok_or_else(|| syntax(instruction.line, format!("no prototype or targets {through} for a call")))?;
        let candidates = candidates.into_iter().filter(|index| fits(&self.module.functions[*index], call)).collect::<Vec<_>>();
        let cases: Vec<_> = candidates.iter().map(|index| ConstantValue::Bits(function_address(*index))).collect();
        let chosen = self.choose(pointer, Kind::Double, &cases)?;
        for (index, chosen) in candidates.into_iter().zip(chosen) {
            self.guard = (chosen, false);
            self.call_function(index, call)?;
        }
        self.guard = guard;
        Ok(())
    }

    /// `brx.idx index, table`
    pub(super) fn branch_by_table(&mut self, instruction: &'m ast::Instruction<'t>) -> Result<(), LoadError> {
        let ("brx.idx" | "brx.idx.uni", [index, Operand::Name(table)]) = (instruction.opcode, instruction.operands.as_slice())
        else {
            return Err(self.operands_of(instruction));
        };
        let index = self.source(index, Kind::Word)?;
        let labels = statements(self.module, self.current).find_map(|statement| match statement {
            Statement::Targets { name, targets } if name == table => Some(targets),
            _ => None,
        });
        let labels = labels.ok_or_else(|| syntax(instruction.line, format!("no branch targets {table}")))?;
        let guard = self.guard;
        let cases: Vec<_> = (0..labels.len() as u64).map(ConstantValue::Bits).collect();
        let chosen = self.choose(index, Kind::Word, &cases)?;
        for (label, chosen) in labels.iter().zip(chosen) {
            self.guard = (chosen, false);
            self.branch(label);
        }
        self.guard = guard;
        Ok(())
    }

    /// Compares a register with each of the values, and returns a predicate for each. If none is equal, the kernel fails.
    fn choose(&mut self, register: Reg, kind: Kind, cases: &[ConstantValue]) -> Result<Vec<Reg>, LoadError> {
        let opcode = if kind == Kind::Double { "setp.eq.s64" } else { "setp.eq.s32" };
        let equal = instructions::lookup(opcode).ok_or_else(|| self.unsupported(opcode))?.alu;
        let guard = self.guard;
        let none = self.temporary_predicate();
        self.unguarded(Alu::MovPred, none, FALSE);
        self.alu(Alu::MovPred, none, &[TRUE]);
        let mut chosen = Vec::new();
        for case in cases {
            let value = self.constant(*case, kind);
            let is_case = self.temporary_predicate();
            // Lanes that do not execute the instruction match nothing.
            self.unguarded(Alu::MovPred, is_case, FALSE);
            self.alu(equal, is_case, &[register, value]);
            self.guard = (is_case, false);
            self.alu(Alu::MovPred, none, &[FALSE]);
            self.guard = guard;
            chosen.push(is_case);
        }
        self.guard = (none, false);
        self.emit(Action::NoTarget { register, kind });
        self.guard = guard;
        Ok(chosen)
    }

    fn unguarded(&mut self, alu: Alu, destination: Reg, source: Reg) {
        let guard = std::mem::replace(&mut self.guard, (TRUE, false));
        self.alu(alu, destination, &[source]);
        self.guard = guard;
    }

    fn add_function(&mut self, index: usize) -> Result<usize, LoadError> {
        let function = &self.module.functions[index];
        if self.call_graph.reached_from(index)[index] {
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

    /// The local memory of a parameter or result of a call, which must have the size of the callee's.
    fn local_symbol(&self, name: &str, bytes: u32) -> Result<u32, LoadError> {
        match self.scopes.find(name) {
            Some(Symbol::Local(offset, found)) if found == bytes => Ok(offset),
            _ => Err(syntax(self.origin.ptx_line, format!("expected a parameter of {bytes} bytes for a call, found {name}"))),
        }
    }
}

/// Whether a function has the same number of parameters and results as a call.
fn fits(function: &ast::Function<'_>, call: &Call<'_>) -> bool {
    function.params.len() == call.arguments.len() && function.returns.len() == call.results.len()
}
