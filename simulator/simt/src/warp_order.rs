//! The order in which the warps of a block take turns.

use serde::{Deserialize, Serialize};

/// The order in which the warps of a block take turns. A kernel without races gives the same result in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarpOrder {
    /// By warp number.
    #[default]
    Ascending,
    /// By warp number, the last one first.
    Descending,
    /// A different order in every block, the same for the same seed.
    Shuffled(u64),
}

impl WarpOrder {
    /// Returns the order of `warps` warps in a block.
    pub(crate) fn of(self, block: u64, warps: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..warps).collect();
        if self == WarpOrder::Descending {
            order.reverse();
        } else if let WarpOrder::Shuffled(seed) = self {
            // SplitMix64, and the Fisher-Yates shuffle.
            let mut state = seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut random = || {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ mixed >> 31
            };
            for last in (1..warps).rev() {
                order.swap(last, (random() % (last as u64 + 1)) as usize);
            }
        }
        order
    }
}
