//! The checks of one worker: the order of the accesses of its cluster, the shadow of its shared memory, and the defects found.

use super::far::shared_address;
use super::found::{Defect, Found, Site};
use super::lane_waits::{LaneWait, LaneWaits, Lanes, Meeting};
use super::mark::{Mark, Strength};
use super::order::Order;
use super::proxy::Proxy;
use super::shared::{Conflict, Shadow};
use super::visits::ClusterVisits;
use crate::exec::clusters::Clusters;
use crate::exec::machine::Machine;
use crate::exec::request::{Pattern, Request, groups, lanes_of, lanes_where};
use alu::registers::LANES;
use ptx::finding::{Access, AccessOp, Space};
use ptx::program::{Action, ConstantValue, Program, Semantics};

/// The checks of one worker.
#[derive(Debug)]
pub struct Watch {
    pub order: Order,
    pub(super) shared: Shadow,
    pub(super) proxy: Option<Box<Proxy>>,
    pub found: Found,
    /// Lanes that wait for others of their warp.
    lane_waits: LaneWaits,
    /// The last masks in which nothing was wrong, with the lanes.
    right_masks: ([u32; LANES], Lanes),
    /// The blocks of the current cluster, by rank.
    blocks: Vec<u64>,
    warps_per_block: u32,
    clusters: Clusters,
    /// The accesses of blocks to each other's shared memory.
    visits: ClusterVisits,
    /// The program has fences, so that flags may order accesses.
    pub(super) has_fences: bool,
}

/// Returns true if nothing but barriers of the whole block orders warps.
///
/// Their number is 0, every thread waits there, and there are no waits for products.
fn has_only_full_barriers(program: &Program) -> bool {
    let zero = |register| {
        let constant = program.constants.iter().find(|constant| constant.register == register);
        constant.is_some_and(|constant| constant.value == ConstantValue::Bits(0))
    };
    program.code.iter().all(|inst| match inst.action {
        Action::Barrier { barrier, threads, waits, .. } => waits && threads.is_none() && zero(barrier),
        Action::Wgmma(_) => false,
        _ => true,
    })
}

impl Watch {
    pub fn new(machine: &Machine<'_>) -> Self {
        let program = machine.program;
        let clusters = machine.clusters;
        let only_full_barriers = has_only_full_barriers(program) && !program.has_fences && clusters.blocks == 1;
        Self {
            order: Order::new(program),
            shared: Shadow::new(clusters.bytes(), program.narrowest_access(Space::Shared), only_full_barriers),
            proxy: Proxy::new(machine),
            found: Found::default(),
            lane_waits: LaneWaits::default(),
            right_masks: ([0; LANES], Lanes { active: 0, live: 0 }),
            blocks: Vec::new(),
            warps_per_block: machine.warps(),
            clusters,
            visits: ClusterVisits::default(),
            has_fences: program.has_fences,
        }
    }

    /// Starts a cluster of these blocks.
    pub fn start(&mut self, blocks: impl Iterator<Item = u64>) {
        self.blocks.clear();
        self.blocks.extend(blocks);
        let warps = self.blocks.len() * self.warps_per_block as usize;
        self.order.start(warps, self.blocks.len());
        self.shared.start();
        self.lane_waits.clear();
        self.visits.start(self.blocks.len(), warps);
        if let Some(proxy) = &mut self.proxy {
            proxy.start(warps);
        }
    }

    /// Returns the block of a warp.
    #[inline(always)]
    pub(super) fn block_of(&self, warp: u32) -> u64 {
        self.blocks[self.rank_of(warp) as usize]
    }

    #[inline(always)]
    fn rank_of(&self, warp: u32) -> u32 {
        if self.clusters.blocks == 1 { 0 } else { warp / self.warps_per_block }
    }

    pub fn arrive(&mut self, warp: u32, barrier: u32) {
        self.order.arrive(warp, (barrier, self.rank_of(warp)));
    }

