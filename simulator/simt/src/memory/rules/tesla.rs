//! Compute capability 1.x: each half of a warp is a request of its own.
//!
//! CUDA C Programming Guide 4.2, appendix F.3: F.3.2.1 and F.3.2.2 for global memory, F.3.3 for shared memory. The code names the
//! section that it follows.

use super::cost::{Cost, Direction, LANES, SECTOR_BYTES, active_lanes, distinct, ideal_sectors};

/// Banks of shared memory, each one word wide (F.3.3).
const BANKS: u32 = 16;

/// Bytes of the largest transaction with global memory (F.3.2).
pub const LARGEST_SEGMENT: u64 = 128;

/// Bytes of each transaction that a half-warp's request becomes; `lanes` are its active lanes.
type Coalescing = fn(lanes: u32, bytes: u32, addresses: &[u64; LANES]) -> Vec<u64>;

/// A global load or store.
pub fn global(coalescing: Coalescing, mask: u32, bytes: u32, addresses: &[u64; LANES]) -> Cost {
    let mut sum = Cost::default();
    for lanes in halves(mask) {
        let transactions = coalescing(lanes, bytes, addresses);
        sum.requests += 1;
        sum.transactions += transactions.len() as u32;
        sum.units += transactions.iter().map(|bytes| (bytes / SECTOR_BYTES) as u32).sum::<u32>();
        sum.ideal += ideal_sectors(lanes, bytes, addresses);
    }
    sum
}

/// Compute capability 1.0 and 1.1 (F.3.2.1). Words of 4, 8 or 16 bytes coalesce when the half-warp's 16 words fill one segment of
/// 64 bytes, one of 128, or two of 128 that follow each other, and the k-th lane takes the k-th word; lanes may be missing. All
/// else is a transaction of 32 bytes for each lane.
pub fn in_sequence(lanes: u32, bytes: u32, addresses: &[u64; LANES]) -> Vec<u64> {
    let width = u64::from(bytes);
    let first = lanes.trailing_zeros() as usize;
    let start = addresses[first].wrapping_sub((first as u64 % 16) * width);
    let segment = (16 * width).min(LARGEST_SEGMENT);
    let in_order = active_lanes(lanes).all(|lane| addresses[lane] == start.wrapping_add((lane as u64 % 16) * width));
    if bytes >= 4 && start.is_multiple_of(segment) && in_order {
        vec![segment; (16 * width / segment) as usize]
    } else {
        active_lanes(lanes).map(|_| 32).collect()
    }
}

/// Compute capability 1.2 and 1.3 (F.3.2.2). The lowest waiting lane chooses a segment of 32, 64 or 128 bytes, for words of 1, 2,
/// or more bytes; all lanes with an address there are served with it. If they use only one half of it, only that half moves, down
/// to 32 bytes. Then the lowest lane that is still waiting goes on.
pub fn in_segments(mut lanes: u32, bytes: u32, addresses: &[u64; LANES]) -> Vec<u64> {
    let largest = match bytes {
        1 => 32,
        2 => 64,
        _ => LARGEST_SEGMENT,
    };
    let mut transactions = Vec::new();
    while lanes != 0 {
        let segment = addresses[lanes.trailing_zeros() as usize] / largest;
        let served: Vec<usize> = active_lanes(lanes).filter(|lane| addresses[*lane] / largest == segment).collect();
        let lowest = served.iter().map(|lane| addresses[*lane]).min().unwrap_or(0);
        let highest = served.iter().map(|lane| addresses[*lane]).max().unwrap_or(0) + u64::from(bytes) - 1;
        let mut size = largest;
        while size > 32 && lowest / (size / 2) == highest / (size / 2) {
            size /= 2;
        }
        transactions.push(size);
        served.into_iter().for_each(|lane| lanes &= !(1 << lane));
    }
    transactions
}

/// A shared load or store. Accesses of 8 and 16 bytes are split into requests of 4 (F.3.3.4); at best, each is one step.
pub fn shared(direction: Direction, mask: u32, bytes: u32, offsets: &[u32; LANES]) -> Cost {
    let mut sum = Cost::default();
    for lanes in halves(mask) {
        for word in 0..bytes.div_ceil(4) {
            let offsets = offsets.map(|offset| offset + 4 * word);
            sum.requests += 1;
            sum.ideal += 1;
            sum.units += match direction {
                Direction::Load => load_steps(lanes, &offsets),
                Direction::Store => store_steps(lanes, &offsets),
            };
        }
    }
    sum
}

