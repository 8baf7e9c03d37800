//! The happens-before order of accesses by the threads of a block, or of a cluster, regardless of the order in which the simulator ran them.
//!
//! Each warp has a time, which advances when the warp does something that others can wait for. It also has a vector clock: for each
//! other warp, the time up to which everything happened before now. Barriers, fences and warp synchronization pass these clocks on.
//! The order in which the simulator runs the warps does not. (This is FastTrack by Flanagan and Freund, with warps instead of
//! threads. Lanes of one warp are distinguished by the synchronizations that they took part in together.)

use std::collections::BTreeMap;

use super::clock::VClock;
use super::mark::Mark;

/// A barrier of a block: its number, and the rank of the block in its cluster.
pub type BarrierOf = (u32, u32);

/// The clocks of the warps and barriers of a cluster's blocks.
#[derive(Debug, Default)]
pub struct Order {
    warps: Vec<WarpClock>,
    /// The joined clocks of the warps that have arrived at a barrier, until it opens.
    barriers: BTreeMap<BarrierOf, VClock>,
    /// The joined clocks of each block's warps that have ended, which count as arrived at every later barrier.
    ended: Vec<VClock>,
    /// The joined clocks of the warps that have arrived at the barrier of the cluster, and those of its last complete phase.
    at_cluster: VClock,
    left_cluster: VClock,
    /// The first warp of the block that is running.
    pub first_warp: u32,
    /// The joined clocks of the warps that have arrived at a barrier in shared memory, until its phase ends.
    in_memory: BTreeMap<u64, VClock>,
    /// The clock that was released at an address.
    released: BTreeMap<u64, VClock>,
}

/// The clocks of one warp.
#[derive(Debug, Default)]
struct WarpClock {
    now: u32,
    /// Everything up to these times happened before now.
    known: VClock,
    /// Synchronizations of some of the lanes since the last one of all lanes: the lanes, and the time.
    lanes: Vec<(u32, u32)>,
    /// The clock at the warp's last fence.
    fenced: Option<VClock>,
    /// The clocks that strong reads saw, which take effect at the next fence.
    seen: Option<VClock>,
}

impl Order {
    /// Starts a cluster of this many blocks.
    pub fn start(&mut self, warps: usize, blocks: usize) {
        self.warps.resize_with(warps, WarpClock::default);
        for warp in &mut self.warps {
            warp.now = 1;
            warp.known.clear();
            warp.lanes.clear();
            (warp.fenced, warp.seen) = (None, None);
        }
        self.barriers.clear();
        self.ended.resize_with(blocks, VClock::default);
        self.ended.iter_mut().for_each(VClock::clear);
        self.at_cluster.clear();
        self.left_cluster.clear();
        self.in_memory.clear();
        self.released.clear();
    }

    /// The time of a warp.
    #[inline(always)]
    pub fn now(&self, warp: u32) -> u32 {
        self.warps[warp as usize].now
    }

    /// Whether an access happened before a thread's next one.
    #[inline]
    pub fn is_behind(&self, earlier: Mark, warp: u32, lane: u32) -> bool {
        let own = &self.warps[warp as usize];
        if earlier.clock() <= own.known.at(earlier.warp()) {
            return true;
        }
        let both = 1 << earlier.lane() | 1 << lane;
        earlier.warp() == warp
            && (earlier.lane() == lane || own.lanes.iter().any(|(who, when)| who & both == both && earlier.clock() <= *when))
    }

    /// The clock that the warp releases now. Its later accesses are not part of it.
    fn release(&mut self, warp: u32) -> VClock {
        let own = &mut self.warps[warp as usize];
        let mut clock = own.known.clone();
        clock.advance(warp, own.now);
        own.now += 1;
        clock
    }

    /// A warp arrives at a barrier of the block, to wait there or not.
    pub fn arrive(&mut self, warp: u32, barrier: BarrierOf) {
        let released = self.release(warp);
        self.barriers.entry(barrier).or_default().join(&released);
    }

