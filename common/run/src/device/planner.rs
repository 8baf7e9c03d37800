//! Into how many slices a sum is cut, so that a kernel has enough blocks to fill the chip.
//!
//! A block that computes many outputs reuses what it loads, but then a few blocks cover all outputs: 294,912 outputs in blocks of 1024 are
//! 288 blocks, two or three for each multiprocessor of an H200, which could hold fourteen. So the sum behind each output is cut: each
//! block adds up one slice of it, and a second kernel adds up the partial sums of the slices (split-K).
//!
//! # The model
//!
//! All blocks of a launch do the same work, and the chip spreads them evenly. With `tiles` blocks side by side for all outputs, the busiest
//! multiprocessor gets
//!
//! `blocks = ceil(tiles * slices / multiprocessors)`
//!
//! and works on up to [`Model::resident`] of them at a time, in rounds. [`Model::round`] says how long a round takes. More slices make the
//! rounds shorter and spread the blocks more evenly, but each one costs something as well: filling shared memory, storing partial sums, and
//! adding them up ([`Model::adding`]). [`plan`] adds up the rounds for every way to cut the sum, and takes the shortest time. Of equally short
//! times it takes the fewest slices.
//!
//! The two functions are fitted to measurements of one kernel, so they are with that kernel's stage, in its chapter. Times have any unit,
//! as long as a model uses the same one throughout.

use cudarc::driver::CudaSlice;
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;

use crate::{Gpu, Result};

/// A sum cut into slices of equal length. The last slice may be shorter. None is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// The number of slices.
    pub count: u32,
    /// Terms of a slice.
    pub length: u32,
}

/// The sum behind each output, and how it may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sum {
    /// Its terms.
    pub length: u32,
    /// The length of a slice is a multiple of this: the steps of the kernel's inner loop.
    pub step: u32,
    /// Terms of the shortest slice worth having. A shorter sum stays whole.
    pub shortest: u32,
    /// Terms of the longest slice that a block can hold.
    pub longest: u32,
    /// The most slices.
    pub most: u32,
}

impl Sum {
    /// Makes a sum of this many terms, cut at multiples of `step`. There are no other limits.
    pub const fn new(length: u32, step: u32) -> Self {
        Self { length, step, shortest: 1, longest: u32::MAX, most: u32::MAX }
    }

    /// Cuts it into about `count` slices of equal length: fewer where some of that many would be empty.
    pub fn cut(self, count: u32) -> Slices {
        let length = self.length.div_ceil(count).max(self.shortest.min(self.length)).next_multiple_of(self.step);
        Slices { count: self.length.div_ceil(length), length }
    }

    /// Returns the whole sum as one slice.
    pub fn whole(self) -> Slices {
        self.cut(1)
    }

    /// Returns every way to cut it, from fewest to most slices.
    fn ways(self) -> impl Iterator<Item = Slices> {
        let fewest = self.length.div_ceil(self.longest);
        let most = self.length.div_ceil(self.shortest.min(self.length)).min(self.most).max(fewest);
        (fewest..=most).map(move |count| self.cut(count))
    }
}

/// A model of the time that a kernel's blocks take.
pub trait Model {
    /// Returns the blocks that a multiprocessor works on at a time.
    fn resident(&self) -> u64;

    /// Returns true if a cut must keep all blocks resident at once.
    fn one_round_only(&self) -> bool {
        false
    }

    /// Returns a multiprocessor's time for `blocks` concurrent blocks, up to [`Model::resident`]. Each has a slice of `length`
    /// terms.
    fn round(&self, blocks: u64, length: u32) -> f64;

    /// Returns the time of the kernel that adds up so many slices; there is none for a single slice.
    fn adding(&self, _count: u32) -> f64 {
        0.0
    }
}

/// The best way to cut a sum, with the model's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// The slices.
    pub slices: Slices,
    /// The expected time, in the model's unit.
    pub time: f64,
}

// ANCHOR: plan
/// Cuts the sums of `tiles` blocks to minimize the busiest multiprocessor's time.
pub fn plan(tiles: u64, sum: Sum, multiprocessors: u32, model: &impl Model) -> Planned {
    let blocks = |slices: Slices| (tiles * u64::from(slices.count)).div_ceil(u64::from(multiprocessors));
    let time = |slices: Slices| {
        let (rounds, rest) = (blocks(slices) / model.resident(), blocks(slices) % model.resident());
        let last = if rest > 0 { model.round(rest, slices.length) } else { 0.0 };
        let adding = if slices.count > 1 { model.adding(slices.count) } else { 0.0 };
        rounds as f64 * model.round(model.resident(), slices.length) + last + adding
    };
    let fits = |slices: &Slices| !model.one_round_only() || blocks(*slices) <= model.resident();
    let mut ways = sum.ways();
    let fewest = ways.next().expect("a sum has a term");
    let mut best = Planned { slices: fewest, time: time(fewest) };
    for slices in ways.take_while(fits) {
        if time(slices) < best.time {
            best = Planned { slices, time: time(slices) };
        }
    }
    best
}
// ANCHOR_END: plan

/// Returns the device's multiprocessors, at most as many as [`Gpu::plan_for_multiprocessors`] allows.
pub fn multiprocessors(gpu: &Gpu) -> Result<u32> {
    let all = gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.unsigned_abs().max(1);
    Ok(all.min(gpu.most_multiprocessors()))
}

