//! One mistake in one function.

use std::ops::{Range, RangeInclusive};

use rustc_hash::FxHashMap as HashMap;

use super::change::{Change, Surroundings};
use super::operator::Operator;
use crate::finding::SourceLine;
use crate::syntax::ast::{Function, Instruction, Module, Statement};
use crate::syntax::edit;

/// A mistake in a function of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its name: `function@code/operator/number`. `code` is a hash of the function's instructions and variables; lines and other functions
    /// do not count. `number` counts the mutants of this operator in the function, from 1, in the order of the text.
    pub id: String,
    /// Name of the function, as PTX has it.
    pub function: String,
    /// The kind of mistake.
    pub operator: Operator,
    /// The instruction, with single spaces.
    pub instruction: String,
    /// The change in words, to be read after the instruction's text: `is removed`.
    pub change: String,
    /// Line of the instruction in the PTX text, from 1.
    pub ptx_line: u32,
    /// Line of CUDA C, if the PTX names one.
    pub source: Option<SourceLine>,
    /// Lines of the PTX text that are executed together with the instruction: the code between two labels or branches.
    pub together: RangeInclusive<u32>,
    span: Range<usize>,
    replacement: String,
}

impl Mutant {
    /// Returns the text with the mistake. Every line keeps its number.
    ///
    /// `text` must be the one in which the mutant was found.
    pub fn apply(&self, text: &str) -> String {
        let lines = text[self.span.clone()].matches('\n').count();
        edit(text, vec![(self.span.clone(), self.replacement.clone() + &"\n".repeat(lines))])
    }
}

/// Lists the mutants of every function of a module, in text order.
pub fn mutants(module: &Module<'_>) -> Vec<Mutant> {
    module.functions.iter().flat_map(|function| mutants_of(module, function)).collect()
}

/// Lists the mutants of one function of the module.
pub fn mutants_of(module: &Module<'_>, function: &Function<'_>) -> Vec<Mutant> {
    let Some(body) = &function.body else { return Vec::new() };
    let prefix = prefix(module, function);
    let surroundings = Surroundings::new(module.text, function);
    let together = together(body);
    let mut numbers: HashMap<Operator, u32> = HashMap::default();
    let mut mutants = Vec::new();
    for (index, statement) in body.iter().enumerate() {
        let Statement::Instruction(instruction) = statement else { continue };
        for Change { operator, replacement, words } in surroundings.changes(index) {
            let number = numbers.entry(operator).or_default();
            *number += 1;
            let file = |(file, line): (u32, u32)| {
                let (_, name) = module.files.iter().find(|(number, _)| *number == file)?;
                Some(SourceLine { file: (*name).to_owned(), line })
            };
            mutants.push(Mutant {
                id: format!("{prefix}{operator}/{number}"),
                function: function.name.to_owned(),
                operator,
                instruction: one_line(&module.text[instruction.span.clone()]),
                change: words,
                ptx_line: instruction.line,
                source: instruction.source.and_then(file),
                together: together[index].clone(),
                span: instruction.span.clone(),
                replacement,
            });
        }
    }
    mutants
}

/// Finds the mutant of that name.
pub fn find(module: &Module<'_>, id: &str) -> Option<Mutant> {
    let name = id.split('@').next()?;
    let mut functions = module.functions.iter().filter(|function| function.name == name && function.body.is_some());
    let function = functions.find(|function| id.starts_with(&prefix(module, function)))?;
    mutants_of(module, function).into_iter().find(|mutant| mutant.id == id)
}

/// Returns the prefix of the names of a function's mutants.
fn prefix(module: &Module<'_>, function: &Function<'_>) -> String {
    format!("{}@{:08x}/", function.name, code(module.text, function))
}

/// Hashes (FNV-1a, folded to 32 bits) a function's instructions and variables. Compilers number labels by module, so only their order
/// counts.
fn code(text: &str, function: &Function<'_>) -> u32 {
    let body = function.body.as_deref().unwrap_or_default();
    let mut labels: HashMap<&str, usize> = HashMap::default();
    for statement in body {
        if let Statement::Label(name) = statement {
            let number = labels.len();
            labels.insert(name, number);
        }
    }
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |text: &str| {
        for byte in one_line(text).bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for statement in body {
        match statement {
            Statement::Label(name) => add(&format!("{}:", labels[name])),
            Statement::Variable(variable) => add(&text[variable.span.clone()]),
            Statement::Instruction(Instruction { guard, opcode, operand_spans, .. }) => {
                add(&guard.map(|guard| format!("{}{}", guard.negated, guard.name)).unwrap_or_default());
                add(opcode);
                for operand in operand_spans.iter().map(|span| &text[span.clone()]) {
                    match labels.get(operand) {
                        Some(label) => add(&format!("{label}:")),
                        None => add(operand),
                    }
                }
            }
            _ => {}
        }
    }
    (hash >> 32) as u32 ^ hash as u32
}

/// Lists for each statement the lines of instructions executed with it. They are executed if and only if it is.
fn together(body: &[Statement<'_>]) -> Vec<RangeInclusive<u32>> {
    let mut together = Vec::with_capacity(body.len());
    let ends = |statement: &Statement<'_>| match statement {
        Statement::Label(_) => true,
        Statement::Instruction(instruction) => matches!(instruction.root(), "bra" | "brx" | "ret" | "exit" | "trap"),
        _ => false,
    };
    for run in body.split_inclusive(ends) {
        let mut lines = run.iter().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction.line),
            _ => None,
        });
        let first = lines.next().unwrap_or_default();
        let last = lines.next_back().unwrap_or(first);
        together.extend(run.iter().map(|_| first..=last));
    }
    together
}

/// Puts a text on one line, with single spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
