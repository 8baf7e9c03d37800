//! Runs the blocks of a grid on the cores of the host.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::block::Progress;
use super::cluster::{Cluster, Halt};
use super::core::Core;
use super::machine::{Machine, Stop};
use super::request::Polled;
use super::stats::Stats;
use super::watch::found::Found;
use ptx::finding::FindingKind;

/// The first block that could not go on. The order is that of the grid, cluster by cluster.
#[derive(Debug)]
pub struct Stopped {
    pub block: u64,
    pub stop: Stop,
    /// The output of that block and the blocks before it up to then, and the bytes of it that were overwritten.
    pub printed: (String, u64),
    /// The counts of all blocks that ran, of which there may be more in one run than in the next.
    pub stats: Box<Stats>,
}

/// Rounds in which a worker's only block may poll in vain. The worker then looks after others.
const WAITS: u32 = 16;
/// Rounds in which all blocks only poll before they count as deadlocked. A program may give up by itself after some tests.
const PATIENCE: u32 = 1 << 12;

/// Executes all blocks and returns the counts and findings. An error is the first block that could not go on.
///
/// Workers take clusters in order, and a block without a cluster is one. A block may wait for one that has not started: it keeps its
/// place, and once every running block waits, the next one starts beside them, as long as the GPU would hold it, too. A cooperative launch
/// starts all blocks at once, on one worker, so every run is the same. After a stop, the blocks before it still finish, so that every run
/// reports the same block.
pub fn run(machine: &Machine<'_>) -> Result<(Stats, Found), Stopped> {
    let clusters = machine.options.blocks.as_ref().map_or(machine.clusters.clusters.volume(), |blocks| blocks.len() as u64);
    // An atomic sum of floats depends on the order of the blocks. With one worker it is the same in every run.
    let alone = machine.program.order_matters || machine.options.cooperative;
    let most = if alone { 1 } else { machine.options.workers.unwrap_or_else(rayon_core::current_num_threads) };
    let workers = most.clamp(1, usize::try_from(clusters).unwrap_or(usize::MAX).max(1));
    let crew = Crew {
        machine,
        clusters,
        next: AtomicU64::new(0),
        ended: AtomicU64::new(0),
        stopped_at: AtomicU64::new(u64::MAX),
        gave_up: AtomicBool::new(false),
        attendance: Mutex::default(),
        results: Mutex::new((Stats::new(machine.program), Vec::new(), Found::default())),
    };
    if workers == 1 {
        crew.work();
    } else {
        rayon_core::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| crew.work())));
    }
    let (mut stats, stops, found) = crew.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    match stops.into_iter().min_by_key(|(place, _)| *place) {
        Some((place, stop)) => {
            // Drop the output of later blocks: how many of them ran is chance.
            stats.printed.keep_until(place);
            Err(Stopped::new(machine, place, stop, stats))
        }
        None => Ok((stats, found)),
    }
}

/// The workers of a launch.
struct Crew<'a> {
    machine: &'a Machine<'a>,
    /// How many clusters run.
    clusters: u64,
    /// The next cluster to start.
    next: AtomicU64,
    /// Clusters that have ended.
    ended: AtomicU64,
    /// The first cluster that could not go on.
    stopped_at: AtomicU64,
    /// It stopped because all blocks wait in vain. Each worker then names its first block.
    gave_up: AtomicBool,
    attendance: Mutex<Attendance>,
    results: Mutex<(Stats, Vec<Halt>, Found)>,
}

/// The workers that work, and those that wait.
#[derive(Default)]
struct Attendance {
    /// Workers with a block that does not only wait.
    busy: usize,
    /// Workers whose blocks all wait.
    waiting: usize,
    /// Waiting workers whose blocks have all looked in vain since the last change.
    in_vain: usize,
    /// How often a worker began to work or to wait. Only a worker that works changes memory.
    changes: u64,
}

impl Attendance {
    /// Changes how many workers are busy and how many wait.
    fn change(&mut self, busy: isize, waiting: isize) {
        self.busy = self.busy.saturating_add_signed(busy);
        self.waiting = self.waiting.saturating_add_signed(waiting);
        self.in_vain = 0;
        self.changes += 1;
    }

