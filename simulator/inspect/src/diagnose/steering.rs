//! Which instructions of kernels bring values that decide where the kernels read, write and branch: those must stay when others are
//! replaced.
//!
//! Found backwards, as a compiler finds which registers are still needed: behind each instruction stands the set of registers whose value
//! decides something further on. It grows by every address and every predicate that guards an instruction, and where an instruction
//! writes a register of the set, by what it computes from. Memory is not followed place by place: what is loaded from one to decide
//! something makes everything that is stored there decide.
//!
//! One kind of branch decides nothing that matters: one outside of loops that skips a stretch of arithmetic, as a test before a division
//! does. There the registers that the stretch writes depend on the test, and that is all.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use simt::ptx::ast::{Base, Function, Instruction, Operand, Statement};

/// Memories that values pass through on their way. Constant memory is global memory here, because kernels of a stage may fill it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Memory {
    /// Of the device.
    Global,
    /// Of a block.
    Shared,
    /// Of a thread.
    Local,
}

/// What decides, in kernels that work together.
#[derive(Debug)]
pub struct Steering<'t> {
    kernels: Vec<Flow<'t>>,
    /// By the kernel's place in the list, except for global memory, which all have in common.
    memories: HashSet<(usize, Memory)>,
}

/// A kernel, instruction by instruction.
#[derive(Debug)]
struct Flow<'t> {
    effects: Vec<Effect<'t>>,
    /// Where each instruction goes on.
    successors: Vec<Vec<usize>>,
    /// The registers that decide something behind each instruction.
    after: Vec<HashSet<&'t str>>,
}

/// What an instruction does with registers and memory.
#[derive(Debug)]
struct Effect<'t> {
    /// Registers that it writes.
    results: Vec<&'t str>,
    /// Registers that its results, or what it stores, come from.
    sources: Vec<&'t str>,
    /// Registers that decide where it acts, or whether.
    decides: Vec<&'t str>,
    /// It may leave its results as they are.
    guarded: bool,
    reads: &'static [Memory],
    writes: &'static [Memory],
}

impl<'t> Steering<'t> {
    /// Follows the values of kernels that one stage launches.
    pub fn of(kernels: &[&Function<'t>]) -> Self {
        let mut steering = Self { kernels: kernels.iter().map(|kernel| Flow::of(kernel)).collect(), memories: HashSet::new() };
        // A memory that is found to decide may make further registers decide, in every kernel.
        loop {
            let known = steering.memories.len();
            for (index, kernel) in steering.kernels.iter_mut().enumerate() {
                kernel.settle(index, &mut steering.memories);
            }
            if steering.memories.len() == known {
                return steering;
            }
        }
    }

    /// Whether an instruction, by its place in a kernel, brings a value that decides.
    pub fn needs(&self, kernel: usize, at: usize) -> bool {
        let Flow { effects, after, .. } = &self.kernels[kernel];
        effects[at].matters(kernel, &after[at], &self.memories)
    }
}

impl<'t> Flow<'t> {
    fn of(kernel: &Function<'t>) -> Self {
        let instructions: Vec<_> = instructions(kernel).collect();
        let jumps = Jumps::of(kernel, &instructions);
        let mut effects: Vec<Effect<'t>> = instructions.iter().map(|instruction| Effect::of(instruction)).collect();
        for (at, stretch) in jumps.over_arithmetic(&instructions) {
            let tests = std::mem::take(&mut effects[at].decides);
            effects[stretch].iter_mut().for_each(|effect| effect.sources.extend(&tests));
        }
        let successors = instructions.iter().enumerate().map(|(at, instruction)| jumps.successors(at, instruction)).collect();
        Self { successors, after: vec![HashSet::new(); effects.len()], effects }
    }

    /// Goes backwards through the kernel until nothing new decides.
    fn settle(&mut self, kernel: usize, memories: &mut HashSet<(usize, Memory)>) {
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for at in (0..self.effects.len()).rev() {
                let successors = self.successors[at].iter().filter(|next| **next < self.effects.len());
                let needed: HashSet<&str> = successors.flat_map(|next| self.before(kernel, *next, memories)).collect();
                let effect = &self.effects[at];
                if effect.matters(kernel, &needed, memories) {
                    memories.extend(effect.reads.iter().map(|memory| place(kernel, *memory)));
                }
                grown |= needed.len() > self.after[at].len();
                self.after[at] = needed;
            }
        }
    }

