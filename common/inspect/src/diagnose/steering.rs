//! Which instructions of kernels produce values that steer: values that decide where the kernels read, write, and branch. These
//! instructions must stay when others are replaced.
//!
//! The search goes backward, as a compiler finds live registers. After each instruction there is a set of registers whose value steers
//! something later. Every address, and every predicate that guards an instruction, adds a register to the set. An instruction that writes a
//! register of the set adds the registers that it computes from. Memory is not followed address by address: if a value loaded from a state
//! space steers, then everything stored to that space steers.
//!
//! One kind of branch does not matter: a branch outside of loops that skips only arithmetic, such as a test before a division. The registers
//! that the skipped instructions write depend on the test, and that is all.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use simt::ptx::ast::{Function, Instruction, Operand, StateSpace, Statement};

/// A state space of a kernel, by the kernel's index. Global memory is common to all kernels, and has index 0.
type Place = (usize, StateSpace);

/// What steers, in kernels that work together.
#[derive(Debug)]
pub struct Steering<'t> {
    kernels: Vec<Flow<'t>>,
    /// The memory whose content steers.
    memory: Vec<Place>,
}

/// A kernel, instruction by instruction.
#[derive(Debug)]
struct Flow<'t> {
    effects: Vec<Effect<'t>>,
    /// The instructions that may follow each instruction.
    successors: Vec<Vec<usize>>,
    /// The registers that steer something after each instruction.
    after: Vec<HashSet<&'t str>>,
}

/// The effect of an instruction on registers and memory.
#[derive(Debug)]
struct Effect<'t> {
    /// Registers that it writes.
    results: Vec<&'t str>,
    /// Registers that its results, or the values it stores, come from.
    sources: Vec<&'t str>,
    /// Registers that decide where it acts, or whether it acts.
    steers: Vec<&'t str>,
    /// It may leave its results unchanged.
    guarded: bool,
    reads: Vec<Place>,
    writes: Vec<Place>,
}

impl<'t> Steering<'t> {
    /// Follows the values of kernels that one stage launches.
    pub fn of(kernels: &[&Function<'t>]) -> Self {
        let flows = kernels.iter().enumerate().map(|(index, kernel)| Flow::of(index, kernel));
        let mut steering = Self { kernels: flows.collect(), memory: Vec::new() };
        // Memory that is found to steer may make further registers steer, in every kernel.
        loop {
            let known = steering.memory.len();
            for kernel in &mut steering.kernels {
                kernel.settle(&mut steering.memory);
            }
            if steering.memory.len() == known {
                return steering;
            }
        }
    }

    /// Whether an instruction of a kernel, both by index, produces a value that steers.
    pub fn needs(&self, kernel: usize, at: usize) -> bool {
        let Flow { effects, after, .. } = &self.kernels[kernel];
        effects[at].matters(&after[at], &self.memory)
    }
}

impl<'t> Flow<'t> {
    fn of(index: usize, kernel: &Function<'t>) -> Self {
        let instructions: Vec<_> = kernel.instructions().collect();
        let jumps = Jumps::of(kernel, &instructions);
        let mut effects: Vec<Effect<'t>> = instructions.iter().map(|instruction| Effect::of(index, instruction)).collect();
        for (at, skipped) in jumps.over_arithmetic(&instructions) {
            let tests = std::mem::take(&mut effects[at].steers);
            effects[skipped].iter_mut().for_each(|effect| effect.sources.extend(&tests));
        }
        let successors = instructions.iter().enumerate().map(|(at, instruction)| jumps.successors(at, instruction)).collect();
        Self { successors, after: vec![HashSet::new(); effects.len()], effects }
    }

    /// Goes backward through the kernel until nothing new steers.
    fn settle(&mut self, memory: &mut Vec<Place>) {
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for at in (0..self.effects.len()).rev() {
                let successors = self.successors[at].iter().filter(|next| **next < self.effects.len());
                let needed: HashSet<&str> = successors.flat_map(|next| self.before(*next, memory)).collect();
                let effect = &self.effects[at];
                if effect.matters(&needed, memory) {
                    let new: Vec<Place> = effect.reads.iter().filter(|place| !memory.contains(place)).copied().collect();
                    memory.extend(new);
                }
                grown |= needed.len() > self.after[at].len();
                self.after[at] = needed;
            }
        }
    }

    /// The registers that steer something from an instruction on.
    fn before(&self, at: usize, memory: &[Place]) -> Vec<&'t str> {
        let (effect, after) = (&self.effects[at], &self.after[at]);
        let kept = after.iter().copied().filter(|name| effect.guarded || !effect.results.contains(name));
        let mut before: Vec<&str> = kept.chain(effect.steers.iter().copied()).collect();
        if effect.matters(after, memory) {
            before.extend(&effect.sources);
        }
        before
    }
}

