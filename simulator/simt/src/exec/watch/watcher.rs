//! One worker's checks: the order of its block's accesses, the shadow of its shared memory, and what was found.

use super::found::{Defect, Found, Site};
use super::mark::{Mark, Strength};
use super::order::Order;
use super::shared::{Conflict, Shadow};
use crate::exec::machine::Machine;
use crate::exec::request::{Pattern, Request, lanes_of};
use crate::finding::{Access, AccessOp, Space};
use crate::program::{Action, ConstantValue, Program, Semantics};
use crate::registers::LANES;

/// One worker's checks.
#[derive(Debug)]
pub struct Watch {
    pub(super) order: Order,
    pub(super) shared: Shadow,
    pub found: Found,
    /// The block under way.
    pub(super) block: u64,
    /// A flag may order accesses.
    pub(super) has_fences: bool,
}

/// All barriers are of the whole block: number 0, and everyone waits.
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

    /// A barrier opens for those that wait; `all` says that these are all that have not ended.
    pub fn open(&mut self, barrier: u32, waiting: impl Iterator<Item = u32>, all: bool) {
        self.order.open(barrier, waiting);
        if all {
            self.shared.all_in_order();
        }
    }

    pub fn end(&mut self, warp: u32) {
        self.order.end(warp);
    }

    pub fn synchronise_lanes(&mut self, warp: u32, members: u32, live: u32) {
        self.order.synchronise_lanes(warp, members, live);
    }

    pub fn fence(&mut self, warp: u32) {
        self.order.fence(warp);
    }

    /// A warp arrives at a barrier in shared memory.
    pub fn arrive_in_memory(&mut self, warp: u32, offset: u32) {
        self.order.arrive_in_memory(warp, shared_address(offset));
    }

    /// A phase of a barrier in shared memory ends.
    pub fn complete_in_memory(&mut self, offset: u32) {
        self.order.complete_in_memory(shared_address(offset));
    }

    /// A warp sees that a phase of a barrier in shared memory is over.
    pub fn acquire(&mut self, warp: u32, offset: u32) {
        self.order.read(warp, shared_address(offset), true);
    }

    /// Notes what a lane of a request did wrong.
    pub(super) fn report(&mut self, defect: Defect, pc: u32, warp: u32, lane: usize) {
        self.found.add(self.site(pc, warp, lane), defect);
    }

    fn site(&self, pc: u32, warp: u32, lane: usize) -> Site {
        Site { block: self.block, thread: warp * LANES as u32 + lane as u32, pc }
    }

    /// A barrier of the whole block opens; `waiting` are the warps and where they wait, `ended` the threads that will not come.
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

    /// Notes that a lane of a request touches what a copy is still to write, which another thread (or itself) began.
    pub fn unfinished_copy(&mut self, request: &Request<'_>, warp: u32, (copy_pc, copy_warp, copy_lane): (u32, u32, u32)) {
        let lane = request.first_lane();
        let copy = self.site(copy_pc, copy_warp, copy_lane as usize);
        self.report(Defect::UnfinishedCopy { access: shared_access(request, lane), copy }, request.pc, warp, lane);
    }

    fn race(&mut self, conflict: Conflict, request: &Request<'_>, warp: u32, lane: usize) {
        let Conflict { other, other_writes } = conflict;
        let other_op = match (other.strength(), other_writes) {
            (Strength::Atomic, _) => AccessOp::Atomic,
            (_, true) => AccessOp::Store,
            (_, false) => AccessOp::Load,
        };
        let same_warp = other.warp() == warp;
        let other = Site { block: self.block, thread: other.thread(), pc: other.pc() };
        self.report(Defect::Race { access: shared_access(request, lane), other, other_op, same_warp }, request.pc, warp, lane);
    }
}

fn shared_access(request: &Request<'_>, lane: usize) -> Access {
    Access { space: Space::Shared, op: request.op, address: request.offset(lane).into(), bytes: request.bytes }
}

impl Watch {
    #[inline(never)]
    pub(super) fn shared_load(&mut self, request: &Request<'_>, pattern: Pattern, semantics: Semantics, warp: u32) {
        let strength = Strength::of(request.op, semantics);
        let lanes = match pattern {
            // Of lanes that read the same place, two stand for all.
            Pattern::Same(_) => 1 << request.first_lane() | 1 << (31 - request.mask.leading_zeros()),
            _ => request.mask,
        };
        for lane in lanes_of(lanes) {
            let (offset, bytes) = (request.offset(lane), request.bytes);
            if strength == Strength::Plain && self.shared.is_settled(offset, bytes) {
                continue;
            }
            if self.shared.is_unwritten(offset, bytes) {
                self.report(Defect::Uninitialised { access: shared_access(request, lane) }, request.pc, warp, lane);
            }
            if semantics.strong && self.has_fences {
                self.order.read(warp, shared_address(offset), semantics.acquires);
            }
            let mark = Mark::new(request.pc, warp, lane as u32, self.order.now(warp), strength);
            if let Some(conflict) = self.shared.read(&self.order, mark, offset, bytes) {
                self.race(conflict, request, warp, lane);
            }
        }
    }

    #[inline(never)]
    pub(super) fn shared_store(&mut self, request: &Request<'_>, lane: usize, semantics: Semantics, warp: u32, same: bool) {
        let offset = request.offset(lane);
        let atomic = request.op == AccessOp::Atomic;
        if atomic && self.shared.is_unwritten(offset, request.bytes) {
            self.report(Defect::Uninitialised { access: shared_access(request, lane) }, request.pc, warp, lane);
        }
        if atomic && self.has_fences {
            self.order.read(warp, shared_address(offset), semantics.acquires);
        }
        let mark = Mark::new(request.pc, warp, lane as u32, self.order.now(warp), Strength::of(request.op, semantics));
        if let Some(conflict) = self.shared.write(&self.order, mark, offset, request.bytes, same) {
            self.race(conflict, request, warp, lane);
        }
        if semantics.strong && self.has_fences {
            self.order.write(warp, shared_address(offset), semantics.releases);
        }
    }
}

/// Shared and global memory have addresses of their own in the order of flags.
fn shared_address(offset: u32) -> u64 {
    crate::windows::SHARED_WINDOW | u64::from(offset)
}
