//! Asynchronous copies from global to shared memory: `cp.async`.
//!
//! A GPU finishes a copy at some time between its start and the end of the wait for it. Here the bytes arrive at the wait, the
//! latest moment. Until then the destination holds a pattern that no program mistakes for its data, and an access to it is
//! reported.

use super::copies::{Bulk, Copy, Unit};
use super::core::Core;
use super::machine::Stop;
use super::request::{Pattern, Request, lane_addresses, lanes_of, lanes_where};
use super::watch::found::Defect;
use alu::registers::{LANES, Registers};
use alu::windows::WINDOW_OFFSET;
use ptx::finding::AccessOp;
use ptx::program::Semantics;

/// The contents of shared memory while a copy to it is unfinished: a NaN in every width of float.
const UNFINISHED: u32 = 0x7fff_7fff;

/// Starts the copies of the lanes in `mask`.
pub fn begin(core: &mut Core<'_>, registers: &Registers, index: u32, mask: u32, pc: u32) -> Result<(), Stop> {
    let copy = core.machine.program.copies[index as usize];
    let source = core.machine.program.accesses[copy.source as usize];
    let targets = lane_addresses(registers, &copy.target);
    let target = Request { op: AccessOp::Store, index: copy.source, pc, bytes: copy.bytes, mask, addresses: &targets };
    core.check_shared(&target)?;

    let ignored =
        copy.ignored.map_or(0, |(predicate, negated)| registers.predicate(predicate) ^ if negated { u32::MAX } else { 0 });
    let bytes_of = |lane: usize| match copy.source_bytes {
        _ if ignored >> lane & 1 != 0 => 0,
        Some(size) => registers.words(size)[lane].min(copy.bytes),
        None => copy.bytes,
    };
    if let Some(size) = copy.source_bytes {
        let sizes = registers.words(size);
        for lane in lanes_of(lanes_where(mask & !ignored, |lane| sizes[lane] > copy.bytes)) {
            let defect = Defect::CopySize { asked: sizes[lane], bytes: copy.bytes };
            core.check(|watch, warp| watch.report(defect, pc, warp, lane));
        }
    }
    let addresses = lane_addresses(registers, &source.address);
    let reads = lanes_where(mask, |lane| bytes_of(lane) != 0);
    let offsets = targets.map(|target| (target & WINDOW_OFFSET) as u32);
    let whole = Request { op: AccessOp::Load, addresses: &addresses, ..target };
    let request = Request { mask: reads, ..whole };
    core.count_copy_to_shared(&request, mask & !reads, &offsets, copy.is_past_l1);
    if reads != 0 {
        check_source(core, &request, bytes_of)?;
        core.count_copied(&request, &offsets, copy.is_past_l1);
        // Lanes may read fewer bytes than they write, so each lane is noted separately.
        for lane in lanes_of(reads) {
            let part = Request { bytes: bytes_of(lane), mask: 1 << lane, ..request };
            core.watch_global_load(&part, Pattern::Same(addresses[lane]), source.semantics);
        }
    }
    let clock = core.watch.as_ref().map_or(0, |watch| watch.order.now(core.warp));
    for lane in lanes_of(mask) {
        let mut data = [0; 4];
        if let Some(region) = core.machine.region(&mut core.check_hint, addresses[lane], 1) {
            region.buffer.read(addresses[lane] - region.base, &mut bytemuck::cast_slice_mut(&mut data)[..bytes_of(lane) as usize]);
        }
        let pending = &mut core.copies.by_warp[core.warp as usize];
        let unit = Unit::new(target.offset(lane), &data[..copy.bytes as usize / 4]);
        let (from, read) = (addresses[lane], bytes_of(lane));
        pending.push(Copy { lane: lane as u32, group: pending.groups[lane], unit, from, read, clock, pc, bound: None });
        // The bytes may arrive at any time from now on, and are certain to be there after the wait. So both count as writes.
        core.watch_shared_store(&target, lane, Semantics::default(), false);
        core.copies.count += 1;
        core.begin_unit(&unit);
    }
    Ok(())
}

/// Checks that sources are aligned, and that the bytes read are allocated. Most lanes read all bytes.
fn check_source(core: &mut Core<'_>, request: &Request<'_>, bytes_of: impl Fn(usize) -> u32) -> Result<(), Stop> {
    let whole = lanes_where(request.mask, |lane| bytes_of(lane) == request.bytes);
    // Misalignment is reported first, whatever the bounds.
    for lanes in [request.misaligned(), whole].into_iter().filter(|lanes| *lanes != 0) {
        core.check_global(&request.of(lanes))?;
    }
    let part = request.mask & !whole;
    if part != 0 {
        // The start is aligned, so if the first and the last byte are inside, all bytes are in one allocation.
        let last = std::array::from_fn(|lane| request.addresses[lane].wrapping_add(u64::from(bytes_of(lane).max(1) - 1)));
        core.check_global(&Request { bytes: 1, mask: part, ..*request })?;
        core.check_global(&Request { bytes: 1, mask: part, addresses: &last, ..*request })?;
    }
    Ok(())
}

