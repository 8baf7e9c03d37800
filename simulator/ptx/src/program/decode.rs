//! Decodes the syntax tree of a module into the program of one kernel.

use rustc_hash::FxHashMap as HashMap;

use super::arrays::note_arrays;
use super::call_graph::CallGraph;
use super::code::{Action, ConstantValue, FrameLayout, Inst, Param, Program, SharedVariable, Special};
use super::fate::{Fate, fate, guards};
use super::fixed::{FIRST_PREDICATE, NOWHERE, SINK, TRUE};
use super::flow::resolve_reconvergence;
use super::frame::{Frame, Function, Place, Recursive};
use super::known::Facts;
use super::mentions::mentions;
use super::merging::machine_requests;
use super::named::{Family, rows};
use super::operations::{Access, Atomic, AtomicOp, Semantics};
use super::origin::{Origin, SourceMap};
use super::scope::{Scopes, Symbol};
use crate::error::{LoadError, syntax};
use crate::finding::{Location, Space};
use crate::syntax::ast::{self, Base, Operand, StateSpace, Statement, Type};
use alu::registers::{Kind, Reg};
use alu::{Alu, Row};

/// Most bytes of a kernel's variables in shared memory, on every GPU: ptxas says "uses too much shared data (…, 0xc000 max)". More of it is dynamic.
const MOST_STATIC_SHARED_BYTES: u64 = 48 << 10;
/// Most local memory that one thread may have, as on a GPU.
pub(super) const MOST_LOCAL_BYTES: u64 = 512 << 10;

/// Decodes a kernel and every function that it calls.
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
    let params = decoder.declare_params(&module.functions[kernel])?;
    decoder.declare_shared(kernel)?;
    decoder.functions.push(Function { index: kernel, entry: 0, frame: Frame::default() });
    decoder.reserve_registers(kernel)?;
    let mut next = 0;
    while next < decoder.functions.len() {
        decoder.function(next)?;
        next += 1;
    }
    Ok((decoder.finish(), params))
}

