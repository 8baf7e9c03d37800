//! The happens-before order of accesses by the threads of a block, or of a cluster, regardless of the order in which the simulator ran them.
//!
//! Each warp has a time, which advances when the warp does something that others can wait for. It also has a vector clock: for each
//! other warp, the time up to which everything happened before now. Barriers, fences and warp synchronization pass these clocks on.
//! The order in which the simulator runs the warps does not. (This is FastTrack by Flanagan and Freund, with warps instead of
//! threads. Lanes of one warp are distinguished by the synchronizations that they took part in together.)

use std::collections::BTreeMap;

use super::clock::VClock;
use super::far::{Far, FarWarp, Flags, shared_address, words};
use super::knowledge::{Clock, Known, Seen, WarpClock};
use super::mark::Mark;
use ptx::program::{Action, Inst, MbarrierOp, Program, Semantics, WgmmaStep};

/// A barrier of a block: its number, and the rank of the block in its cluster.
pub type BarrierOf = (u32, u32);

/// The clocks of the warps and barriers of a cluster's blocks.
#[derive(Debug, Default)]
pub struct Order {
    warps: Vec<WarpClock>,
    /// The joined clocks of the warps that have arrived at a barrier, until it opens.
    barriers: BTreeMap<BarrierOf, Clock>,
    /// The joined clocks of each block's warps that have ended, which count as arrived at every later barrier.
    ended: Vec<Clock>,
    /// The joined clocks of the warps that have arrived at the barrier of the cluster, and those of its last complete phase.
    at_cluster: Clock,
    left_cluster: Clock,
    /// The first warp of the block that is running.
    pub first_warp: u32,
    /// The joined clocks of the warps that have arrived at a barrier in shared memory, until its phase ends.
    in_memory: BTreeMap<u32, Clock>,
    /// The clock that was released at a word.
    released: BTreeMap<u64, Clock>,
    /// The instructions that initialize a barrier in shared memory.
    inits: Vec<u32>,
    /// One past the last of them.
    past_inits: u32,
    /// The instructions that start a product of a warpgroup.
    products: Vec<u32>,
}

impl Order {
    pub fn new(program: &Program) -> Self {
        let is_init = |inst: &Inst| matches!(inst.action, Action::Mbarrier(index) if matches!(program.mbarriers[index as usize].op, MbarrierOp::Init { .. }));
        let inits: Vec<u32> = (0..).zip(&program.code).filter(|(_, inst)| is_init(inst)).map(|(pc, _)| pc).collect();
        let is_product = |inst: &Inst| matches!(inst.action, Action::Wgmma(WgmmaStep::Start(_)));
        let products = (0..).zip(&program.code).filter(|(_, inst)| is_product(inst)).map(|(pc, _)| pc).collect();
        Self { past_inits: inits.last().map_or(0, |pc| pc + 1), inits, products, ..Self::default() }
    }

    /// Starts a cluster of this many blocks.
    pub fn start(&mut self, warps: usize, blocks: usize) {
        self.warps.resize_with(warps, WarpClock::default);
        self.warps.iter_mut().for_each(WarpClock::start);
        self.barriers.clear();
        self.ended.clear();
        self.ended.resize_with(blocks, Clock::default);
        self.at_cluster = Clock::default();
        self.left_cluster = Clock::default();
        self.in_memory.clear();
        self.released.clear();
    }

    /// Returns the time of a warp.
    #[inline(always)]
    pub fn now(&self, warp: u32) -> u32 {
        self.warps[warp as usize].now
    }

    /// Returns true if the kernel has products of warpgroups.
    #[inline(always)]
    pub fn has_products(&self) -> bool {
        !self.products.is_empty()
    }

    /// Returns true if these accesses, or none, happened before now.
    ///
    /// The warp's clock alone tells so, for all its lanes.
    #[inline(always)]
    pub fn are_known(&self, earlier: [Mark; 2], warp: u32) -> bool {
        let near = &self.warps[warp as usize].clock.known.near;
        earlier.iter().all(|earlier| earlier.clock() <= near.at(earlier.warp()))
    }

