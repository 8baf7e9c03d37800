//! Checks the accesses of a core to global memory.

use super::far::Flags;
use super::found::{Defect, Site};
use super::global_shadow::{Sight, Visit};
use super::knowledge::Seen;
use super::mark::Strength;
use super::watcher::Watch;
use crate::counters::Touched;
use crate::exec::copies::Copy;
use crate::exec::core::Core;
use crate::exec::request::{Pattern, Request, lanes_of};
use crate::footprint::Accesses;
use alu::registers::LANES;
use ptx::finding::{Access, AccessOp, MissingOrder, Space};
use ptx::program::Semantics;

/// Bytes of a line of a GPU's L1.
const L1_LINE: u64 = 128;

impl Core<'_> {
    /// Notes a load from global memory.
    #[inline(always)]
    pub fn watch_global_load(&mut self, request: &Request<'_>, pattern: Pattern, semantics: Semantics) {
        if self.watch.is_some() {
            self.note_global_load(request, pattern, semantics);
        }
    }

    #[inline(never)]
    fn note_global_load(&mut self, request: &Request<'_>, pattern: Pattern, semantics: Semantics) {
        if self.own.traces {
            self.keep_touched(request);
        }
        self.watch_in_flight(request, semantics.strong);
        let bytes = u64::from(request.bytes);
        let first = request.first_lane();
        // The whole request at once if its bytes are contiguous, otherwise lane by lane.
        match pattern {
            Pattern::Same(address) => self.note_global_bytes(request, first, address, bytes, semantics),
            Pattern::Run(address) => self.note_global_bytes(request, first, address, bytes * LANES as u64, semantics),
            Pattern::Other => {
                for lane in lanes_of(request.mask) {
                    self.note_global_bytes(request, lane, request.addresses[lane], bytes, semantics);
                }
            }
        }
    }

    /// Keeps the bytes of a request by the traced block.
    #[cold]
    fn keep_touched(&mut self, request: &Request<'_>) {
        let touched = lanes_of(request.mask).map(|lane| Touched {
            thread: (self.warp - self.first_warp) * LANES as u32 + lane as u32,
            op: request.op,
            address: request.addresses[lane],
            bytes: request.bytes.into(),
        });
        self.stats.touched.extend(touched);
    }

    /// Notes bytes that the lanes from `first` on read: each lane its own bytes, or all lanes the same.
    #[inline(always)]
    fn note_global_bytes(&mut self, request: &Request<'_>, first: usize, address: u64, bytes: u64, semantics: Semantics) {
        let machine = self.machine;
        let Some(region) = machine.region(&mut self.check_hint, address, 1) else { return };
        // The last lanes may load elements past the end that do not matter.
        let bytes = bytes.min(region.end() - address);
        let Some(watch) = &mut self.watch else { return };
        let offset = address - region.base;
        if let Some(footprint) = &machine.footprint {
            let accesses = if semantics.strong { Accesses::READ_STRONG } else { Accesses::READ };
            footprint.note(&machine.regions, self.check_hint, (offset, bytes), accesses);
        }
        let (fates, width) = (&mut self.fates, u64::from(request.bytes));
        let mut used = |at: u64| fates.used_bytes(machine.program, request.pc).checked_shr(((at - offset) % width) as u32);
        let mut is_defect = |at: u64| used(at).is_none_or(|used| used & 1 != 0) && region.buffer.first_unwritten(at, 1).is_some();
        let unwritten = region.buffer.first_unwritten(offset, bytes);
        if let Some(unwritten) = unwritten.and_then(|first| (first..offset + bytes).find(|at| is_defect(*at))) {
            let lane = first + ((unwritten - offset) / u64::from(request.bytes)) as usize;
            let access = request.access(Space::Global, address + (lane - first) as u64 * u64::from(request.bytes));
            watch.report(Defect::Uninitialized { access }, request.pc, self.warp, lane);
        }
        let flags = machine.flags();
        if semantics.strong && watch.has_fences {
            watch.order.read(self.warp, (address, bytes), semantics, flags);
        }
        let Some(shadow) = machine.shadow(self.check_hint) else { return };
        let thread = (self.warp - self.first_warp) * LANES as u32 + first as u32;
        let strength = (Strength::of(request.op, semantics), semantics.in_block);
        let visit = Visit::new(watch.block_of(self.warp), thread, request.pc, strength, watch.order.now(self.warp));
        let is_fresh = strength.0 == Strength::Plain && watch.order.has_met(self.warp) && {
            let (start, end) = (offset / L1_LINE * L1_LINE, (offset + bytes).next_multiple_of(L1_LINE).min(region.buffer.bytes()));
            let mut line = shadow.places(&machine.regions, self.check_hint, start, end - start).iter();
            line.all(|place| place.is_fresh(visit, &watch.order))
        };
        let per_lane = (request.bytes >> shadow.shift).max(1) as usize;
        for (position, place) in shadow.places(&machine.regions, self.check_hint, offset, bytes).iter().enumerate() {
            let lane = (position / per_lane) as u32;
            // The next lane is the next thread of the block.
            let visit = visit.further(lane);
            if let Some(other) = place.read(visit, Sight { order: &watch.order, flags }) {
                let own = address + u64::from(lane) * u64::from(request.bytes);
                watch.global_race(request.access(Space::Global, own), (visit, is_fresh), (other, AccessOp::Store), flags);
            }
        }
    }

    /// Notes that a copy may read global memory as late as now. Without flags, others than its block that read there stand for this.
    pub fn note_late_read(&mut self, copy: &Copy) {
        let (machine, source) = (self.machine, copy.source());
        let Some(region) = machine.region(&mut self.check_hint, source.start, copy.read.into()) else { return };
        let (Some(shadow), Some(watch)) = (machine.shadow(self.check_hint), &self.watch) else { return };
        let places = shadow.places(&machine.regions, self.check_hint, source.start - region.base, copy.read.into());
        let thread = (self.warp - self.first_warp) * LANES as u32 + copy.lane;
        let visit = Visit::new(watch.block_of(self.warp), thread, copy.pc, (Strength::Plain, false), watch.order.now(self.warp));
        let sight = Sight { order: &watch.order, flags: machine.flags() };
        if sight.flags.is_some() || places.first().is_some_and(|place| place.is_read_by(visit)) {
            places.iter().for_each(|place| place.note_read(visit, sight));
        }
    }

    /// Executes and notes a lane's store or atomic operation on global memory. `same` returns whether it would leave the bytes
    /// unchanged.
    #[inline(always)]
    pub fn watch_global_store<T>(
        &mut self,
        request: &Request<'_>,
        lane: usize,
        semantics: Semantics,
        same: impl FnOnce() -> bool,
        store: impl FnOnce() -> T,
    ) -> T {
        if self.watch.is_some() { self.note_global_store(request, lane, semantics, same, store) } else { store() }
    }

    fn note_global_store<T>(
        &mut self,
        request: &Request<'_>,
        lane: usize,
        semantics: Semantics,
        same: impl FnOnce() -> bool,
        store: impl FnOnce() -> T,
    ) -> T {
        if self.own.traces {
            self.keep_touched(&request.of(1 << lane));
        }
        let machine = self.machine;
        let (address, bytes) = (request.addresses[lane], u64::from(request.bytes));
        let Some(region) = machine.region(&mut self.check_hint, address, bytes) else { return store() };
        let Some(watch) = &mut self.watch else { return store() };
        let offset = address - region.base;
        let atomic = request.op == AccessOp::Atomic;
        if let Some(footprint) = &machine.footprint {
            let accesses = if atomic || semantics.strong { Accesses::WRITTEN_STRONG } else { Accesses::WRITTEN };
            footprint.note(&machine.regions, self.check_hint, (offset, bytes), accesses);
        }
        if atomic && region.buffer.first_unwritten(offset, bytes).is_some() {
            watch.report(Defect::Uninitialized { access: request.access(Space::Global, address) }, request.pc, self.warp, lane);
        }
        // Whoever sees the value that is written must find there what the warp publishes with it. What an atomic operation learns goes with the value
        // that it reads.
        let (flags, is_flag) = (machine.flags(), semantics.strong && watch.has_fences);
        let block = watch.block_of(self.warp);
        if is_flag {
            watch.order.write((block as u32, self.warp), (address, bytes), semantics, flags);
        }
        let shadow = machine.shadow(self.check_hint);
        let places = shadow.map_or(&[][..], |shadow| shadow.places(&machine.regions, self.check_hint, offset, bytes));
        let visit = Visit::new(
            block,
            (self.warp - self.first_warp) * LANES as u32 + lane as u32,
            request.pc,
            (Strength::of(request.op, semantics), semantics.in_block),
            watch.order.now(self.warp),
        );
        let sight = Sight { order: &watch.order, flags };
        let conflicting = |other: Option<Visit>| other.filter(|other| other.conflicts(visit, sight));
        // Places are locked in the order of their addresses, so that no two blocks wait for each other.
        let writer = places.iter().fold(None, |writer, place| writer.or(conflicting(place.begin_write())));
        let writer = if writer.is_some() && same() { None } else { writer };
        let result = store();
        // A race with another block is reported rather than one inside a block.
        let readers = places.iter().flat_map(|place| place.end_write(visit)).filter_map(conflicting);
        let reader = readers.min_by_key(|reader| reader.block() == block);
        if let Some((other, op)) = writer.zip(Some(AccessOp::Store)).or(reader.zip(Some(AccessOp::Load))) {
            watch.global_race(request.access(Space::Global, address), (visit, false), (other, op), flags);
        }
        if is_flag && atomic {
            watch.order.read(self.warp, (address, bytes), semantics, flags);
        }
        result
    }
}

