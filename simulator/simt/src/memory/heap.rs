//! The heap of kernels: the blocks that `malloc` in a kernel returns and `free` takes back.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::{Buffer, Memory, Region};
use ptx::finding::Nearest;

/// Alignment of every block.
const ALIGNMENT: u64 = 16;

/// Bytes that each block takes besides its own, for the allocator. They also tell a block from its neighbor.
const OVERHEAD: u64 = 16;

/// The number of freed blocks to remember. A use after free can then name its block.
const REMEMBERED: usize = 256;

/// A heap of a fixed size. Blocks stay until they are freed, from one launch to the next.
#[derive(Debug)]
pub struct Heap {
    bytes: u64,
    made: OnceLock<Made>,
}

/// The memory of a heap. It is made when a kernel first needs it.
#[derive(Debug)]
struct Made {
    region: Region,
    blocks: Mutex<Blocks>,
}

/// The blocks, as offsets with the bytes that were asked for.
#[derive(Debug, Default)]
struct Blocks {
    live: BTreeMap<u64, u64>,
    freed: VecDeque<(u64, u64)>,
    /// Where to look for room first, so that freed bytes are used again as late as possible.
    next: u64,
}

impl Default for Heap {
    /// Makes a heap of the size that CUDA's have.
    fn default() -> Self {
        Self::new(8 << 20)
    }
}

impl Heap {
    /// Makes a heap of a number of bytes.
    pub fn new(bytes: u64) -> Self {
        Self { bytes, made: OnceLock::new() }
    }

    /// Returns true if a kernel has used it. Its size is then fixed.
    pub fn is_used(&self) -> bool {
        self.made.get().is_some()
    }

    /// Makes the heap, at addresses of that memory which nothing else gets. Without memory on the host for it, it stays empty.
    pub(crate) fn make(&self, memory: &Memory) {
        self.made.get_or_init(|| {
            let buffer = Buffer::zeroed(self.bytes, false).unwrap_or_else(|| Buffer::tombstone(0));
            let base = memory.address_for(&buffer);
            Made { region: Region::new(base, None, buffer), blocks: Mutex::default() }
        });
    }

    /// Allocates a block and returns its address. Returns 0 if there is no room.
    pub(crate) fn allocate(&self, bytes: u64) -> u64 {
        let Some(made) = self.made.get() else { return 0 };
        let Some(size) = bytes.checked_next_multiple_of(ALIGNMENT).and_then(|size| size.checked_add(OVERHEAD)) else { return 0 };
        let mut blocks = made.blocks();
        match blocks.room(size, made.region.buffer.bytes()) {
            Some(offset) if bytes > 0 => {
                blocks.live.insert(offset, bytes);
                blocks.next = offset + size;
                // Whatever an earlier block left there may be anything on a GPU.
                made.region.buffer.forget_written(offset, bytes);
                made.region.base + offset
            }
            _ => 0,
        }
    }

    /// Frees the block at an address. Returns whether there is one.
    pub(crate) fn free(&self, address: u64) -> bool {
        let Some(made) = self.made.get() else { return false };
        let mut blocks = made.blocks();
        let offset = address.wrapping_sub(made.region.base);
        let Some(bytes) = blocks.live.remove(&offset) else { return false };
        if blocks.freed.len() == REMEMBERED {
            blocks.freed.pop_front();
        }
        blocks.freed.push_back((offset, bytes));
        true
    }

    /// Returns the heap's memory if the bytes are in one live block.
    pub(crate) fn region(&self, address: u64, bytes: u64) -> Option<&Region> {
        let made = self.made.get()?;
        let offset = made.offset(address)?;
        let (start, length) = made.blocks().live.range(..=offset).next_back().map(|(start, length)| (*start, *length))?;
        (bytes <= (start + length).saturating_sub(offset)).then_some(&made.region)
    }

    /// Finds the heap block nearest to an address. If no live block has the address, the latest freed one that had it comes first.
    pub(crate) fn nearest(&self, address: u64) -> Option<Nearest> {
        let made = self.made.get()?;
        let offset = made.offset(address)?;
        let blocks = made.blocks();
        let distance = |(start, bytes): &(u64, u64)| start.saturating_sub(offset).max(offset.saturating_sub(start + bytes - 1));
        let freed = blocks.freed.iter().rev().copied().find(|block| distance(block) == 0).map(|block| (block, true));
        let live = || blocks.live.iter().map(|(start, bytes)| (*start, *bytes)).min_by_key(distance).map(|block| (block, false));
        let is_live = live().is_some_and(|(block, _)| distance(&block) == 0);
        let ((start, bytes), freed) = if is_live { live()? } else { freed.or_else(live)? };
        let base = made.region.base + start;
        let allocation = format!("a block of {bytes} bytes of the kernels' heap");
        Some(Nearest { allocation, base, bytes, offset: address.wrapping_sub(base) as i64, freed })
    }
}

impl Made {
    fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.checked_sub(self.region.base)?;
        (offset < self.region.buffer.bytes()).then_some(offset)
    }

    // A change is one insertion or one removal, so a panic in between leaves a consistent state.
    fn blocks(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Blocks {
    /// Finds the first gap of that size. It looks from `next` on and then from the start.
    fn room(&self, size: u64, bytes: u64) -> Option<u64> {
        self.gap(self.next, size, bytes).or_else(|| self.gap(0, size, bytes))
    }

    fn gap(&self, from: u64, size: u64, bytes: u64) -> Option<u64> {
        let end = |(start, length): (&u64, &u64)| start + length.next_multiple_of(ALIGNMENT) + OVERHEAD;
        let before = self.live.range(..from).next_back().map_or(0, end);
        let mut start = from.max(before);
        for (next, length) in self.live.range(start..) {
            if next - start >= size {
                return Some(start);
            }
            start = end((next, length));
        }
        (bytes.checked_sub(start)? >= size).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_overlap_and_come_back_late() {
        let heap = Heap::new(4096);
        heap.make(&Memory::new(1 << 20));
        let blocks: Vec<u64> = std::iter::from_fn(|| Some(heap.allocate(100)).filter(|block| *block != 0)).collect();
        assert_eq!(blocks.len(), 4096 / (112 + 16));
        assert!(blocks.windows(2).all(|pair| pair[1] - pair[0] == 128));
        assert!(heap.free(blocks[3]) && !heap.free(blocks[3]) && !heap.free(blocks[4] + 16));
        assert!(heap.nearest(blocks[3] + 5).unwrap().freed && !heap.nearest(blocks[4]).unwrap().freed);
        assert!(heap.region(blocks[4] + 96, 4).is_some() && heap.region(blocks[4] + 100, 1).is_none());
        assert_eq!((heap.allocate(200), heap.allocate(0)), (0, 0));
        assert_eq!(heap.allocate(90), blocks[3]);
    }
}
