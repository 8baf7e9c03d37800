//! Occupancy: how many blocks of a kernel a multiprocessor holds at once, and what keeps it from holding more.
//!
//! A block needs warps, registers and shared memory, each allocated in units that differ between generations. A kernel's registers are
//! known if its PTX states them. If it does not, registers limit
//! nothing here, and the answer is the most that a GPU could hold.

use crate::profile::Profile;
use serde::{Deserialize, Serialize};

/// Threads in a warp, on every GPU so far.
pub const WARP_SIZE: u32 = 32;

/// How the blocks of a launch fill a multiprocessor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Registers per thread; `None` if the PTX does not state them.
    pub registers_per_thread: Option<u32>,
    /// Blocks that a multiprocessor holds at once; 0 if not even one fits.
    pub blocks_per_multiprocessor: u32,
    /// Warps of those blocks.
    pub active_warps: u32,
    /// Warps that a multiprocessor can hold.
    pub max_warps: u32,
    /// The resources that run out first. There are several if they run out at the same number of blocks.
    pub limits: Vec<Limit>,
}

/// A resource that a multiprocessor can run out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Resident warps.
    Warps,
    /// Resident blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

/// The resources that one block needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockNeeds {
    /// Threads, at least one.
    pub threads: u32,
    /// Registers per thread, if they are known.
    pub registers_per_thread: Option<u32>,
    /// Shared memory in bytes, static and dynamic together.
    pub shared_bytes: u64,
}

/// The units in which a generation allocates what a block needs.
struct Units {
    /// Warps of a block are rounded up to a multiple of this.
    warps: u32,
    registers: RegisterUnits,
    /// Shared memory of a block is rounded up to a multiple of this, in bytes.
    shared_bytes: u32,
}

/// How a generation allocates registers.
enum RegisterUnits {
    /// To a whole block, in multiples of this number.
    Block(u32),
    /// To each warp, in multiples of `unit`, from the registers of its partition. The multiprocessor spreads its warps over `partitions`.
    Warp { unit: u32, partitions: u32 },
}

/// Returns the units of a profile's generation. Sources: for compute capability 1, the CUDA C Programming Guide 4.2, section 4.2, where the
/// symbols are `G_W`, `G_T` and `G_S`; for 2, the same guide and, for the partitions, the CUDA Occupancy Calculator. We have the figures of
/// both second-hand. From 3 on, `cuda_occupancy.h` of the CUDA toolkit 12.0, in which NVIDIA publishes the driver's own arithmetic.
fn units(profile: &Profile) -> Units {
    let warp = |unit, partitions| RegisterUnits::Warp { unit, partitions };
    match profile.compute_capability {
        (..=1, 0..=1) => Units { warps: 2, registers: RegisterUnits::Block(256), shared_bytes: 512 },
        (..=1, _) => Units { warps: 2, registers: RegisterUnits::Block(512), shared_bytes: 512 },
        (2, _) => Units { warps: 1, registers: warp(64, 2), shared_bytes: 128 },
        (6, 0) => Units { warps: 1, registers: warp(256, 2), shared_bytes: 256 },
        (..=7, _) => Units { warps: 1, registers: warp(256, 4), shared_bytes: 256 },
        _ => Units { warps: 1, registers: warp(256, 4), shared_bytes: 128 },
    }
}

impl Occupancy {
    /// Computes the occupancy of blocks with these needs on a GPU.
    pub fn of(profile: &Profile, needs: BlockNeeds) -> Self {
        let units = units(profile);
        let warps = needs.threads.div_ceil(WARP_SIZE).max(1);
        let max_warps = profile.max_threads_per_sm / WARP_SIZE;
        let shared = (needs.shared_bytes.saturating_add(profile.shared_bytes_reserved.into()))
            .checked_next_multiple_of(units.shared_bytes.into())
            .unwrap_or(u64::MAX);
        let by_shared = u64::from(profile.shared_bytes_per_sm).checked_div(shared).unwrap_or(u64::MAX);
        let by_registers =
            needs.registers_per_thread.map_or(u32::MAX, |registers| units.registers.blocks(profile, warps, registers));
        let counts = [
            (Limit::Warps, max_warps / warps.next_multiple_of(units.warps)),
            (Limit::Blocks, profile.max_blocks_per_sm),
            (Limit::Registers, by_registers),
            (Limit::SharedMemory, u32::try_from(by_shared).unwrap_or(u32::MAX)),
        ];
        let blocks = counts.iter().map(|(_, count)| *count).min().unwrap_or(0);
        let limits = counts.into_iter().filter(|(_, count)| *count == blocks).map(|(limit, _)| limit).collect();
        Self {
            registers_per_thread: needs.registers_per_thread,
            blocks_per_multiprocessor: blocks,
            active_warps: blocks * warps,
            max_warps,
            limits,
        }
    }

