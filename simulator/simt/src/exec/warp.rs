//! One warp: its registers, where its lanes are, and how it runs to its next pause.
//!
//! Lanes that part at a branch run one path after the other and meet again at the branch's immediate post-dominator. The paths that
//! wait stand on a stack: where they go on, where they meet the others, and who they are.

use super::core::Core;
use super::machine::Stop;
use super::mbarrier::{self, Vain};
use super::request::{lanes_of, lanes_where};
use super::{access, async_copy, atomics, exchange, matrix, print};
use crate::finding::FindingKind;
use crate::program::{Action, NOWHERE, Poll, Question, SINK, TRUE, VoteMode, is_barrier};
use crate::registers::{FULL, Kind, LANES, Registers};

/// Instructions that a warp executes before the others get their turn; a warp may wait for what another one writes.
const TURN: u64 = 1 << 14;

/// A warp.
#[derive(Debug)]
pub struct Warp {
    pub registers: Registers,
    /// Local memory: a word of each lane in a row.
    local: Vec<[u32; LANES]>,
    /// The path that runs now.
    path: Path,
    /// The paths that wait, the next one to run last.
    waiting: Vec<Path>,
    /// Lanes that have not ended.
    live: u32,
    /// Instructions executed in this block.
    executed: u64,
    /// The poll whose outcome the warp waits for, and the lanes that are to learn it.
    poll: Option<(Poll, u32)>,
}

/// Lanes that are at the same place.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The next instruction.
    pc: u32,
    /// Where these lanes stop and wait for the others.
    meet: u32,
    lanes: u32,
    /// How many calls deep.
    depth: u32,
}

/// What the threads of a warp say in the poll of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    pub yes: u32,
    /// Threads that were asked.
    pub asked: u32,
}

/// Why a warp paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// All lanes have ended.
    Done,
    /// At a barrier, until `warps` warps have arrived (`None`: all of the block).
    Barrier { barrier: u32, warps: Option<u32>, pc: u32, votes: Votes },
    /// It passed a barrier without waiting.
    Arrived { barrier: u32, warps: Option<u32> },
    /// It tested a phase of a barrier in shared memory in vain; others may end it meanwhile.
    Vain(Vain),
    /// Its turn is over.
    Turn,
}

impl Warp {
    pub fn new(core: &Core<'_>) -> Self {
        let program = core.machine.program;
        let mut registers = Registers::new(program.rows, program.predicates);
        for (register, kind, value) in &core.machine.constants {
            match kind {
                Kind::Double => registers.doubles_mut(*register).fill(*value),
                _ => registers.words_mut(*register).fill(*value as u32),
            }
        }
        let local = vec![[0; LANES]; program.local_bytes as usize / 4];
        let path = Path { pc: 0, meet: NOWHERE, lanes: 0, depth: 0 };
        Self { registers, local, path, waiting: Vec::new(), live: 0, executed: 0, poll: None }
    }

    /// Puts the warp at the start of the kernel. Special registers are the block's to fill.
    pub fn start(&mut self, core: &Core<'_>, lanes: u32) {
        let program = core.machine.program;
        self.registers.clear(program.written_rows, program.predicates);
        self.registers.set_predicate(TRUE, FULL, FULL);
        self.local.fill([0; LANES]);
        self.path = Path { pc: 0, meet: NOWHERE, lanes, depth: 0 };
        self.waiting.clear();
        self.live = lanes;
        self.executed = 0;
        self.poll = None;
    }

    /// Runs to the next pause.
    pub fn run(&mut self, core: &mut Core<'_>) -> Result<Pause, Stop> {
        #[cfg(target_arch = "x86_64")]
        if core.executor.has_vectors() {
            // SAFETY: the executor has looked for every feature that the function is compiled for.
            return unsafe { self.run_vector(core) };
        }
        self.execute(core)
    }

