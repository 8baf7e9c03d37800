//! One warp: its registers, where its lanes are, and how it runs to its next pause.
//!
//! Lanes that diverge at a branch run one path after the other, and reconverge at the branch's immediate post-dominator. The
//! waiting paths are on a stack: where each goes on, where it reconverges, and its lanes.

use std::mem::discriminant;

use super::core::Core;
use super::machine::Stop;
use super::mbarrier::{self, OpenPhase};
use super::request::lanes_of;
use super::stack::{self, Saved};
use super::watch::lane_waits::Lanes;
use super::{
    access, async_copy, atomics, bulk, cluster_barrier, cluster_copy, exchange, heap, matrix, print, texture, warpgroup, wgmma,
};
use alu::registers::{FULL, Kind, LANES, Lane, Reg, Registers};
use ptx::finding::FindingKind;
use ptx::program::{Action, Exchange, NOWHERE, Poll, Question, TRUE, is_barrier};

/// Instructions that a warp executes before the next warp takes its turn. A warp may wait in a loop for a value that another one
/// writes.
const TURN: u64 = 1 << 14;
/// The same where blocks take turns, too: waiting is most of what they do, for example at a barrier of the grid.
const SHORT_TURN: u64 = 1 << 8;

/// A warp.
#[derive(Debug)]
pub struct Warp {
    pub registers: Registers,
    /// Local memory: a word of each lane in a row.
    local: Vec<[u32; LANES]>,
    /// The registers that recursive functions have saved.
    saved: Saved,
    /// The path that is running.
    path: Path,
    /// The waiting paths; the last one runs next.
    waiting: Vec<Path>,
    /// Lanes whose threads have not ended.
    live: u32,
    /// Instructions executed in this block.
    executed: u64,
    /// The poll that the warp waits for, and the lanes that receive its outcome.
    poll: Option<(Poll, u32)>,
    /// The barrier, and its number of threads, at which the lanes of one branch wait for those of the other.
    at_barrier: Option<(u32, Option<u32>)>,
    /// Lanes that wait at a barrier for the warp's other lanes to end.
    parked: Option<Box<Parked>>,
}

/// Lanes that run together.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The next instruction.
    pc: u32,
    /// The instruction at which these lanes stop, to reconverge with the others.
    reconverge: u32,
    lanes: u32,
    /// Depth of calls.
    depth: u32,
}

/// Lanes at a barrier that their warp's other lanes have not reached: their path and the paths that wait for them.
#[derive(Debug)]
struct Parked {
    path: Path,
    waiting: Vec<Path>,
}

/// The votes of a warp's threads in the poll of a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    pub yes: u32,
    /// Threads that voted.
    pub asked: u32,
}

/// The reason why a warp paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// All lanes have ended.
    Done,
    /// At a barrier, until `warps` warps have arrived (`None`: all of the block).
    Barrier { barrier: u32, warps: Option<u32>, pc: u32, votes: Votes },
    /// It passed a barrier without waiting.
    Arrived { barrier: u32, warps: Option<u32> },
    /// It tested a phase of a barrier in shared memory that is not over. Other warps may end the phase.
    OpenPhase(OpenPhase),
    /// At the barrier of the cluster, until this phase is over.
    AtCluster { phase: u32, pc: u32 },
    /// It waits until the block has this many registers for each of its threads.
    Registers { count: u32, pc: u32 },
    /// It waits until the other warps of its warpgroup have waited for as many groups of products.
    Products { groups: u32 },
    /// Its turn is over.
    Turn,
}

impl Pause {
    /// Returns true if the warp waits at this barrier of the block.
    pub fn is_at(&self, barrier: u32) -> bool {
        matches!(self, Pause::Barrier { barrier: other, .. } if *other == barrier)
    }
}

