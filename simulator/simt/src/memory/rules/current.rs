//! Compute capability 5.0 and later: 32 banks for the warp as a whole, and 32-byte sectors.
//!
//! Measured with Nsight Compute 2025.3 on an H200, one access pattern at a time; `tests/memory_rules.rs` holds all the patterns.
//!
//! From compute capability 7.0 on, the L1 cache and shared memory are the same memory with the same banks. Global loads that hit in
//! L1 take wavefronts by the same rule ([`l1_wavefronts`]; timed on an H200 with loads that hit).

use super::cost::{Cost, Direction, LANES, SECTOR_BYTES, active_lanes, distinct, ideal_sectors, most_in_a_bank};

/// Bytes of a line of the L1 cache, which has one tag.
const LINE_BYTES: u64 = 128;

/// Tags that the L1 cache looks up per wavefront. Stated by NVIDIA (forums.developer.nvidia.com, "Pascal L1 cache", on Volta), and
/// timed on an H200: 32 lanes on 32 lines and 32 banks take 8 cycles.
const TAGS_PER_PASS: u32 = 4;

/// Cost of a global load or store of `bytes` (1 to 32) per lane. `mask` has a bit for each active lane, `addresses` are in bytes.
pub fn global(mask: u32, bytes: u32, addresses: &[u64; LANES]) -> Cost {
    let sectors = distinct(active_lanes(mask).map(|lane| addresses[lane] / SECTOR_BYTES)).len() as u32;
    Cost { requests: 1, transactions: sectors, units: sectors, ideal: ideal_sectors(mask, bytes, addresses) }
}

/// Cost of a shared load or store of `bytes` (1 to 16) per lane. `mask` has a bit for each active lane, `offsets` are in bytes
/// from the start of the block's shared memory.
pub fn shared(direction: Direction, mask: u32, bytes: u32, offsets: &[u32; LANES]) -> Cost {
    banks(direction, mask, bytes, &offsets.map(u64::from))
}

/// Returns the least number of L1 wavefronts of a global load. The load hits, with `bytes` (1 to 16) per lane. Lines are counted as
/// the least number of 128-byte windows that cover the addresses, so the count does not depend on where in its line the first
/// address is, and it is never too high.
pub fn l1_wavefronts(mask: u32, bytes: u32, addresses: &[u64; LANES]) -> u32 {
    let mut active: Vec<u64> = active_lanes(mask).map(|lane| addresses[lane]).collect();
    active.sort_unstable();
    let mut covered = 0;
    let windows = active.iter().filter(|address| {
        let is_new = covered <= **address;
        if is_new {
            covered = **address + LINE_BYTES;
        }
        is_new
    });
    let tag_passes = (windows.count() as u32).div_ceil(TAGS_PER_PASS);
    banks(Direction::Load, mask, bytes, addresses).units.max(tag_passes)
}

/// Wavefronts of a request in 32 banks, wherever its addresses start.
fn banks(direction: Direction, mask: u32, bytes: u32, offsets: &[u64; LANES]) -> Cost {
    let group = group_lanes(direction, mask, bytes, offsets);
    let mut cost = Cost { requests: 1, ..Cost::default() };
    for first in (0..LANES).step_by(group) {
        let lanes = (first..first + group).filter(|lane| mask >> lane & 1 != 0);
        let words = distinct(lanes.flat_map(|lane| (0..u64::from(bytes.div_ceil(4))).map(move |word| offsets[lane] / 4 + word)));
        cost.ideal += u32::from(!words.is_empty());
        cost.units += most_in_a_bank(words.into_iter().map(|word| word as usize));
    }
    cost
}

/// Returns how many adjacent lanes share a wavefront.
///
/// Up to 4 bytes per lane, it is the whole warp. Wider accesses take as many wavefronts as their bytes fill rows of all banks. A
/// load takes half as many if lanes share addresses in pairs, because then half of the lanes represent all of them.
fn group_lanes(direction: Direction, mask: u32, bytes: u32, offsets: &[u64; LANES]) -> usize {
    let paired = || direction == Direction::Load && (pairs(1, mask, offsets) || pairs(2, mask, offsets));
    match bytes {
        16 if paired() => 16,
        16 => 8,
        // Not measured: two requests of 16 bytes, one after the other.
        32 => 4,
        8 if paired() => 32,
        8 => 16,
        _ => 32,
    }
}

/// Returns true if no active lane's partner has another address. Partners are `distance` lanes apart; inactive ones do not count.
fn pairs(distance: usize, mask: u32, offsets: &[u64; LANES]) -> bool {
    active_lanes(mask).all(|lane| {
        let partner = lane ^ distance;
        mask >> partner & 1 == 0 || offsets[partner] == offsets[lane]
    })
}
