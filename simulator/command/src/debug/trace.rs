//! The record of a warp, and the registers at each of its instructions.

use std::collections::{BTreeSet, HashMap};

use ptx::ast::{Function, Instruction, Module};
use simcuda::stepping::{Step, Values, Warp};
use simt::{Finding, Location, SourceLine};

/// The record of a warp. A position in it is the index of the instruction that comes next; the last position is behind all of them.
#[derive(Debug)]
pub struct Trace {
    places: Vec<Place>,
    steps: Vec<Step>,
    /// The number of the warp's instructions before the record.
    pub first: u64,
    /// The number of instructions that the warp executed in all.
    pub executed: u64,
    history: History,
    /// The names of the registers, in the order of their declaration.
    registers: Vec<String>,
    /// The names that the PTX declares as floating-point numbers, without the number at their end.
    floats: BTreeSet<String>,
    /// The defects that were found, by position.
    pub found: Vec<(usize, Finding)>,
}

/// An instruction of the program.
#[derive(Debug)]
struct Place {
    location: Location,
    /// The function's name, with which its registers' names begin, unless it is a kernel.
    function: Option<String>,
    /// The registers that it writes.
    results: Vec<String>,
}

/// Each register's values, each with the position from which on it has them. An instruction that writes the value that the register has counts.
type History = HashMap<String, Vec<(usize, Values)>>;

impl Trace {
    /// Makes it from a recorded warp.
    pub fn new(warp: Warp, first: u64) -> Self {
        let Warp { ptx, places, start, steps, executed, found } = warp;
        let registers: Vec<String> = start.iter().map(|write| write.register.clone()).collect();
        let mut history: History = start.into_iter().map(|write| (write.register, vec![(0, write.values)])).collect();
        let module = ptx::parse(&ptx).unwrap_or_default();
        let places: Vec<Place> = places.into_iter().map(|location| Place::new(location, &module, &history)).collect();
        let declared = module.functions.iter().flat_map(Function::registers);
        let floats = declared.filter(|registers| registers.is_float).map(|registers| registers.name.to_owned()).collect();
        for (position, step) in steps.iter().enumerate() {
            for write in &step.writes {
                history.entry(write.register.clone()).or_default().push((position + 1, write.values));
            }
            let is_unchanged = |register: &&String| step.writes.iter().all(|write| write.register != **register);
            for register in places[step.place].results.iter().filter(is_unchanged) {
                if let Some(history) = history.get_mut(register)
                    && let Some((_, values)) = history.last().copied()
                {
                    history.push((position + 1, values));
                }
            }
        }
        let in_record = |number: u64| number.checked_sub(first).and_then(|position| usize::try_from(position).ok());
        let found = found.into_iter().filter_map(|(number, finding)| {
            let position = in_record(number).filter(|position| *position < steps.len())?;
            Some((position, finding))
        });
        let found = found.collect();
        Self { places, steps, first, executed, history, registers, floats, found }
    }

    /// Counts the recorded instructions.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the instruction at a position.
    pub fn step(&self, position: usize) -> Option<(&Step, &Location)> {
        let step = self.steps.get(position)?;
        Some((step, &self.places[step.place].location))
    }

    /// Returns the line of CUDA C at a position.
    pub fn line(&self, position: usize) -> Option<&SourceLine> {
        self.step(position)?.1.source.as_ref()
    }

    /// Returns true if any instruction has a line of CUDA C.
    pub fn has_lines(&self) -> bool {
        self.places.iter().any(|place| place.location.source.is_some())
    }

    /// Returns the whole name of a register that the function at a position calls `name`.
    pub fn register(&self, name: &str, position: usize) -> Option<&str> {
        let last = self.steps.len().checked_sub(1)?;
        let place = &self.places[self.steps[position.min(last)].place];
        let (name, _) = self.history.get_key_value(place.full_name(name).as_str()).or_else(|| self.history.get_key_value(name))?;
        Some(name)
    }

    /// Returns the values of a register before the instruction at a position.
    pub fn values(&self, register: &str, position: usize) -> Option<&Values> {
        self.until(register, position).last().map(|(_, values)| values)
    }

    /// Returns true if a register has a value in a lane at a position. Anything before the record counts as one.
    pub fn is_written(&self, register: &str, lane: u32, position: usize) -> bool {
        self.first > 0 || self.origin(register, lane, position).is_some()
    }

    /// Finds the last instruction before a position that wrote a register in a lane.
    pub fn origin(&self, register: &str, lane: u32, position: usize) -> Option<usize> {
        let history = self.until(register, position);
        let writes = history.windows(2).rev().filter(|pair| pair[1].0 > 0);
        let of_lane = |pair: &&[(usize, Values)]| {
            let step = &self.steps[pair[1].0 - 1];
            bits(&pair[0].1, lane) != bits(&pair[1].1, lane)
                || (step.lanes >> lane & 1 == 1 && self.places[step.place].results.iter().any(|result| result == register))
        };
        writes.into_iter().find(of_lane).map(|pair| pair[1].0 - 1)
    }

    /// Returns the recorded instruction that gave a register its values at a position.
    pub fn writer(&self, register: &str, position: usize) -> Option<&str> {
        let (from, _) = self.until(register, position).last()?;
        self.step(from.checked_sub(1)?).map(|(_, place)| place.instruction.as_str())
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

    /// Lists the registers that have a value in a lane at a position, in the order of their declaration.
    pub fn in_use(&self, lane: u32, position: usize) -> impl Iterator<Item = &str> {
        let is_used = move |register: &&String| match self.first {
            0 => self.is_written(register, lane, position),
            // What happened before the record is not known.
            _ => {
                self.origin(register, lane, position).is_some()
                    || self.values(register, position).is_some_and(|values| bits(values, lane) != 0)
            }
        };
        self.registers.iter().filter(is_used).map(String::as_str)
    }

    /// Returns the position of the first instruction that the block had not executed at a time.
    pub fn at_clock(&self, clock: u64) -> usize {
        self.steps.partition_point(|step| step.clock < clock)
    }

    /// Returns the registers that the instruction at a position writes.
    pub fn results(&self, position: usize) -> &[String] {
        self.steps.get(position).map(|step| self.places[step.place].results.as_slice()).unwrap_or_default()
    }

    /// Lists the registers that an instruction names, in the order of its text.
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

impl Place {
    /// Finds the instruction in the module.
    fn new(location: Location, module: &Module<'_>, history: &History) -> Self {
        let defined = module.functions.iter().filter(|function| function.body.is_some());
        let function = defined.take_while(|function| function.line <= location.ptx_line).last();
        let name = function.filter(|function| !function.is_kernel).map(|function| function.name.to_owned());
        let mut place = Self { function: name, results: Vec::new(), location };
        let instructions = function.into_iter().flat_map(Function::instructions);
        let names = instructions.filter(|instruction| instruction.line == place.location.ptx_line).flat_map(Instruction::results);
        place.results = names.map(|name| place.full_name(name)).filter(|name| history.contains_key(name)).collect();
        place
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
