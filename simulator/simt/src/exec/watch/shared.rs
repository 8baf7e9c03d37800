//! The shadow of a block's shared memory: for every place, the writers and readers since all warps were last synchronized.
//!
//! Two readers and two writers of different warps are enough to find a conflict with any third access, because at least one of them
//! is of another warp. Where warpgroups wait for products, they are of two warpgroups if any are. In whatever order the warps run, the later of two conflicting accesses finds the earlier one here.

use super::mark::{Mark, Strength};
use super::order::Order;
use crate::exec::products::WARPS;

/// Two unordered accesses, at least one of which writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub other: Mark,
    pub other_writes: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The epoch of the marks; older marks happened before everything now.
    epoch: u32,
    /// The last block that wrote here.
    written: u32,
    writers: [Mark; 2],
    readers: [Mark; 2],
}

/// The shadow, kept from block to block.
#[derive(Debug)]
pub struct Shadow {
    places: Vec<Place>,
    /// For every place, the epoch in which no further reader needs to be noted; contiguous, so that many are compared in one step.
    settled: Vec<u32>,
    /// Bytes of a place, as an exponent of two: those of the program's narrowest access.
    shift: u32,
    /// Counts the barriers of all warps, over all blocks.
    epoch: u32,
    block: u32,
    /// Only barriers of the whole block order warps in this program.
    only_full_barriers: bool,
}

impl Shadow {
    pub fn new(bytes: u32, narrowest: u32, only_full_barriers: bool) -> Self {
        let shift = narrowest.clamp(1, 4).ilog2();
        let count = bytes.next_multiple_of(4) as usize >> shift;
        let (places, settled) = (vec![Place::default(); count], vec![0; count]);
        Self { places, settled, shift, epoch: 0, block: 0, only_full_barriers }
    }

    /// Starts a block: nothing has been written or accessed.
    pub fn start(&mut self) {
        self.block += 1;
        self.epoch += 1;
    }

    /// Starts an epoch: all warps of the block have waited for each other.
    pub fn all_in_order(&mut self) {
        self.epoch += 1;
    }

    /// Returns the places of an access.
    #[inline(always)]
    fn range(&self, offset: u32, bytes: u32) -> std::ops::Range<usize> {
        offset as usize >> self.shift..(offset + bytes).div_ceil(1 << self.shift) as usize
    }

    /// Returns true if a read has nothing new to check here: in this epoch there were enough readers and no writer, and the first reader
    /// has checked that the bytes are initialized.
    #[inline(always)]
    pub fn is_settled(&self, offset: u32, bytes: u32) -> bool {
        let epoch = self.epoch;
        self.settled[self.range(offset, bytes)].iter().fold(0, |differs, settled| differs | (settled ^ epoch)) == 0
    }

    /// Returns the bytes that were never written in this block. Each of the first 32 has one bit. They count as written afterward.
    #[inline(always)]
    pub fn unwritten(&mut self, offset: u32, bytes: u32) -> u32 {
        let range = self.range(offset, bytes);
        if self.places[range].iter().all(|place| place.written == self.block) { 0 } else { self.first_writes(offset, bytes) }
    }

    #[cold]
    fn first_writes(&mut self, offset: u32, bytes: u32) -> u32 {
        let (block, shift) = (self.block, self.shift);
        let range = self.range(offset, bytes);
        let first = (range.start as u32) << shift;
        let of_place = u64::from(u32::MAX >> (32 - (1 << shift)));
        let mut unwritten = 0_u64;
        for (position, place) in self.places[range].iter_mut().enumerate() {
            if place.written != block {
                place.written = block;
                unwritten |= of_place.checked_shl((position as u32) << shift).unwrap_or(1 << 63);
            }
        }
        // Bytes of the first place before the access, and bytes after the first 32, which count as the last of these.
        let own = unwritten >> (offset - first);
        own as u32 | u32::from(own >> 32 != 0) << 31
    }

    /// Notes a read.
    pub fn read(&mut self, order: &Order, mark: Mark, offset: u32, bytes: u32) -> Option<Conflict> {
        let range = self.range(offset, bytes);
        let mut conflict = None;
        // The last place before, as it was, and its readers now. Most places of an access are alike.
        let mut last: Option<([[Mark; 2]; 2], [Mark; 2])> = None;
        for (place, settled) in self.places[range.clone()].iter_mut().zip(&mut self.settled[range]) {
            place.renew(self.epoch);
            let before = [place.writers, place.readers];
            if let Some((_, readers)) = last.filter(|(last, _)| *last == before) {
                place.readers = readers;
            } else {
                if !order.are_known(place.writers, mark.warp()) {
                    conflict = conflict.or(worst(order, mark, false, &[(place.writers, true)]));
                }
                // Most readers are like two earlier ones, which represent them.
                if !place.readers.iter().all(|reader| reader.is_alike(mark)) {
                    insert(&mut place.readers, order, mark);
                }
                last = Some((before, place.readers));
            }
            let [first, second] = place.readers;
            let enough = !second.is_none() && first.warp() != second.warp() && place.writers[0].is_none();
            let plain = first.strength() == Strength::Plain && second.strength() == Strength::Plain;
            if self.only_full_barriers && enough && plain {
                *settled = self.epoch;
            }
        }
        conflict
    }

