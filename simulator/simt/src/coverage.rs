//! Coverage: which lines of a kernel's source were executed, and which ways its branches went.
//!
//! The executor counts for every instruction how many lanes acted. That is enough: lanes that reach an instruction either came from
//! the one before it or took a branch to it, so the lanes that a guard held back follow from the counts, and the executor counts nothing
//! extra for coverage.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::counters::counts;
use crate::exec::stats::InstructionStats;
use alu::registers::LANES;
use ptx::module::{Kernel, Module};
use ptx::program::{Action, Inst, Origin, Program, TRUE};

/// The counts of one kernel, summed over launches. A launch adds its own if they are in
/// [`LaunchOptions::coverage`](crate::LaunchOptions::coverage), even if it fails. Use them for launches of the same kernel only.
#[derive(Debug, Default)]
pub struct CoverageCounts(Mutex<Sums>);

#[derive(Clone, Debug, Default)]
struct Sums {
    launches: u64,
    /// By index of the instruction.
    instructions: Vec<InstructionStats>,
}

impl CoverageCounts {
    pub(crate) fn add(&self, counted: &[InstructionStats]) {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sums.launches += 1;
        sums.instructions.resize(counted.len(), InstructionStats::default());
        sums.instructions.iter_mut().zip(counted).for_each(|(sum, part)| *sum += *part);
    }

    /// The lines of PTX that some warp executed, from 1. An instruction whose guard kept every thread from acting was executed. The decoder
    /// computes some instructions in advance, and they are no lines: look for the code around them, which is executed together with them.
    pub fn lines(&self, kernel: &Kernel) -> BTreeSet<u32> {
        let sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let executed = kernel.program.origins.iter().zip(&sums.instructions).filter(|(_, counts)| counts.warps > 0);
        executed.map(|(origin, _)| origin.ptx_line).collect()
    }
}

/// The coverage of one kernel, including the functions that it calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Name of the kernel.
    pub kernel: String,
    /// Where the kernel begins; `None` if it has no lines.
    pub at: Option<Place>,
    /// How often it was launched.
    pub launches: u64,
    /// By file, each line that has instructions.
    pub lines: BTreeMap<String, BTreeMap<u32, Executed>>,
    /// The conditional branches and guarded instructions, sorted by place and outcomes.
    pub branches: Vec<Branch>,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file's name as the compiler recorded it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if the compiler did not record it.
    pub column: u32,
}

counts! {
    /// How often something was executed.
    #[derive(PartialEq, Eq, Serialize, Deserialize)]
    pub struct Executed {
        /// Warps. A warp whose lanes diverged counts once for each time that some of them came.
        warps,
        /// Lanes, which are threads.
        lanes,
    }
}

/// A conditional branch, a branch by a table, or a guarded instruction (`@%p`). Those of one kernel that are at the same place and have the
/// same outcomes count as one, such as the copies of an unrolled loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Its place.
    pub at: Place,
    /// Its outcomes, sorted and each once. A branch by a table may have any number; all others have two.
    pub ways: Vec<Way>,
    /// How often warps executed it.
    pub warps: u64,
    /// How often the lanes of a warp diverged at it. A guarded instruction that is no branch never diverges.
    pub diverged: u64,
}

/// One outcome of a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// The outcome.
    pub outcome: Outcome,
    /// Lanes with this outcome.
    pub lanes: u64,
}

/// The outcome of a branch or of a guarded instruction. The place that a branch leads to identifies its outcome, because a compiler may
/// invert the condition of one copy of a branch and not that of another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The lane goes on at this place.
    Goes(Place),
    /// The lane takes the branch. Only where both ways lead to the same place.
    Taken,
    /// The lane does not take the branch. Only where both ways lead to the same place.
    NotTaken,
    /// The thread ends, or returns from the function, which may be inlined.
    Ends,
    /// The guarded instruction acts.
    Acts,
    /// The guarded instruction does not act.
    Skips,
}

/// Which lines are covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines<'a> {
    /// The lines of CUDA source that `.loc` names.
    Source,
    /// The lines of the PTX text, under this name of a file.
    Ptx(&'a str),
}

impl Executed {
    fn max(self, other: Self) -> Self {
        Self { warps: self.warps.max(other.warps), lanes: self.lanes.max(other.lanes) }
    }
}

impl Branch {
    fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.ways.iter().map(|way| &way.outcome)
    }

    /// Adds the counts of the same branch.
    pub fn add(&mut self, other: &Self) {
        self.warps += other.warps;
        self.diverged += other.diverged;
        self.ways.iter_mut().zip(&other.ways).for_each(|(way, other)| way.lanes += other.lanes);
    }

    /// Returns true if they have the same place and outcomes.
    pub fn is_same(&self, other: &Self) -> bool {
        self.at == other.at && self.outcomes().eq(other.outcomes())
    }

    /// Returns true if it is a guarded instruction and no branch.
    pub fn is_guard(&self) -> bool {
        self.outcomes().any(|outcome| *outcome == Outcome::Acts)
    }
}

