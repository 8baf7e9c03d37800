//! The cost of a request, in units that all generations share.

/// Lanes of a warp.
pub(super) const LANES: usize = 32;

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

/// Cost of one request to global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalCost {
    /// 32-byte sectors that move: since compute capability 2.0, the distinct ones that the active lanes touch.
    pub sectors: u32,
    /// Sectors that the distinct bytes would fill if they were contiguous.
    pub ideal: u32,
}

/// Cost of one request to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedCost {
    /// Wavefronts: passes through the 32 banks.
    pub wavefronts: u32,
    /// Wavefronts if there were no bank conflicts.
    pub ideal: u32,
}

/// The requests that one load or store of a warp makes to global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalRequests {
    /// Requests: one, or one per half of the warp that has an active lane.
    pub requests: u32,
    /// Transactions with memory: of 32, 64 or 128 bytes each on compute capability 1.x, of one sector since.
    pub transactions: u32,
    /// The cost of all requests together.
    pub cost: GlobalCost,
}

/// The requests that one load or store of a warp makes to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedRequests {
    /// Requests: one, or, on compute capability 1.x, one per half of the warp and word of a lane.
    pub requests: u32,
    /// The cost of all requests together.
    pub cost: SharedCost,
}

/// The set lanes of a mask, lowest first.
pub(super) fn active_lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Sectors that the distinct bytes of the active lanes would fill if they were contiguous.
pub(super) fn ideal_sectors(mask: u32, bytes: u32, addresses: &[u64; LANES]) -> u32 {
    let mut distinct: Vec<u64> = active_lanes(mask).map(|lane| addresses[lane]).collect();
    distinct.sort_unstable();
    distinct.dedup();
    (distinct.len() as u64 * u64::from(bytes)).div_ceil(SECTOR_BYTES) as u32
}