    /// Returns true if an access happened before a thread's next one.
    #[inline(always)]
    pub fn is_behind(&self, earlier: Mark, warp: u32, lane: u32) -> bool {
        let own = &self.warps[warp as usize];
        if earlier.clock() <= own.clock.known.near.at(earlier.warp()) {
            return true;
        }
        // Barriers are initialized where a kernel begins, so few accesses of other warps go on from here.
        (earlier.warp() == warp || earlier.pc() < self.past_inits) && self.is_behind_by_lanes(earlier, warp, lane)
            || self.has_products() && self.is_read_by_product(earlier, &own.clock.known)
    }

    /// Returns true if lanes met since, or a fence released it.
    #[inline(never)]
    fn is_behind_by_lanes(&self, earlier: Mark, warp: u32, lane: u32) -> bool {
        let own = &self.warps[warp as usize];
        let both = 1 << earlier.lane() | 1 << lane;
        let met = || own.lanes.iter().any(|(who, when)| who & both == both && earlier.clock() <= *when);
        (earlier.warp() == warp && (earlier.lane() == lane || met())) || self.is_released_init(earlier, &own.clock.known)
    }

    /// Returns true if it is a product's read that was waited for.
    #[inline(always)]
    fn is_read_by_product(&self, earlier: Mark, known: &Known) -> bool {
        earlier.clock() <= known.products.at(earlier.warp()) && self.products.binary_search(&earlier.pc()).is_ok()
    }

    /// Returns true if a fence released the initialization of a barrier.
    ///
    /// PTX ISA 9.0, "membar / fence": `fence.mbarrier_init.release.cluster` applies only to the earlier `mbarrier.init` of the thread that
    /// executes it. A relaxed arrival at the barrier of the cluster and the wait there do the rest.
    #[cold]
    #[inline(never)]
    fn is_released_init(&self, access: Mark, known: &Known) -> bool {
        let last = known.inits.at(access.warp());
        let releases = |(lanes, time): &(u32, u32)| lanes >> access.lane() & 1 != 0 && (access.clock()..=last).contains(time);
        access.clock() <= last
            && self.inits.contains(&access.pc())
            && self.warps[access.warp() as usize].init_fences.iter().any(releases)
    }

    /// Returns true if `earlier` reached this time before `warp`'s next access. Only what other blocks told `warp` counts.
    pub fn is_far_behind(&self, earlier: FarWarp, time: u32, warp: u32) -> bool {
        self.warps[warp as usize].clock.known.far.knows(earlier, time)
    }

    /// Returns how a warp saw a flag that tells this. It has executed no fence since then.
    pub fn has_seen(&self, earlier: FarWarp, time: u32, warp: u32) -> Option<Seen> {
        self.warps[warp as usize].clock.fences.as_ref()?.has_seen(earlier, time)
    }

    /// Returns true if a flag without a release told of this. The other block set the flag after a barrier that came after this.
    pub fn has_heard(&self, earlier: FarWarp, time: u32, warp: u32) -> bool {
        self.warps[warp as usize].clock.fences.as_ref().is_some_and(|fences| fences.ended_heard.knows(earlier, time))
    }

    /// Returns true if a barrier told a warp of flags. The warp has executed no fence since then.
    pub fn has_met(&self, warp: u32) -> bool {
        self.warps[warp as usize].clock.fences.as_ref().is_some_and(|fences| !fences.met_far.is_empty())
    }

    /// Returns the knowledge of the warp, with its own accesses so far. Its later accesses are not part of it.
    fn release(&mut self, warp: u32) -> Known {
        let own = &mut self.warps[warp as usize];
        let mut known = own.clock.known.clone();
        known.near.advance(warp, own.now);
        own.now += 1;
        known
    }

    /// Does the same, with what its fences and reads did.
    fn hand_over(&mut self, warp: u32) -> Clock {
        let known = self.release(warp);
        Clock { known, fences: self.warps[warp as usize].clock.fences.clone() }
    }

    /// Returns the knowledge that a strong write tells its block. Without a release, it is that of the last fence.
    fn tell(&mut self, warp: u32, releases: bool) -> Clock {
        if releases {
            return self.hand_over(warp);
        }
        let fences = self.warps[warp as usize].clock.fences.clone();
        Clock { known: fences.as_ref().map(|fences| fences.fenced.clone()).unwrap_or_default(), fences }
    }

