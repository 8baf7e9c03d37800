//! Decodes the syntax tree of a module into the program of one kernel.

use std::collections::HashMap;

use super::call_graph::{CallGraph, address_of_function};
use super::code::{Action, Constant, ConstantValue, Inst, Param, Program, SharedVariable, Special};
use super::fate::fate;
use super::fixed::{FALSE, FIRST_PREDICATE, NOWHERE, SINK, TRUE};
use super::flow::resolve_reconvergence;
use super::frame::{Frame, Function};
use super::known::Facts;
use super::merging::machine_requests;
use super::operations::{Access, AtomicOp, Semantics};
use super::origin::{Origin, SourceMap};
use super::scope::{Scopes, Symbol, special};
use crate::error::{LoadError, syntax};
use crate::finding::{Location, Space};
use crate::instructions::{self, Alu};
use crate::ptx::ast::{self, Base, Operand, StateSpace, Statement, Type};
use crate::registers::{Kind, Reg};

/// Most local memory that one thread may have, as on a GPU.
const MOST_LOCAL_BYTES: u64 = 512 << 10;

/// Decodes a kernel and every function that it calls, given the call graph of its module.
///
/// # Errors
///
/// [`LoadError::Unsupported`] for what the simulator cannot execute, [`LoadError::Syntax`] for operands that do not fit.
pub fn decode_kernel(
    module: &ast::Module<'_>,
    kernel: usize,
    call_graph: &CallGraph,
    map: &SourceMap,
) -> Result<(Program, Vec<Param>), LoadError> {
    let mut decoder = Decoder::new(module, call_graph, map);
    let (params, offsets) = kernel_params(&module.functions[kernel])?;
    decoder.declare_shared(kernel)?;
    decoder.kernel_params = offsets;
    decoder.functions.push(Function { index: kernel, entry: 0, frame: Frame::default() });
    decoder.reserve_registers(kernel)?;
    let mut next = 0;
    while next < decoder.functions.len() {
        decoder.function(next)?;
        next += 1;
    }
    Ok((decoder.finish(), params))
}

/// A kernel's parameters, and their names with their offsets.
type Layout<'t> = (Vec<Param>, Vec<(&'t str, u32)>);

/// The parameter list's layout.
fn kernel_params<'t>(kernel: &ast::Function<'t>) -> Result<Layout<'t>, LoadError> {
    let mut end = 0_u64;
    let mut params = Vec::new();
    let mut names = Vec::new();
    for param in &kernel.params {
        let bytes = param.bytes.ok_or_else(|| syntax(param.line, format!("parameter {} has no size", param.name)))?;
        let offset = end.next_multiple_of(param.align);
        end = offset.saturating_add(bytes);
        if end > 32_764 {
            return Err(syntax(param.line, format!("kernel {} has more than 32764 bytes of parameters", kernel.name)));
        }
        params.push(Param { offset: offset as usize, bytes: bytes as usize });
        names.push((param.name, offset as u32));
    }
    Ok((params, names))
}

