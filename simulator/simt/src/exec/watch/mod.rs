//! The checks that look at accesses together: races, and reads of what nobody wrote.
//!
//! - [`mark`]: who accessed a place last.
//! - [`order`]: what happened before what in a block.
//! - [`shared`]: the shadow of a block's shared memory.
//! - [`global`]: the shadow of global memory, which the blocks share.
//! - [`found`]: what was found, each defect once.
//!
//! None of them stops a kernel, because none stops a GPU. What must stop it is checked in [`super::bounds`].

pub mod found;
pub mod global;
mod mark;
mod order;
mod shared;

use super::Machine;
use super::block::Core;
use super::registers::LANES;
use super::request::{Pattern, Request, lanes_of};
use crate::finding::{Access, AccessOp, Space};
use crate::program::{Action, AsyncCopy, ConstantValue, Program, Semantics};
use found::{Defect, Found, Site};
use mark::{Mark, Strength};
use order::Order;
use shared::{Conflict, Shadow};

/// One worker's checks.
#[derive(Debug)]
pub struct Watch {
    order: Order,
    shared: Shadow,
    pub found: Found,
    /// The block under way.
    block: u64,
    /// A flag may order accesses.
    has_fences: bool,
}

/// How an access may meet others.
fn strength(op: AccessOp, semantics: Semantics) -> Strength {
    match op {
        AccessOp::Atomic => Strength::Atomic,
        _ if semantics.strong => Strength::Strong,
        _ => Strength::Plain,
    }
}

/// The least bytes that one access of the program has to a space, or might have.
fn narrowest(program: &Program, space: Space) -> u32 {
    let of_space = |other: Option<Space>| other.is_none() || other == Some(space);
    let accesses = program.accesses.iter().filter(|access| of_space(access.space)).map(|access| access.width);
    let atomics = program.atomics.iter().filter(|atomic| of_space(atomic.space)).map(|atomic| atomic.width);
    // What a copy writes to shared memory is four bytes or more; what it reads of global memory may be any number.
    let in_part = |copy: &AsyncCopy| space == Space::Global && copy.source_bytes.is_some();
    let copies = program.copies.iter().filter(|copy| in_part(copy)).map(|_| 1);
    accesses.chain(atomics).chain(copies).min().unwrap_or(4)
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
            shared: Shadow::new(machine.shared_bytes, narrowest(program, Space::Shared), only_full_barriers),
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
    fn report(&mut self, defect: Defect, pc: u32, warp: u32, lane: usize) {
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

impl Core<'_> {
    /// Notes a load from shared memory.
    #[inline(always)]
    pub fn watch_shared_load(&mut self, request: &Request<'_>, pattern: Pattern, semantics: Semantics) {
        let warp = self.warp;
        let Some(watch) = &mut self.watch else { return };
        let settled = match pattern {
            Pattern::Same(_) => watch.shared.is_settled(request.offset(request.first_lane()), request.bytes),
            Pattern::Run(_) => watch.shared.is_settled(request.offset(0), request.bytes * LANES as u32),
            Pattern::Other => false,
        };
        if !settled || semantics.strong {
            watch.shared_load(request, pattern, semantics, warp);
        }
    }

    /// Notes a store of one lane to shared memory, before it happens. `same` says that it leaves the bytes as they are.
    #[inline(always)]
    pub fn watch_shared_store(&mut self, request: &Request<'_>, lane: usize, semantics: Semantics, same: bool) {
        let warp = self.warp;
        let Some(watch) = &mut self.watch else { return };
        watch.shared_store(request, lane, semantics, warp, same);
    }
}

impl Watch {
    #[inline(never)]
    fn shared_load(&mut self, request: &Request<'_>, pattern: Pattern, semantics: Semantics, warp: u32) {
        let strength = strength(request.op, semantics);
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
    fn shared_store(&mut self, request: &Request<'_>, lane: usize, semantics: Semantics, warp: u32, same: bool) {
        let offset = request.offset(lane);
        let atomic = request.op == AccessOp::Atomic;
        if atomic && self.shared.is_unwritten(offset, request.bytes) {
            self.report(Defect::Uninitialised { access: shared_access(request, lane) }, request.pc, warp, lane);
        }
        if atomic && self.has_fences {
            self.order.read(warp, shared_address(offset), semantics.acquires);
        }
        let mark = Mark::new(request.pc, warp, lane as u32, self.order.now(warp), strength(request.op, semantics));
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
    crate::program::SHARED_WINDOW | u64::from(offset)
}
