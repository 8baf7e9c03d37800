//! A proof that two texts compile to the same kernel, up to names of registers and the order of instructions that do not depend on each other.
//!
//! [`is_same`] walks through both kernels side by side. It assumes of two registers that they hold the same value, and then has to show it of
//! the instructions that set them. If it returns true, each thread of both kernels does the same loads, stores, barriers and jumps, with the same
//! values. If it returns false, they may still be equivalent.

use std::collections::{HashMap, HashSet};

use ptx::ast::{Function, Instruction, Module, StateSpace, Statement, Variable};

/// Instructions that only compute a value from registers.
const PURE: [&str; 40] = [
    "abs", "add", "addc", "and", "bfe", "bfi", "bfind", "brev", "clz", "cnot", "copysign", "cos", "cvt", "cvta", "div", "dp2a",
    "dp4a", "ex2", "fma", "lg2", "lop3", "mad", "max", "min", "mov", "mul", "neg", "not", "or", "popc", "prmt", "rcp", "rem",
    "rsqrt", "sad", "selp", "set", "setp", "sin", "slct",
];
const MORE_PURE: [&str; 9] = ["shf", "shl", "shr", "sqrt", "sub", "subc", "szext", "tanh", "xor"];

/// Returns true if the kernels of two modules are the same. An array in shared memory may be larger in the second one.
pub fn is_same(one: &Module<'_>, other: &Module<'_>) -> bool {
    let variables = |module: &Module<'_>| -> Vec<String> {
        let own = module.variables.iter().filter(|variable| !variable.name.contains("INTERNAL"));
        own.map(|variable| module.text[variable.span.clone()].to_owned()).collect()
    };
    variables(one) == variables(other)
        && one.functions.len() == other.functions.len()
        && one.functions.iter().zip(&other.functions).all(|(first, second)| {
            let sides = (Code::of(one.text, first), Code::of(other.text, second));
            first.name == second.name && first.params.len() == second.params.len() && Pairs::are_same(&sides.0, &sides.1)
        })
}

/// An instruction at its place.
struct Step<'m> {
    opcode: &'m str,
    /// Registers, numbers and names in order.
    words: Vec<&'m str>,
    block: usize,
    /// How many instructions before it in its block a load must stay behind.
    epoch: usize,
    is_anchored: bool,
    /// The register that it sets, if it sets a single one and nothing else.
    sets: Option<&'m str>,
    /// How often each of its registers was set before in its block.
    versions: Vec<usize>,
}

struct Code<'m> {
    steps: Vec<Step<'m>>,
    labels: HashMap<&'m str, usize>,
    /// The instructions that set each register, in order.
    setters: HashMap<&'m str, Vec<usize>>,
    arrays: Vec<(&'m str, StateSpace, u64, Option<u64>)>,
}

impl<'m> Code<'m> {
    fn of(text: &'m str, function: &'m Function<'_>) -> Self {
        let mut code = Self { steps: Vec::new(), labels: HashMap::new(), setters: HashMap::new(), arrays: Vec::new() };
        let (mut block, mut epochs) = (0, [0; 3]);
        let mut set_here: HashMap<&str, usize> = HashMap::new();
        for statement in function.body.iter().flatten() {
            match statement {
                Statement::Label(name) => {
                    (block, epochs) = (block + 1, [0; 3]);
                    set_here.clear();
                    code.labels.insert(&text[span_of(text, name)], block);
                }
                Statement::Variable(Variable { space, name, align, bytes, .. }) => {
                    code.arrays.push((&text[span_of(text, name)], *space, *align, *bytes));
                }
                Statement::Instruction(instruction) => {
                    let step = Step::of(text, instruction, block, &mut epochs, &set_here);
                    for register in step.written() {
                        *set_here.entry(register).or_default() += 1;
                        code.setters.entry(register).or_default().push(code.steps.len());
                    }
                    let ends = instruction.opcode.starts_with("bra") || matches!(instruction.opcode, "ret" | "exit");
                    code.steps.push(step);
                    if ends {
                        (block, epochs) = (block + 1, [0; 3]);
                        set_here.clear();
                    }
                }
                _ => {}
            }
        }
        code
    }
}

/// Returns where a part of a text is in it.
fn span_of(text: &str, part: &str) -> std::ops::Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// Returns true for a register, but not for one of the special registers.
fn is_register(word: &str) -> bool {
    word.starts_with('%')
        && word.ends_with(|last: char| last.is_ascii_digit())
        && !word.contains('.')
        && !word.starts_with("%envreg")
}

