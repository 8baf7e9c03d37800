//! How the blocks of a launch form clusters, and where each block's shared memory is in that of its cluster.
//!
//! The shared memories of a cluster are one memory here. A block's part starts at its rank times a power of two, so an address says whose
//! memory it is in, and everything that works on addresses (accesses, barriers, copies, checks) works across blocks. A block without a
//! cluster is a cluster of one, whose part starts at 0.

use ptx::geometry::Dim3;

/// The least distance between two blocks' shared memories: no alignment that an instruction asks for is larger.
const LEAST_PART: u32 = 1024;

/// The clusters of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Clusters {
    grid: Dim3,
    /// Blocks of a cluster in each direction.
    pub extent: Dim3,
    /// Clusters of the grid in each direction.
    pub clusters: Dim3,
    /// Blocks of a cluster.
    pub blocks: u32,
    /// The launch or the kernel asked for clusters.
    pub is_explicit: bool,
    /// A block's part starts at its rank times 2 to this power.
    pub shift: u32,
    /// Bytes of shared memory that each block uses.
    shared_bytes: u32,
}

impl Clusters {
    /// Divides a grid whose extents are multiples of those of the clusters.
    pub fn new(grid: Dim3, asked: Option<Dim3>, shared_bytes: u32) -> Self {
        let extent = asked.unwrap_or(Dim3::new(1, 1, 1));
        let clusters = Dim3::new(grid.x / extent.x, grid.y / extent.y, grid.z / extent.z);
        let shift = shared_bytes.max(LEAST_PART).next_power_of_two().ilog2();
        Self { grid, extent, clusters, blocks: extent.volume() as u32, is_explicit: asked.is_some(), shift, shared_bytes }
    }

    /// Returns the number of the block with this rank in a cluster.
    pub fn block(&self, cluster: u64, rank: u32) -> u64 {
        if self.blocks == 1 {
            return cluster;
        }
        let (first, extent, inside) = (self.clusters.index_of(cluster), self.extent, self.extent.index_of(rank.into()));
        let index = Dim3 { x: first.x * extent.x + inside.x, y: first.y * extent.y + inside.y, z: first.z * extent.z + inside.z };
        self.grid.number_of(index).unwrap_or(0)
    }

    /// Returns the number of the cluster that a block is in.
    pub fn cluster_of(&self, block: u64) -> u64 {
        let (index, extent) = (self.grid.index_of(block), self.extent);
        let cluster = Dim3::new(index.x / extent.x, index.y / extent.y, index.z / extent.z);
        self.clusters.number_of(cluster).unwrap_or(0)
    }

    /// Returns where a block's shared memory starts.
    pub fn base(&self, rank: u32) -> u32 {
        rank << self.shift
    }

    /// Returns the rank of the block whose part holds an offset.
    #[inline(always)]
    pub fn rank_at(&self, offset: u64) -> u64 {
        offset >> self.shift
    }

    /// Returns an offset in the part of its block.
    #[inline(always)]
    pub fn in_block(&self, offset: u64) -> u64 {
        offset & ((1 << self.shift) - 1)
    }

    /// Returns the number of bytes of all parts together.
    pub fn bytes(&self) -> u32 {
        self.base(self.blocks - 1) + self.shared_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_in_one_cluster() {
        let clusters = Clusters::new(Dim3::new(6, 4, 2), Some(Dim3::new(3, 2, 1)), 5000);
        let of_cluster = |cluster| (0..clusters.blocks).map(move |rank| clusters.block(cluster, rank));
        assert!(of_cluster(5).all(|block| clusters.cluster_of(block) == 5));
        assert_eq!(of_cluster(1).collect::<Vec<_>>(), [3, 4, 5, 9, 10, 11]);
        let mut all: Vec<u64> = (0..clusters.clusters.volume()).flat_map(of_cluster).collect();
        all.sort_unstable();
        assert_eq!(all, (0..48).collect::<Vec<_>>());
    }

    #[test]
    fn an_address_says_whose_memory_it_is_in() {
        let clusters = Clusters::new(Dim3::new(4, 1, 1), Some(Dim3::new(4, 1, 1)), 5000);
        assert_eq!((clusters.base(3), clusters.bytes()), (3 * 8192, 3 * 8192 + 5000));
        let offset = u64::from(clusters.base(2)) + 4999;
        assert_eq!((clusters.rank_at(offset), clusters.in_block(offset)), (2, 4999));
    }
}