/// A program that is being decoded, and the names declared so far.
pub(super) struct Decoder<'m, 't> {
    pub(super) module: &'m ast::Module<'t>,
    map: &'m SourceMap,
    pub(super) program: Program,
    pub(super) scopes: Scopes<'t>,
    pub(super) functions: Vec<Function>,
    pub(super) call_graph: &'m CallGraph,
    kernel_params: Vec<(&'t str, u32)>,
    pub(super) constants: HashMap<(ConstantValue, bool), Reg>,
    pub(super) specials: HashMap<(Special, bool), Reg>,
    pub(super) next_row: usize,
    local_bytes: u64,
    /// The names of the program's shared variables.
    shared: Vec<&'t str>,
    /// Labels of the current function, by block.
    labels: HashMap<(usize, &'t str), u32>,
    /// Branches of the current function whose label has no index yet.
    pending: Vec<(usize, Vec<usize>, &'t str)>,
    /// Calls whose callee has no index yet.
    pub(super) calls: Vec<(usize, usize)>,
    pub(super) origin: Origin,
    /// The opcode of the current instruction.
    pub(super) opcode: &'t str,
    /// The guard of the instructions that are emitted now, and whether it is negated.
    pub(super) guard: (Reg, bool),
    /// Index of the current function.
    pub(super) current: usize,
    /// The current function, if it is recursive.
    pub(super) recursive: Option<Recursive>,
    /// Where the text names registers, if it has asynchronous products: ranges of the code, and a register in each.
    pub(super) mentions: Vec<(u32, u32, Reg)>,
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
            constants: HashMap::default(),
            specials: HashMap::default(),
            next_row: 0,
            local_bytes: 0,
            shared: Vec::new(),
            labels: HashMap::default(),
            pending: Vec::new(),
            calls: Vec::new(),
            origin: Origin { counts: true, ..Origin::default() },
            opcode: "",
            guard: (TRUE, false),
            current: 0,
            recursive: None,
            mentions: Vec::new(),
        }
    }

    /// Lays out the kernel's parameters.
    fn declare_params(&mut self, kernel: &ast::Function<'t>) -> Result<Vec<Param>, LoadError> {
        let (mut end, mut params) = (0_u64, Vec::new());
        for param in &kernel.params {
            let bytes = param.bytes.ok_or_else(|| syntax(param.line, format!("parameter {} has no size", param.name)))?;
            let offset = end.next_multiple_of(param.align);
            end = offset.saturating_add(bytes);
            if end > 32_764 {
                return Err(syntax(param.line, format!("kernel {} has more than 32764 bytes of parameters", kernel.name)));
            }
            params.push(Param { offset: offset as usize, bytes: bytes as usize });
            self.kernel_params.push((param.name, offset as u32));
        }
        Ok(params)
    }

    /// Reserves the rows that the kernel and its functions can declare. Constants and special registers get the rows after them.
    fn reserve_registers(&mut self, kernel: usize) -> Result<(), LoadError> {
        let mut rows = 0_usize;
        for (index, function) in self.module.functions.iter().enumerate() {
            if function.is_kernel && index != kernel {
                continue;
            }
            // A recursive function has each twice.
            rows += (function.params.len() + function.returns.len()) * 4;
            for statement in function.body.iter().flatten() {
                if let Statement::Registers(registers) = statement {
                    // A register of 128 bits is a vector of two.
                    rows += registers.count.unwrap_or(1) as usize * usize::from(registers.lanes.unwrap_or(2)) * 2;
                    if rows > 1 << 20 {
                        return Err(syntax(registers.line, format!("function {} has too many registers", function.name)));
                    }
                }
            }
        }
        self.next_row = rows;
        Ok(())
    }

    /// Lays out the shared variables that the kernel and its functions name. Static ones come first, then the dynamic one.
    fn declare_shared(&mut self, kernel: usize) -> Result<(), LoadError> {
        let module = self.module;
        let (reached, names) = self.call_graph.names_used(module, kernel);
        let of_functions = module.functions.iter().enumerate().filter(|(index, _)| reached[*index]).map(|(_, function)| function);
        let in_bodies = of_functions.flat_map(ast::Function::variables);
        let name = module.functions[kernel].name;
        let of_module = module.variables.iter().filter(|variable| names.contains(variable.name));
        let variables: Vec<_> = of_module.chain(in_bodies).filter(|variable| variable.space == StateSpace::Shared).collect();
        let mut end = 0_u64;
        for variable in &variables {
            if let Some(bytes) = variable.bytes.filter(|_| !variable.is_extern) {
                let offset = end.next_multiple_of(variable.align);
                end = offset.saturating_add(bytes);
                if end > MOST_STATIC_SHARED_BYTES {
                    let most = MOST_STATIC_SHARED_BYTES >> 10;
                    let reason =
                        format!("kernel {name} has more than {most} KiB of shared memory in variables, and ptxas takes no more");
                    return Err(syntax(variable.line, reason));
                }
                self.declare_shared_variable(variable.name, offset as u32, Some(bytes as u32));
            }
        }
        let dynamic: Vec<_> = variables.iter().filter(|variable| variable.is_extern || variable.bytes.is_none()).collect();
        // Whatever alignment they ask for, ptxas starts them at a multiple of 16.
        let align = dynamic.iter().map(|variable| variable.align).max().unwrap_or(1).max(16);
        let dynamic_offset = end.next_multiple_of(align) as u32;
        for variable in dynamic {
            self.declare_shared_variable(variable.name, dynamic_offset, None);
        }
        self.program.static_shared_bytes = end as u32;
        self.program.dynamic_shared_offset = dynamic_offset;
        Ok(())
    }

    fn declare_shared_variable(&mut self, name: &'t str, offset: u32, bytes: Option<u32>) {
        self.shared.push(name);
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
        // What a function does before its first instruction and after its last does not count.
        self.origin = Origin { ptx_line: function.line, ..Origin::default() };
        // Those of the module come first; those that a function declares belong to the block around them.
        for (index, variable) in globals(module).enumerate().take(of_module(module).count()) {
            self.scopes.declare(variable.name, Symbol::Variable(index));
        }
        for (name, number) in self.shared.iter().zip(0..) {
            self.scopes.declare(name, Symbol::Shared(number));
        }
        if function.is_kernel {
            for (name, offset) in self.kernel_params.clone() {
                self.scopes.declare(name, Symbol::Param(offset));
            }
        } else if self.call_graph.is_recursive(index) {
            self.begin_recursive(number, function)?;
        } else {
            let places = frame.params.iter().chain(&frame.returns);
            for (variable, place) in function.params.iter().chain(&function.returns).zip(places) {
                self.scopes.declare(
                    variable.name,
                    match *place {
                        Place::Local(local) => Symbol::Local(local),
                        Place::Register(register, kind) => Symbol::Register(register, kind),
                    },
                );
            }
        }
        self.labels.clear();
        self.origin.counts = true;
        for statement in body {
            self.statement(statement)?;
        }
        self.origin.counts = false;
        self.return_from_function();
        self.end_recursive(number);
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
        // A stack begins where any value may lie. Where there is none, local memory ends with its last array, so that an index past it is seen.
        let unit = if self.program.stack.is_some() { 16 } else { 4 };
        self.program.local_bytes = self.local_bytes.next_multiple_of(unit) as u32;
        if let Some(stack) = &mut self.program.stack {
            stack.frames.resize(self.functions.len(), FrameLayout::default());
        }
        note_arrays(&mut self.program);
        let facts = Facts::of(&self.program);
        self.weigh_loads();
        self.program.machine_requests = machine_requests(&self.program, &facts);
        self.program.mentions = mentions(&self.program, &self.mentions);
        self.program.multiplies_24 = facts.multiplications_of_24_bits(&self.program);
        self.program
    }

    /// Finds loads that are weaker or stronger in effect than written. See [`Semantics`].
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
            let any = |is_so: fn(&Fate) -> bool| {
                registers.iter().take(count as usize).any(|register| is_so(&fate(program, pc as u32, *register, is_so)))
            };
            let semantics = match semantics.volatile {
                true => Semantics { volatile: !any(|fate| fate.steers), ..semantics },
                false => Semantics { seeds_swap: any(|fate| fate.seeds_swap), ..semantics },
            };
            weighed.push((index, semantics));
        }
        for (index, semantics) in weighed {
            self.program.accesses[index as usize].semantics = semantics;
        }
        if !self.program.orders_grid && !self.program.tells_grid {
            return;
        }
        for pc in 0..self.program.code.len() {
            let program = &self.program;
            match program.code[pc].action {
                Action::Load(index) if program.accesses[index as usize].semantics.strong => {
                    let Access { registers, count, .. } = program.accesses[index as usize];
                    let guards = guards(program, pc as u32, &registers[..count as usize]);
                    self.program.accesses[index as usize].semantics.guards = guards;
                }
                Action::Atomic(index) => {
                    let Atomic { destinations, count, .. } = program.atomics[index as usize];
                    let guards = guards(program, pc as u32, &destinations[..count as usize]);
                    self.program.atomics[index as usize].semantics.guards = guards;
                }
                _ => {}
            }
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
            Statement::Location { file, line, column, call, inlined_at, .. } => {
                self.origin.source = (*line != 0).then_some((*file, *line));
                self.origin.column = *column;
                self.origin.call = *call;
                self.origin.inlined_at = *inlined_at;
            }
            Statement::Registers(registers) => self.declare_registers(registers)?,
            Statement::Variable(variable) => self.variable(variable)?,
            Statement::Unreadable(error) => {
                let LoadError::Syntax { line, message } = error else { return Err(error.clone()) };
                self.origin.ptx_line = *line;
                return Err(syntax(*line, format!("{message}: {}", self.location().instruction)));
            }
            // These are looked up where they are used.
            Statement::Prototype(_) | Statement::Targets { .. } => {}
            Statement::Instruction(instruction) => {
                self.origin.ptx_line = instruction.line;
                self.opcode = instruction.opcode;
                self.guard = match instruction.guard {
                    Some(guard) => (self.register(guard.name, Kind::Predicate)?, guard.negated),
                    None => (TRUE, false),
                };
                let first = self.program.code.len();
                let decoded = match self.with_vectors_expanded(instruction) {
                    Some(expanded) => self.instruction(&expanded),
                    None => self.instruction(instruction),
                };
                decoded.map_err(|error| self.named(error))?;
                if self.module.is_specific {
                    self.note_mentions(instruction, first);
                }
                self.guard = (TRUE, false);
            }
        }
        Ok(())
    }

    fn declare_registers(&mut self, registers: &ast::Registers<'t>) -> Result<(), LoadError> {
        let count = registers.count.unwrap_or(1);
        let (kind, lanes) = match registers.ty {
            Type::Pred => (Kind::Predicate, registers.lanes),
            Type::Bytes(8) => (Kind::Double, registers.lanes),
            Type::Bytes(1 | 2 | 4) => (Kind::Word, registers.lanes),
            Type::Bytes(_) if registers.lanes.is_none() => (Kind::Double, Some(2)),
            Type::Bytes(_) => return Err(self.unsupported("a vector of 128-bit registers")),
        };
        let first = self.take_written(kind, count * u32::from(lanes.unwrap_or(1)));
        // Functions may use the same names as the kernel that calls them.
        let function = &self.module.functions[self.current];
        let name = match function.is_kernel {
            true => registers.name.to_owned(),
            false => format!("{}::{}", function.name, registers.name),
        };
        let family = Family { first, kind, count: registers.count, lanes };
        self.program.named_registers.push((name, family));
        self.scopes.declare_registers(registers.name, family);
        Ok(())
    }

    /// Takes neighboring registers that instructions write.
    pub(super) fn take_written(&mut self, kind: Kind, count: u32) -> Reg {
        let next = if kind == Kind::Predicate { &mut self.program.predicates } else { &mut self.program.written_rows };
        let first = *next as Reg;
        *next += (count * rows(kind)) as usize;
        if let Some(recursive) = &mut self.recursive {
            recursive.own(first, kind, count);
        }
        first
    }

    fn variable(&mut self, variable: &'m ast::Variable<'t>) -> Result<(), LoadError> {
        match variable.space {
            // These were laid out before, for all functions together.
            StateSpace::Shared => Ok(()),
            StateSpace::Local | StateSpace::Param => {
                let bytes = variable.bytes.ok_or_else(|| syntax(variable.line, format!("{} has no size", variable.name)))?;
                let symbol = self.take_place(variable.align, bytes, variable.line)?;
                self.scopes.declare(variable.name, symbol);
                Ok(())
            }
            StateSpace::Global | StateSpace::Const => {
                let index = globals(self.module).position(|other| std::ptr::eq(other, variable));
                self.scopes.declare(variable.name, Symbol::Variable(index.expect("a variable of the module")));
                Ok(())
            }
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

    /// Replaces the names of vectors of registers with their elements. Returns `None` if there are none.
    fn with_vectors_expanded(&self, instruction: &ast::Instruction<'t>) -> Option<ast::Instruction<'t>> {
        let lanes = |operand: &Operand<'t>| match operand {
            Operand::Name(name) => self.scopes.lanes(name).map(|lanes| (*name, lanes)),
            _ => None,
        };
        instruction.operands.iter().find_map(lanes)?;
        let mut expanded = instruction.clone();
        for operand in &mut expanded.operands {
            if let Some((name, lanes)) = lanes(operand) {
                *operand = Operand::Vector((0..lanes).map(|part| Operand::Part(name, part)).collect());
            }
        }
        Some(expanded)
    }

    /// Makes an error say which instruction it is about.
    fn named(&self, error: LoadError) -> LoadError {
        match error {
            LoadError::Syntax { line, message } if !message.contains(self.opcode) => {
                syntax(line, format!("{}: {message}: {}", self.opcode, self.location().instruction))
            }
            error => error,
        }
    }

    fn instruction(&mut self, instruction: &ast::Instruction<'t>) -> Result<(), LoadError> {
        let first = self.program.code.len();
        let operands = instruction.operands.as_slice();
        match instruction.root() {
            "ld" | "ldu" => self.load(instruction)?,
            "st" if instruction.has("async") => self.store_async(instruction)?,
            "st" => self.store(instruction)?,
            "atom" | "red" => self.atomic(instruction)?,
            "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => self.tensor_instruction(instruction)?,
            "wgmma" => self.wgmma_instruction(instruction)?,
            "tex" | "tld4" | "txq" | "suld" | "sust" | "suq" => self.texture_instruction(instruction)?,
            "cp" => self.copy_instruction(instruction)?,
            "mbarrier" => self.mbarrier_instruction(instruction)?,
            "mov" => self.mov(instruction)?,
            "cvta" => self.convert_address(instruction)?,
            "cvt" => self.convert(instruction)?,
            "setp" => self.compare(instruction)?,
            "mapa" => self.map_to_block(instruction)?,
            "getctarank" => self.rank_of_address(instruction)?,
            "isspacep" if matches!(instruction.opcode, "isspacep.shared" | "isspacep.shared::cta") => {
                self.is_own_shared(instruction)?
            }
            "set" => self.compare_into_register(instruction)?,
            "lop3" if operands.len() == 6 => self.lookup_and_test(instruction)?,
            "add" | "addc" | "sub" | "subc" | "mad" | "madc" if alu::carries(instruction.opcode) => self.carry(instruction)?,
            "shfl" | "vote" | "match" | "redux" | "elect" | "activemask" | "bar" | "barrier" | "membar" | "fence" => {
                let action = self.warp_instruction(instruction)?;
                self.emit(action);
            }
            "prefetch" | "prefetchu" | "nanosleep" | "discard" | "applypriority" | "pmevent" => self.emit(Action::Nothing),
            "bra" => {
                let [Operand::Name(label)] = operands else { return Err(self.unfit()) };
                self.branch(label);
            }
            "setmaxnreg" => self.set_registers(instruction)?,
            // A launch begins when the one before it has ended, so there is nothing to wait for. The driver looks for a wait that is missing.
            "griddepcontrol" => {
                self.requires((9, 0))?;
                self.program.lets_next_begin |= instruction.has("launch_dependents");
                self.program.waits_for_previous |= instruction.has("wait");
                self.emit(Action::Nothing);
            }
            // A cache policy is a number that changes nothing here.
            "createpolicy" => {
                let [destination, ..] = operands else { return Err(self.unfit()) };
                self.requires((8, 0))?;
                let destination = self.destination(destination, Kind::Double)?;
                self.move_constant(destination, Kind::Double, ConstantValue::Bits(0));
            }
            _ if Self::is_video(instruction) => self.video(instruction)?,
            "call" => self.call(instruction)?,
            "brx" => self.branch_by_table(instruction)?,
            "ret" => self.return_from_function(),
            "exit" => self.emit(Action::Exit),
            "trap" | "brkpt" => self.emit(Action::Trap),
            _ => {
                let row = self.row(self.opcode)?;
                let [destination, sources @ ..] = operands else { return Err(self.unfit()) };
                let destination = self.destination(destination, row.destination)?;
                let sources = self.sources(sources, row.sources)?;
                self.alu(row.alu, destination, &sources);
            }
        }
        for origin in self.program.origins.iter_mut().skip(first + 1) {
            origin.counts = false;
        }
        self.program.reaches_cluster.resize(self.program.code.len(), reaches_cluster(self.opcode));
        Ok(())
    }

    /// Branches to a label. Its index is known once the function is decoded.
    pub(super) fn branch(&mut self, label: &'t str) {
        let blocks = self.scopes.ids().collect();
        self.pending.push((self.program.code.len(), blocks, label));
        self.emit(Action::Branch { target: NOWHERE, reconverge: NOWHERE });
    }

    /// Returns the address between brackets, if known already: that of a variable or a parameter.
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

    /// Finds the row of an opcode in the instruction table.
    pub(super) fn row(&self, opcode: &str) -> Result<&'static Row, LoadError> {
        let row = if self.module.target.0 == 1 { row_of_sm_1x(opcode) } else { alu::lookup(opcode) };
        row.ok_or_else(|| self.unsupported(opcode))
    }

    pub(super) fn move_constant(&mut self, destination: Reg, kind: Kind, value: ConstantValue) {
        let source = self.constant(value, kind);
        let alu = if kind == Kind::Double { Alu::Mov64 } else { Alu::Mov32 };
        self.alu(alu, destination, &[source]);
    }

    pub(super) fn temporary_predicate(&mut self) -> Reg {
        self.take_written(Kind::Predicate, 1)
    }

    pub(super) fn unsupported(&self, what: &str) -> LoadError {
        LoadError::Unsupported { what: what.to_owned(), location: Box::new(self.location()) }
    }

    /// Returns the error about an opcode that the simulator does not know.
    pub(super) fn unknown(&self) -> LoadError {
        self.unsupported(self.opcode)
    }

    /// Checks that the module's target has the instruction.
    pub(super) fn requires(&self, since: (u32, u32)) -> Result<(), LoadError> {
        let (major, minor) = self.module.target;
        if (major, minor) >= since {
            return Ok(());
        }
        let message = format!("{} needs .target sm_{}{} or higher, found sm_{major}{minor}", self.opcode, since.0, since.1);
        Err(syntax(self.origin.ptx_line, message))
    }

    /// Returns the error about operands that the opcode does not take.
    pub(super) fn unfit(&self) -> LoadError {
        let Location { instruction: text, .. } = self.location();
        syntax(self.origin.ptx_line, format!("the operands do not fit {}: {text}", self.opcode))
    }

    fn location(&self) -> Location {
        self.map.location(self.origin)
    }
}