impl<'m> Step<'m> {
    fn of(
        text: &'m str,
        instruction: &Instruction<'_>,
        block: usize,
        epochs: &mut [usize; 3],
        set_here: &HashMap<&str, usize>,
    ) -> Self {
        let opcode = &text[span_of(text, instruction.opcode)];
        let is_part =
            |letter: char| letter.is_alphanumeric() || matches!(letter, '%' | '_' | '$' | '.' | '-' | '+' | '!' | '[' | '{');
        let words: Vec<&str> =
            text[instruction.span.clone()].split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).collect();
        // `[%rd1+8]` is three words.
        let words: Vec<&str> = words.into_iter().flat_map(|word| word.split_inclusive(['[', '+', '!', '{'])).collect();
        let words: Vec<&str> = words
            .into_iter()
            .flat_map(|word| match word.strip_suffix(['+', '[', '!', '{']) {
                Some(before) if !before.is_empty() => vec![before, &word[before.len()..]],
                _ => vec![word],
            })
            .collect();
        let name = opcode.split('.').next().unwrap_or_default();
        let is_pure = PURE.contains(&name) || MORE_PURE.contains(&name);
        let is_load = name == "ld" && !opcode.contains("volatile") && !opcode.contains("relaxed") && !opcode.contains("acquire");
        // Parameters and constants do not change, nor does what is read through the cache for constant data.
        let is_free = is_pure || (is_load && (opcode.contains(".param") || opcode.contains(".nc") || opcode.contains(".const")));
        let is_anchored = instruction.guard.is_some() || !(is_pure || is_load);
        let space = |opcode: &str| [".global", ".shared"].iter().position(|space| opcode.contains(space)).unwrap_or(2);
        let epoch = if is_free || is_anchored { 0 } else { epochs[space(opcode)] };
        if is_anchored && !opcode.starts_with("bra") {
            // A plain store changes one kind of memory; anything else may order everything.
            match (name, space(opcode)) {
                ("st", at @ 0..2) => (epochs[at] += 1, epochs[2] += 1),
                _ => (epochs.iter_mut().for_each(|epoch| *epoch += 1), ()),
            };
        }
        let versions = words.iter().map(|word| set_here.get(word).copied().unwrap_or(0)).collect();
        let has_one = !is_anchored && instruction.operands.first().is_some_and(|first| matches!(first, ptx::ast::Operand::Name(_)));
        let sets = has_one.then(|| words.iter().copied().find(|word| is_register(word))).flatten();
        Self { opcode, words, block, epoch, is_anchored, sets, versions }
    }

    /// Returns the registers that it sets; of an instruction that is not simple, all that it names.
    fn written(&self) -> Vec<&'m str> {
        let sets_none = ["st", "bra", "bar", "barrier", "membar", "fence", "ret", "exit", "red", "cp"];
        match self.sets {
            Some(register) => vec![register],
            None if self.is_anchored && sets_none.contains(&self.opcode.split('.').next().unwrap_or_default()) => Vec::new(),
            None => self.words.iter().copied().filter(|word| is_register(word)).collect(),
        }
    }
}

/// The pairs of registers that are assumed to be equal.
struct Pairs<'c, 'm> {
    sides: [&'c Code<'m>; 2],
    assumed: HashSet<(&'m str, &'m str)>,
    shown: HashSet<(usize, usize)>,
    /// Pairs of instructions that are still to be compared.
    open: Vec<(usize, usize)>,
}

