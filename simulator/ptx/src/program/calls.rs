//! Decodes calls of functions, by name and through pointers: parameters and results are in local memory or in registers.

use super::call_graph::{Call, defined, function_address, statements};
use super::frame::{Frame, Function, Place};

use super::code::{Action, ConstantValue};
use super::decode::Decoder;
use super::fixed::{FALSE, NOWHERE, TRUE};
use super::operands::Form;
use super::operations::{Access, Address};
use super::scope::{Local, Symbol};
use crate::error::{LoadError, syntax};
use crate::finding::Space;
use crate::syntax::ast::{self, Operand, Statement, Type};
use alu::Alu;
use alu::registers::{Kind, Reg};

/// Most functions that one kernel may reach.
const MOST_FUNCTIONS: usize = 1 << 12;

impl<'m, 't> Decoder<'m, 't> {
    /// `call (results), function, (arguments)`: copies the arguments, goes there, copies the results.
    pub(super) fn call(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let call = Call::of(instruction).ok_or_else(|| self.unfit())?;
        if let Some(through) = call.through {
            return self.call_through(instruction, &call, through);
        }
        let module = self.module;
        let Some(index) = defined(module, call.callee) else {
            return match (call.callee, call.results, call.arguments) {
                ("vprintf", [result], [format, arguments]) => {
                    let format = self.fixed_argument(format, 8)?;
                    let arguments = self.fixed_argument(arguments, 8)?;
                    self.emit_with_result(result, 4, &|place| Action::Print { format, arguments, result: Some(place) })
                }
                ("__assertfail", [], [message, file, line, function, _char_bytes]) => {
                    let mut params = [0; 4];
                    for (param, (argument, bytes)) in params.iter_mut().zip([(message, 8), (file, 8), (line, 4), (function, 8)]) {
                        *param = self.fixed_argument(argument, bytes)?;
                    }
                    self.emit(Action::AssertFail { params });
                    Ok(())
                }
                ("malloc", [result], [bytes]) => {
                    (self.program.uses_heap, self.program.order_matters) = (true, true);
                    let bytes = self.fixed_argument(bytes, 8)?;
                    self.emit_with_result(result, 8, &|result| Action::Allocate { bytes, result })
                }
                ("free", [], [pointer]) => {
                    (self.program.uses_heap, self.program.order_matters) = (true, true);
                    let pointer = self.fixed_argument(pointer, 8)?;
                    self.emit(Action::Free { pointer });
                    Ok(())
                }
                (name, ..) if module.functions.iter().any(|function| function.name == name) => {
                    Err(self.unsupported(&format!("a call of the external function {name}")))
                }
                (name, ..) => Err(self.unsupported(&format!("a call through {name}"))),
            };
        };
        if !fits(&module.functions[index], &call) {
            return Err(self.unfit());
        }
        self.call_function(index, &call)
    }

    fn call_function(&mut self, index: usize, call: &Call<'_>) -> Result<(), LoadError> {
        let number = match self.functions.iter().position(|function| function.index == index) {
            Some(number) => number,
            None => self.add_function(index)?,
        };
        let frame = self.functions[number].frame.clone();
        for (argument, place) in call.arguments.iter().zip(frame.params) {
            self.pass(argument, place, true)?;
        }
        let caller = self.recursive.as_ref().map(|recursive| recursive.number);
        let (callers, negated) = self.guard;
        if let Some(function) = caller {
            self.emit_always(Action::Save { function, callers, negated });
        }
        self.calls.push((self.program.code.len(), number));
        self.emit(Action::Call { target: NOWHERE });
        if let Some(function) = caller {
            self.emit_always(Action::Restore { function });
        }
        for (result, place) in call.results.iter().zip(frame.returns) {
            self.pass(result, place, false)?;
        }
        Ok(())
    }

    /// Copies an argument to a parameter, or a result to the caller. Either side may be a register or in local memory.
    fn pass(&mut self, operand: &Operand<'_>, place: Place, is_argument: bool) -> Result<(), LoadError> {
        match (self.local_of(operand), place) {
            (Some(variable), Place::Local(fixed)) => {
                self.check_bytes(operand, fixed.bytes)?;
                self.copy_local(variable, fixed.at, fixed.bytes, !is_argument);
            }
            (Some(variable), Place::Register(register, kind)) => self.access_local(variable, register, kind, is_argument)?,
            (None, _) if !is_argument && matches!(operand, Operand::Name("_")) => {}
            (None, Place::Local(fixed)) => {
                if is_argument && matches!(operand, Operand::Name(_)) && self.register_of(operand).is_none() {
                    self.check_bytes(operand, fixed.bytes)?;
                }
                let kind = if fixed.bytes == 8 { Kind::Double } else { Kind::Word };
                let own = self.register_for(operand, Form::new(kind, !is_argument))?;
                self.access_local(fixed, own, kind, !is_argument)?;
            }
            (None, Place::Register(register, kind)) => {
                let own = self.register_for(operand, Form::new(kind, !is_argument))?;
                let (to, from) = if is_argument { (register, own) } else { (own, register) };
                self.copy_register(to, from, kind);
            }
        }
        Ok(())
    }

