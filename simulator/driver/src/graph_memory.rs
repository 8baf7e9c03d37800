//! Memory that graphs allocate. Its address is fixed when the node is added, and the program may use the memory from the launch that
//! allocates it until something frees it.
//!
//! The bytes are there from the beginning, as long as a node or the program holds on to them, because an address cannot be given away and
//! taken back. A kernel that uses the memory before the graph allocates it is therefore not found.

use std::collections::BTreeMap;

use crate::handles::Handle;
use crate::result::{CuResult, Result, refuse};

/// The memory of all graphs, by address.
#[derive(Debug, Default)]
pub struct GraphMemory {
    blocks: BTreeMap<u64, Block>,
    /// The bytes that graphs use, and that are reserved for them, because no more is reserved here.
    bytes: u64,
    /// The most bytes that they used, and the most that were reserved, since each was last reset.
    high: [u64; 2],
}

#[derive(Debug)]
struct Block {
    bytes: u64,
    /// True if a launch has allocated it and nothing has freed it.
    is_live: bool,
    /// True if it counts as used: from the first launch on, because a driver keeps it for the next one.
    is_used: bool,
    /// True if a node can still allocate it.
    has_node: bool,
    /// The graph whose node allocates it, and the one whose node frees it.
    allocated_in: Handle,
    freed_in: Option<Handle>,
}

/// The state of bytes of a graph. Unused bytes go back to the device.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    Kept,
    Unused,
}

impl GraphMemory {
    pub fn reserve(&mut self, address: u64, bytes: u64, graph: Handle) {
        let block = Block { bytes, is_live: false, is_used: false, has_node: true, allocated_in: graph, freed_in: None };
        self.blocks.insert(address, block);
    }

    /// Records that no node can allocate this memory any more. What a launch allocated and nothing freed stays with the program.
    pub fn forget_node(&mut self, address: u64) -> Bytes {
        match self.blocks.get_mut(&address) {
            Some(block) if block.is_live => {
                block.has_node = false;
                Bytes::Kept
            }
            _ => self.remove(address),
        }
    }

    /// Records that a graph has a node that frees this memory. Only one graph may have one, and only one.
    pub fn plan_free(&mut self, address: u64, graph: Handle) -> Result<()> {
        let block = self.blocks.get_mut(&address).filter(|block| block.freed_in.is_none());
        let block = block.ok_or_else(|| {
            CuResult::INVALID_VALUE.because(format!("{address:#x} is not memory of a graph, or a graph frees it already"))
        })?;
        block.freed_in = Some(graph);
        Ok(())
    }

    /// Forgets which memory a graph frees, when the graph is destroyed.
    pub fn forget_frees(&mut self, graph: Handle) {
        for block in self.blocks.values_mut().filter(|block| block.freed_in == Some(graph)) {
            block.freed_in = None;
        }
    }

    pub fn is_live(&self, address: u64) -> bool {
        self.blocks.get(&address).is_some_and(|block| block.is_live)
    }

    /// Allocates the memory, when the node runs.
    pub fn allocate(&mut self, address: u64) -> Result<()> {
        let block = self.blocks.get_mut(&address).filter(|block| !block.is_live).ok_or(CuResult::INVALID_VALUE)?;
        block.is_live = true;
        let is_first = !std::mem::replace(&mut block.is_used, true);
        if is_first {
            self.bytes += block.bytes;
            self.high = self.high.map(|high| high.max(self.bytes));
        }
        Ok(())
    }

    /// Frees the memory, when a node runs that frees it.
    pub fn free(&mut self, address: u64) -> Result<Bytes> {
        let block = self.blocks.get_mut(&address).filter(|block| block.is_live);
        let block = block.ok_or_else(|| CuResult::INVALID_VALUE.because(format!("{address:#x} is not live memory of a graph")))?;
        block.is_live = false;
        let has_node = block.has_node;
        Ok(if has_node { Bytes::Kept } else { self.remove(address) })
    }

    /// Frees the memory for the program. What the graph that allocates it also frees is the graph's own.
    pub fn free_outside(&mut self, address: u64) -> Result<Bytes> {
        let is_own = self.blocks.get(&address).is_some_and(|block| block.freed_in == Some(block.allocated_in));
        refuse!(INVALID_VALUE if is_own, "{address:#x} is freed by the graph that allocates it");
        self.free(address)
    }

    /// Returns four numbers of bytes: in use now, in use at most, reserved now, and reserved at most.
    pub fn levels(&self) -> [u64; 4] {
        let Self { bytes, high: [used, reserved], .. } = *self;
        [bytes, used, bytes, reserved]
    }

    /// Resets a high-water mark: of what is used (0) or of what is reserved (1).
    pub fn reset_high(&mut self, which: usize) {
        self.high[which] = self.bytes;
    }

    /// Stops counting what is only kept for the next launch.
    pub fn trim(&mut self) {
        let Self { blocks, bytes, .. } = self;
        for block in blocks.values_mut().filter(|block| block.is_used && !block.is_live) {
            block.is_used = false;
            *bytes -= block.bytes;
        }
    }

    fn remove(&mut self, address: u64) -> Bytes {
        match self.blocks.remove(&address) {
            Some(block) => {
                if block.is_used {
                    self.bytes -= block.bytes;
                }
                Bytes::Unused
            }
            None => Bytes::Kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handles::Handles;

    #[test]
    fn memory_lives_from_its_launch_until_something_frees_it() {
        let (mut memory, graph) = (GraphMemory::default(), Handles::default().reserve());
        memory.reserve(512, 100, graph);
        assert!(memory.free_outside(512).is_err(), "no launch has allocated it");
        memory.allocate(512).unwrap();
        assert!(memory.allocate(512).is_err(), "still live");
        assert_eq!(memory.free_outside(512).unwrap(), Bytes::Kept, "for the next launch");
        assert_eq!(memory.levels(), [100; 4], "kept for the next launch");
        memory.trim();
        memory.reset_high(0);
        assert_eq!(memory.levels(), [0, 0, 0, 100]);
        memory.allocate(512).unwrap();
        assert_eq!(memory.free(512).unwrap(), Bytes::Kept);
        assert_eq!(memory.forget_node(512), Bytes::Unused);
        assert_eq!(memory.levels()[0], 0);
    }

    #[test]
    fn what_a_launch_allocated_outlives_its_graph() {
        let (mut memory, graph) = (GraphMemory::default(), Handles::default().reserve());
        memory.reserve(512, 100, graph);
        memory.allocate(512).unwrap();
        assert_eq!(memory.forget_node(512), Bytes::Kept);
        assert!(memory.is_live(512));
        assert_eq!(memory.free_outside(512).unwrap(), Bytes::Unused);
        assert!(memory.free_outside(512).is_err());
    }

    #[test]
    fn one_node_frees_memory() {
        let (mut memory, handles) = (GraphMemory::default(), Handles::default());
        let [own, other] = [handles.reserve(), handles.reserve()];
        memory.reserve(512, 100, own);
        memory.plan_free(512, own).unwrap();
        assert!(memory.plan_free(512, own).is_err() && memory.plan_free(512, other).is_err());
        memory.allocate(512).unwrap();
        assert!(memory.free_outside(512).is_err(), "the graph frees it itself");
        memory.forget_frees(own);
        memory.plan_free(512, other).unwrap();
        assert!(memory.free_outside(512).is_ok());
    }
}
