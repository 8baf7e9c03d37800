//! Finds the instructions of kernels that produce values that steer: values that decide where the kernels read, write, and branch. These
//! instructions must stay when others are replaced.
//!
//! The search goes backward, as a compiler finds live registers. Every address, and every predicate that guards an instruction, is a register
//! that steers from the instructions before it on. Each such pair of an instruction and a register is followed once: to the instructions
//! before, and through an instruction that writes the register to the registers that it computes from. Memory is not followed address by address: if a value loaded from a state
//! space steers, then everything stored to that space steers.
//!
//! One kind of branch does not matter: a branch outside of loops that skips only arithmetic, such as a test before a division. The registers
//! that the skipped instructions write depend on the test, and that is all.

use std::collections::HashMap;
use std::mem;
use std::ops::Range;

use ptx::ast::{Function, Instruction, Operand, StateSpace, Statement};

/// A state space of a kernel, by the kernel's index. Global memory is common to all kernels, and has index 0.
type Place = (usize, StateSpace);

/// A kernel, instruction by instruction. Its registers are numbered.
#[derive(Debug)]
struct Flow {
    effects: Vec<Effect>,
    /// The instructions that may come right before each instruction.
    predecessors: Vec<Vec<usize>>,
    /// The number of registers.
    registers: usize,
}

/// The effect of an instruction on registers and memory.
#[derive(Debug)]
struct Effect {
    /// Registers that it writes.
    results: Vec<usize>,
    /// Registers that its results, or the values it stores, come from.
    sources: Vec<usize>,
    /// Registers that decide where it acts, or whether it acts.
    steers: Vec<usize>,
    /// It may leave its results unchanged.
    guarded: bool,
    reads: Vec<Place>,
    writes: Vec<Place>,
}

/// Follows the values of kernels that one stage launches. Returns for each kernel and each of its instructions true if its value steers.
pub fn steering(kernels: &[&Function<'_>]) -> Vec<Vec<bool>> {
    let flows: Vec<Flow> = kernels.iter().enumerate().map(|(index, kernel)| Flow::of(index, kernel)).collect();
    let flags = |of: fn(&Flow) -> usize| flows.iter().map(|flow| vec![false; of(flow)]).collect();
    let mut search = Search {
        after: flags(|flow| flow.effects.len() * flow.registers),
        needed: flags(|flow| flow.effects.len()),
        flows: &flows,
        memory: Vec::new(),
        found: Vec::new(),
    };
    for (kernel, flow) in flows.iter().enumerate() {
        for (at, effect) in flow.effects.iter().enumerate() {
            effect.steers.iter().for_each(|register| search.steers_before(kernel, at, *register));
        }
    }
    while let Some((kernel, at, register)) = search.found.pop() {
        let effect = &flows[kernel].effects[at];
        let is_result = effect.results.contains(&register);
        if is_result {
            search.need(kernel, at);
        }
        if !is_result || effect.guarded {
            search.steers_before(kernel, at, register);
        }
    }
    search.needed
}

/// The search in progress.
struct Search<'f> {
    flows: &'f [Flow],
    /// Of each kernel, true for each pair of an instruction and a register that steers something after it.
    after: Vec<Vec<bool>>,
    needed: Vec<Vec<bool>>,
    /// The memory whose content steers.
    memory: Vec<Place>,
    /// Kernel, instruction and register of what was found in `after` and not followed yet.
    found: Vec<(usize, usize, usize)>,
}

impl Search<'_> {
    /// Notes that a register steers something from an instruction on.
    fn steers_before(&mut self, kernel: usize, at: usize, register: usize) {
        let flow = &self.flows[kernel];
        for &before in &flow.predecessors[at] {
            if !mem::replace(&mut self.after[kernel][before * flow.registers + register], true) {
                self.found.push((kernel, before, register));
            }
        }
    }

    /// Notes that an instruction's result, or a value it stores, steers.
    fn need(&mut self, kernel: usize, at: usize) {
        if mem::replace(&mut self.needed[kernel][at], true) {
            return;
        }
        let flows = self.flows;
        let effect = &flows[kernel].effects[at];
        effect.sources.iter().for_each(|register| self.steers_before(kernel, at, *register));
        for place in &effect.reads {
            if self.memory.contains(place) {
                continue;
            }
            self.memory.push(*place);
            for (kernel, flow) in flows.iter().enumerate() {
                let writers = flow.effects.iter().enumerate().filter(|(_, effect)| effect.writes.contains(place));
                writers.for_each(|(at, _)| self.need(kernel, at));
            }
        }
    }
}

