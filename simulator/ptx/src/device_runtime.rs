//! The functions of NVIDIA's device runtime library that a kernel may call and that are not instructions: barriers of the grid.
//!
//! They are PTX of our own, which is added to a module that declares one of them and does not define it.

use crate::error::LoadError;
use crate::syntax::ast::Module;
use crate::syntax::parse;

/// The definitions.
const DEFINITIONS: &str = include_str!("device_runtime.ptx");

/// Adds the library's functions to a module that only declares them. Returns the text, or `None` if it declares none.
pub fn complete(text: &str, tree: &Module<'_>) -> Result<Option<String>, LoadError> {
    let lacks = |name: &str| {
        let mut of_name = tree.functions.iter().filter(|function| function.name == name).peekable();
        of_name.peek().is_some() && of_name.all(|function| function.body.is_none())
    };
    if !tree.functions.iter().any(|function| function.body.is_none()) {
        return Ok(None);
    }
    let library = parse(DEFINITIONS)?;
    let missing = library.functions.iter().filter(|function| lacks(function.name));
    let added: String = missing.map(|function| format!("\n{}", &DEFINITIONS[function.span.clone()])).collect();
    Ok(Some(text.to_owned() + &added).filter(|_| !added.is_empty()))
}
