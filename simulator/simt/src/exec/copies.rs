//! The unfinished asynchronous copies into a block's shared memory.

use std::ops::Range;

use super::bulk::GlobalBytes;
use super::machine::Machine;
use super::request::lanes_of;
use super::watch::mark::{Mark, Strength};
use alu::registers::LANES;

/// The unfinished copies of a block.
#[derive(Debug, Default)]
pub struct Copies {
    pub by_warp: Vec<Pending>,
    /// Bulk copies, which barriers in shared memory wait for, in the order in which they started.
    pub bulk: Vec<Bulk>,
    /// A bit for each word of shared memory that an unfinished copy writes.
    words: Vec<u64>,
    /// A bit for each 16 bytes of shared memory that an unfinished store reads.
    read: Vec<u64>,
    /// Copies that arrive at a barrier when they are finished.
    pub bound: usize,
    /// Unfinished copies of all warps, and stores.
    pub count: usize,
}

/// The unfinished copies of a warp, in the order they started.
#[derive(Debug, Default)]
pub struct Pending {
    pub copies: Vec<Copy>,
    /// No unfinished copy reads global memory outside of this range.
    pub sources: Range<u64>,
    /// Groups that each lane has committed.
    pub groups: [u32; LANES],
}

/// One lane's copy.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    pub lane: u32,
    /// Number of its group, which may not be committed yet.
    pub group: u32,
    pub unit: Unit,
    /// The address in global memory that it reads from, and how many bytes.
    pub from: u64,
    pub read: u32,
    /// The time of the warp when it began.
    pub clock: u32,
    /// The instruction.
    pub pc: u32,
    /// The barrier at which it arrives, and the number of its phase.
    pub bound: Option<(u32, i64)>,
}

impl Copy {
    /// Returns the bytes of global memory that it reads.
    pub fn source(&self) -> Range<u64> {
        self.from..self.from + u64::from(self.read)
    }
}

/// Returns a range that holds both.
fn joined(one: Range<u64>, other: Range<u64>) -> Range<u64> {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => other,
        (_, true) => one,
        _ => one.start.min(other.start)..one.end.max(other.end),
    }
}

impl Pending {
    /// Adds a copy.
    pub fn push(&mut self, copy: Copy) {
        self.sources = joined(self.sources.clone(), copy.source());
        self.copies.push(copy);
    }

    /// Takes out the copies that are finished.
    pub fn take(&mut self, is_finished: impl Fn(&Copy) -> bool) -> Vec<Copy> {
        let finished = self.copies.extract_if(.., |copy| is_finished(copy)).collect();
        self.sources = self.copies.iter().map(Copy::source).fold(0..0, joined);
        finished
    }
}

impl Copies {
    pub fn new(machine: &Machine<'_>) -> Self {
        if machine.program.copies.is_empty() && machine.program.bulk_copies.is_empty() && machine.program.cluster_copies.is_empty()
        {
            return Self::default();
        }
        let warps = machine.warps() * machine.clusters.blocks;
        let by_warp = (0..warps).map(|_| Pending::default()).collect();
        let words = vec![0; machine.clusters.bytes().div_ceil(256) as usize];
        let read = vec![0; machine.clusters.bytes().div_ceil(1024) as usize];
        Self { by_warp, words, read, ..Self::default() }
    }

    /// Forgets the copies of the previous block. It may have ended without waiting for them.
    pub fn clear(&mut self) {
        for pending in &mut self.by_warp {
            pending.copies.clear();
            pending.sources = 0..0;
            pending.groups = [0; LANES];
        }
        self.bulk.clear();
        self.bound = 0;
        self.words.fill(0);
        self.read.fill(0);
        self.count = 0;
    }

    /// Commits a group of the lanes in `mask`.
    pub fn commit(&mut self, warp: u32, mask: u32) {
        if let Some(pending) = self.by_warp.get_mut(warp as usize) {
            lanes_of(mask).for_each(|lane| pending.groups[lane] += 1);
        }
    }

    /// Lets a lane's copies arrive at a barrier. Those of another barrier stay there.
    pub fn bind(&mut self, warp: u32, lane: u32, barrier: (u32, i64)) {
        let Some(pending) = self.by_warp.get_mut(warp as usize) else { return };
        for copy in pending.copies.iter_mut().filter(|copy| copy.lane == lane && copy.bound.is_none()) {
            copy.bound = Some(barrier);
            self.bound += 1;
        }
    }

    /// Takes out the copies that arrived before a phase. The caller finishes them.
    pub fn take_bound(&mut self, barrier: u32, phase: i64) -> Vec<Copy> {
        let is_over = |copy: &Copy| copy.bound.is_some_and(|(other, before)| other == barrier && before < phase);
        let taken: Vec<Copy> = self.by_warp.iter_mut().flat_map(|pending| pending.take(is_over)).collect();
        self.bound -= taken.len();
        taken
    }

    /// Returns true if an unfinished copy writes any of these bytes.
    pub fn touch(&self, offset: u64, bytes: u64) -> bool {
        let words = offset as usize / 4..(offset + bytes).div_ceil(4) as usize;
        words.into_iter().any(|word| self.words[word / 64] >> (word % 64) & 1 != 0)
    }

