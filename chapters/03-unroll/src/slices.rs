//! Costs of the kernels whose threads have runs of outputs, from which the planner cuts their filter into slices.
//!
//! The constants were measured on an H200; `kernels/NOTES.md` has the times, under "03-unroll", "Slices".

use cudarc::driver::CudaFunction;
use kernels::unroll::{RUN_THREADS, SLOTS};
use run::planner::{self, Model, Slices, Sum};
use run::{Gpu, Result};

// ANCHOR: costs
/// Warps of a block.
const WARPS: u64 = (RUN_THREADS / 32) as u64;
/// A multiprocessor's sub-partitions. Each has a quarter of its arithmetic, and its own warps.
const SUB_PARTITIONS: u64 = 4;
/// The relative time of a warp that is alone in its sub-partition. Now and then it waits for its own results, and needs
/// a quarter more than its share of the time that two warps need.
const ALONE: f64 = 1.25;
/// The cost of a slice besides its taps, in taps: copying samples and storing sums. An estimate: it only matters
/// between numbers of slices that are otherwise nearly equal.
const COPYING: f64 = 64.0;
// ANCHOR_END: costs
/// Taps of the shortest slice. A block copies all samples under its outputs for every slice, however short.
const SHORTEST: u32 = 256;

/// A kernel on a GPU, with its resident blocks per multiprocessor.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// Blocks on a multiprocessor at a time.
    pub resident: u32,
}

// ANCHOR: model
impl Model for Runs {
    fn resident(&self) -> u64 {
        self.resident.into()
    }

    /// Returns true. With more blocks than fit, the model does not know which multiprocessors get the extra ones.
    fn one_round_only(&self) -> bool {
        true
    }

    /// Returns the taps of the busiest sub-partition. The block's warps are spread over all four.
    fn round(&self, blocks: u64, taps: u32) -> f64 {
        let warps = (blocks * WARPS).div_ceil(SUB_PARTITIONS);
        (warps as f64).max(ALONE) * (f64::from(taps) + COPYING)
    }
}
// ANCHOR_END: model

/// Returns a filter as a sum that can be cut.
pub fn filter(taps: u32) -> Sum {
    Sum { most: (taps / SHORTEST).max(1), ..Sum::new(taps, SLOTS) }
}

/// Cuts the filter for a kernel with `run` outputs per thread.
pub fn cut(gpu: &Gpu, kernel: &CudaFunction, run: u32, outputs: u32, taps: u32) -> Result<Slices> {
    let model = Runs { resident: kernel.occupancy_max_active_blocks_per_multiprocessor(RUN_THREADS, 0, None)? };
    let tiles = u64::from(outputs.div_ceil(run * RUN_THREADS));
    Ok(planner::plan(tiles, filter(taps), planner::multiprocessors(gpu)?, &model).slices)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the slices for an H200, with 16 resident blocks per multiprocessor.
    fn h200(tiles: u64, taps: u32) -> Slices {
        planner::plan(tiles, filter(taps), 132, &Runs { resident: 16 }).slices
    }

    #[test]
    fn at_the_original_size_every_multiprocessor_gets_the_same_number_of_blocks() {
        // 165 tiles of 1792 outputs: 1320 blocks, ten for each multiprocessor, five warps for each sub-partition.
        assert_eq!(h200(165, 16_384), Slices { count: 8, length: 2048 });
    }

    #[test]
    fn the_filter_stays_whole_where_there_are_enough_blocks() {
        assert_eq!(h200(132 * 16, 16_384), Slices { count: 1, length: 16_384 });
        assert_eq!(h200(1_000_000, 16_384).count, 1);
    }

    #[test]
    fn short_filters_are_not_cut() {
        for taps in [1, 31, 32, 33, 511] {
            assert_eq!(h200(1, taps).count, 1, "{taps}");
        }
        for taps in (512..5000).step_by(37) {
            for tiles in [1, 7, 64, 500] {
                let Slices { length, .. } = h200(tiles, taps);
                assert!(length >= SHORTEST, "{tiles} x {taps}: slices of {length}");
            }
        }
    }

    #[test]
    fn all_blocks_are_resident_at_once() {
        for tiles in [1, 100, 144, 288, 2112] {
            let Slices { count, .. } = h200(tiles, 32_768);
            assert!(tiles * u64::from(count) <= 132 * 16, "{tiles} tiles in {count} slices");
        }
    }
}
