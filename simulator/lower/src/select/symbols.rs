//! Names in PTX.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ir::Module;

/// The names of a module's variables and functions. PTX allows fewer characters than LLVM.
pub struct Names(HashMap<String, String>);

impl Names {
    pub fn new(module: &Module) -> Self {
        let all = module.globals.iter().map(|global| &global.name).chain(module.functions.iter().map(|function| &function.name));
        let (plain, odd): (Vec<&String>, Vec<&String>) = all.partition(|name| is_plain(name));
        let mut taken: HashSet<String> = plain.iter().map(|name| (*name).clone()).collect();
        let mut names: BTreeMap<String, String> = plain.into_iter().map(|name| (name.clone(), name.clone())).collect();
        for name in odd {
            let escaped =
                |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '$') { c.to_string() } else { "_$_".to_owned() };
            let mut new: String = name.chars().map(escaped).collect();
            if !new.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$') {
                new.insert(0, '$');
            }
            while !taken.insert(new.clone()) {
                new.push('_');
            }
            names.insert(name.clone(), new);
        }
        Self(names.into_iter().collect())
    }

    pub fn of<'n>(&'n self, name: &'n str) -> &'n str {
        self.0.get(name).map_or(name, String::as_str)
    }
}

/// Returns a name that PTX takes as it is.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '$'));
    starts && name.len() > 1 && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))
        || starts && name.len() == 1 && name.chars().all(|c| c.is_ascii_alphabetic())
}

/// Returns the name of a parameter.
pub fn parameter(function: &str, index: usize) -> String {
    format!("{function}_param_{index}")
}
