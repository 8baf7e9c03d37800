//! Decodes calls of functions, by name and through pointers: parameters and results are in local memory or in registers.

use super::call_graph::{Call, defined, function_address, statements};
use super::frame::{Frame, Function, Place};

use super::code::{Action, ConstantValue};
use super::decode::Decoder;
use super::fixed::{FALSE, NOWHERE, SINK, TRUE};
use super::operations::{Access, Address, MOST_ELEMENTS, Semantics};
use super::scope::Symbol;
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
        let call = Call::of(instruction).ok_or_else(|| self.operands_of(instruction))?;
        if let Some(through) = call.through {
            return self.call_through(instruction, &call, through);
        }
        let module = self.module;
        let Some(index) = defined(module, call.callee) else {
            return match (call.callee, call.results, call.arguments) {
                ("vprintf", [result], [format, arguments]) => {
                    let format = self.fixed_argument(format, 8)?;
                    let arguments = self.fixed_argument(arguments, 8)?;
                    let (place, copy) = self.fixed_result(result, 4)?;
                    self.emit(Action::Print { format, arguments, result: Some(place) });
                    copy.into_iter().for_each(|copy| self.emit(copy));
                    Ok(())
                }
                ("__assertfail", [], [message, file, line, function, _char_bytes]) => {
                    let params = [
                        self.fixed_argument(message, 8)?,
                        self.fixed_argument(file, 8)?,
                        self.fixed_argument(line, 4)?,
                        self.fixed_argument(function, 8)?,
                    ];
                    self.emit(Action::AssertFail { params });
                    Ok(())
                }
                ("malloc", [result], [bytes]) => {
                    let bytes = self.fixed_argument(bytes, 8)?;
                    let (result, copy) = self.fixed_result(result, 8)?;
                    self.emit(Action::Allocate { bytes, result });
                    copy.into_iter().for_each(|copy| self.emit(copy));
                    (self.program.uses_heap, self.program.order_matters) = (true, true);
                    Ok(())
                }
                ("free", [], [pointer]) => {
                    let pointer = self.fixed_argument(pointer, 8)?;
                    self.emit(Action::Free { pointer });
                    (self.program.uses_heap, self.program.order_matters) = (true, true);
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
        for (argument, place) in call.arguments.iter().zip(frame.params) {
            self.pass(argument, place)?;
        }
        let caller = self.recursive.as_ref().map(|recursive| recursive.number);
        let (callers, negated) = self.guard;
        if let Some(function) = caller {
            self.guard = (TRUE, false);
            self.emit(Action::Save { function, callers, negated });
            self.guard = (callers, negated);
        }
        self.calls.push((self.program.code.len(), number));
        self.emit(Action::Call { target: NOWHERE });
        if let Some(function) = caller {
            self.guard = (TRUE, false);
            self.emit(Action::Restore { function });
            self.guard = (callers, negated);
        }
        for (result, place) in call.results.iter().zip(frame.returns) {
            self.take(result, place)?;
        }
        Ok(())
    }

    /// Copies an argument to the parameter of a function. Either may be a register or in local memory.
    fn pass(&mut self, argument: &Operand<'_>, to: Place) -> Result<(), LoadError> {
        match (self.local_of(argument), to) {
            (Some(from), Place::Local(to, bytes)) => {
                self.check_bytes(argument, bytes)?;
                self.copy_local(from, to, bytes, false);
            }
            (Some(from), Place::Register(to, kind)) => {
                let access = self.local_access(from, to, kind)?;
                self.emit(Action::Load(access));
            }
            (None, Place::Local(_, bytes)) if matches!(argument, Operand::Name(_)) && self.register_of(argument).is_none() => {
                self.check_bytes(argument, bytes)?;
            }
            (None, Place::Local(to, bytes)) => {
                let kind = if bytes == 8 { Kind::Double } else { Kind::Word };
                let source = self.source(argument, kind)?;
                let access = self.local_access(Local { at: to, bytes, in_frame: false }, source, kind)?;
                self.emit(Action::Store(access));
            }
            (None, Place::Register(to, kind)) => {
                let source = self.source(argument, kind)?;
                self.copy_register(to, source, kind);
            }
        }
        Ok(())
    }

    /// Copies the result of a function to where the caller wants it.
    fn take(&mut self, result: &Operand<'_>, from: Place) -> Result<(), LoadError> {
        match (self.local_of(result), from) {
            (Some(to), Place::Local(from, bytes)) => {
                self.check_bytes(result, bytes)?;
                self.copy_local(to, from, bytes, true);
            }
            (Some(to), Place::Register(from, kind)) => {
                let access = self.local_access(to, from, kind)?;
                self.emit(Action::Store(access));
            }
            (None, _) if matches!(result, Operand::Name("_")) => {}
            (None, Place::Local(from, bytes)) => {
                let kind = if bytes == 8 { Kind::Double } else { Kind::Word };
                let destination = self.destination(result, kind)?;
                let access = self.local_access(Local { at: from, bytes, in_frame: false }, destination, kind)?;
                self.emit(Action::Load(access));
            }
            (None, Place::Register(from, kind)) => {
                let destination = self.destination(result, kind)?;
                self.copy_register(destination, from, kind);
            }
        }
        Ok(())
    }

    /// Copies between a variable of the current function and a fixed place: to the variable, or from it.
    fn copy_local(&mut self, variable: Local, fixed: u32, bytes: u32, to_variable: bool) {
        self.emit(match (variable.in_frame, to_variable) {
            (true, into_frame) => Action::CopyFrame { in_frame: variable.at, fixed, bytes, into_frame },
            (false, true) => Action::CopyLocal { from: fixed, to: variable.at, bytes },
            (false, false) => Action::CopyLocal { from: variable.at, to: fixed, bytes },
        });
    }

    /// The fixed place of an argument in local memory. What is in a frame is copied to such a place.
    fn fixed_argument(&mut self, argument: &Operand<'_>, bytes: u32) -> Result<u32, LoadError> {
        let variable = self.check_bytes(argument, bytes)?;
        if !variable.in_frame {
            return Ok(variable.at);
        }
        let fixed = self.take_local(8, bytes.into(), self.origin.ptx_line)?;
        self.copy_local(variable, fixed, bytes, false);
        Ok(fixed)
    }

    /// The same for a result, with the copy to make afterward.
    fn fixed_result(&mut self, result: &Operand<'_>, bytes: u32) -> Result<(u32, Option<Action>), LoadError> {
        let variable = self.check_bytes(result, bytes)?;
        if !variable.in_frame {
            return Ok((variable.at, None));
        }
        let fixed = self.take_local(8, bytes.into(), self.origin.ptx_line)?;
        Ok((fixed, Some(Action::CopyFrame { in_frame: variable.at, fixed, bytes, into_frame: true })))
    }

    pub(super) fn copy_register(&mut self, to: Reg, from: Reg, kind: Kind) {
        let alu = match kind {
            Kind::Predicate => Alu::MovPred,
            Kind::Word => Alu::Mov32,
            Kind::Double => Alu::Mov64,
        };
        self.alu(alu, to, &[from]);
    }

    /// The operand's place in local memory, if it is a variable there.
    fn local_of(&self, operand: &Operand<'_>) -> Option<Local> {
        let Operand::Name(name) = operand else { return None };
        match self.scopes.find(name)? {
            Symbol::Local(at, bytes) => Some(Local { at, bytes, in_frame: false }),
            Symbol::Frame(at, bytes) => Some(Local { at, bytes, in_frame: true }),
            _ => None,
        }
    }

    /// An access to local memory, of a parameter or a result that is in a register on the other side.
    fn local_access(&mut self, Local { at, bytes, in_frame }: Local, register: Reg, kind: Kind) -> Result<u32, LoadError> {
        if kind == Kind::Predicate || !matches!(bytes, 1 | 2 | 4 | 8) {
            return Err(self.unsupported("a parameter in memory on one side of a call and in a register on the other"));
        }
        let (base, offset) = match in_frame {
            true => (self.frame_register(), i64::from(at)),
            false => (self.constant(ConstantValue::Bits(at.into()), Kind::Double), 0),
        };
        let mut registers = [SINK; MOST_ELEMENTS];
        registers[0] = register;
        self.program.accesses.push(Access {
            of_function: true,
            space: Some(Space::Local),
            address: Address { base, kind: Kind::Double, offset },
            width: bytes,
            count: 1,
            signed: false,
            registers,
            kind,
            semantics: Semantics::default(),
            array: None,
        });
        Ok(self.program.accesses.len() as u32 - 1)
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
        let chosen = self.choose(pointer, Kind::Double, &cases)?;
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
        let equal = alu::lookup(opcode).ok_or_else(|| self.unsupported(opcode))?.alu;
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
                    Ok(Place::Local(self.take_local(variable.align, bytes, variable.line)?, bytes as u32))
                })
                .collect()
        };
        let frame = Frame { params: place(&function.params)?, returns: place(&function.returns)? };
        self.recursive = caller;
        self.functions.push(Function { index, entry: 0, frame });
        Ok(self.functions.len() - 1)
    }

    /// The local memory of a parameter or result of a call, which must have the size of the callee's.
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

/// A variable in local memory.
#[derive(Clone, Copy)]
struct Local {
    at: u32,
    bytes: u32,
    /// In the frame of the recursive function that is being decoded.
    in_frame: bool,
}

/// Returns true if a function has the same number of parameters and results as a call.
fn fits(function: &ast::Function<'_>, call: &Call<'_>) -> bool {
    function.params.len() == call.arguments.len() && function.returns.len() == call.results.len()
}
