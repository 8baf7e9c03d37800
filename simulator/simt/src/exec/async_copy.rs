//! Copies from global to shared memory that run beside the threads: `cp.async`.
//!
//! A GPU finishes a copy at some time between its start and the end of the wait for it. Here the bytes arrive at the wait, the latest
//! moment; until then the destination holds a pattern that no program can take for its data, and whoever touches it is told.

use super::block::Core;
use super::mbarrier::Bulk;
use super::registers::{LANES, Registers};
use super::request::{Pattern, Request, lane_addresses, lanes_of, lanes_where};
use super::{Machine, Stop};
use crate::finding::AccessOp;
use crate::program::Semantics;

/// What stands in shared memory while a copy to it is under way: a NaN of every width of float.
const UNFINISHED: u32 = 0x7fff_7fff;

/// The unfinished copies of a block.
#[derive(Debug)]
pub struct Copies {
    by_warp: Vec<Pending>,
    /// Those that barriers in shared memory wait for, in order of their beginning.
    bulk: Vec<Bulk>,
    /// A bit for each word of shared memory that a copy is to write.
    words: Vec<u64>,
    /// Unfinished copies of all warps.
    count: usize,
}

/// The unfinished copies of a warp, in order of their beginning.
#[derive(Debug, Default)]
struct Pending {
    copies: Vec<Copy>,
    /// Groups that each lane has committed.
    groups: [u32; LANES],
}

/// One lane's copy.
#[derive(Clone, Copy, Debug)]
struct Copy {
    lane: u32,
    /// Number of the group that it will be in, or is in.
    group: u32,
    /// Offset in shared memory.
    target: u32,
    bytes: u32,
    data: [u32; 4],
    /// The instruction.
    pc: u32,
}

impl Copy {
    fn words(&self) -> std::ops::Range<usize> {
        self.target as usize / 4..(self.target + self.bytes) as usize / 4
    }
}

impl Copies {
    pub fn new(machine: &Machine<'_>) -> Self {
        if machine.program.copies.is_empty() && machine.program.bulk_copies.is_empty() {
            return Self { by_warp: Vec::new(), bulk: Vec::new(), words: Vec::new(), count: 0 };
        }
        let warps = machine.config.block.volume().div_ceil(LANES as u64);
        let by_warp = (0..warps).map(|_| Pending::default()).collect();
        Self { by_warp, bulk: Vec::new(), words: vec![0; machine.shared_bytes.div_ceil(256) as usize], count: 0 }
    }

    /// Forgets the copies of the block before: a block that ends does not wait for its own.
    pub fn clear(&mut self) {
        for pending in &mut self.by_warp {
            pending.copies.clear();
            pending.groups = [0; LANES];
        }
        self.bulk.clear();
        self.words.fill(0);
        self.count = 0;
    }

    /// Ends a group of the lanes in `mask`.
    pub fn commit(&mut self, warp: u32, mask: u32) {
        if let Some(pending) = self.by_warp.get_mut(warp as usize) {
            lanes_of(mask).for_each(|lane| pending.groups[lane] += 1);
        }
    }

    /// Whether an unfinished copy writes some of the `bytes` bytes from an offset on.
    fn touch(&self, offset: u64, bytes: u64) -> bool {
        let words = offset as usize / 4..(offset + bytes).div_ceil(4) as usize;
        words.into_iter().any(|word| self.words[word / 64] >> (word % 64) & 1 != 0)
    }

    /// The unfinished copy that writes some of the `bytes` bytes from an offset on: its instruction, warp and lane.
    fn writer(&self, offset: u32, bytes: u32) -> Option<(u32, u32, u32)> {
        let writes = |copy: &&Copy| copy.target < offset + bytes && offset < copy.target + copy.bytes;
        let of_lane = self.by_warp.iter().zip(0..).find_map(|(pending, warp)| {
            let copy = pending.copies.iter().find(writes)?;
            Some((copy.pc, warp, copy.lane))
        });
        let bulk = || self.bulk.iter().find(|copy| copy.target < offset + bytes && offset < copy.target + copy.bytes());
        of_lane.or_else(|| bulk().map(|copy| (copy.pc, copy.warp, copy.lane)))
    }

    /// The unfinished copies whose bytes a barrier counts; they are the caller's to [finish](Core::finish_bulk).
    pub fn take_bulk(&mut self, barrier: u32) -> Vec<Bulk> {
        self.bulk.extract_if(.., |copy| copy.barrier == barrier).collect()
    }

    fn mark(&mut self, words: std::ops::Range<usize>) {
        words.for_each(|word| self.words[word / 64] |= 1 << (word % 64));
    }

    fn unmark(&mut self, words: std::ops::Range<usize>) {
        words.for_each(|word| self.words[word / 64] &= !(1 << (word % 64)));
    }
}

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