/// Allocates partial sums: a row of `outputs` for each slice. They are not initialized, so the simulator reports a sum that is read
/// before it was written.
pub fn partial_sums(gpu: &Gpu, slices: u32, outputs: usize) -> Result<CudaSlice<f32>> {
    // SAFETY: every bit pattern is an f32, and the stage's kernel writes each partial sum before its second kernel reads it.
    Ok(unsafe { gpu.stream.alloc(slices as usize * outputs) }?)
}

/// Returns how many threads fit in a block's shared memory (at most `most`). They are whole warps where one fits.
pub fn threads_that_fit(shared_bytes: u32, bytes_per_thread: u32, most: u32) -> u32 {
    const WARP: u32 = 32;
    let fit = shared_bytes / bytes_per_thread;
    if fit < WARP { fit } else { (fit - fit % WARP).min(most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks that run one at a time, with a two-term startup each.
    struct OneByOne;

    impl Model for OneByOne {
        fn resident(&self) -> u64 {
            1
        }

        fn round(&self, blocks: u64, length: u32) -> f64 {
            blocks as f64 * f64::from(length + 2)
        }
    }

    /// Blocks that run four at a time without slowdown, in one round. Slices cost a launch.
    struct Parallel;

    impl Model for Parallel {
        fn resident(&self) -> u64 {
            4
        }

        fn one_round_only(&self) -> bool {
            true
        }

        fn round(&self, _: u64, length: u32) -> f64 {
            f64::from(length)
        }

        fn adding(&self, count: u32) -> f64 {
            10.0 * f64::from(count)
        }
    }

    #[test]
    fn slices_cover_the_sum_and_none_is_empty() {
        for length in [1, 7, 8, 9, 63, 64, 65, 511, 512, 1000, 4096] {
            for (step, shortest, longest) in [(1, 1, u32::MAX), (8, 1, u32::MAX), (32, 100, u32::MAX), (1, 3, 64)] {
                let sum = Sum { shortest, longest, ..Sum::new(length, step) };
                for Slices { count, length: slice } in sum.ways() {
                    assert!(slice * count >= length && slice * (count - 1) < length, "{sum:?}: {count} of {slice}");
                    assert!(slice.is_multiple_of(step) && slice >= shortest.min(length), "{sum:?}: {count} of {slice}");
                    assert!(slice <= longest.max(step), "{sum:?}: {count} of {slice}");
                }
            }
        }
    }

    #[test]
    fn a_sum_is_cut_where_blocks_are_missing_and_left_whole_where_they_are_not() {
        let slices = |tiles| plan(tiles, Sum { shortest: 3, ..Sum::new(64, 1) }, 10, &OneByOne).slices;
        // One block for ten multiprocessors: a slice for each, of seven terms.
        assert_eq!(slices(1), Slices { count: 10, length: 7 });
        // Twice five blocks fill the chip exactly.
        assert_eq!(slices(5), Slices { count: 2, length: 32 });
        assert_eq!(slices(10), Slices { count: 1, length: 64 });
        assert_eq!(slices(1000).count, 1);
    }

    #[test]
    fn of_equal_times_the_fewest_slices_are_taken() {
        struct Indifferent;
        impl Model for Indifferent {
            fn resident(&self) -> u64 {
                1
            }
            fn round(&self, _: u64, _: u32) -> f64 {
                0.0
            }
        }
        assert_eq!(plan(1, Sum::new(64, 1), 10, &Indifferent), Planned { slices: Slices { count: 1, length: 64 }, time: 0.0 });
    }

    #[test]
    fn one_round_and_the_cost_of_adding_are_limits() {
        // 40 blocks find room at once, ten for each of four tiles; 1000 / 10 + 10 * 10 is the least.
        assert_eq!(plan(4, Sum::new(1000, 1), 10, &Parallel), Planned { slices: Slices { count: 10, length: 100 }, time: 200.0 });
        // 20 tiles leave room for two slices each.
        assert_eq!(plan(20, Sum::new(1000, 1), 10, &Parallel), Planned { slices: Slices { count: 2, length: 500 }, time: 520.0 });
        // 41 tiles do not fit, and stay whole.
        assert_eq!(plan(41, Sum::new(1000, 1), 10, &Parallel).slices.count, 1);
        // A sum of 15 is added up sooner than its slices.
        assert_eq!(plan(1, Sum::new(15, 1), 10, &Parallel).slices.count, 1);
    }

    #[test]
    fn slices_are_no_longer_than_a_block_can_hold_and_no_more_than_asked_for() {
        assert_eq!(plan(1000, Sum { longest: 20, ..Sum::new(64, 1) }, 10, &OneByOne).slices, Slices { count: 4, length: 16 });
        assert_eq!(plan(1, Sum { most: 2, ..Sum::new(64, 1) }, 10, &OneByOne).slices.count, 2);
    }

    #[test]
    fn a_block_has_as_many_threads_as_their_memory_fits() {
        for (shared_bytes, bytes_per_thread, threads) in
            [(48_896, 120, 128), (16_128, 128, 96), (48_896, 1016, 32), (48_896, 8184, 5)]
        {
            assert_eq!(threads_that_fit(shared_bytes, bytes_per_thread, 128), threads, "{shared_bytes} / {bytes_per_thread}");
        }
        assert_eq!(threads_that_fit(48_896, 65_528, 128), 0);
    }
}
