//! Names in PTX.

use std::collections::{HashMap, HashSet};

use crate::ir::Module;

/// New names for what PTX cannot name. It allows fewer characters than LLVM.
pub struct Names(HashMap<String, String>);

impl Names {
    pub fn new(module: &Module) -> Self {
        let all = module.globals.iter().map(|global| &global.name).chain(module.functions.iter().map(|function| &function.name));
        let (plain, odd): (Vec<&String>, Vec<&String>) = all.partition(|name| is_plain(name));
        let mut taken: HashSet<String> = plain.into_iter().cloned().collect();
        let mut names = HashMap::new();
        for name in odd {
            let escaped = |c: char| if is_allowed(c) { c.to_string() } else { "_$_".to_owned() };
            let mut new: String = name.chars().map(escaped).collect();
            if !new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$') {
                new.insert(0, '$');
            }
            while !taken.insert(new.clone()) {
                new.push('_');
            }
            names.insert(name.clone(), new);
        }
        Self(names)
    }

    pub fn of<'n>(&'n self, name: &'n str) -> &'n str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

/// Returns true if PTX takes a name as it is.
fn is_plain(name: &str) -> bool {
    let first = name.chars().next();
    let starts = first.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '$') && name.len() > 1);
    starts && name.chars().all(is_allowed)
}

/// Returns the name of a parameter.
pub fn parameter(function: &str, index: usize) -> String {
    format!("{function}_param_{index}")
}