    /// Ends the block with this rank, whose warps have ended. Finds the accesses of others to its shared memory that may come later.
    pub fn end_block(&mut self, rank: u32) {
        for (mark, access) in self.visits.end(rank, |mark| self.order.is_before_end(mark, rank)) {
            self.report_visit(rank, mark, access);
        }
    }

    #[cold]
    fn report_visit(&mut self, rank: u32, mark: Mark, access: Access) {
        let owner = self.blocks[rank as usize];
        self.report(Defect::EndedBlock { access, owner }, mark.pc(), mark.warp(), mark.lane() as usize);
    }

    /// Notes an access to the shared memory of another block.
    #[inline(always)]
    fn note_visit(&mut self, mark: Mark, request: &Request<'_>, lane: usize) {
        if self.clusters.blocks > 1 {
            let access = request.in_shared(lane);
            let rank = self.clusters.rank_at(access.address) as u32;
            if rank != self.rank_of(mark.warp()) && self.visits.note(rank, mark, access) {
                self.report_visit(rank, mark, access);
            }
        }
    }

    /// Opens a barrier for the warps that wait. `counted` says that it has a number of threads, and `all` that no other warp of the block has
    /// anything left to order.
    pub fn open(&mut self, barrier: u32, waiting: impl Iterator<Item = u32>, counted: bool, all: bool) {
        let mut waiting = waiting.peekable();
        let Some(rank) = waiting.peek().map(|warp| self.rank_of(*warp)) else { return };
        self.order.open((barrier, rank), waiting, counted);
        if all && self.clusters.blocks == 1 {
            self.shared.all_in_order();
        }
    }

    pub fn end(&mut self, warp: u32) {
        self.order.end(warp, self.rank_of(warp));
    }

    /// Adds a defect of a lane.
    pub fn report(&mut self, defect: Defect, pc: u32, warp: u32, lane: usize) {
        self.found.add(self.site(pc, warp, lane as u32), defect);
    }

    pub fn site(&self, pc: u32, warp: u32, lane: u32) -> Site {
        Site { block: self.block_of(warp), thread: warp % self.warps_per_block * LANES as u32 + lane, pc }
    }

    /// Notes the number of the recorded warp's next instruction. Defects that are found in it from now on belong to it.
    pub fn follow(&mut self, warp: u32, number: u64) {
        let of_block = warp % self.warps_per_block;
        self.found.follow((self.block_of(warp), of_block), number);
    }

    /// Checks a barrier of the whole block that opens; `waiting` are the warps and where they wait, `ended` the number of threads
    /// that ended.
    ///
    /// CUDA C++ Programming Guide, "Synchronization Functions": `__syncthreads()` may be in a branch only if the whole block takes the same one. It
    /// is the aligned barrier 0. Others may be at different instructions: PTX ISA, `barrier`, asks only the threads of a warp for the same one,
    /// and that only with `.aligned`.
    pub fn look_at_barrier(&mut self, program: &Program, barrier: u32, mut waiting: impl Iterator<Item = (u32, u32)>, ended: u32) {
        let Some((warp, pc)) = waiting.next() else { return };
        let site = self.site(pc, warp, 0);
        if ended > 0 {
            self.found.add(site, Defect::EndedBeforeBarrier { barrier, ended });
        }
        let is_for_all =
            |pc: u32| barrier == 0 && matches!(program.code[pc as usize].action, Action::Barrier { aligned: true, .. });
        if let Some((other_warp, other_pc)) = waiting.find(|(_, other)| *other != pc && is_for_all(pc) && is_for_all(*other)) {
            let other = self.site(other_pc, other_warp, 0);
            self.found.add(site, Defect::DifferentBarriers { barrier, other });
        }
    }