    /// Notes that a warp arrives at a barrier of the block. It may wait there or not.
    pub fn arrive(&mut self, warp: u32, barrier: BarrierOf) {
        let mut released = self.hand_over(warp);
        released.end_reads();
        self.barriers.entry(barrier).or_default().join(&released);
    }

    /// Opens a barrier for the warps that wait at it. Warps that have ended take no part in one that counts threads.
    pub fn open(&mut self, barrier: BarrierOf, waiting: impl Iterator<Item = u32>, counted: bool) {
        let mut released = self.barriers.remove(&barrier).unwrap_or_default();
        let ended = if counted { None } else { self.ended.get(barrier.1 as usize) };
        ended.into_iter().for_each(|ended| released.join(ended));
        for warp in waiting {
            let own = &mut self.warps[warp as usize];
            own.clock.join(&released);
            own.lanes.clear();
        }
    }

    /// Notes that a warp arrives at a barrier in shared memory. Without a release, what it did before its last fence is all that others learn.
    pub fn arrive_in_memory(&mut self, warp: u32, offset: u32, releases: bool) {
        let released = self.tell(warp, releases);
        self.in_memory.entry(offset).or_default().join(&released);
    }

    /// Ends a phase of that barrier. A warp that sees the end learns the clocks of those that arrived.
    pub fn complete_in_memory(&mut self, offset: u32) {
        if let Some(released) = self.in_memory.remove(&offset) {
            self.released.entry(shared_address(offset) / 4).or_default().join(&released);
        }
    }

    /// Notes that a warp sees a phase of that barrier end.
    pub fn acquire(&mut self, warp: u32, offset: u32, acquires: bool) {
        self.read(warp, (shared_address(offset), 4), Semantics { strong: true, acquires, ..Semantics::default() }, None);
    }

    /// Notes that all lanes of a warp have ended. Its block has this rank.
    pub fn end(&mut self, warp: u32, rank: u32) {
        let released = self.hand_over(warp);
        self.ended[rank as usize].join(&released);
    }

    /// Returns true if an access happened before the end of a block. The block has this rank, and its warps have all ended.
    pub fn is_before_end(&self, earlier: Mark, rank: u32) -> bool {
        earlier.clock() <= self.ended[rank as usize].known.near.at(earlier.warp())
    }

    /// Notes that a warp arrives at the barrier of the cluster. Without a release, what it did before its last fence is all that others learn.
    pub fn arrive_at_cluster(&mut self, warp: u32, releases: bool) {
        let released = self.tell(warp, releases);
        self.at_cluster.join(&released);
    }

    /// Ends a phase of that barrier. Threads that have ended count as arrived.
    pub fn complete_cluster_barrier(&mut self) {
        self.left_cluster = std::mem::take(&mut self.at_cluster);
        self.ended.iter().for_each(|ended| self.left_cluster.join(ended));
    }

    /// Notes that a warp has waited for that phase.
    pub fn leave_cluster_barrier(&mut self, warp: u32, acquires: bool) {
        self.warps[warp as usize].learn(&self.left_cluster, acquires);
    }

    /// Synchronizes lanes of a warp; `live` are all lanes that have not ended.
    pub fn synchronize_lanes(&mut self, warp: u32, members: u32, live: u32) {
        let own = &mut self.warps[warp as usize];
        own.clock.end_reads();
        if members & live == live {
            own.clock.known.near.advance(warp, own.now);
            own.lanes.clear();
        } else {
            // A later synchronization of the same lanes includes the earlier one.
            own.lanes.retain(|(who, _)| *who != members);
            own.lanes.push((members, own.now));
        }
        own.now += 1;
    }

    /// Returns the time of a proxy fence.
    ///
    /// Beside it is what all lanes of the warp know then. Its later accesses are not before the fence.
    pub fn mark_fence(&mut self, warp: u32) -> (u32, VClock) {
        let (time, known) = (self.now(warp), self.warps[warp as usize].clock.known.near.clone());
        self.release(warp);
        (time, known)
    }

    /// Notes that a warp's products have read their operands.
    pub fn end_products(&mut self, warp: u32) {
        self.warps[warp as usize].products_read = self.now(warp);
        self.synchronize_lanes(warp, u32::MAX, u32::MAX);
    }

