//! Counts the cost of each request, and keeps one request of each load and store as a sample.
//!
//! The cost of most requests follows from the first address alone. For the others, the cost is remembered by the pattern of
//! addresses, because a loop repeats the same offsets between lanes.

use super::core::Core;
use super::request::{Pattern, Request, lanes_of};
use super::stats::Sample;
use crate::memory::rules::{CopyCost, Cost, Direction, Rules, copied_past_l1, copied_through_l1, distinct};
use alu::registers::{FULL, LANES};
use alu::windows::WINDOW_OFFSET;
use ptx::finding::{AccessOp, Space};
use ptx::program::MachineRequest;

impl Core<'_> {
    /// Counts a load from or a store to global memory.
    #[inline(always)]
    pub fn count_global(&mut self, request: &Request<'_>, pattern: Pattern) {
        match self.machine.requests[request.index as usize] {
            MachineRequest::AsWritten => self.count_global_request(request, pattern),
            MachineRequest::Merged { bytes, shift } => {
                let (addresses, pattern) = merged(request, shift, pattern);
                self.count_global_request(&Request { bytes, addresses: &addresses, ..*request }, pattern);
            }
            MachineRequest::OfAnother => self.stats.accesses[request.index as usize].merged += 1,
        }
    }

    #[inline(always)]
    fn count_global_request(&mut self, request: &Request<'_>, pattern: Pattern) {
        let Request { op, index, bytes, mask, addresses, .. } = *request;
        let rules = self.machine.rules;
        let (cost, wavefronts) = match pattern {
            Pattern::Same(_) if rules == Rules::Current => {
                // Requests of 16 bytes per lane take one wavefront per half-warp, even when all lanes read the same bytes.
                let both_halves = mask & 0xffff != 0 && mask >> 16 != 0;
                (Cost { requests: 1, transactions: 1, units: 1, ideal: 1 }, if bytes == 16 && both_halves { 2 } else { 1 })
            }
            Pattern::Run(address) if rules == Rules::Current => {
                let sectors = ((address % 32) as u32 + LANES as u32 * bytes).div_ceil(32);
                (Cost { requests: 1, transactions: sectors, units: sectors, ideal: bytes }, bytes.div_ceil(4))
            }
            _ => {
                let wavefronts = || rules.l1_wavefronts(mask, bytes, addresses);
                let cost = || rules.global(mask, bytes, addresses);
                self.slots[index as usize].memo.cost(request, rules.global_period(), wavefronts, cost)
            }
        };
        let stats = &mut self.stats.accesses[index as usize];
        stats.global_requests += u64::from(cost.requests);
        stats.transactions += u64::from(cost.transactions);
        stats.sectors += u64::from(cost.units);
        stats.sectors_ideal += u64::from(cost.ideal);
        stats.global_bytes += u64::from(mask.count_ones() * bytes);
        if op == AccessOp::Load {
            stats.l1_wavefronts += u64::from(wavefronts);
        }
        self.keep_sample(Space::Global, request);
    }

    /// Counts what the lanes of a copy to shared memory read.
    pub fn count_copied(&mut self, request: &Request<'_>, targets: &[u32; LANES], is_past_l1: bool) {
        self.count_global(request, request.pattern());
        if is_past_l1 {
            let Request { index, bytes, mask, addresses, .. } = *request;
            let as_loaded = u64::from(self.machine.rules.global(mask, bytes, addresses).units);
            let as_copied = u64::from(copied_past_l1(mask, addresses, targets).sectors);
            let stats = &mut self.stats.accesses[index as usize];
            stats.sectors = stats.sectors + as_copied - as_loaded;
            stats.transactions = stats.transactions + as_copied - as_loaded;
        }
    }

    /// Counts what the lanes of a copy write. Lanes that read nothing write zeros, which meet no bank conflicts: so it is in two kernels of
    /// chapter 06 (`double_buffered` and `small_tile`) under Nsight Compute.
    pub fn count_copy_to_shared(&mut self, request: &Request<'_>, zeros: u32, targets: &[u32; LANES], is_past_l1: bool) {
        let Request { index, bytes, mask, addresses, .. } = *request;
        let (wavefronts, ideal) = if is_past_l1 {
            let CopyCost { wavefronts, ideal, .. } = copied_past_l1(mask, addresses, targets);
            (wavefronts, ideal)
        } else {
            copied_through_l1(mask, bytes, addresses, targets)
        };
        let stats = &mut self.stats.accesses[index as usize];
        let with_zeros = ((mask | zeros).count_ones() * bytes).div_ceil(128).max(ideal);
        stats.wavefronts += u64::from(wavefronts + with_zeros - ideal);
        stats.wavefronts_ideal += u64::from(with_zeros);
    }

    /// Counts a load from or a store to shared memory.
    #[inline(always)]
    pub fn count_shared(&mut self, request: &Request<'_>, pattern: Pattern) {
        if self.machine.clusters.blocks > 1 {
            return self.count_in_cluster(request);
        }
        self.count_own_shared(request, pattern);
    }

    /// Counts a request to the shared memory of a cluster. Lanes that access other blocks are counted apart from those that do not.
    #[inline(never)]
    fn count_in_cluster(&mut self, request: &Request<'_>) {
        let others = self.lanes_at_others(request);
        if others != 0 {
            let sectors = cluster_sectors(&request.of(others));
            let stats = &mut self.stats.accesses[request.index as usize];
            stats.cluster_requests += 1;
            stats.cluster_sectors += sectors;
        }
        if request.mask != others {
            let own = request.of(request.mask & !others);
            self.count_own_shared(&own, own.pattern());
        }
    }

    /// Counts an atomic operation on shared memory.
    pub fn count_shared_atomic(&mut self, request: &Request<'_>) {
        let others = if self.machine.clusters.blocks > 1 { self.lanes_at_others(request) } else { 0 };
        let [_, own, requests, sectors] = &mut self.stats.atomics[request.index as usize];
        *own += u64::from(request.mask != others);
        *requests += u64::from(others != 0);
        *sectors += cluster_sectors(&request.of(others));
    }

    #[inline(always)]
    fn count_own_shared(&mut self, request: &Request<'_>, pattern: Pattern) {
        match self.machine.requests[request.index as usize] {
            MachineRequest::AsWritten => self.count_shared_request(request, pattern),
            MachineRequest::Merged { bytes, shift } => {
                let (addresses, pattern) = merged(request, shift, pattern);
                self.count_shared_request(&Request { bytes, addresses: &addresses, ..*request }, pattern);
            }
            MachineRequest::OfAnother => self.stats.accesses[request.index as usize].merged += 1,
        }
    }

    #[inline(always)]
    fn count_shared_request(&mut self, request: &Request<'_>, pattern: Pattern) {
        let Request { op, index, bytes, mask, addresses, .. } = *request;
        let rules = self.machine.rules;
        let cost = match pattern {
            Pattern::Same(_) | Pattern::Run(_) if bytes == 4 && rules == Rules::Current => {
                Cost { requests: 1, transactions: 0, units: 1, ideal: 1 }
            }
            // Merged loads of a value that all lanes share. Requests of 16 bytes per lane take one wavefront per half-warp even so.
            Pattern::Same(_) if rules == Rules::Current && op == AccessOp::Load && mask == FULL && bytes >= 8 => {
                Cost { requests: 1, transactions: 0, units: bytes / 8, ideal: bytes / 8 }
            }
            _ => {
                let direction = if op == AccessOp::Load { Direction::Load } else { Direction::Store };
                let count = || {
                    let offsets = addresses.map(|address| (address & WINDOW_OFFSET) as u32);
                    rules.shared(direction, mask, bytes, &offsets)
                };
                self.slots[index as usize].memo.cost(request, rules.shared_period(), || 0, count).0
            }
        };
        self.add_shared(request, cost);
    }

    #[inline(always)]
    fn add_shared(&mut self, request: &Request<'_>, cost: Cost) {
        let stats = &mut self.stats.accesses[request.index as usize];
        stats.shared_requests += u64::from(cost.requests);
        stats.wavefronts += u64::from(cost.units);
        stats.wavefronts_ideal += u64::from(cost.ideal);
        self.keep_sample(Space::Shared, request);
    }

    /// Counts a request for the rows of matrices, 16 bytes each. Eight lanes take one wavefront, as in a store of that width.
    pub fn count_rows(&mut self, request: &Request<'_>) {
        let offsets = std::array::from_fn(|lane| request.offset(lane));
        self.add_shared(request, self.machine.rules.shared(Direction::Store, request.mask, request.bytes, &offsets));
    }

    /// Counts bytes in a row that a bulk copy loads. TMA fetches up to 128 bytes at once, and sectors also come for bytes outside a
    /// tensor, whose values are made up on the way.
    pub fn count_load_row(&mut self, request: &Request<'_>, address: u64, bytes: u32) {
        let piece = |at: u32| (address.wrapping_add(at.into()) % 32) as u32 + (bytes - at).min(128);
        let sectors = (0..bytes).step_by(128).map(|at| u64::from(piece(at).div_ceil(32))).sum();
        self.count_bulk(request, sectors, bytes);
    }

    /// Counts bytes in a row that a bulk copy stores.
    pub fn count_store_row(&mut self, request: &Request<'_>) {
        let start = (request.addresses[request.first_lane()] % 32) as u32;
        self.count_bulk(request, u64::from((start + request.bytes).div_ceil(32)), request.bytes);
    }

    fn count_bulk(&mut self, request: &Request<'_>, sectors: u64, bytes: u32) {
        let stats = &mut self.stats.accesses[request.index as usize];
        stats.transactions += sectors;
        stats.sectors += sectors;
        stats.sectors_ideal += u64::from(bytes.div_ceil(32));
        stats.global_bytes += u64::from(bytes);
    }

    /// Counts a request to a memory that has neither sectors nor wavefronts.
    #[inline(always)]
    pub fn count_other(&mut self, request: &Request<'_>, space: Space) {
        let stats = &mut self.stats.accesses[request.index as usize];
        if self.machine.requests[request.index as usize] == MachineRequest::OfAnother {
            stats.merged += 1;
            return;
        }
        match space {
            Space::Const => stats.const_requests += 1,
            Space::Local => stats.local_requests += 1,
            Space::Global | Space::Shared | Space::Param => {}
        }
    }

    /// Keeps the first request of each load and store. Only the first warp of the first block is sampled.
    #[inline(always)]
    fn keep_sample(&mut self, space: Space, request: &Request<'_>) {
        if self.own.keeps_samples && self.warp == 0 {
            self.keep_first(space, request);
        }
    }

    #[cold]
    fn keep_first(&mut self, space: Space, request: &Request<'_>) {
        let Request { op, index, bytes, mask, addresses, .. } = *request;
        let window = if space == Space::Global { 0 } else { !WINDOW_OFFSET };
        let addresses = addresses.map(|address| address & !window);
        self.stats.samples[index as usize].get_or_insert(Sample { space, op, bytes, mask, addresses });
    }
}

