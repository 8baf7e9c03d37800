//! Into how many slices a filter is cut, so that there are blocks for all of a GPU.
//!
//! A block whose threads have runs of outputs covers many of them, and few blocks cover all: 294 912 outputs in blocks of 64 threads
//! with 16 each are 288 blocks, two or three for each multiprocessor of an H200, which could hold seventeen. So the filter is cut,
//! each block sums up one slice of it, and the partial sums are added up later.
//!
//! More slices make a finer division, and every slice costs a copy of the samples and a row of partial sums. [`Slices::choose`]
//! looks for the number with which the busiest part of the chip is ready first.

use common::Result;
use common::gpu::Gpu;
use cudarc::driver::CudaFunction;
use cudarc::driver::sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use kernels::unroll::SLOTS;

/// Threads of a warp.
const WARP: u32 = 32;
/// A multiprocessor consists of four parts, each with a quarter of its arithmetic and warps of its own.
const PARTS: u64 = 4;
/// A warp that has a part for itself waits for its own results now and then: on an H200 it needs a quarter more than its share of the
/// time that two need.
const ALONE: f64 = 1.25;
/// What a slice costs besides its taps, in taps: copying samples, storing sums. It matters between numbers that are nearly alike.
const COPYING: f64 = 64.0;
/// Taps of the shortest slice. A block copies all samples under its outputs for every slice, however short.
const SHORTEST: u32 = 256;

/// A filter in slices of equal length, the last of which may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// How many.
    pub count: u32,
    /// Taps of a slice, a multiple of [`SLOTS`].
    pub taps: u32,
}

/// What a GPU can hold of a kernel at once.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Blocks of the kernel on each of them.
    pub blocks: u32,
    /// Warps of a block.
    pub warps: u32,
}

impl Room {
    /// The room that a GPU has for a kernel in blocks of so many threads.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    pub fn of(gpu: &Gpu, kernel: &CudaFunction, threads: u32) -> Result<Self> {
        Ok(Self {
            multiprocessors: gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.unsigned_abs(),
            blocks: kernel.occupancy_max_active_blocks_per_multiprocessor(threads, 0, None)?,
            warps: threads.div_ceil(WARP),
        })
    }
}

impl Slices {
    /// The whole filter as one slice.
    pub fn whole(taps: u32) -> Self {
        Self::of(1, taps)
    }

    /// Up to `count` slices: as many as it takes when each has a multiple of [`SLOTS`].
    fn of(count: u32, taps: u32) -> Self {
        let slice = taps.div_ceil(count).next_multiple_of(SLOTS);
        Self { count: taps.div_ceil(slice), taps: slice }
    }

    // ANCHOR: choose
    /// The slices with which `tiles` blocks of outputs fill a GPU best.
    ///
    /// All blocks have the same to do. Only numbers are considered with which all of them find room at once: then each
    /// multiprocessor gets its share, and its four parts share the warps. With more blocks than that, those left over go to the
    /// multiprocessors that happen to be ready first.
    pub fn choose(tiles: u32, taps: u32, room: Room) -> Self {
        let blocks = |slices: Slices| (u64::from(tiles) * u64::from(slices.count)).div_ceil(u64::from(room.multiprocessors));
        let time = |slices: Slices| {
            let warps = (blocks(slices) * u64::from(room.warps)).div_ceil(PARTS);
            (warps as f64).max(ALONE) * (f64::from(slices.taps) + COPYING)
        };
        let mut best = Self::whole(taps);
        for slices in (2..=taps / SHORTEST).map(|count| Self::of(count, taps)) {
            if blocks(slices) > u64::from(room.blocks) {
                break;
            }
            if time(slices) < time(best) {
                best = slices;
            }
        }
        best
    }
    // ANCHOR_END: choose
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An H200 with a kernel of 64 threads.
    const H200: Room = Room { multiprocessors: 132, blocks: 16, warps: 2 };

    #[test]
    fn the_blocks_of_the_original_size_are_the_same_number_for_every_multiprocessor() {
        // 165 tiles of 1792 outputs: 1320 blocks, ten for each multiprocessor, five warps for each of its parts.
        assert_eq!(Slices::choose(165, 16_384, H200), Slices { count: 8, taps: 2048 });
    }

    #[test]
    fn one_slice_is_left_where_there_are_blocks_enough() {
        assert_eq!(Slices::choose(132 * 16, 16_384, H200), Slices { count: 1, taps: 16_384 });
        assert_eq!(Slices::choose(1_000_000, 16_384, H200).count, 1);
    }

    #[test]
    fn short_filters_are_not_cut_and_all_slices_cover_the_filter() {
        for taps in [1, 31, 32, 33, 511] {
            assert_eq!(Slices::choose(1, taps, H200).count, 1, "{taps}");
        }
        for taps in (512..5000).step_by(37) {
            for tiles in [1, 7, 64, 500] {
                let Slices { count, taps: slice } = Slices::choose(tiles, taps, H200);
                assert!(slice % SLOTS == 0 && slice >= SHORTEST, "{tiles} x {taps}: slices of {slice}");
                assert!((count - 1) * slice < taps && taps <= count * slice, "{tiles} x {taps}: {count} slices of {slice}");
            }
        }
    }

    #[test]
    fn no_block_has_to_wait_for_room() {
        for tiles in [1, 100, 144, 288, 2112] {
            let Slices { count, .. } = Slices::choose(tiles, 32_768, H200);
            assert!(tiles * count <= 132 * 16, "{tiles} tiles in {count} slices");
        }
    }
}
