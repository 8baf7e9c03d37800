//! The warps of a block, run in turns, and the barriers between them.

use std::collections::BTreeMap;

use super::bulk;
use super::cluster_barrier;
use super::core::Core;
use super::machine::{Stop, thread_index};
use super::mbarrier::{self, OpenPhase};
use super::recording::Recording;
use super::warp::{Pause, Votes, Warp};
use alu::registers::{Kind, LANES};
use ptx::finding::FindingKind;
use ptx::geometry::Dim3;
use ptx::program::{Axis, Special};

/// The state of a warp of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Waiting {
        barrier: u32,
        warps: Option<u32>,
        pc: u32,
        votes: Votes,
    },
    /// It tested a phase that was not over, and may try again in the next round.
    Testing(OpenPhase),
    /// It waits at the barrier of the cluster for the end of this phase.
    AtCluster {
        phase: u32,
        pc: u32,
    },
    /// It waits for registers that other warpgroups give back.
    Registers {
        count: u32,
        pc: u32,
    },
    Done,
}

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

/// The event that the first waiting warp of a block waits for.
#[derive(Clone, Copy, Debug)]
pub enum Wait {
    Barrier { warp: u32, barrier: u32, pc: u32 },
    Cluster { warp: u32, pc: u32 },
    Registers { warp: u32, count: u32, pc: u32 },
    Phase(OpenPhase),
}

impl Wait {
    /// The instruction.
    pub fn pc(&self) -> u32 {
        match self {
            Wait::Barrier { pc, .. } | Wait::Cluster { pc, .. } | Wait::Registers { pc, .. } => *pc,
            Wait::Phase(open_phase) => open_phase.pc,
        }
    }

    pub fn warp(&self) -> u32 {
        match self {
            Wait::Barrier { warp, .. } | Wait::Cluster { warp, .. } | Wait::Registers { warp, .. } => *warp,
            Wait::Phase(open_phase) => open_phase.warp,
        }
    }
}

/// A block that is being executed.
#[derive(Debug, Default)]
pub struct Block {
    states: Vec<State>,
    /// The order in which the warps take turns.
    order: Vec<usize>,
    /// Warps that arrived at a barrier without waiting, by barrier.
    arrived: BTreeMap<u32, u32>,
    rounds_in_vain: u32,
}