    /// Copies between a variable of the current function and a fixed place: to the variable, or from it.
    pub(super) fn copy_local(&mut self, variable: Local, fixed: u32, bytes: u32, to_variable: bool) {
        self.emit(match (variable.in_frame, to_variable) {
            (true, into_frame) => Action::CopyFrame { in_frame: variable.at, fixed, bytes, into_frame },
            (false, true) => Action::CopyLocal { from: fixed, to: variable.at, bytes },
            (false, false) => Action::CopyLocal { from: variable.at, to: fixed, bytes },
        });
    }

    /// Returns the fixed place of an argument in local memory. What is in a frame is copied to such a place.
    fn fixed_argument(&mut self, argument: &Operand<'_>, bytes: u32) -> Result<u32, LoadError> {
        let variable = self.check_bytes(argument, bytes)?;
        if !variable.in_frame {
            return Ok(variable.at);
        }
        let fixed = self.take_local(8, bytes.into(), self.origin.ptx_line)?;
        self.copy_local(variable, fixed, bytes, false);
        Ok(fixed)
    }

    /// Emits an action with the fixed place of a result. If the result is in a frame, it is copied there.
    fn emit_with_result(&mut self, result: &Operand<'_>, bytes: u32, action: &dyn Fn(u32) -> Action) -> Result<(), LoadError> {
        let variable = self.check_bytes(result, bytes)?;
        let fixed = if variable.in_frame { self.take_local(8, bytes.into(), self.origin.ptx_line)? } else { variable.at };
        self.emit(action(fixed));
        if variable.in_frame {
            self.copy_local(variable, fixed, bytes, true);
        }
        Ok(())
    }

    pub(super) fn copy_register(&mut self, to: Reg, from: Reg, kind: Kind) {
        let alu = match kind {
            Kind::Predicate => Alu::MovPred,
            Kind::Word => Alu::Mov32,
            Kind::Double => Alu::Mov64,
        };
        self.alu(alu, to, &[from]);
    }

    /// Returns the operand's place in local memory, if it has one there.
    fn local_of(&self, operand: &Operand<'_>) -> Option<Local> {
        let Operand::Name(name) = operand else { return None };
        match self.scopes.find(name)? {
            Symbol::Local(local) => Some(local),
            _ => None,
        }
    }

