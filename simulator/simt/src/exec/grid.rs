//! Runs the blocks of a grid on the cores of the host.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::block::Progress;
use super::cluster::{Cluster, Halt};
use super::core::Core;
use super::machine::{Machine, Stop};
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

/// Executes all blocks and returns the counts and findings. An error is the first block that could not go on.
///
/// Workers take clusters in order, and a block without a cluster is one. After a stop, those before it still finish, so that every run
/// reports the same block.
pub fn run(machine: &Machine<'_>) -> Result<(Stats, Found), Stopped> {
    if machine.options.cooperative {
        return run_together(machine);
    }
    let chosen = machine.options.blocks.as_deref();
    let clusters = chosen.map_or_else(|| machine.clusters.clusters.volume(), |blocks| blocks.len() as u64);
    let next = AtomicU64::new(0);
    let stopped_at = AtomicU64::new(u64::MAX);
    let results = Mutex::new((Stats::new(machine.program), Vec::new(), Found::default()));
    let work = || {
        let mut core = Core::new(machine);
        let mut cluster = Cluster::new(&core);
        let mut stops = Vec::new();
        loop {
            let turn = next.fetch_add(1, Relaxed);
            if turn >= clusters || turn > stopped_at.load(Relaxed) {
                break;
            }
            let number = chosen.map_or(turn, |blocks| blocks[turn as usize]);
            cluster.start(&mut core, number, machine.options.fuel);
            let ended = cluster.run(&mut core);
            cluster.finish(&mut core);
            if let Err(halt) = ended {
                stopped_at.fetch_min(turn, Relaxed);
                stops.push(halt);
            }
        }
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        results.0.add(&core.stats);
        results.1.append(&mut stops);
        if let Some(watch) = core.watch {
            results.2.append(watch.found);
        }
    };
    // An atomic sum of floats depends on the order of the blocks. With one worker it is the same in every run.
    let most =
        if machine.program.order_matters { 1 } else { machine.options.workers.unwrap_or_else(rayon_core::current_num_threads) };
    let workers = most.clamp(1, usize::try_from(clusters).unwrap_or(usize::MAX).max(1));
    if workers == 1 {
        work();
    } else {
        rayon_core::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));
    }
    let (mut stats, stops, found) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    match stops.into_iter().min_by_key(|(place, _)| *place) {
        Some((place, stop)) => {
            // Drop the output of later blocks: how many of them ran is chance.
            stats.printed.keep_until(place);
            Err(Stopped::new(machine, place, stop, stats))
        }
        None => Ok((stats, found)),
    }
}

/// Rounds in which all blocks only poll before they count as deadlocked. A program may give up by itself after some tests.
const PATIENCE: u32 = 1 << 12;

/// Executes all blocks side by side: each has its own registers and shared memory and lets its warps have a turn before the next block goes
/// on. One worker runs them, in the order of the grid, so every run is the same.
fn run_together(machine: &Machine<'_>) -> Result<(Stats, Found), Stopped> {
    let mut running: Vec<_> = (0..machine.clusters.clusters.volume())
        .map(|number| {
            let mut core = Core::new(machine);
            let mut cluster = Cluster::new(&core);
            cluster.start(&mut core, number, machine.options.fuel);
            (core, cluster, Progress::Moved)
        })
        .collect();
    let mut rounds_in_vain = 0;
    let mut stopped = None;
    while stopped.is_none() && running.iter().any(|(.., progress)| *progress != Progress::Done) {
        let mut moved = false;
        for (core, cluster, progress) in &mut running {
            if *progress == Progress::Done {
                continue;
            }
            match cluster.round(core) {
                Ok(now) => *progress = now,
                Err(halt) => {
                    stopped = Some(halt);
                    break;
                }
            }
            moved |= *progress != Progress::Polled;
        }
        rounds_in_vain = if moved { 0 } else { rounds_in_vain + 1 };
        if rounds_in_vain > PATIENCE {
            stopped = stopped.or_else(|| deadlock(machine, &running));
        }
    }
    let (mut stats, mut found) = (Stats::new(machine.program), Found::default());
    for (core, cluster, _) in &mut running {
        cluster.finish(core);
        stats.add(&core.stats);
        if let Some(watch) = core.watch.take() {
            found.append(watch.found);
        }
    }
    match stopped {
        Some((place, stop)) => Err(Stopped::new(machine, place, stop, stats)),
        None => Ok((stats, found)),
    }
}

/// Finds the first block that waits for others in vain.
fn deadlock(machine: &Machine<'_>, running: &[(Core<'_>, Cluster<'_>, Progress)]) -> Option<Halt> {
    let ended = running.iter().map(|(_, cluster, _)| cluster.ended()).sum();
    let kind = FindingKind::GridDeadlock { ended, blocks: machine.config.grid.volume() };
    let (place, pc, warp) = running.iter().find_map(|(_, cluster, _)| cluster.running())?;
    Some((place, Stop::Fault { kind: Box::new(kind), pc, warp, lane: 0, lanes: 1 }))
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