/// The branches of a kernel: the index of each, and the index of the instruction after its label.
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
            let targets: Vec<usize> = match (instruction.root(), instruction.operands.first()) {
                ("bra", Some(Operand::Name(label))) => labels.get(label).copied().into_iter().collect(),
                // Through a table, which may lead to any label.
                ("brx", _) => labels.values().copied().collect(),
                _ => Vec::new(),
            };
            targets.into_iter().map(move |target| (at, target))
        });
        Self(jumps.collect())
    }

    /// The instructions that may follow the one at this index.
    fn successors(&self, at: usize, instruction: &Instruction<'_>) -> Vec<usize> {
        let always_leaves = instruction.guard.is_none() && matches!(instruction.root(), "bra" | "brx" | "ret" | "exit" | "trap");
        let targets = self.0.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to);
        targets.chain((!always_leaves).then_some(at + 1)).collect()
    }

    /// Branches outside of loops that skip only arithmetic: their indices, and the indices that they skip.
    fn over_arithmetic(&self, instructions: &[&Instruction<'_>]) -> Vec<(usize, Range<usize>)> {
        let is_harmless = |&&(at, target): &&(usize, usize)| {
            let skipped = at + 1..target;
            let in_loop = self.0.iter().any(|(from, to)| *to <= at && at <= *from);
            let entered = self.0.iter().any(|(from, to)| !(at..target).contains(from) && skipped.contains(to));
            let stays = |index: usize| self.0.iter().all(|(from, to)| *from != index || (from < to && *to <= target));
            let plain = |index: usize| stays(index) && (instructions[index].root() == "bra" || is_arithmetic(instructions[index]));
            at < target && !in_loop && !entered && skipped.clone().all(plain)
        };
        self.0.iter().filter(is_harmless).map(|(at, target)| (*at, at + 1..*target)).collect()
    }
}

impl<'t> Effect<'t> {
    fn of(kernel: usize, instruction: &Instruction<'t>) -> Self {
        let (reads, writes) = (places(kernel, instruction.reads()), places(kernel, instruction.writes()));
        // An atomic operation gives its first operand the old value; other writes to memory have no result.
        let has_result = instruction.writes().is_empty() || instruction.root() == "atom";
        let mut effect = Self {
            results: Vec::new(),
            sources: Vec::new(),
            steers: instruction.guard.iter().map(|guard| guard.name).collect(),
            guarded: instruction.guard.is_some(),
            reads,
            writes,
        };
        for (index, operand) in instruction.operands.iter().enumerate() {
            // Names of variables and labels are among the values, which does no harm.
            let values = operand.values();
            effect.steers.extend(operand.base());
            if controls(instruction) {
                effect.steers.extend(&values);
            }
            if index == 0 && has_result { effect.results.extend(values) } else { effect.sources.extend(values) }
        }
        // The mask of lanes that exchange values.
        if matches!(instruction.root(), "shfl" | "vote" | "match" | "redux")
            && let Some(Operand::Name(mask)) = instruction.operands.last()
        {
            effect.steers.push(mask);
        }
        effect
    }

    /// Whether a result of the instruction steers, given the registers after it and the memory that do.
    fn matters(&self, after: &HashSet<&'t str>, memory: &[Place]) -> bool {
        self.results.iter().any(|name| after.contains(name)) || self.writes.iter().any(|place| memory.contains(place))
    }
}

/// The memory that values pass through. Constant memory counts as global memory, because kernels of a stage may fill it.
fn places(kernel: usize, spaces: &[StateSpace]) -> Vec<Place> {
    let place = |space: &StateSpace| match space {
        StateSpace::Global | StateSpace::Const => Some((0, StateSpace::Global)),
        StateSpace::Shared | StateSpace::Local => Some((kernel, *space)),
        StateSpace::Param => None,
    };
    spaces.iter().filter_map(place).collect()
}

/// Whether an instruction touches only registers of its own thread.
fn is_arithmetic(instruction: &Instruction<'_>) -> bool {
    let is_read_only = |space: &StateSpace| matches!(space, StateSpace::Param | StateSpace::Const);
    let exchanges = matches!(
        instruction.root(),
        "wmma" | "mma" | "wgmma" | "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" | "cp"
    );
    instruction.writes().is_empty() && instruction.reads().iter().all(is_read_only) && !exchanges && !controls(instruction)
}

/// Whether an instruction is about the order of execution, so that all of its operands steer.
fn controls(instruction: &Instruction<'_>) -> bool {
    instruction.barrier().is_some() || matches!(instruction.root(), "bra" | "brx" | "call" | "nanosleep" | "exit" | "ret" | "trap")
}