    /// [`execute`](Self::execute), compiled for processors with wide vectors and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_vector(&mut self, core: &mut Core<'_>) -> Result<Pause, Stop> {
        self.execute(core)
    }

    /// The interpreter. Inlined into its two callers, so that each gets its own machine code for all of it.
    #[inline(always)]
    fn execute(&mut self, core: &mut Core<'_>) -> Result<Pause, Stop> {
        let code = core.machine.program.code.as_slice();
        let executor = core.executor;
        let Path { mut pc, mut meet, mut lanes, mut depth } = self.path;
        let first_executed = self.executed;
        let turn = TURN.min(core.fuel);
        let mut executed = 0;
        let pause = loop {
            if pc == meet || lanes == 0 {
                match self.waiting.pop() {
                    Some(path) => Path { pc, meet, lanes, depth } = path,
                    None => break Pause::Done,
                }
                continue;
            }
            let inst = &code[pc as usize];
            let guard = self.registers.predicate(inst.guard);
            let active = lanes & if inst.negated { !guard } else { guard };
            let stats = &mut core.stats.instructions[pc as usize];
            stats.warps += 1;
            stats.lanes += u64::from(active.count_ones());
            executed += 1;
            let at = pc;
            pc += 1;
            if active == 0 {
                stats.idle += 1;
                continue;
            }
            match inst.action {
                Action::Alu { alu, destination, ref sources } => {
                    executor.execute(alu, &mut self.registers, destination, sources, active);
                }
                Action::Load(index) => access::load(core, &mut self.registers, &self.local, index, active, at)?,
                Action::Store(index) => access::store(core, &self.registers, &mut self.local, index, active, at)?,
                Action::Atomic(index) => atomics::execute(core, &mut self.registers, index, active, at)?,
                Action::Tensor(index) => {
                    if active != FULL {
                        return Err(self.fault(core, FindingKind::PartialWarp, active, at));
                    }
                    matrix::execute(core, &mut self.registers, index, at)?;
                }
                Action::Copy(index) => async_copy::begin(core, &self.registers, index, active, at)?,
                Action::BulkCopy(index) => mbarrier::begin_bulk(core, &self.registers, index, active, at)?,
                Action::Mbarrier(index) => {
                    if let Some(vain) = mbarrier::execute(core, &mut self.registers, index, active, at)? {
                        break Pause::Vain(vain);
                    }
                }
                Action::CommitCopies => core.copies.commit(core.warp, active),
                Action::WaitForCopies { pending } => async_copy::wait(core, pending, active),
                Action::Branch { target, reconverge } => {
                    if active == lanes {
                        pc = target;
                    } else {
                        stats.divergent += 1;
                        let others = lanes & !active;
                        if reconverge != meet {
                            if reconverge != NOWHERE {
                                self.waiting.push(Path { pc: reconverge, meet, lanes, depth });
                            }
                            meet = reconverge;
                        }
                        match (target == meet, pc == meet) {
                            // Lanes that are where they meet already wait with the path pushed before.
                            (true, _) => lanes = others,
                            (false, true) => (pc, lanes) = (target, active),
                            (false, false) => {
                                self.waiting.push(Path { pc, meet, lanes: others, depth });
                                (pc, lanes) = (target, active);
                            }
                        }
                    }
                    if executed >= turn {
                        break Pause::Turn;
                    }
                }
                Action::Call { target } => {
                    // The guard's other lanes wait behind the call, together with those that come back.
                    self.waiting.push(Path { pc, meet, lanes, depth });
                    Path { pc, meet, lanes, depth } = Path { pc: target, meet: NOWHERE, lanes: active, depth: depth + 1 };
                    // A tree of calls is finite, yet it may have more leaves than any fuel lasts for.
                    if executed >= turn {
                        break Pause::Turn;
                    }
                }
                Action::Return if depth > 0 => {
                    for path in self.waiting.iter_mut().filter(|path| path.depth == depth) {
                        path.lanes &= !active;
                    }
                    lanes &= !active;
                }
                Action::Return | Action::Exit => {
                    self.live &= !active;
                    for path in &mut self.waiting {
                        path.lanes &= !active;
                    }
                    lanes &= !active;
                }
                Action::Trap => return Err(self.fault(core, FindingKind::Trap, active, at)),
                Action::NoTarget { register, kind } => {
                    let lane = active.trailing_zeros() as usize;
                    let value = match kind {
                        Kind::Double => self.registers.doubles(register)[lane],
                        _ => u64::from(self.registers.words(register)[lane]),
                    };
                    return Err(self.fault(core, FindingKind::NoTarget { value }, active, at));
                }
                Action::Print { format, arguments, result } => {
                    print::print(core, &mut self.local, (format, arguments, result), active, at)?;
                }
                Action::AssertFail { params } => return Err(print::failed_assert(core, &self.local, params, active, at)),
                Action::Barrier { barrier, threads, waits, poll } => {
                    let lane = active.trailing_zeros() as usize;
                    let barrier = self.registers.words(barrier)[lane];
                    let counted = threads.map(|threads| self.registers.words(threads)[lane]);
                    if !is_barrier(barrier, counted) {
                        let kind = FindingKind::InvalidBarrier { barrier, threads: counted };
                        return Err(self.fault(core, kind, active, at));
                    }
                    let warps = counted.map(|threads| threads / LANES as u32);
                    if active != self.live {
                        return Err(self.fault(core, FindingKind::DivergentBarrier { barrier }, active, at));
                    }
                    let mut votes = Votes::default();
                    if let Some(poll) = poll {
                        let yes = self.registers.predicate(poll.source) ^ if poll.negated { u32::MAX } else { 0 };
                        votes = Votes { yes: (yes & active).count_ones(), asked: active.count_ones() };
                        self.poll = Some((poll, active));
                    }
                    break if waits { Pause::Barrier { barrier, warps, pc: at, votes } } else { Pause::Arrived { barrier, warps } };
                }
                Action::Fence => {
                    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                    if let Some(watch) = &mut core.watch {
                        watch.fence(core.warp);
                    }
                }
                Action::Shuffle { mode, destination, in_range, source, lane, clamp } => {
                    let (sources, fits) = exchange::shuffle_sources(mode, self.registers.words(lane), self.registers.words(clamp));
                    let values = *self.registers.words(source);
                    let row = self.registers.words_mut(destination);
                    for lane in lanes_of(active) {
                        row[lane] = values[sources[lane]];
                    }
                    if in_range != SINK {
                        self.registers.set_predicate(in_range, active, fits);
                    }
                }
                Action::Match { all, destination, agrees, source, kind, members } => {
                    let values = match kind {
                        Kind::Double => *self.registers.doubles(source),
                        _ => self.registers.words(source).map(u64::from),
                    };
                    let members = *self.registers.words(members);
                    for lane in lanes_of(active) {
                        let members = active & members[lane];
                        let same = lanes_where(members, |other| values[other] == values[lane]);
                        let agreed = !all || same == members;
                        self.registers.words_mut(destination)[lane] = if agreed { same } else { 0 };
                        if agrees != SINK {
                            self.registers.set_predicate(agrees, 1 << lane, if agreed { FULL } else { 0 });
                        }
                    }
                }
                Action::Reduce { op, destination, source, members } => {
                    let values = *self.registers.words(source);
                    let members = *self.registers.words(members);
                    for lane in lanes_of(active) {
                        let all = lanes_of(active & members[lane]).map(|other| u64::from(values[other]));
                        let result = all.reduce(|a, b| atomics::combine(op, 4, a, b, 0)).unwrap_or(0);
                        self.registers.words_mut(destination)[lane] = result as u32;
                    }
                }
                Action::Vote { mode, destination, source, negated, members } => {
                    let yes = self.registers.predicate(source) ^ if negated { u32::MAX } else { 0 };
                    let members = *self.registers.words(members);
                    // Groups of lanes may vote side by side in one instruction, each with its own members.
                    let mut open = active;
                    while open != 0 {
                        let group = members[open.trailing_zeros() as usize];
                        let voters = lanes_where(open, |lane| members[lane] == group);
                        open &= !voters;
                        let result = exchange::vote(mode, yes, voters & group);
                        if mode == VoteMode::Ballot {
                            let row = self.registers.words_mut(destination);
                            lanes_of(voters).for_each(|lane| row[lane] = result);
                        } else {
                            self.registers.set_predicate(destination, voters, result);
                        }
                    }
                }
                Action::Elect { leader, elected, members } => {
                    let members = *self.registers.words(members);
                    for lane in lanes_of(active) {
                        // Any lane would do; it is the lowest, and the same every time.
                        let chosen = (active & members[lane]).trailing_zeros();
                        self.registers.set_predicate(elected, 1 << lane, if chosen == lane as u32 { FULL } else { 0 });
                        if leader != SINK {
                            self.registers.words_mut(leader)[lane] = chosen;
                        }
                    }
                }
                Action::ActiveMask { destination } => {
                    let row = self.registers.words_mut(destination);
                    lanes_of(active).for_each(|lane| row[lane] = active);
                }
                Action::Clock { destination, kind } => {
                    let now = first_executed + executed;
                    for lane in lanes_of(active) {
                        match kind {
                            Kind::Double => self.registers.doubles_mut(destination)[lane] = now,
                            _ => self.registers.words_mut(destination)[lane] = now as u32,
                        }
                    }
                }
                Action::CopyLocal { from, to, bytes } => {
                    for word in 0..bytes.div_ceil(4) as usize {
                        let row = self.local[from as usize / 4 + word];
                        let target = &mut self.local[to as usize / 4 + word];
                        lanes_of(active).for_each(|lane| target[lane] = row[lane]);
                    }
                }
                // The lanes of a warp run in step here, so those that are to wait for each other have done so.
                Action::WarpSync { members } => {
                    if let Some(watch) = &mut core.watch {
                        let members = self.registers.words(members)[active.trailing_zeros() as usize];
                        watch.synchronise_lanes(core.warp, members, self.live);
                    }
                }
                Action::Nothing => {}
            }
        };
        self.path = Path { pc, meet, lanes, depth };
        self.executed += executed;
        core.fuel = core.fuel.saturating_sub(executed);
        Ok(pause)
    }

    /// Tells the warp how the poll went that it waits for.
    pub fn learn(&mut self, votes: Votes) {
        let Some((Poll { question, destination, .. }, lanes)) = self.poll.take() else { return };
        let agreed = match question {
            Question::Count => {
                let row = self.registers.words_mut(destination);
                return lanes_of(lanes).for_each(|lane| row[lane] = votes.yes);
            }
            Question::All => votes.yes == votes.asked,
            Question::Any => votes.yes > 0,
        };
        self.registers.set_predicate(destination, lanes, if agreed { FULL } else { 0 });
    }

    /// Threads that have not ended.
    pub fn live_threads(&self) -> u32 {
        self.live.count_ones()
    }

    /// The instruction that the warp would execute next.
    pub fn pc(&self) -> u32 {
        self.path.pc
    }

    fn fault(&self, core: &Core<'_>, kind: FindingKind, lanes: u32, pc: u32) -> Stop {
        Stop::Fault { kind: Box::new(kind), pc, warp: core.warp, lane: lanes.trailing_zeros(), lanes: lanes.count_ones() }
    }
}