impl Coverage {
    /// Returns the coverage of a kernel by these counts. Without counts, nothing of it was executed. `None` if the module has no such
    /// kernel.
    ///
    /// The count of a line is the largest of its instructions'. If a function is inlined into several places, the counts of the places
    /// add up. A line without instructions is not among the lines.
    pub fn new(module: &Module, kernel: &str, counts: &CoverageCounts, lines: Lines<'_>) -> Option<Self> {
        let kernel = module.kernel(kernel)?;
        let mut sums = counts.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        sums.instructions.resize(kernel.program.code.len(), InstructionStats::default());
        Some(Reader { module, program: &kernel.program, sums: &sums, lines }.read(kernel))
    }

    /// Adds what was executed of the same kernel in other launches. It may come from another module or another process.
    pub fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        for (file, lines) in &other.lines {
            let known = self.lines.entry(file.clone()).or_default();
            lines.iter().for_each(|(line, executed)| *known.entry(*line).or_default() += *executed);
        }
        other.branches.iter().for_each(|branch| self.add_branch(branch));
    }

    fn add_branch(&mut self, branch: &Branch) {
        let order = |known: &Branch| known.at.cmp(&branch.at).then_with(|| known.outcomes().cmp(branch.outcomes()));
        match self.branches.binary_search_by(order) {
            Ok(at) => self.branches[at].add(branch),
            Err(at) => self.branches.insert(at, branch.clone()),
        }
    }
}

/// Reads the coverage of a kernel from its counts.
struct Reader<'a> {
    module: &'a Module,
    program: &'a Program,
    sums: &'a Sums,
    lines: Lines<'a>,
}

