//! Extents and indices of a launch: the grid of blocks and the block of threads.

use serde::{Deserialize, Serialize};

/// Three extents (CUDA's `dim3`), or an index in three dimensions (`uint3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Dim3 {
    /// First dimension, the one that varies fastest between neighboring threads.
    pub x: u32,
    /// Second dimension.
    pub y: u32,
    /// Third dimension.
    pub z: u32,
}

impl Dim3 {
    /// Makes three extents.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// Returns how many blocks (or threads) these extents hold; `u64::MAX` if more. No GPU takes a launch of so many.
    #[inline]
    pub const fn volume(self) -> u64 {
        // Two factors of 32 bits fit in 64; three may not.
        (self.x as u64 * self.y as u64).saturating_mul(self.z as u64)
    }

    /// Returns the index of the `linear`-th element of these extents, x fastest.
    #[inline]
    pub const fn index_of(self, linear: u64) -> Self {
        let x = linear % self.x as u64;
        let y = linear / self.x as u64 % self.y as u64;
        let z = linear / self.x as u64 / self.y as u64;
        Self::new(x as u32, y as u32, z as u32)
    }

    /// Returns the number of an element of these extents, x fastest; `None` outside.
    #[inline]
    pub const fn number_of(self, index: Self) -> Option<u64> {
        if index.x >= self.x || index.y >= self.y || index.z >= self.z {
            return None;
        }
        Some((index.z as u64 * self.y as u64 + index.y as u64) * self.x as u64 + index.x as u64)
    }
}

impl std::fmt::Display for Dim3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({},{},{})", self.x, self.y, self.z)
    }
}

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchConfig {
    /// Blocks in the grid.
    pub grid: Dim3,
    /// Threads in a block.
    pub block: Dim3,
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared_bytes: u32,
}

/// The bounds on clusters of blocks in the text of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClusterBounds {
    /// `.reqnctapercluster`: every launch has clusters of these extents.
    pub required: Option<Dim3>,
    /// `.explicitcluster`: every launch must have clusters.
    pub explicit: bool,
    /// `.maxclusterrank`: the most blocks that a cluster may have.
    pub most: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_saturates_and_never_overflows() {
        const MOST: u32 = u32::MAX;
        let two = u64::from(MOST) * u64::from(MOST);
        for (extents, volume) in [
            ((3, 4, 5), 60),
            ((3, 4, 0), 0),
            ((MOST, MOST, 0), 0),
            ((MOST, MOST, 1), two),
            ((1, MOST, MOST), two),
            ((MOST, 1, MOST), two),
            ((2, MOST, MOST), u64::MAX),
            ((MOST, 2, MOST), u64::MAX),
            ((MOST, MOST, 2), u64::MAX),
            ((MOST, MOST, MOST), u64::MAX),
            // The largest grid of a GPU.
            ((0x7fff_ffff, 65535, 65535), 0x7fff_ffff * 65535 * 65535),
        ] {
            let (x, y, z) = extents;
            assert_eq!(Dim3::new(x, y, z).volume(), volume, "{extents:?}");
        }
    }
}
