//! Linking: several PTX modules become one, in which each uses what another defines.
//!
//! The result is PTX again, because the simulator executes PTX. A name that a module keeps to itself is renamed if another module has it
//! too. Files of line information are renumbered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use ptx::ast::{Module, Statement};
use ptx::{edit, parse, to_line_end};
use simt::LoadError;
use thiserror::Error;

/// PTX to be linked.
#[derive(Clone, Debug)]
pub struct Input {
    /// The program's name of it, for messages.
    pub name: String,
    pub text: String,
}

/// Why modules cannot be linked.
#[derive(Debug, Error)]
pub enum LinkError {
    #[error("{input}: {error}")]
    Load { input: String, error: LoadError },
    #[error("{symbol} is defined in {first} and again in {second}; keep one of them, or make one of them private")]
    DefinedTwice { symbol: String, first: String, second: String },
    #[error("{user} calls {symbol} with {called}, but {definer} defines it with {defined}; declare it as it is defined")]
    Prototype { symbol: String, user: String, called: String, definer: String, defined: String },
}

/// The bytes of a function's parameters and results.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Prototype {
    params: Vec<Option<u64>>,
    returns: Vec<Option<u64>>,
}

impl fmt::Display for Prototype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |bytes: &[Option<u64>]| {
            let bytes: Vec<String> = bytes.iter().map(|bytes| bytes.map_or("?".to_owned(), |bytes| bytes.to_string())).collect();
            if bytes.is_empty() { "none".to_owned() } else { format!("{} bytes", bytes.join(" and ")) }
        };
        write!(f, "parameters of {} and results of {}", list(&self.params), list(&self.returns))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Linkage {
    /// It needs someone else to define it.
    Declared,
    /// It defines the name for everyone.
    Public,
    /// It defines the name unless someone else has.
    Weak,
    /// It defines the name for itself.
    Private,
}

struct Symbol {
    name: String,
    linkage: Linkage,
    span: Range<usize>,
    /// True for memory of a block, which every module may declare.
    is_shared: bool,
    /// Of a function.
    prototype: Option<Prototype>,
}

pub fn link(inputs: &[Input]) -> Result<String, LinkError> {
    if let [only] = inputs {
        return Ok(only.text.clone());
    }
    let modules = inputs.iter().map(|input| Ok((input, symbols(&read(&input.name, &input.text)?))));
    let modules: Vec<(&Input, Vec<Symbol>)> = modules.collect::<Result<_, LinkError>>()?;
    let taken = names_in_several(&modules);
    let all_defined = definitions(&modules);
    let (mut version, mut target, mut body) = ((0, 0), (0, 0), String::new());
    // Who defines each public name.
    let mut defined: BTreeMap<String, &str> = BTreeMap::new();
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut first_file = 0;
    for (index, (input, original)) in modules.iter().enumerate() {
        let private = |name: &str| taken.contains(name).then(|| format!("{name}__linked_{index}"));
        let text = rename_private(&input.text, original, private);
        let tree = read(&input.name, &text)?;
        version = version.max(tree.version);
        target = target.max(tree.target);
        let mut edits: Vec<_> = tree.directives.iter().map(|span| remove(&text, span)).collect();
        for symbol in symbols(&tree) {
            let is_duplicate = match symbol.linkage {
                Linkage::Declared => match all_defined.get(symbol.name.as_str()) {
                    Some((definer, prototype)) => {
                        check_prototype(&symbol, &input.name, definer, *prototype)?;
                        true
                    }
                    None => !kept.insert(symbol.name),
                },
                Linkage::Weak => {
                    defined.contains_key(&symbol.name) || {
                        defined.insert(symbol.name, &input.name);
                        false
                    }
                }
                Linkage::Public if symbol.is_shared => !kept.insert(symbol.name),
                Linkage::Public => {
                    if let Some(first) = defined.insert(symbol.name.clone(), &input.name) {
                        let (first, second) = (first.to_owned(), input.name.clone());
                        return Err(LinkError::DefinedTwice { symbol: symbol.name, first, second });
                    }
                    false
                }
                Linkage::Private => false,
            };
            if is_duplicate {
                edits.push(remove(&text, &symbol.span));
            } else {
                edits.extend(lines_of(&tree, &symbol.span, first_file));
            }
        }
        for (number, name) in &tree.files {
            let name = tree.span_of(name);
            let start = text[..name.start].rfind(".file").unwrap_or(name.start);
            edits.push((start..name.start, format!(".file {} \"", number + first_file)));
        }
        first_file += tree.files.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
        body += &format!("\n// {}\n{}", input.name.replace('\n', " "), edit(&text, edits));
    }
    let ((major, minor), (sm_major, sm_minor)) = (version, target);
    Ok(format!(".version {major}.{minor}\n.target sm_{sm_major}{sm_minor}\n.address_size 64\n{body}"))
}