    /// Opens a barrier for the warps that wait at it.
    pub fn open(&mut self, barrier: BarrierOf, waiting: impl Iterator<Item = u32>) {
        let mut released = self.barriers.remove(&barrier).unwrap_or_default();
        released.join(&self.ended[barrier.1 as usize]);
        for warp in waiting {
            let own = &mut self.warps[warp as usize];
            own.known.join(&released);
            own.lanes.clear();
        }
    }

    /// A warp arrives at a barrier in shared memory.
    pub fn arrive_in_memory(&mut self, warp: u32, address: u64) {
        let released = self.release(warp);
        self.in_memory.entry(address).or_default().join(&released);
    }

    /// Ends a phase of that barrier. A warp that sees the end learns the clocks of those that arrived.
    pub fn complete_in_memory(&mut self, address: u64) {
        if let Some(released) = self.in_memory.remove(&address) {
            self.released.entry(address).or_default().join(&released);
        }
    }

    /// All lanes of a warp of the block with this rank have ended.
    pub fn end(&mut self, warp: u32, rank: u32) {
        let released = self.release(warp);
        self.ended[rank as usize].join(&released);
    }

    /// Whether an access happened before the end of the block with this rank, whose warps have all ended.
    pub fn is_before_end(&self, earlier: Mark, rank: u32) -> bool {
        earlier.clock() <= self.ended[rank as usize].at(earlier.warp())
    }

    /// A warp arrives at the barrier of the cluster. Without a release, what it did before its last fence is all that others learn.
    pub fn arrive_at_cluster(&mut self, warp: u32, releases: bool) {
        let released = if releases { Some(self.release(warp)) } else { self.warps[warp as usize].fenced.clone() };
        if let Some(released) = released {
            self.at_cluster.join(&released);
        }
    }

    /// Ends a phase of that barrier. Threads that have ended count as arrived.
    pub fn complete_cluster_barrier(&mut self) {
        self.left_cluster = std::mem::take(&mut self.at_cluster);
        self.ended.iter().for_each(|ended| self.left_cluster.join(ended));
    }

    /// A warp has waited for that phase.
    pub fn leave_cluster_barrier(&mut self, warp: u32, acquires: bool) {
        let own = &mut self.warps[warp as usize];
        match acquires {
            true => own.known.join(&self.left_cluster),
            false => own.seen.get_or_insert_default().join(&self.left_cluster),
        }
    }

    /// Synchronizes lanes of a warp; `live` are all lanes that have not ended.
    pub fn synchronize_lanes(&mut self, warp: u32, members: u32, live: u32) {
        let own = &mut self.warps[warp as usize];
        if members & live == live {
            own.known.advance(warp, own.now);
            own.lanes.clear();
        } else {
            // A later synchronization of the same lanes includes the earlier one.
            own.lanes.retain(|(who, _)| *who != members);
            own.lanes.push((members, own.now));
        }
        own.now += 1;
    }

    /// The time of a proxy fence, and what the warp knows then. Its later accesses are not before the fence.
    pub fn mark_fence(&mut self, warp: u32) -> (u32, VClock) {
        let time = self.now(warp);
        (time, self.release(warp))
    }

    pub fn fence(&mut self, warp: u32) {
        let released = self.release(warp);
        let own = &mut self.warps[warp as usize];
        own.fenced = Some(released);
        if let Some(seen) = own.seen.take() {
            own.known.join(&seen);
        }
    }

    /// A strong read, or the reading half of an atomic operation.
    pub fn read(&mut self, warp: u32, address: u64, acquires: bool) {
        let Some(released) = self.released.get(&address) else { return };
        let own = &mut self.warps[warp as usize];
        if acquires {
            own.known.join(released);
        } else {
            own.seen.get_or_insert_default().join(released);
        }
    }

