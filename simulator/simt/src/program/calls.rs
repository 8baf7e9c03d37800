//! Decodes calls of functions, by name and through pointers: parameters and results in local memory, no recursion.

use std::collections::HashSet;

use super::decode::Decoder;
use super::scope::Symbol;
use super::{Action, ConstantValue, FALSE, NOWHERE, TRUE};
use crate::error::{LoadError, syntax};
use crate::instructions::{self, Alu};
use crate::ptx::ast::{self, Base, Initializer, Operand, Prototype, Statement};
use crate::registers::Kind;
use crate::registers::Reg;

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

/// A call as it is written.
struct Call<'o> {
    results: &'o [&'o str],
    callee: &'o str,
    arguments: &'o [&'o str],
    /// The name of the prototype, or of the list of targets, of a call through a pointer.
    through: Option<&'o str>,
}

impl<'o> Call<'o> {
    fn of(instruction: &'o ast::Instruction<'_>) -> Option<Self> {
        let (results, rest): (&[&str], _) = match instruction.operands.as_slice() {
            [Operand::List(results), rest @ ..] => (results, rest),
            rest => (&[], rest),
        };
        let (callee, arguments, through): (&str, &[&str], _) = match rest {
            [Operand::Name(callee)] => (callee, &[], None),
            [Operand::Name(callee), Operand::List(arguments)] => (callee, arguments, None),
            [Operand::Name(callee), Operand::List(arguments), Operand::Name(through)] => (callee, arguments, Some(*through)),
            [Operand::Name(callee), Operand::Name(through)] => (callee, &[], Some(*through)),
            _ => return None,
        };
        Some(Self { results, callee, arguments, through })
    }
}

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

    /// `call (results), pointer, (arguments), prototype`: one call by name after the other, each by the lanes whose pointer holds that
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

    /// Compares a register with each of the values: a predicate for each. That there is none is the kernel's fault.
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
            // Lanes that do not execute the instruction choose nothing.
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

    /// The place of a parameter or a result of a call, which is as large as the callee's.
    fn local_symbol(&self, name: &str, bytes: u32) -> Result<u32, LoadError> {
        match self.scopes.find(name) {
            Some(Symbol::Local(offset, found)) if found == bytes => Ok(offset),
            _ => Err(syntax(self.origin.ptx_line, format!("expected a parameter of {bytes} bytes for a call, found {name}"))),
        }
    }
}

/// Whether a function takes as many arguments, and gives as many results, as a call has.
fn fits(function: &ast::Function<'_>, call: &Call<'_>) -> bool {
    function.params.len() == call.arguments.len() && function.returns.len() == call.results.len()
}

fn statements<'m, 't>(module: &'m ast::Module<'t>, function: usize) -> impl Iterator<Item = &'m Statement<'t>> {
    module.functions[function].body.iter().flatten()
}

/// Which functions of a module call which.
pub struct CallGraph {
    /// By function, those that it calls or may call through a pointer.
    callees: Vec<Vec<usize>>,
    /// The functions whose address the module takes anywhere.
    addresses_taken: Vec<usize>,
}

impl CallGraph {
    pub fn new(module: &ast::Module<'_>) -> Self {
        let mut graph = Self { callees: Vec::new(), addresses_taken: addresses_taken(module) };
        graph.callees = (0..module.functions.len()).map(|function| graph.callees_of(module, function)).collect();
        graph
    }

    fn callees_of(&self, module: &ast::Module<'_>, function: usize) -> Vec<usize> {
        let calls = statements(module, function).filter_map(|statement| match statement {
            Statement::Instruction(instruction) if instruction.opcode.starts_with("call") => Call::of(instruction),
            _ => None,
        });
        calls
            .flat_map(|call| match call.through {
                Some(through) => self.candidates(module, function, through).unwrap_or_default(),
                None => defined(module, call.callee).into_iter().collect(),
            })
            .collect()
    }