/// Refuses text that is not PTX.
pub fn check(input: &Input) -> Result<(), LinkError> {
    read(&input.name, &input.text).map(drop)
}

fn read<'t>(name: &str, text: &'t str) -> Result<Module<'t>, LinkError> {
    parse(text).map_err(|error| LinkError::Load { input: name.to_owned(), error })
}

fn remove(text: &str, span: &Range<usize>) -> (Range<usize>, String) {
    (to_line_end(text, span.clone()), String::new())
}

fn symbols(tree: &Module<'_>) -> Vec<Symbol> {
    let linkage = |span: &Range<usize>, is_public: bool, is_declared: bool| match tree.text[span.clone()].split_whitespace().next()
    {
        _ if is_declared => Linkage::Declared,
        Some(".weak" | ".common") => Linkage::Weak,
        _ if is_public => Linkage::Public,
        _ => Linkage::Private,
    };
    let functions = tree.functions.iter().map(|function| Symbol {
        name: function.name.to_owned(),
        linkage: linkage(&function.span, function.is_public, function.body.is_none() && function.is_public),
        span: function.span.clone(),
        is_shared: false,
        prototype: Some(Prototype {
            params: function.params.iter().map(|param| param.bytes).collect(),
            returns: function.returns.iter().map(|result| result.bytes).collect(),
        }),
    });
    let variables = tree.variables.iter().map(|variable| Symbol {
        name: variable.name.to_owned(),
        linkage: linkage(&variable.span, variable.is_public, variable.is_extern),
        span: variable.span.clone(),
        is_shared: variable.space == ptx::ast::StateSpace::Shared,
        prototype: None,
    });
    functions.chain(variables).collect()
}

/// Returns the names that some module defines for everyone: by which input, and what a function takes and returns.
fn definitions<'m>(modules: &'m [(&Input, Vec<Symbol>)]) -> BTreeMap<&'m str, (&'m str, Option<&'m Prototype>)> {
    let all = modules.iter().flat_map(|(input, symbols)| symbols.iter().map(|symbol| (input.name.as_str(), symbol)));
    let public = all.filter(|(_, symbol)| matches!(symbol.linkage, Linkage::Public | Linkage::Weak));
    public.map(|(definer, symbol)| (symbol.name.as_str(), (definer, symbol.prototype.as_ref()))).collect()
}

/// Refuses to link a function to a definition of another type. NVIDIA's linker does so too, and is stricter: it tells `.f32` from `.b32`.
fn check_prototype(declared: &Symbol, user: &str, definer: &str, defined: Option<&Prototype>) -> Result<(), LinkError> {
    match (&declared.prototype, defined) {
        (Some(called), Some(defined)) if called != defined => Err(LinkError::Prototype {
            symbol: declared.name.clone(),
            user: user.to_owned(),
            called: called.to_string(),
            definer: definer.to_owned(),
            defined: defined.to_string(),
        }),
        _ => Ok(()),
    }
}

/// Returns the names that more than one module has.
fn names_in_several<'m>(modules: &'m [(&Input, Vec<Symbol>)]) -> BTreeSet<&'m str> {
    let (mut seen, mut several) = (BTreeSet::new(), BTreeSet::new());
    for (_, symbols) in modules {
        let names: BTreeSet<&str> = symbols.iter().map(|symbol| symbol.name.as_str()).collect();
        several.extend(names.intersection(&seen));
        seen.extend(names);
    }
    several
}

/// Renames what a module keeps to itself, where `rename` says so.
fn rename_private(original: &str, symbols: &[Symbol], rename: impl Fn(&str) -> Option<String>) -> String {
    let private = symbols.iter().filter(|symbol| symbol.linkage == Linkage::Private);
    let renamed: BTreeMap<&str, String> =
        private.filter_map(|symbol| Some((symbol.name.as_str(), rename(&symbol.name)?))).collect();
    let mut text = String::with_capacity(original.len());
    let mut rest = original;
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        let end = rest.find(|c| is_part(c) != is_part(first)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        text += renamed.get(word).map_or(word, String::as_str);
        rest = after;
    }
    text
}