    /// Returns the active warps divided by the multiprocessor's maximum. A profiler calls this theoretical occupancy.
    pub fn fraction(&self) -> f64 {
        f64::from(self.active_warps) / f64::from(self.max_warps)
    }
}

impl RegisterUnits {
    /// Returns for how many blocks of this many warps there are registers; 0 if a single block needs too many.
    fn blocks(&self, profile: &Profile, warps: u32, per_thread: u32) -> u32 {
        let per_warp = per_thread.max(1).saturating_mul(WARP_SIZE);
        match *self {
            RegisterUnits::Block(unit) => {
                let registers =
                    per_warp.saturating_mul(warps.next_multiple_of(2)).checked_next_multiple_of(unit).unwrap_or(u32::MAX);
                profile.registers_per_sm / registers
            }
            RegisterUnits::Warp { unit, partitions } => {
                let per_warp = per_warp.checked_next_multiple_of(unit).unwrap_or(u32::MAX);
                // A block's warps are spread over the partitions, so the fullest partition decides whether the block fits at all.
                if per_warp.saturating_mul(warps.next_multiple_of(partitions)) > profile.registers_per_block {
                    return 0;
                }
                profile.registers_per_sm / partitions / per_warp * partitions / warps
            }
        }
    }
}

/// Returns for how many threads of a block a GPU has registers; `None` if even one warp needs too many.
pub fn max_threads_by_registers(profile: &Profile, per_thread: u32) -> Option<u32> {
    let units = units(profile);
    let most = profile.max_threads_per_block / WARP_SIZE;
    (1..=most).rev().find(|&warps| units.registers.blocks(profile, warps, per_thread) > 0).map(|warps| warps * WARP_SIZE)
}

