//! Memos of loads and stores: where the last address was found, and the cost of the last pattern of addresses.

use super::request::{Request, wide};
use crate::memory::rules::Cost;
use alu::registers::{LANES, spread};

/// The memo of a load or store, from its last execution.
#[derive(Debug, Default)]
pub struct Slot {
    /// Index of the allocation that held the last address.
    pub hint: u32,
    pub memo: Memo,
}

/// Number of phases whose costs are remembered. A loop that steps through a sector word by word has eight.
const PHASES: usize = 8;

/// The last pattern of addresses that was not simple, and its costs. The cost stays the same when all addresses move by a multiple
/// of the memory's unit. The first address modulo that unit is the phase.
#[derive(Debug, Default)]
pub struct Memo {
    /// Active lanes; none before the first use.
    mask: u32,
    /// The memory's unit, which distinguishes global from shared memory behind a generic address.
    unit: u64,
    relative: [u64; LANES],
    /// Phases with their costs. If two phases map to the same slot, the later one replaces the earlier one.
    costs: [Option<(u64, Cost)>; PHASES],
    /// Wavefronts in the L1 cache, which are the same in every phase.
    wavefronts: u32,
}

impl Memo {
    #[inline(always)]
    pub fn cost(
        &mut self,
        request: &Request<'_>,
        unit: u64,
        wavefronts: impl FnOnce() -> u32,
        count: impl FnOnce() -> Cost,
    ) -> (Cost, u32) {
        let Request { mask, addresses, .. } = *request;
        let first = addresses[request.first_lane()];
        let phase = first % unit;
        let keep = spread(mask);
        let mut relative = [0; LANES];
        let mut differs = 0;
        for lane in 0..LANES {
            relative[lane] = addresses[lane].wrapping_sub(first) & wide(keep[lane]);
            differs |= relative[lane] ^ self.relative[lane];
        }
        if differs != 0 || mask != self.mask || unit != self.unit {
            *self = Memo { mask, unit, relative, costs: [None; PHASES], wavefronts: wavefronts() };
        }
        let place = &mut self.costs[(phase * PHASES as u64 / unit) as usize];
        let cost = match *place {
            Some((known, cost)) if known == phase => cost,
            _ => place.insert((phase, count())).1,
        };
        (cost, self.wavefronts)
    }
}