impl Warp {
    /// Makes a warp of the block with this rank in every cluster.
    pub fn new(core: &Core<'_>, rank: u32) -> Self {
        let program = core.machine.program;
        let mut registers = Registers::new(program.rows, program.predicates);
        let base = core.machine.clusters.base(rank).into();
        let addresses =
            core.machine.shared_addresses.iter().map(|(register, kind, offset)| (*register, *kind, offset.wrapping_add(base)));
        for (register, kind, value) in core.machine.constants.iter().copied().chain(addresses) {
            registers.set_lanes(kind, register, &[value; LANES]);
        }
        let local = vec![[0; LANES]; program.local_bytes as usize / 4];
        let path = Path { pc: 0, reconverge: NOWHERE, lanes: 0, depth: 0 };
        Self {
            registers,
            local,
            saved: Vec::new(),
            path,
            waiting: Vec::new(),
            live: 0,
            executed: 0,
            poll: None,
            at_barrier: None,
            parked: None,
        }
    }

    /// Puts the warp at the start of the kernel. The block fills the special registers.
    pub fn start(&mut self, core: &Core<'_>, lanes: u32) {
        let program = core.machine.program;
        let garbage = core.machine.options.garbage;
        self.registers.clear(program.written_rows, garbage, program.predicates);
        self.registers.set_predicate(TRUE, FULL, FULL);
        stack::start(program, &mut self.registers, &mut self.local, &mut self.saved);
        self.local.fill([garbage; LANES]);
        self.path = Path { pc: 0, reconverge: NOWHERE, lanes, depth: 0 };
        self.waiting.clear();
        self.live = lanes;
        self.executed = 0;
        self.poll = None;
        self.at_barrier = None;
        self.parked = None;
    }

    /// Runs to the next pause.
    pub fn run(&mut self, core: &mut Core<'_>) -> Result<Pause, Stop> {
        #[cfg(target_arch = "x86_64")]
        if core.executor.has_vectors() {
            // SAFETY: `has_vectors` is true only if the executor found on this processor every feature that `run_vector` is
            // compiled for.
            return unsafe { self.run_vector(core) };
        }
        self.execute(core)
    }