    /// Notes a write. If it leaves the bytes `same`, it cannot be distinguished from another write of the same value.
    pub fn write(&mut self, order: &Order, mark: Mark, offset: u32, bytes: u32, same: bool) -> Option<Conflict> {
        let range = self.range(offset, bytes);
        let mut conflict = None;
        for (place, settled) in self.places[range.clone()].iter_mut().zip(&mut self.settled[range]) {
            place.renew(self.epoch);
            let (writers, readers) = ((place.writers, true), (place.readers, false));
            let are_known = |marks: [Mark; 2]| order.are_known(marks, mark.warp());
            if !are_known(place.readers) || !(same || are_known(place.writers)) {
                let found = if same { worst(order, mark, true, &[readers]) } else { worst(order, mark, true, &[writers, readers]) };
                conflict = conflict.or(found);
            }
            insert(&mut place.writers, order, mark);
            *settled = 0;
            place.written = self.block;
        }
        conflict
    }
}

impl Place {
    #[inline(always)]
    fn renew(&mut self, epoch: u32) {
        if self.epoch != epoch {
            *self = Place { epoch, written: self.written, ..Place::default() };
        }
    }
}

/// Returns the conflict with one of the marks. A conflict between warps is reported rather than one inside a warp.
fn worst(order: &Order, mark: Mark, writes: bool, marks: &[([Mark; 2], bool)]) -> Option<Conflict> {
    let found = marks.iter().flat_map(|(marks, write)| marks.iter().map(|mark| (*mark, *write)));
    let found = found.filter(|(other, other_writes)| conflicts(order, mark, *other, writes != *other_writes));
    let (other, other_writes) = found.min_by_key(|(other, _)| other.warp() == mark.warp())?;
    Some(Conflict { other, other_writes })
}

/// Returns true if two accesses, at least one of which writes, race; `one_reads` says that the other does not write.
fn conflicts(order: &Order, mark: Mark, other: Mark, one_reads: bool) -> bool {
    if other.is_none() || order.is_behind(other, mark.warp(), mark.lane()) {
        return false;
    }
    match (mark.strength(), other.strength()) {
        (Strength::Plain, _) | (_, Strength::Plain) => true,
        (Strength::Volatile, Strength::Volatile) => one_reads,
        _ => false,
    }
}

/// Returns true if only a third mark is of another warp.
///
/// The warps of a warpgroup count as one if they wait for products:
/// then they know of each other's reads.
fn is_crowded(order: &Order, marks: [Mark; 2], third: Mark) -> bool {
    let [first, second, third] = [marks[0], marks[1], third].map(Mark::warp);
    let of_one = |warps: u32| first / warps == second / warps && first / warps != third / warps;
    of_one(1) || (order.has_products() && of_one(WARPS))
}

