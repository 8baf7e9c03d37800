//! What a load or store remembers from its last execution: where it found its address, and what its pattern of addresses cost.

use super::request::{Request, wide};
use crate::registers::{LANES, spread};

/// What a load or store remembers from its last execution.
#[derive(Debug)]
pub struct Slot {
    /// Where the last address was found.
    pub hint: u32,
    pub memo: Memo,
}

impl Default for Slot {
    fn default() -> Self {
        Self { hint: 0, memo: Memo { mask: 0, unit: 0, relative: [0; LANES], costs: [None; PHASES], passes: 0 } }
    }
}

/// What a load or store of a warp costs, of either memory.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub requests: u32,
    pub transactions: u32,
    /// Sectors or wavefronts.
    pub units: u32,
    pub ideal: u32,
}

/// Phases of a pattern whose costs are remembered. A loop that steps through a sector word by word has eight.
const PHASES: usize = 8;

/// The last pattern of addresses that was not simple, and its costs. A cost does not change when all addresses move by a multiple
/// of what the memory's units repeat by; the rest of such a move is the phase.
#[derive(Debug)]
pub struct Memo {
    /// Active lanes; none before the first use.
    mask: u32,
    /// Tells the memories apart: a generic address may lead to one or the other.
    unit: u64,
    relative: [u64; LANES],
    /// Phases with their costs. Where two phases have one place, the later one takes it.
    costs: [Option<(u64, Cost)>; PHASES],
    /// Passes through the banks of the L1 cache, which are the same at every phase.
    passes: u32,
}

impl Memo {
    #[inline(always)]
    pub fn cost(
        &mut self,
        request: &Request<'_>,
        unit: u64,
        passes: impl FnOnce() -> u32,
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
            *self = Memo { mask, unit, relative, costs: [None; PHASES], passes: passes() };
        }
        let place = &mut self.costs[(phase * PHASES as u64 / unit) as usize];
        match *place {
            Some((known, cost)) if known == phase => (cost, self.passes),
            _ => {
                let cost = count();
                *place = Some((phase, cost));
                (cost, self.passes)
            }
        }
    }
}
