//! The shadow of global memory: which threads of a launch wrote and read every place.
//!
//! Blocks run in any order and at the same time, so two blocks race when they access the same place and one of them writes. Only fences and flags
//! with a scope of more than the block can order them ([`far`](super::far)). Two threads of one block race when no barrier is between their accesses;
//! a barrier makes memory accesses ordered for all threads that take part, those of global memory, too. So does `__syncwarp()` for lanes of a warp.
//!
//! Synchronization between the blocks of a cluster is not followed here, and neither are fences between several addresses of the same memory: such programs
//! are not checked.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use bytemuck::Zeroable;

use super::far::{FarWarp, Flags};
use super::knowledge::Seen;
use super::mark::{Mark, Strength};
use super::order::Order;
use crate::exec::clusters::Clusters;
use crate::memory::Region;
use ptx::finding::Space;
use ptx::program::{Action, BulkDirection, Program};

/// The shadow of all allocations, one per launch. The shadow of an allocation is made when it is first needed.
#[derive(Debug)]
pub struct GlobalShadow {
    regions: Vec<OnceLock<Box<[Place]>>>,
    /// Bytes of a place, as an exponent of two.
    pub shift: u32,
    /// The flags between blocks, if the program can have any.
    pub flags: Option<Flags>,
}

/// The last writer and two readers of a place; zero for none.
///
/// In a program with flags, these are the readers of the first and of the last warp that no later reader represents: of readers that nothing orders,
/// the same ones in whatever order blocks run. So a writer finds another block's read beside its own block's. Those of warps between the two are
/// forgotten: a writer that is ordered after both, but not after one of them, is not found. Other programs use the first reader only.
#[derive(Debug, Zeroable)]
pub struct Place {
    writer: AtomicU64,
    readers: [AtomicU64; 2],
}

/// An access by a thread of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit(u64);

/// The order that the later of two accesses sees: of its own block, and of others if they can have flags.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    pub order: &'a Order,
    pub flags: Option<&'a Flags>,
}

/// Lanes of a warp.
const LANES: u32 = alu::registers::LANES as u32;

/// Bits for the instruction's index and the thread's number in its block.
const PC_BITS: u32 = 19;
const THREAD_BITS: u32 = 10;
const STRENGTH: u32 = PC_BITS + THREAD_BITS;
/// Other blocks than the named one read here, too. Only used in programs without flags, where one reader is as good as the other.
const MANY: u64 = 1 << (STRENGTH + 2);
/// The time of the warp when it made the access. The last time stands for all later ones: such accesses are not compared within their block, and
/// with other blocks only if those know less.
const CLOCK: u32 = STRENGTH + 3;
const CLOCK_BITS: u32 = 8;
const LAST_CLOCK: u32 = (1 << CLOCK_BITS) - 1;
const BLOCK: u32 = CLOCK + CLOCK_BITS;
/// Instead of a writer: a write is in progress.
const BEING_WRITTEN: u64 = u64::MAX;

impl Visit {
    pub fn new(block: u64, thread: u32, pc: u32, (strength, in_block): (Strength, bool), clock: u32) -> Self {
        let clock = u64::from(clock.min(LAST_CLOCK));
        let strength: u64 = match strength {
            Strength::Plain => 0,
            _ if in_block => 1,
            Strength::Volatile | Strength::Strong => 2,
            Strength::Atomic => 3,
        };
        Self((block + 1) << BLOCK | clock << CLOCK | strength << STRENGTH | u64::from(thread) << PC_BITS | u64::from(pc))
    }

    /// Returns the same access by a later thread of the block.
    #[inline(always)]
    pub fn further(self, threads: u32) -> Self {
        Self(self.0 + (u64::from(threads) << PC_BITS))
    }

    /// Decodes a word of a place; `None` for zero.
    fn of(word: u64) -> Option<Self> {
        (word != 0).then_some(Self(word))
    }

    #[inline(always)]
    pub fn block(self) -> u64 {
        (self.0 >> BLOCK) - 1
    }

    pub fn thread(self) -> u32 {
        (self.0 >> PC_BITS) as u32 & ((1 << THREAD_BITS) - 1)
    }

    pub fn pc(self) -> u32 {
        self.0 as u32 & ((1 << PC_BITS) - 1)
    }

    /// Returns the strength for a thread of this block.
    fn strength(self, block: u64) -> Strength {
        match self.0 >> STRENGTH & 3 {
            0 => Strength::Plain,
            1 if self.block() != block => Strength::Plain,
            1 | 2 => Strength::Strong,
            _ => Strength::Atomic,
        }
    }

    pub fn is_atomic(self) -> bool {
        self.strength(self.block()) == Strength::Atomic
    }