/// Steps of a read (F.3.3.2). A step serves every lane in one word, which is broadcast, and one lane of each other bank. The Guide
/// does not say which word that is. Here it is the word of the lowest waiting lane, and each bank serves its lowest lane.
fn load_steps(mut lanes: u32, offsets: &[u32; LANES]) -> u32 {
    let mut steps = 0;
    while lanes != 0 {
        let broadcast = offsets[lanes.trailing_zeros() as usize] / 4;
        let mut taken = 1_u32 << (broadcast % BANKS);
        for lane in active_lanes(lanes) {
            let word = offsets[lane] / 4;
            let bank = 1 << (word % BANKS);
            if word == broadcast || taken & bank == 0 {
                taken |= bank;
                lanes &= !(1 << lane);
            }
        }
        steps += 1;
    }
    steps
}

/// Steps of a write (F.3.3). Nothing is broadcast, and a bank takes one address after the other; of the lanes that write to one and
/// the same address, only one does.
fn store_steps(lanes: u32, offsets: &[u32; LANES]) -> u32 {
    let addresses = distinct(active_lanes(lanes).map(|lane| offsets[lane]));
    let in_bank = |bank| addresses.iter().filter(|offset| *offset / 4 % BANKS == bank).count() as u32;
    (0..BANKS).map(in_bank).max().unwrap_or(0)
}

