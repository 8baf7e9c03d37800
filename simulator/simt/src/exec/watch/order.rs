//! Which accesses of a block's threads happened before which, whatever order the simulator ran them in.
//!
//! Each warp has a clock, which moves when the warp does something that others can wait for, and knows up to which time of every
//! other warp all that happened is behind it. Barriers, fences and warp synchronisation pass that knowledge on; the order in which
//! the simulator takes the warps does not. (Vector clocks, as in Flanagan and Freund's FastTrack, with a warp in the part of a thread;
//! the lanes of one warp are told apart by the synchronisations that they took part in together.)

use std::collections::BTreeMap;

use super::clock::VClock;
use super::mark::Mark;

/// What the warps of a block know of each other.
#[derive(Debug, Default)]
pub struct Order {
    warps: Vec<WarpClock>,
    /// What those know that have arrived at a barrier, until it opens.
    barriers: BTreeMap<u32, VClock>,
    /// What those knew that have ended: they count as arrived at every later barrier.
    ended: VClock,
    /// What those know that have arrived at a barrier in shared memory, until its phase ends.
    in_memory: BTreeMap<u64, VClock>,
    /// What was released at an address.
    released: BTreeMap<u64, VClock>,
}

/// A warp's own time, and what is behind the warp.
#[derive(Debug, Default)]
struct WarpClock {
    now: u32,
    /// What was done until then is behind this warp.
    known: VClock,
    /// Synchronisations of some of the lanes since the last one of all: who, and when.
    lanes: Vec<(u32, u32)>,
    /// What the warp knew at its last fence.
    fenced: Option<VClock>,
    /// What strong reads saw, which the next fence makes known.
    seen: Option<VClock>,
}

impl Order {
    /// A new block.
    pub fn start(&mut self, warps: usize) {
        self.warps.resize_with(warps, WarpClock::default);
        for warp in &mut self.warps {
            warp.now = 1;
            warp.known.clear();
            warp.lanes.clear();
            (warp.fenced, warp.seen) = (None, None);
        }
        self.barriers.clear();
        self.ended.clear();
        self.in_memory.clear();
        self.released.clear();
    }

    /// The warp's time.
    #[inline(always)]
    pub fn now(&self, warp: u32) -> u32 {
        self.warps[warp as usize].now
    }

    /// Whether an access lies behind a thread.
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

    /// What the warp has to tell now; its later accesses are not part of it.
    fn tell(&mut self, warp: u32) -> VClock {
        let own = &mut self.warps[warp as usize];
        let mut clock = own.known.clone();
        clock.advance(warp, own.now);
        own.now += 1;
        clock
    }

    /// A warp arrives at a barrier of the block, to wait there or not.
    pub fn arrive(&mut self, warp: u32, barrier: u32) {
        let told = self.tell(warp);
        self.barriers.entry(barrier).or_default().join(&told);
    }

    /// A barrier opens for those that wait at it.
    pub fn open(&mut self, barrier: u32, waiting: impl Iterator<Item = u32>) {
        let mut told = self.barriers.remove(&barrier).unwrap_or_default();
        told.join(&self.ended);
        for warp in waiting {
            let own = &mut self.warps[warp as usize];
            own.known.join(&told);
            own.lanes.clear();
        }
    }

    /// A warp arrives at a barrier in shared memory.
    pub fn arrive_in_memory(&mut self, warp: u32, address: u64) {
        let told = self.tell(warp);
        self.in_memory.entry(address).or_default().join(&told);
    }

    /// A phase of that barrier ends: who sees it from now on knows what those knew that arrived.
    pub fn complete_in_memory(&mut self, address: u64) {
        if let Some(told) = self.in_memory.remove(&address) {
            self.released.entry(address).or_default().join(&told);
        }
    }

    /// All lanes of a warp have ended.
    pub fn end(&mut self, warp: u32) {
        let told = self.tell(warp);
        self.ended.join(&told);
    }

    /// Lanes of a warp wait for each other; `live` are all that have not ended.
    pub fn synchronise_lanes(&mut self, warp: u32, members: u32, live: u32) {
        let own = &mut self.warps[warp as usize];
        if members & live == live {
            own.known.advance(warp, own.now);
            own.lanes.clear();
        } else {
            // A later one of the same lanes says all that the earlier one said.
            own.lanes.retain(|(who, _)| *who != members);
            own.lanes.push((members, own.now));
        }
        own.now += 1;
    }

    pub fn fence(&mut self, warp: u32) {
        let told = self.tell(warp);
        let own = &mut self.warps[warp as usize];
        own.fenced = Some(told);
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
        let told = if releases { Some(self.tell(warp)) } else { self.warps[warp as usize].fenced.clone() };
        if let Some(told) = told {
            self.released.entry(address).or_default().join(&told);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mark::Strength;
    use super::*;

    fn order(warps: usize) -> Order {
        let mut order = Order::default();
        order.start(warps);
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
        order.arrive(0, 0);
        order.arrive(1, 0);
        let unordered = mark(&order, 0, 5);
        order.open(0, 0..2);
        assert!(order.is_behind(before, 1, 5) && order.is_behind(before, 0, 6));
        assert!(!order.is_behind(unordered, 1, 5));
    }

    #[test]
    fn who_only_arrives_tells_and_learns_nothing() {
        let mut order = order(2);
        let of_producer = mark(&order, 0, 0);
        let of_consumer = mark(&order, 1, 0);
        order.arrive(0, 1);
        order.arrive(1, 1);
        order.open(1, 1..2);
        assert!(order.is_behind(of_producer, 1, 0));
        assert!(!order.is_behind(of_consumer, 0, 0));
    }

    #[test]
    fn lanes_are_ordered_by_synchronisations_that_both_took_part_in() {
        let mut order = order(1);
        let first = mark(&order, 0, 3);
        assert!(order.is_behind(first, 0, 3) && !order.is_behind(first, 0, 4));
        order.synchronise_lanes(0, 0b11000, u32::MAX);
        assert!(order.is_behind(first, 0, 4) && !order.is_behind(first, 0, 5));
        order.synchronise_lanes(0, u32::MAX, u32::MAX);
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
        order.end(0);
        order.arrive(1, 0);
        order.open(0, 1..2);
        assert!(order.is_behind(last, 1, 0));
    }
}
