//! The arithmetic instructions: one table that says how each is spelled, what it takes, and what it means.
//!
//! The decoder looks spellings up here, the executor is generated from the same rows, and the documentation lists them. A row is
//! the meaning of one lane, a pure function; the executor applies it to the 32 lanes of a warp. Instructions that touch memory,
//! other lanes, barriers or the flow of control have their own parts of the executor, and are listed in [`OTHERS`].

mod approximate;
mod exact;
pub(crate) mod float;
pub(crate) mod format;
pub(crate) mod half;
mod integer;
mod rows;
mod table;

use std::collections::HashMap;
use std::sync::OnceLock;

pub use approximate::Accuracy;
pub(crate) use table::Executor;
pub use table::{Alu, TABLE};

/// What kind of register an operand needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A predicate.
    Predicate,
    /// A register of 8, 16 or 32 bits; each has a row of its own.
    Word,
    /// A register of 64 bits.
    Double,
}

/// What an instruction counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Moves and selections, and changes of a sign, which an instruction that uses the result can do on the way.
    Move,
    /// Comparisons and logic on predicates.
    Predicate,
    /// Integer multiplications and multiply-adds.
    IntMad,
    /// Other integer and logic operations.
    Int,
    /// Dot products of bytes.
    Dp4a,
    /// f32 multiply-adds.
    F32Fma,
    /// Other f32 additions, subtractions, multiplications, comparisons of magnitude.
    F32,
    /// f64 arithmetic.
    F64,
    /// Arithmetic of f16 and bf16.
    Half,
    /// Arithmetic of pairs of f16 or bf16: two results.
    HalfPair,
    /// Between types.
    Convert,
    /// Division, square root and the like.
    Special,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The instruction.
    pub alu: Alu,
    /// Its spellings; alternatives stand in braces.
    pub spelling: &'static str,
    /// What it counts as.
    pub class: Class,
    /// What its sources need.
    pub sources: &'static [Kind],
    /// What its destination needs.
    pub destination: Kind,
    /// What PTX promises of an approximate function; all others are exact, or rounded once as they say.
    pub accuracy: Option<Accuracy>,
}

/// Instructions outside the table, by the part of the machine that executes them.
pub const OTHERS: &[(&str, &[&str])] = &[
    ("memory", &["ld", "st", "atom", "red", "prefetch", "cvta", "cvta.to"]),
    ("warp", &["shfl.sync", "vote.sync", "match.sync", "redux.sync", "activemask", "bar.warp.sync"]),
    ("block", &["bar.sync", "bar.red", "bar.arrive", "barrier.sync", "barrier.arrive", "membar", "fence"]),
    ("flow", &["bra", "call", "ret", "exit", "trap", "nanosleep"]),
];

/// The row of an opcode as it is spelled in PTX.
pub fn lookup(opcode: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<HashMap<String, &'static Row>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        TABLE.iter().flat_map(|row| spellings(row.spelling).into_iter().map(move |spelling| (spelling, row))).collect()
    });
    index.get(opcode).copied()
}

/// All spellings that a pattern with alternatives in braces stands for; an alternative may be empty.
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
                let before = seen.insert(spelling.clone(), row.alu);
                assert!(before.is_none(), "{spelling} stands for {:?} and for {before:?}", row.alu);
            }
        }
    }

    #[test]
    fn alternatives_may_be_empty() {
        assert_eq!(spellings("add{,.rn}.f32"), ["add.f32", "add.rn.f32"]);
    }
}
