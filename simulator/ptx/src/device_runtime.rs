//! The functions of NVIDIA's device runtime library that a kernel may call and that are not instructions: barriers of the grid.
//!
//! They are PTX of our own, which is added to a module that declares one of them and does not define it.

use std::borrow::Cow;

/// The definitions.
const DEFINITIONS: &str = include_str!("device_runtime.ptx");

/// What their names start with.
const PREFIX: &str = "cudaCG";

/// The text of a module with the functions that it declares and that someone else defines.
pub fn complete(ptx: &str) -> Cow<'_, str> {
    // Text without these names is the rule, and need not be looked at more closely.
    if !ptx.contains(PREFIX) {
        return ptx.into();
    }
    let defined = |name: &str| {
        ptx.split(".func").skip(1).any(|function| {
            let (head, _) = function.split_once([';', '{']).unwrap_or((function, ""));
            let is_definition = function.as_bytes().get(head.len()) == Some(&b'{');
            is_definition && head.contains(name)
        })
    };
    let functions = DEFINITIONS.split(".visible ").skip(1).filter(|definition| {
        let name = definition.split(PREFIX).nth(1).and_then(|rest| rest.split('(').next()).unwrap_or_default();
        let name = format!("{PREFIX}{name}");
        ptx.contains(&name) && !defined(&name)
    });
    let added: String = functions.map(|definition| format!("\n.visible {definition}")).collect();
    format!("{ptx}{added}").into()
}