impl<'c, 'm> Pairs<'c, 'm> {
    fn are_same(one: &'c Code<'m>, other: &'c Code<'m>) -> bool {
        let arrays = one.arrays.len() == other.arrays.len()
            && one.arrays.iter().zip(&other.arrays).all(|(a, b)| {
                (a.0, a.1, a.2) == (b.0, b.1, b.2) && if a.1 == StateSpace::Shared { a.3 <= b.3 } else { a.3 == b.3 }
            });
        let anchored = |code: &Code<'_>| -> Vec<usize> { (0..code.steps.len()).filter(|at| code.steps[*at].is_anchored).collect() };
        let opcodes = |code: &Code<'m>| {
            let mut opcodes: Vec<_> = code.steps.iter().map(|step| (step.block, step.opcode)).collect();
            opcodes.sort_unstable();
            opcodes
        };
        let (first, second) = (anchored(one), anchored(other));
        if !arrays || first.len() != second.len() || opcodes(one) != opcodes(other) {
            return false;
        }
        let open = first.into_iter().zip(second).collect();
        let mut pairs = Self { sides: [one, other], assumed: HashSet::new(), shown: HashSet::new(), open };
        while let Some((a, b)) = pairs.open.pop() {
            if pairs.shown.insert((a, b)) && !pairs.are_equal(a, b) {
                return false;
            }
        }
        true
    }

    /// Compares two instructions. What it assumes of their registers becomes a pair to compare.
    fn are_equal(&mut self, a: usize, b: usize) -> bool {
        let (one, other) = (&self.sides[0].steps[a], &self.sides[1].steps[b]);
        let same_place =
            (one.opcode, one.block, one.epoch, one.words.len()) == (other.opcode, other.block, other.epoch, other.words.len());
        same_place
            && (0..one.words.len()).all(|at| match (one.words[at], other.words[at]) {
                (first, second) if is_register(first) && is_register(second) => {
                    one.versions[at] == other.versions[at] && self.assume(first, second)
                }
                (first, second) => match (self.sides[0].labels.get(first), self.sides[1].labels.get(second)) {
                    (None, None) => first == second,
                    (first, second) => first == second,
                },
            })
    }

    /// Assumes that two registers are equal, and asks for the proof.
    fn assume(&mut self, first: &'m str, second: &'m str) -> bool {
        if !self.assumed.insert((first, second)) {
            return true;
        }
        let [Some(one), Some(other)] = [self.sides[0].setters.get(first), self.sides[1].setters.get(second)] else { return false };
        self.open.extend(one.iter().copied().zip(other.iter().copied()));
        one.len() == other.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if two bodies of a kernel are the same.
    fn are(one: &str, other: &str) -> bool {
        let module = |body: &str| {
            format!(
                ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n.reg .pred %p<9>;\n.reg .b32 %r<99>;\n\
                 .reg .b64 %rd<9>;\n.shared .align 4 .b8 s[64];\n{body}\nret;\n}}\n"
            )
        };
        let (one, other) = (module(one), module(other));
        is_same(&ptx::parse(&one).unwrap(), &ptx::parse(&other).unwrap())
    }

    #[test]
    fn names_and_the_order_of_independent_instructions_do_not_matter() {
        let one = "mov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 1;\nmul.lo.s32 %r3, %r1, 3;\nsub.s32 %r4, %r2, %r3;\nst.shared.u32 [s+4], %r4;";
        let other = "mov.u32 %r7, %tid.x;\nmul.lo.s32 %r1, %r7, 3;\nadd.s32 %r9, %r7, 1;\nsub.s32 %r2, %r9, %r1;\nst.shared.u32 [s+4], %r2;";
        assert!(are(one, other));
        for (text, instead) in
            [("%r9, %r1", "%r1, %r9"), ("%r7, 1", "%r7, 2"), ("[s+4]", "[s+8]"), ("%r7, 3", "%r9, 3"), ("sub", "add")]
        {
            assert!(other.contains(text) && !are(one, &other.replace(text, instead)), "{text}");
        }
    }

    #[test]
    fn barriers_stores_and_loads_keep_their_order() {
        let one = "mov.u32 %r1, 1;\nst.shared.u32 [s], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [s+4];\nst.shared.u32 [s+8], %r2;";
        assert!(are(one, one));
        assert!(!are(one, &one.replace("bar.sync 0;\n", "")));
        let load = "ld.shared.u32 %r2, [s+4];\n";
        assert!(!are(one, &one.replace(load, "").replace("bar.sync", &format!("{load}bar.sync"))));
        assert!(!are(one, &one.replace(load, "").replace("st.shared.u32 [s],", &format!("{load}st.shared.u32 [s],"))));
        // A store to other memory is no obstacle.
        let [a, b] =
            ["ld.shared.u32 %r2, [s];\nst.global.u32 [%rd1], %r1;\n", "st.global.u32 [%rd1], %r1;\nld.shared.u32 %r2, [s];\n"]
                .map(|middle| format!("mov.u32 %r1, 1;\nmov.u64 %rd1, 8;\n{middle}st.shared.u32 [s], %r2;"));
        assert!(are(&a, &b));
    }

    #[test]
    fn variables_of_a_loop_are_compared_where_they_are_set() {
        let one = "mov.u32 %r1, 0;\nmov.u32 %r2, 5;\n$A:\nadd.s32 %r2, %r2, %r1;\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra $A;\n\
                   st.shared.u32 [s], %r2;";
        let swapped = "mov.u32 %r7, 5;\nmov.u32 %r8, 0;\n$B:\nadd.s32 %r7, %r7, %r8;\nadd.s32 %r8, %r8, 1;\nsetp.lt.u32 %p2, %r8, 9;\n@%p2 bra $B;\n\
                       st.shared.u32 [s], %r7;";
        assert!(are(one, swapped));
        let later =
            swapped.replace("add.s32 %r7, %r7, %r8;\nadd.s32 %r8, %r8, 1;\n", "add.s32 %r8, %r8, 1;\nadd.s32 %r7, %r7, %r8;\n");
        assert!(!are(one, &later), "the sum sees the counter of the next iteration");
        assert!(!are(one, &swapped.replace("%r7, 5", "%r7, 6")) && !are(one, &swapped.replace("%r8, 9", "%r8, 8")));
    }
}
