//! Proves that two compiled kernels do the same, so that a slip that changes nothing needs no reason by hand.
//!
//! A number stands for each value: equal operations on equal numbers have equal numbers. Names of registers and the order of independent
//! operations then do not matter. Two kernels are the same if each block of their code has the same effects in the same order and goes on at the
//! same places. A register that several blocks set gets its number by refinement: first, all such registers are taken to be equal, and those that a
//! block sets to different values are told apart until nothing changes. What then is equal in every block stays equal on every way through the code.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use ptx::ast::{Base, Function, Instruction, Module, Operand, Registers, StateSpace, Statement, Variable};

/// Bytes of static shared memory that every GPU has.
const SHARED_BYTES: u64 = 48 << 10;

/// Operations without an effect, by the first part of the opcode.
const PURE: [&str; 45] = [
    "abs", "add", "and", "bfe", "bfi", "bfind", "brev", "clz", "cnot", "copysign", "cos", "cvt", "cvta", "div", "dp2a", "dp4a",
    "ex2", "fma", "lg2", "lop3", "mad", "max", "min", "mov", "mul", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "rsqrt",
    "selp", "set", "setp", "shf", "shl", "shr", "sin", "sqrt", "sub", "tanh", "testp", "xor",
];
/// Those that also give the same with their first two operands exchanged.
const COMMUTATIVE: [&str; 9] = ["add", "and", "fma", "mad", "max", "min", "mul", "or", "xor"];
/// Operations that set a register and are no pure functions.
const SETTING: [&str; 8] = ["activemask", "atom", "ld", "mbarrier", "match", "redux", "shfl", "vote"];
/// Operations that only have effects.
const ACTING: [&str; 8] = ["bar", "barrier", "cp", "fence", "membar", "nanosleep", "red", "st"];
/// Spaces of memory whose accesses are in an order of their own.
const SPACES: [&str; 3] = ["global", "shared", "local"];

/// Returns true if two compiled kernels do the same. The second's arrays in shared memory may be larger.
///
/// A false says nothing: the kernels may be the same for a reason that takes more to see.
pub fn is_same(one: &Module<'_>, other: &Module<'_>, kernel: &str) -> bool {
    let told = [one, other].map(|module| module.kernel(kernel).map(|function| interface(module, function)));
    let arrays = [one, other].map(|module| module.kernel(kernel).map(|function| shared(module, function)).unwrap_or_default());
    let fit = arrays[1].values().sum::<u64>() <= SHARED_BYTES.max(arrays[0].values().sum())
        && arrays[0].len() == arrays[1].len()
        && arrays[0].iter().all(|(name, bytes)| arrays[1].get(name).is_some_and(|other| other >= bytes));
    if told[0].is_none() || told[0] != told[1] || !fit {
        return false;
    }
    if one.canonical(kernel).ok() == other.canonical(kernel).ok() {
        return true;
    }
    let graphs = [one, other]
        .map(|module| module.kernel(kernel).filter(|kernel| module.uses(kernel).functions.is_empty()).and_then(Graph::of));
    let [Some(mut one), Some(mut other)] = graphs else { return false };
    let (mut numbers, mut classes) = (Numbers::default(), 0);
    for graph in [&mut one, &mut other] {
        graph.number(&mut numbers);
        graph.colors.values_mut().for_each(|color| *color = 0);
    }
    loop {
        let said = [one.number(&mut numbers), other.number(&mut numbers)];
        let now = one.colors.values().chain(other.colors.values()).collect::<HashSet<_>>().len();
        if now == classes {
            return said[0].is_some() && said[0] == said[1];
        }
        classes = now;
    }
}

/// Says everything about a kernel but its code: its parameters, its bounds, and its variables without the sizes of those in shared memory.
fn interface(module: &Module<'_>, kernel: &Function<'_>) -> String {
    let params: Vec<_> = kernel.params.iter().map(|param| (param.name, param.bytes)).collect();
    let is_used = |variable: &&Variable<'_>| variable.space != StateSpace::Shared;
    let uses = module.uses(kernel);
    let public = module.variables.iter().filter(|variable| variable.is_public);
    let texts: BTreeSet<&str> =
        uses.variables.iter().copied().chain(public).filter(is_used).map(|variable| &module.text[variable.span.clone()]).collect();
    format!("{params:?} {:?} {:?} {texts:?}", kernel.max_threads, kernel.cluster)
}

