//! The cost of a request, in units that all generations share.

pub(super) use alu::registers::LANES;

/// Bytes of a sector, the unit of traffic to global memory.
pub(super) const SECTOR_BYTES: u64 = 32;

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The warp reads.
    Load,
    /// The warp writes.
    Store,
}

/// The cost of one load or store of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Requests: one, or, on compute capability 1.x, one per half of the warp that has an active lane, in shared memory for each word of a
    /// lane.
    pub requests: u32,
    /// Transactions with global memory: of 32, 64 or 128 bytes each on compute capability 1.x, of one sector since.
    pub transactions: u32,
    /// In global memory the 32-byte sectors that move, in shared memory the wavefronts: passes through the 32 banks.
    pub units: u32,
    /// Sectors that the distinct bytes would fill if they were contiguous, or wavefronts if there were no bank conflicts.
    pub ideal: u32,
}

/// Returns the set lanes of a mask, lowest first.
pub(super) fn active_lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Returns the different values, sorted.
pub fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Returns the ideal number of sectors for the active lanes' bytes. It is what the distinct bytes fill if they are contiguous.
pub(super) fn ideal_sectors(mask: u32, bytes: u32, addresses: &[u64; LANES]) -> u32 {
    let distinct = distinct(active_lanes(mask).map(|lane| addresses[lane])).len() as u64;
    (distinct * u64::from(bytes)).div_ceil(SECTOR_BYTES) as u32
}

/// Returns the wavefronts of words in these of the 32 banks: the most in one bank.
pub(super) fn most_in_a_bank(banks: impl Iterator<Item = usize>) -> u32 {
    let mut words = [0; 32];
    banks.for_each(|bank| words[bank % 32] += 1);
    words.into_iter().max().unwrap_or(0)
}