/// Renumbers the files in the line information of the function at `span`. The names of inlined functions are left out, because they are in
/// sections that are not linked.
fn lines_of(tree: &Module<'_>, span: &Range<usize>, first_file: u32) -> Vec<(Range<usize>, String)> {
    let function = tree.functions.iter().find(|function| function.span == *span);
    let statements = function.and_then(|function| function.body.as_deref()).unwrap_or_default();
    let location = |statement: &Statement<'_>| match statement {
        Statement::Location { file, line, column, inlined_at, span, .. } => {
            let caller = inlined_at.map(|(file, line)| format!(", inlined_at {} {line} 0", file + first_file));
            Some((span.clone(), format!(".loc {} {line} {column}{}", file + first_file, caller.unwrap_or_default())))
        }
        _ => None,
    };
    statements.iter().filter_map(location).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(name: &str, body: &str) -> Input {
        Input { name: name.to_owned(), text: format!(".version 7.0\n.target sm_70\n.address_size 64\n{body}\n") }
    }

    const USER: &str = "
        .file 1 \"user.cu\"
        .extern .func (.param .b32 r) twice(.param .b32 x);
        .extern .global .align 4 .u32 total;
        .global .align 4 .u32 own = 1;
        .visible .entry k() {
            .reg .b32 %r<4>;
            .loc 1 7 3
            ld.global.u32 %r1, [own];
            ld.global.u32 %r2, [total];
            { .param .b32 x; st.param.b32 [x+0], %r1; .param .b32 r; call.uni (r), twice, (x); ld.param.b32 %r3, [r+0]; }
            st.global.u32 [total], %r3;
            ret;
        }";
    const LIBRARY: &str = "
        .file 1 \"library.cu\"
        .visible .global .align 4 .u32 total = 5;
        .global .align 4 .u32 own = 2;
        .visible .func (.param .b32 r) twice(.param .b32 x) {
            .reg .b32 %r<4>;
            .loc 1 9 3
            ld.param.b32 %r1, [x];
            ld.global.u32 %r3, [own];
            mul.lo.s32 %r2, %r1, %r3;
            st.param.b32 [r], %r2;
            ret;
        }";

    #[test]
    fn modules_use_what_the_other_defines_and_keep_their_own() {
        let linked = link(&[input("user", USER), input("library", LIBRARY)]).unwrap();
        let module = simt::Module::parse(&linked).unwrap_or_else(|error| panic!("{error}\n{linked}"));
        assert_eq!(module.kernels().len(), 1);
        let names: Vec<&str> = module.variables().iter().map(|variable| variable.name.as_str()).collect();
        assert_eq!(names, ["own__linked_0", "total", "own__linked_1"]);
        assert!(linked.contains(".file 3 \"library.cu\"") && linked.contains(".loc 3 9 3"), "{linked}");
    }

    #[test]
    fn one_module_is_left_alone() {
        let only = input("user", USER);
        assert_eq!(link(std::slice::from_ref(&only)).unwrap(), only.text);
    }

    #[test]
    fn a_name_that_two_modules_define_is_refused_unless_one_is_weak() {
        let twice = [input("first", LIBRARY), input("second", LIBRARY)];
        let message = link(&twice).unwrap_err().to_string();
        assert!(message.starts_with("twice is defined in first and again in second"), "{message}");
        let weak = LIBRARY.replace(".visible", ".weak");
        let linked = link(&[input("first", LIBRARY), input("second", &weak)]).unwrap();
        simt::Module::parse(&linked).unwrap_or_else(|error| panic!("{error}\n{linked}"));
    }

    #[test]
    fn a_function_is_called_as_it_is_defined() {
        let cases = [
            ("(.param .b64 r) twice(.param .b32 x)", "parameters of 4 bytes and results of 8 bytes"),
            ("twice(.param .b32 x)", "parameters of 4 bytes and results of none"),
            ("(.param .b32 r) twice(.param .b32 x, .param .b64 y)", "parameters of 4 and 8 bytes and results of 4 bytes"),
        ];
        let declared = "(.param .b32 r) twice(.param .b32 x)";
        for (defined, words) in cases {
            let library = input("library", &LIBRARY.replace(declared, defined).replace("st.param.b32 [r], %r2;", ""));
            for inputs in [[input("user", USER), library.clone()], [library.clone(), input("user", USER)]] {
                let message = link(&inputs).unwrap_err().to_string();
                let expected = format!(
                    "user calls twice with parameters of 4 bytes and results of 4 bytes, but library defines it with {words}; declare it as it is defined"
                );
                assert_eq!(message, expected);
            }
        }
    }
}