    /// A strong write, or the writing half of an atomic operation.
    pub fn write(&mut self, warp: u32, address: u64, releases: bool) {
        let released = if releases { Some(self.release(warp)) } else { self.warps[warp as usize].fenced.clone() };
        if let Some(released) = released {
            self.released.entry(address).or_default().join(&released);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mark::Strength;
    use super::*;

    fn order(warps: usize) -> Order {
        let mut order = Order::default();
        order.start(warps, 1);
        order
    }

    fn mark(order: &Order, warp: u32, lane: u32) -> Mark {
        Mark::new(0, warp, lane, order.now(warp), Strength::Plain)
    }

    #[test]
    fn a_barrier_puts_what_was_before_it_behind_all_who_waited() {
        let mut order = order(2);
        let before = mark(&order, 0, 5);
        assert!(!order.is_behind(before, 1, 5));
        order.arrive(0, (0, 0));
        order.arrive(1, (0, 0));
        let unordered = mark(&order, 0, 5);
        order.open((0, 0), 0..2);
        assert!(order.is_behind(before, 1, 5) && order.is_behind(before, 0, 6));
        assert!(!order.is_behind(unordered, 1, 5));
    }

    #[test]
    fn who_only_arrives_tells_and_learns_nothing() {
        let mut order = order(2);
        let of_producer = mark(&order, 0, 0);
        let of_consumer = mark(&order, 1, 0);
        order.arrive(0, (1, 0));
        order.arrive(1, (1, 0));
        order.open((1, 0), 1..2);
        assert!(order.is_behind(of_producer, 1, 0));
        assert!(!order.is_behind(of_consumer, 0, 0));
    }

    #[test]
    fn lanes_are_ordered_by_synchronizations_that_both_took_part_in() {
        let mut order = order(1);
        let first = mark(&order, 0, 3);
        assert!(order.is_behind(first, 0, 3) && !order.is_behind(first, 0, 4));
        order.synchronize_lanes(0, 0b11000, u32::MAX);
        assert!(order.is_behind(first, 0, 4) && !order.is_behind(first, 0, 5));
        order.synchronize_lanes(0, u32::MAX, u32::MAX);
        assert!(order.is_behind(first, 0, 5));
        assert!(!order.is_behind(mark(&order, 0, 3), 0, 5));
    }

    #[test]
    fn a_flag_orders_only_between_fences() {
        let mut order = order(3);
        let data = mark(&order, 0, 0);
        order.fence(0);
        let after = mark(&order, 0, 0);
        order.write(0, 0x40, false);
        // Warp 1 looks at the flag and fences; warp 2 only looks.
        order.read(1, 0x40, false);
        assert!(!order.is_behind(data, 1, 0));
        order.fence(1);
        order.read(2, 0x40, false);
        assert!(order.is_behind(data, 1, 0) && !order.is_behind(after, 1, 0));
        assert!(!order.is_behind(data, 2, 0));
    }

    #[test]
    fn release_and_acquire_order_without_a_fence() {
        let mut order = order(2);
        let data = mark(&order, 0, 0);
        order.write(0, 8, true);
        order.read(1, 8, true);
        assert!(order.is_behind(data, 1, 31));
        assert!(!order.is_behind(mark(&order, 0, 0), 1, 31));
    }

    #[test]
    fn who_has_ended_counts_as_arrived() {
        let mut order = order(2);
        let last = mark(&order, 0, 0);
        order.end(0, 0);
        order.arrive(1, (0, 0));
        order.open((0, 0), 1..2);
        assert!(order.is_behind(last, 1, 0));
    }

    #[test]
    fn the_barrier_of_a_cluster_orders_what_was_released() {
        for releases in [true, false] {
            let mut order = Order::default();
            order.start(2, 2);
            let before = mark(&order, 0, 5);
            order.arrive_at_cluster(0, releases);
            let between = mark(&order, 0, 5);
            order.arrive_at_cluster(1, releases);
            order.complete_cluster_barrier();
            order.leave_cluster_barrier(1, true);
            assert_eq!(order.is_behind(before, 1, 5), releases);
            assert!(!order.is_behind(between, 1, 5) || !releases);
        }
    }

    #[test]
    fn a_block_may_only_end_after_the_accesses_of_others_to_its_memory() {
        for waits in [true, false] {
            let mut order = Order::default();
            order.start(2, 2);
            let access = mark(&order, 1, 0);
            order.arrive_at_cluster(1, true);
            order.arrive_at_cluster(0, true);
            order.complete_cluster_barrier();
            if waits {
                order.leave_cluster_barrier(0, true);
            }
            order.end(0, 0);
            assert_eq!(order.is_before_end(access, 0), waits);
        }
    }
}