    /// Lets the warps of a warpgroup know of each other's reads: all of them have waited for the same products.
    pub fn share_products(&mut self, group: std::ops::Range<u32>) {
        let read: Vec<_> =
            group.map(|warp| (warp, self.warps[warp as usize].products_read)).filter(|(_, read)| *read > 0).collect();
        for (warp, _) in &read {
            let products = &mut self.warps[*warp as usize].clock.known.products;
            read.iter().for_each(|(other, read)| products.advance(*other, *read));
        }
    }

    /// Notes that lanes of a warp execute `fence.mbarrier_init`.
    pub fn fence_inits(&mut self, warp: u32, lanes: u32) {
        let own = &mut self.warps[warp as usize];
        own.init_fences.push((lanes, own.now));
        own.clock.fences.get_or_insert_default().fenced.inits.advance(warp, own.now);
        own.now += 1;
    }

    /// Notes a fence, whose scope may be the block only.
    pub fn fence(&mut self, warp: u32, in_block: bool) {
        let Clock { known, fences } = &mut self.warps[warp as usize].clock;
        let fences = fences.get_or_insert_default();
        known.join(&std::mem::take(&mut fences.seen));
        if !in_block {
            known.far.join(&std::mem::take(&mut fences.seen_far));
        }
        let released = self.release(warp);
        let fences = self.warps[warp as usize].clock.fences.get_or_insert_default();
        if !in_block {
            fences.fenced_far.join(&released);
        }
        fences.fenced.join(&released);
    }

    /// Notes a strong read, after the value was read. It may be the reading half of an atomic operation. `flags` are those of other blocks.
    pub fn read(&mut self, warp: u32, bytes: (u64, u64), semantics: Semantics, flags: Option<&Flags>) {
        let own = &mut self.warps[warp as usize];
        for (_, released) in self.released.range(words(bytes)) {
            own.learn(released, semantics.acquires);
        }
        if let Some(flags) = flags {
            let acquires = semantics.acquires && !semantics.in_block;
            let Clock { known, fences } = &mut own.clock;
            let told = flags.read(bytes);
            let heard = flags.read_relaxed(bytes);
            if !heard.is_empty() {
                let fences = fences.get_or_insert_default();
                fences.heard_far.join(&heard);
                if semantics.guards || acquires {
                    fences.ended_heard.join(&heard);
                }
            }
            if acquires {
                known.far.join(&told);
            } else {
                let fences = fences.get_or_insert_default();
                fences.seen_far.join(&told);
                if semantics.guards {
                    fences.ended_far.join(&told);
                }
            }
        }
    }

    /// Notes a strong write by a warp, before the value is written. It may be the writing half of an atomic operation.
    pub fn write(&mut self, (block, warp): FarWarp, bytes: (u64, u64), semantics: Semantics, flags: Option<&Flags>) {
        if let Some(flags) = flags.filter(|_| !semantics.releases && !semantics.in_block) {
            let WarpClock { clock, heard, .. } = &mut self.warps[warp as usize];
            let ended = clock.fences.as_ref().map(|fences| &fences.ended_heard);
            // Its own accesses since the last barrier are not part of it: a load may still be under way.
            if !clock.known.near.is_empty() || ended.is_some_and(|ended| !ended.is_empty()) {
                flags.write_relaxed(bytes, ((block, warp), heard), (&clock.known.near, ended.unwrap_or(&Far::default())));
            }
        }
        let told = self.tell(warp, semantics.releases);
        if told.known.near.is_empty() && told.known.inits.is_empty() {
            return;
        }
        if let Some(flags) = flags.filter(|_| !semantics.in_block) {
            let fenced = told.fences.as_ref().map(|fences| &fences.fenced_far);
            let far = if semantics.releases { Some(&told.known) } else { fenced };
            if let Some(far) = far.filter(|far| !far.near.is_empty()) {
                let last = &mut self.warps[warp as usize].told;
                flags.write(bytes, ((block, warp), last), (&far.near, &far.far));
            }
        }
        for word in words(bytes) {
            self.released.entry(word).or_default().join(&told);
        }
    }
}

#[cfg(test)]
mod tests;
