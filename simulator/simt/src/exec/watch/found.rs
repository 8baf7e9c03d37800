//! What the checks of one worker found: each defect once, with the first place that showed it and how often it did.

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

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Nothing orders it with another access of the same place, and one of them writes.
    Race { access: Access, other: Site, other_op: AccessOp, same_warp: bool },
    /// It reads what nobody wrote.
    Uninitialised { access: Access },
    /// It touches what the copy begun there, by the thread named, is still to write.
    UnfinishedCopy { access: Access, copy: Site },
    /// The block has a barrier that threads have ended without reaching.
    EndedBeforeBarrier { barrier: u32, ended: u32 },
    /// Warps wait for each other at different instructions.
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
    RaceInWarp,
    Uninitialised,
    UnfinishedCopy,
    EndedBeforeBarrier,
    DifferentBarriers,
}

/// What makes two defects the same: the instructions, in whatever order they ran, and the kind.
type Key = (u32, u32, Kind);

/// Everything found.
#[derive(Debug, Default)]
pub struct Found {
    entries: HashMap<Key, Entry>,
}

impl Found {
    /// Notes a defect. The one of the lowest block is kept, and there the first.
    pub fn add(&mut self, site: Site, defect: Defect) {
        self.insert(Entry { site, defect, times: 1 });
    }

    fn insert(&mut self, found: Entry) {
        let Entry { site, defect, times } = found;
        let (kind, other) = match defect {
            Defect::Race { same_warp: false, other, .. } => (Kind::Race, other.pc),
            Defect::Race { same_warp: true, other, .. } => (Kind::RaceInWarp, other.pc),
            Defect::Uninitialised { .. } => (Kind::Uninitialised, site.pc),
            Defect::UnfinishedCopy { copy, .. } => (Kind::UnfinishedCopy, copy.pc),
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

    /// All, in the order of the program. Where two instructions race between warps, that they do so inside a warp says no more.
    pub fn into_entries(self) -> Vec<Entry> {
        let is_said =
            |(first, second, kind): &Key| *kind == Kind::RaceInWarp && self.entries.contains_key(&(*first, *second, Kind::Race));
        let mut entries: Vec<_> = self.entries.iter().filter(|(key, _)| !is_said(key)).collect();
        entries.sort_by_key(|(key, _)| **key);
        entries.into_iter().map(|(_, entry)| *entry).collect()
    }
}
