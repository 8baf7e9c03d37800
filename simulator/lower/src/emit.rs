//! Functions as text.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use crate::debug::{Files, Location};
use crate::mir::{Base, Class, Function, Inst, Op, Piece, Reg};

/// Text on its way. Writing to a string does not fail, so the results of `write!` are dropped.
pub struct Emitter<'m> {
    pub text: String,
    files: Files<'m>,
    /// The number of the function, for its labels.
    function: usize,
    /// The name of each register.
    names: Vec<String>,
    /// The places that were inlined, with the place of the call, as a reader of the text knows them by now.
    known: HashMap<Location, Option<Location>>,
    last: Option<Location>,
    /// Names of inlined functions.
    strings: Vec<String>,
    /// A file whose lines are counted for the lines that use it.
    hidden: Option<String>,
}

impl<'m> Emitter<'m> {
    pub fn new(files: Files<'m>, hidden: Option<String>) -> Self {
        let (text, names, known, strings) = (String::new(), Vec::new(), HashMap::new(), Vec::new());
        Self { text, files, function: 0, names, known, last: None, strings, hidden }
    }

    /// Writes the body of a function; shared variables of its own come first.
    pub fn body(&mut self, function: &Function, shared: &[String]) {
        self.text.push_str("{\n");
        self.registers(function);
        for variable in shared.iter().chain(&function.variables) {
            let _ = writeln!(self.text, "\t{variable}");
        }
        self.known.clear();
        self.last = None;
        let targets = targets(function);
        for (at, block) in function.order.iter().enumerate() {
            if at > 0 && targets.contains(block) {
                let _ = writeln!(self.text, "$L__BB{}_{block}:", self.function);
            }
            let mut is_first = true;
            for inst in function.blocks[*block].all() {
                self.location(inst.dbg, is_first);
                is_first = false;
                self.inst(inst);
            }
        }
        self.text.push_str("}\n");
        self.function += 1;
    }

    fn registers(&mut self, function: &Function) {
        let insts = function.blocks.iter().flat_map(|block| block.all());
        let used: BTreeSet<Reg> = insts.flat_map(|inst| inst.defs().into_iter().chain(inst.uses())).collect();
        self.names = vec![String::new(); function.regs.len()];
        for class in Class::ALL {
            let (ty, prefix) = class.names();
            let mut count = 0;
            for reg in used.iter().filter(|reg| function.regs[reg.0] == class) {
                count += 1;
                self.names[reg.0] = format!("{prefix}{count}");
            }
            if count > 0 {
                let _ = writeln!(self.text, "\t.reg .{ty} {prefix}<{}>;", count + 1);
            }
        }
    }

    /// Writes `.loc` if the place changes. Instructions without a place keep the last one, except at the start of a block.
    fn location(&mut self, dbg: Option<u32>, is_first: bool) {
        let mut chain = dbg.map_or_else(Vec::new, |dbg| self.files.chain(dbg));
        if let Some(hidden) = &self.hidden {
            let is_hidden = |location: &Location| {
                let name = self.files.names.get(location.file as usize - 1).map_or("", String::as_str);
                name == hidden || name.strip_suffix(hidden.as_str()).is_some_and(|folder| folder.ends_with(['/', '\\']))
            };
            while chain.len() > 1 && is_hidden(&chain[0].0) {
                chain.remove(0);
            }
        }
        let Some(&(first, _)) = chain.first() else {
            if let Some(last) = self.last.filter(|last| is_first && last.line != 0) {
                let none = Location { line: 0, column: 0, ..last };
                self.line(none, None);
                self.last = Some(none);
            }
            return;
        };
        let parents: Vec<_> = (1..=chain.len()).map(|at| chain.get(at).map(|(location, _)| *location)).collect();
        if self.last == Some(first) && self.known.get(&first) == Some(&parents[0]) {
            return;
        }
        for (at, ((location, name), parent)) in chain.into_iter().zip(parents).enumerate().rev() {
            if at == 0 || self.known.get(&location) != Some(&parent) {
                self.line(location, parent.map(|parent| (name, parent)));
            }
        }
        self.last = Some(first);
    }

    fn line(&mut self, location: Location, inlined: Option<(String, Location)>) {
        let Location { file, line, column } = location;
        let _ = write!(self.text, "\t.loc {file} {line} {column}");
        self.known.insert(location, inlined.as_ref().map(|(_, parent)| *parent));
        if let Some((name, Location { file, line, column })) = inlined {
            let string = self.strings.iter().position(|known| *known == name).unwrap_or_else(|| {
                self.strings.push(name);
                self.strings.len() - 1
            });
            let _ = write!(self.text, ", function_name $L__info_string{string}, inlined_at {file} {line} {column}");
        }
        self.text.push('\n');
    }

    fn inst(&mut self, inst: &Inst) {
        self.text.push('\t');
        if let Some((reg, is_negated)) = inst.guard {
            let _ = write!(self.text, "@{}{} ", if is_negated { "!" } else { "" }, self.names[reg.0]);
        }
        if let Some(pieces) = &inst.template {
            for piece in pieces {
                match piece {
                    Piece::Text(text) => self.text.push_str(text),
                    Piece::Op(at) => self.op(&inst.ops[*at]),
                }
            }
            self.text.push('\n');
            return;
        }
        self.text.push_str(&inst.opcode);
        for (at, op) in inst.ops.iter().enumerate() {
            self.text.push_str(if at == 0 { " " } else { ", " });
            self.op(op);
        }
        self.text.push_str(";\n");
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Reg(reg) => self.text.push_str(&self.names[reg.0]),
            Op::Text(text) => self.text.push_str(text),
            Op::Mem(base, offset) => {
                self.text.push('[');
                match base {
                    Base::Reg(reg) => self.text.push_str(&self.names[reg.0]),
                    Base::Symbol(name) => self.text.push_str(name),
                }
                if *offset != 0 {
                    let sign = if *offset < 0 { '-' } else { '+' };
                    let _ = write!(self.text, "{sign}{}", offset.unsigned_abs());
                }
                self.text.push(']');
            }
            Op::List(ops) => {
                self.text.push('{');
                for (at, op) in ops.iter().enumerate() {
                    if at > 0 {
                        self.text.push_str(", ");
                    }
                    self.op(op);
                }
                self.text.push('}');
            }
            Op::Both(a, b) => {
                let _ = write!(self.text, "{}|{}", self.names[a.0], self.names[b.0]);
            }
            Op::Label(block) => {
                let _ = write!(self.text, "$L__BB{}_{block}", self.function);
            }
        }
    }

    /// Writes the files and names for `.loc`, and returns the text.
    pub fn finish(mut self) -> String {
        for (at, name) in self.files.names.iter().enumerate() {
            let name = name.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
            let _ = writeln!(self.text, ".file {} \"{name}\"", at + 1);
        }
        if !self.strings.is_empty() {
            self.text.push_str(".section .debug_str\n{\n");
            for (at, name) in self.strings.iter().enumerate() {
                let bytes: Vec<String> = name.bytes().chain([0]).map(|byte| byte.to_string()).collect();
                let _ = writeln!(self.text, "$L__info_string{at}:\n.b8 {}", bytes.join(", "));
            }
            self.text.push_str("}\n");
        }
        self.text
    }
}

/// Returns the blocks that a branch goes to.
fn targets(function: &Function) -> BTreeSet<usize> {
    let ops = function.blocks.iter().flat_map(|block| &block.exits).flat_map(|inst| &inst.ops);
    ops.filter_map(|op| if let Op::Label(block) = op { Some(*block) } else { None }).collect()
}