/// A program that is being decoded, and the names that its text has declared so far.
pub(super) struct Decoder<'m, 't> {
    pub(super) module: &'m ast::Module<'t>,
    map: &'m SourceMap,
    pub(super) program: Program,
    pub(super) scopes: Scopes<'t>,
    pub(super) functions: Vec<Function>,
    pub(super) call_graph: &'m CallGraph,
    kernel_params: Vec<(&'t str, u32)>,
    constants: HashMap<(ConstantValue, bool), Reg>,
    specials: HashMap<(Special, bool), Reg>,
    next_row: usize,
    local_bytes: u64,
    shared: Vec<(&'t str, u32)>,
    /// Labels of the current function, by block.
    labels: HashMap<(usize, &'t str), u32>,
    /// Branches of the current function whose label has no index yet.
    pending: Vec<(usize, Vec<usize>, &'t str)>,
    /// Calls whose callee has no index yet.
    pub(super) calls: Vec<(usize, usize)>,
    pub(super) origin: Origin,
    /// The guard of the instructions that are emitted now, and whether it is negated.
    pub(super) guard: (Reg, bool),
    /// Index of the current function.
    pub(super) current: usize,
}

impl<'m, 't> Decoder<'m, 't> {
    fn new(module: &'m ast::Module<'t>, call_graph: &'m CallGraph, map: &'m SourceMap) -> Self {
        Self {
            module,
            map,
            program: Program { predicates: FIRST_PREDICATE as usize, ..Program::default() },
            scopes: Scopes::default(),
            functions: Vec::new(),
            call_graph,
            kernel_params: Vec::new(),
            constants: HashMap::new(),
            specials: HashMap::new(),
            next_row: 0,
            local_bytes: 0,
            shared: Vec::new(),
            labels: HashMap::new(),
            pending: Vec::new(),
            calls: Vec::new(),
            origin: Origin { ptx_line: 0, source: None, counts: true },
            guard: (TRUE, false),
            current: 0,
        }
    }

    /// Gives constants and special registers the rows after all rows that the kernel and its functions can declare.
    fn reserve_registers(&mut self, kernel: usize) -> Result<(), LoadError> {
        let mut rows = 0_usize;
        for (index, function) in self.module.functions.iter().enumerate() {
            if function.is_kernel && index != kernel {
                continue;
            }
            for statement in function.body.iter().flatten() {
                if let Statement::Registers(registers) = statement {
                    rows += registers.count.unwrap_or(1) as usize * 2;
                    if rows > 1 << 20 {
                        return Err(syntax(registers.line, format!("function {} has too many registers", function.name)));
                    }
                }
            }
        }
        self.program.written_rows = 0;
        self.next_row = rows;
        self.program.rows = 0;
        Ok(())
    }

    /// Lays out the shared variables that the kernel and its functions name, static ones first, then the dynamic one.
    fn declare_shared(&mut self, kernel: usize) -> Result<(), LoadError> {
        let module = self.module;
        let (reached, names) = self.call_graph.names_used(module, kernel);
        let of_functions = module.functions.iter().enumerate().filter(|(index, _)| reached[*index]).map(|(_, function)| function);
        let in_bodies = of_functions.flat_map(|f| f.body.iter().flatten()).filter_map(|statement| match statement {
            Statement::Variable(variable) => Some(variable),
            _ => None,
        });
        let name = module.functions[kernel].name;
        let of_module = module.variables.iter().filter(|variable| names.contains(variable.name));
        let variables: Vec<_> = of_module.chain(in_bodies).filter(|variable| variable.space == StateSpace::Shared).collect();
        let mut end = 0_u64;
        for variable in &variables {
            if let Some(bytes) = variable.bytes.filter(|_| !variable.is_extern) {
                let offset = end.next_multiple_of(variable.align);
                end = offset.saturating_add(bytes);
                if end > 1 << 20 {
                    return Err(syntax(variable.line, format!("kernel {name} has more than 1 MiB of shared memory")));
                }
                self.shared.push((variable.name, offset as u32));
                self.declare_shared_variable(variable.name, offset as u32, Some(bytes as u32));
            }
        }
        let dynamic: Vec<_> = variables.iter().filter(|variable| variable.is_extern || variable.bytes.is_none()).collect();
        // Whatever alignment they ask for, ptxas starts them at a multiple of 16.
        let align = dynamic.iter().map(|variable| variable.align).max().unwrap_or(1).max(16);
        let dynamic_offset = end.next_multiple_of(align) as u32;
        for variable in dynamic {
            self.shared.push((variable.name, dynamic_offset));
            self.declare_shared_variable(variable.name, dynamic_offset, None);
        }
        self.program.static_shared_bytes = end as u32;
        self.program.dynamic_shared_offset = dynamic_offset;
        Ok(())
    }

    fn declare_shared_variable(&mut self, name: &str, offset: u32, bytes: Option<u32>) {
        self.program.shared_variables.push(SharedVariable { name: source_name(name).to_owned(), offset, bytes });
    }

    fn function(&mut self, number: usize) -> Result<(), LoadError> {
        let module = self.module;
        let Function { index, ref frame, .. } = self.functions[number];
        let frame = frame.clone();
        let function = &module.functions[index];
        let body = function.body.as_deref().unwrap_or_default();
        let start = self.program.code.len();
        self.functions[number].entry = start as u32;
        self.current = index;
        self.scopes = Scopes::default();
        self.scopes.open();
        for (index, variable) in globals(module).enumerate() {
            self.scopes.declare(variable.name, Symbol::Variable(index));
        }
        for (name, offset) in self.shared.clone() {
            self.scopes.declare(name, Symbol::Shared(offset));
        }
        if function.is_kernel {
            for (name, offset) in self.kernel_params.clone() {
                self.scopes.declare(name, Symbol::Param(offset));
            }
        } else {
            let places = frame.params.iter().chain(&frame.returns);
            for (variable, (offset, bytes)) in function.params.iter().chain(&function.returns).zip(places) {
                self.scopes.declare(variable.name, Symbol::Local(*offset, *bytes));
            }
        }
        self.labels.clear();
        self.origin = Origin { ptx_line: function.line, source: None, counts: true };
        for statement in body {
            self.statement(statement)?;
        }
        self.emit(Action::Return);
        self.program.origins.last_mut().expect("the return just emitted").counts = false;
        for (at, blocks, label) in std::mem::take(&mut self.pending) {
            let target = blocks.iter().find_map(|block| self.labels.get(&(*block, label))).copied();
            let line = self.program.origins[at].ptx_line;
            let target = target.ok_or_else(|| syntax(line, format!("no label {label} in function {}", function.name)))?;
            self.program.code[at].action = Action::Branch { target, reconverge: NOWHERE };
        }
        resolve_reconvergence(&mut self.program.code, start);
        Ok(())
    }

    fn finish(mut self) -> Program {
        for (at, number) in &self.calls {
            self.program.code[*at].action = Action::Call { target: self.functions[*number].entry };
        }
        self.program.rows = self.next_row;
        self.program.local_bytes = self.local_bytes.next_multiple_of(16) as u32;
        let facts = Facts::of(&self.program, self.next_row);
        self.weigh_loads();
        self.program.machine_requests = machine_requests(&self.program, &facts);
        self.program.multiplies_24 = facts.multiplications_of_24_bits(&self.program);
        self.program
    }

    /// Finds the loads that are weaker or stronger in effect than they are written, see [`Semantics`].
    fn weigh_loads(&mut self) {
        let program = &self.program;
        let swaps = program.atomics.iter().any(|atomic| atomic.op == AtomicOp::CompareAndSwap);
        let mut weighed = Vec::new();
        for (pc, inst) in program.code.iter().enumerate() {
            let Action::Load(index) = inst.action else { continue };
            let Access { semantics, registers, count, space, .. } = program.accesses[index as usize];
            let is_private = matches!(space, Some(Space::Local | Space::Param | Space::Const));
            if is_private || !(semantics.volatile || (swaps && !semantics.strong && count == 1)) {
                continue;
            }
            let fates = || registers.iter().take(count as usize).map(|register| fate(program, pc as u32, *register));
            let semantics = if semantics.volatile {
                Semantics { volatile: !fates().any(|fate| fate.steers), ..semantics }
            } else {
                Semantics { seeds_swap: fates().any(|fate| fate.seeds_swap), ..semantics }
            };
            weighed.push((index, semantics));
        }
        for (index, semantics) in weighed {
            self.program.accesses[index as usize].semantics = semantics;
        }
    }

    fn statement(&mut self, statement: &'m Statement<'t>) -> Result<(), LoadError> {
        match statement {
            Statement::Open => {
                self.scopes.open();
            }
            Statement::Close => self.scopes.close(),
            Statement::Label(name) => {
                let block = self.scopes.ids().next().unwrap_or(0);
                self.labels.insert((block, name), self.program.code.len() as u32);
            }
            Statement::Location { file, line, .. } => self.origin.source = (*line != 0).then_some((*file, *line)),
            Statement::Registers(registers) => self.registers(registers)?,
            Statement::Variable(variable) => self.variable(variable)?,
            // These are looked up where they are used.
            Statement::Prototype(_) | Statement::Targets { .. } => {}
            Statement::Instruction(instruction) => {
                self.origin.ptx_line = instruction.line;
                self.guard = match instruction.guard {
                    Some(guard) => (self.register(guard.name, Kind::Predicate)?, guard.negated),
                    None => (TRUE, false),
                };
                self.instruction(instruction)?;
                self.guard = (TRUE, false);
            }
        }
        Ok(())
    }

    fn registers(&mut self, registers: &ast::Registers<'t>) -> Result<(), LoadError> {
        let count = registers.count.unwrap_or(1);
        let (first, kind) = match registers.ty {
            Type::Pred => {
                let first = self.program.predicates;
                self.program.predicates += count as usize;
                (first, Kind::Predicate)
            }
            Type::Bytes(8) => (self.take_written_rows(2 * count), Kind::Double),
            Type::Bytes(1 | 2 | 4) => (self.take_written_rows(count), Kind::Word),
            Type::Bytes(_) => return Err(self.unsupported("a 128-bit register")),
        };
        self.scopes.declare(registers.name, Symbol::Register { first: first as Reg, kind, count: registers.count });
        Ok(())
    }

    fn take_written_rows(&mut self, count: u32) -> usize {
        let first = self.program.written_rows;
        self.program.written_rows += count as usize;
        first
    }

    fn variable(&mut self, variable: &ast::Variable<'t>) -> Result<(), LoadError> {
        match variable.space {
            // These were laid out before, for all functions together.
            StateSpace::Shared => Ok(()),
            StateSpace::Local | StateSpace::Param => {
                let bytes = variable.bytes.ok_or_else(|| syntax(variable.line, format!("{} has no size", variable.name)))?;
                let offset = self.take_local(variable.align, bytes, variable.line)?;
                self.scopes.declare(variable.name, Symbol::Local(offset, bytes as u32));
                Ok(())
            }
            StateSpace::Global | StateSpace::Const => Err(self.unsupported("a global variable inside a function")),
        }
    }

    pub(super) fn take_local(&mut self, align: u64, bytes: u64, line: u32) -> Result<u32, LoadError> {
        // Words are the unit of local memory, so that two variables never share one.
        let offset = self.local_bytes.next_multiple_of(align.max(4));
        self.local_bytes = offset.saturating_add(bytes);
        if self.local_bytes > MOST_LOCAL_BYTES {
            return Err(syntax(line, format!("more than {MOST_LOCAL_BYTES} bytes of local memory per thread")));
        }
        Ok(offset as u32)
    }

    fn instruction(&mut self, instruction: &'m ast::Instruction<'t>) -> Result<(), LoadError> {
        let root = instruction.opcode.split('.').next().unwrap_or_default();
        let first = self.program.code.len();
        let operands = instruction.operands.as_slice();
        match root {
            "ld" | "ldu" => self.load(instruction)?,
            "st" => self.store(instruction)?,
            "atom" | "red" => self.atomic(instruction)?,
            "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => self.tensor_instruction(instruction)?,
            "tex" | "tld4" | "txq" | "suld" | "sust" | "suq" => self.texture_instruction(instruction)?,
            "cp" => self.copy_instruction(instruction)?,
            "mbarrier" => self.mbarrier_instruction(instruction)?,
            "mov" => self.mov(instruction)?,
            "cvta" => self.convert_address(instruction)?,
            "cvt" => self.convert(instruction)?,
            "setp" => self.compare(instruction)?,
            "set" => self.compare_into_register(instruction)?,
            "add" | "addc" | "sub" | "subc" | "mad" | "madc" if instructions::carries(instruction.opcode) => {
                self.carry(instruction)?
            }
            "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" | "bar" | "barrier" | "membar" | "fence" => {
                self.warp_instruction(instruction)?
            }
            "prefetch" | "prefetchu" | "nanosleep" | "discard" | "applypriority" => {
                self.emit(Action::Nothing);
            }
            "bra" => match operands {
                [Operand::Name(label)] => self.branch(label),
                _ => return Err(self.operands_of(instruction)),
            },
            // Overlap of kernels and redistribution of registers between warps are not modeled.
            "griddepcontrol" | "setmaxnreg" => {
                self.requires(instruction, (9, 0))?;
                self.emit(Action::Nothing);
            }
            // A cache policy is a number that changes nothing here.
            "createpolicy" => match operands {
                [destination, ..] => {
                    self.requires(instruction, (8, 0))?;
                    let destination = self.destination(destination, Kind::Double)?;
                    self.move_constant(destination, Kind::Double, ConstantValue::Bits(0));
                }
                _ => return Err(self.operands_of(instruction)),
            },
            "call" => self.call(instruction)?,
            "brx" => self.branch_by_table(instruction)?,
            "ret" => self.emit(Action::Return),
            "exit" => self.emit(Action::Exit),
            "trap" | "brkpt" => self.emit(Action::Trap),
            _ => {
                let row = instructions::lookup(instruction.opcode).ok_or_else(|| self.unsupported(instruction.opcode))?;
                let Some((destination, sources)) = operands.split_first() else {
                    return Err(self.operands_of(instruction));
                };
                if sources.len() != row.sources.len() {
                    return Err(self.operands_of(instruction));
                }
                let destination = self.destination(destination, row.destination)?;
                let mut registers = [0; 4];
                for ((register, source), kind) in registers.iter_mut().zip(sources).zip(row.sources) {
                    *register = self.source(source, *kind)?;
                }
                self.emit(Action::Alu { alu: row.alu, destination, sources: registers });
            }
        }
        for origin in self.program.origins.iter_mut().skip(first + 1) {
            origin.counts = false;
        }
        Ok(())
    }

    /// Branches to a label, whose index is known once the function is decoded.
    pub(super) fn branch(&mut self, label: &'t str) {
        let blocks = self.scopes.ids().collect();
        self.pending.push((self.program.code.len(), blocks, label));
        self.emit(Action::Branch { target: NOWHERE, reconverge: NOWHERE });
    }

    /// The address between brackets, if it is known already: that of a variable or a parameter.
    pub(super) fn symbol_of(&self, base: Base<'_>) -> Option<Symbol> {
        match base {
            Base::Name(name) => self.scopes.find(name),
            Base::Absolute => None,
        }
    }

    pub(super) fn emit(&mut self, action: Action) {
        let (guard, negated) = self.guard;
        self.program.code.push(Inst { guard, negated, action });
        self.program.origins.push(self.origin);
    }

    pub(super) fn alu(&mut self, alu: Alu, destination: Reg, sources: &[Reg]) {
        let mut registers = [0; 4];
        registers[..sources.len()].copy_from_slice(sources);
        self.emit(Action::Alu { alu, destination, sources: registers });
    }

    pub(super) fn move_constant(&mut self, destination: Reg, kind: Kind, value: ConstantValue) {
        let source = self.constant(value, kind);
        let alu = if kind == Kind::Double { Alu::Mov64 } else { Alu::Mov32 };
        self.alu(alu, destination, &[source]);
    }

    pub(super) fn temporary_predicate(&mut self) -> Reg {
        self.program.predicates += 1;
        (self.program.predicates - 1) as Reg
    }

    /// A register that an instruction writes.
    pub(super) fn destination(&self, operand: &Operand<'_>, kind: Kind) -> Result<Reg, LoadError> {
        match operand {
            Operand::Name(name) => self.register(name, kind),
            _ => Err(syntax(self.origin.ptx_line, "expected a register as the destination".to_owned())),
        }
    }

    /// The register of that name.
    pub(super) fn register(&self, name: &str, kind: Kind) -> Result<Reg, LoadError> {
        match self.scopes.find(name) {
            Some(Symbol::Register { first, kind: found, count: None }) if found == kind => Ok(first),
            Some(Symbol::Register { kind: found, count: None, .. }) => {
                Err(syntax(self.origin.ptx_line, format!("expected {}, found {name}, {}", described(kind), described(found))))
            }
            _ => Err(syntax(self.origin.ptx_line, format!("expected {}, found {name}", described(kind)))),
        }
    }

    /// Any register of that name, with its kind.
    pub(super) fn any_register(&self, name: &str) -> Option<(Reg, Kind)> {
        match self.scopes.find(name)? {
            Symbol::Register { first, kind, count: None } => Some((first, kind)),
            _ => None,
        }
    }

    /// The register that holds an operand's value; a number gets a register of constants.
    pub(super) fn source(&mut self, operand: &Operand<'_>, kind: Kind) -> Result<Reg, LoadError> {
        let line = self.origin.ptx_line;
        let mismatch = |found: &str| syntax(line, format!("expected {}, found {found}", described(kind)));
        match operand {
            Operand::Name(name) => match self.scopes.find(name) {
                Some(Symbol::Register { .. }) => self.register(name, kind),
                Some(symbol) => self.address_constant(symbol, 0, kind).ok_or_else(|| mismatch(name)),
                None => match special(name) {
                    Some(special) if kind != Kind::Predicate => Ok(self.special(special, kind)),
                    _ if *name == "WARP_SZ" => Ok(self.constant(ConstantValue::Bits(32), kind)),
                    _ if kind == Kind::Double => {
                        let address = address_of_function(self.module, name).ok_or_else(|| mismatch(name))?;
                        Ok(self.constant(ConstantValue::Bits(address), kind))
                    }
                    _ => Err(mismatch(name)),
                },
            },
            Operand::Offset(name, offset) => {
                let symbol = self.scopes.find(name).ok_or_else(|| mismatch(name))?;
                self.address_constant(symbol, *offset, kind).ok_or_else(|| mismatch(name))
            }
            Operand::Element(name, index) => {
                let symbol = self.scopes.find(name).ok_or_else(|| mismatch(name))?;
                let offset = self.element_offset(name, *index).ok_or_else(|| mismatch(name))?;
                self.address_constant(symbol, offset, kind).ok_or_else(|| mismatch(name))
            }
            Operand::Not(name) => {
                let source = self.register(name, Kind::Predicate)?;
                let complement = self.temporary_predicate();
                self.alu(Alu::NotPred, complement, &[source]);
                Ok(complement)
            }
            Operand::Integer(bits) if kind == Kind::Predicate => Ok(if *bits != 0 { TRUE } else { FALSE }),
            Operand::Integer(bits) => Ok(self.constant(ConstantValue::Bits(*bits), kind)),
            Operand::F32(bits) if kind == Kind::Word => Ok(self.constant(ConstantValue::Bits(u64::from(*bits)), kind)),
            Operand::F64(bits) if kind == Kind::Double => Ok(self.constant(ConstantValue::Bits(*bits), kind)),
            Operand::F64(bits) if kind == Kind::Word => {
                let value = f64::from_bits(*bits) as f32;
                Ok(self.constant(ConstantValue::Bits(u64::from(value.to_bits())), kind))
            }
            _ => Err(mismatch("another operand")),
        }
    }

    fn address_constant(&mut self, symbol: Symbol, offset: i64, kind: Kind) -> Option<Reg> {
        if kind == Kind::Predicate {
            return None;
        }
        let value = match symbol {
            Symbol::Register { .. } => return None,
            Symbol::Shared(at) | Symbol::Local(at, _) | Symbol::Param(at) => {
                ConstantValue::Bits(i64::from(at).wrapping_add(offset) as u64)
            }
            Symbol::Variable(variable) => ConstantValue::Address { variable, offset },
        };
        Some(self.constant(value, kind))
    }

    /// The register of a constant; equal constants share one.
    pub(super) fn constant(&mut self, value: ConstantValue, kind: Kind) -> Reg {
        let double = kind == Kind::Double;
        if let Some(register) = self.constants.get(&(value, double)) {
            return *register;
        }
        let register = self.take_rows(kind);
        self.constants.insert((value, double), register);
        self.program.constants.push(Constant { register, kind, value });
        register
    }

    fn special(&mut self, special: Special, kind: Kind) -> Reg {
        let key = (special, kind == Kind::Double);
        if let Some(register) = self.specials.get(&key) {
            return *register;
        }
        let register = self.take_rows(kind);
        self.specials.insert(key, register);
        self.program.specials.push((special, kind, register));
        register
    }

    pub(super) fn take_rows(&mut self, kind: Kind) -> Reg {
        let first = self.next_row;
        self.next_row += if kind == Kind::Double { 2 } else { 1 };
        first as Reg
    }

    pub(super) fn unsupported(&self, what: &str) -> LoadError {
        LoadError::Unsupported { what: what.to_owned(), location: Box::new(self.location()) }
    }

    /// Checks that the module's target has the instruction.
    pub(super) fn requires(&self, instruction: &ast::Instruction<'_>, since: (u32, u32)) -> Result<(), LoadError> {
        let (major, minor) = self.module.target;
        if (major, minor) >= since {
            return Ok(());
        }
        let message = format!("{} needs .target sm_{}{} or higher, found sm_{major}{minor}", instruction.opcode, since.0, since.1);
        Err(syntax(instruction.line, message))
    }

    pub(super) fn operands_of(&self, instruction: &ast::Instruction<'_>) -> LoadError {
        let Location { instruction: text, .. } = self.location();
        syntax(instruction.line, format!("the operands do not fit {}: {text}", instruction.opcode))
    }

    fn location(&self) -> Location {
        self.map.location(self.origin)
    }
}

/// The module's variables that have an address in device memory, in the order in which an image places them.
pub fn globals<'m, 't>(module: &'m ast::Module<'t>) -> impl Iterator<Item = &'m ast::Variable<'t>> {
    module.variables.iter().filter(|variable| matches!(variable.space, StateSpace::Global | StateSpace::Const))
}

fn described(kind: Kind) -> &'static str {
    match kind {
        Kind::Predicate => "a predicate",
        Kind::Word => "a 32-bit value",
        Kind::Double => "a 64-bit value",
    }
}

/// [`SINK`] is not a register of any program.
const _: () = assert!(SINK as usize > 1 << 21);

/// The name in CUDA C of a function's variable: `s_tile` for `_ZZ5tiledE6s_tile`, which is how the Itanium C++ ABI mangles `s_tile`
/// in `tiled`. Other names stay as they are.
fn source_name(name: &str) -> &str {
    let last = name.strip_prefix("_ZZ").and_then(|mangled| {
        mangled.char_indices().filter(|(_, c)| *c == 'E').find_map(|(at, _)| {
            let rest = &mangled[at + 1..];
            let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            (rest[..rest.len() - name.len()].parse() == Ok(name.len())).then_some(name)
        })
    });
    last.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::source_name;

    #[test]
    fn variables_of_functions_have_their_names_back() {
        for (name, expected) in [
            ("_ZZ5tiledE6s_tile", "s_tile"),
            ("_ZZ6EnergyPKfPfE5cacheE", "_ZZ6EnergyPKfPfE5cacheE"),
            ("_ZZ6EnergyPKfPfE5cache", "cache"),
            ("s_tile", "s_tile"),
        ] {
            assert_eq!(source_name(name), expected);
        }
    }
}