    /// Finds the unfinished copy that writes any of these bytes. Returns its instruction, warp and lane.
    pub fn writer(&self, offset: u32, bytes: u32) -> Option<(u32, u32, u32)> {
        let of_lane = self.by_warp.iter().zip(0..).find_map(|(pending, warp)| {
            let copy = pending.copies.iter().find(|copy| copy.unit.has(offset, bytes))?;
            Some((copy.pc, warp, copy.lane))
        });
        let bulk = || self.bulk.iter().find(|copy| copy.units.iter().any(|unit| unit.has(offset, bytes)));
        of_lane.or_else(|| bulk().map(|copy| (copy.pc, copy.warp, copy.lane)))
    }

    /// Finds a lane's unfinished copy that reads any of these bytes.
    ///
    /// They are in global memory, and the copy began before. Returns its instruction, warp and lane.
    pub fn reader(&self, bytes: &Range<u64>, is_behind: impl Fn(Mark) -> bool) -> Option<(u32, u32, u32)> {
        let meets = |source: &Range<u64>| source.start < bytes.end && bytes.start < source.end;
        let began = |warp, copy: &Copy| is_behind(Mark::new(copy.pc, warp, copy.lane, copy.clock, Strength::Plain));
        self.by_warp.iter().zip(0..).filter(|(pending, _)| meets(&pending.sources)).find_map(|(pending, warp)| {
            let copy = pending.copies.iter().find(|copy| meets(&copy.source()) && began(warp, copy))?;
            Some((copy.pc, warp, copy.lane))
        })
    }

    /// Returns the bytes of the unfinished bulk copies that a barrier counts.
    pub fn bytes_for(&self, barrier: u32) -> u64 {
        self.bulk.iter().filter(|copy| copy.barrier == barrier).map(|copy| u64::from(copy.bytes())).sum()
    }

    /// Notes that a store begins to read these pieces of 16 bytes.
    pub fn begin_reading(&mut self, units: impl Iterator<Item = u32>) {
        self.count += 1;
        units.for_each(|unit| self.read[unit as usize / 1024] |= 1 << (unit / 16 % 64));
    }

    /// Notes that a store has read these pieces of 16 bytes.
    pub fn end_reading(&mut self, units: impl Iterator<Item = u32>) {
        self.count -= 1;
        units.for_each(|unit| self.read[unit as usize / 1024] &= !(1 << (unit / 16 % 64)));
    }

    /// Returns true if an unfinished store reads any of these bytes.
    pub fn are_read(&self, offset: u32, bytes: u32) -> bool {
        let units = offset / 16..(offset + bytes).div_ceil(16);
        units.into_iter().any(|unit| self.read[unit as usize / 64] >> (unit % 64) & 1 != 0)
    }

    /// Notes a test of a barrier. Returns true if it is the first since one of the unfinished copies began.
    pub fn is_first_test(&mut self, barrier: u32) -> bool {
        let mut is_first = false;
        for copy in self.bulk.iter_mut().filter(|copy| copy.barrier == barrier) {
            is_first |= !std::mem::replace(&mut copy.is_tested, true);
        }
        is_first
    }

    /// Takes out the unfinished copies whose bytes a barrier counts; the caller finishes them.
    pub fn take_bulk(&mut self, barrier: u32) -> Vec<Bulk> {
        self.bulk.extract_if(.., |copy| copy.barrier == barrier).collect()
    }

    /// Notes that an unfinished copy writes these words.
    pub fn mark(&mut self, unit: &Unit) {
        unit.words().for_each(|word| self.words[word / 64] |= 1 << (word % 64));
    }

    pub fn unmark(&mut self, unit: &Unit) {
        unit.words().for_each(|word| self.words[word / 64] &= !(1 << (word % 64)));
    }
}

/// A copy that one thread started for the block.
#[derive(Debug)]
pub struct Bulk {
    /// Address of the barrier that counts its bytes.
    pub barrier: u32,
    pub warp: u32,
    pub lane: u32,
    /// The instruction.
    pub pc: u32,
    /// A thread has tested the barrier in vain.
    pub is_tested: bool,
    pub units: Vec<Unit>,
    /// The bytes of global memory that it reads.
    pub source: GlobalBytes,
}

/// Neighboring bytes that a copy writes: 16, or fewer of `cp.async` and `st.async`.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Offset in shared memory.
    pub place: u32,
    pub bytes: u32,
    data: [u32; 4],
}

impl Unit {
    /// Makes a unit of at most four words at a shared-memory offset.
    pub fn new(place: u32, words: &[u32]) -> Self {
        let mut data = [0; 4];
        data[..words.len()].copy_from_slice(words);
        Self { place, bytes: 4 * words.len() as u32, data }
    }

    pub fn data(&self) -> &[u32] {
        &self.data[..self.bytes as usize / 4]
    }

    /// Returns true if it has any of these bytes.
    fn has(&self, offset: u32, bytes: u32) -> bool {
        self.place < offset + bytes && offset < self.place + self.bytes
    }

    pub fn words(&self) -> std::ops::Range<usize> {
        let first = self.place as usize / 4;
        first..first + self.bytes as usize / 4
    }
}

impl Bulk {
    pub fn bytes(&self) -> u32 {
        self.units.iter().map(|unit| unit.bytes).sum()
    }
}
