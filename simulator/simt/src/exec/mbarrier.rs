//! Barriers in shared memory (`mbarrier`), which count arrivals and bytes.
//!
//! A barrier takes 8 bytes of shared memory, as on a GPU, so that a kernel can race for them or overwrite them as it would there.
//! PTX does not document the bits. Here they are, from the lowest:
//!
//! | bits | |
//! |---|---|
//! | 1 | parity of the phase |
//! | 1 | set if the barrier is initialized |
//! | 20 | arrivals that every phase needs |
//! | 20 | arrivals that this phase is missing |
//! | 22 | bytes that were expected and have not arrived, signed |
//!
//! As with `cp.async`, the bytes of a copy arrive at the latest moment: when a thread tests a barrier that is missing nothing but
//! bytes.

use super::core::Core;
use super::machine::{Stop, thread_index};
use super::request::{Request, lane_addresses, lanes_of};
use crate::warp_order::WarpOrder;
use alu::registers::{LANES, Registers};
use ptx::finding::{AccessOp, FindingKind, MbarrierMisuse, PhaseReport, Waiter};
use ptx::program::{MbarrierOp, Phase, SINK, Semantics};

/// The most arrivals and the most bytes that a phase can count (PTX ISA, "Phase of the mbarrier object").
const MOST: u32 = (1 << 20) - 1;

/// A barrier's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    odd: bool,
    /// Arrivals of every phase.
    expected: u32,
    /// Arrivals that this phase is missing.
    arrivals: u32,
    /// Bytes that this phase is missing.
    bytes: i32,
}

impl State {
    /// Decodes the bits, if they are those of an initialized barrier.
    fn of(word: u64) -> Option<Self> {
        let field = |from: u32| (word >> from) as u32 & MOST;
        let state = Self { odd: word & 1 != 0, expected: field(2), arrivals: field(22), bytes: (word as i64 >> 42) as i32 };
        (word & 2 != 0).then_some(state)
    }

    fn word(self) -> u64 {
        let Self { odd, expected, arrivals, bytes } = self;
        u64::from(odd) | 2 | u64::from(expected) << 2 | u64::from(arrivals) << 22 | (i64::from(bytes) << 42) as u64
    }

    fn expect(&mut self, bytes: i64) -> Result<(), MbarrierMisuse> {
        let sum = i64::from(self.bytes) + bytes;
        if sum.unsigned_abs() > MOST.into() {
            return Err(MbarrierMisuse::TooManyBytes);
        }
        self.bytes = sum as i32;
        Ok(())
    }

    fn arrive(&mut self, count: u32, drops: bool) -> Result<(), MbarrierMisuse> {
        if count == 0 || count > self.arrivals {
            return Err(MbarrierMisuse::TooManyArrivals { count, lacking: self.arrivals });
        }
        self.arrivals -= count;
        if drops {
            self.expected -= count.min(self.expected);
        }
        Ok(())
    }

    /// Starts the next phase if this one is complete. Returns true if it was.
    fn complete(&mut self) -> bool {
        let complete = self.arrivals == 0 && self.bytes == 0;
        if complete {
            *self = Self { odd: !self.odd, arrivals: self.expected, ..*self };
        }
        complete
    }
}

/// A thread that tested a phase that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenPhase {
    /// Address of the barrier.
    offset: u32,
    pub pc: u32,
    pub warp: u32,
    lane: u32,
}

