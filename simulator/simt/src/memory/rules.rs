//! What a warp's access costs: sectors of global memory, wavefronts of shared memory.
//!
//! These are the rules of compute capability 2.0 and later for shared memory and 32-byte sectors for global memory. They were
//! measured with Nsight Compute 2025.3 on an H200, one access pattern at a time; `tests/memory_rules.rs` holds all the patterns.
//! Addresses are multiples of the access's width: an access that is not is a fault and has no cost.
//!
//! From compute capability 7.0 on, the L1 cache and shared memory are the same memory with the same banks, and what a global load
//! finds there passes through them by the same rule ([`l1_wavefronts`]; timed on an H200 with loads that hit).

/// Lanes of a warp.
const LANES: usize = 32;

/// Bytes of a sector, the unit in which global memory moves.
const SECTOR_BYTES: u64 = 32;

/// Bytes of a line of the L1 cache, which has one tag.
const LINE_BYTES: u64 = 128;

/// Tags that the L1 cache looks up in one pass. Told by NVIDIA (forums.developer.nvidia.com, "Pascal L1 cache", on Volta), and timed on
/// an H200: 32 lanes on 32 lines and 32 banks take 8 cycles.
const TAGS_PER_PASS: u32 = 4;

/// Banks of shared memory, each one word wide.
const BANKS: usize = 32;

/// Whether a warp reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The warp reads.
    Load,
    /// The warp writes.
    Store,
}

/// Cost of one request to global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalCost {
    /// Distinct 32-byte sectors that the active lanes touch.
    pub sectors: u32,
    /// Sectors that the distinct bytes would fill if they stood side by side.
    pub ideal: u32,
}

/// Cost of one request to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedCost {
    /// Passes through the banks.
    pub wavefronts: u32,
    /// Passes if no bank held two words that are asked for at once.
    pub ideal: u32,
}

/// Cost of a global load or store of `bytes` (1 to 16) per lane. `mask` has a bit for each active lane, `addresses` are in bytes.
pub fn global(mask: u32, bytes: u32, addresses: &[u64; LANES]) -> GlobalCost {
    let mut active = [0; LANES];
    let count = compact(mask, addresses, &mut active);
    let active = &mut active[..count];
    active.sort_unstable();
    let distinct_bytes = distinct(active.iter().copied()) as u64 * u64::from(bytes);
    GlobalCost {
        sectors: distinct(active.iter().map(|address| address / SECTOR_BYTES)),
        ideal: distinct_bytes.div_ceil(SECTOR_BYTES) as u32,
    }
}

/// Cost of a shared load or store of `bytes` (1 to 16) per lane. `mask` has a bit for each active lane, `offsets` are in bytes
/// from the start of the block's shared memory.
pub fn shared(direction: Direction, mask: u32, bytes: u32, offsets: &[u32; LANES]) -> SharedCost {
    banks(direction, mask, bytes, &offsets.map(u64::from))
}

/// Passes through the banks of the L1 cache that a global load of `bytes` (1 to 16) per lane needs at least, when the cache holds all
/// of it. A warp's lines are as many as 128-byte windows that cover its addresses, at least: the count is the same wherever in its
/// line the first address stands, and never too high.
pub fn l1_wavefronts(mask: u32, bytes: u32, addresses: &[u64; LANES]) -> u32 {
    let mut active = [0; LANES];
    let count = compact(mask, addresses, &mut active);
    let active = &mut active[..count];
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
    banks(Direction::Load, mask, bytes, addresses).wavefronts.max(tag_passes)
}

/// Passes of a request through 32 banks, wherever its addresses start.
fn banks(direction: Direction, mask: u32, bytes: u32, offsets: &[u64; LANES]) -> SharedCost {
    let group = group_lanes(direction, mask, bytes, offsets);
    let mut cost = SharedCost::default();
    for first in (0..LANES).step_by(group) {
        let lanes = first..first + group;
        let mut words = Vec::with_capacity(LANES * 2);
        for lane in lanes.filter(|lane| mask >> lane & 1 != 0) {
            words.extend((0..u64::from(bytes.div_ceil(4))).map(|word| offsets[lane] / 4 + word));
        }
        if words.is_empty() {
            continue;
        }
        words.sort_unstable();
        words.dedup();
        let mut per_bank = [0; BANKS];
        for word in words {
            per_bank[word as usize % BANKS] += 1;
        }
        cost.wavefronts += per_bank.into_iter().max().unwrap_or(0);
        cost.ideal += 1;
    }
    cost
}

/// How many neighbouring lanes go through the banks together.
///
/// Up to 4 bytes per lane it is the whole warp. Wider accesses need as many passes as their bytes fill rows of all banks; a load
/// needs half as many when lanes share addresses in pairs, because then half of the warp's lanes stand for all of them.
fn group_lanes(direction: Direction, mask: u32, bytes: u32, offsets: &[u64; LANES]) -> usize {
    let paired = || direction == Direction::Load && (pairs(1, mask, offsets) || pairs(2, mask, offsets));
    match bytes {
        16 if paired() => 16,
        16 => 8,
        8 if paired() => 32,
        8 => 16,
        _ => 32,
    }
}

/// Whether every active lane's partner, `distance` lanes away within its pair, is inactive or at the same address.
fn pairs(distance: usize, mask: u32, offsets: &[u64; LANES]) -> bool {
    (0..LANES).filter(|lane| mask >> lane & 1 != 0).all(|lane| {
        let partner = lane ^ distance;
        mask >> partner & 1 == 0 || offsets[partner] == offsets[lane]
    })
}

/// Moves the active lanes' values to the front and returns how many there are.
fn compact(mask: u32, values: &[u64; LANES], active: &mut [u64; LANES]) -> usize {
    let mut count = 0;
    for (lane, value) in values.iter().enumerate() {
        if mask >> lane & 1 != 0 {
            active[count] = *value;
            count += 1;
        }
    }
    count
}

/// How many different values a sorted sequence holds.
fn distinct(sorted: impl Iterator<Item = u64>) -> u32 {
    let mut last = None;
    sorted.filter(|value| last.replace(*value) != Some(*value)).count() as u32
}