    /// Lets lanes meet at an instruction. `masks` has what each lane names.
    pub fn meet_lanes(&mut self, meeting: Meeting, masks: &[u32; LANES], Lanes { active, live }: Lanes, pc: u32, warp: u32) {
        let lanes = Lanes { active, live };
        if meeting.is_some() && self.right_masks.1 == lanes && self.right_masks.0 == *masks {
            return;
        }
        let mut is_right = true;
        let strangers = lanes_where(active, |lane| masks[lane] >> lane & 1 == 0);
        if strangers != 0 {
            let lane = strangers.trailing_zeros() as usize;
            is_right = false;
            self.report(Defect::LaneMask { mask: masks[lane], absent: None }, pc, warp, lane);
        }
        for (mask, came) in groups(masks, active & !strangers) {
            let others = mask & live & !came & !strangers;
            is_right &= others == 0;
            let wait = LaneWait { warp, meeting, mask, came, pc, times: 1 };
            let met = if others == 0 { mask } else { self.lane_waits.meet(wait, others) };
            if meeting.is_none() {
                self.order.synchronize_lanes(warp, met, live);
            }
        }
        if is_right && meeting.is_some() {
            self.right_masks = (*masks, lanes);
        }
    }

    /// Notes that some lanes of a path end.
    #[inline(always)]
    pub fn end_lanes(&mut self, warp: u32, path: u32, ending: u32, live: u32) {
        if !self.lane_waits.is_empty() {
            for (LaneWait { mask, came, pc, .. }, absent) in self.lane_waits.end(warp, path, ending, live) {
                let defect = Defect::LaneMask { mask, absent: Some(absent.trailing_zeros()) };
                self.report(defect, pc, warp, (path & came).trailing_zeros() as usize);
            }
        }
    }

    /// Notes that a request touches the target of an unfinished copy. Any thread may have started the copy.
    pub fn unfinished_copy(&mut self, request: &Request<'_>, warp: u32, (copy_pc, copy_warp, copy_lane): (u32, u32, u32)) {
        let lane = request.first_lane();
        let copy = self.site(copy_pc, copy_warp, copy_lane);
        let access = request.in_shared(lane);
        let thread = warp * LANES as u32 + lane as u32;
        let defect = match self.stale_wait([copy_pc; 2], [thread; 2]) {
            Some(wait) => Defect::StaleWait { access, wait, other: copy },
            None => Defect::UnfinishedCopy { access, copy },
        };
        self.report(defect, request.pc, warp, lane);
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
        let other_thread = other.thread();
        let other = self.site(other.pc(), other.warp(), other.lane());
        let access = request.in_shared(lane);
        let thread = warp * LANES as u32 + lane as u32;
        let defect = match self.stale_wait([request.pc, other.pc], [thread, other_thread]) {
            Some(wait) => Defect::StaleWait { access, wait, other },
            None => Defect::Race { access, other, other_op, same_warp, volatile, missing: None },
        };
        self.report(defect, request.pc, warp, lane);
    }
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
                self.report(Defect::Uninitialized { access: request.in_shared(lane) }, request.pc, warp, lane);
            }
            if semantics.strong && self.has_fences {
                self.order.read(warp, (shared_address(offset), request.bytes.into()), semantics, None);
            }
            let mark = Mark::new(request.pc, warp, lane as u32, self.order.now(warp), strength);
            self.note_visit(mark, request, lane);
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
            self.report(Defect::Uninitialized { access: request.in_shared(lane) }, request.pc, warp, lane);
        }
        if atomic && self.has_fences {
            self.order.read(warp, (shared_address(offset), request.bytes.into()), semantics, None);
        }
        let strength = Strength::of(request.op, semantics);
        let mark = Mark::new(request.pc, warp, lane as u32, self.order.now(warp), strength);
        self.note_visit(mark, request, lane);
        if let Some(conflict) = self.shared.write(&self.order, mark, offset, request.bytes, same) {
            self.race(conflict, request, strength, warp, lane);
        }
        if let Some(proxy) = &mut self.proxy {
            proxy.write(mark, offset, request.bytes);
        }
        if semantics.strong && self.has_fences {
            let (block, bytes) = (self.block_of(warp) as u32, request.bytes.into());
            self.order.write((block, warp), (shared_address(offset), bytes), semantics, None);
        }
    }
}