/// Executes an instruction for the lanes in `mask`, one by one. Returns the first lane that tested a phase that is not over.
pub fn execute(core: &mut Core<'_>, registers: &mut Registers, index: u32, mask: u32, pc: u32) -> Result<Option<OpenPhase>, Stop> {
    let mbarrier = core.machine.program.mbarriers[index as usize];
    let addresses = lane_addresses(registers, &mbarrier.address);
    let stores = matches!(mbarrier.op, MbarrierOp::Init { .. } | MbarrierOp::Invalidate);
    let op = if stores { AccessOp::Store } else { AccessOp::Atomic };
    let request = Request { op, index, pc, bytes: 8, mask, addresses: &addresses };
    core.check_shared(&request)?;
    let (mut open_phase, mut in_vain) = (None, None);
    for lane in lanes_of(mask) {
        let offset = request.offset(lane);
        core.watch_shared_store(&request, lane, Semantics { strong: !stores, ..Semantics::default() }, false);
        let refused =
            |core: &Core<'_>, misuse| core.stop(FindingKind::InvalidMbarrier { address: offset.into(), misuse }, 1 << lane, pc);
        let before = core.double(offset);
        if let MbarrierOp::Init { count } = mbarrier.op {
            let count = registers.words(count)[lane];
            if !(1..=MOST).contains(&count) {
                return Err(refused(core, MbarrierMisuse::Count { count }));
            }
            core.set_double(offset, State { odd: false, expected: count, arrivals: count, bytes: 0 }.word());
            core.phases.begin(offset);
            continue;
        }
        let Some(mut state) = State::of(before) else { return Err(refused(core, MbarrierMisuse::NotInitialized)) };
        match mbarrier.op {
            MbarrierOp::Init { .. } => {}
            MbarrierOp::Invalidate => {
                core.set_double(offset, 0);
                continue;
            }
            MbarrierOp::Expect { bytes, arrived } => {
                let bytes = i64::from(registers.words(bytes)[lane]);
                state.expect(if arrived { -bytes } else { bytes }).map_err(|misuse| refused(core, misuse))?;
                if arrived { core.phases.come(offset, bytes) } else { core.phases.expect(offset, bytes) }
            }
            MbarrierOp::Arrive { state: told, count, bytes, drops, ends_none, releases } => {
                let count = count.map_or(1, |count| registers.words(count)[lane]);
                let bytes = bytes.map_or(0, |bytes| registers.words(bytes)[lane].into());
                let arrived = state.expect(bytes).and_then(|()| state.arrive(count, drops));
                arrived.map_err(|misuse| refused(core, misuse))?;
                core.phases.expect(offset, bytes);
                if ends_none && state.arrivals == 0 {
                    return Err(refused(core, MbarrierMisuse::EndsPhase));
                }
                core.check(|watch, warp| watch.order.arrive_in_memory(warp, offset, releases));
                if told != SINK {
                    registers.doubles_mut(told)[lane] = before;
                }
            }
            MbarrierOp::AfterCopies { counts } => {
                core.copies.bind(core.warp, lane as u32, (offset, core.phases.of(offset).phase));
                if counts {
                    state.arrive(1, false).map_err(|misuse| refused(core, misuse))?;
                    core.check(|watch, warp| watch.order.arrive_in_memory(warp, offset, true));
                }
            }
            // Only a thread that waits for this phase needs its bytes.
            MbarrierOp::Test { phase, .. } if state.arrivals == 0 && is_odd(phase, registers, lane) == state.odd => {
                // PTX ISA, `mbarrier.test_wait`, `.try_wait`: the one is "a non-blocking instruction which tests for the completion of the phase",
                // and the other may resume "before the phase completes following a system-dependent time limit". Both then return false.
                let may_fail = core.machine.options.warp_order != WarpOrder::Ascending;
                if may_fail && (in_vain == Some(offset) || core.copies.is_first_test(offset)) {
                    in_vain = Some(offset);
                }
                let finished = if in_vain == Some(offset) { Vec::new() } else { core.copies.take_bulk(offset) };
                for copy in finished {
                    core.finish_bulk(&copy);
                    core.phases.come(offset, copy.bytes().into());
                    state.expect(-i64::from(copy.bytes())).map_err(|misuse| refused(core, misuse))?;
                }
            }
            MbarrierOp::Test { .. } => {}
        }
        if state.complete() {
            core.phases.complete(offset);
            core.check(|watch, _| watch.order.complete_in_memory(offset));
        }
        core.set_double(offset, state.word());
        if let MbarrierOp::Test { done, phase, acquires } = mbarrier.op {
            let is_over = is_odd(phase, registers, lane) != state.odd;
            registers.set_predicate(done, 1 << lane, if is_over { u32::MAX } else { 0 });
            if is_over {
                core.finish_bound(offset);
            }
            if !is_over {
                // After a test that failed too early the warp goes on at once, so that no other one finishes the copies for it.
                let is_open = in_vain != Some(offset);
                open_phase = open_phase.or(is_open.then_some(OpenPhase { offset, pc, warp: core.warp, lane: lane as u32 }));
            } else if core.watch.is_some() {
                core.check(|watch, warp| watch.order.acquire(warp, offset, acquires));
                let wait = core.phases.see(core.warp * LANES as u32 + lane as u32, offset, pc, !state.odd);
                core.watch_wait(lane, wait);
            }
        }
    }
    Ok(open_phase)
}

