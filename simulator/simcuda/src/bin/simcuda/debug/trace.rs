//! The record of a warp, and the registers at each of its instructions.

use std::collections::{BTreeSet, HashMap};

use simcuda::stepping::{Step, Values, Warp};
use simt::{Finding, Location, SourceLine};

/// Operations whose first operand may be a register that they read.
const WITHOUT_RESULT: [&str; 10] = ["st", "red", "bra", "brx", "bar", "barrier", "call", "cp", "mbarrier", "wgmma"];

/// The record of a warp. A position in it is the index of the instruction that comes next; the last position is behind all of them.
#[derive(Debug)]
pub struct Trace {
    places: Vec<Location>,
    steps: Vec<Step>,
    /// How many instructions of the warp come before the record.
    pub first: u64,
    /// How many instructions the warp executed in all.
    pub executed: u64,
    /// Each register's values, each with the position from which on it has them.
    history: HashMap<String, Vec<(usize, Values)>>,
    /// The names of the registers, in the order of their declaration.
    registers: Vec<String>,
    /// The names that the PTX declares as floating-point numbers, without the number at their end.
    floats: BTreeSet<String>,
    /// The defects that were found, by position.
    pub found: Vec<(usize, Finding)>,
}

impl Trace {
    /// Makes it from what was recorded.
    pub fn new(warp: Warp, first: u64) -> Self {
        let Warp { ptx, places, start, steps, executed, found } = warp;
        let registers = start.iter().map(|write| write.register.clone()).collect();
        let mut history: HashMap<_, _> = start.into_iter().map(|write| (write.register, vec![(0, write.values)])).collect();
        for (position, step) in steps.iter().enumerate() {
            for write in &step.writes {
                history.entry(write.register.clone()).or_default().push((position + 1, write.values));
            }
        }
        let in_record = |number: u64| number.checked_sub(first).and_then(|position| usize::try_from(position).ok());
        let found = found.into_iter().filter_map(|(number, finding)| {
            let position = in_record(number).filter(|position| *position < steps.len())?;
            Some((position, finding))
        });
        let found = found.collect();
        Self { places, steps, first, executed, history, registers, floats: floats(&ptx), found }
    }

    /// How many instructions are recorded.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// The instruction at a position.
    pub fn step(&self, position: usize) -> Option<(&Step, &Location)> {
        let step = self.steps.get(position)?;
        Some((step, &self.places[step.place]))
    }

    /// The line of CUDA C at a position.
    pub fn line(&self, position: usize) -> Option<&SourceLine> {
        self.step(position)?.1.source.as_ref()
    }

    /// The values of a register at a position, before the instruction there.
    pub fn values(&self, register: &str, position: usize) -> Option<&Values> {
        let history = self.history.get(register)?;
        let after = history.partition_point(|(from, _)| *from <= position);
        Some(&history[after.checked_sub(1)?].1)
    }

    /// The position of the last instruction before this position that changed a register in a lane.
    pub fn origin(&self, register: &str, lane: u32, position: usize) -> Option<usize> {
        let history = self.history.get(register)?;
        let known = history.partition_point(|(from, _)| *from <= position);
        let pairs = history[..known].windows(2).rev();
        let changed = pairs.into_iter().find(|pair| bits(&pair[0].1, lane) != bits(&pair[1].1, lane))?;
        Some(changed[1].0 - 1)
    }

    /// The text of the instruction that gave a register its values at a position, if the record has it.
    pub fn writer(&self, register: &str, position: usize) -> Option<&str> {
        let history = self.history.get(register)?;
        let (from, _) = history[..history.partition_point(|(from, _)| *from <= position)].last()?;
        self.step(from.checked_sub(1)?).map(|(_, place)| place.instruction.as_str())
    }

    /// Whether a register is declared as a floating-point number.
    pub fn is_float(&self, register: &str) -> bool {
        self.floats.contains(register.trim_end_matches(|letter: char| letter.is_ascii_digit()))
    }

    /// Lists the registers that something has changed before a position, or that are not zero, in the order of their declaration.
    pub fn in_use(&self, position: usize) -> impl Iterator<Item = &str> {
        let is_used = move |register: &&String| {
            let history = &self.history[*register];
            let is_zero = |values: &Values| (0..32).all(|lane| bits(values, lane) == 0);
            history.get(1).is_some_and(|(from, _)| *from <= position) || history.first().is_some_and(|(_, values)| !is_zero(values))
        };
        self.registers.iter().filter(is_used).map(String::as_str)
    }

    /// The position of the first instruction that the block had not yet executed at this time.
    pub fn at_clock(&self, clock: u64) -> usize {
        self.steps.partition_point(|step| step.clock < clock)
    }

    /// The register that an instruction names first after its opcode, if that is its result.
    pub fn result<'t>(&self, instruction: &'t str) -> Option<&'t str> {
        let after_guard = if instruction.starts_with('@') { instruction.split_once(' ')?.1 } else { instruction };
        let (opcode, operands) = after_guard.split_once(' ')?;
        let operation = opcode.split('.').next()?;
        let first = operands.split([',', ';', '|']).next()?.trim();
        (!WITHOUT_RESULT.contains(&operation) && self.history.contains_key(first)).then_some(first)
    }

    /// The registers that an instruction names, in the order of its text, each with the number of times.
    pub fn mentioned<'t>(&self, instruction: &'t str) -> Vec<(&'t str, u32)> {
        let is_part = |letter: char| letter.is_alphanumeric() || "%$_.".contains(letter);
        let mut mentioned: Vec<(&str, u32)> = Vec::new();
        for word in instruction.split(|letter| !is_part(letter)).filter(|word| self.history.contains_key(*word)) {
            match mentioned.iter_mut().find(|(known, _)| *known == word) {
                Some((_, times)) => *times += 1,
                None => mentioned.push((word, 1)),
            }
        }
        mentioned
    }
}

/// The names of the registers that are declared as floating-point numbers: `%f` for `.reg .f32 %f<11>;`.
fn floats(ptx: &str) -> BTreeSet<String> {
    let declared = ptx.lines().filter_map(|line| line.trim().strip_prefix(".reg"));
    let floats = declared.filter_map(|rest| rest.trim().strip_prefix(".f32").or_else(|| rest.trim().strip_prefix(".f64")));
    let names = floats.flat_map(|names| names.split([',', ';'])).filter_map(|name| name.split('<').next());
    names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The bits of a value in a lane.
pub fn bits(values: &Values, lane: u32) -> u64 {
    match values {
        Values::Predicate(bits) => u64::from(bits >> lane & 1),
        Values::Words(words) => words[lane as usize].into(),
        Values::Doubles(doubles) => doubles[lane as usize],
    }
}
