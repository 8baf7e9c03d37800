//! The arithmetic instructions: one table with the spelling, the operands, and the meaning of each.
//!
#![doc = include_str!("../README.md")]
//!
//! The decoder looks up spellings here, the executor is generated from the same rows, and the documentation lists them. A row
//! defines the meaning of one lane as a pure function, and the executor applies it to the 32 lanes of a warp. Instructions that
//! access memory or other lanes, barriers, and control flow are implemented elsewhere in the executor. [`OTHERS`] lists them.

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

/// Instructions outside the table: their names, the supported forms, and the first compute capability that has them, if that is
/// later than the oldest one that today's compilers support.
#[derive(Debug)]
pub struct Other {
    /// Their names.
    pub names: &'static str,
    /// The supported forms.
    pub what: &'static str,
    /// The first compute capability that has them; `None` if all have.
    pub since: Option<(u32, u32)>,
}

const fn other(names: &'static str, what: &'static str) -> Other {
    Other { names, what, since: None }
}

const fn since(major: u32, minor: u32, names: &'static str, what: &'static str) -> Other {
    Other { names, what, since: Some((major, minor)) }
}

/// Instructions outside the table, by purpose.
#[rustfmt::skip]
pub const OTHERS: &[(&str, &[Other])] = &[
    ("Memory", &[
        other("ld, ldu, st", "8 to 128 bits, alone or as `.v2` and `.v4`, in every state space and through generic addresses; cache hints say nothing"),
        other("atom, red", "integers of 32 and 64 bits: `add`, `min`, `max`, `and`, `or`, `xor`, `exch`, `cas`, `inc`, `dec`; `add` of f32, f64, f16, bf16 and pairs of the last two"),
        since(10, 0, "ld.global.v8, st.global.v8", "32 bytes, also as `.v4` of 64 bits"),
        since(9, 0, "atom.exch.b128, atom.cas.b128", "in global and in shared memory"),
        since(9, 0, "atom.v2, atom.v4, atom.v8, red of the same", "`add` of f32, and `add`, `min` and `max` of 16-bit floats and pairs of them, in global memory"),
        since(7, 0, "atom.cas.b16", "compare and swap of 16 bits"),
        other("cvta, cvta.to", "between generic addresses of 64 bits and those of a state space"),
        other("prefetch, prefetchu, discard, applypriority, pmevent", "accepted; they change nothing"),
        since(8, 0, "cp.async", "4, 8 and 16 bytes to shared memory, with a source size; groups, and waiting for them"),
        since(8, 0, "cp.async.mbarrier.arrive", "with `.noinc` and without; the bytes are there for a thread that has seen the phase end"),
        since(9, 0, "cp.async.bulk.prefetch", "accepted; it changes nothing"),
        since(8, 0, "createpolicy", "a number, which changes nothing"),
        since(9, 0, "cp.async.bulk", "between global and shared memory, also with `.multicast::cluster`, and from one block's to another's, with an `mbarrier` that counts the bytes or in groups"),
        since(9, 0, "cp.async.bulk.tensor", "boxes of tensors of 1 to 5 dimensions, `.tile` only, not interleaved, also with `.multicast::cluster`; `.prefetch` is accepted and changes nothing"),
        since(9, 0, "cp.reduce.async.bulk, cp.reduce.async.bulk.tensor", "to global memory, every function"),
        since(9, 0, "st.async", "32 and 64 bits, alone or as `.v2` and `.v4`, with an `mbarrier` that counts the bytes"),
    ]),
    ("Textures and surfaces", &[
        other("tex, tld4", "four numbers of 32 bits, in one, two and three dimensions, layers and cube maps; `.level` and `.grad`; through objects and references"),
        other("suld.b, sust.b", "8 to 64 bits, alone or as `.v2` and `.v4`, in one, two and three dimensions and layers; `.trap`, `.clamp` and `.zero`"),
        other("txq, suq", "width, height, depth, layers, levels, and whether coordinates are normalized"),
    ]),
    ("Tensor cores", &[
        since(7, 0, "wmma.load, wmma.mma, wmma.store", "f16, bf16, tf32, s8, u8, s4, u4, single bits and f64, in the shapes of `wmma`"),
        since(7, 5, "mma.sync", "f16, bf16, tf32, s8, u8, s4, u4, single bits and f64, in the shapes of `mma.sync`; of f16 also `m8n8k4`"),
        since(8, 0, "mma.sp", "f16, bf16, tf32, s8, u8, s4 and u4, and from 8.9 on e4m3 and e5m2"),
        since(8, 9, "mma.sync of e4m3 and e5m2", "with sums of f16 and f32"),
        since(7, 5, "ldmatrix, movmatrix", "matrices of 8 × 8 elements of 16 bits"),
        since(9, 0, "stmatrix", "as `ldmatrix`"),
        since(9, 0, "wgmma.mma_async", "on `sm_90a` only: f16, bf16, tf32, s8, u8, e4m3 and e5m2, with A in registers or in shared memory; all swizzles; not sparse, and not of single bits"),
        since(9, 0, "wgmma.fence, wgmma.commit_group, wgmma.wait_group", "a product arrives at the wait for its group"),
    ]),
    ("Lanes of a warp", &[
        other("shfl.sync, vote.sync", "all modes; before sm_70 also without `.sync`"),
        since(7, 0, "match.sync", "`any` and `all`, of 32 and 64 bits"),
        since(8, 0, "redux.sync", "integers of 32 bits"),
        other("activemask, bar.warp.sync", "all of it"),
        since(9, 0, "elect.sync", "elects the lowest of the lanes"),
    ]),
    ("Threads of a block, order of memory", &[
        other("bar, barrier", "`sync`, `arrive` and `red`, with a number of threads"),
        since(9, 0, "barrier.cluster", "`arrive` and `wait`, with and without `.aligned`; `.relaxed`"),
        since(9, 0, "mapa, getctarank", "addresses in shared memory and generic ones"),
        other("membar, fence", "every scope; what `fence.proxy.async` and `fence.mbarrier_init` order is checked"),
        since(8, 0, "mbarrier", "`init`, `inval`, `arrive`, `arrive_drop`, `test_wait`, `pending_count`, from 9.0 on also `expect_tx`, `complete_tx` and `try_wait`, arrivals at other blocks of the cluster, and `.relaxed`"),
    ]),
    ("Flow of control", &[
        other("bra, brx.idx, call, ret, exit", "functions of the module, also through pointers; also recursive; of the system's functions `vprintf`, `__assertfail`, `malloc` and `free`"),
        other("trap, brkpt", "end the kernel with an error"),
        other("nanosleep", "accepted; no time passes"),
        since(9, 0, "griddepcontrol", "accepted; a launch begins when the one before it has ended"),
        since(9, 0, "setmaxnreg", "takes registers from the block's, which are those of its launch, and gives them back"),
    ]),
    ("Put together from rows of the table", &[
        other("set", "comparisons into a register, of one value or of pairs of f16 and bf16, with a predicate to combine with"),
        other("lop3.or, lop3.and", "with a predicate that says whether the result is not zero, combined with another one"),
        other("setp", "with two destinations, with a predicate to combine with, of pairs of f16 and bf16"),
    ]),
];

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