/// Returns true if there is a barrier at an offset.
pub fn is_initialized(core: &Core<'_>, offset: u32) -> bool {
    State::of(core.double(offset)).is_some()
}

/// Returns the fault of warps that wait for phases forever. There is at least one such wait.
pub fn deadlock(core: &Core<'_>, waits: &[OpenPhase]) -> Stop {
    let OpenPhase { offset, pc, warp, lane } = waits[0];
    let state = State::of(core.double(offset)).unwrap_or(State { odd: false, expected: 0, arrivals: 0, bytes: 0 });
    let history = core.phases.of(offset);
    let in_flight = core.copies.bytes_for(offset);
    let misuse = MbarrierMisuse::MoreBytes { expected: history.expected.max(0) as u64, came: history.came as u64 };
    let kind = if state.arrivals == 0 && state.bytes < 0 {
        FindingKind::InvalidMbarrier { address: offset.into(), misuse }
    } else {
        FindingKind::MbarrierDeadlock {
            address: offset.into(),
            arrivals: state.arrivals,
            bytes: state.bytes,
            phase: Some(PhaseReport {
                number: history.phase as u64,
                arrivals: state.expected,
                bytes: history.expected.max(0) as u64,
                came: history.came as u64 + in_flight,
            }),
            others: waits[1..].iter().map(|wait| core.waiter(wait)).collect(),
            stale: core.phases.repeated.map(|pc| Box::new(core.machine.location(pc))),
        }
    };
    Stop::Fault { kind: Box::new(kind), pc, warp, lane, lanes: 1 }
}

/// Returns the parity of the phase that a lane means.
fn is_odd(phase: Phase, registers: &Registers, lane: usize) -> bool {
    match phase {
        Phase::State(state) => registers.doubles(state)[lane] & 1 != 0,
        Phase::Parity(parity) => registers.words(parity)[lane] & 1 != 0,
    }
}

impl Core<'_> {
    fn waiter(&self, wait: &OpenPhase) -> Waiter {
        Waiter {
            thread: thread_index(self.machine.config.block, wait.warp, wait.lane),
            address: wait.offset.into(),
            phase: self.phases.of(wait.offset).phase as u64,
            location: self.machine.location(wait.pc),
        }
    }

    fn double(&self, offset: u32) -> u64 {
        self.shared_element(offset, 8)
    }

    fn set_double(&mut self, offset: u32, value: u64) {
        self.mbarriers_moved |= self.double(offset) != value;
        self.set_shared_element(offset, 8, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_fits_its_word() {
        for odd in [false, true] {
            for (expected, arrivals, bytes) in [(1, 1, 0), (MOST, 0, MOST as i32), (5, MOST, -(MOST as i32)), (3, 2, -16)] {
                let state = State { odd, expected, arrivals, bytes };
                assert_eq!(State::of(state.word()), Some(state));
            }
        }
        assert_eq!(State::of(0), None);
    }

    #[test]
    fn a_phase_ends_with_its_last_arrival_and_its_last_byte() {
        let mut state = State { odd: false, expected: 2, arrivals: 2, bytes: 0 };
        state.expect(48).unwrap();
        state.arrive(2, false).unwrap();
        assert!(!state.complete());
        assert_eq!(state.arrive(1, false), Err(MbarrierMisuse::TooManyArrivals { count: 1, lacking: 0 }));
        state.expect(-48).unwrap();
        assert!(state.complete() && state.odd && state.arrivals == 2);
        state.arrive(1, true).unwrap();
        state.arrive(1, false).unwrap();
        assert!(state.complete() && !state.odd && state.arrivals == 1, "one takes no part any more");
        assert_eq!(state.expect(i64::from(MOST) + 1), Err(MbarrierMisuse::TooManyBytes));
    }
}
