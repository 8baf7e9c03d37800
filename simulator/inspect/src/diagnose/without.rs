//! PTX with its loads taken out: each gives the kernel a value that costs nothing, and everything else stays.
//!
//! # What stands in the place of a loaded value
//!
//! It must cost no instruction, or nearly none; the compiler must not know it, or it computes with it in advance; and values that were
//! different must stay so, or it finds that two sums are the same and adds up one of them. So a load from the very address in a register
//! gives this address, or its low half, which is there already and changes from turn to turn. The other loads, and the further elements
//! of a vector, give one of `POOL` numbers that the kernel works out at its start from the thread's place in its block and the block's
//! in the grid. As floats these are between 1 and 2.
//!
//! Numbers that are the same in every turn will do for multiply-adds, since the sum changes. Other arithmetic with them, a shift for
//! instance, the compiler would do once, before the loop. Where a value goes into such, and where it is narrower than a word, one
//! instruction stands in the place of the load: it mixes a number with the address, and cuts it to the width.
//!
//! Whether the arithmetic is still there was checked in machine code, that of every kernel of chapters 01 to 04 by the assembler of CUDA
//! 13.0 for `sm_90`: as many multiply-adds, byte products and products of tensor cores as before.
//!
//! # Why only loads are taken out, and not the arithmetic
//!
//! Without the arithmetic nobody uses what was loaded, and then the assembler takes the loads out as well: the experiment would show a
//! kernel that does nothing. Which part of its arithmetic a kernel can do without, only its author knows; that is what
//! [`common::stage::Experiment`] is for.
//!
//! # What stays
//!
//! Loads whose values decide about addresses or branches ([`super::steering`]); stores, atomic operations and barriers; loads from constant
//! and local memory and from the kernel's parameters.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::ops::Range;

use simt::ptx::ast::{Base, Function, Instruction, Operand, Statement, Type};
use thiserror::Error;

use super::steering::{Steering, has, instructions, registers, root};

/// Numbers that a kernel has at hand for the values of loads that are gone. Each is a register for as long as the kernel runs.
const POOL: usize = 8;

/// Which loads are taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// From global memory, with copies from there to shared memory that the threads do not wait for.
    Global,
    /// From shared memory.
    Shared,
    /// Both.
    Both,
}

/// Kernels without some of their loads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// The modules' texts in the order in which they were given.
    pub texts: Vec<String>,
    /// Instructions taken out.
    pub taken: usize,
    /// Loads of that kind that stay, because addresses or branches depend on them.
    pub kept: usize,
}

/// Why loads cannot be taken out.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// The text is not understood.
    #[error("the PTX cannot be read: {0}")]
    Syntax(String),
    /// A load that is not understood.
    #[error("{kernel} has {instruction}, which cannot be replaced")]
    Instruction {
        /// The kernel.
        kernel: String,
        /// The opcode.
        instruction: String,
    },
    /// There is nothing to take out.
    #[error("it has none")]
    None,
    /// What there is has to stay.
    #[error("addresses or branches depend on {0}")]
    Steering(String),
}