impl Flow {
    fn of(index: usize, kernel: &Function<'_>) -> Self {
        let instructions: Vec<_> = kernel.instructions().collect();
        let jumps = Jumps::of(kernel, &instructions);
        let mut numbers = HashMap::new();
        let mut effects: Vec<Effect> = instructions.iter().map(|it| Effect::of(index, it, &mut numbers)).collect();
        for (at, skipped) in jumps.over_arithmetic(&instructions) {
            let tests = mem::take(&mut effects[at].steers);
            effects[skipped].iter_mut().for_each(|effect| effect.sources.extend(&tests));
        }
        let mut predecessors = vec![Vec::new(); effects.len()];
        for (at, instruction) in instructions.iter().enumerate() {
            for next in jumps.successors(at, instruction) {
                // The end has no instruction.
                predecessors.get_mut(next).into_iter().for_each(|before| before.push(at));
            }
        }
        Self { effects, predecessors, registers: numbers.len() }
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

    /// Returns the instructions that may follow the one at this index.
    fn successors(&self, at: usize, instruction: &Instruction<'_>) -> Vec<usize> {
        let always_leaves = instruction.guard.is_none() && matches!(instruction.root(), "bra" | "brx" | "ret" | "exit" | "trap");
        let targets = self.0.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to);
        targets.chain((!always_leaves).then_some(at + 1)).collect()
    }

    /// Finds the branches outside of loops that skip only arithmetic: their indices, and the indices that they skip.
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

impl Effect {
    /// Returns the effect of an instruction. A name that is not in `numbers` gets the next number.
    fn of<'t>(kernel: usize, instruction: &Instruction<'t>, numbers: &mut HashMap<&'t str, usize>) -> Self {
        let mut number = |name: &'t str| {
            let next = numbers.len();
            *numbers.entry(name).or_insert(next)
        };
        let (reads, writes) = (places(kernel, instruction.reads()), places(kernel, instruction.writes()));
        // An atomic operation gives its first operand the old value; other writes to memory have no result.
        let has_result = instruction.writes().is_empty() || instruction.root() == "atom";
        let (mut results, mut sources, mut steers) = (Vec::new(), Vec::new(), Vec::new());
        steers.extend(instruction.guard.iter().map(|guard| number(guard.name)));
        for (index, operand) in instruction.operands.iter().enumerate() {
            // Names of variables and labels are among the values, which does no harm.
            let values = operand.values().into_iter().map(&mut number).collect::<Vec<_>>();
            if controls(instruction) {
                steers.extend(&values);
            }
            if index == 0 && has_result {
                results.extend(values)
            } else {
                sources.extend(values)
            }
            steers.extend(operand.base().map(&mut number));
        }
        // The mask of lanes that exchange values.
        if matches!(instruction.root(), "shfl" | "vote" | "match" | "redux")
            && let Some(Operand::Name(mask)) = instruction.operands.last()
        {
            steers.push(number(mask));
        }
        Self { results, sources, steers, guarded: instruction.guard.is_some(), reads, writes }
    }
}

/// Returns the memory that values pass through. Constant memory counts as global memory, because kernels of a stage may fill it.
fn places(kernel: usize, spaces: &[StateSpace]) -> Vec<Place> {
    let place = |space: &StateSpace| match space {
        StateSpace::Global | StateSpace::Const => Some((0, StateSpace::Global)),
        StateSpace::Shared | StateSpace::Local => Some((kernel, *space)),
        StateSpace::Param => None,
    };
    spaces.iter().filter_map(place).collect()
}

/// Returns true if an instruction touches only registers of its own thread.
fn is_arithmetic(instruction: &Instruction<'_>) -> bool {
    let is_read_only = |space: &StateSpace| matches!(space, StateSpace::Param | StateSpace::Const);
    let exchanges = matches!(
        instruction.root(),
        "wmma" | "mma" | "wgmma" | "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" | "cp"
    );
    instruction.writes().is_empty() && instruction.reads().iter().all(is_read_only) && !exchanges && !controls(instruction)
}

/// Returns true if an instruction controls the order of execution. Then all of its operands steer.
fn controls(instruction: &Instruction<'_>) -> bool {
    instruction.barrier().is_some() || matches!(instruction.root(), "bra" | "brx" | "call" | "nanosleep" | "exit" | "ret" | "trap")
}