impl Block {
    /// Puts the warps at the start of the block of that number, which has this rank in its cluster.
    pub fn start(core: &mut Core<'_>, warps: &mut [Warp], block: u64, rank: u32, fuel: u64) -> Self {
        let index = core.machine.config.grid.index_of(block);
        core.fuel = fuel;
        core.keeps_samples = block == 0;
        core.traces = core.machine.traced == Some(block);
        let record = core.machine.options.steps.as_deref().filter(|record| record.block == index);
        core.recording = record.map(|record| Box::new(Recording::new(record, fuel)));
        if core.machine.program.moves_registers {
            core.register_pool.start(warps.len(), core.machine.options.registers_per_thread);
        }
        let threads = core.machine.config.block.volume();
        for (number, warp) in warps.iter_mut().enumerate() {
            let lanes = (threads - (number * LANES) as u64).min(LANES as u64);
            warp.start(core, u32::MAX >> (LANES as u64 - lanes));
            fill_specials(core, warp, number as u32, index, rank);
        }
        Self {
            states: vec![State::Ready; warps.len()],
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
            let warp = &mut warps[number];
            core.warp = core.first_warp + number as u32;
            let goes_on = match states[number] {
                State::Testing(_) => true,
                State::AtCluster { phase, .. } => core.cluster_barrier.phase != phase,
                State::Registers { count, .. } => core.register_pool.take(number, count),
                _ => false,
            };
            if goes_on {
                states[number] = State::Ready;
            }
            while states[number] == State::Ready {
                (core.polled, core.changed) = (false, false);
                let pause = warp.run(core)?;
                moved |= !matches!(pause, Pause::OpenPhase(_));
                only_polled &= pause == Pause::Turn && core.polled && !core.changed;
                // An endless loop may contain a barrier.
                if core.fuel == 0 && pause != Pause::Done {
                    return Err(Stop::OutOfFuel { pc: warp.pc(), warp: number as u32 });
                }
                if let Some(watch) = &mut core.watch {
                    match pause {
                        Pause::Done => watch.end(core.warp),
                        Pause::Barrier { barrier, .. } | Pause::Arrived { barrier, .. } => watch.arrive(core.warp, barrier),
                        Pause::OpenPhase(_) | Pause::Turn | Pause::AtCluster { .. } | Pause::Registers { .. } => {}
                    }
                }
                if core.machine.program.has_cluster_barrier {
                    cluster_barrier::note_live(core, if pause == Pause::Done { 0 } else { warp.live() });
                }
                if pause == Pause::Done && core.products.are_watched {
                    core.end_products();
                }
                match pause {
                    Pause::Done => states[number] = State::Done,
                    Pause::Barrier { barrier, warps, pc, votes } => states[number] = State::Waiting { barrier, warps, pc, votes },
                    Pause::Arrived { barrier, warps } => {
                        let count = arrived.entry(barrier).or_default();
                        *count += 1;
                        // The last to arrive opens the barrier, even if no warp waits there.
                        let waits = |state: &State| matches!(state, State::Waiting { barrier: other, .. } if *other == barrier);
                        if Some(*count) == warps && !states.iter().any(waits) {
                            arrived.remove(&barrier);
                        }
                    }
                    Pause::OpenPhase(open_phase) => states[number] = State::Testing(open_phase),
                    Pause::AtCluster { phase, pc } => states[number] = State::AtCluster { phase, pc },
                    Pause::Registers { count, pc } => states[number] = State::Registers { count, pc },
                    Pause::Turn => break,
                }
            }
        }
        let released = release(core, states, warps, arrived) | std::mem::take(&mut core.mbarriers_moved);
        moved |= released;
        only_polled &= !released;
        *rounds_in_vain = if moved { 0 } else { *rounds_in_vain + 1 };
        let tests = states.iter().any(|state| matches!(state, State::Testing(_)));
        let is_stuck = if tests { *rounds_in_vain > PATIENCE } else { !moved };
        if states.iter().all(|state| *state == State::Done) {
            note_partial_warpgroups(core);
            bulk::end_block(core, warps.len() as u32)?;
            return Ok(Progress::Done);
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
        let phase = self.states.iter().find_map(|state| match state {
            State::Testing(open_phase) => Some(Wait::Phase(*open_phase)),
            _ => None,
        });
        phase
            .or_else(|| {
                self.states.iter().zip(0..).find_map(|(state, warp)| match *state {
                    State::Waiting { barrier, pc, .. } => Some(Wait::Barrier { warp, barrier, pc }),
                    State::AtCluster { pc, .. } => Some(Wait::Cluster { warp, pc }),
                    State::Registers { count, pc } => Some(Wait::Registers { warp, count, pc }),
                    _ => None,
                })
            })
            .unwrap_or(Wait::Barrier { warp: 0, barrier: 0, pc: 0 })
    }

    /// The fault of a block whose warps wait for each other in vain.
    pub fn deadlock(&self, core: &Core<'_>) -> Stop {
        let fault = |kind, warp, pc| Stop::Fault { kind: Box::new(kind), pc, warp, lane: 0, lanes: LANES as u32 };
        match self.waits() {
            Wait::Phase(_) => {
                let waits = self.states.iter().filter_map(|state| match state {
                    State::Testing(open_phase) => Some(*open_phase),
                    _ => None,
                });
                mbarrier::deadlock(core, &waits.collect::<Vec<_>>())
            }
            Wait::Registers { warp, count, pc } => {
                fault(FindingKind::RegisterDeadlock { count, free: core.register_pool.free }, warp, pc)
            }
            Wait::Barrier { warp, barrier, pc } => fault(FindingKind::Deadlock { barrier }, warp, pc),
            Wait::Cluster { warp, pc } => fault(FindingKind::Deadlock { barrier: 0 }, warp, pc),
        }
    }

    /// A warp that has not ended and does not wait at a barrier of the block.
    pub fn running(&self) -> Option<usize> {
        self.states.iter().position(|state| *state == State::Ready)
    }
}

/// Opens every barrier that all of its warps have reached. A warp that has ended counts as arrived, as on a GPU.
fn release(core: &mut Core<'_>, states: &mut [State], block: &mut [Warp], arrived: &mut BTreeMap<u32, u32>) -> bool {
    let live = states.iter().filter(|state| **state != State::Done).count() as u32;
    let mut opened = false;
    for position in 0..states.len() {
        let State::Waiting { barrier, warps, .. } = states[position] else { continue };
        let mut waiting = 0;
        let mut sum = Votes::default();
        for state in states.iter() {
            if let State::Waiting { barrier: other, votes, .. } = state
                && *other == barrier
            {
                waiting += 1;
                sum = Votes { yes: sum.yes + votes.yes, asked: sum.asked + votes.asked };
            }
        }
        if waiting + arrived.get(&barrier).copied().unwrap_or(0) < warps.unwrap_or(live) {
            continue;
        }
        arrived.remove(&barrier);
        opened = true;
        if let Some(watch) = &mut core.watch {
            let first = core.first_warp;
            let waiting = states.iter().enumerate().filter_map(|(warp, state)| match state {
                State::Waiting { barrier: other, pc, .. } if *other == barrier => Some((first + warp as u32, *pc)),
                _ => None,
            });
            watch.open(barrier, waiting.clone().map(|(warp, _)| warp), waiting.clone().count() as u32 == live);
            if warps.is_none() {
                let ended = core.machine.config.block.volume() as u32 - block.iter().map(Warp::live_threads).sum::<u32>();
                watch.look_at_barrier(barrier, waiting, ended);
            }
        }
        for (state, warp) in states.iter_mut().zip(block.iter_mut()) {
            if matches!(state, State::Waiting { barrier: other, .. } if *other == barrier) {
                warp.learn(sum);
                *state = State::Ready;
            }
        }
    }
    opened
}

/// Notes a `setmaxnreg` that only some warps of a warpgroup executed.
fn note_partial_warpgroups(core: &mut Core<'_>) {
    if let Some(watch) = core.watch.as_mut().filter(|_| core.machine.program.moves_registers)
        && let Some((warp, pc)) = core.register_pool.first_partial()
    {
        watch.partial_warpgroup(core.first_warp + warp as u32, pc);
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
    let warps = config.block.volume().div_ceil(LANES as u64) as u32;
    for (special, kind, register) in &core.machine.program.specials {
        let of_lane = |lane: u32| match *special {
            Special::ThreadIndex(axis) => along(thread_index(config.block, number, lane), axis),
            Special::BlockExtent(axis) => along(config.block, axis),
            Special::BlockIndex(axis) => along(block, axis),
            Special::GridExtent(axis) => along(config.grid, axis),
            Special::Lane => lane,
            Special::Warp => number,
            Special::Warps => warps,
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
            match kind {
                Kind::Double => warp.registers.doubles_mut(*register)[lane] = u64::from(of_lane(lane as u32)),
                _ => warp.registers.words_mut(*register)[lane] = of_lane(lane as u32),
            }
        }
    }
}
