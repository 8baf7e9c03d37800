//! Copies from global to shared memory that run beside the threads: `cp.async`.
//!
//! A GPU finishes a copy at some time between its start and the end of the wait for it. Here the bytes arrive at the wait, the latest
//! moment; until then the destination holds a pattern that no program can take for its data, and whoever touches it is told.

use super::copies::{Bulk, Copy};
use super::core::Core;
use super::machine::Stop;
use super::request::{Pattern, Request, lane_addresses, lanes_of, lanes_where};
use crate::finding::AccessOp;
use crate::program::Semantics;
use crate::registers::{LANES, Registers};

/// What stands in shared memory while a copy to it is under way: a NaN of every width of float.
const UNFINISHED: u32 = 0x7fff_7fff;

/// Begins the copies of the lanes in `mask`.
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
    let addresses = lane_addresses(registers, &source.address);
    let reads = lanes_where(mask, |lane| bytes_of(lane) != 0);
    if reads != 0 {
        let request = Request { op: AccessOp::Load, index: copy.source, pc, bytes: copy.bytes, mask: reads, addresses: &addresses };
        check_source(core, &request, bytes_of)?;
        core.count_global(&request, request.pattern());
        // Lanes may read fewer bytes than they write, so each is looked at by itself.
        for lane in lanes_of(reads) {
            let part = Request { bytes: bytes_of(lane), mask: 1 << lane, ..request };
            core.watch_global_load(&part, Pattern::Same(addresses[lane]), source.semantics);
        }
    }
    for lane in lanes_of(mask) {
        let mut data = [0; 4];
        if let Some(region) = core.machine.region(&mut core.check_hint, addresses[lane], 1) {
            region.buffer.read(addresses[lane] - region.base, &mut bytemuck::cast_slice_mut(&mut data)[..bytes_of(lane) as usize]);
        }
        let pending = &mut core.copies.by_warp[core.warp as usize];
        let copy =
            Copy { lane: lane as u32, group: pending.groups[lane], target: target.offset(lane), bytes: copy.bytes, data, pc };
        pending.copies.push(copy);
        // The bytes may arrive at any moment from now on, and are there for certain after the wait: a write at both.
        core.watch_shared_store(&target, lane, Semantics::default(), false);
        core.copies.count += 1;
        core.copies.mark(copy.words());
        core.shared[copy.words()].fill(UNFINISHED);
    }
    Ok(())
}

/// That the sources are aligned and that what is read of each lies in an allocation. Most lanes read all of it.
fn check_source(core: &mut Core<'_>, request: &Request<'_>, bytes_of: impl Fn(usize) -> u32) -> Result<(), Stop> {
    let whole = lanes_where(request.mask, |lane| bytes_of(lane) == request.bytes);
    let misaligned = lanes_where(request.mask, |lane| !request.addresses[lane].is_multiple_of(u64::from(request.bytes)));
    // A request that is misaligned is refused for that, whatever its bounds.
    for lanes in [misaligned, whole].into_iter().filter(|lanes| *lanes != 0) {
        core.check_global(&request.of(lanes))?;
    }
    let part = request.mask & !whole;
    if part != 0 {
        // The start is aligned, so the last byte tells whether the part is inside; it is then with all before it, in one allocation.
        let last = std::array::from_fn(|lane| request.addresses[lane].wrapping_add(u64::from(bytes_of(lane).max(1) - 1)));
        core.check_global(&Request { bytes: 1, mask: part, ..*request })?;
        core.check_global(&Request { bytes: 1, mask: part, addresses: &last, ..*request })?;
    }
    Ok(())
}

/// Finishes the copies of the lanes in `mask` that are in a group before the last `pending` ones; without a number, all copies.
pub fn wait(core: &mut Core<'_>, pending: Option<u32>, mask: u32) {
    if pending.is_none() {
        core.copies.commit(core.warp, mask);
    }
    let Some(of_warp) = core.copies.by_warp.get_mut(core.warp as usize) else { return };
    let mut copies = std::mem::take(&mut of_warp.copies);
    let first_kept = of_warp.groups.map(|groups| groups.saturating_sub(pending.unwrap_or(0)));
    let finishes = |copy: &Copy| mask >> copy.lane & 1 != 0 && copy.group < first_kept[copy.lane as usize];
    for copy in copies.extract_if(.., |copy| finishes(copy)) {
        core.arrive(&copy);
    }
    core.copies.by_warp[core.warp as usize].copies = copies;
}

impl Core<'_> {
    /// The bytes of a copy arrive. To the other threads this is a write by the lane that waited.
    fn arrive(&mut self, copy: &Copy) {
        self.copies.count -= 1;
        self.copies.unmark(copy.words());
        self.shared[copy.words()].copy_from_slice(&copy.data[..copy.bytes as usize / 4]);
        let addresses = [u64::from(copy.target); LANES];
        let Copy { lane, bytes, pc, .. } = *copy;
        let request = Request { op: AccessOp::Store, index: 0, pc, bytes, mask: 1 << lane, addresses: &addresses };
        self.watch_shared_store(&request, lane as usize, Semantics::default(), false);
    }

    /// A copy is under way from now on.
    pub fn begin_bulk(&mut self, copy: Bulk) {
        self.copies.count += 1;
        self.copies.mark(copy.words());
        self.shared[copy.words()].fill(UNFINISHED);
        self.copies.bulk.push(copy);
    }

    /// The bytes of a copy arrive. To the other threads they were written when it began.
    pub fn finish_bulk(&mut self, copy: &Bulk) {
        self.copies.count -= 1;
        self.copies.unmark(copy.words());
        self.shared[copy.words()].copy_from_slice(&copy.data);
    }

    /// Whether `bytes` bytes from an address on lie in the block's shared memory and no unfinished copy is to write them.
    #[inline(always)]
    pub fn may_take(&self, address: u64, bytes: u64) -> bool {
        address.saturating_add(bytes) <= u64::from(self.machine.shared_bytes)
            && (self.copies.count == 0 || !self.copies.touch(address, bytes))
    }

    /// Notes a request to shared memory, whose bounds were checked, that touches what an unfinished copy is to write.
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
        if lanes == 0 {
            return;
        }
        let request = request.of(lanes);
        let copy = self.copies.writer(request.offset(request.first_lane()), request.bytes);
        if let (Some(copy), Some(watch)) = (copy, &mut self.watch) {
            watch.unfinished_copy(&request, self.warp, copy);
        }
    }
}
