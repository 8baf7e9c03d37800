//! The unfinished bulk copies out of a block's shared memory.

use super::bulk::{Footprint, GlobalBytes, UNIT};
use super::machine::Machine;
use super::request::lanes_of;
use alu::registers::LANES;
use ptx::program::AtomicOp;

/// The unfinished stores of a block, in the order they started.
#[derive(Debug, Default)]
pub struct Stores {
    pub pending: Vec<Store>,
    /// Groups that each thread has committed.
    groups: Vec<u32>,
}

/// A store that one thread started.
#[derive(Debug)]
pub struct Store {
    pub warp: u32,
    pub lane: u32,
    /// The instruction.
    pub pc: u32,
    /// Index of the access that it counts as.
    pub index: u32,
    /// Number of its group, which may not be committed yet.
    pub group: u32,
    pub footprint: Footprint,
    /// The bytes that it writes.
    pub global: GlobalBytes,
    /// The bytes of its rows, after it has read shared memory.
    pub data: Option<Vec<u8>>,
    pub reduction: Option<(AtomicOp, u32)>,
}

impl Store {
    /// Returns true if it has yet to read any of these bytes.
    pub fn reads(&self, offset: u32, bytes: u32) -> bool {
        self.data.is_none() && self.footprint.units().any(|unit| unit < offset + bytes && offset < unit + UNIT)
    }
}

impl Stores {
    pub fn new(machine: &Machine<'_>) -> Self {
        let threads = machine.warps() as usize * LANES * machine.clusters.blocks as usize;
        let groups = if machine.program.bulk_copies.is_empty() { Vec::new() } else { vec![0; threads] };
        Self { pending: Vec::new(), groups }
    }

    pub fn clear(&mut self) {
        self.pending.clear();
        self.groups.fill(0);
    }

    pub fn groups(&mut self, warp: u32, lane: u32) -> &mut u32 {
        &mut self.groups[warp as usize * LANES + lane as usize]
    }

    /// Commits a group of each lane in `mask`.
    pub fn commit(&mut self, warp: u32, mask: u32) {
        if !self.groups.is_empty() {
            lanes_of(mask).for_each(|lane| *self.groups(warp, lane as u32) += 1);
        }
    }

    /// Returns how many groups the thread of a store has committed.
    pub fn committed(&self, store: &Store) -> u32 {
        self.groups[store.warp as usize * LANES + store.lane as usize]
    }
}