    /// Returns true if it is strong to the threads of another block.
    pub fn is_strong_to(self, other: Visit) -> bool {
        self.strength(other.block()) != Strength::Plain
    }

    /// Returns true if both are strong to their own blocks.
    pub fn both_are_strong(self, other: Visit) -> bool {
        self.strength(self.block()).min(other.strength(other.block())) != Strength::Plain
    }

    pub fn warp(self) -> FarWarp {
        (self.block() as u32, self.thread() / LANES)
    }

    /// Returns true if both are of one warp at one time.
    fn is_alike(self, other: Visit) -> bool {
        (self.warp(), self.clock()) == (other.warp(), other.clock())
    }

    /// Returns true if both are of one block at one time.
    #[inline(always)]
    fn is_of_interval(self, other: Visit) -> bool {
        (self.block(), self.clock()) == (other.block(), other.clock())
    }

    fn clock(self) -> u32 {
        (self.0 >> CLOCK) as u32 & LAST_CLOCK
    }

    /// Returns true if this access and a later one race. It assumes that one of them writes.
    #[inline(always)]
    pub fn conflicts(self, later: Visit, sight: Sight<'_>) -> bool {
        let strength = self.strength(later.block()).min(later.strength(self.block()));
        strength == Strength::Plain && !self.is_behind(later, sight)
    }

    /// Returns true if this access precedes or may precede a later one.
    fn is_behind(self, later: Visit, Sight { order, flags }: Sight<'_>) -> bool {
        let (warp, lane) = (self.thread() / LANES, self.thread() % LANES);
        let (later_warp, later_lane) = (later.thread() / LANES, later.thread() % LANES);
        let mark = || Mark::new(0, order.first_warp + warp, lane, self.clock(), Strength::Plain);
        let is_near = || self.clock() == LAST_CLOCK || order.is_behind(mark(), order.first_warp + later_warp, later_lane);
        let is_told = |flags: &Flags| flags.gave_up() || order.is_far_behind(self.warp(), self.clock(), later_warp);
        (self.block() == later.block() && is_near()) || flags.is_some_and(is_told)
    }

    /// Returns how `later`'s warp saw a flag that tells of this. No fence followed the read of the flag.
    pub fn seen(self, later: Visit, order: &Order) -> Option<Seen> {
        order.has_seen(self.warp(), self.clock(), later.thread() / LANES)
    }

    /// Returns true if `later`'s warp heard of this. See [`Order::has_heard`].
    pub fn is_heard(self, later: Visit, order: &Order) -> bool {
        order.has_heard(self.warp(), self.clock(), later.thread() / LANES)
    }

    /// Returns true if its block published it.
    pub fn is_published(self, flags: &Flags) -> bool {
        flags.has_published(self.warp(), self.clock())
    }
}

impl GlobalShadow {
    /// Makes a shadow, if it is useful: for several threads, with writes, and if all is known that orders blocks.
    pub fn new(program: &Program, clusters: Clusters, (blocks, threads): (u64, u64), regions: usize) -> Option<Self> {
        let writes = program.code.iter().any(|inst| match inst.action {
            Action::Store(index) => matches!(program.accesses[index as usize].space, None | Some(Space::Global)),
            Action::Atomic(_) => true,
            Action::BulkCopy(index) => matches!(program.bulk_copies[index as usize].direction, BulkDirection::Store { .. }),
            _ => false,
        });
        let names_fit = program.code.len() < 1 << PC_BITS && blocks < (1 << (64 - BLOCK)) - 1;
        let has_flags = program.orders_grid || program.tells_grid && clusters.blocks == 1 && !program.has_async_proxy;
        let is_followed = !(program.orders_cluster || program.has_aliases || has_flags && clusters.blocks > 1);
        if blocks * threads < 2 || !writes || !is_followed || !names_fit {
            return None;
        }
        let shift = program.narrowest_access(Space::Global).clamp(1, 4).ilog2();
        Some(Self { regions: (0..regions).map(|_| OnceLock::new()).collect(), shift, flags: has_flags.then(Flags::default) })
    }

    /// Returns the places of a range of one allocation.
    #[inline(always)]
    pub fn places(&self, regions: &[Arc<Region>], region: u32, offset: u64, bytes: u64) -> &[Place] {
        let places = self.regions[region as usize].get_or_init(|| {
            let count = regions[region as usize].buffer.bytes().div_ceil(1 << self.shift) as usize;
            // Zeroed pages cost only where they are touched. If there is no memory for a shadow, there are no places and nothing is
            // found.
            bytemuck::allocation::try_zeroed_slice_box(count).unwrap_or_default()
        });
        let range = (offset >> self.shift) as usize..(offset + bytes).div_ceil(1 << self.shift) as usize;
        places.get(range).unwrap_or_default()
    }
}