    /// Moves a parameter or result between local memory and a register.
    fn access_local(&mut self, local: Local, register: Reg, kind: Kind, loads: bool) -> Result<(), LoadError> {
        let Local { at, bytes, in_frame } = local;
        if kind == Kind::Predicate || !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(self.unsupported("a parameter in memory on one side of a call and in a register on the other"));
        }
        let (base, offset) = match in_frame {
            true => (self.frame_register(), i64::from(at)),
            false => (self.constant(ConstantValue::Bits(at.into()), Kind::Double), 0),
        };
        let mut access = Access::plain(Some(Space::Local), Address { base, kind: Kind::Double, offset }, bytes);
        (access.of_function, access.registers[0], access.kind) = (true, register, kind);
        let access = self.access(access);
        self.emit(if loads { Action::Load(access) } else { Action::Store(access) });
        Ok(())
    }

    /// `call (results), pointer, (arguments), prototype`: a sequence of calls by name, each by the lanes whose pointer holds that
    /// function's address.
    fn call_through(&mut self, instruction: &ast::Instruction<'t>, call: &Call<'_>, through: &str) -> Result<(), LoadError> {
        let guard = self.guard;
        let pointer = self.source(&Operand::Name(call.callee), Kind::Double)?;
        let candidates = self
            .call_graph
            .candidates(self.module, self.current, through)
            .ok_or_else(|| syntax(instruction.line, format!("no prototype or targets {through} for a call")))?;
        let candidates = candidates.into_iter().filter(|index| fits(&self.module.functions[*index], call)).collect::<Vec<_>>();
        let cases: Vec<_> = candidates.iter().map(|index| ConstantValue::Bits(function_address(*index))).collect();
        let chosen = self.choose(pointer, Kind::Double, &cases);
        for (index, chosen) in candidates.into_iter().zip(chosen) {
            self.guard = (chosen, false);
            self.call_function(index, call)?;
        }
        self.guard = guard;
        Ok(())
    }

    /// `brx.idx index, table`
    pub(super) fn branch_by_table(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let ("brx.idx" | "brx.idx.uni", [index, Operand::Name(table)]) = (instruction.opcode, instruction.operands.as_slice())
        else {
            return Err(self.unfit());
        };
        let index = self.source(index, Kind::Word)?;
        let labels = statements(self.module, self.current).find_map(|statement| match statement {
            Statement::Targets { name, targets } if name == table => Some(targets),
            _ => None,
        });
        let labels = labels.ok_or_else(|| syntax(instruction.line, format!("no branch targets {table}")))?;
        let guard = self.guard;
        let cases: Vec<_> = (0..labels.len() as u64).map(ConstantValue::Bits).collect();
        let chosen = self.choose(index, Kind::Word, &cases);
        for (label, chosen) in labels.iter().zip(chosen) {
            self.guard = (chosen, false);
            self.branch(label);
        }
        self.guard = guard;
        Ok(())
    }

    /// Compares a register with each value. Returns a predicate for each. If none is equal, the kernel fails.
    fn choose(&mut self, register: Reg, kind: Kind, cases: &[ConstantValue]) -> Vec<Reg> {
        let equal = if kind == Kind::Double { Alu::SetpEq64 } else { Alu::SetpEq32 };
        let guard = self.guard;
        let never = |destination| Action::Alu { alu: Alu::MovPred, destination, sources: [FALSE, 0, 0, 0] };
        let none = self.temporary_predicate();
        self.emit_always(never(none));
        self.alu(Alu::MovPred, none, &[TRUE]);
        let mut chosen = Vec::new();
        for case in cases {
            let value = self.constant(*case, kind);
            let is_case = self.temporary_predicate();
            // Lanes that do not execute the instruction match nothing.
            self.emit_always(never(is_case));
            self.alu(equal, is_case, &[register, value]);
            self.guard = (is_case, false);
            self.alu(Alu::MovPred, none, &[FALSE]);
            self.guard = guard;
            chosen.push(is_case);
        }
        self.guard = (none, false);
        self.emit(Action::NoTarget { register, kind });
        self.guard = guard;
        chosen
    }

    /// Emits an instruction that all lanes execute, whatever the guard says.
    fn emit_always(&mut self, action: Action) {
        let guard = std::mem::replace(&mut self.guard, (TRUE, false));
        self.emit(action);
        self.guard = guard;
    }

    fn add_function(&mut self, index: usize) -> Result<usize, LoadError> {
        let function = &self.module.functions[index];
        if self.functions.len() > MOST_FUNCTIONS {
            return Err(self.unsupported("a kernel with so many functions"));
        }
        // The registers of its parameters belong to both sides of the call, so the caller does not save them.
        let caller = self.recursive.take();
        let mut place = |variables: &[ast::Variable<'t>]| -> Result<Vec<Place>, LoadError> {
            variables
                .iter()
                .map(|variable| {
                    if variable.in_register {
                        let kind = match variable.ty {
                            Type::Pred => Kind::Predicate,
                            Type::Bytes(8) => Kind::Double,
                            Type::Bytes(1 | 2 | 4) if variable.bytes <= Some(4) => Kind::Word,
                            Type::Bytes(_) => return Err(self.unsupported("a vector as a parameter in registers")),
                        };
                        return Ok(Place::Register(self.take_written(kind, 1), kind));
                    }
                    let bytes = variable.bytes.ok_or_else(|| syntax(variable.line, format!("{} has no size", variable.name)))?;
                    let at = self.take_local(variable.align, bytes, variable.line)?;
                    Ok(Place::Local(Local { at, bytes: bytes as u32, in_frame: false }))
                })
                .collect()
        };
        let frame = Frame { params: place(&function.params)?, returns: place(&function.returns)? };
        self.recursive = caller;
        self.functions.push(Function { index, entry: 0, frame });
        Ok(self.functions.len() - 1)
    }

    /// Returns the local memory of a parameter or result of a call. It must have the size of the callee's.
    fn check_bytes(&self, operand: &Operand<'_>, bytes: u32) -> Result<Local, LoadError> {
        match self.local_of(operand) {
            Some(found) if found.bytes == bytes => Ok(found),
            _ => {
                let found = operand.values().first().copied().unwrap_or("a number");
                Err(syntax(self.origin.ptx_line, format!("expected a parameter of {bytes} bytes for a call, found {found}")))
            }
        }
    }
}

/// Returns true if function and call agree on parameters and results. Only their numbers are compared.
fn fits(function: &ast::Function<'_>, call: &Call<'_>) -> bool {
    function.params.len() == call.arguments.len() && function.returns.len() == call.results.len()
}
