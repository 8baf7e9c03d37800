//! PTX with its loads removed: each load becomes a value that costs nothing, and everything else stays.
//!
//! # What replaces a loaded value
//!
//! The replacement must cost no instruction, or almost none. The compiler must not know its value, or it would compute with it at compile
//! time. Values that were different must stay different, or the compiler would merge sums that have become equal. So a load from exactly the
//! address in a register becomes that address, or its low half, which is already there and changes with each iteration. Other loads, and
//! the further elements of a vector, become one of `POOL` numbers that the kernel computes at its start from the thread's index in its block
//! and the block's index in the grid. As floats these numbers are between 1 and 2.
//!
//! Numbers that are the same in every iteration are good enough for multiply-adds, because the sum changes. But the compiler would move
//! other arithmetic with them, such as a shift, out of the loop. So if a value goes into other arithmetic, or if it is narrower than a word,
//! one instruction replaces the load: it mixes a number with the address and cuts the result to the width.
//!
//! We checked that the arithmetic is still there in the machine code of every kernel of chapters 01 to 04, made by the assembler of CUDA 13.0
//! for `sm_90`: it has as many multiply-adds, byte products, and tensor-core products as before.
//!
//! # Why only loads are removed, and not the arithmetic
//!
//! Without the arithmetic, nothing uses the loaded values, and the assembler removes the loads as well. The experiment would show a kernel
//! that does nothing. Only its author knows which part of its arithmetic a kernel can do without, so chapters bring their own experiments
//! ([`run::stage::Experiment`]).
//!
//! # What stays
//!
//! Loads whose values decide addresses or branches ([`super::steering`]); stores, atomic operations, and barriers; loads from constant and
//! local memory and from the kernel's parameters.

use std::collections::HashSet;
use std::ops::Range;

use ptx::ast::{Function, Instruction, Module, Operand, StateSpace, Type};
use ptx::{edit, parse};
use thiserror::Error;

use super::steering::steering;

/// The numbers that a kernel keeps to replace loaded values. Each occupies a register while the kernel runs.
const POOL: usize = 8;

/// The loads to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// From global memory, including asynchronous copies from there to shared memory.
    Global,
    /// From shared memory.
    Shared,
    /// Both.
    Both,
}

impl Loads {
    /// Returns the name of an experiment without these loads.
    pub fn without(self) -> &'static str {
        match self {
            Loads::Global => "without global loads",
            Loads::Shared => "without shared loads",
            Loads::Both => "without either",
        }
    }
}

/// Kernels without some of their loads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// The modules' texts, in the order in which they were given.
    pub texts: Vec<String>,
    /// The number of removed instructions.
    pub removed: usize,
    /// The number of loads that stay, because addresses or branches depend on them.
    pub kept: usize,
}

/// A reason why loads cannot be removed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Refusal {
    /// The text is not PTX that we can read.
    #[error("the PTX cannot be read: {0}")]
    Syntax(String),
    /// A load that we cannot replace.
    #[error("{kernel} has {instruction}, which cannot be replaced")]
    Instruction {
        /// The kernel.
        kernel: String,
        /// The opcode.
        instruction: String,
    },
    /// There is nothing to remove.
    #[error("it has no such loads")]
    None,
    /// All such loads have to stay.
    #[error("addresses or branches depend on {0}")]
    Steering(String),
}