/// Adds or replaces a mark. The marks that are kept represent those that are dropped.
#[inline(always)]
fn insert(marks: &mut [Mark; 2], order: &Order, mark: Mark) {
    let own = |old: Mark| !old.is_none() && old.thread() == mark.thread();
    let represents = |old: Mark| own(old) && old.clock() == mark.clock() && old.strength() < mark.strength();
    if mark.strength() != Strength::Plain && marks.iter().any(|old| represents(*old)) {
        return;
    }
    let [first, second] = *marks;
    let behind = marks.map(|old| order.is_behind(old, mark.warp(), mark.lane()));
    // A strong access cannot represent an earlier plain one, which conflicts with more.
    let replaceable = |old: Mark, behind| old.is_none() || (old.strength() >= mark.strength() && (own(old) || behind));
    // To other warps, an access represents an earlier one of its warp. Beside a plain one it takes that place rather than the plain one's.
    let of_warp = |old: Mark, beside: Mark| {
        old.warp() == mark.warp() && old.strength() >= mark.strength() && beside.strength() < mark.strength()
    };
    if replaceable(first, behind[0]) {
        marks[0] = mark;
    } else if replaceable(second, behind[1]) {
        marks[1] = mark;
    } else if of_warp(first, second) {
        marks[0] = mark;
    } else if of_warp(second, first) {
        marks[1] = mark;
    } else if first.strength().max(second.strength()) > mark.strength() || is_crowded(order, [first, second], mark) {
        // A plain access conflicts with all others, a strong one only with plain ones. Marks of two warps represent more than two
        // of one warp.
        marks[usize::from(second.strength() >= first.strength())] = mark;
    } else if let Some(old) = (0..2).find(|&old| !own(marks[old]) && behind[old]) {
        marks[old] = mark;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(warps: usize) -> Order {
        let mut order = Order::default();
        order.start(warps, 1);
        order
    }

    fn mark(order: &Order, thread: u32) -> Mark {
        Mark::new(thread, thread / 32, thread % 32, order.now(thread / 32), Strength::Plain)
    }

    fn shadow() -> Shadow {
        let mut shadow = Shadow::new(64, 4, true);
        shadow.start();
        shadow
    }

    #[test]
    fn any_two_accesses_conflict_in_either_order_when_one_writes() {
        let order = order(4);
        for (first, second) in [(0, 40), (40, 0), (5, 6), (127, 0)] {
            let (a, b) = (mark(&order, first), mark(&order, second));
            let mut shadow = shadow();
            assert_eq!(shadow.write(&order, a, 8, 4, false), None);
            assert_eq!(shadow.read(&order, b, 8, 4), Some(Conflict { other: a, other_writes: true }));
            let mut shadow = self::shadow();
            assert_eq!(shadow.read(&order, a, 8, 4), None);
            assert_eq!(shadow.write(&order, b, 8, 4, true), Some(Conflict { other: a, other_writes: false }));
            let mut shadow = self::shadow();
            assert_eq!(shadow.write(&order, a, 8, 4, false), None);
            assert_eq!(shadow.write(&order, b, 8, 4, true), None);
            assert_eq!(shadow.write(&order, b, 8, 4, false), Some(Conflict { other: a, other_writes: true }));
            assert_eq!(shadow.read(&order, b, 12, 4), None);
        }
    }

    #[test]
    fn of_many_readers_one_is_kept_that_a_writer_conflicts_with() {
        let order = order(4);
        for writer in 0..128 {
            for readers in [[0, 1, 2, 3], [0, 32, 64, 96], [3, 2, 40, 41], [100, 100, 100, 7]] {
                let mut shadow = shadow();
                for reader in readers {
                    assert_eq!(shadow.read(&order, mark(&order, reader), 0, 4), None);
                }
                let conflict = shadow.write(&order, mark(&order, writer), 0, 4, false);
                let found = conflict.is_some_and(|conflict| conflict.other.warp() != writer / 32);
                let expected = readers.iter().any(|reader| reader / 32 != writer / 32);
                assert_eq!(found, expected, "writer {writer} after {readers:?}");
                assert_eq!(conflict.is_some(), readers.iter().any(|reader| *reader != writer), "writer {writer}");
            }
        }
    }

    #[test]
    fn a_wide_read_leaves_what_reads_of_its_parts_leave() {
        let mut order = order(6);
        let mut shadows = [shadow(), shadow()];
        let mut state = 13_u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for _ in 0..5000 {
            let (thread, word) = (next(192), next(4));
            let mark = mark(&order, thread);
            let [whole, parts] = &mut shadows;
            let found = match next(8) {
                0 => [&mut *whole, parts].map(|shadow| shadow.write(&order, mark, 4 * word, 4, false)),
                1 => {
                    order.synchronize_lanes(thread / 32, u32::MAX, u32::MAX);
                    continue;
                }
                2 => [&mut *whole, parts].map(|shadow| shadow.read(&order, mark, 4 * word, 4)),
                _ => {
                    let of_parts = [0, 4, 8, 12].map(|offset| parts.read(&order, mark, offset, 4));
                    [whole.read(&order, mark, 0, 16), of_parts.into_iter().flatten().next()]
                }
            };
            assert_eq!(found[0], found[1]);
            let [whole, parts] = [&*whole, parts].map(|shadow| shadow.places.iter().map(|place| (place.writers, place.readers)));
            assert!(whole.eq(parts));
        }
    }

    #[test]
    fn an_atomic_operation_does_not_hide_the_plain_store_before_it() {
        let mut order = order(2);
        let mut shadow = shadow();
        let initial = mark(&order, 0);
        assert_eq!(shadow.write(&order, initial, 0, 4, false), None);
        order.synchronize_lanes(0, u32::MAX, u32::MAX);
        let atomic = |order: &Order, thread: u32| Mark::new(9, thread / 32, thread % 32, order.now(thread / 32), Strength::Atomic);
        // The lanes are not ordered with each other, only with the store.
        for thread in [1, 2, 3] {
            assert_eq!(shadow.write(&order, atomic(&order, thread), 0, 4, false), None);
        }
        let conflict = shadow.write(&order, atomic(&order, 40), 0, 4, false);
        assert_eq!(conflict, Some(Conflict { other: initial, other_writes: true }));
    }

    #[test]
    fn a_place_is_unwritten_once_per_block() {
        let order = order(1);
        let mut shadow = shadow();
        shadow.write(&order, mark(&order, 0), 0, 4, false);
        assert_eq!(shadow.unwritten(0, 4), 0);
        assert_eq!(shadow.unwritten(0, 8), 0xf0);
        assert_eq!(shadow.unwritten(0, 8), 0);
        shadow.start();
        assert_eq!(shadow.unwritten(0, 4), 0xf);
    }

    #[test]
    fn bytes_have_places_of_their_own_where_a_program_has_bytes() {
        let order = order(2);
        let mut shadow = Shadow::new(64, 1, true);
        shadow.start();
        for thread in 0..64 {
            assert_eq!(shadow.write(&order, mark(&order, thread), thread, 1, false), None);
        }
        assert!(shadow.write(&order, mark(&order, 0), 36, 4, false).is_some());
    }
}