/// Returns the arrays in shared memory with their sizes and alignments.
fn shared<'t>(module: &Module<'t>, kernel: &Function<'t>) -> HashMap<(&'t str, u64), u64> {
    let variables = module.uses(kernel).variables;
    let shared = variables.iter().filter(|variable| variable.space == StateSpace::Shared);
    shared.map(|variable| ((variable.name, variable.align), variable.bytes.unwrap_or_default())).collect()
}

/// Numbers of texts. Equal texts have equal numbers.
#[derive(Default)]
struct Numbers(HashMap<String, usize>);

impl Numbers {
    fn of(&mut self, text: String) -> usize {
        // Zero is the number of all that is not yet told apart.
        let next = self.0.len() + 1;
        *self.0.entry(text).or_insert(next)
    }
}

/// A basic block, with the indices of those that may follow.
struct Block<'f, 't> {
    code: Vec<(&'f Instruction<'t>, Scope<'t>)>,
    next: Vec<usize>,
}

/// The names that an inner block declares, with its number.
type Scope<'t> = Vec<(usize, HashSet<&'t str>)>;

/// The code of a kernel, in the order of a walk.
struct Graph<'f, 't> {
    blocks: Vec<Block<'f, 't>>,
    /// For each register that is set, the number of its value where a block begins.
    colors: HashMap<String, usize>,
}

impl<'f, 't> Graph<'f, 't> {
    /// Returns the code of a kernel, unless something in it is unknown.
    fn of(kernel: &'f Function<'t>) -> Option<Self> {
        let body = kernel.body.as_ref()?;
        let (mut blocks, mut labels, mut scope, mut scopes) =
            (vec![Block { code: Vec::new(), next: Vec::new() }], HashMap::new(), Vec::new(), 0);
        for statement in body {
            match statement {
                Statement::Label(name) => {
                    blocks.push(Block { code: Vec::new(), next: Vec::new() });
                    labels.insert(*name, blocks.len() - 1);
                }
                Statement::Open => {
                    scopes += 1;
                    scope.push((scopes, HashSet::new()));
                }
                Statement::Close => drop(scope.pop()),
                Statement::Registers(Registers { name, count, lanes, .. }) => match (scope.last_mut(), count, lanes) {
                    (None, _, None) => {}
                    (Some((_, names)), None, None) => drop(names.insert(*name)),
                    _ => return None,
                },
                Statement::Instruction(instruction) => {
                    blocks.last_mut()?.code.push((instruction, scope.clone()));
                    if ends(instruction) {
                        blocks.push(Block { code: Vec::new(), next: Vec::new() });
                    }
                }
                Statement::Variable(_) | Statement::Location { .. } => {}
                Statement::Prototype(_) | Statement::Targets { .. } | Statement::Unreadable(_) => return None,
            }
        }
        for at in 0..blocks.len() {
            let last = blocks[at].code.last().map(|(instruction, _)| *instruction).filter(|last| ends(last));
            let goes_on = last.is_none_or(|last| last.guard.is_some()) && at + 1 < blocks.len();
            blocks[at].next.extend(goes_on.then_some(at + 1));
            if let Some(last) = last.filter(|last| last.opcode.starts_with("bra")) {
                let Operand::Name(label) = last.operands.first()? else { return None };
                blocks[at].next.push(*labels.get(label)?);
            }
        }
        // The order of a walk does not depend on where the compiler puts a block.
        let (mut order, mut met) = (Vec::new(), vec![0]);
        while let Some(at) = met.pop() {
            if !order.contains(&at) {
                order.push(at);
                met.extend(blocks[at].next.iter().rev());
            }
        }
        let place = |at: &usize| order.iter().position(|known| known == at).expect("the walk meets what follows");
        let next: Vec<Vec<usize>> = order.iter().map(|&at| blocks[at].next.iter().map(place).collect()).collect();
        let mut taken: Vec<Option<Block<'f, 't>>> = blocks.into_iter().map(Some).collect();
        let blocks =
            order.iter().zip(next).map(|(&at, next)| Block { code: taken[at].take().expect("met once").code, next }).collect();
        Some(Self { blocks, colors: HashMap::new() })
    }