/// Removes loads from the kernels that one stage launches: the texts of modules, each with the names of its kernels. Refuses if there is
/// nothing to remove, or if it cannot be done.
pub fn without(modules: &[(&str, Vec<&str>)], loads: Loads) -> Result<Without, Refusal> {
    let trees = modules.iter().map(|(text, _)| parse(text).map_err(|error| Refusal::Syntax(error.to_string())));
    let trees = trees.collect::<Result<Vec<_>, _>>()?;
    let mut kernels: Vec<(usize, &Function<'_>)> = Vec::new();
    for (module, (tree, (_, names))) in trees.iter().zip(modules).enumerate() {
        kernels.extend(tree.kernels().filter(|kernel| names.contains(&kernel.name)).map(|kernel| (module, kernel)));
    }
    let functions: Vec<&Function<'_>> = kernels.iter().map(|(_, kernel)| *kernel).collect();
    let steers = steering(&functions);

    let mut edits: Vec<Vec<(Range<usize>, String)>> = vec![Vec::new(); modules.len()];
    let mut without = Without::default();
    for (index, (module, function)) in kernels.iter().enumerate() {
        let mut kernel = Kernel::new(&trees[*module], function);
        for (at, instruction) in function.instructions().enumerate() {
            match kernel.replacement(instruction, loads)? {
                None => {}
                Some(_) if steers[index][at] => without.kept += 1,
                Some(replacement) => {
                    edits[*module].push((instruction.unguarded.clone(), replacement));
                    without.removed += 1;
                }
            }
        }
        edits[*module].extend(kernel.head());
    }
    match without {
        Without { removed: 0, kept: 0, .. } => return Err(Refusal::None),
        Without { removed: 0, kept: 1, .. } => return Err(Refusal::Steering("the only one".to_owned())),
        Without { removed: 0, kept, .. } => return Err(Refusal::Steering(format!("all {kept} of them"))),
        _ => {}
    }
    without.texts = modules.iter().zip(edits).map(|((text, _), edits)| edit(text, edits)).collect();
    Ok(without)
}

/// A kernel whose loads are replaced.
struct Kernel<'a, 't> {
    module: &'a Module<'t>,
    function: &'a Function<'t>,
    /// Registers whose value goes elsewhere than into multiply-adds and memory.
    mixed: HashSet<&'t str>,
    /// The number of values taken from the pool so far.
    used: usize,
}

impl<'a, 't> Kernel<'a, 't> {
    fn new(module: &'a Module<'t>, function: &'a Function<'t>) -> Self {
        let others = function.instructions().filter(|instruction| !matches!(instruction.root(), "fma" | "dp4a" | "mma" | "st"));
        let mixed = others.flat_map(|instruction| instruction.operands.iter().skip(1)).flat_map(Operand::values);
        Self { module, function, mixed: mixed.collect(), used: 0 }
    }

    /// Returns the replacement of an instruction after its guard; `None` for an instruction that stays.
    fn replacement(&mut self, instruction: &Instruction<'t>, loads: Loads) -> Result<Option<String>, Refusal> {
        let spaces = instruction.reads();
        let (root, bulk) = (instruction.root(), instruction.has("bulk"));
        let is_wanted = match root {
            // A function may load anything.
            "call" => true,
            // An atomic operation is more than a load.
            "atom" => false,
            // Instructions that only wait for bulk copies count, too: a kernel that has them is refused.
            "cp" => loads != Loads::Shared && (bulk || spaces == [StateSpace::Global]),
            _ => spaces.iter().any(|space| match space {
                StateSpace::Global => loads != Loads::Shared,
                StateSpace::Shared => loads != Loads::Global,
                _ => false,
            }),
        };
        if !is_wanted {
            return Ok(None);
        }
        let replacement = match root {
            // A kernel waits for the end of a bulk copy; without the copy it would wait forever.
            "cp" if !bulk => Some("mov.b32 %fake_low, %fake_low;".to_owned()),
            "ld" | "ldu" | "ldmatrix" | "wmma" if spaces.len() == 1 => self.values(instruction),
            _ => None,
        };
        let (kernel, opcode) = (self.function.name, instruction.opcode);
        replacement.map(Some).ok_or_else(|| Refusal::Instruction { kernel: kernel.to_owned(), instruction: opcode.to_owned() })
    }

    /// Returns instructions that give each result of a load a value. Returns `None` if the load's form is not known.
    fn values(&mut self, instruction: &Instruction<'t>) -> Option<String> {
        let results = instruction.operands.first()?.values();
        let address = instruction.operands.get(1)?;
        let Operand::Address(_, offset) = address else { return None };
        let base = address.base().filter(|name| self.width(name).is_some());
        let guard = &self.module.text[instruction.span.start..instruction.unguarded.start];
        // Each register of a matrix holds a word.
        let is_matrix = !matches!(instruction.root(), "ld" | "ldu");
        if is_matrix && results.iter().any(|result| self.width(result) != Some(4)) {
            return None;
        }
        let bytes = match instruction.element_type() {
            _ if is_matrix => 4,
            Some(Type::Bytes(bytes)) => bytes,
            Some(Type::Pred) | None => return None,
        };
        let mut steps = Vec::new();
        for (index, result) in results.iter().enumerate().filter(|(_, result)| **result != "_") {
            let in_register = index == 0 && *offset == 0 && bytes >= 4;
            match base.filter(|_| in_register) {
                Some(base) => steps.push(self.address(base, result)?),
                None => steps.extend(self.value(base, bytes, result)?),
            }
        }
        Some(steps.join(&format!(" {guard}")))
    }

    /// Returns the address itself as a value; its low half if the value has no room for more.
    fn address(&self, base: &str, result: &str) -> Option<String> {
        Some(match (self.width(base)?, self.width(result)?) {
            (8, 4) => format!("mov.b64 {{{result}, %fake_high}}, {base};"),
            (8, 8) => format!("mov.b64 {result}, {base};"),
            (4, 4) => format!("mov.b32 {result}, {base};"),
            (4, 8) => format!("cvt.u64.u32 {result}, {base};"),
            _ => return None,
        })
    }

    /// Returns a value from the pool. If it is narrower than a word, or goes elsewhere than into multiply-adds, it is mixed with the address.
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
                    steps.push(format!("mov.b64 {{%fake_low, %fake_high}}, {base};"));
                    "%fake_low"
                }
                Some((base, _)) => base,
                None => "%fake_seed",
            };
            // (low ^ word) & mask
            steps.push(format!("lop3.b32 %fake_low, {low}, {word}, {mask}, 0x28;"));
            word = "%fake_low".to_owned();
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

    /// Returns the next value of the pool.
    fn pool(&mut self) -> String {
        self.used += 1;
        format!("%fake{}", (self.used - 1) % POOL)
    }

    /// Returns the width of a register in bytes; `None` for a name that is not a register.
    fn width(&self, name: &str) -> Option<u32> {
        match self.function.register_type(name)? {
            Type::Bytes(width) => Some(width),
            Type::Pred => None,
        }
    }

    /// Computes the pool at the start of the kernel.
    fn head(&self) -> Option<(Range<usize>, String)> {
        let start = self.function.body_span.as_ref()?.start;
        let mut head = format!("\n.reg .b32 %fake<{POOL}>;\n.reg .b32 %fake_low, %fake_high, %fake_seed;\n");
        head += "mov.u32 %fake_low, %tid.x;\nmov.u32 %fake_seed, %ctaid.x;\n";
        let mut term = "%fake_low";
        for index in 0..self.used.min(POOL) {
            // A linear congruential generator (Numerical Recipes' constants), its upper bits as the fraction of a float between 1 and 2.
            head += &format!(
                "mad.lo.u32 %fake_seed, %fake_seed, 1664525, {term};\nshr.u32 %fake{index}, %fake_seed, 9;\n\
                 or.b32 %fake{index}, %fake{index}, 0x3f800000;\n"
            );
            term = "1013904223";
        }
        Some((start..start, head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a module with a kernel of this body; pointers are in `%rd1` and `%rd2`.
    fn module(body: &str) -> String {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n.reg .pred %p<4>;\n\
             .reg .b16 %rs<4>;\n.reg .f32 %f<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f64 %fd<4>;\n.shared .align 16 .b8 s[64];\n\
             ld.param.u64 %rd1, [p];\nld.param.u64 %rd2, [q];\n{body}\nret;\n}}\n"
        )
    }

    /// Returns the body without loads, and how many were removed and kept.
    fn removed(body: &str, loads: Loads) -> Result<(String, usize, usize), Refusal> {
        let text = module(body);
        let without = without(&[(&text, vec!["k"])], loads)?;
        simt::Module::parse(&without.texts[0]).unwrap_or_else(|error| panic!("{error} in\n{}", without.texts[0]));
        let (_, rest) = without.texts[0].split_once("ld.param.u64 %rd2, [q];\n").unwrap();
        Ok((rest.trim_end_matches("\nret;\n}\n").to_owned(), without.removed, without.kept))
    }

    #[test]
    fn a_load_becomes_a_value_that_the_compiler_does_not_know() {
        let cases = [
            // From an address in a register: its low half; 64 bits have room for all of it.
            ("ld.global.f32 %f1, [%rd1];", "mov.b64 {%f1, %fake_high}, %rd1;"),
            ("ld.global.nc.f64 %fd1, [%rd1];", "mov.b64 %fd1, %rd1;"),
            ("ld.global.u32 %rd3, [%rd1];", "mov.b64 %rd3, %rd1;"),
            // From an address next to it: a value of the pool.
            ("ld.global.f32 %f1, [%rd1+4];", "mov.b32 %f1, %fake0;"),
            ("ld.global.u64 %rd3, [%rd1+8];", "mov.b64 %rd3, {%fake0, %fake1};"),
            // Neighbors in a vector differ.
            ("ld.global.v2.f32 {%f1, %f2}, [%rd1];", "mov.b64 {%f1, %fake_high}, %rd1; mov.b32 %f2, %fake0;"),
            (
                "ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16];",
                "mov.b32 %r1, %fake0; mov.b32 %r2, %fake1; mov.b32 %r3, %fake2; mov.b32 %r4, %fake3;",
            ),
            // A byte is a byte, and changes with its address.
            (
                "ld.global.nc.u8 %rs1, [%rd1];",
                "mov.b64 {%fake_low, %fake_high}, %rd1; lop3.b32 %fake_low, %fake_low, %fake0, 127, 0x28; \
                 cvt.u16.u32 %rs1, %fake_low;",
            ),
            (
                "ld.global.s16 %r1, [%rd1+2];",
                "mov.b64 {%fake_low, %fake_high}, %rd1; lop3.b32 %fake_low, %fake_low, %fake0, 32767, 0x28; \
                 mov.b32 %r1, %fake_low;",
            ),
            // Integers that also go elsewhere than into multiply-adds change with their address, or the compiler would move them out of a loop.
            (
                "ld.global.u32 %r1, [%rd1+4];\nshl.b32 %r2, %r1, 1;",
                "mov.b64 {%fake_low, %fake_high}, %rd1; lop3.b32 %fake_low, %fake_low, %fake0, -1, 0x28; mov.b32 %r1, %fake_low;\n\
                 shl.b32 %r2, %r1, 1;",
            ),
            // A guard applies to every instruction of the replacement.
            (
                "setp.eq.u64 %p1, %rd1, 0;\n@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];",
                "setp.eq.u64 %p1, %rd1, 0;\n@!%p1 mov.b32 %f1, %fake0; @!%p1 mov.b32 %f2, %fake1;",
            ),
            // Asynchronous copies do not start.
            (
                "cp.async.ca.shared.global [%rd1], [%rd2], 16;\ncp.async.wait_all;",
                "mov.b32 %fake_low, %fake_low;\ncp.async.wait_all;",
            ),
            // Other loads stay.
            (
                "ld.global.f32 %f1, [%rd1+4];\nld.shared.f32 %f2, [s];\nst.global.f32 [%rd2], %f1;",
                "mov.b32 %f1, %fake0;\nld.shared.f32 %f2, [s];\nst.global.f32 [%rd2], %f1;",
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(removed(body, Loads::Global), Ok((expected.to_owned(), 1, 0)), "{body}");
        }
        let both = "ld.global.f32 %f1, [%rd1+4];\nld.shared.v2.f32 {%f2, %f3}, [s+8];";
        let (text, ..) = removed(both, Loads::Both).unwrap();
        assert_eq!(text, "mov.b32 %f1, %fake0;\nmov.b32 %f2, %fake1; mov.b32 %f3, %fake2;");
        let (text, ..) = removed(both, Loads::Shared).unwrap();
        assert_eq!(text, "ld.global.f32 %f1, [%rd1+4];\nmov.b32 %f2, %fake0; mov.b32 %f3, %fake1;");
        // The arrival of copies is still signaled, although there are none.
        let copies = module("cp.async.cg.shared.global [%rd1], [%rd2], 16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%rd2];");
        assert_eq!(without(&[(&copies, vec!["k"])], Loads::Global).map(|without| without.removed), Ok(1));
        let matrix = "mov.u32 %r5, s;\nldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r5];";
        let (text, ..) = removed(matrix, Loads::Shared).unwrap();
        assert_eq!(text, "mov.u32 %r5, s;\nmov.b32 %r1, %r5; mov.b32 %r2, %fake0;");
    }

    #[test]
    fn loads_that_steer_stay() {
        let load = "ld.global.u32 %r1, [%rd1];";
        let decide = [
            // An address, through arithmetic; the end of a loop; which lanes exchange values; a number of threads at a barrier.
            "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], 0;",
            "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%rd2], 0;",
            "$L: sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $L;",
            "mov.u32 %r2, 0;\nshfl.sync.bfly.b32 %r3, %r2, 1, 31, %r1;",
            "barrier.sync 0, %r1;",
            // An address that another value may replace, or not.
            "setp.eq.u64 %p2, %rd2, 0;\n@%p2 mov.u32 %r1, 3;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n\
             st.global.u32 [%rd4], 0;",
            // Through shared memory.
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
                removed(&format!("{load}\n{rest}"), Loads::Global),
                Err(Refusal::Steering("the only one".to_owned())),
                "{rest}"
            );
            // Next to a load that steers nothing.
            let two = format!("{load}\n{rest}\nld.global.f32 %f1, [%rd2+4];\nst.local.f32 [%rd2], %f1;");
            let (text, ..) = removed(&two, Loads::Global)
                .map(|(text, removed, kept)| {
                    assert_eq!((removed, kept), (1, 1), "{rest}");
                    (text, 0)
                })
                .unwrap();
            assert!(text.starts_with(load) && text.contains("mov.b32 %f1, %fake0;"), "{text}");
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
            let (_, out, kept) = removed(&format!("{load}\n{rest}"), Loads::Global).unwrap();
            assert_eq!((out, kept), (1, 0), "{rest}");
        }
    }

    #[test]
    fn what_one_kernel_stores_may_steer_another() {
        let kernel = |name: &str, body: &str| module(body).replace(".entry k(", &format!(".entry {name}("));
        let writes = kernel("writes", "ld.global.u64 %rd3, [%rd1];\nst.global.u64 [%rd2], %rd3;");
        let reads = kernel("reads", "ld.global.u64 %rd3, [%rd1];\nst.global.u32 [%rd3], 0;");
        assert_eq!(without(&[(&writes, vec!["writes"])], Loads::Global).unwrap().removed, 1);
        let together = without(&[(&writes, vec!["writes"]), (&reads, vec!["reads"])], Loads::Global);
        assert_eq!(together, Err(Refusal::Steering("all 2 of them".to_owned())));
    }

    #[test]
    fn a_load_of_unknown_form_refuses_the_whole_kernel() {
        let refused = |body: &str, loads| removed(body, loads).unwrap_err().to_string();
        for body in [
            "ld.f32 %f1, [%rd1];",
            "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];",
            "call.uni f, ();",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%rd1], [%rd2], 16, [%rd1];",
        ] {
            let opcode = body.split(' ').next().unwrap();
            assert_eq!(refused(body, Loads::Global), format!("k has {opcode}, which cannot be replaced"));
        }
        assert_eq!(refused("st.shared.u32 [s], 1;", Loads::Both), "it has no such loads");
        let texture = "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];\nld.shared.f32 %f1, [s];";
        assert_eq!(without(&[(&module(texture), vec!["k"])], Loads::Shared).map(|without| without.removed), Ok(1));
        assert!(matches!(without(&[("no PTX", vec!["k"])], Loads::Both), Err(Refusal::Syntax(_))));
    }

    #[test]
    fn other_kernels_of_a_module_stay_as_they_are() {
        let one = module("ld.global.f32 %f1, [%rd1];");
        let other = one.split_once(".address_size 64\n").unwrap().1.replace(".entry k(", ".entry other(");
        let without = without(&[(&format!("{one}{other}"), vec!["k"])], Loads::Global).unwrap();
        assert!(without.texts[0].ends_with(&other) && without.removed == 1, "{}", without.texts[0]);
    }
}
