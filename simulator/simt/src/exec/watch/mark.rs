//! The last access to a place, in one word. The checks keep several of these for every place in shared memory.

use alu::registers::LANES;
use ptx::finding::AccessOp;
use ptx::program::Semantics;

/// The strength of an access, which decides whether two accesses can race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It races with any access that is not ordered with it.
    Plain,
    /// It races with plain accesses. A load and a store that are both volatile are no data race by the letter of the memory model,
    /// but nothing orders them, so the value that is loaded is chance.
    Volatile,
    /// It races with plain accesses only (relaxed, acquire, release, and a volatile load that polls).
    Strong,
    /// A read and a write in one step; it races with plain accesses only.
    Atomic,
}

impl Strength {
    /// Returns the strength of an access with these semantics.
    pub fn of(op: AccessOp, semantics: Semantics) -> Self {
        match op {
            AccessOp::Atomic => Self::Atomic,
            _ if semantics.volatile => Self::Volatile,
            _ if semantics.strong || semantics.seeds_swap => Self::Strong,
            _ => Self::Plain,
        }
    }
}

/// An access by a thread of the current cluster. All zeros is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark(u64);

/// Bits for the index of the instruction. In longer programs the last index stands for all later instructions.
const PC_BITS: u32 = 20;
/// Bits for the warp: 16 blocks of 32 warps, the largest cluster.
const WARP_BITS: u32 = 9;
const CLOCK_BITS: u32 = 28;
const STRENGTH: u32 = CLOCK_BITS;
const LANE: u32 = STRENGTH + 2;
const WARP: u32 = LANE + 5;
const PC: u32 = WARP + WARP_BITS;

impl Mark {
    /// Makes a mark. `clock` is the warp's time, from 1.
    #[inline(always)]
    pub fn new(pc: u32, warp: u32, lane: u32, clock: u32, strength: Strength) -> Self {
        let pc = u64::from(pc.min((1 << PC_BITS) - 1));
        let clock = u64::from(clock.min((1 << CLOCK_BITS) - 1));
        Self(pc << PC | u64::from(warp) << WARP | u64::from(lane) << LANE | (strength as u64) << STRENGTH | clock)
    }

    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline(always)]
    fn field(self, at: u32, bits: u32) -> u32 {
        (self.0 >> at) as u32 & ((1 << bits) - 1)
    }

    pub fn pc(self) -> u32 {
        self.field(PC, PC_BITS)
    }

    #[inline(always)]
    pub fn warp(self) -> u32 {
        self.field(WARP, WARP_BITS)
    }

    #[inline(always)]
    pub fn lane(self) -> u32 {
        self.field(LANE, 5)
    }

    /// Returns the thread's number in the cluster.
    #[inline(always)]
    pub fn thread(self) -> u32 {
        self.warp() * LANES as u32 + self.lane()
    }

    #[inline(always)]
    pub fn clock(self) -> u32 {
        self.field(0, CLOCK_BITS)
    }

    /// Returns true if two accesses are alike. They are of one warp and one strength, with no synchronization between them.
    #[inline(always)]
    pub fn is_alike(self, other: Mark) -> bool {
        const OTHER_FIELDS: u64 = ((1 << PC_BITS) - 1) << PC | 31 << LANE;
        (self.0 ^ other.0) & !OTHER_FIELDS == 0
    }

    #[inline(always)]
    pub fn strength(self) -> Strength {
        match self.field(STRENGTH, 2) {
            0 => Strength::Plain,
            1 => Strength::Volatile,
            2 => Strength::Strong,
            _ => Strength::Atomic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_gives_back_what_was_put_in() {
        let mark = Mark::new(0xabcde, 511, 30, 0x0fff_fffe, Strength::Atomic);
        assert_eq!((mark.pc(), mark.warp(), mark.lane(), mark.clock()), (0xabcde, 511, 30, 0x0fff_fffe));
        assert_eq!((mark.strength(), mark.thread()), (Strength::Atomic, 511 * 32 + 30));
        assert!(mark.is_alike(Mark::new(1, 511, 2, 0x0fff_fffe, Strength::Atomic)));
        for other in [Mark::new(1, 510, 30, 0x0fff_fffe, Strength::Atomic), Mark::new(1, 511, 30, 7, Strength::Atomic)] {
            assert!(!mark.is_alike(other));
        }
        let least = Mark::new(0, 0, 0, 1, Strength::Plain);
        assert!(!least.is_none() && Mark::default().is_none());
    }
}