    /// The registers that decide something from an instruction on.
    fn before(&self, kernel: usize, at: usize, memories: &HashSet<(usize, Memory)>) -> Vec<&'t str> {
        let (effect, after) = (&self.effects[at], &self.after[at]);
        let kept = after.iter().copied().filter(|name| effect.guarded || !effect.results.contains(name));
        let mut before: Vec<&str> = kept.chain(effect.decides.iter().copied()).collect();
        if effect.matters(kernel, after, memories) {
            before.extend(&effect.sources);
        }
        before
    }
}

fn place(kernel: usize, memory: Memory) -> (usize, Memory) {
    (if memory == Memory::Global { 0 } else { kernel }, memory)
}

/// The branches of a kernel: the place of each, and that of the instruction behind its label.
struct Jumps(Vec<(usize, usize)>);

impl Jumps {
    fn of(kernel: &Function<'_>, instructions: &[&Instruction<'_>]) -> Self {
        let mut labels = HashMap::new();
        let mut next = 0;
        for statement in kernel.body.iter().flatten() {
            match statement {
                Statement::Label(name) => drop(labels.insert(*name, next)),
                Statement::Instruction(_) => next += 1,
                _ => {}
            }
        }
        let jumps = instructions.iter().enumerate().flat_map(|(at, instruction)| {
            let targets: Vec<usize> = match (root(instruction), instruction.operands.first()) {
                ("bra", Some(Operand::Name(label))) => labels.get(label).copied().into_iter().collect(),
                // Through a table: to any label.
                ("brx", _) => labels.values().copied().collect(),
                _ => Vec::new(),
            };
            targets.into_iter().map(move |target| (at, target))
        });
        Self(jumps.collect())
    }

    /// Where the instruction at a place goes on.
    fn successors(&self, at: usize, instruction: &Instruction<'_>) -> Vec<usize> {
        let always_leaves = instruction.guard.is_none() && matches!(root(instruction), "bra" | "brx" | "ret" | "exit" | "trap");
        let targets = self.0.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to);
        targets.chain((!always_leaves).then_some(at + 1)).collect()
    }

    /// Branches outside of loops that skip arithmetic and nothing else: their places, and the places of what they skip.
    fn over_arithmetic(&self, instructions: &[&Instruction<'_>]) -> Vec<(usize, Range<usize>)> {
        let is_harmless = |&&(at, target): &&(usize, usize)| {
            let stretch = at + 1..target;
            let in_loop = self.0.iter().any(|(from, to)| *to <= at && at <= *from);
            let entered = self.0.iter().any(|(from, to)| !(at..target).contains(from) && stretch.contains(to));
            let stays = |place: usize| self.0.iter().all(|(from, to)| *from != place || (from < to && *to <= target));
            let plain = |place: usize| stays(place) && (root(instructions[place]) == "bra" || is_arithmetic(instructions[place]));
            at < target && !in_loop && !entered && stretch.clone().all(plain)
        };
        self.0.iter().filter(is_harmless).map(|(at, target)| (*at, at + 1..*target)).collect()
    }
}

impl<'t> Effect<'t> {
    fn of(instruction: &Instruction<'t>) -> Self {
        let root = root(instruction);
        let has = |modifier| has(instruction, modifier);
        let stores = matches!(root, "st" | "stmatrix" | "red" | "cp") || (root == "wmma" && has("store"));
        let loads = matches!(root, "ld" | "ldu" | "ldmatrix" | "atom") || (root == "wmma" && has("load"));
        let memories = memories(instruction);
        let mut effect = Self {
            results: Vec::new(),
            sources: Vec::new(),
            decides: instruction.guard.iter().map(|guard| guard.name).collect(),
            guarded: instruction.guard.is_some(),
            reads: if root == "cp" {
                &[Memory::Global]
            } else if loads {
                memories
            } else {
                &[]
            },
            writes: if root == "cp" {
                &[Memory::Shared]
            } else if stores || root == "atom" {
                memories
            } else {
                &[]
            },
        };
        for (index, operand) in instruction.operands.iter().enumerate() {
            let Registers { values, address } = registers(operand);
            effect.decides.extend(address);
            if controls(root) {
                effect.decides.extend(&values);
            }
            if index == 0 && !stores { effect.results.extend(values) } else { effect.sources.extend(values) }
        }
        // Which lanes exchange their values.
        if matches!(root, "shfl" | "vote" | "match" | "redux")
            && let Some(Operand::Name(mask)) = instruction.operands.last()
        {
            effect.decides.push(mask);
        }
        effect
    }