    /// Runs [`execute`](Self::execute), compiled for processors with wide vectors and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    fn run_vector(&mut self, core: &mut Core<'_>) -> Result<Pause, Stop> {
        self.execute(core)
    }

    /// Runs the interpreter. It and all its steps are inlined into its two callers, so that each gets its own machine code for all
    /// of it.
    #[inline(always)]
    fn execute(&mut self, core: &mut Core<'_>) -> Result<Pause, Stop> {
        let code = core.machine.program.code.as_slice();
        let executor = core.executor;
        let mut path = self.path;
        let turn = if core.has_short_turns { SHORT_TURN } else { TURN }.min(core.own.fuel);
        let mut executed = 0;
        let recording = core.own.recording.as_ref().is_some_and(|recording| recording.is_of(core.warp - core.first_warp));
        // Nearly all programs need neither, and pay for one test.
        let attentive = recording || core.products.are_watched;
        let pause = loop {
            if path.pc == path.reconverge || path.lanes == 0 {
                match self.waiting.pop() {
                    Some(next) => path = next,
                    None if self.parked.is_some() => path = self.unpark(),
                    None => break Pause::Done,
                }
                continue;
            }
            let at = path.pc;
            let inst = &code[at as usize];
            let guard = self.registers.predicate(inst.guard);
            let active = path.lanes & if inst.negated { !guard } else { guard };
            if attentive {
                if recording {
                    core.record(&self.registers, at, active, executed);
                }
                if core.products.are_watched && active != 0 {
                    core.note_mentions(at);
                }
            }
            let stats = &mut core.stats.instructions[at as usize];
            stats.warps += 1;
            stats.lanes += u64::from(active.count_ones());
            executed += 1;
            path.pc += 1;
            if active == 0 {
                stats.idle += 1;
                continue;
            }
            match inst.action {
                Action::Alu { alu, destination, ref sources } => {
                    executor.execute(alu, &mut self.registers, destination, sources, active);
                }
                Action::Exchange(exchange) => {
                    let is_watched = core.watch.is_some() && !exchange::is_whole(exchange, &self.registers, active);
                    let unknown = if is_watched { self.look_at_lanes(core, exchange, active, at) } else { 0 };
                    exchange::execute(exchange, &mut self.registers, active);
                    if unknown != 0 && core.machine.options.garbage != 0 {
                        exchange::spoil(exchange, &mut self.registers, unknown, core.machine.options.garbage);
                    }
                }

                Action::Load(index) => access::load(core, &mut self.registers, &self.local, index, active, at)?,
                Action::Store(index) => access::store(core, &self.registers, &mut self.local, index, active, at)?,
                Action::Atomic(index) => atomics::execute(core, &mut self.registers, index, active, at)?,
                Action::Tensor(_) | Action::Wgmma(_) if active != FULL => {
                    return Err(core.stop(FindingKind::PartialWarp, active, at));
                }
                Action::Tensor(index) => matrix::execute(core, &mut self.registers, index, at)?,
                Action::Wgmma(step) => {
                    if let Some(groups) = wgmma::execute(core, &mut self.registers, step, at)? {
                        break Pause::Products { groups };
                    }
                }
                Action::Texture(index) => texture::execute(core, &mut self.registers, index, active, at)?,
                Action::Copy(index) => async_copy::begin(core, &self.registers, index, active, at)?,
                Action::ClusterCopy(index) => cluster_copy::begin(core, &self.registers, index, active, at)?,
                Action::BulkCopy(index) => bulk::begin(core, &self.registers, index, active, at)?,
                Action::CommitBulk => core.stores.commit(core.warp, active),
                Action::WaitForBulk { pending, reads } => bulk::wait(core, (pending, reads), active),
                Action::ProxyFence => core.check(|watch, warp| watch.proxy_fence(warp, active)),
                Action::InitFence => core.check(|watch, warp| watch.order.fence_inits(warp, active)),
                Action::CommitCopies => core.copies.commit(core.warp, active),
                Action::WaitForCopies { pending } => async_copy::wait(core, pending, active),
                Action::CopyLocal { from, to, bytes } => self.copy_local(from, to, bytes, active),
                Action::CopyFrame { in_frame, fixed, bytes, into_frame } => {
                    let copy = (in_frame, fixed, bytes, into_frame);
                    stack::copy(core.machine.program, &self.registers, &mut self.local, copy, active);
                }
                Action::Save { function, callers, negated } => {
                    let memory = (&mut self.local, &mut self.saved);
                    let limit = core.machine.options.stack_bytes;
                    let calling = self.registers.predicate(callers) ^ if negated { FULL } else { 0 };
                    stack::save(core.machine.program, &mut self.registers, memory, (function, limit), (active, calling))
                        .map_err(|overflow| core.stop(overflow, active, at))?;
                }
                Action::Restore { function } => {
                    stack::restore(core.machine.program, &mut self.registers, &self.saved, function, active);
                }

                Action::Branch { target, reconverge } => {
                    if active == path.lanes {
                        path.pc = target;
                    } else {
                        stats.divergent += 1;
                        self.diverge(&mut path, active, target, reconverge);
                    }
                    if executed >= turn {
                        break Pause::Turn;
                    }
                }
                Action::Call { target } => {
                    self.call(&mut path, active, target);
                    // A tree of calls is finite, but it may have more leaves than the fuel lasts for.
                    if executed >= turn {
                        break Pause::Turn;
                    }
                }
                Action::Return if path.depth > 0 => self.leave_function(&mut path, active),
                Action::Return | Action::Exit => {
                    core.check(|watch, warp| watch.end_lanes(warp, path.lanes, active, self.live));
                    self.end_threads(&mut path, active);
                }
                Action::Trap => return Err(core.stop(FindingKind::Trap, active, at)),
                Action::NoTarget { register, kind } => {
                    return Err(core.stop(FindingKind::NoTarget { value: self.first_value(register, kind, active) }, active, at));
                }

                Action::Barrier { barrier, threads, waits, aligned, poll } => {
                    if let Some(pause) = self.barrier(core, &mut path, (barrier, threads, waits, aligned, poll), active, at)? {
                        break pause;
                    }
                }
                Action::ClusterArrive { releases, aligned } => {
                    cluster_barrier::arrive(core, active, self.live, (releases, aligned), at)?;
                }
                Action::ClusterWait { acquires, aligned } => {
                    if let Some(pause) = self.cluster_wait(core, &mut path, (acquires, aligned), active, at)? {
                        break pause;
                    }
                }
                Action::SetRegisters { count, grows } => {
                    if !warpgroup::set(core, (count, grows), active, self.live, at)? {
                        break Pause::Registers { count, pc: at };
                    }
                }
                Action::Mbarrier(index) => {
                    if let Some(open_phase) = mbarrier::execute(core, &mut self.registers, index, active, at)? {
                        break Pause::OpenPhase(open_phase);
                    }
                }
                Action::Fence { in_block } => {
                    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                    core.check(|watch, warp| watch.order.fence(warp, in_block));
                }
                // The lanes of a warp run in lockstep here, so there is nothing to wait for.
                Action::WarpSync { members } => {
                    let lanes = Lanes { active, live: self.live };
                    core.check(|watch, warp| watch.meet_lanes(None, self.registers.words(members), lanes, at, warp));
                }

                Action::Print { format, arguments, result } => {
                    print::print(core, &mut self.local, (format, arguments, result), active, at)?;
                }
                Action::Allocate { bytes, result } => heap::allocate(core, &mut self.local, (bytes, result), active),
                Action::Free { pointer } => heap::free(core, &self.local, pointer, active, at)?,
                Action::AssertFail { params } => return Err(print::failed_assert(core, &self.local, params, active, at)),
                Action::Clock { destination, kind } => {
                    let now = self.executed + executed;
                    match kind {
                        Kind::Double => u64::write(&mut self.registers, destination, active, &[now; LANES]),
                        _ => u32::write(&mut self.registers, destination, active, &[now as u32; LANES]),
                    }
                }
                Action::Nothing => {}
            }
        };
        self.path = path;
        self.executed += executed;
        core.own.fuel = core.own.fuel.saturating_sub(executed);
        Ok(pause)
    }

    /// Branches to `target` for the lanes in `taken`. The other lanes of the path go on. Both reconverge at `reconverge`.
    #[inline(always)]
    fn diverge(&mut self, path: &mut Path, taken: u32, target: u32, reconverge: u32) {
        let others = path.lanes & !taken;
        if reconverge != path.reconverge {
            if reconverge != NOWHERE {
                self.waiting.push(Path { pc: reconverge, ..*path });
            }
            path.reconverge = reconverge;
        }
        match (target == path.reconverge, path.pc == path.reconverge) {
            // Lanes that are already at the reconvergence point wait there, in the path pushed above.
            (true, _) => path.lanes = others,
            (false, true) => (path.pc, path.lanes) = (target, taken),
            (false, false) => {
                self.waiting.push(Path { lanes: others, ..*path });
                (path.pc, path.lanes) = (target, taken);
            }
        }
    }

    /// Sends the lanes in `called` to a function. The others wait after the call for those that return.
    #[inline(always)]
    fn call(&mut self, path: &mut Path, called: u32, target: u32) {
        self.waiting.push(*path);
        *path = Path { pc: target, reconverge: NOWHERE, lanes: called, depth: path.depth + 1 };
    }

    /// Lets lanes return from a function. The path that waits after the call already has them.
    #[inline(always)]
    fn leave_function(&mut self, path: &mut Path, leaving: u32) {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.depth == path.depth) {
            waiting.lanes &= !leaving;
        }
        path.lanes &= !leaving;
    }

    /// Ends threads, and removes them from every waiting path.
    #[inline(always)]
    fn end_threads(&mut self, path: &mut Path, ending: u32) {
        self.live &= !ending;
        for waiting in &mut self.waiting {
            waiting.lanes &= !ending;
        }
        path.lanes &= !ending;
    }

    /// Checks the lanes of an exchange between fewer than 32. Returns those that read a lane which takes no part.
    #[cold]
    fn look_at_lanes(&self, core: &mut Core<'_>, exchange: Exchange, active: u32, at: u32) -> u32 {
        let Some(members) = exchange.members() else { return 0 };
        let lanes = Lanes { active, live: self.live };
        core.check(|watch, warp| {
            watch.meet_lanes(Some(discriminant(&exchange)), self.registers.words(members), lanes, at, warp);
        });
        let (readers, sources) = exchange::readers_of_absent(exchange, &self.registers, active, self.live);
        if let Some(lane) = lanes_of(readers).next() {
            core.note_absent_lane(at, lane, sources[lane]);
        }
        readers
    }

    /// Arrives at a barrier of the block. The tuple has its number, the number of threads, whether the warp waits and is aligned, and the poll. If
    /// the warp has other lanes, these run on first, and there is no pause yet.
    #[inline(always)]
    fn barrier(
        &mut self,
        core: &mut Core<'_>,
        path: &mut Path,
        (barrier, threads, waits, aligned, poll): (Reg, Option<Reg>, bool, bool, Option<Poll>),
        active: u32,
        at: u32,
    ) -> Result<Option<Pause>, Stop> {
        let barrier = self.first_value(barrier, Kind::Word, active) as u32;
        let threads = threads.map(|threads| self.first_value(threads, Kind::Word, active) as u32);
        if !is_barrier(barrier, threads) {
            return Err(core.stop(FindingKind::InvalidBarrier { barrier, threads }, active, at));
        }
        let first = self.at_barrier.take();
        let warps = threads.map(|threads| threads / LANES as u32);
        if active != self.live {
            if core.machine.independent_lanes && waits && !aligned && poll.is_none() && self.parked.is_none() {
                match first {
                    None if self.lets_sibling_arrive(path, active, at) => {
                        self.at_barrier = Some((barrier, threads));
                        uncount(core, at, active);
                        return Ok(None);
                    }
                    Some(first) if first == (barrier, threads) && self.sibling_has_arrived(core, active) => {
                        return Ok(Some(Pause::Barrier { barrier, warps, pc: at, votes: Votes::default() }));
                    }
                    _ => {}
                }
            }
            if !core.machine.independent_lanes || self.parked.is_some() {
                return Err(core.stop(FindingKind::DivergentBarrier { barrier }, active, at));
            }
            self.park(path, active, at);
            // The barrier is executed again, and counted then.
            uncount(core, at, active);
            return Ok(None);
        }
        let mut votes = Votes::default();
        if let Some(poll) = poll {
            let yes = self.registers.predicate(poll.source) ^ if poll.negated { u32::MAX } else { 0 };
            votes = Votes { yes: (yes & active).count_ones(), asked: active.count_ones() };
            self.poll = Some((poll, active));
        }
        Ok(Some(if waits { Pause::Barrier { barrier, warps, pc: at, votes } } else { Pause::Arrived { barrier, warps } }))
    }

    /// Lets the lanes of the other branch run to their barrier first. PTX ISA, `barrier`: without `.aligned`, the lanes of a warp
    /// may execute different instructions. Returns false if there is no other branch that reconverges where this one does.
    #[cold]
    fn lets_sibling_arrive(&mut self, path: &mut Path, active: u32, at: u32) -> bool {
        let lanes = path.lanes;
        let is_sibling = |other: &&mut Path| {
            other.lanes & lanes == 0 && (other.reconverge, other.depth) == (path.reconverge, path.depth) && active == lanes
        };
        let Some(other) = self.waiting.last_mut().filter(is_sibling) else { return false };
        // They execute the barrier again if the others do not come to one.
        path.pc = at;
        std::mem::swap(path, other);
        true
    }

    /// Returns true if these lanes and the waiting branch are all. It then goes on after its barrier.
    #[cold]
    fn sibling_has_arrived(&mut self, core: &mut Core<'_>, active: u32) -> bool {
        let Some(other) = self.waiting.last_mut().filter(|other| other.lanes | active == self.live) else { return false };
        let stats = &mut core.stats.instructions[other.pc as usize];
        (stats.warps, stats.lanes) = (stats.warps + 1, stats.lanes + u64::from(other.lanes.count_ones()));
        other.pc += 1;
        true
    }

    /// Waits at the barrier of the cluster until its phase is over.
    #[cold]
    fn cluster_wait(
        &mut self,
        core: &mut Core<'_>,
        path: &mut Path,
        kind: (bool, bool),
        active: u32,
        at: u32,
    ) -> Result<Option<Pause>, Stop> {
        if cluster_barrier::wait(core, active, self.live, kind, at)? {
            return Ok(None);
        }
        // It is executed again when the phase is over, and counted then.
        uncount(core, at, active);
        if active == self.live || self.parked.is_some() {
            path.pc = at;
            return Ok(Some(Pause::AtCluster { phase: core.cluster_barrier.phase, pc: at }));
        }
        // Other lanes of the warp may have to arrive first.
        self.park(path, active, at);
        Ok(None)
    }

    /// Sets the lanes in `parking` aside at a barrier. They wait until the warp's other lanes have ended.
    #[cold]
    fn park(&mut self, path: &mut Path, parking: u32, at: u32) {
        let with = |lanes: u32| move |path: Path| Path { lanes: path.lanes & lanes, ..path };
        let waiting = self.waiting.iter().copied().map(with(parking)).collect();
        self.parked = Some(Box::new(Parked { path: Path { pc: at, lanes: parking, ..*path }, waiting }));
        self.waiting.iter_mut().for_each(|path| path.lanes &= !parking);
        path.lanes &= !parking;
    }

    /// Lets the parked lanes go on: they are all that the warp has left.
    #[cold]
    fn unpark(&mut self) -> Path {
        let Parked { path, waiting } = *self.parked.take().expect("the caller saw that lanes are parked");
        self.waiting = waiting;
        path
    }

    /// Copies bytes to another place in local memory, lane by lane.
    #[inline(always)]
    fn copy_local(&mut self, from: u32, to: u32, bytes: u32, active: u32) {
        for word in 0..bytes.div_ceil(4) as usize {
            let row = self.local[from as usize / 4 + word];
            let target = &mut self.local[to as usize / 4 + word];
            lanes_of(active).for_each(|lane| target[lane] = row[lane]);
        }
    }

    /// Returns the register of the lowest active lane.
    #[inline(always)]
    fn first_value(&self, register: Reg, kind: Kind, active: u32) -> u64 {
        self.registers.lane(kind, register, active.trailing_zeros() as usize)
    }

    /// Gives the warp the outcome of the poll that it waits for.
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

    /// Returns the lanes whose threads have not ended.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// Returns the instruction that the warp would execute next.
    pub fn pc(&self) -> u32 {
        self.path.pc
    }
}

/// Takes back the count of an instruction. These lanes will execute it again.
fn uncount(core: &mut Core<'_>, at: u32, lanes: u32) {
    let stats = &mut core.stats.instructions[at as usize];
    (stats.warps, stats.lanes) = (stats.warps - 1, stats.lanes - u64::from(lanes.count_ones()));
}
