//! The warps of a block, run in turns, and the barriers between them.

use std::collections::BTreeMap;

use super::core::Core;
use super::machine::{Stop, thread_index};
use super::mbarrier::{self, OpenPhase};
use super::recording::Recording;
use super::warp::{Pause, Votes, Warp};
use crate::finding::FindingKind;
use crate::geometry::Dim3;
use crate::program::{Axis, Special};
use crate::registers::{Kind, LANES};

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
    Done,
}

/// Rounds without progress after which the block counts as deadlocked. A program may give up by itself after some tests.
const PATIENCE: u32 = 1 << 10;

/// How far a round brought a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All warps have ended.
    Done,
    /// Some warp did something that others can see, or computes.
    Moved,
    /// Every warp that is not at a barrier only looked for a change of memory, for a whole turn.
    Polled,
}

/// A block that is being executed.
#[derive(Debug)]
pub struct Block {
    states: Vec<State>,
    /// The order in which the warps take turns.
    order: Vec<usize>,
    /// Warps that arrived at a barrier without waiting, by barrier.
    arrived: BTreeMap<u32, u32>,
    rounds_in_vain: u32,
}

/// Executes the block of that number with the worker's warps, one for each warp of the block.
pub fn run(core: &mut Core<'_>, warps: &mut [Warp], block: u64, fuel: u64) -> Result<(), Stop> {
    let mut block = Block::start(core, warps, block, fuel);
    while block.round(core, warps)? != Progress::Done {}
    Ok(())
}

impl Block {
    /// Puts the warps at the start of the block of that number.
    pub fn start(core: &mut Core<'_>, warps: &mut [Warp], block: u64, fuel: u64) -> Self {
        let index = core.machine.config.grid.index_of(block);
        core.shared.fill(0);
        core.copies.clear();
        core.fuel = fuel;
        core.keeps_samples = block == 0;
        core.traces = core.machine.traced == Some(block);
        let record = core.machine.steps.filter(|record| record.block == index);
        core.recording = record.map(|record| Box::new(Recording::new(record)));
        if let Some(watch) = &mut core.watch {
            watch.start(block, warps.len());
        }
        let threads = core.machine.config.block.volume();
        for (number, warp) in warps.iter_mut().enumerate() {
            let lanes = (threads - (number * LANES) as u64).min(LANES as u64);
            warp.start(core, u32::MAX >> (LANES as u64 - lanes));
            fill_specials(core, warp, number as u32, index);
        }
        Self {
            states: vec![State::Ready; warps.len()],
            order: core.machine.warp_order.of(block, warps.len()),
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
            core.warp = number as u32;
            if let State::Testing(_) = states[number] {
                states[number] = State::Ready;
            }
            while states[number] == State::Ready {
                (core.polled, core.changed) = (false, false);
                let pause = warp.run(core)?;
                moved |= !matches!(pause, Pause::OpenPhase(_));
                only_polled &= pause == Pause::Turn && core.polled && !core.changed;
                // An endless loop may contain a barrier.
                if core.fuel == 0 && pause != Pause::Done {
                    return Err(Stop::OutOfFuel { pc: warp.pc() });
                }
                if let Some(watch) = &mut core.watch {
                    match pause {
                        Pause::Done => watch.end(number as u32),
                        Pause::Barrier { barrier, .. } | Pause::Arrived { barrier, .. } => watch.arrive(number as u32, barrier),
                        Pause::OpenPhase(_) | Pause::Turn => {}
                    }
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
                    Pause::Turn => break,
                }
            }
        }
        let released = release(core, states, warps, arrived) | std::mem::take(&mut core.mbarriers_moved);
        moved |= released;
        only_polled &= !released;
        *rounds_in_vain = if moved { 0 } else { *rounds_in_vain + 1 };
        let testing = states.iter().find_map(|state| if let State::Testing(open_phase) = state { Some(*open_phase) } else { None });
        match testing {
            None if !moved => return Err(deadlock(states)),
            Some(open_phase) if *rounds_in_vain > PATIENCE => return Err(mbarrier::deadlock(core, open_phase)),
            _ => {}
        }
        Ok(match states.iter().all(|state| *state == State::Done) {
            true => Progress::Done,
            false if only_polled => Progress::Polled,
            false => Progress::Moved,
        })
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
            let waiting = states.iter().enumerate().filter_map(|(warp, state)| match state {
                State::Waiting { barrier: other, pc, .. } if *other == barrier => Some((warp as u32, *pc)),
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

fn deadlock(states: &[State]) -> Stop {
    let first = states.iter().enumerate().find_map(|(warp, state)| match state {
        State::Waiting { barrier, pc, .. } => Some((warp as u32, *barrier, *pc)),
        _ => None,
    });
    let (warp, barrier, pc) = first.unwrap_or_default();
    Stop::Fault { kind: Box::new(FindingKind::Deadlock { barrier }), pc, warp, lane: 0, lanes: LANES as u32 }
}

/// Fills the special registers that the program uses.
fn fill_specials(core: &Core<'_>, warp: &mut Warp, number: u32, block: Dim3) {
    let config = core.machine.config;
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
