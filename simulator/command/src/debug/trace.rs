//! The record of a warp, and the registers at each of its instructions.

use std::collections::{BTreeSet, HashMap};

use driver::stepping::{Launched, Step, Values, Wanted, Warp};
use ptx::ast::{Function, Instruction, Module};
use simt::{Finding, Location, SourceLine};

/// Threads of a warp.
pub const LANES: u64 = 32;

/// The record of a warp of a launch. A position in it is the index of the instruction that comes next; the last position is behind all of them.
#[derive(Debug)]
pub struct Trace {
    pub wanted: Wanted,
    pub launched: Launched,
    /// The module.
    pub ptx: String,
    instructions: Vec<Recorded>,
    steps: Vec<Step>,
    /// The number of instructions that the warp executed in all.
    pub executed: u64,
    /// The number of the first instruction with a defect, which the record may not have.
    pub first_found: Option<u64>,
    history: History,
    /// The names of the registers, in the order of their declaration.
    registers: Vec<String>,
    /// The names that the PTX declares as floating-point numbers, without the number at their end.
    floats: BTreeSet<String>,
    /// The defects that were found, by position.
    pub found: Vec<(usize, Finding)>,
}

/// An instruction of the program that the warp executed.
#[derive(Debug)]
struct Recorded {
    location: Location,
    /// The function's name, with which its registers' names begin, unless it is a kernel.
    function: Option<String>,
    /// The registers that it writes.
    results: Vec<String>,
}

/// Each register's values, with the position from which each of them holds. An instruction that writes the value that the register has counts.
type History = HashMap<String, Vec<(usize, Values)>>;

impl Trace {
    /// Makes it from what was wanted and what was recorded.
    pub fn new(wanted: &Wanted, launched: Launched, warp: Warp) -> Self {
        let wanted = Wanted { kernel: Some(launched.kernel.clone()), ..wanted.clone() };
        let Warp { ptx, places, start, steps, executed, found } = warp;
        let first_found = found.first().map(|(number, _)| *number);
        let registers: Vec<String> = start.iter().map(|write| write.register.clone()).collect();
        let mut history: History = start.into_iter().map(|write| (write.register, vec![(0, write.values)])).collect();
        let module = ptx::parse(&ptx).unwrap_or_default();
        let instructions: Vec<_> = places.into_iter().map(|location| Recorded::new(location, &module, &history)).collect();
        let declared = module.functions.iter().flat_map(Function::registers);
        let floats = declared.filter(|registers| registers.is_float).map(|registers| registers.name.to_owned()).collect();
        for (position, step) in steps.iter().enumerate() {
            for write in &step.writes {
                history.entry(write.register.clone()).or_default().push((position + 1, write.values));
            }
            let is_unchanged = |register: &&String| step.writes.iter().all(|write| write.register != **register);
            for register in instructions[step.place].results.iter().filter(is_unchanged) {
                if let Some(history) = history.get_mut(register)
                    && let Some((_, values)) = history.last().copied()
                {
                    history.push((position + 1, values));
                }
            }
        }
        let found = found
            .into_iter()
            .filter_map(|(number, finding)| Some((usize::try_from(number.checked_sub(wanted.first)?).ok()?, finding)));
        let found = found.filter(|(position, _)| *position < steps.len()).collect();
        Self { wanted, launched, ptx, instructions, steps, executed, first_found, history, registers, floats, found }
    }

    /// Returns true if the kernel was stopped in this warp as endless.
    pub fn is_endless(&self) -> bool {
        let Wanted { block, warp, .. } = &self.wanted;
        self.launched.failure.as_ref().is_some_and(|failure| failure.block == *block && failure.warp == Some(*warp))
    }

    /// Counts the threads of the warp.
    pub fn threads(&self) -> u32 {
        let before = u64::from(self.wanted.warp) * LANES;
        self.launched.config.block.volume().saturating_sub(before).min(LANES) as u32
    }

    /// Counts the recorded instructions.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the instruction at a position.
    pub fn step(&self, position: usize) -> Option<(&Step, &Location)> {
        let step = self.steps.get(position)?;
        Some((step, &self.instructions[step.place].location))
    }

    /// Returns the line of CUDA C at a position.
    pub fn line(&self, position: usize) -> Option<&SourceLine> {
        self.step(position)?.1.source.as_ref()
    }

    /// Returns true if any instruction has a line of CUDA C.
    pub fn has_lines(&self) -> bool {
        self.instructions.iter().any(|instruction| instruction.location.source.is_some())
    }

    /// Returns the whole name of a register. The function at the position calls it `name`.
    pub fn register(&self, name: &str, position: usize) -> Option<&str> {
        let last = self.steps.len().checked_sub(1)?;
        let instruction = &self.instructions[self.steps[position.min(last)].place];
        let known = |name: &str| self.history.get_key_value(name);
        let (name, _) = known(&instruction.full_name(name)).or_else(|| known(name))?;
        Some(name)
    }