/// Finishes the copies of the lanes in `mask`. The last `pending` groups stay unfinished; without a number, none do.
pub fn wait(core: &mut Core<'_>, pending: Option<u32>, mask: u32) {
    if pending.is_none() {
        core.copies.commit(core.warp, mask);
    }
    let Some(of_warp) = core.copies.by_warp.get_mut(core.warp as usize) else { return };
    let first_kept = of_warp.groups.map(|groups| groups.saturating_sub(pending.unwrap_or(0)));
    let finishes = |copy: &Copy| mask >> copy.lane & 1 != 0 && copy.group < first_kept[copy.lane as usize];
    for copy in of_warp.take(finishes) {
        core.arrive(&copy);
    }
}

impl Core<'_> {
    /// Finishes a copy. To the other threads this is a read and a write by the lane that waited.
    fn arrive(&mut self, copy: &Copy) {
        let Copy { lane, unit, pc, .. } = copy;
        self.copies.count -= 1;
        self.copies.bound -= usize::from(copy.bound.is_some());
        self.finish_unit(unit);
        let (addresses, bytes, pc) = ([u64::from(unit.place); LANES], unit.bytes, *pc);
        let request = Request { op: AccessOp::Store, index: 0, pc, bytes, mask: 1 << lane, addresses: &addresses };
        self.watch_shared_store(&request, *lane as usize, Semantics::default(), false);
        // Without a barrier in between, the read when it began says the same.
        if self.watch.as_ref().is_some_and(|watch| watch.order.now(self.warp) != copy.clock) {
            self.note_late_read(copy);
        }
    }

    /// Finishes the copies of a barrier whose phase is over. To the other threads their bytes were written when they started.
    pub fn finish_bound(&mut self, barrier: u32) {
        if self.copies.bound == 0 {
            return;
        }
        let phase = self.phases.of(barrier).phase;
        for copy in self.copies.take_bound(barrier, phase) {
            self.copies.count -= 1;
            self.finish_unit(&copy.unit);
        }
    }

    fn begin_unit(&mut self, unit: &Unit) {
        self.copies.mark(unit);
        self.shared[unit.words()].fill(UNFINISHED);
    }

    fn finish_unit(&mut self, unit: &Unit) {
        self.copies.unmark(unit);
        self.shared[unit.words()].copy_from_slice(unit.data());
    }

    /// Starts a bulk copy.
    pub fn begin_bulk(&mut self, copy: Bulk) {
        self.copies.count += 1;
        copy.units.iter().for_each(|unit| self.begin_unit(unit));
        self.copies.bulk.push(copy);
    }

    /// Finishes a bulk copy. To the other threads its bytes were written when it started.
    pub fn finish_bulk(&mut self, copy: &Bulk) {
        self.copies.count -= 1;
        copy.units.iter().for_each(|unit| self.finish_unit(unit));
    }

    /// Returns true if bytes are ready in the block's shared memory. They are inside it, and no unfinished copy writes them.
    #[inline(always)]
    pub fn may_take(&self, address: u64, bytes: u64) -> bool {
        address.wrapping_sub(self.shared_base.into()).saturating_add(bytes) <= u64::from(self.machine.shared_bytes)
            && (self.copies.count == 0 || !self.copies.touch(address, bytes))
    }

    /// Notes a request if an unfinished copy writes any of its bytes. It is to shared memory, and already checked for bounds.
    #[inline(always)]
    pub fn watch_unfinished(&mut self, request: &Request<'_>) {
        if self.copies.count != 0 && self.watch.is_some() {
            self.note_unfinished(request);
        }
    }

    #[inline(never)]
    fn note_unfinished(&mut self, request: &Request<'_>) {
        let touches = |lane: usize| self.copies.touch(request.offset(lane).into(), request.bytes.into());
        let lanes = lanes_where(request.mask, touches);
        if lanes != 0 {
            let request = request.of(lanes);
            if let Some(copy) = self.copies.writer(request.offset(request.first_lane()), request.bytes) {
                self.check(|watch, warp| watch.unfinished_copy(&request, warp, copy));
            }
        }
        if request.op != AccessOp::Load {
            self.note_read_by_store(request);
        }
    }

    /// Notes a write to bytes that an unfinished store reads.
    fn note_read_by_store(&mut self, request: &Request<'_>) {
        let lanes = lanes_where(request.mask, |lane| self.copies.are_read(request.offset(lane), request.bytes));
        if lanes == 0 {
            return;
        }
        let lane = lanes.trailing_zeros() as usize;
        let store = self.stores.pending.iter().find(|store| store.reads(request.offset(lane), request.bytes));
        if let (Some(store), Some(watch)) = (store, &mut self.watch) {
            let store = watch.site(store.pc, store.warp, store.lane);
            watch.report(Defect::OverwritesStore { access: request.in_shared(lane), store }, request.pc, self.warp, lane);
        }
    }
}
