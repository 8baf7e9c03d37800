//! The checks of one worker: the order of its block's accesses, the shadow of its shared memory, and the defects found.

use super::found::{Defect, Found, Site};
use super::mark::{Mark, Strength};
use super::order::Order;
use super::shared::{Conflict, Shadow};
use crate::exec::machine::Machine;
use crate::exec::request::{Pattern, Request, lanes_of};
use crate::finding::{Access, AccessOp, Space};
use crate::program::{Action, ConstantValue, Program, Semantics};
use crate::registers::LANES;

/// The checks of one worker.
#[derive(Debug)]
pub struct Watch {
    pub(super) order: Order,
    pub(super) shared: Shadow,
    pub found: Found,
    /// The current block.
    pub(super) block: u64,
    /// The program has fences, so that flags may order accesses.
    pub(super) has_fences: bool,
}

/// Whether all barriers are those of the whole block: number 0, and every thread waits.
fn has_only_full_barriers(program: &Program) -> bool {
    let zero = |register| {
        let constant = program.constants.iter().find(|constant| constant.register == register);
        constant.is_some_and(|constant| constant.value == ConstantValue::Bits(0))
    };
    program.code.iter().all(|inst| match inst.action {
        Action::Barrier { barrier, threads, waits, .. } => waits && threads.is_none() && zero(barrier),
        _ => true,
    })
}

impl Watch {
    pub fn new(machine: &Machine<'_>) -> Self {
        let program = machine.program;
        let only_full_barriers = has_only_full_barriers(program) && !program.has_fences;
        Self {
            order: Order::default(),
            shared: Shadow::new(machine.shared_bytes, program.narrowest_access(Space::Shared), only_full_barriers),
            found: Found::default(),
            block: 0,
            has_fences: program.has_fences,
        }
    }

    pub fn start(&mut self, block: u64, warps: usize) {
        self.block = block;
        self.order.start(warps);
        self.shared.start();
    }

    pub fn arrive(&mut self, warp: u32, barrier: u32) {
        self.order.arrive(warp, barrier);
    }

    /// Opens a barrier for the warps that wait; `all` says that these are all warps that have not ended.
    pub fn open(&mut self, barrier: u32, waiting: impl Iterator<Item = u32>, all: bool) {
        self.order.open(barrier, waiting);
        if all {
            self.shared.all_in_order();
        }
    }

    pub fn end(&mut self, warp: u32) {
        self.order.end(warp);
    }

    pub fn synchronize_lanes(&mut self, warp: u32, members: u32, live: u32) {
        self.order.synchronize_lanes(warp, members, live);
    }

    pub fn fence(&mut self, warp: u32) {
        self.order.fence(warp);
    }

    /// A warp arrives at a barrier in shared memory.
    pub fn arrive_in_memory(&mut self, warp: u32, offset: u32) {
        self.order.arrive_in_memory(warp, shared_address(offset));
    }

    /// Ends a phase of a barrier in shared memory.
    pub fn complete_in_memory(&mut self, offset: u32) {
        self.order.complete_in_memory(shared_address(offset));
    }

    /// A warp observes the end of a phase of a barrier in shared memory.
    pub fn acquire(&mut self, warp: u32, offset: u32) {
        self.order.read(warp, shared_address(offset), true);
    }

    /// Adds a defect of a lane.
    pub(super) fn report(&mut self, defect: Defect, pc: u32, warp: u32, lane: usize) {
        self.found.add(self.site(pc, warp, lane), defect);
    }

    fn site(&self, pc: u32, warp: u32, lane: usize) -> Site {
        Site { block: self.block, thread: warp * LANES as u32 + lane as u32, pc }
    }

    /// Checks a barrier of the whole block that opens; `waiting` are the warps and where they wait, `ended` the number of threads
    /// that ended.
    pub fn look_at_barrier(&mut self, barrier: u32, mut waiting: impl Iterator<Item = (u32, u32)>, ended: u32) {
        let Some((warp, pc)) = waiting.next() else { return };
        let site = self.site(pc, warp, 0);
        if ended > 0 {
            self.found.add(site, Defect::EndedBeforeBarrier { barrier, ended });
        }
        if let Some((other_warp, other_pc)) = waiting.find(|(_, other)| *other != pc) {
            let other = self.site(other_pc, other_warp, 0);
            self.found.add(site, Defect::DifferentBarriers { barrier, other });
        }
    }