    /// Returns the values of a register before the instruction at a position.
    pub fn values(&self, register: &str, position: usize) -> Option<&Values> {
        self.until(register, position).last().map(|(_, values)| values)
    }

    /// Returns true if a lane's register has a value at a position. Anything before the record counts as one.
    pub fn is_written(&self, register: &str, lane: u32, position: usize) -> bool {
        self.wanted.first > 0 || self.origin(register, lane, position).is_some()
    }

    /// Finds the last instruction before a position that wrote a lane's register.
    pub fn origin(&self, register: &str, lane: u32, position: usize) -> Option<usize> {
        let history = self.until(register, position);
        let writes = history.windows(2).rev().filter(|pair| pair[1].0 > 0);
        let of_lane = |pair: &&[(usize, Values)]| {
            let step = &self.steps[pair[1].0 - 1];
            bits(&pair[0].1, lane) != bits(&pair[1].1, lane)
                || (step.lanes >> lane & 1 == 1 && self.instructions[step.place].results.iter().any(|result| result == register))
        };
        writes.into_iter().find(of_lane).map(|pair| pair[1].0 - 1)
    }

    /// Returns the recorded instruction that wrote a register's values at a position.
    pub fn writer(&self, register: &str, position: usize) -> Option<&str> {
        let (from, _) = self.until(register, position).last()?;
        self.step(from.checked_sub(1)?).map(|(_, location)| location.instruction.as_str())
    }

    /// Returns the values of a register up to a position.
    fn until(&self, register: &str, position: usize) -> &[(usize, Values)] {
        let history = self.history.get(register).map(Vec::as_slice).unwrap_or_default();
        &history[..history.partition_point(|(from, _)| *from <= position)]
    }

    /// Returns true if a register is declared as a floating-point number.
    pub fn is_float(&self, register: &str) -> bool {
        let name = register.rsplit("::").next().unwrap_or(register);
        self.floats.contains(name.trim_end_matches(|letter: char| letter.is_ascii_digit()))
    }

    /// Lists the registers with a value in a lane at a position. They are in the order of their declaration.
    pub fn in_use(&self, lane: u32, position: usize) -> impl Iterator<Item = &str> {
        let is_used = move |register: &&String| match self.wanted.first {
            0 => self.is_written(register, lane, position),
            // What happened before the record is not known.
            _ => {
                self.origin(register, lane, position).is_some()
                    || self.values(register, position).is_some_and(|values| bits(values, lane) != 0)
            }
        };
        self.registers.iter().filter(is_used).map(String::as_str)
    }

    /// Returns the position of the block's first unexecuted instruction at a time.
    pub fn at_clock(&self, clock: u64) -> usize {
        self.steps.partition_point(|step| step.clock < clock)
    }

    /// Returns the registers that the instruction at a position writes.
    pub fn results(&self, position: usize) -> &[String] {
        self.steps.get(position).map(|step| self.instructions[step.place].results.as_slice()).unwrap_or_default()
    }

    /// Lists the registers that an instruction names, in the text's order.
    ///
    /// Each comes with its whole name and how often it is named.
    pub fn mentioned(&self, position: usize) -> Vec<(&str, &str, u32)> {
        let Some((_, location)) = self.step(position) else { return Vec::new() };
        let is_part = |letter: char| letter.is_alphanumeric() || "%$_.".contains(letter);
        let mut mentioned: Vec<(&str, &str, u32)> = Vec::new();
        for word in location.instruction.split(|letter| !is_part(letter)) {
            let Some(register) = self.register(word, position) else { continue };
            match mentioned.iter_mut().find(|(known, ..)| *known == word) {
                Some((.., times)) => *times += 1,
                None => mentioned.push((word, register, 1)),
            }
        }
        mentioned
    }
}

impl Recorded {
    /// Finds the instruction in the module.
    fn new(location: Location, module: &Module<'_>, history: &History) -> Self {
        let defined = module.functions.iter().filter(|function| function.body.is_some());
        let function = defined.take_while(|function| function.line <= location.ptx_line).last();
        let name = function.filter(|function| !function.is_kernel).map(|function| function.name.to_owned());
        let mut recorded = Self { function: name, results: Vec::new(), location };
        let instructions = function.into_iter().flat_map(Function::instructions);
        let names = instructions.filter(|found| found.line == recorded.location.ptx_line).flat_map(Instruction::results);
        recorded.results = names.map(|name| recorded.full_name(name)).filter(|name| history.contains_key(name)).collect();
        recorded
    }

    fn full_name(&self, name: &str) -> String {
        match &self.function {
            Some(function) => format!("{function}::{name}"),
            None => name.to_owned(),
        }
    }
}

/// Returns the bits of a value in a lane.
pub fn bits(values: &Values, lane: u32) -> u64 {
    match values {
        Values::Predicate(bits) => u64::from(bits >> lane & 1),
        Values::Words(words) => words[lane as usize].into(),
        Values::Doubles(doubles) => doubles[lane as usize],
    }
}
