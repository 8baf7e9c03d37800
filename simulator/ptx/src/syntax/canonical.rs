//! The canonical text of a kernel: it stays the same when an edit cannot change the kernel's machine code.
//!
//! A measurement of a kernel stays valid until the kernel's machine code changes. The text of a module changes more often: with
//! every comment and line of the source, and with every kernel before this one, because compilers number labels and strings by
//! module. The canonical text of a kernel therefore has
//!
//! - no comments, no white space of its own, no `.loc`, `.file` or debug section, and no label that nothing refers to;
//! - numbers instead of names that are not visible outside the module: labels, parameters, variables, device functions. They are
//!   numbered in the order in which the kernel mentions them;
//! - the module's version, target and pragmas, the kernel, and each variable and device function that it uses, directly or
//!   indirectly. Nothing else of the module.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::ast::{Module, StateSpace};
use super::lexer::{Kind, Token, tokens};
use super::parser::parse;
use super::uses::{Item, Locals, items, used};
use crate::error::LoadError;

/// Returns the canonical text of a kernel (see the top of this file). It changes when an instruction, a parameter, a directive
/// such as `.maxntid`, a variable that the kernel uses, a device function that it calls, or the module's version or target changes.
///
/// To ask about several kernels of one text, [`parse`](super::parse) it once and call [`Module::canonical`].
///
/// # Errors
///
/// [`LoadError::Syntax`] when the text is not PTX, [`LoadError::NoKernel`] when it has no kernel of that name.
pub fn canonical(text: &str, kernel: &str) -> Result<String, LoadError> {
    parse(text)?.canonical(kernel)
}

impl Module<'_> {
    /// Returns the canonical text of one of the module's kernels; see [`canonical`].
    ///
    /// # Errors
    ///
    /// [`LoadError::NoKernel`] when the module has no kernel of that name.
    pub fn canonical(&self, kernel: &str) -> Result<String, LoadError> {
        let kernel = self.kernel(kernel).ok_or_else(|| LoadError::NoKernel { kernel: kernel.to_owned() })?;
        let items = items(self);
        let used = used(self, &items, kernel);
        let mut writer = Writer { module: self, items, used, text: String::new() };
        for directive in &self.directives {
            writer.write(directive.clone(), &Locals::default())?;
        }
        for item in writer.used.clone() {
            match item {
                Item::Function(index) => {
                    let function = &self.functions[index];
                    writer.write(function.span.clone(), &Locals::of(function))?;
                }
                Item::Variable(index) if self.variables[index].space == StateSpace::Shared => {}
                Item::Variable(index) => writer.write(self.variables[index].span.clone(), &Locals::default())?,
            }
        }
        // In the order of the text, which determines their offsets in shared memory and therefore their banks.
        for (index, variable) in self.variables.iter().enumerate() {
            if variable.space == StateSpace::Shared && writer.used.contains(&Item::Variable(index)) {
                writer.write(variable.span.clone(), &Locals::default())?;
            }
        }
        Ok(writer.text)
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
        words.retain(|token| token.kind != Kind::End && !is_in(&locals.locations, token));
        let is_label = |at: usize| words.get(at + 1).is_some_and(|next| next.kind == Kind::Punct(b':'));
        let targets: HashSet<&str> = (0..words.len()).filter(|at| !is_label(*at)).filter_map(|at| words[at].kind.word()).collect();

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
    fn name(&mut self, name: &str) {
        let item = self.items.get(name);
        let number = item.and_then(|item| self.used.iter().position(|used| used == item));
        let is_public = item.is_some_and(|item| match item {
            Item::Function(index) => self.module.functions[*index].is_public,
            Item::Variable(index) => self.module.variables[*index].is_public,
        });
        match number {
            Some(number) if !is_public => self.text += &format!("item#{number} "),
            _ => {
                self.text += name;
                self.text.push(' ');
            }
        }
    }
}

/// Returns true if a token is part of a `.loc`. The locations are in the order of the text.
fn is_in(locations: &[Range<usize>], token: &Token<'_>) -> bool {
    let after = locations.partition_point(|location| location.start <= token.start);
    after > 0 && token.start < locations[after - 1].end
}
