//! Checks the masks of `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` and `bar.warp.sync`.
//!
//! PTX ISA, for each of them: the behavior is undefined if the executing thread is not in the mask, and the thread waits until all
//! non-exited threads of the mask have executed the same instruction with the same mask. So a mask may name lanes that have ended or that
//! the block does not have. Lanes of a warp run in step here, path by path. A lane that a mask names and that is on another path may
//! still come, end before it meets the waiting lanes again, or meet them without having come. Only the last is a defect: a GPU gives an
//! undefined result, or hangs.

use std::mem::Discriminant;

use ptx::program::Exchange;

/// The instruction that lanes meet at; `None` is `bar.warp.sync`.
pub type Meeting = Option<Discriminant<Exchange>>;

/// The lanes of a warp that execute an instruction, of those alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lanes {
    pub active: u32,
    pub live: u32,
}

/// Lanes that executed an instruction whose mask names others, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneWait {
    pub warp: u32,
    pub meeting: Meeting,
    pub mask: u32,
    /// The lanes that came.
    pub came: u32,
    pub pc: u32,
    /// How often; lanes in a loop wait again and again.
    pub times: u64,
}

/// All such lanes of a cluster.
#[derive(Debug, Default)]
pub struct LaneWaits(Vec<LaneWait>);

impl LaneWaits {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lets lanes wait for `others`, or meet those that wait for them. Returns the lanes that have met.
    #[cold]
    pub fn meet(&mut self, mut wait: LaneWait, others: u32) -> u32 {
        let named = wait.came;
        let is_met = |other: &LaneWait| {
            (other.warp, other.meeting, other.mask, other.came & named) == (wait.warp, wait.meeting, wait.mask, 0)
        };
        if let Some(position) = self.0.iter().position(is_met) {
            let first = &mut self.0[position];
            (wait.came, wait.pc) = (named | first.came, first.pc);
            first.times -= 1;
            if first.times == 0 {
                self.0.remove(position);
            }
        }
        if others & !wait.came == 0 {
            return wait.mask;
        }
        match self.0.iter_mut().find(|other| LaneWait { times: 1, ..**other } == wait) {
            Some(known) => known.times += 1,
            None => self.0.push(wait),
        }
        named
    }

    /// Takes the waits that lanes leave open when they end. Each has the lanes that did not come. Lanes that waited and lanes that they waited for
    /// are in one path then, so they have met without it.
    #[cold]
    pub fn end(&mut self, warp: u32, path: u32, ending: u32, live: u32) -> Vec<(LaneWait, u32)> {
        let absent = |wait: &LaneWait| path & live & wait.mask & !wait.came;
        let is_missed = |wait: &mut LaneWait| {
            let (came, absent) = (path & wait.came, absent(wait));
            wait.warp == warp && came != 0 && absent != 0 && ending & (came | absent) != 0
        };
        self.0.extract_if(.., is_missed).map(|wait| (wait, absent(&wait))).collect()
    }
}