/// Returns the sectors that a request to another block moves: the distinct ones that its lanes touch. Atomic operations of several
/// lanes on one word move theirs one after the other (measured on an H200: 32 sectors where all lanes have one word).
fn cluster_sectors(request: &Request<'_>) -> u64 {
    let of_lane = |lane: usize| {
        let offset = request.offset(lane);
        let same_word = |other: &usize| *other < lane && request.offset(*other) == offset;
        let turn = if request.op == AccessOp::Atomic { lanes_of(request.mask).filter(same_word).count() } else { 0 };
        (offset / 32..(offset + request.bytes).div_ceil(32)).map(move |sector| (sector, turn))
    };
    distinct(lanes_of(request.mask).flat_map(of_lane)).len() as u64
}

/// Returns the addresses and pattern of a request wider than its access.
#[inline(always)]
fn merged(request: &Request<'_>, shift: i32, pattern: Pattern) -> ([u64; LANES], Pattern) {
    // Lanes at one address stay together. Lanes that were contiguous now overlap.
    let pattern = match pattern {
        Pattern::Same(address) => Pattern::Same(address.wrapping_add_signed(shift.into())),
        Pattern::Run(_) | Pattern::Other => Pattern::Other,
    };
    (request.addresses.map(|address| address.wrapping_add_signed(shift.into())), pattern)
}