impl Reader<'_> {
    fn read(&self, kernel: &Kernel) -> Coverage {
        let reached = self.reached();
        let own = |origin: &&Origin| origin.counts && origin.call.is_none();
        let mut coverage = Coverage {
            kernel: kernel.name().to_owned(),
            at: self.program.origins.iter().filter(own).find_map(|origin| self.place(origin)),
            launches: self.sums.launches,
            lines: self.executed(&reached),
            branches: Vec::new(),
        };
        let mut pc = 0;
        while pc < self.program.code.len() {
            let (branch, next) = self.branch(pc, &reached);
            if let Some(branch) = branch {
                coverage.add_branch(&branch);
            }
            pc = next;
        }
        coverage
    }

    /// Counts the lanes that reached each instruction. Lanes whose guard did not let them act count, too.
    fn reached(&self) -> Vec<u64> {
        let Program { code, .. } = self.program;
        let mut arrived = vec![0; code.len()];
        for (inst, stats) in code.iter().zip(&self.sums.instructions) {
            if let Action::Branch { target, .. } | Action::Call { target } = inst.action {
                arrived[target as usize] += stats.lanes;
            }
        }
        // A kernel has to compute the first predicate, so its first instruction has no guard.
        let mut from_before = 0;
        let instructions = code.iter().zip(&self.sums.instructions).zip(arrived);
        let reached = instructions.map(|((inst, stats), arrived)| {
            let reached = match inst.guard {
                TRUE => stats.lanes,
                // Lanes of a launch that failed may have stopped before they came here. No warp has more than its lanes.
                _ => (from_before + arrived).clamp(stats.lanes, stats.lanes.max(stats.warps * LANES as u64)),
            };
            from_before = if is_jump(inst) { reached - stats.lanes } else { reached };
            reached
        });
        reached.collect()
    }

    fn executed(&self, reached: &[u64]) -> BTreeMap<String, BTreeMap<u32, Executed>> {
        let mut copies: BTreeMap<_, Executed> = BTreeMap::new();
        for (pc, origin) in self.program.origins.iter().enumerate().filter(|(_, origin)| origin.counts) {
            let stats = &self.sums.instructions[pc];
            let executed = match is_jump(&self.program.code[pc]) {
                true => Executed { warps: stats.warps, lanes: reached[pc] },
                false => Executed { warps: stats.warps - stats.idle, lanes: stats.lanes },
            };
            let line = match self.lines {
                Lines::Source => origin.source,
                Lines::Ptx(_) => Some((0, origin.ptx_line)),
            };
            if let Some(line) = line {
                let copy = copies.entry((line, origin.inlined_at, origin.call)).or_default();
                *copy = copy.max(executed);
            }
        }
        let mut lines: BTreeMap<String, BTreeMap<u32, Executed>> = BTreeMap::new();
        for (((file, line), ..), executed) in copies {
            if let Some(file) = self.file(file) {
                *lines.entry(file).or_default().entry(line).or_default() += executed;
            }
        }
        lines
    }

    /// Returns the branch or guarded instruction at `pc`, if there is one. Also returns the index of the instruction after it.
    fn branch(&self, pc: usize, reached: &[u64]) -> (Option<Branch>, usize) {
        let Program { code, origins, .. } = self.program;
        let (inst, origin, stats) = (&code[pc], &origins[pc], &self.sums.instructions[pc]);
        if let Action::Branch { .. } = inst.action
            && !origin.counts
        {
            let is_case =
                |at: &usize| matches!(code[*at].action, Action::Branch { .. }) && origins[*at].ptx_line == origin.ptx_line;
            let end = (pc + 1..code.len()).find(|at| !is_case(at)).unwrap_or(code.len());
            return (self.table(pc, end, reached), end);
        }
        if inst.guard == TRUE || !origin.counts {
            return (None, pc + 1);
        }
        let Some(at) = self.place(origin) else { return (None, pc + 1) };
        let outcomes = match inst.action {
            Action::Branch { target, .. } => distinct(self.outcome_at(target as usize, origin), self.outcome_at(pc + 1, origin)),
            Action::Return | Action::Exit => distinct(Outcome::Ends, self.outcome_at(pc + 1, origin)),
            _ => (Outcome::Acts, Outcome::Skips),
        };
        let mut ways =
            vec![Way { outcome: outcomes.0, lanes: stats.lanes }, Way { outcome: outcomes.1, lanes: reached[pc] - stats.lanes }];
        ways.sort_by(|a, b| a.outcome.cmp(&b.outcome));
        (Some(Branch { at, ways, warps: stats.warps, diverged: stats.divergent }), pc + 1)
    }

    /// Returns the table branch that the decoder made these branches of.
    fn table(&self, start: usize, end: usize, reached: &[u64]) -> Option<Branch> {
        let mut ways: BTreeMap<Outcome, u64> = BTreeMap::new();
        let mut diverged = 0;
        for pc in start..end {
            if let Action::Branch { target, .. } = self.program.code[pc].action {
                *ways.entry(self.outcome_at(target as usize, &self.program.origins[pc])).or_default() +=
                    self.sums.instructions[pc].lanes;
                diverged += self.sums.instructions[pc].divergent;
            }
        }
        debug_assert!(reached[start] >= ways.values().sum(), "more lanes left than came");
        Some(Branch {
            at: self.place(&self.program.origins[start])?,
            ways: ways.into_iter().map(|(outcome, lanes)| Way { outcome, lanes }).collect(),
            warps: self.sums.instructions[start].warps,
            diverged,
        })
    }

    /// Returns where lanes go on that a branch sends to `pc`: at the first instruction of another statement.
    fn outcome_at(&self, mut pc: usize, branch: &Origin) -> Outcome {
        let Program { code, origins, .. } = self.program;
        let own = self.place(branch);
        // A loop of jumps leads nowhere, so there is an end to the search.
        for _ in 0..code.len() {
            let Some(inst) = code.get(pc) else { break };
            match (inst.action, self.place(&origins[pc])) {
                (Action::Branch { target, .. }, _) if inst.guard == TRUE => pc = target as usize,
                // An inlined function ends alike at all of its places, whatever follows there.
                (_, Some(_)) if branch.call.is_some() && origins[pc].call.is_none() => break,
                // What is left to compute of the condition's own statement.
                (_, Some(place)) if !is_jump(inst) && Some(&place) == own.as_ref() => pc += 1,
                (_, Some(place)) => return Outcome::Goes(place),
                (Action::Return | Action::Exit, None) if inst.guard == TRUE => return Outcome::Ends,
                (_, None) => pc += 1,
            }
        }
        Outcome::Ends
    }

    fn place(&self, origin: &Origin) -> Option<Place> {
        let (file, line, column) = match self.lines {
            Lines::Source => origin.source.map(|(file, line)| (file, line, origin.column))?,
            Lines::Ptx(_) => (0, origin.ptx_line, 0),
        };
        Some(Place { file: self.file(file)?, line, column })
    }

    fn file(&self, number: u32) -> Option<String> {
        match self.lines {
            Lines::Source => self.module.map.source_line((number, 0)).map(|line| line.file),
            Lines::Ptx(name) => Some(name.to_owned()),
        }
    }
}

/// Returns true if lanes that act go elsewhere. Such an instruction is executed by all lanes that reach it, also by those that go on after
/// it.
fn is_jump(inst: &Inst) -> bool {
    matches!(inst.action, Action::Branch { .. } | Action::Return | Action::Exit)
}

fn distinct(taken: Outcome, other: Outcome) -> (Outcome, Outcome) {
    if taken == other { (Outcome::Taken, Outcome::NotTaken) } else { (taken, other) }
}
