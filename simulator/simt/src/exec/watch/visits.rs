//! The accesses of a cluster's blocks to each other's shared memory.
//!
//! A block's shared memory is there as long as the block runs (CUDA C++ Programming Guide, "Distributed Shared Memory": a block that others
//! access must not have ended, which a barrier of the cluster before the end makes sure of). The last access of each warp is enough: if it
//! happened before the end, so did the earlier ones.

use super::mark::Mark;
use ptx::finding::Access;

/// Each warp's last access to each other block's shared memory.
#[derive(Debug, Default)]
pub struct ClusterVisits {
    /// By the owner's rank, and then by warp.
    last: Vec<Option<(Mark, Access)>>,
    /// The blocks that have ended, by rank.
    ended: Vec<bool>,
    warps: usize,
}

impl ClusterVisits {
    /// Starts a cluster of this many blocks, with this many warps altogether.
    pub fn start(&mut self, blocks: usize, warps: usize) {
        if blocks > 1 {
            self.last = vec![None; blocks * warps];
            self.ended = vec![false; blocks];
            self.warps = warps;
        }
    }

    /// Notes an access to the shared memory of a block. The block has this rank. Returns true if it has ended.
    pub fn note(&mut self, rank: u32, mark: Mark, access: Access) -> bool {
        self.last[rank as usize * self.warps + mark.warp() as usize] = Some((mark, access));
        self.ended[rank as usize]
    }

    /// Ends a block. Returns the accesses to its memory that may come after its end, as far as their order is known.
    pub fn end(&mut self, rank: u32, is_before: impl Fn(Mark) -> bool) -> Vec<(Mark, Access)> {
        let Some(ended) = self.ended.get_mut(rank as usize) else { return Vec::new() };
        *ended = true;
        let of_block = &self.last[rank as usize * self.warps..][..self.warps];
        of_block.iter().flatten().filter(|(mark, _)| !is_before(*mark)).copied().collect()
    }
}