    /// Numbers all values once more, and says what each block does. Returns nothing for an operation that is not known here.
    fn number(&mut self, numbers: &mut Numbers) -> Option<Vec<String>> {
        let mut set: BTreeMap<String, String> = BTreeMap::new();
        let mut said = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let mut run =
                Run { numbers, colors: &self.colors, values: BTreeMap::new(), effects: Default::default(), loads: BTreeSet::new() };
            let mut way = String::new();
            for (instruction, scope) in &block.code {
                if ends(instruction) {
                    // To go on at the next block and to jump there are the same.
                    if instruction.guard.is_some() || !instruction.opcode.starts_with("bra") {
                        way = format!("{}{}", run.guard(instruction, scope), instruction.opcode);
                    }
                } else {
                    run.step(instruction, scope)?;
                }
            }
            let Run { values, effects, loads, .. } = run;
            for (register, value) in values {
                *set.entry(register).or_default() += &format!(" {at}:{value}");
            }
            said.push(format!("{effects:?} {loads:?} {way} {:?}", block.next));
        }
        let colors = set.into_iter().map(|(register, text)| {
            let old = self.colors.get(&register).copied().unwrap_or_default();
            (register, numbers.of(format!("in {old}{text}")))
        });
        self.colors = colors.collect();
        Some(said)
    }
}

/// The values and effects of a block so far.
struct Run<'r> {
    numbers: &'r mut Numbers,
    colors: &'r HashMap<String, usize>,
    values: BTreeMap<String, usize>,
    /// The effects on each of [`SPACES`]. One that may be on any is in all lists.
    effects: [Vec<String>; 3],
    /// Loads may fault, so that they are kept, too, but in no order.
    loads: BTreeSet<String>,
}

