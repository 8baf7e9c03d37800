//! Defects that the checks of one worker found: each defect once, with the first occurrence and the number of occurrences.

use std::collections::HashMap;

use crate::exec::phases::Wait;
use alu::registers::LANES;
use ptx::finding::wgmma::{DescriptorDefect, RegisterUse};
use ptx::finding::{Access, AccessOp, MissingOrder};

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
    Race { access: Access, other: Site, other_op: AccessOp, same_warp: bool, volatile: bool, missing: Option<MissingOrder> },
    /// The access is outside the array that its address was made from.
    OutsideArray { access: Access, array: u32 },
    /// The access writes constant memory.
    WritesConstant { access: Access },
    /// The access reads uninitialized memory.
    Uninitialized { access: Access },
    /// The access touches bytes that an unfinished copy, started at `copy`, will write.
    UnfinishedCopy { access: Access, copy: Site },
    /// The access is to the shared memory of a block that has ended, or may have.
    EndedBlock { access: Access, owner: u64 },
    /// Other warps of the warpgroup do not execute the instruction.
    PartialWarpgroup,
    /// The async proxy reads bytes that `writer` wrote without a proxy fence, or with one that came after others had waited.
    MissingProxyFence { access: Access, writer: Site, writer_op: AccessOp, late: bool },
    /// The access writes bytes that an unfinished store, started at `store`, will read.
    OverwritesStore { access: Access, store: Site },
    /// The block ends before the store is waited for.
    UnwaitedStore { committed: bool },
    /// The access races with one at `other`, and its thread's last wait named a phase whose end the thread had already seen.
    StaleWait { access: Access, wait: Wait, other: Site },
    /// An asynchronous copy of `bytes` bytes is to read more of them.
    CopySize { asked: u32, bytes: u32 },
    /// The lane reads the register of a lane of its warp that has ended, or that is no member of the exchange.
    AbsentLane { source: u32 },
    /// The mask does not name the lane itself, or it names an absent one, which went on with the others without executing the instruction.
    LaneMask { mask: u32, absent: Option<u32> },
    /// The access waits for a change that no block makes before block `first`, which had not started.
    LaterBlock { access: Access, first: u64 },
    /// Threads have ended without reaching a barrier of the block.
    EndedBeforeBarrier { barrier: u32, ended: u32 },
    /// Warps wait for each other at different barrier instructions.
    DifferentBarriers { barrier: u32, other: Site },
    /// `wgmma` is misused.
    Wgmma(WgmmaDefect),
}

/// A misuse of `wgmma`. Products are given by their instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WgmmaDefect {
    /// The instruction uses a register of an unfinished product.
    RegisterInUse { product: u32, usage: RegisterUse },
    /// No fence orders the product after an access to one of its registers.
    Unfenced { access: Option<u32>, moves: bool },
    /// The access writes bytes that an unfinished product reads.
    SharedInUse { access: Access, product: Site },
    /// The product's descriptor is doubtful.
    Descriptor { descriptor: u64, defect: DescriptorDefect },
    /// The warp ended without waiting for the product.
    Abandoned { committed: bool },
    /// Another warp of the warpgroup executed another product, given with the warp, or none.
    Disagreement { other: Option<(u32, u32)> },
}

impl WgmmaDefect {
    /// Returns a number of the kind of misuse, and the other instruction.
    fn key(self, pc: u32) -> (Kind, u32) {
        match self {
            Self::RegisterInUse { product, .. } => (Kind::RegisterInUse, product),
            Self::Unfenced { access, .. } => (Kind::Unfenced, access.unwrap_or(pc)),
            Self::SharedInUse { product, .. } => (Kind::SharedInUse, product.pc),
            Self::Descriptor { .. } => (Kind::Descriptor, pc),
            Self::Abandoned { .. } => (Kind::Abandoned, pc),
            Self::Disagreement { other } => (Kind::Disagreement, other.map_or(pc, |(pc, _)| pc)),
        }
    }
}

/// A defect at a place in the program.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub site: Site,
    pub defect: Defect,
    pub times: u64,
}

