//! Checks the masks of `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` and `bar.warp.sync`.
//!
//! PTX ISA, for each of them: the behavior is undefined if the executing thread is not in the mask, and the thread waits until all
//! non-exited threads of the mask have executed the same instruction with the same mask. So a mask may name lanes that have ended or that
//! the block does not have. Lanes of a warp run in step here, path by path. A lane that a mask names and that is on another path may
//! still come, end before it meets the waiting lanes again, or meet them without having come. Only the last is a defect: a GPU gives an
//! undefined result, or hangs.

use std::mem::Discriminant;

use super::found::Defect;
use super::watcher::Watch;
use crate::exec::exchange::groups;
use crate::exec::request::{lanes_of, lanes_where};
use alu::registers::LANES;
use ptx::program::Exchange;

/// The instruction that lanes meet at; `None` is `bar.warp.sync`.
pub type Meeting = Option<Discriminant<Exchange>>;

/// Lanes that executed an instruction whose mask names others, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LaneWait {
    warp: u32,
    meeting: Meeting,
    mask: u32,
    came: u32,
    pc: u32,
    times: u64,
}

/// The lanes of a warp that execute an instruction, and those that have not ended.
#[derive(Clone, Copy, Debug)]
pub struct Lanes {
    pub active: u32,
    pub live: u32,
}

impl Watch {
    /// Lets lanes meet at an instruction. `masks` has what each lane names.
    pub fn meet_lanes(&mut self, meeting: Meeting, masks: &[u32; LANES], lanes: Lanes, pc: u32, warp: u32) {
        let strangers = lanes_where(lanes.active, |lane| masks[lane] >> lane & 1 == 0);
        if strangers != 0 {
            let lane = strangers.trailing_zeros() as usize;
            self.report(Defect::LaneMask { mask: masks[lane], absent: None }, pc, warp, lane);
        }
        for (mask, named) in groups(masks, lanes.active & !strangers) {
            let others = mask & lanes.live & !named & !strangers;
            let met = if others == 0 {
                mask
            } else {
                self.wait_for_lanes(LaneWait { warp, meeting, mask, came: named, pc, times: 1 }, others)
            };
            if meeting.is_none() {
                self.order.synchronize_lanes(warp, met, lanes.live);
            }
        }
    }

    /// Notes that lanes wait for `others`, which they may have been waited for by. Returns the lanes that have met.
    #[cold]
    fn wait_for_lanes(&mut self, mut wait: LaneWait, others: u32) -> u32 {
        let (warp, meeting, mask, named) = (wait.warp, wait.meeting, wait.mask, wait.came);
        let waits = &mut self.lane_waits;
        let is_met = |other: &LaneWait| (other.warp, other.meeting, other.mask, other.came & named) == (warp, meeting, mask, 0);
        if let Some(position) = waits.iter().position(is_met) {
            wait.came |= waits[position].came;
            wait.pc = waits[position].pc;
            waits[position].times -= 1;
            if waits[position].times == 0 {
                waits.remove(position);
            }
        }
        if others & !wait.came == 0 {
            return mask;
        }
        // Lanes in a loop wait again and again.
        match waits.iter_mut().find(|other| LaneWait { times: 1, ..**other } == wait) {
            Some(known) => known.times += 1,
            None => waits.push(wait),
        }
        named
    }

    /// Notes that some lanes of a path end, and finds what they left open.
    #[inline(always)]
    pub fn end_lanes(&mut self, warp: u32, path: u32, ending: u32, live: u32) {
        if !self.lane_waits.is_empty() {
            self.end_waits(warp, path, ending, live);
        }
    }

    /// Lanes of one path have met, and go on in step: of these, none waits for another any more.
    #[cold]
    fn end_waits(&mut self, warp: u32, path: u32, ending: u32, live: u32) {
        let mut waits = std::mem::take(&mut self.lane_waits);
        waits.retain(|wait| {
            let others = path & live & wait.mask & !wait.came;
            let both = (path & wait.came != 0 && others != 0) && ending & (wait.came | others) != 0;
            if wait.warp == warp && both {
                let defect = Defect::LaneMask { mask: wait.mask, absent: Some(others.trailing_zeros()) };
                let lane = lanes_of(path & wait.came).next().unwrap_or(0);
                self.report(defect, wait.pc, warp, lane);
                return false;
            }
            true
        });
        self.lane_waits = waits;
    }
}
