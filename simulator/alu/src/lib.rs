//! The arithmetic instructions: one table with the spelling, the operands, and the meaning of each.
//!
#![doc = include_str!("../README.md")]
//!
//! The decoder looks up spellings here, the executor is generated from the same rows, and the documentation lists them. A row
//! defines the meaning of one lane as a pure function, and the executor applies it to the 32 lanes of a warp. Instructions that
//! access memory or other lanes, barriers, and control flow are implemented elsewhere in the executor. A page of the book lists them, `book/src/instructions.md`.

mod approximate;
mod class;
#[cfg(all(debug_assertions, target_arch = "x86_64"))]
mod each;
pub mod exact;
mod integer;
pub mod quarter;
mod row;
mod rows;
mod table;

// For the decoder and the machine, which are other crates.
#[doc(hidden)]
pub mod float;
#[doc(hidden)]
pub mod format;
#[doc(hidden)]
pub mod half;
#[doc(hidden)]
pub mod registers;
#[doc(hidden)]
pub mod video;
#[doc(hidden)]
pub mod windows;

use std::collections::HashMap;
use std::sync::OnceLock;

pub use approximate::Accuracy;
pub use class::Class;
pub use registers::Kind;
pub use row::{Alu, Row};
pub use table::{Executor, TABLE};

/// Finds the row of an opcode, as spelled in PTX. Its modifiers may be in any order.
pub fn lookup(opcode: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<HashMap<String, &'static Row>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        TABLE
            .iter()
            .flat_map(|row| spellings(row.spelling).into_iter().map(move |spelling| (in_one_order(&spelling), row)))
            .collect()
    });
    index.get(&in_one_order(opcode)).copied()
}

/// Sorts the modifiers of an opcode. Its types come last and stay in their order. ptxas takes modifiers in nearly any order:
/// `div.ftz.rn.f32` is `div.rn.ftz.f32`.
fn in_one_order(opcode: &str) -> String {
    let (root, rest) = opcode.split_once('.').unwrap_or((opcode, ""));
    let (types, mut modifiers): (Vec<_>, Vec<_>) = rest.split('.').partition(|part| is_type(part));
    modifiers.sort_unstable();
    let parts = modifiers.into_iter().chain(types).filter(|part| !part.is_empty());
    parts.fold(root.to_owned(), |opcode, part| opcode + "." + part)
}

/// Returns true if a modifier of an opcode is a type.
pub fn is_type(modifier: &str) -> bool {
    let modifier = modifier.strip_suffix("x2").or(modifier.strip_suffix("x4")).unwrap_or(modifier);
    let number = |prefix: &str| {
        modifier.strip_prefix(prefix).is_some_and(|width| matches!(width, "2" | "4" | "8" | "16" | "32" | "64" | "128"))
    };
    ["b", "u", "s", "f", "bf", "tf"].into_iter().any(number) || matches!(modifier, "pred" | "e4m3" | "e5m2")
}

/// Returns true if the instruction reads or writes the carry flag.
pub fn carries(opcode: &str) -> bool {
    let mut parts = opcode.split('.');
    parts.next().is_some_and(|root| root.ends_with('c')) || parts.any(|part| part == "cc")
}

/// Lists all spellings of a pattern with alternatives in braces; an alternative may be empty.
pub fn spellings(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return vec![pattern.to_owned()];
    };
    let (alternatives, after) = rest.split_once('}').unwrap_or((rest, ""));
    let tails = spellings(after);
    let mut all = Vec::new();
    for alternative in alternatives.split(',') {
        all.extend(tails.iter().map(|tail| format!("{before}{alternative}{tail}")));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_belongs_to_one_row() {
        let mut seen = HashMap::new();
        for row in TABLE {
            for spelling in spellings(row.spelling) {
                let before = seen.insert(in_one_order(&spelling), row.alu);
                assert!(before.is_none_or(|before| before == row.alu), "{spelling} stands for {:?} and for {before:?}", row.alu);
            }
        }
    }

    #[test]
    fn modifiers_come_in_any_order_and_types_in_theirs() {
        assert_eq!(in_one_order("div.ftz.rn.f32"), in_one_order("div.f32.rn.ftz"));
        assert_ne!(in_one_order("cvt.u8.s16"), in_one_order("cvt.s16.u8"));
    }

    #[test]
    fn alternatives_may_be_empty() {
        assert_eq!(spellings("add{,.rn}.f32"), ["add.f32", "add.rn.f32"]);
    }
}