impl Watch {
    /// Reports a race. `is_fresh` says that the later access, a load, finds no old value in L1.
    #[cold]
    fn global_race(
        &mut self,
        access: Access,
        (visit, is_fresh): (Visit, bool),
        (other, other_op): (Visit, AccessOp),
        flags: Option<&Flags>,
    ) {
        let other_op = if other.is_atomic() { AccessOp::Atomic } else { other_op };
        let same_warp = other.warp() == visit.warp();
        let site = |visit: Visit| Site { block: visit.block(), thread: visit.thread(), pc: visit.pc() };
        let how = (access.op != AccessOp::Load, other_op == AccessOp::Load, is_fresh);
        let missing = (other.block() != visit.block()).then(|| self.missing_order((visit, how), other, flags)).flatten();
        self.found.add(site(visit), Defect::Race { access, other: site(other), other_op, same_warp, volatile: false, missing });
    }

    /// Returns the synchronization missing between an access and another block's earlier one. `None` if the program tries none.
    fn missing_order(
        &self,
        (visit, (writes, was_read, is_fresh)): (Visit, (bool, bool, bool)),
        other: Visit,
        flags: Option<&Flags>,
    ) -> Option<MissingOrder> {
        if visit.both_are_strong(other) {
            return Some(MissingOrder::Scope);
        }
        // Writes and strong loads go to L2. A plain load does so after a barrier, if nothing has brought the line to L1 before.
        match other.seen(visit, &self.order) {
            Some(Seen::BeforeBarrier | Seen::BeforeBranch) if writes || visit.is_strong_to(other) => {
                return Some(MissingOrder::FormalAcquire);
            }
            Some(Seen::BeforeBarrier) if is_fresh => return Some(MissingOrder::FormalAcquire),
            Some(_) => return Some(MissingOrder::Acquire),
            None => {}
        }
        // The barrier ended the read, so a write after the flag cannot change its value.
        if writes && was_read && other.is_heard(visit, &self.order) {
            return Some(MissingOrder::FormalRelease);
        }
        match flags {
            Some(flags) if other.is_published(flags) => Some(MissingOrder::Flag),
            Some(_) => Some(MissingOrder::Release),
            None => self.has_fences.then_some(MissingOrder::Release),
        }
    }
}