impl Entry {
    /// Its identity.
    fn key(&self) -> Key {
        let Self { site, defect, .. } = *self;
        let (kind, other) = match defect {
            Defect::Race { other, missing: Some(MissingOrder::FormalAcquire | MissingOrder::FormalRelease), .. } => {
                (Kind::FormalRace, other.pc)
            }
            Defect::Race { other, .. } if other.block != site.block => (Kind::RaceOfBlocks, other.pc),
            Defect::Race { same_warp: false, other, .. } => (Kind::Race, other.pc),
            Defect::Race { same_warp: true, other, .. } => (Kind::RaceInWarp, other.pc),
            Defect::OutsideArray { .. } => (Kind::OutsideArray, site.pc),
            Defect::WritesConstant { .. } => (Kind::WritesConstant, site.pc),
            Defect::Uninitialized { .. } => (Kind::Uninitialized, site.pc),
            Defect::UnfinishedCopy { copy, .. } => (Kind::UnfinishedCopy, copy.pc),
            Defect::EndedBlock { .. } => (Kind::EndedBlock, site.pc),
            Defect::PartialWarpgroup => (Kind::PartialWarpgroup, site.pc),
            Defect::MissingProxyFence { writer, .. } => (Kind::MissingProxyFence, writer.pc),
            Defect::OverwritesStore { store, .. } => (Kind::OverwritesStore, store.pc),
            Defect::UnwaitedStore { .. } => (Kind::UnwaitedStore, site.pc),
            Defect::StaleWait { other, .. } => (Kind::StaleWait, other.pc),
            Defect::CopySize { .. } => (Kind::CopySize, site.pc),
            Defect::AbsentLane { .. } => (Kind::AbsentLane, site.pc),
            Defect::LaneMask { .. } => (Kind::LaneMask, site.pc),
            Defect::LaterBlock { .. } => (Kind::LaterBlock, site.pc),
            Defect::EndedBeforeBarrier { .. } => (Kind::EndedBeforeBarrier, site.pc),
            Defect::DifferentBarriers { other, .. } => (Kind::DifferentBarriers, other.pc),
            Defect::Wgmma(defect) => defect.key(site.pc),
        };
        (site.pc.min(other), site.pc.max(other), kind)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Race,
    RaceOfBlocks,
    FormalRace,
    RaceInWarp,
    OutsideArray,
    WritesConstant,
    Uninitialized,
    UnfinishedCopy,
    EndedBlock,
    PartialWarpgroup,
    MissingProxyFence,
    OverwritesStore,
    UnwaitedStore,
    StaleWait,
    CopySize,
    AbsentLane,
    LaneMask,
    LaterBlock,
    EndedBeforeBarrier,
    DifferentBarriers,
    RegisterInUse,
    Unfenced,
    SharedInUse,
    Descriptor,
    Abandoned,
    Disagreement,
}

/// The identity of a defect: its kind and its instructions, in either order.
type Key = (u32, u32, Kind);

/// Everything found.
#[derive(Debug, Default)]
pub struct Found {
    entries: HashMap<Key, Entry>,
    followed: Option<Followed>,
}

/// The defects found in the recorded warp.
#[derive(Debug)]
struct Followed {
    block: u64,
    /// Its number in the block.
    warp: u32,
    /// The number of the instruction that it executes.
    instruction: u64,
    /// The first defect of each kind and place, with the number of the instruction.
    found: Vec<(u64, Entry)>,
}

impl Found {
    /// Adds a defect. The first one of the lowest block is kept.
    pub fn add(&mut self, site: Site, defect: Defect) {
        let entry = Entry { site, defect, times: 1 };
        self.insert(entry);
        if let Some(followed) = &mut self.followed
            && (site.block, site.thread / LANES as u32) == (followed.block, followed.warp)
            && !followed.found.iter().any(|(_, known)| known.key() == entry.key())
        {
            followed.found.push((followed.instruction, entry));
        }
    }

    /// Assigns this warp's later defects to the instruction with this number.
    pub fn follow(&mut self, (block, warp): (u64, u32), instruction: u64) {
        match &mut self.followed {
            Some(followed) => followed.instruction = instruction,
            None => self.followed = Some(Followed { block, warp, instruction, found: Vec::new() }),
        }
    }

    /// Takes the recorded warp's defects, each with its instruction's number.
    pub fn take_followed(&mut self) -> Vec<(u64, Entry)> {
        self.followed.take().map(|followed| followed.found).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn insert(&mut self, found: Entry) {
        let Entry { site, defect, times } = found;
        let entry = self.entries.entry(found.key()).or_insert(Entry { times: 0, ..found });
        entry.times += times;
        if site.block < entry.site.block {
            (entry.site, entry.defect) = (site, defect);
        }
    }

    pub fn append(&mut self, other: Found) {
        other.entries.into_values().for_each(|entry| self.insert(entry));
        self.followed = self.followed.take().or(other.followed);
    }

    /// All defects in program order. Of two kinds of race between the same two instructions, only the worse one is kept.
    pub fn into_entries(self) -> Vec<Entry> {
        let worse = |kind: Kind| match kind {
            Kind::RaceInWarp => Some(Kind::Race),
            Kind::FormalRace => Some(Kind::RaceOfBlocks),
            _ => None,
        };
        let is_said =
            |(first, second, kind): &Key| worse(*kind).is_some_and(|worse| self.entries.contains_key(&(*first, *second, worse)));
        let mut entries: Vec<_> = self.entries.iter().filter(|(key, _)| !is_said(key)).collect();
        entries.sort_by_key(|(key, _)| **key);
        entries.into_iter().map(|(_, entry)| *entry).collect()
    }
}
