//! Rules for the cost of a warp's access, by generation of the GPU.
//!
//! Compute capability 5.0 and later follow the measured rules of [`global`] and [`shared`]. The oldest generations could not be
//! measured. Their rules are from the CUDA C Programming Guide.
//!
//! | compute capability | shared memory | global memory |
//! |---|---|---|
//! | 1.0, 1.1 | 16 banks, separately for each half of the warp | one transaction per half-warp, or one per lane |
//! | 1.2, 1.3 | as 1.0 | the fewest segments of 32, 64 or 128 bytes that cover a half-warp |
//! | 3.x | 32 banks of two words | 32-byte sectors |
//! | 2.x, 5.0 and later | 32 banks of one word | 32-byte sectors |
//!
//! Addresses are multiples of the access's width. A misaligned access is a fault and has no cost.

mod copies;
mod cost;
mod current;
mod kepler;
mod tesla;

pub use copies::{CopyCost, copied_past_l1, copied_through_l1};
pub(crate) use cost::distinct;
pub use cost::{Cost, Direction};
pub use current::{global, l1_wavefronts, shared};

use cost::{LANES, SECTOR_BYTES};

/// The rules of one generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Compute capability 1.0 and 1.1.
    Tesla,
    /// Compute capability 1.2 and 1.3: as 1.0, but for global memory.
    TeslaSegments,
    /// Compute capability 3.x.
    Kepler,
    /// Compute capability 5.0 and later. 2.x, which has no profile, differs only where it caches global loads in its L1.
    Current,
}

impl Rules {
    /// Returns the rules of a compute capability, major and minor.
    pub fn of(compute_capability: (u32, u32)) -> Self {
        match compute_capability {
            (1, ..=1) => Self::Tesla,
            (1, _) => Self::TeslaSegments,
            (3, _) => Self::Kepler,
            _ => Self::Current,
        }
    }

    /// A global load or store of `bytes` (1 to 16) per lane. `mask` has a bit for each active lane, at least one; `addresses` are
    /// in bytes.
    pub fn global(self, mask: u32, bytes: u32, addresses: &[u64; LANES]) -> Cost {
        match self {
            Self::Tesla => tesla::global(tesla::in_sequence, mask, bytes, addresses),
            Self::TeslaSegments => tesla::global(tesla::in_segments, mask, bytes, addresses),
            // On 3.0, global loads bypass the L1, which is reserved for local memory (Kepler Tuning Guide, "L1 Cache"). Data that
            // only the L2 caches moves in 32 bytes, not in lines of 128 (Programming Guide 4.2, F.4.2).
            Self::Kepler | Self::Current => global(mask, bytes, addresses),
        }
    }

    /// Wavefronts of a global load in the L1 cache; none if the L1 does not cache global memory.
    pub fn l1_wavefronts(self, mask: u32, bytes: u32, addresses: &[u64; LANES]) -> u32 {
        if self == Self::Current { l1_wavefronts(mask, bytes, addresses) } else { 0 }
    }

    /// A shared load or store of `bytes` (1 to 16) per lane. `mask` has a bit for each active lane, at least one; `offsets` are in
    /// bytes from the start of the block's shared memory.
    pub fn shared(self, direction: Direction, mask: u32, bytes: u32, offsets: &[u32; LANES]) -> Cost {
        match self {
            Self::Tesla | Self::TeslaSegments => tesla::shared(direction, mask, bytes, offsets),
            Self::Kepler => kepler::shared(mask, bytes, offsets),
            Self::Current => shared(direction, mask, bytes, offsets),
        }
    }

    /// Returns the period of the cost of global memory: the cost stays the same when all addresses of a request move by a multiple
    /// of this many bytes.
    pub(crate) fn global_period(self) -> u64 {
        match self {
            Self::Tesla | Self::TeslaSegments => tesla::LARGEST_SEGMENT,
            Self::Kepler | Self::Current => SECTOR_BYTES,
        }
    }

    /// Does the same for shared memory.
    pub(crate) fn shared_period(self) -> u64 {
        if self == Self::Kepler { kepler::SEGMENT_BYTES } else { 4 }
    }

    /// Returns true if this generation's compiler merges loads. `program::merging` models this.
    pub(crate) fn merges_requests(self) -> bool {
        self == Self::Current
    }
}
