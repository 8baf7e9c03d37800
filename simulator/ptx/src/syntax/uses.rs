//! Which variables and device functions a kernel uses, directly or through others.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::ast::{Function, Initializer, Module, Operand, Prototype, Statement, Variable};

/// The variables and functions that a kernel uses, in order of mention.
#[derive(Debug, Default)]
pub struct Uses<'m, 't> {
    /// Variables in every state space: those of the kernel and the functions, and those of the module.
    pub variables: Vec<&'m Variable<'t>>,
    /// Device functions; one that is only declared here has no body.
    pub functions: Vec<&'m Function<'t>>,
}

impl<'t> Module<'t> {
    /// Finds the variables and functions that a kernel uses, directly or indirectly.
    pub fn uses<'m>(&'m self, kernel: &'m Function<'t>) -> Uses<'m, 't> {
        let mut uses = Uses { variables: kernel.variables().collect(), functions: Vec::new() };
        for item in used(self, &items(self), kernel) {
            match item {
                Item::Function(index) if self.functions[index].is_kernel => {}
                Item::Function(index) => {
                    uses.functions.push(&self.functions[index]);
                    uses.variables.extend(self.functions[index].variables());
                }
                Item::Variable(index) => uses.variables.push(&self.variables[index]),
            }
        }
        uses
    }

    /// Lists the variables that nothing mentions and that are not visible outside.
    pub fn unused_variables(&self) -> impl Iterator<Item = &Variable<'t>> {
        let of_functions = self.functions.iter().flat_map(|function| names_of_function(function));
        let of_variables = self.variables.iter().flat_map(names_of_variable);
        let mentioned: HashSet<&str> = of_functions.chain(of_variables).collect();
        self.variables.iter().filter(move |variable| !variable.is_public && !mentioned.contains(variable.name))
    }
}

/// Something that a module declares, by its index in the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    Function(usize),
    Variable(usize),
}

/// Finds the item that each name of a module refers to. For a function with a declaration and a definition, it is the definition.
pub fn items<'t>(module: &Module<'t>) -> HashMap<&'t str, Item> {
    let mut items: HashMap<&str, Item> = HashMap::new();
    for (index, function) in module.functions.iter().enumerate() {
        if function.body.is_some() || !items.contains_key(function.name) {
            items.insert(function.name, Item::Function(index));
        }
    }
    items.extend(module.variables.iter().enumerate().map(|(index, variable)| (variable.name, Item::Variable(index))));
    items
}

/// The role of words in the text of a function.
#[derive(Debug, Default)]
pub struct Locals<'t> {
    /// Names to replace by numbers: labels, parameters, variables.
    pub numbered: HashSet<&'t str>,
    /// Registers keep their names, because the compiler numbers them by function.
    pub registers: HashSet<&'t str>,
    pub labels: HashSet<&'t str>,
    /// The starts of opcodes, which are never names of items, even if spelled the same.
    pub opcodes: HashSet<usize>,
    pub locations: Vec<Range<usize>>,
}

impl<'t> Locals<'t> {
    pub fn of(function: &Function<'t>) -> Self {
        let mut locals = Self::default();
        locals.numbered.extend(function.returns.iter().chain(&function.params).map(|variable| variable.name));
        for statement in function.body.iter().flatten() {
            match statement {
                Statement::Label(name) => drop(locals.labels.insert(name)),
                Statement::Prototype(Prototype { name, .. })
                | Statement::Targets { name, .. }
                | Statement::Variable(Variable { name, .. }) => drop(locals.numbered.insert(name)),
                Statement::Registers(registers) => drop(locals.registers.insert(registers.name)),
                Statement::Instruction(instruction) => drop(locals.opcodes.insert(instruction.unguarded.start)),
                Statement::Location { span, .. } => locals.locations.push(span.clone()),
                Statement::Open | Statement::Close | Statement::Unreadable(_) => {}
            }
        }
        locals.numbered.extend(&locals.labels);
        locals
    }
}

/// Lists the kernel and what it uses, in order of mention. Items that only a used item mentions come after it.
pub fn used<'t>(module: &Module<'t>, items: &HashMap<&'t str, Item>, kernel: &Function<'t>) -> Vec<Item> {
    let mut used: Vec<Item> = items.get(kernel.name).copied().into_iter().collect();
    let mut seen: HashSet<Item> = used.iter().copied().collect();
    let mut next = 0;
    while let Some(item) = used.get(next).copied() {
        next += 1;
        let names = match item {
            Item::Function(index) => names_of_function(&module.functions[index]),
            Item::Variable(index) => names_of_variable(&module.variables[index]).collect(),
        };
        used.extend(names.iter().filter_map(|name| items.get(name).copied()).filter(|item| seen.insert(*item)));
    }
    used
}

/// Lists the names that a function mentions and does not declare itself.
fn names_of_function<'t>(function: &Function<'t>) -> Vec<&'t str> {
    let locals = Locals::of(function);
    let mut names = Vec::new();
    for statement in function.body.iter().flatten() {
        match statement {
            Statement::Instruction(instruction) => names.extend(instruction.operands.iter().flat_map(Operand::names)),
            Statement::Variable(variable) => names.extend(names_of_variable(variable)),
            Statement::Targets { targets, .. } => names.extend(targets),
            _ => {}
        }
    }
    names.retain(|name| !locals.numbered.contains(name) && !locals.registers.contains(name));
    names
}

/// Lists the names in a variable's initial value.
fn names_of_variable<'t>(variable: &Variable<'t>) -> impl Iterator<Item = &'t str> {
    variable.init.iter().filter_map(|value| match value {
        Initializer::Address { name, .. } => Some(*name),
        Initializer::Bits(_) => None,
    })
}