/// Returns the shared memory that each of `blocks` blocks can have. It is in bytes, and includes what the kernel's static variables
/// and the system take.
pub fn shared_bytes_each(profile: &Profile, blocks: u32) -> u32 {
    let unit = units(profile).shared_bytes;
    profile.shared_bytes_per_sm / blocks / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(profile: &str, threads: u32, registers_per_thread: Option<u32>, shared_bytes: u64) -> Occupancy {
        Occupancy::of(Profile::named(profile).unwrap(), BlockNeeds { threads, registers_per_thread, shared_bytes })
    }

    fn blocks(profile: &str, threads: u32, registers: impl Into<Option<u32>>, shared: u64) -> u32 {
        of(profile, threads, registers.into(), shared).blocks_per_multiprocessor
    }

    #[test]
    fn the_scarcest_resource_decides() {
        // 2048 threads, 32 blocks, 228 KiB in units of 128 bytes with 1 KiB reserved per block.
        assert_eq!(blocks("h200", 1024, None, 0), 2, "threads");
        assert_eq!(blocks("h200", 32, None, 0), 32, "blocks");
        assert_eq!(blocks("h200", 33, None, 0), 32, "64 threads in two warps: still limited by blocks");
        assert_eq!(blocks("h200", 65, None, 0), 21, "three warps of 64");
        assert_eq!(blocks("h200", 128, None, 48 << 10), 4, "49 KiB each");
        assert_eq!(blocks("h200", 128, None, 227 << 10), 1, "all of it");
        assert_eq!(of("h200", 1024, None, 0).limits, [Limit::Warps]);
        assert_eq!(of("h200", 64, None, 0).limits, [Limit::Warps, Limit::Blocks]);
        assert_eq!(of("h200", 128, None, 48 << 10).limits, [Limit::SharedMemory]);
    }

    #[test]
    fn registers_are_allocated_to_warps_in_units_of_256_from_four_partitions() {
        // 65536 registers: 32 for each of 2048 threads. One more register costs a whole unit.
        assert_eq!(blocks("h200", 256, 32, 0), 8);
        assert_eq!(of("h200", 256, Some(32), 0).limits, [Limit::Warps, Limit::Registers]);
        // 40 per thread are 1280 per warp: 12 warps of each partition's 16384, 48 in all.
        assert_eq!(blocks("h200", 256, 33, 0), 6);
        assert_eq!(blocks("h200", 256, 40, 0), 6);
        assert_eq!(blocks("h200", 64, 40, 0), 24, "1024 registers of each partition remain unused");
        assert_eq!(blocks("h200", 64, 48, 0), 20);
        assert_eq!(of("h200", 256, Some(40), 0).fraction(), 0.75);
        // 55 registers are rounded up to 56, 1792 per warp: 9 warps per partition, 36 in all.
        assert_eq!(blocks("h200", 256, 55, 0), 4);
        assert_eq!(blocks("h200", 128, 55, 0), 9);
        assert_eq!(blocks("h200", 256, 255, 0), 1);
        assert_eq!(of("h200", 256, Some(255), 0).limits, [Limit::Registers]);
        assert_eq!(blocks("h200", 512, 255, 0), 0, "8192 registers per warp, 16 warps: twice as many as a block may have");
    }

    #[test]
    fn a_block_may_have_fewer_registers_than_a_multiprocessor() {
        // As on Tegra GPUs: at 1792 registers per warp, 18 warps fit in 32768 registers, but in multiples of four only 16.
        let half = Profile { registers_per_block: 32_768, ..Profile::named("h200").unwrap().clone() };
        let blocks = |threads| {
            Occupancy::of(&half, BlockNeeds { threads, registers_per_thread: Some(56), shared_bytes: 0 }).blocks_per_multiprocessor
        };
        assert_eq!((blocks(512), blocks(544)), (2, 0));
    }

    #[test]
    fn generations_differ() {
        // With 64 registers per thread, all of these hold 32 warps, and a T4 cannot hold more anyway.
        for (profile, warps) in [("h200", 64), ("a100", 64), ("rtx4090", 48), ("t4", 32), ("gtx680", 64)] {
            let occupancy = of(profile, 256, Some(64), 0);
            assert_eq!((occupancy.active_warps, occupancy.max_warps), (32, warps), "{profile}");
        }
        assert_eq!(of("t4", 256, Some(64), 0).limits, [Limit::Warps, Limit::Registers]);
    }

    #[test]
    fn the_first_generation_allocates_pairs_of_warps_and_half_kilobytes() {
        // 24 warps, 8 blocks, 16 KiB, 8192 registers.
        assert_eq!(blocks("9800gt", 96, None, 0), 6, "three warps are rounded up to four");
        assert_eq!(blocks("9800gt", 64, None, 2049), 6, "2560 bytes each");
        // 10 registers for each of 768 threads use nearly all registers; 11 cost a block.
        assert_eq!(blocks("9800gt", 256, 10, 0), 3);
        assert_eq!(blocks("9800gt", 256, 11, 0), 2);
        // Compute capability 1.3 has twice the registers, allocated in units of 512.
        assert_eq!(blocks("gtx280", 256, 16, 0), 4);
        assert_eq!(blocks("gtx280", 256, 17, 0), 3);
        assert_eq!(blocks("gtx280", 96, 17, 0), 6, "2176 for four warps, rounded up to 2560");
    }

    #[test]
    fn the_largest_block_has_registers_for_each_of_its_threads() {
        let h200 = Profile::named("h200").unwrap();
        let most = |registers| max_threads_by_registers(h200, registers);
        assert_eq!(
            [most(32), most(64), most(65), most(96), most(128), most(255)].map(Option::unwrap),
            [1024, 1024, 896, 640, 512, 256]
        );
        assert_eq!(most(u32::MAX), None);
    }

    #[test]
    fn absurd_needs_are_not_met_and_do_no_harm() {
        for profile in Profile::all() {
            assert_eq!(blocks(profile.name, 32, u32::MAX, 0), 0);
            assert_eq!(blocks(profile.name, 32, 1, u64::MAX), 0);
            assert_eq!(blocks(profile.name, u32::MAX, 1, 0), 0);
        }
    }
}