/// The active lanes of each half of the warp that has any.
fn halves(mask: u32) -> impl Iterator<Item = u32> {
    [mask & 0xffff, mask & 0xffff_0000].into_iter().filter(|lanes| *lanes != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = u32::MAX;

    /// Requests, transactions and sectors of a global load.
    fn loaded(coalescing: Coalescing, mask: u32, bytes: u32, address: impl Fn(u64) -> u64) -> (u32, u32, u32) {
        let addresses = std::array::from_fn(|lane| 0x10_0000 + address(lane as u64));
        let Cost { requests, transactions, units, .. } = global(coalescing, mask, bytes, &addresses);
        (requests, transactions, units)
    }

    /// Requests and steps of a shared access.
    fn served(direction: Direction, mask: u32, bytes: u32, offset: impl Fn(u32) -> u32) -> (u32, u32) {
        let Cost { requests, units, ideal, .. } = shared(direction, mask, bytes, &std::array::from_fn(|lane| offset(lane as u32)));
        assert_eq!(ideal, requests);
        (requests, units)
    }

    /// F.3.2.1: in sequence and aligned, a half-warp's words of 4, 8 and 16 bytes make one transaction of 64 bytes, one of 128, or
    /// two of 128.
    #[test]
    fn words_in_sequence_coalesce_on_1_0() {
        assert_eq!(loaded(in_sequence, ALL, 4, |lane| lane * 4), (2, 2, 2 * 2));
        assert_eq!(loaded(in_sequence, ALL, 8, |lane| lane * 8), (2, 2, 2 * 4));
        assert_eq!(loaded(in_sequence, ALL, 16, |lane| lane * 16), (2, 4, 4 * 4));
    }

    /// F.3.2.1: coalescing is not lost when some lanes make no access; the transaction stays as large.
    #[test]
    fn missing_lanes_keep_a_half_warp_coalesced_on_1_0() {
        assert_eq!(loaded(in_sequence, 0x0000_7ffe, 4, |lane| lane * 4), (1, 1, 2));
        assert_eq!(loaded(in_sequence, 0x8000_0000, 8, |lane| lane * 8), (1, 1, 4));
    }

    /// F.3.2.1: out of sequence, not at the start of a segment, or of 1 or 2 bytes, each lane's word is a transaction of 32 bytes,
    /// even if all lanes want the same one.
    #[test]
    fn everything_else_is_a_transaction_per_lane_on_1_0() {
        for (bytes, address) in
            [(4, (|lane| lane * 4 + 4) as fn(u64) -> u64), (4, |lane| (lane ^ 1) * 4), (4, |_| 0), (1, |lane| lane)]
        {
            assert_eq!(loaded(in_sequence, ALL, bytes, address), (2, 32, 32), "{bytes} bytes");
        }
        assert_eq!(loaded(in_sequence, 0xff, 2, |lane| lane * 2), (1, 8, 8));
    }

    /// F.3.2.2: the order of the lanes does not matter, nor that lanes share a word.
    #[test]
    fn any_order_within_a_segment_is_one_transaction_on_1_2() {
        assert_eq!(loaded(in_segments, ALL, 4, |lane| (lane ^ 5) * 4), (2, 2, 2 * 2));
        assert_eq!(loaded(in_segments, ALL, 4, |_| 0), (2, 2, 2));
    }

    /// F.3.2.2: a segment of 128 bytes of which one half is used shrinks to 64 bytes, and that to 32.
    #[test]
    fn a_transaction_shrinks_to_the_half_that_is_used_on_1_2() {
        // Words 1 to 16: 64 bytes that lie across the middle of a segment; words 17 to 32 leave it by one word.
        assert_eq!(loaded(in_segments, 0xffff, 4, |lane| lane * 4 + 4), (1, 1, 4));
        assert_eq!(loaded(in_segments, 0xffff_0000, 4, |lane| lane * 4 + 4), (1, 2, 2 + 1));
        assert_eq!(loaded(in_segments, 0xff, 4, |lane| lane * 4), (1, 1, 1));
        assert_eq!(loaded(in_segments, 0xffff, 8, |lane| lane * 8), (1, 1, 4));
        assert_eq!(loaded(in_segments, 0xffff, 16, |lane| lane * 16), (1, 2, 8));
    }

    /// F.3.2.2: segments have 32 bytes for words of 1 byte, 64 for words of 2.
    #[test]
    fn narrow_words_have_smaller_segments_on_1_2() {
        assert_eq!(loaded(in_segments, 0xffff, 1, |lane| lane * 4), (1, 2, 2));
        assert_eq!(loaded(in_segments, 0xffff, 2, |lane| lane * 4), (1, 1, 2));
        assert_eq!(loaded(in_segments, 0xffff, 2, |lane| lane * 8), (1, 2, 4));
    }

    /// F.3.3.1: a stride of s words has no conflicts only if s is odd, and lanes of different halves never conflict.
    #[test]
    fn strides_conflict_by_their_power_of_two() {
        for (stride, steps) in [(1, 1), (2, 2), (3, 1), (4, 4), (8, 8), (16, 16), (17, 1), (32, 16)] {
            for direction in [Direction::Load, Direction::Store] {
                assert_eq!(served(direction, ALL, 4, |lane| lane * stride * 4), (2, 2 * steps), "stride of {stride} words");
            }
        }
    }

    /// F.3.3.2: all lanes of a half-warp in one word are one step. When the word that is broadcast is another one than the word
    /// that many want, those are served one by one.
    #[test]
    fn one_word_is_broadcast_per_step() {
        assert_eq!(served(Direction::Load, ALL, 4, |_| 64), (2, 2));
        // Two words of two banks, 8 lanes each: one word is broadcast together with one lane of the other, then the other's rest.
        assert_eq!(served(Direction::Load, 0xffff, 4, |lane| lane % 2 * 4), (1, 2));
    }

    /// F.3.3.3: adjacent bytes conflict, since four of them share a bank: of the 16 lanes, the steps serve 7, 5, 3 and 1.
    /// Every fourth byte does not conflict.
    #[test]
    fn neighboring_bytes_take_four_steps() {
        for direction in [Direction::Load, Direction::Store] {
            assert_eq!(served(direction, ALL, 1, |lane| lane), (2, 2 * 4));
            assert_eq!(served(direction, ALL, 2, |lane| lane * 2), (2, 2 * 2));
            assert_eq!(served(direction, ALL, 1, |lane| lane * 4), (2, 2));
        }
    }

    /// F.3.3.4: a double is two requests with a stride of two words, so that each conflicts twice; so are the members of a struct
    /// of two floats, while those of a struct of three do not conflict.
    #[test]
    fn wide_accesses_are_split_into_words() {
        assert_eq!(served(Direction::Load, ALL, 8, |lane| lane * 8), (4, 8));
        assert_eq!(served(Direction::Load, ALL, 16, |lane| lane * 16), (8, 32));
        assert_eq!(served(Direction::Load, ALL, 4, |lane| lane * 12), (2, 2));
    }

    /// F.3.3: of lanes that write to one location, one does.
    #[test]
    fn writes_to_one_location_are_one_step() {
        assert_eq!(served(Direction::Store, ALL, 4, |_| 64), (2, 2));
    }
}