    /// Notes that a waiting worker's blocks have all looked in vain. Its looks are the changes before it looked last, and those at which it was
    /// counted. Returns true if all workers wait in vain.
    fn look(&mut self, (before, counted): &mut (u64, u64)) -> bool {
        if *before == self.changes && *counted != self.changes {
            *counted = self.changes;
            self.in_vain += 1;
        }
        *before = self.changes;
        self.all_wait()
    }

    fn all_wait(&self) -> bool {
        self.busy == 0 && self.in_vain == self.waiting
    }
}

/// A cluster that has started, and what its worker has for it; reused from cluster to cluster.
struct Seat<'a> {
    core: Core<'a>,
    cluster: Cluster<'a>,
    number: u64,
    progress: Progress,
    /// The poll in which it waited when nothing could go on before a later cluster started, and that cluster.
    waited: Option<(Polled, u64)>,
}

impl<'a> Crew<'a> {
    /// Takes clusters and executes them until none is left.
    fn work(&self) {
        self.attendance().change(1, 0);
        let (mut seats, mut free, mut stops) = (Vec::new(), Vec::new(), Vec::new());
        let (mut is_busy, mut rounds_in_vain, mut looks) = (true, 0, (0, 0));
        loop {
            free.extend(seats.extract_if(.., |seat: &mut Box<Seat<'a>>| seat.progress == Progress::Done));
            while (seats.is_empty() || self.machine.options.cooperative)
                && let Some(number) = self.take()
            {
                seats.push(self.seat(free.pop(), number));
            }
            if seats.is_empty() {
                break;
            }
            let mut moved = false;
            for seat in &mut seats {
                let is_short = self.machine.options.cooperative || seat.progress == Progress::Polled;
                moved |= self.round(seat, is_short, &mut stops);
            }
            if moved {
                rounds_in_vain = 0;
                if !is_busy {
                    is_busy = true;
                    self.attendance().change(1, -1);
                }
                continue;
            }
            rounds_in_vain += 1;
            if seats.len() == 1 && rounds_in_vain < WAITS {
                continue;
            }
            if is_busy {
                is_busy = false;
                self.attendance().change(-1, 1);
            }
            if !self.attendance().look(&mut looks) {
                // A block of another worker may be the one that these wait for.
                rest(rounds_in_vain);
            } else if let Some(number) = self.take_beside() {
                for seat in &mut seats {
                    seat.waited = seat.waited.or(seat.core.polled.map(|polled| (polled, number)));
                }
                seats.push(self.seat(free.pop(), number));
            } else if self.stopped_at.load(SeqCst) != u64::MAX && !self.gave_up.load(SeqCst) {
                // What these wait for has stopped.
                break;
            } else if let Some(kind) = self.deadlock(&seats) {
                if rounds_in_vain > PATIENCE
                    && let Some((place, pc, warp)) = seats.iter().find_map(|seat| seat.cluster.running())
                {
                    self.stop((place, Stop::Fault { kind: Box::new(kind), pc, warp, lane: 0, lanes: 1 }), &mut stops);
                }
            } else {
                // The host, or another launch, may still change what they wait for. The first block waits until its fuel is used up.
                (0..WAITS).find(|_| self.round(&mut seats[0], false, &mut stops) || !self.attendance().all_wait());
            }
        }
        self.attendance().change(-isize::from(is_busy), -isize::from(!is_busy));
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.1.append(&mut stops);
        for mut seat in seats.into_iter().chain(free) {
            seat.cluster.finish(&mut seat.core);
            results.0.add(&seat.core.stats);
            if let Some(watch) = seat.core.watch.take() {
                results.2.append(watch.found);
            }
        }
    }

    fn attendance(&self) -> MutexGuard<'_, Attendance> {
        self.attendance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the next cluster, unless one before it has stopped.
    fn take(&self) -> Option<u64> {
        if self.has_no_more() {
            return None;
        }
        self.number(self.next.fetch_add(1, SeqCst))
    }

    /// Takes the next cluster, if the GPU holds it beside the others.
    fn take_beside(&self) -> Option<u64> {
        let running = self.next.load(SeqCst).min(self.clusters) - self.ended.load(SeqCst);
        if running < self.machine.resident_clusters { self.take() } else { None }
    }

    fn has_no_more(&self) -> bool {
        self.number(self.next.load(SeqCst)).is_none_or(|number| number > self.stopped_at.load(SeqCst))
    }

    /// Returns the number of the cluster whose turn it is.
    fn number(&self, turn: u64) -> Option<u64> {
        match &self.machine.options.blocks {
            Some(blocks) => blocks.get(turn as usize).copied(),
            None => (turn < self.clusters).then_some(turn),
        }
    }

    fn seat(&self, free: Option<Box<Seat<'a>>>, number: u64) -> Box<Seat<'a>> {
        let mut seat = free.unwrap_or_else(|| {
            let core = Core::new(self.machine);
            let cluster = Cluster::new(&core);
            Box::new(Seat { core, cluster, number, progress: Progress::Moved, waited: None })
        });
        (seat.number, seat.progress, seat.waited) = (number, Progress::Moved, None);
        seat.cluster.start(&mut seat.core, number, self.machine.options.fuel);
        seat
    }

    /// Gives a cluster a round. Returns true if it did more than poll.
    fn round(&self, seat: &mut Seat<'a>, is_short: bool, stops: &mut Vec<Halt>) -> bool {
        if seat.number >= self.stopped_at.load(SeqCst) {
            seat.progress = Progress::Done;
            return true;
        }
        seat.core.has_short_turns = is_short;
        match seat.cluster.round(&mut seat.core) {
            Ok(progress) => {
                seat.progress = progress;
                if self.machine.options.until_defect && seat.core.watch.as_ref().is_some_and(|watch| !watch.found.is_empty()) {
                    self.stopped_at.store(0, SeqCst);
                }
            }
            Err(halt) => {
                self.stop(halt, stops);
                seat.progress = Progress::Done;
            }
        }
        if seat.progress == Progress::Polled {
            return false;
        }
        if let Some((polled, later)) = seat.waited.take() {
            seat.core.note_wait_for_later(polled, later);
        }
        if seat.progress == Progress::Done {
            seat.cluster.finish(&mut seat.core);
            self.ended.fetch_add(1, SeqCst);
        }
        true
    }

    /// Notes that a block cannot go on. Those after it stop, too; in a cooperative launch, all.
    fn stop(&self, halt: Halt, stops: &mut Vec<Halt>) {
        let is_in_vain = match &halt.1 {
            Stop::Fault { kind, .. } => matches!(**kind, FindingKind::GridDeadlock { .. }),
            Stop::OutOfFuel { polled, .. } => polled.is_some(),
        };
        self.gave_up.fetch_or(is_in_vain, SeqCst);
        let cluster = halt.0 / u64::from(self.machine.clusters.blocks);
        self.stopped_at.fetch_min(if self.machine.options.cooperative { 0 } else { cluster }, SeqCst);
        stops.push(halt);
    }

    /// Returns the deadlock of blocks that all wait: all of a cooperative launch, or all that the GPU holds.
    fn deadlock(&self, seats: &[Box<Seat<'a>>]) -> Option<FindingKind> {
        let of_cluster = u64::from(self.machine.clusters.blocks);
        let of_own: u64 = seats.iter().map(|seat| seat.cluster.ended()).sum();
        let (blocks, ended) = (self.machine.config.grid.volume(), self.ended.load(SeqCst) * of_cluster + of_own);
        let started = self.next.load(SeqCst).min(self.clusters) * of_cluster;
        let is_full = started < self.clusters * of_cluster && !seats.iter().any(|seat| seat.core.polls_host());
        let resident = is_full.then(|| started - ended);
        (is_full || self.machine.options.cooperative).then_some(FindingKind::GridDeadlock { ended, blocks, resident })
    }
}

/// Leaves the processor to others: soon for a moment, and then for longer.
fn rest(rounds: u32) {
    match rounds {
        ..PATIENCE => std::thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(u64::from(rounds / 64).min(1000))),
    }
}

impl Stopped {
    /// Describes where a launch stopped. `place` is the block's among all blocks in the order in which they run.
    fn new(machine: &Machine<'_>, place: u64, stop: Stop, mut stats: Stats) -> Self {
        let blocks = u64::from(machine.clusters.blocks);
        let block = machine.clusters.block(place / blocks, (place % blocks) as u32);
        let printed = stats.printed.finish(machine.options.printed_bytes);
        Self { block, stop, printed, stats: Box::new(stats) }
    }
}
