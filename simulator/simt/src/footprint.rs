//! Which bytes of global memory a launch accesses, for callers that compare one launch with another.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use crate::memory::Region;

/// How some bytes are accessed, as a set. *Strong* accesses are atomic operations and those that PTX calls strong, such as `ld.volatile` and
/// `ld.acquire`: two of them do not race.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accesses(u8);

impl Accesses {
    /// Bytes are read.
    pub const READ: Self = Self(1);
    /// Bytes are written.
    pub const WRITTEN: Self = Self(2);
    /// Bytes are read by strong accesses only.
    pub const READ_STRONG: Self = Self(4);
    /// Bytes are written by strong accesses only.
    pub const WRITTEN_STRONG: Self = Self(8);

    /// Returns the accesses of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if something writes.
    pub fn writes(self) -> bool {
        self.0 & (2 | 8) != 0
    }

    /// Returns true if there is a strong access.
    pub fn is_strong(self) -> bool {
        self.0 & (4 | 8) != 0
    }

    /// Returns true if unordered accesses to the same bytes race. One of the two writes, and not both are strong.
    pub fn conflict(self, other: Self) -> bool {
        let is_plain = |accesses: Self| accesses.0 & (1 | 2) != 0;
        let writes_plain = |accesses: Self| accesses.0 & 2 != 0;
        let one_way = |first: Self, second: Self| (writes_plain(first) && second.0 != 0) || (first.writes() && is_plain(second));
        one_way(self, other) || one_way(other, self)
    }
}

/// Bytes that are all accessed alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accessed {
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// How they are accessed.
    pub accesses: Accesses,
}

/// The accesses to all allocations during a launch, byte by byte.
#[derive(Debug)]
pub(crate) struct Footprint {
    /// By region. Zeroed pages cost only where they are touched.
    regions: Vec<OnceLock<Box<[AtomicU8]>>>,
}

impl Footprint {
    pub fn new(regions: usize) -> Self {
        Self { regions: (0..regions).map(|_| OnceLock::new()).collect() }
    }

    /// Notes an access to bytes of a region. Accesses to blocks of the kernels' own heap are not noted.
    pub fn note(&self, regions: &[Arc<Region>], region: u32, (offset, bytes): (u64, u64), accesses: Accesses) {
        let Some((of_region, region)) = self.regions.get(region as usize).zip(regions.get(region as usize)) else { return };
        // Without memory for it, nothing is noted.
        let noted = of_region
            .get_or_init(|| bytemuck::allocation::try_zeroed_slice_box(region.buffer.bytes() as usize).unwrap_or_default());
        for byte in noted.get(offset as usize..(offset + bytes) as usize).unwrap_or_default() {
            if byte.load(Relaxed) & accesses.0 != accesses.0 {
                byte.fetch_or(accesses.0, Relaxed);
            }
        }
    }

    /// Returns all accessed bytes in the order of their addresses.
    pub fn accessed(&self, regions: &[Arc<Region>]) -> Vec<Accessed> {
        let mut accessed = Vec::new();
        for (noted, region) in self.regions.iter().zip(regions) {
            let Some(noted) = noted.get() else { continue };
            let mut address = region.base;
            for alike in noted.chunk_by(|first, second| first.load(Relaxed) == second.load(Relaxed)) {
                let (bytes, accesses) = (alike.len() as u64, Accesses(alike[0].load(Relaxed)));
                if accesses != Accesses::default() {
                    accessed.push(Accessed { address, bytes, accesses });
                }
                address += bytes;
            }
        }
        accessed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_accesses_conflict_if_one_writes_and_not_both_are_strong() {
        let [read, written, read_strong, written_strong] =
            [Accesses::READ, Accesses::WRITTEN, Accesses::READ_STRONG, Accesses::WRITTEN_STRONG];
        for (first, second, expected) in [
            (read, read, false),
            (read, written, true),
            (written, written, true),
            (read, read_strong, false),
            (read, written_strong, true),
            (written, read_strong, true),
            (written, written_strong, true),
            (read_strong, written_strong, false),
            (written_strong, written_strong, false),
            (read.and(written_strong), read_strong, false),
            (read.and(written_strong), written_strong, true),
        ] {
            assert_eq!(first.conflict(second), expected, "{first:?}, {second:?}");
            assert_eq!(second.conflict(first), expected, "{second:?}, {first:?}");
        }
    }
}
