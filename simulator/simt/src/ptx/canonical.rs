//! A kernel's text without what does not change its machine code, so that two texts can be compared, or their digests.
//!
//! A measurement of a kernel stays true until the kernel's machine code changes. The text of a module changes more often: with every
//! comment and line of the source, and with every kernel before this one, since compilers number labels and strings by module. So the
//! canonical text of a kernel has
//!
//! - no comments, no white space of its own, no `.loc`, `.file` or debug section, and no label that nothing refers to;
//! - numbers instead of the names that only this module knows: labels, parameters, variables, device functions. They are counted in the
//!   order in which the kernel mentions them;
//! - the module's version, target and pragmas, the kernel, and behind it each variable and device function that it uses, directly or
//!   through others. Nothing else of the module.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::ast::{Function, Module, StateSpace, Statement};
use super::lexer::{Kind, Token, tokens};
use crate::module::LoadError;

/// The canonical text of a kernel (see the [module](self)). It changes when an instruction, a parameter, a directive such as
/// `.maxntid`, a variable that the kernel uses, a device function that it calls, or the module's version or target changes.
///
/// To ask about several kernels of one text, [`parse`](super::parse) it once and call [`Module::canonical`].
///
/// # Errors
///
/// [`LoadError::Syntax`] when the text is not PTX, [`LoadError::NoKernel`] when it has no kernel of that name.
pub fn canonical(text: &str, kernel: &str) -> Result<String, LoadError> {
    super::parse(text)?.canonical(kernel)
}

impl Module<'_> {
    /// The canonical text of one of the module's kernels; see [`canonical`].
    ///
    /// # Errors
    ///
    /// [`LoadError::NoKernel`] when the module has no kernel of that name.
    pub fn canonical(&self, kernel: &str) -> Result<String, LoadError> {
        let is_it = |function: &Function<'_>| function.is_kernel && function.body.is_some() && function.name == kernel;
        let index = self.functions.iter().position(is_it).ok_or_else(|| LoadError::NoKernel { kernel: kernel.to_owned() })?;
        let mut writer = Writer { module: self, items: items(self), used: vec![Item::Function(index)], text: String::new() };
        for directive in &self.directives {
            writer.write(directive.clone(), &Locals::default())?;
        }
        // Writing an item adds those that it is the first to mention.
        let mut next = 0;
        while let Some(item) = writer.used.get(next).copied() {
            next += 1;
            match item {
                Item::Function(index) => {
                    let function = &self.functions[index];
                    writer.write(function.span.clone(), &Locals::of(function))?;
                }
                Item::Variable(index) if self.variables[index].space == StateSpace::Shared => {}
                Item::Variable(index) => writer.write(self.variables[index].span.clone(), &Locals::default())?,
            }
        }
        // In the order of the text, which decides where they are in shared memory, and so which banks they use.
        for (index, variable) in self.variables.iter().enumerate() {
            if variable.space == StateSpace::Shared && writer.used.contains(&Item::Variable(index)) {
                writer.write(variable.span.clone(), &Locals::default())?;
            }
        }
        Ok(writer.text)
    }
}

/// Something that a module declares, by its index in the module.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Item {
    Function(usize),
    Variable(usize),
}

/// What each name of a module refers to: of a function that is declared and defined, the definition.
fn items<'t>(module: &Module<'t>) -> HashMap<&'t str, Item> {
    let mut items: HashMap<&str, Item> = HashMap::new();
    for (index, function) in module.functions.iter().enumerate() {
        if function.body.is_some() || !items.contains_key(function.name) {
            items.insert(function.name, Item::Function(index));
        }
    }
    items.extend(module.variables.iter().enumerate().map(|(index, variable)| (variable.name, Item::Variable(index))));
    items
}