impl Run<'_> {
    fn step(&mut self, instruction: &Instruction<'_>, scope: &Scope<'_>) -> Option<()> {
        let opcode = instruction.opcode;
        let kind = opcode.split('.').next().unwrap_or_default();
        let has = |part: &str| opcode.split(['.', ':']).any(|known| known == part);
        let only_acts = ACTING.contains(&kind) || has("init") || has("inval");
        let (to, from) = instruction.operands.split_at(usize::from(!only_acts).min(instruction.operands.len()));
        let mut from: Vec<String> = from.iter().map(|operand| self.operand(operand, scope)).collect::<Option<_>>()?;
        let guard = self.guard(instruction, scope);
        // These set the carry, or a register besides.
        if has("cc") || (has("red") && kind != "red") {
            return None;
        }
        let is_weak = !["volatile", "relaxed", "acquire", "mmio", "release"].into_iter().any(has);
        let value = if PURE.contains(&kind) {
            let commutes = COMMUTATIVE.contains(&kind) || (matches!(kind, "setp" | "set") && (has("eq") || has("ne")));
            if commutes && from.len() >= 2 {
                from[..2].sort_unstable();
            }
            match (kind, &from[..], &instruction.operands[..]) {
                ("mov", [value], [Operand::Name(_), Operand::Name(_)]) => value.clone(),
                _ => format!("{opcode} {from:?}"),
            }
        } else if kind == "ld" && (has("param") || has("const")) {
            format!("{opcode} {from:?}")
        } else if kind == "ld" && is_weak {
            let space = SPACES.iter().position(|space| has(space));
            let version = |at: usize| if space.is_none_or(|space| space == at) { self.effects[at].len() } else { 0 };
            let load = format!("{opcode} {from:?} after {:?}", [version(0), version(1), version(2)]);
            self.loads.insert(format!("{guard}{load}"));
            load
        } else if SETTING.contains(&kind) || only_acts {
            let space = (kind == "st" && is_weak).then(|| SPACES.iter().position(|space| has(space))).flatten();
            let effect = format!("{guard}{opcode} {from:?}");
            let text = format!("{effect} after {:?}", self.effects.each_ref().map(Vec::len));
            self.effects
                .iter_mut()
                .enumerate()
                .filter(|(at, _)| space.is_none_or(|space| space == *at))
                .for_each(|(_, list)| list.push(effect.clone()));
            text
        } else {
            return None;
        };
        for operand in to {
            self.set(operand, scope, &guard, &value, 0)?;
        }
        Some(())
    }

    /// Sets the registers of an operand to the parts of a value.
    fn set(&mut self, operand: &Operand<'_>, scope: &Scope<'_>, guard: &str, value: &str, part: usize) -> Option<()> {
        match operand {
            Operand::Name(name) => {
                let name = unique(name, scope);
                let new = if value.starts_with('#') && part == 0 { value.to_owned() } else { format!("{value} part {part}") };
                let new = if guard.is_empty() { new } else { format!("{guard} ? {new} : #{}", self.register(name.clone())) };
                let number = match new.strip_prefix('#') {
                    Some(number) => number.parse().ok()?,
                    None => self.numbers.of(new),
                };
                self.values.insert(name, number);
            }
            Operand::Vector(all) => {
                all.iter().enumerate().try_for_each(|(at, one)| self.set(one, scope, guard, value, part + at))?
            }
            Operand::Pair(one, other) => {
                self.set(&Operand::Name(one), scope, guard, value, 0)?;
                self.set(&Operand::Name(other), scope, guard, value, 1)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns the number of a register's value now. Something that nothing sets is its name.
    fn register(&mut self, name: String) -> usize {
        let known = self.values.get(&name).or_else(|| self.colors.get(&name)).copied();
        known.unwrap_or_else(|| self.numbers.of(format!("name {name}")))
    }

    fn operand(&mut self, operand: &Operand<'_>, scope: &Scope<'_>) -> Option<String> {
        let mut name = |name: &str| {
            (!name.starts_with("%clock") && !name.starts_with("%globaltimer")).then(|| self.register(unique(name, scope)))
        };
        Some(match operand {
            Operand::Name(register) => format!("#{}", name(register)?),
            Operand::Not(register) => format!("!{}", name(register)?),
            Operand::Negative(register) => format!("-{}", name(register)?),
            Operand::Offset(base, offset) => format!("{}+{offset}", name(base)?),
            Operand::Address(Base::Name(base), offset) => format!("[{}+{offset}]", name(base)?),
            Operand::Address(Base::Absolute, offset) => format!("[{offset}]"),
            Operand::Integer(bits) => format!("i{bits}"),
            Operand::F32(bits) => format!("f{bits}"),
            Operand::F64(bits) => format!("d{bits}"),
            Operand::Vector(all) => format!("{:?}", all.iter().map(|one| self.operand(one, scope)).collect::<Option<Vec<_>>>()?),
            Operand::Element(..) | Operand::Pair(..) | Operand::Part(..) | Operand::List(_) | Operand::Texture(..) => return None,
        })
    }

    fn guard(&mut self, instruction: &Instruction<'_>, scope: &Scope<'_>) -> String {
        let text = |guard: &ptx::ast::Guard<'_>| {
            format!("@{}{} ", if guard.negated { "!" } else { "" }, self.register(unique(guard.name, scope)))
        };
        instruction.guard.as_ref().map(text).unwrap_or_default()
    }
}

/// Returns true for an instruction at which code may go on elsewhere.
fn ends(instruction: &Instruction<'_>) -> bool {
    matches!(instruction.opcode.split('.').next(), Some("bra" | "ret" | "exit" | "trap"))
}

/// Returns a name that is unique among the inner blocks.
fn unique(name: &str, scope: &Scope<'_>) -> String {
    let inner = scope.iter().rev().find(|(_, names)| names.contains(name));
    inner.map_or_else(|| name.to_owned(), |(number, _)| format!("{name}@{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "ld.param.u64 %rd1, [k_param_0];
        cvta.to.global.u64 %rd2, %rd1;
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4;
        add.s64 %rd4, %rd2, %rd3;
        mov.u32 %r2, s_sums;
        mov.u32 %r3, 0;
        mov.u32 %r4, 0;
        $L: ld.global.u32 %r5, [%rd4];
        sub.s32 %r6, %r5, %r1;
        st.shared.u32 [%r2], %r6;
        bar.sync 0;
        ld.shared.u32 %r7, [%r2+4];
        add.s32 %r3, %r3, %r7;
        add.s32 %r4, %r4, 1;
        setp.lt.u32 %p1, %r4, 9;
        @%p1 bra $L;
        st.global.u32 [%rd4], %r3;
        ret;";

    fn module(code: &str) -> String {
        let head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 k_param_0) {\n.reg .pred %p<9>;\n";
        format!("{head}.reg .b32 %r<99>;\n.reg .b64 %rd<9>;\n.shared .align 4 .b8 s_sums[2048];\n{code}\n}}\n")
    }

    /// Says whether the code with one text for another does the same.
    fn is_same_with(changes: &[(&str, &str)]) -> bool {
        let changed = changes.iter().fold(module(CODE), |code, (text, instead)| {
            assert!(code.contains(text), "{text}");
            code.replace(text, instead)
        });
        let code = module(CODE);
        let [one, other] = [&code, &changed].map(|text| ptx::parse(text).unwrap());
        is_same(&one, &other, "k")
    }

    #[test]
    fn names_and_the_order_of_independent_operations_do_not_matter() {
        assert!(is_same_with(&[("%r3", "%r30"), ("%r6", "%r3")]), "other registers");
        assert!(is_same_with(&[("mov.u32 %r3, 0;", ""), ("mov.u32 %r2", "mov.u32 %r3, 0; mov.u32 %r2")]), "a move of a constant");
        assert!(is_same_with(&[
            ("add.s32 %r3, %r3, %r7;", ""),
            ("add.s32 %r4, %r4, 1;", "add.s32 %r4, %r4, 1; add.s32 %r3, %r7, %r3;")
        ]));
        assert!(is_same_with(&[("s_sums[2048]", "s_sums[2052]")]), "a larger array");
    }

    #[test]
    fn another_value_effect_or_order_matters() {
        for change in [
            ("%r5, %r1", "%r1, %r5"),
            ("bar.sync 0;", ""),
            ("lt.u32", "le.u32"),
            ("@%p1 bra", "@!%p1 bra"),
            ("mov.u32 %r3, 0", "mov.u32 %r3, 1"),
            ("%r3, %r3, %r7", "%r3, %r4, %r7"),
            ("s_sums[2048]", "s_sums[2044]"),
            ("st.global.u32 [%rd4], %r3", "st.global.u32 [%rd4], %r7"),
            ("bar.sync 0;\n        ld.shared.u32 %r7, [%r2+4];", "ld.shared.u32 %r7, [%r2+4]; bar.sync 0;"),
            ("st.global.u32", "@%p1 st.global.u32"),
            ("ret;", "@%p1 ret; st.global.u32 [%rd4], %r4; ret;"),
            ("ld.shared.u32 %r7", "atom.shared.add.u32 %r9, [%r2], 1; ld.shared.u32 %r7"),
        ] {
            assert!(!is_same_with(&[change]), "{change:?}");
        }
        let store = "st.shared.u32 [%r2], %r6;";
        let moved = "ld.shared.u32 %r7, [%r2+4]; st.shared.u32 [%r2], %r6;";
        assert!(
            !is_same_with(&[(store, moved), ("bar.sync 0;\n        ld.shared.u32 %r7, [%r2+4];", "bar.sync 0;")]),
            "a load before a store"
        );
    }
}
