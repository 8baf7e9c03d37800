//! The warps of a block, run in turns, and the barriers between them.

use std::collections::BTreeMap;

use super::bulk;
use super::cluster_barrier;
use super::core::Core;
use super::machine::{Stop, thread_index};
use super::mbarrier;
use super::products::WARPS;
use super::recording::Recording;
use super::warp::{Pause, Votes, Warp};
use super::watch::found::Defect;
use alu::registers::LANES;
use ptx::finding::{BarrierCount, FindingKind};
use ptx::geometry::Dim3;
use ptx::program::{Axis, Special};

/// Rounds without progress after which the block counts as deadlocked. A program may give up by itself after some tests.
const PATIENCE: u32 = 1 << 10;

/// How far a round brought a block, or several: the greatest of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Progress {
    /// All warps have ended.
    Done,
    /// Every warp waits, and nothing that the block itself does will end that.
    Stuck,
    /// Every warp that is not at a barrier only looked for a change of memory, for a whole turn.
    Polled,
    /// Some warp did something that others can see, or computes.
    Moved,
}

/// A warp that waits, where, and for what.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub warp: u32,
    pub pc: u32,
    pub event: Pause,
}

/// A block that is being executed.
#[derive(Debug, Default)]
pub struct Block {
    /// Why each warp paused last. Only those whose turn is over are ready to go on.
    states: Vec<Pause>,
    /// The order in which the warps take turns.
    order: Vec<usize>,
    /// Warps that arrived at a barrier without waiting, by barrier.
    arrived: BTreeMap<u32, u32>,
    rounds_in_vain: u32,
}

impl Block {
    /// Puts the warps at the start of a block. `block` is its number, and `rank` its rank in its cluster.
    pub fn start(core: &mut Core<'_>, warps: &mut [Warp], block: u64, rank: u32, fuel: u64) -> Self {
        let index = core.machine.config.grid.index_of(block);
        core.own.fuel = fuel;
        core.own.keeps_samples = block == 0;
        core.own.traces = core.machine.traced == Some(block);
        let record = core.machine.options.steps.as_deref().filter(|record| record.block == index);
        core.own.recording = record.map(|record| Box::new(Recording::new(record, fuel)));
        if core.machine.program.moves_registers {
            core.own.register_pool.start(warps.len(), core.machine.options.registers_per_thread);
        }
        let threads = core.machine.config.block.volume();
        for (number, warp) in warps.iter_mut().enumerate() {
            let lanes = (threads - (number * LANES) as u64).min(LANES as u64);
            warp.start(core, u32::MAX >> (LANES as u64 - lanes));
            fill_specials(core, warp, number as u32, index, rank);
        }
        Self {
            states: vec![Pause::Turn; warps.len()],
            order: core.machine.options.warp_order.of(block, warps.len()),
            arrived: BTreeMap::new(),
            rounds_in_vain: 0,
        }
    }

    /// Lets each warp have its turn.
    pub fn round(&mut self, core: &mut Core<'_>, warps: &mut [Warp]) -> Result<Progress, Stop> {
        let Self { states, order, arrived, rounds_in_vain } = self;
        let (mut moved, mut only_polled) = (false, true);
        for number in order.iter().copied() {
            core.warp = core.first_warp + number as u32;
            let mut goes_on = match states[number] {
                Pause::Turn | Pause::OpenPhase(_) => true,
                Pause::AtCluster { phase, .. } => core.cluster_barrier.phase != phase,
                Pause::Registers { count, .. } => core.own.register_pool.take(number, count),
                Pause::Products { groups } => have_finished(core, states, number, groups),
                _ => false,
            };
            while goes_on {
                (core.polled, core.changed) = (None, false);
                let warp = &mut warps[number];
                let pause = warp.run(core)?;
                moved |= !matches!(pause, Pause::OpenPhase(_));
                only_polled &= pause == Pause::Turn && core.polled.is_some() && !core.changed;
                // An endless loop may contain a barrier.
                if core.own.fuel == 0 && pause != Pause::Done {
                    let polled = core.polled.filter(|_| !core.changed);
                    return Err(Stop::OutOfFuel { pc: warp.pc(), warp: number as u32, polled });
                }
                core.check(|watch, warp| match pause {
                    Pause::Done => watch.end(warp),
                    Pause::Barrier { barrier, .. } | Pause::Arrived { barrier, .. } => watch.arrive(warp, barrier),
                    Pause::OpenPhase(_) | Pause::Turn | Pause::AtCluster { .. } => {}
                    Pause::Registers { .. } | Pause::Products { .. } => {}
                });
                if core.machine.program.has_cluster_barrier {
                    cluster_barrier::note_live(core, if pause == Pause::Done { 0 } else { warp.live() });
                }
                if pause == Pause::Done && core.products.are_watched {
                    core.end_products();
                }
                goes_on = matches!(pause, Pause::Arrived { .. });
                states[number] = pause;
                if let Pause::Barrier { barrier, warps: Some(count), .. } | Pause::Arrived { barrier, warps: Some(count) } = pause {
                    if goes_on {
                        *arrived.entry(barrier).or_default() += 1;
                    }
                    if arrivals(states, arrived, barrier) >= count {
                        open(core, states, warps, arrived, barrier);
                    }
                }
            }
        }
        let released = release(core, states, warps, arrived) | std::mem::take(&mut core.mbarriers_moved);
        moved |= released;
        only_polled &= !released;
        *rounds_in_vain = if moved { 0 } else { *rounds_in_vain + 1 };
        let tests = states.iter().any(|state| matches!(state, Pause::OpenPhase(_)));
        let is_stuck = if tests { *rounds_in_vain > PATIENCE } else { !moved };
        if states.iter().all(|state| *state == Pause::Done) {
            note_partial_warpgroups(core);
            bulk::end_block(core, warps.len() as u32);
            return Ok(Progress::Done);
        }
        // Not every warp of a warpgroup waits for its products, which is reported. The others go on alone.
        if is_stuck && let Some(state) = states.iter_mut().find(|state| matches!(state, Pause::Products { .. })) {
            *state = Pause::Turn;
            return Ok(Progress::Moved);
        }
        Ok(match is_stuck {
            true => Progress::Stuck,
            false if only_polled => Progress::Polled,
            false => Progress::Moved,
        })
    }