impl Place {
    /// Notes a reader, and returns the writer that it conflicts with.
    #[inline(always)]
    pub fn read(&self, visit: Visit, sight: Sight<'_>) -> Option<Visit> {
        // A read notes the reader and then looks for a writer. A write does it the other way around, so one of the two sees the
        // other.
        self.note_read(visit, sight);
        self.writer().filter(|writer| writer.conflicts(visit, sight))
    }

    /// Notes a reader.
    #[inline(always)]
    pub fn note_read(&self, visit: Visit, sight: Sight<'_>) {
        let noted = self.readers[0].load(SeqCst);
        if sight.flags.is_some() {
            self.note_outermost_readers(visit, sight);
        } else if noted == 0 || (noted & MANY == 0 && !Visit(noted).is_of_interval(visit)) {
            self.note_reader(visit, sight);
        }
    }

    /// Returns true if only this block reads here.
    pub fn is_read_by(&self, visit: Visit) -> bool {
        let noted = self.readers[0].load(SeqCst);
        Visit::of(noted).is_some_and(|reader| noted & MANY == 0 && reader.block() == visit.block())
    }

    /// Notes a reader, replacing one before it if that is safe. It is if whoever is ordered with the new reader is ordered with both. Of two that
    /// nothing orders, one stays for being of the first warp, and one for being of the last.
    fn note_outermost_readers(&self, visit: Visit, sight: Sight<'_>) {
        let own = visit.strength(visit.block());
        for (noted, further) in self.readers.iter().zip([Ordering::Less, Ordering::Greater]) {
            let takes_its_place = |reader: Visit| {
                let other = reader.strength(reader.block());
                let is_later = || !reader.is_alike(visit) && reader.is_behind(visit, sight);
                own < other || own == other && (visit.warp().cmp(&reader.warp()) == further || is_later())
            };
            let next = |noted| Visit::of(noted).is_none_or(takes_its_place).then_some(visit.0);
            // An error says that the reader stays.
            let _ = noted.fetch_update(SeqCst, SeqCst, next);
        }
    }

    #[inline(never)]
    fn note_reader(&self, visit: Visit, sight: Sight<'_>) {
        let next = |noted| match Visit::of(noted) {
            None => Some(visit.0),
            // Of what a block reads between two barriers, the first suffices: its warp goes on to the second barrier before a later reader's
            // warp starts, so a writer among those finds it.
            Some(reader) if reader.block() == visit.block() => (noted & MANY == 0
                && reader.is_behind(visit, sight)
                && reader.strength(reader.block()) >= visit.strength(visit.block()))
            .then_some(visit.0),
            // A plain reader conflicts with every writer that a strong reader conflicts with.
            Some(reader) if reader.strength(reader.block()) > visit.strength(visit.block()) => Some(visit.0 | MANY),
            Some(_) => Some(noted | MANY),
        };
        let _ = self.readers[0].fetch_update(SeqCst, SeqCst, next);
    }

    /// Returns true if the place cannot be in a block's L1.
    ///
    /// Nobody has read it, or only threads of the block after their last barrier. Then L1 has no older value than the barrier.
    pub fn is_fresh(&self, visit: Visit, order: &Order) -> bool {
        let is_after_barrier = |reader: Visit| {
            let (own, later) = (order.first_warp + reader.thread() / LANES, visit.thread() / LANES);
            let mark = Mark::new(0, own, reader.thread() % LANES, reader.clock(), Strength::Plain);
            reader.block() == visit.block()
                && reader.clock() != LAST_CLOCK
                && (reader.is_alike(visit)
                    || own != order.first_warp + later && !order.is_behind(mark, order.first_warp + later, 0))
        };
        self.readers().into_iter().flatten().all(is_after_barrier)
    }

    /// Starts a write, and returns the previous writer. Other blocks wait until the write [ends](Self::end_write), so that what is
    /// found does not depend on timing.
    pub fn begin_write(&self) -> Option<Visit> {
        loop {
            match self.writer.swap(BEING_WRITTEN, SeqCst) {
                BEING_WRITTEN => std::hint::spin_loop(),
                writer => return Visit::of(writer),
            }
        }
    }

    /// Ends a write, and returns the readers.
    pub fn end_write(&self, visit: Visit) -> [Option<Visit>; 2] {
        self.writer.store(visit.0, SeqCst);
        self.readers()
    }

    fn readers(&self) -> [Option<Visit>; 2] {
        [0, 1].map(|index| Visit::of(self.readers[index].load(SeqCst)))
    }

    /// Returns the last writer.
    #[inline(always)]
    fn writer(&self) -> Option<Visit> {
        loop {
            match self.writer.load(SeqCst) {
                BEING_WRITTEN => std::hint::spin_loop(),
                writer => return Visit::of(writer),
            }
        }
    }
}