    /// Whether what the instruction leaves decides something, given the registers that do behind it.
    fn matters(&self, kernel: usize, after: &HashSet<&'t str>, memories: &HashSet<(usize, Memory)>) -> bool {
        self.results.iter().any(|name| after.contains(name))
            || self.writes.iter().any(|memory| memories.contains(&place(kernel, *memory)))
    }
}

/// The registers of an operand.
#[derive(Debug, Default)]
pub struct Registers<'t> {
    /// Those that it is.
    pub values: Vec<&'t str>,
    /// That of its address.
    address: Vec<&'t str>,
}

/// The registers of an operand; names of variables and labels are among them, which does no harm.
pub fn registers<'t>(operand: &Operand<'t>) -> Registers<'t> {
    let values = |values| Registers { values, address: Vec::new() };
    match operand {
        Operand::Name(name) | Operand::Not(name) | Operand::Offset(name, _) => values(vec![*name]),
        Operand::Pair(first, second) => values(vec![*first, *second]),
        Operand::Vector(elements) => values(elements.iter().flat_map(|element| registers(element).values).collect()),
        Operand::List(list) => values(list.clone()),
        Operand::Address(Base::Name(name), _) => Registers { values: Vec::new(), address: vec![*name] },
        Operand::Address(Base::Absolute, _) | Operand::Integer(_) | Operand::F32(_) | Operand::F64(_) | Operand::Texture => {
            Registers::default()
        }
    }
}

/// The memory that an opcode names; all where it names none.
fn memories(instruction: &Instruction<'_>) -> &'static [Memory] {
    let has = |modifier| has(instruction, modifier);
    if has("shared") {
        &[Memory::Shared]
    } else if has("global") || has("const") {
        &[Memory::Global]
    } else if has("local") {
        &[Memory::Local]
    } else if has("param") {
        &[]
    } else {
        &[Memory::Global, Memory::Shared, Memory::Local]
    }
}

/// Whether an instruction touches registers of its own thread alone.
fn is_arithmetic(instruction: &Instruction<'_>) -> bool {
    match root(instruction) {
        "ld" => has(instruction, "param") || has(instruction, "const"),
        "ldu" | "ldmatrix" | "st" | "stmatrix" | "atom" | "red" | "cp" | "tex" | "tld4" | "suld" | "sust" | "sured" => false,
        "wmma" | "mma" | "wgmma" | "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" => false,
        other => !controls(other),
    }
}

/// Whether an instruction, by its root, is about the order of things: of it everything counts as deciding.
fn controls(root: &str) -> bool {
    matches!(root, "bar" | "barrier" | "mbarrier" | "bra" | "brx" | "call" | "nanosleep" | "exit" | "ret" | "trap")
}

/// A kernel's instructions in the order of the text.
pub fn instructions<'a, 't>(kernel: &'a Function<'t>) -> impl Iterator<Item = &'a Instruction<'t>> {
    kernel.body.iter().flatten().filter_map(|statement| match statement {
        Statement::Instruction(instruction) => Some(instruction),
        _ => None,
    })
}

/// The part of an opcode before its first modifier.
pub fn root<'t>(instruction: &Instruction<'t>) -> &'t str {
    instruction.opcode.split('.').next().unwrap_or_default()
}

/// Whether the opcode has this modifier, perhaps with a scope behind it as in `.shared::cta`.
pub fn has(instruction: &Instruction<'_>, modifier: &str) -> bool {
    instruction.opcode.split('.').skip(1).any(|part| part.split("::").next() == Some(modifier))
}