/// Lists the module's variables that have an address in device memory. They come in the order in which an image places them.
pub fn globals<'m, 't>(module: &'m ast::Module<'t>) -> impl Iterator<Item = &'m ast::Variable<'t>> {
    let of_functions = module.functions.iter().flat_map(ast::Function::variables);
    of_module(module).chain(of_functions.filter(|variable| is_global(variable)))
}

/// Lists those that are declared outside functions.
fn of_module<'m, 't>(module: &'m ast::Module<'t>) -> impl Iterator<Item = &'m ast::Variable<'t>> {
    module.variables.iter().filter(|variable| is_global(variable))
}

fn is_global(variable: &ast::Variable<'_>) -> bool {
    matches!(variable.space, StateSpace::Global | StateSpace::Const)
}

/// [`SINK`] is not a register of any program.
const _: () = assert!(SINK as usize > 1 << 21);

/// Returns true if an instruction may access other blocks' shared memory: through `.shared::cluster`, or through a generic address.
/// The barriers that a block initializes, ends and waits for are its own (PTX ISA, `mbarrier.init`, `.inval`, `.test_wait`).
fn reaches_cluster(opcode: &str) -> bool {
    let of_own = ["mbarrier.init", "mbarrier.inval", "mbarrier.test_wait", "mbarrier.try_wait"];
    !of_own.iter().any(|own| opcode.starts_with(own)) && (opcode.contains(".shared::cluster") || !opcode.contains(".shared"))
}

/// Finds the row of an opcode of PTX for sm_1x.
///
/// Its instructions of f32 flush subnormal numbers, and its roundings may be missing.
///
/// PTX ISA, `div`, `rcp`, `sqrt` and others: without a rounding, f32 is `.approx` and f64 is `.rn`. `mad`: newer GPUs execute `mad.f32` as
/// `fma.rn.ftz.f32`. `cvt`: subnormal f32 are not flushed if the result has 64 bits.
fn row_of_sm_1x(opcode: &str) -> Option<&'static Row> {
    let is_wide = opcode.split('.').any(|part| matches!(part, "f64" | "u64" | "s64"));
    let added: &[&str] = if is_wide { &["", ".rn", ".approx"] } else { &[".ftz", ".approx.ftz", ".rn.ftz", ""] };
    added.iter().find_map(|added| alu::lookup(&format!("{opcode}{added}")))
}

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