    /// Returns the event that the block waits for: a phase of a barrier in shared memory if any warp waits for one, otherwise the event
    /// that its first waiting warp waits for.
    pub fn waits(&self) -> Wait {
        let waits = self.states.iter().zip(0..).filter_map(|(event, warp)| match *event {
            Pause::OpenPhase(phase) => Some(Wait { warp: phase.warp, pc: phase.pc, event: *event }),
            Pause::Barrier { pc, .. } | Pause::AtCluster { pc, .. } | Pause::Registers { pc, .. } => {
                Some(Wait { warp, pc, event: *event })
            }
            Pause::Done | Pause::Arrived { .. } | Pause::Products { .. } | Pause::Turn => None,
        });
        waits.min_by_key(|wait| !matches!(wait.event, Pause::OpenPhase(_))).unwrap_or(Wait { warp: 0, pc: 0, event: Pause::Turn })
    }

    /// Returns the fault of a block whose warps are deadlocked.
    pub fn deadlock(&self, core: &Core<'_>) -> Stop {
        let Wait { warp, pc, event } = self.waits();
        let kind = match event {
            Pause::OpenPhase(_) => {
                let waits = self.states.iter().filter_map(|state| match state {
                    Pause::OpenPhase(open_phase) => Some(*open_phase),
                    _ => None,
                });
                return mbarrier::deadlock(core, &waits.collect::<Vec<_>>());
            }
            Pause::Registers { count, .. } => FindingKind::RegisterDeadlock { count, free: core.own.register_pool.free },
            Pause::Barrier { barrier, warps, .. } => {
                let threads = |warps: u32| warps * LANES as u32;
                let count = warps.map(|expected| BarrierCount {
                    expected: threads(expected),
                    arrived: threads(arrivals(&self.states, &self.arrived, barrier)),
                    ended: threads(self.states.iter().filter(|state| **state == Pause::Done).count() as u32),
                });
                FindingKind::Deadlock { barrier, count }
            }
            _ => FindingKind::Deadlock { barrier: 0, count: None },
        };
        Stop::Fault { kind: Box::new(kind), pc, warp, lane: 0, lanes: LANES as u32 }
    }

    /// Finds a running warp. It has not ended and does not wait at a barrier of the block.
    pub fn running(&self) -> Option<usize> {
        self.states.iter().position(|state| *state == Pause::Turn)
    }
}

/// Returns true if a warp's warpgroup has waited for this many groups. Warps that have ended count.
fn have_finished(core: &Core<'_>, states: &[Pause], warp: usize, groups: u32) -> bool {
    let first = warp / WARPS as usize * WARPS as usize;
    let has_finished = |other: usize| core.products.by_warp[core.first_warp as usize + other].finished >= groups;
    (first..first + WARPS as usize).all(|other| states[other] == Pause::Done || has_finished(other))
}

/// Returns how many warps have arrived at a barrier.
fn arrivals(states: &[Pause], arrived: &BTreeMap<u32, u32>, barrier: u32) -> u32 {
    states.iter().filter(|state| state.is_at(barrier)).count() as u32 + arrived.get(&barrier).copied().unwrap_or(0)
}

/// Opens every barrier that all live warps have reached. PTX ISA, `bar`: without a number of threads, the barrier is
/// for all threads of the block. On a GPU, those that have ended are none of them.
fn release(core: &mut Core<'_>, states: &mut [Pause], block: &mut [Warp], arrived: &mut BTreeMap<u32, u32>) -> bool {
    let live = states.iter().filter(|state| **state != Pause::Done).count() as u32;
    let mut opened = false;
    for position in 0..states.len() {
        if let Pause::Barrier { barrier, warps: None, .. } = states[position]
            && arrivals(states, arrived, barrier) >= live
        {
            if let Some(watch) = &mut core.watch {
                let ended =
                    core.machine.config.block.volume() as u32 - block.iter().map(|warp| warp.live().count_ones()).sum::<u32>();
                watch.look_at_barrier(core.machine.program, barrier, waiting_at(states, barrier, core.first_warp), ended);
            }
            open(core, states, block, arrived, barrier);
            opened = true;
        }
    }
    opened
}

