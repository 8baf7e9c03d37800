//! Defects that the checks of one worker found: each defect once, with the first occurrence and the number of occurrences.

use std::collections::HashMap;

use crate::finding::{Access, AccessOp};

/// A thread at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    pub block: u64,
    /// The thread's number in its block.
    pub thread: u32,
    pub pc: u32,
}

/// The kind of defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Nothing orders the access with another one of the same bytes, and one of the two writes.
    Race { access: Access, other: Site, other_op: AccessOp, same_warp: bool, volatile: bool },
    /// The access is outside the array that its address was made from.
    OutsideArray { access: Access, array: u32 },
    /// The access reads uninitialized memory.
    Uninitialized { access: Access },
    /// The access touches bytes that an unfinished copy, started at `copy`, will write.
    UnfinishedCopy { access: Access, copy: Site },
    /// The lane reads the register of a lane of its warp that has ended, or that is no member of the exchange.
    AbsentLane { source: u32 },
    /// Threads have ended without reaching a barrier of the block.
    EndedBeforeBarrier { barrier: u32, ended: u32 },
    /// Warps wait for each other at different barrier instructions.
    DifferentBarriers { barrier: u32, other: Site },
}

/// A defect at a place in the program.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub site: Site,
    pub defect: Defect,
    pub times: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Race,
    RaceOfBlocks,
    RaceInWarp,
    OutsideArray,
    Uninitialized,
    UnfinishedCopy,
    AbsentLane,
    EndedBeforeBarrier,
    DifferentBarriers,
}

/// The identity of a defect: its kind and its instructions, in either order.
type Key = (u32, u32, Kind);

/// Everything found.
#[derive(Debug, Default)]
pub struct Found {
    entries: HashMap<Key, Entry>,
}

impl Found {
    /// Adds a defect. The first one of the lowest block is kept.
    pub fn add(&mut self, site: Site, defect: Defect) {
        self.insert(Entry { site, defect, times: 1 });
    }

    fn insert(&mut self, found: Entry) {
        let Entry { site, defect, times } = found;
        let (kind, other) = match defect {
            Defect::Race { other, .. } if other.block != site.block => (Kind::RaceOfBlocks, other.pc),
            Defect::Race { same_warp: false, other, .. } => (Kind::Race, other.pc),
            Defect::Race { same_warp: true, other, .. } => (Kind::RaceInWarp, other.pc),
            Defect::OutsideArray { .. } => (Kind::OutsideArray, site.pc),
            Defect::Uninitialized { .. } => (Kind::Uninitialized, site.pc),
            Defect::UnfinishedCopy { copy, .. } => (Kind::UnfinishedCopy, copy.pc),
            Defect::AbsentLane { .. } => (Kind::AbsentLane, site.pc),
            Defect::EndedBeforeBarrier { .. } => (Kind::EndedBeforeBarrier, site.pc),
            Defect::DifferentBarriers { other, .. } => (Kind::DifferentBarriers, other.pc),
        };
        let key = (site.pc.min(other), site.pc.max(other), kind);
        let entry = self.entries.entry(key).or_insert(Entry { times: 0, ..found });
        entry.times += times;
        if site.block < entry.site.block {
            (entry.site, entry.defect) = (site, defect);
        }
    }

    pub fn append(&mut self, other: Found) {
        other.entries.into_values().for_each(|entry| self.insert(entry));
    }

    /// All defects in program order. Where two instructions race between warps, a race of the same two inside a warp is dropped.
    pub fn into_entries(self) -> Vec<Entry> {
        let is_said =
            |(first, second, kind): &Key| *kind == Kind::RaceInWarp && self.entries.contains_key(&(*first, *second, Kind::Race));
        let mut entries: Vec<_> = self.entries.iter().filter(|(key, _)| !is_said(key)).collect();
        entries.sort_by_key(|(key, _)| **key);
        entries.into_iter().map(|(_, entry)| *entry).collect()
    }
}
