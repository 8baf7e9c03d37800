//! Runs the blocks of a grid on the cores of the host.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::block::{self, Block, Progress};
use super::core::Core;
use super::machine::{Machine, Stop};
use super::stats::Stats;
use super::warp::Warp;
use super::watch::found::Found;
use crate::finding::FindingKind;
use crate::registers::LANES;

/// The first block in grid order that could not go on.
#[derive(Debug)]
pub struct Stopped {
    pub block: u64,
    pub stop: Stop,
    /// The output of that block and the blocks before it up to then, and the bytes of it that were overwritten.
    pub printed: (String, u64),
}

/// Executes all blocks and returns the counts and findings, or the first block that could not go on.
///
/// Workers take blocks in order. After a stop, the blocks before it still finish, so that every run reports the same block.
pub fn run(machine: &Machine<'_>, fuel: u64, workers: Option<usize>) -> Result<(Stats, Found), Stopped> {
    if machine.cooperative {
        return run_together(machine, fuel);
    }
    let blocks = machine.config.grid.volume();
    let next = AtomicU64::new(0);
    let stopped_at = AtomicU64::new(u64::MAX);
    let results = Mutex::new((Stats::new(machine.program), Vec::new(), Found::default()));
    let work = || {
        let mut core = Core::new(machine);
        let count = machine.config.block.volume().div_ceil(LANES as u64);
        let mut warps: Vec<Warp> = (0..count).map(|_| Warp::new(&core)).collect();
        let mut stops = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= blocks || number > stopped_at.load(Relaxed) {
                break;
            }
            let ended = block::run(&mut core, &mut warps, number, fuel);
            if !core.printed.is_empty() {
                core.stats.printed.push(number, std::mem::take(&mut core.printed), machine.printed_bytes);
            }
            if let Err(stop) = ended {
                stopped_at.fetch_min(number, Relaxed);
                stops.push((number, stop));
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
    let most = if machine.program.order_matters { 1 } else { workers.unwrap_or_else(rayon::current_num_threads) };
    let workers = most.clamp(1, usize::try_from(blocks).unwrap_or(usize::MAX).max(1));
    if workers == 1 {
        work();
    } else {
        rayon::scope(|scope| (0..workers).for_each(|_| scope.spawn(|_| work())));
    }
    let (mut stats, stops, found) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    match stops.into_iter().min_by_key(|(number, _)| *number) {
        Some((block, stop)) => {
            // Drop the output of later blocks: how many of them ran is chance.
            stats.printed.keep_until(block);
            Err(Stopped { block, stop, printed: stats.printed.finish(machine.printed_bytes) })
        }
        None => Ok((stats, found)),
    }
}

/// Rounds in which all blocks only poll before they count as deadlocked. A program may give up by itself after some tests.
const PATIENCE: u32 = 1 << 12;

/// Executes all blocks side by side: each has its own registers and shared memory and lets its warps have a turn before the next block goes
/// on. One worker runs them, in the order of the grid, so every run is the same.
fn run_together(machine: &Machine<'_>, fuel: u64) -> Result<(Stats, Found), Stopped> {
    let warps_per_block = machine.config.block.volume().div_ceil(LANES as u64);
    let mut running: Vec<_> = (0..machine.config.grid.volume())
        .map(|number| {
            let mut core = Core::new(machine);
            let mut warps: Vec<Warp> = (0..warps_per_block).map(|_| Warp::new(&core)).collect();
            let block = Block::start(&mut core, &mut warps, number, fuel);
            (core, warps, block, Progress::Moved)
        })
        .collect();
    let mut rounds_in_vain = 0;
    let mut stopped = None;
    while stopped.is_none() && running.iter().any(|(.., progress)| *progress != Progress::Done) {
        let mut moved = false;
        for (number, (core, warps, block, progress)) in running.iter_mut().enumerate() {
            if *progress == Progress::Done {
                continue;
            }
            match block.round(core, warps) {
                Ok(now) => *progress = now,
                Err(stop) => {
                    stopped = Some((number, stop));
                    break;
                }
            }
            moved |= *progress != Progress::Polled;
        }
        rounds_in_vain = if moved { 0 } else { rounds_in_vain + 1 };
        if rounds_in_vain > PATIENCE {
            stopped = stopped.or_else(|| deadlock(&running));
        }
    }
    let (mut stats, mut found) = (Stats::new(machine.program), Found::default());
    for (number, (core, ..)) in running.iter_mut().enumerate() {
        if !core.printed.is_empty() {
            core.stats.printed.push(number as u64, std::mem::take(&mut core.printed), machine.printed_bytes);
        }
        stats.add(&core.stats);
        if let Some(watch) = core.watch.take() {
            found.append(watch.found);
        }
    }
    match stopped {
        Some((block, stop)) => Err(Stopped { block: block as u64, stop, printed: stats.printed.finish(machine.printed_bytes) }),
        None => Ok((stats, found)),
    }
}

/// The first block that waits for others in vain.
fn deadlock(running: &[(Core<'_>, Vec<Warp>, Block, Progress)]) -> Option<(usize, Stop)> {
    let ended = running.iter().filter(|(.., progress)| *progress == Progress::Done).count() as u64;
    let kind = FindingKind::GridDeadlock { ended, blocks: running.len() as u64 };
    running.iter().enumerate().find_map(|(number, (_, warps, block, _))| {
        let warp = block.running()?;
        Some((number, Stop::Fault { kind: Box::new(kind.clone()), pc: warps[warp].pc(), warp: warp as u32, lane: 0, lanes: 1 }))
    })
}