    /// Notes that a request touches bytes that an unfinished copy will write, whichever thread started the copy.
    pub fn unfinished_copy(&mut self, request: &Request<'_>, warp: u32, (copy_pc, copy_warp, copy_lane): (u32, u32, u32)) {
        let lane = request.first_lane();
        let copy = self.site(copy_pc, copy_warp, copy_lane as usize);
        self.report(Defect::UnfinishedCopy { access: shared_access(request, lane), copy }, request.pc, warp, lane);
    }

    fn race(&mut self, conflict: Conflict, request: &Request<'_>, strength: Strength, warp: u32, lane: usize) {
        let Conflict { other, other_writes } = conflict;
        let volatile = other.strength() == Strength::Volatile && strength == Strength::Volatile;
        let other_op = match (other.strength(), other_writes) {
            (Strength::Atomic, _) => AccessOp::Atomic,
            (_, true) => AccessOp::Store,
            (_, false) => AccessOp::Load,
        };
        let same_warp = other.warp() == warp;
        let other = Site { block: self.block, thread: other.thread(), pc: other.pc() };
        let access = shared_access(request, lane);
        self.report(Defect::Race { access, other, other_op, same_warp, volatile }, request.pc, warp, lane);
    }
}

pub(super) fn shared_access(request: &Request<'_>, lane: usize) -> Access {
    Access { space: Space::Shared, op: request.op, address: request.offset(lane).into(), bytes: request.bytes }
}

impl Watch {
    #[inline(never)]
    pub(super) fn shared_load(
        &mut self,
        request: &Request<'_>,
        pattern: Pattern,
        semantics: Semantics,
        warp: u32,
        mut used: impl FnMut() -> u32,
    ) {
        let strength = Strength::of(request.op, semantics);
        let lanes = match pattern {
            // Two of the lanes that read the same bytes represent all of them.
            Pattern::Same(_) => 1 << request.first_lane() | 1 << (31 - request.mask.leading_zeros()),
            _ => request.mask,
        };
        for lane in lanes_of(lanes) {
            let (offset, bytes) = (request.offset(lane), request.bytes);
            if strength == Strength::Plain && self.shared.is_settled(offset, bytes) {
                continue;
            }
            let unwritten = self.shared.unwritten(offset, bytes);
            if unwritten != 0 && unwritten & used() != 0 {
                self.report(Defect::Uninitialized { access: shared_access(request, lane) }, request.pc, warp, lane);
            }
            if semantics.strong && self.has_fences {
                self.order.read(warp, shared_address(offset), semantics.acquires);
            }
            let mark = Mark::new(request.pc, warp, lane as u32, self.order.now(warp), strength);
            if let Some(conflict) = self.shared.read(&self.order, mark, offset, bytes) {
                self.race(conflict, request, strength, warp, lane);
            }
        }
    }

    #[inline(never)]
    pub(super) fn shared_store(&mut self, request: &Request<'_>, lane: usize, semantics: Semantics, warp: u32, same: bool) {
        let offset = request.offset(lane);
        let atomic = request.op == AccessOp::Atomic;
        if atomic && self.shared.unwritten(offset, request.bytes) != 0 {
            self.report(Defect::Uninitialized { access: shared_access(request, lane) }, request.pc, warp, lane);
        }
        if atomic && self.has_fences {
            self.order.read(warp, shared_address(offset), semantics.acquires);
        }
        let strength = Strength::of(request.op, semantics);
        let mark = Mark::new(request.pc, warp, lane as u32, self.order.now(warp), strength);
        if let Some(conflict) = self.shared.write(&self.order, mark, offset, request.bytes, same) {
            self.race(conflict, request, strength, warp, lane);
        }
        if semantics.strong && self.has_fences {
            self.order.write(warp, shared_address(offset), semantics.releases);
        }
    }
}

/// The address of an offset in shared memory, distinct from every global address, for the clocks of flags.
fn shared_address(offset: u32) -> u64 {
    crate::windows::SHARED_WINDOW | u64::from(offset)
}