/// What the tree says about the words of a function.
#[derive(Default)]
struct Locals<'t> {
    /// Names that get a number: labels, parameters, variables.
    numbered: HashSet<&'t str>,
    /// Registers keep their names, because the compiler numbers them by function.
    registers: HashSet<&'t str>,
    labels: HashSet<&'t str>,
    /// Where opcodes start: an opcode is never the name of an item.
    opcodes: HashSet<usize>,
    locations: Vec<Range<usize>>,
}

impl<'t> Locals<'t> {
    fn of(function: &Function<'t>) -> Self {
        let mut locals = Self::default();
        locals.numbered.extend(function.returns.iter().chain(&function.params).map(|variable| variable.name));
        for statement in function.body.iter().flatten() {
            match statement {
                Statement::Label(name) => {
                    locals.labels.insert(name);
                }
                Statement::Prototype(prototype) => {
                    locals.numbered.insert(prototype.name);
                }
                Statement::Targets { name, .. } => {
                    locals.numbered.insert(name);
                }
                Statement::Variable(variable) => {
                    locals.numbered.insert(variable.name);
                }
                Statement::Registers(registers) => {
                    locals.registers.insert(registers.name);
                }
                Statement::Instruction(instruction) => {
                    locals.opcodes.insert(instruction.unguarded.start);
                }
                Statement::Location { span, .. } => locals.locations.push(span.clone()),
                Statement::Open | Statement::Close => {}
            }
        }
        locals.numbered.extend(&locals.labels);
        locals
    }

    fn is_in_location(&self, token: &Token<'_>) -> bool {
        // Locations are in the order of the text.
        let after = self.locations.partition_point(|location| location.start <= token.start);
        after > 0 && token.start < self.locations[after - 1].end
    }
}

struct Writer<'a, 't> {
    module: &'a Module<'t>,
    items: HashMap<&'t str, Item>,
    /// The kernel and what it uses, in the order in which it is mentioned.
    used: Vec<Item>,
    text: String,
}

impl<'t> Writer<'_, 't> {
    /// Appends a part of the module's text.
    fn write(&mut self, span: Range<usize>, locals: &Locals<'t>) -> Result<(), LoadError> {
        let mut words = tokens(&self.module.text[span.clone()])?;
        words.iter_mut().for_each(|token| (token.start, token.end) = (token.start + span.start, token.end + span.start));
        words.retain(|token| token.kind != Kind::End && !locals.is_in_location(token));
        let is_label = |at: usize| words.get(at + 1).is_some_and(|next| next.kind == Kind::Punct(b':'));
        let targets: HashSet<&str> = (0..words.len()).filter(|at| !is_label(*at)).filter_map(|at| words[at].word()).collect();

        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut at = 0;
        while let Some(token) = words.get(at) {
            match token.kind {
                Kind::Word(name) if is_label(at) && locals.labels.contains(name) && !targets.contains(name) => at += 1,
                Kind::Word(name) if locals.numbered.contains(name) && !locals.opcodes.contains(&token.start) => {
                    let number = numbers.len();
                    let number = *numbers.entry(name).or_insert(number);
                    self.text += &format!("local#{number} ");
                }
                Kind::Word(name) if !locals.opcodes.contains(&token.start) && !locals.registers.contains(name) => self.name(name),
                Kind::Punct(b';') => self.text += ";\n",
                _ => {
                    self.text += &self.module.text[token.start..token.end];
                    self.text.push(' ');
                }
            }
            at += 1;
        }
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        Ok(())
    }

    /// Appends a name that may be that of an item.
    fn name(&mut self, name: &'t str) {
        let Some(item) = self.items.get(name).copied() else {
            self.text += name;
            self.text.push(' ');
            return;
        };
        let number = self.used.iter().position(|used| *used == item).unwrap_or_else(|| {
            self.used.push(item);
            self.used.len() - 1
        });
        let is_public = match item {
            Item::Function(index) => self.module.functions[index].is_public,
            Item::Variable(index) => self.module.variables[index].is_public,
        };
        self.text += &if is_public { format!("{name} ") } else { format!("item#{number} ") };
    }
}