/// Takes loads out of kernels that one stage launches: the texts of modules, each with the names of its kernels.
///
/// # Errors
///
/// [`Refusal`], when there is nothing to take out or when it cannot be done.
pub fn without(modules: &[(&str, Vec<&str>)], loads: Loads) -> Result<Without, Refusal> {
    let trees = modules.iter().map(|(text, _)| simt::ptx::parse(text).map_err(|error| Refusal::Syntax(error.to_string())));
    let trees = trees.collect::<Result<Vec<_>, _>>()?;
    let mut kernels: Vec<(usize, &Function<'_>)> = Vec::new();
    for (module, (tree, (_, names))) in trees.iter().zip(modules).enumerate() {
        kernels.extend(tree.functions.iter().filter(|function| names.contains(&function.name)).map(|function| (module, function)));
    }
    let functions: Vec<&Function<'_>> = kernels.iter().map(|(_, function)| *function).collect();
    let steering = Steering::of(&functions);

    let mut edits: Vec<Vec<(Range<usize>, String)>> = vec![Vec::new(); modules.len()];
    let mut without = Without::default();
    for (index, (module, function)) in kernels.iter().enumerate() {
        let mut kernel = Kernel::new(modules[*module].0, function);
        for (at, instruction) in instructions(function).enumerate() {
            match kernel.replacement(instruction, loads)? {
                None => {}
                Some(_) if steering.needs(index, at) => without.kept += 1,
                Some(replacement) => {
                    edits[*module].push((kernel.span(instruction), replacement));
                    without.taken += 1;
                }
            }
        }
        edits[*module].extend(kernel.head());
    }
    match without {
        Without { taken: 0, kept: 0, .. } => return Err(Refusal::None),
        Without { taken: 0, kept, .. } => {
            return Err(Refusal::Steering(if kept == 1 { "the only one".to_owned() } else { format!("all {kept} of them") }));
        }
        _ => {}
    }
    without.texts = modules.iter().zip(edits).map(|((text, _), edits)| apply(text, edits)).collect();
    Ok(without)
}

/// The text with other text in these places, which do not overlap.
fn apply(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for (span, replacement) in edits {
        edited.push_str(&text[at..span.start]);
        edited.push_str(&replacement);
        at = span.end;
    }
    edited + &text[at..]
}

/// A kernel whose loads are replaced.
struct Kernel<'a, 't> {
    text: &'t str,
    function: &'a Function<'t>,
    /// Width in bytes of registers that are declared with a number, by the name before it, and of those that are not.
    widths: HashMap<&'t str, u32>,
    /// Registers whose value goes elsewhere than into multiply-adds and memory.
    mixed: HashSet<&'t str>,
    /// Values taken from the pool so far.
    used: usize,
}

impl<'a, 't> Kernel<'a, 't> {
    fn new(text: &'t str, function: &'a Function<'t>) -> Self {
        let declared = function.body.iter().flatten().filter_map(|statement| match statement {
            Statement::Registers(registers) => match registers.ty {
                Type::Bytes(width) => Some((registers.name, width)),
                Type::Pred => None,
            },
            _ => None,
        });
        let others = instructions(function).filter(|instruction| !matches!(root(instruction), "fma" | "dp4a" | "mma" | "st"));
        let mixed =
            others.flat_map(|instruction| instruction.operands.iter().skip(1)).flat_map(|operand| registers(operand).values);
        Self { text, function, widths: declared.collect(), mixed: mixed.collect(), used: 0 }
    }

    /// What stands in the place of an instruction, behind its guard; `None` for those that are not meant.
    fn replacement(&mut self, instruction: &Instruction<'t>, loads: Loads) -> Result<Option<String>, Refusal> {
        let (global, shared) = (loads != Loads::Shared, loads != Loads::Global);
        let has = |modifier| has(instruction, modifier);
        let root = root(instruction);
        let is_load = matches!(root, "ld" | "ldu" | "ldmatrix") || (root == "wmma" && has("load"));
        let is_meant = match root {
            // What the function loads is not looked into.
            "call" => true,
            "tex" | "tld4" | "suld" => global,
            "cp" => global && (has("bulk") || (has("shared") && has("global"))),
            _ if !is_load || ["const", "param", "local"].into_iter().any(has) => false,
            _ if has("global") => global,
            _ if has("shared") => shared,
            // Through a pointer to any memory.
            _ => true,
        };
        if !is_meant {
            return Ok(None);
        }
        let replacement = match root {
            // The end of a bulk copy is waited for; without the copy the wait would not end.
            "cp" if !has("bulk") => Some("mov.b32 %taken_low, %taken_low;".to_owned()),
            _ if is_load && (has("global") || has("shared")) => self.values(instruction),
            _ => None,
        };
        let (kernel, opcode) = (self.function.name, instruction.opcode);
        replacement.map(Some).ok_or_else(|| Refusal::Instruction { kernel: kernel.to_owned(), instruction: opcode.to_owned() })
    }

    /// Instructions that give each result of a load a value; `None` when its form is not known.
    fn values(&mut self, instruction: &Instruction<'t>) -> Option<String> {
        let results = registers(instruction.operands.first()?).values;
        let (base, offset) = match instruction.operands.get(1)? {
            Operand::Address(Base::Name(name), offset) => (Some(*name).filter(|name| self.width(name).is_some()), *offset),
            _ => return None,
        };
        let guard =
            instruction.guard.map_or(String::new(), |guard| format!("@{}{} ", if guard.negated { "!" } else { "" }, guard.name));
        // Of matrices, each register holds a word.
        let is_matrix = !matches!(root(instruction), "ld" | "ldu");
        if is_matrix && results.iter().any(|result| self.width(result) != Some(4)) {
            return None;
        }
        let bytes = if is_matrix { 4 } else { element_bytes(instruction.opcode)? };
        let mut steps = Vec::new();
        for (index, result) in results.iter().enumerate().filter(|(_, result)| **result != "_") {
            let in_register = index == 0 && offset == 0 && bytes >= 4;
            match base.filter(|_| in_register) {
                Some(base) => steps.push(self.address(base, result)?),
                None => steps.extend(self.value(base, bytes, result)?),
            }
        }
        Some(steps.join(&format!(" {guard}")))
    }

    /// The address itself as a value: its low half, where the value has no room for more.
    fn address(&self, base: &str, result: &str) -> Option<String> {
        Some(match (self.width(base)?, self.width(result)?) {
            (8, 4) => format!("mov.b64 {{{result}, %taken_high}}, {base};"),
            (8, 8) => format!("mov.b64 {result}, {base};"),
            (4, 4) => format!("mov.b32 {result}, {base};"),
            (4, 8) => format!("cvt.u64.u32 {result}, {base};"),
            _ => return None,
        })
    }

    /// A value from the pool; one that is not as wide as a word, or goes elsewhere than into multiply-adds, is mixed with the address.
    fn value(&mut self, base: Option<&str>, bytes: u32, result: &str) -> Option<Vec<String>> {
        let mut steps = Vec::new();
        let mut word = self.pool();
        if bytes < 4 || self.mixed.contains(result) {
            let mask = match bytes {
                1 => "127",
                2 => "32767",
                _ => "-1",
            };
            let low = match base.map(|base| (base, self.width(base))) {
                Some((base, Some(8))) => {
                    steps.push(format!("mov.b64 {{%taken_low, %taken_high}}, {base};"));
                    "%taken_low"
                }
                Some((base, _)) => base,
                None => "%taken_seed",
            };
            // (low ^ word) & mask
            steps.push(format!("lop3.b32 %taken_low, {low}, {word}, {mask}, 0x28;"));
            word = "%taken_low".to_owned();
        }
        steps.push(match (bytes, self.width(result)?) {
            (1 | 2, 2) => format!("cvt.u16.u32 {result}, {word};"),
            (1 | 2 | 4, 4) => format!("mov.b32 {result}, {word};"),
            (1 | 2 | 4, 8) => format!("cvt.u64.u32 {result}, {word};"),
            (8, 8) => format!("mov.b64 {result}, {{{word}, {}}};", self.pool()),
            _ => return None,
        });
        Some(steps)
    }

    /// The next value of the pool.
    fn pool(&mut self) -> String {
        self.used += 1;
        format!("%taken{}", (self.used - 1) % POOL)
    }

    /// Width in bytes of a register; `None` for what is no register.
    fn width(&self, name: &str) -> Option<u32> {
        let numbered = name.trim_end_matches(|c: char| c.is_ascii_digit());
        self.widths.get(name).or_else(|| self.widths.get(numbered)).copied()
    }

    /// The instruction in the text, without its guard.
    fn span(&self, instruction: &Instruction<'t>) -> Range<usize> {
        let start = self.offset(instruction.opcode);
        let length = self.text[start..].find(';').map_or(0, |at| at + 1);
        start..start + length
    }

    /// Where a name that borrows from the text stands in it.
    fn offset(&self, name: &'t str) -> usize {
        name.as_ptr() as usize - self.text.as_ptr() as usize
    }

    /// Works out the pool, behind the opening brace.
    fn head(&self) -> Option<(Range<usize>, String)> {
        let start = self.offset(self.function.name);
        let brace = start + self.text[start..].find('{')? + 1;
        let mut head = format!("\n.reg .b32 %taken<{POOL}>;\n.reg .b32 %taken_low, %taken_high, %taken_seed;\n");
        head += "mov.u32 %taken_low, %tid.x;\nmov.u32 %taken_seed, %ctaid.x;\n";
        let mut term = "%taken_low";
        for index in 0..self.used.min(POOL) {
            // A linear congruential generator (Numerical Recipes' constants), its upper bits as the fraction of a float between 1 and 2.
            let _ = write!(
                head,
                "mad.lo.u32 %taken_seed, %taken_seed, 1664525, {term};\nshr.u32 %taken{index}, %taken_seed, 9;\n\
                 or.b32 %taken{index}, %taken{index}, 0x3f800000;\n"
            );
            term = "1013904223";
        }
        Some((brace..brace, head))
    }
}

/// Bytes of an element that `ld` loads, by its last modifier.
fn element_bytes(opcode: &str) -> Option<u32> {
    let (_, ty) = opcode.rsplit_once('.')?;
    match ty.trim_start_matches(|c: char| c.is_ascii_alphabetic()) {
        "8" => Some(1),
        "16" => Some(2),
        "32" => Some(4),
        "64" => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A module with a kernel of this body; pointers are in `%rd1` and `%rd2`.
    fn module(body: &str) -> String {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n.reg .pred %p<4>;\n\
             .reg .b16 %rs<4>;\n.reg .f32 %f<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f64 %fd<4>;\n.shared .align 16 .b8 s[64];\n\
             ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\n{body}\nret;\n}}\n"
        )
    }

    /// The body without loads, and how many were taken out and kept.
    fn taken(body: &str, loads: Loads) -> Result<(String, usize, usize), Refusal> {
        let text = module(body);
        let without = without(&[(&text, vec!["k"])], loads)?;
        simt::Module::parse(&without.texts[0]).unwrap_or_else(|error| panic!("{error} in\n{}", without.texts[0]));
        let (_, rest) = without.texts[0].split_once("ld.param.u64 %rd2, [q];\n").unwrap();
        Ok((rest.trim_end_matches("\nret;\n}\n").to_owned(), without.taken, without.kept))
    }

    #[test]
    fn in_the_place_of_a_load_stands_a_value_that_the_compiler_does_not_know() {
        let cases = [
            // From an address in a register: its low half; 64 bits have room for all of it.
            ("ld.global.f32 %f1, [%rd1];", "mov.b64 {%f1, %taken_high}, %rd1;"),
            ("ld.global.nc.f64 %fd1, [%rd1];", "mov.b64 %fd1, %rd1;"),
            ("ld.global.u32 %rd3, [%rd1];", "mov.b64 %rd3, %rd1;"),
            // From beside it: a value of the pool.
            ("ld.global.f32 %f1, [%rd1+4];", "mov.b32 %f1, %taken0;"),
            ("ld.global.u64 %rd3, [%rd1+8];", "mov.b64 %rd3, {%taken0, %taken1};"),
            // Neighbours in a vector differ.
            ("ld.global.v2.f32 {%f1, %f2}, [%rd1];", "mov.b64 {%f1, %taken_high}, %rd1; mov.b32 %f2, %taken0;"),
            (
                "ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];",
                "mov.b32 %r1, %taken0; mov.b32 %r2, %taken1; mov.b32 %r3, %taken2; mov.b32 %r4, %taken3;",
            ),
            // A byte is a byte, and changes with its address.
            (
                "ld.global.nc.u8 %rs1, [%rd1];",
                "mov.b64 {%taken_low, %taken_high}, %rd1; lop3.b32 %taken_low, %taken_low, %taken0, 127, 0x28; \
                 cvt.u16.u32 %rs1, %taken_low;",
            ),
            (
                "ld.global.s16 %r1, [%rd1+2];",
                "mov.b64 {%taken_low, %taken_high}, %rd1; lop3.b32 %taken_low, %taken_low, %taken0, 32767, 0x28; \
                 mov.b32 %r1, %taken_low;",
            ),
            // Integers that do not go into multiply-adds alone change with their address, or a loop over them would be for nothing.
            (
                "ld.global.u32 %r1, [%rd1+4];\nshl.b32 %r2, %r1, 1;",
                "mov.b64 {%taken_low, %taken_high}, %rd1; lop3.b32 %taken_low, %taken_low, %taken0, -1, 0x28; mov.b32 %r1, %taken_low;\n\
                 shl.b32 %r2, %r1, 1;",
            ),
            // A guard goes with all of it.
            (
                "setp.eq.u64 %p1, %rd1, 0;\n@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];",
                "setp.eq.u64 %p1, %rd1, 0;\n@!%p1 mov.b32 %f1, %taken0; @!%p1 mov.b32 %f2, %taken1;",
            ),
            // Copies without waiting are not begun.
            (
                "cp.async.ca.shared.global [%rd1], [%rd2], 16;\ncp.async.wait_all;",
                "mov.b32 %taken_low, %taken_low;\ncp.async.wait_all;",
            ),
            // What is not meant stays.
            (
                "ld.global.f32 %f1, [%rd1+4];\nld.shared.f32 %f2, [s];\nst.global.f32 [%rd2], %f1;",
                "mov.b32 %f1, %taken0;\nld.shared.f32 %f2, [s];\nst.global.f32 [%rd2], %f1;",
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(taken(body, Loads::Global), Ok((expected.to_owned(), 1, 0)), "{body}");
        }
        let both = "ld.global.f32 %f1, [%rd1+4];\nld.shared.v2.f32 {%f2, %f3}, [s+8];";
        let (text, ..) = taken(both, Loads::Both).unwrap();
        assert_eq!(text, "mov.b32 %f1, %taken0;\nmov.b32 %f2, %taken1; mov.b32 %f3, %taken2;");
        let (text, ..) = taken(both, Loads::Shared).unwrap();
        assert_eq!(text, "ld.global.f32 %f1, [%rd1+4];\nmov.b32 %f2, %taken0; mov.b32 %f3, %taken1;");
        // That copies have arrived is still told, though there are none.
        let copies = module("cp.async.cg.shared.global [%rd1], [%rd2], 16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%rd2];");
        assert_eq!(without(&[(&copies, vec!["k"])], Loads::Global).map(|without| without.taken), Ok(1));
        let matrix = "mov.u32 %r5, s;\nldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r5];";
        let (text, ..) = taken(matrix, Loads::Shared).unwrap();
        assert_eq!(text, "mov.u32 %r5, s;\nmov.b32 %r1, %r5; mov.b32 %r2, %taken0;");
    }

    #[test]
    fn loads_that_decide_about_addresses_or_branches_stay() {
        let load = "ld.global.u32 %r1, [%rd1];";
        let decide = [
            // An address, by way of arithmetic; a loop's end; which lanes exchange values; a number of threads at a barrier.
            "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], 0;",
            "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%rd2], 0;",
            "$L: sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $L;",
            "mov.u32 %r2, 0;\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, %r1;",
            "barrier.sync 0, %r1;",
            // An address that another value may replace, or not.
            "setp.eq.u64 %p2, %rd2, 0;\n@%p2 mov.u32 %r1, 3;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n\
             st.global.u32 [%rd4], 0;",
            // By way of shared memory.
            "st.shared.u32 [s], %r1;\nbar.sync 0;\nld.shared.u32 %rd3, [s+4];\nadd.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], 0;",
            // A branch over a store.
            "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $E;\nst.global.u32 [%rd2], 0;\n$E:",
            // A branch over arithmetic that makes an address.
            "setp.eq.u32 %p1, %r1, 0;\nmov.u64 %rd3, 0;\n@%p1 bra $E;\nmov.u64 %rd3, 8;\n$E: add.s64 %rd4, %rd2, %rd3;\n\
             st.global.u32 [%rd4], 0;",
            // A branch over arithmetic, in a loop.
            "mov.u32 %r2, 9;\n$L: setp.eq.u32 %p1, %r1, 0;\n@%p1 bra $E;\nadd.u32 %r3, %r3, 1;\n$E: sub.u32 %r2, %r2, 1;\n\
             setp.ne.u32 %p2, %r2, 0;\n@%p2 bra $L;",
        ];
        for rest in decide {
            assert_eq!(
                taken(&format!("{load}\n{rest}"), Loads::Global),
                Err(Refusal::Steering("the only one".to_owned())),
                "{rest}"
            );
            // Beside one that decides nothing.
            let beside = format!("{load}\n{rest}\nld.global.f32 %f1, [%rd2+4];\nst.local.f32 [%rd2], %f1;");
            let (text, ..) = taken(&beside, Loads::Global)
                .map(|(text, taken, kept)| {
                    assert_eq!((taken, kept), (1, 1), "{rest}");
                    (text, 0)
                })
                .unwrap();
            assert!(text.starts_with(load) && text.contains("mov.b32 %f1, %taken0;"), "{text}");
        }
        let do_not = [
            "st.global.u32 [%rd2], %r1;",
            // The register has another value by then.
            "add.u32 %r2, %r1, 1;\nmov.u32 %r1, 3;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%rd2], %r2;",
            // A choice between values.
            "setp.eq.u32 %p1, %r1, 0;\nselp.b32 %r2, 1, 2, %p1;\nst.global.u32 [%rd2], %r2;",
            // A branch over arithmetic whose result is only stored.
            "setp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 0;\n@%p1 bra $E;\nadd.u32 %r2, %r1, 8;\n$E: st.global.u32 [%rd2], %r2;",
        ];
        for rest in do_not {
            let (_, out, kept) = taken(&format!("{load}\n{rest}"), Loads::Global).unwrap();
            assert_eq!((out, kept), (1, 0), "{rest}");
        }
    }

    #[test]
    fn what_one_kernel_stores_may_decide_in_another() {
        let kernel = |name: &str, body: &str| module(body).replace(".entry k(", &format!(".entry {name}("));
        let writes = kernel("writes", "ld.global.u64 %rd3, [%rd1];\nst.global.u64 [%rd2], %rd3;");
        let reads = kernel("reads", "ld.global.u64 %rd3, [%rd1];\nst.global.u32 [%rd3], 0;");
        assert_eq!(without(&[(&writes, vec!["writes"])], Loads::Global).unwrap().taken, 1);
        let together = without(&[(&writes, vec!["writes"]), (&reads, vec!["reads"])], Loads::Global);
        assert_eq!(together, Err(Refusal::Steering("all 2 of them".to_owned())));
    }

    #[test]
    fn what_is_not_understood_is_refused_and_not_half_done() {
        let refused = |body: &str, loads| taken(body, loads).unwrap_err().to_string();
        for body in [
            "ld.f32 %f1, [%rd1];",
            "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];",
            "call.uni f, ();",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2], 16, [%rd1];",
        ] {
            let opcode = body.split(' ').next().unwrap();
            assert_eq!(refused(body, Loads::Global), format!("k has {opcode}, which cannot be replaced"));
        }
        assert_eq!(refused("st.shared.u32 [s], 1;", Loads::Both), "it has none");
        let texture = "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];\nld.shared.f32 %f1, [s];";
        assert_eq!(without(&[(&module(texture), vec!["k"])], Loads::Shared).map(|without| without.taken), Ok(1));
        assert!(matches!(without(&[("no PTX", vec!["k"])], Loads::Both), Err(Refusal::Syntax(_))));
    }

    #[test]
    fn other_kernels_of_a_module_stay_as_they_are() {
        let one = module("ld.global.f32 %f1, [%rd1];");
        let other = one.split_once(".address_size 64\n").unwrap().1.replace(".entry k(", ".entry other(");
        let without = without(&[(&format!("{one}{other}"), vec!["k"])], Loads::Global).unwrap();
        assert!(without.texts[0].ends_with(&other) && without.taken == 1, "{}", without.texts[0]);
    }
}