/// Lists the warps that wait at a barrier, and where.
fn waiting_at(states: &[Pause], barrier: u32, first: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    states.iter().zip(first..).filter_map(move |(state, warp)| match state {
        Pause::Barrier { barrier: other, pc, .. } if *other == barrier => Some((warp, *pc)),
        _ => None,
    })
}

/// Lets the warps that wait at a barrier go on. It then counts from zero again.
fn open(core: &mut Core<'_>, states: &mut [Pause], block: &mut [Warp], arrived: &mut BTreeMap<u32, u32>, barrier: u32) {
    if !arrived.is_empty() {
        arrived.remove(&barrier);
    }
    let (mut sum, mut counted, mut waiting, mut ended) = (Votes::default(), false, 0, 0);
    for state in states.iter() {
        match state {
            Pause::Barrier { barrier: other, warps, votes, .. } if *other == barrier => {
                waiting += 1;
                counted |= warps.is_some();
                sum = Votes { yes: sum.yes + votes.yes, asked: sum.asked + votes.asked };
            }
            Pause::Done => ended += 1,
            _ => {}
        }
    }
    if let Some(watch) = &mut core.watch {
        let all = waiting + if counted { 0 } else { ended } == states.len();
        watch.open(barrier, waiting_at(states, barrier, core.first_warp).map(|(warp, _)| warp), counted, all);
    }
    for (state, warp) in states.iter_mut().zip(block.iter_mut()) {
        if state.is_at(barrier) {
            warp.learn(sum);
            *state = Pause::Turn;
        }
    }
}

/// Notes a `setmaxnreg` that only some warps of a warpgroup executed.
fn note_partial_warpgroups(core: &mut Core<'_>) {
    if core.machine.program.moves_registers
        && let Some((warp, pc)) = core.own.register_pool.first_partial()
    {
        let warp = core.first_warp + warp as u32;
        core.check(|watch, _| watch.report(Defect::PartialWarpgroup, pc, warp, 0));
    }
}

/// Fills the special registers that the program uses.
fn fill_specials(core: &Core<'_>, warp: &mut Warp, number: u32, block: Dim3, rank: u32) {
    let (config, clusters) = (core.machine.config, core.machine.clusters);
    let along = |index: Dim3, axis: Axis| match axis {
        Axis::X => index.x,
        Axis::Y => index.y,
        Axis::Z => index.z,
    };
    for (special, kind, register) in &core.machine.program.specials {
        let of_lane = |lane: u32| match *special {
            Special::ThreadIndex(axis) => along(thread_index(config.block, number, lane), axis),
            Special::BlockExtent(axis) => along(config.block, axis),
            Special::BlockIndex(axis) => along(block, axis),
            Special::GridExtent(axis) => along(config.grid, axis),
            Special::Lane => lane,
            Special::Warp => number,
            Special::Warps => core.machine.warps(),
            Special::Multiprocessor => block.x % core.machine.multiprocessors.max(1),
            Special::Multiprocessors => core.machine.multiprocessors,
            Special::GridId => 0,
            // The halves of the address, the high one first, as compilers for cooperative groups expect it.
            Special::Environment(1) => (core.machine.grid_workspace >> 32) as u32,
            Special::Environment(2) => core.machine.grid_workspace as u32,
            Special::Environment(_) => 0,
            Special::DynamicSharedBytes => config.dynamic_shared_bytes,
            Special::TotalSharedBytes => core.machine.shared_bytes,
            Special::ClusterIndex(axis) => along(block, axis) / along(clusters.extent, axis),
            Special::ClustersExtent(axis) => along(clusters.clusters, axis),
            Special::IndexInCluster(axis) => along(block, axis) % along(clusters.extent, axis),
            Special::ClusterExtent(axis) => along(clusters.extent, axis),
            Special::RankInCluster => rank,
            Special::BlocksOfCluster => clusters.blocks,
            Special::IsExplicitCluster => clusters.is_explicit.into(),
            Special::SharedShift => clusters.shift,
            Special::SharedBase => clusters.base(rank),
            Special::Fixed(number) => number,
            Special::LanesBelow => (1 << lane) - 1,
            Special::LanesUpTo => u32::MAX >> (31 - lane),
            Special::LanesEqual => 1 << lane,
            Special::LanesFrom => u32::MAX << lane,
            Special::LanesAbove => !(u32::MAX >> (31 - lane)),
        };
        for lane in 0..LANES {
            warp.registers.set_lane(*kind, *register, lane, of_lane(lane as u32).into());
        }
    }
}
