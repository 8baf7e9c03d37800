//! Runs the blocks of a grid on the cores of the host.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::block;
use super::core::Core;
use super::machine::{Machine, Stop};
use super::stats::Stats;
use super::warp::Warp;
use super::watch::found::Found;
use crate::registers::LANES;

/// The first block in grid order that could not go on.
#[derive(Debug)]
pub struct Stopped {
    pub block: u64,
    pub stop: Stop,
    /// The output of that block and the blocks before it up to then.
    pub printed: String,
}

/// Executes all blocks and returns the counts and findings, or the first block that could not go on.
///
/// Workers take blocks in order. After a stop, the blocks before it still finish, so that every run reports the same block.
pub fn run(machine: &Machine<'_>, fuel: u64, workers: Option<usize>) -> Result<(Stats, Found), Stopped> {
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
                core.stats.printed.push((number, std::mem::take(&mut core.printed)));
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
            stats.printed.retain(|(number, _)| *number <= block);
            Err(Stopped { block, stop, printed: stats.printed() })
        }
        None => Ok((stats, found)),
    }
}