    /// The functions that a call through a pointer may reach: those of its list of targets, or those that fit its prototype and whose
    /// address is taken. `None` without either.
    fn candidates(&self, module: &ast::Module<'_>, caller: usize, through: &str) -> Option<Vec<usize>> {
        statements(module, caller).find_map(|statement| match statement {
            Statement::Targets { name, targets } if *name == through => {
                Some(targets.iter().filter_map(|target| defined(module, target)).collect())
            }
            Statement::Prototype(prototype) if prototype.name == through => {
                let fits = |index: &usize| matches(&module.functions[*index], prototype);
                Some(self.addresses_taken.iter().copied().filter(fits).collect())
            }
            _ => None,
        })
    }

    /// Which functions a function reaches by calls; itself only if it does.
    fn reached_from(&self, function: usize) -> Vec<bool> {
        let mut reached = vec![false; self.callees.len()];
        let mut open = vec![function];
        while let Some(caller) = open.pop() {
            for callee in &self.callees[caller] {
                if !std::mem::replace(&mut reached[*callee], true) {
                    open.push(*callee);
                }
            }
        }
        reached
    }

    /// The functions that a kernel reaches, itself among them, and the names that stand in their instructions.
    pub(super) fn names_used<'t>(&self, module: &ast::Module<'t>, kernel: usize) -> (Vec<bool>, HashSet<&'t str>) {
        let mut reached = self.reached_from(kernel);
        reached[kernel] = true;
        let mut names = HashSet::new();
        for function in (0..reached.len()).filter(|function| reached[*function]) {
            for statement in statements(module, function) {
                if let Statement::Instruction(instruction) = statement {
                    instruction.operands.iter().for_each(|operand| collect_names(operand, &mut names));
                }
            }
        }
        (reached, names)
    }
}

fn matches(function: &ast::Function<'_>, prototype: &Prototype<'_>) -> bool {
    let same = |a: &[ast::Variable<'_>], b: &[ast::Variable<'_>]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a.bytes, a.align) == (b.bytes, b.align))
    };
    same(&function.params, &prototype.params) && same(&function.returns, &prototype.returns)
}

/// The addresses of functions are above this one, so that no memory lies there.
const FUNCTION_WINDOW: u64 = 4 << 56;

/// The address of the module's function with that index.
fn function_address(index: usize) -> u64 {
    FUNCTION_WINDOW + (index as u64 + 1) * 16
}

/// The address of the function of that name.
pub fn address_of_function(module: &ast::Module<'_>, name: &str) -> Option<u64> {
    defined(module, name).map(function_address)
}

/// The function of that name, if it can be called.
fn defined(module: &ast::Module<'_>, name: &str) -> Option<usize> {
    module.functions.iter().position(|function| function.name == name && function.body.is_some() && !function.is_kernel)
}

/// The functions whose addresses stand in registers or variables, in the order of the module.
fn addresses_taken(module: &ast::Module<'_>) -> Vec<usize> {
    let in_variables = module.variables.iter().flat_map(|variable| &variable.init).filter_map(|value| match value {
        Initializer::Address { name, .. } => Some(*name),
        Initializer::Bits(_) => None,
    });
    let instructions = (0..module.functions.len()).flat_map(|function| statements(module, function));
    let in_code = instructions.filter_map(|statement| match statement {
        Statement::Instruction(instruction) if instruction.opcode.starts_with("mov") => match instruction.operands.as_slice() {
            [_, Operand::Name(name)] => Some(*name),
            _ => None,
        },
        _ => None,
    });
    let mut taken: Vec<usize> = in_variables.chain(in_code).filter_map(|name| defined(module, name)).collect();
    taken.sort_unstable();
    taken.dedup();
    taken
}

fn collect_names<'t>(operand: &Operand<'t>, names: &mut HashSet<&'t str>) {
    match operand {
        Operand::Name(name) | Operand::Offset(name, _) | Operand::Address(Base::Name(name), _) => {
            names.insert(name);
        }
        Operand::Vector(elements) => elements.iter().for_each(|element| collect_names(element, names)),
        _ => {}
    }
}
