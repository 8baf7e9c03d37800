//! Occupancy: how many blocks of a kernel a multiprocessor can hold at once.
//!
//! Counted from the profile: threads in whole warps, blocks, and shared memory in the units in which it is given out. Registers are a
//! limit on a GPU too, but PTX does not say how many a kernel will use, so here they limit nothing and the answer is the most that a
//! GPU could give.

use simt::Profile;

use crate::attributes::WARP_SIZE;
use crate::context;
use crate::error::{CuResult, Result};
use crate::ffi::{Handle, In, LaunchConfigEx, Out, SharedBytesOfBlock};
use crate::function::{self, Function};

/// Bytes in which shared memory is given out, by generation.
fn shared_unit(profile: &Profile) -> u32 {
    match profile.compute_capability.0 {
        ..=1 => 512,
        2 => 128,
        3..=7 => 256,
        _ => 128,
    }
}

/// Warps that a block takes up. The first generation gave them out in pairs.
fn warps_of_block(profile: &Profile, threads: u32) -> u32 {
    let warps = threads.div_ceil(WARP_SIZE);
    if profile.compute_capability.0 == 1 { warps.next_multiple_of(2) } else { warps }
}

/// Blocks of `threads` threads and `shared` bytes of shared memory, static and dynamic, that a multiprocessor holds.
fn blocks_per_multiprocessor(profile: &Profile, threads: u32, shared: u64) -> u32 {
    let warps = profile.max_threads_per_sm / WARP_SIZE;
    let by_warps = warps / warps_of_block(profile, threads);
    let shared = (shared + u64::from(profile.shared_bytes_reserved)).next_multiple_of(shared_unit(profile).into());
    let by_shared = u64::from(profile.shared_bytes_per_sm).checked_div(shared).unwrap_or(u64::MAX);
    by_warps.min(profile.max_blocks_per_sm).min(u32::try_from(by_shared).unwrap_or(u32::MAX))
}

/// As [`blocks_per_multiprocessor`], for a kernel; 0 when no block can have so many threads or so much shared memory. As a GPU's
/// driver has it, neither the launch bounds of the kernel nor a lowered limit of dynamic shared memory counts here.
fn blocks(function: &Function, profile: &Profile, threads: u32, dynamic_shared: usize) -> u32 {
    let static_shared = u64::from(function.kernel().static_shared_bytes());
    let shared = static_shared.saturating_add(dynamic_shared as u64);
    let opted_in = static_shared + u64::from(function.max_dynamic_shared(profile));
    if threads > profile.max_threads_per_block || shared > opted_in.max(profile.shared_bytes_per_block.into()) {
        return 0;
    }
    blocks_per_multiprocessor(profile, threads, shared)
}

fn put_blocks(out: Out<i32>, function: Handle, block: i32, dynamic_shared: usize) -> Result<()> {
    let (driver, function) = function::get(function)?;
    out.check()?;
    let threads = u32::try_from(block).ok().filter(|&threads| threads > 0).ok_or(CuResult::INVALID_VALUE)?;
    out.put(blocks(&function, driver.profile, threads, dynamic_shared) as i32)
}

/// Finds the block size that fills a multiprocessor best; the largest of those that fill it equally.
fn put_potential_block(
    min_grid: Out<i32>,
    block: Out<i32>,
    handle: Handle,
    shared_of: impl Fn(i32) -> usize,
    limit: i32,
) -> Result<()> {
    let (driver, function) = function::get(handle)?;
    min_grid.check()?;
    block.check()?;
    let profile = driver.profile;
    let most = function.max_threads(profile);
    // No limit is asked for by 0.
    let limit = match u32::try_from(limit).map_err(|_| CuResult::INVALID_VALUE)? {
        0 => most,
        limit => limit.min(most),
    };
    let sizes = (1..=limit.div_ceil(WARP_SIZE)).map(|warps| (warps * WARP_SIZE).min(limit));
    let candidates = sizes.map(|threads| {
        let blocks = blocks(&function, profile, threads, shared_of(threads as i32));
        (blocks * threads, threads, blocks)
    });
    // Where no block size is possible, the answer is no blocks of no threads.
    let (_, threads, blocks) = candidates.filter(|&(_, _, blocks)| blocks > 0).max().unwrap_or_default();
    min_grid.put((blocks * profile.multiprocessors) as i32)?;
    block.put(threads as i32)
}

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE`, which matters where caching global loads costs occupancy; it does not here.
fn check_flags(flags: u32) -> Result<()> {
    context::current()?;
    if flags & !1 == 0 { Ok(()) } else { CuResult::INVALID_VALUE.err() }
}

fn potential_block(
    min_grid: Out<i32>,
    block: Out<i32>,
    function: Handle,
    shared_of_block: Option<SharedBytesOfBlock>,
    shared: usize,
    limit: i32,
) -> Result<()> {
    let shared_of = |threads| match shared_of_block {
        // SAFETY: the C caller gave the function to be called in just this way.
        Some(shared_of_block) => unsafe { shared_of_block(threads) },
        None => shared,
    };
    put_potential_block(min_grid, block, function, shared_of, limit)
}

/// Clusters of blocks are not supported, whatever the profile's generation.
fn refuse_clusters(function: Handle, config: In<LaunchConfigEx>) -> Result<()> {
    function::get(function)?;
    config.read()?;
    Err(CuResult::NOT_SUPPORTED.because("clusters of blocks are not supported"))
}

crate::exports! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Out<i32>, function: Handle, block: i32, dynamic_shared: usize) {
        put_blocks(blocks, function, block, dynamic_shared)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>,
        function: Handle,
        block: i32,
        dynamic_shared: usize,
        flags: u32,
    ) {
        check_flags(flags)?;
        put_blocks(blocks, function, block, dynamic_shared)
    }

    fn cuOccupancyMaxPotentialBlockSize(
        min_grid: Out<i32>,
        block: Out<i32>,
        function: Handle,
        shared_of_block: Option<SharedBytesOfBlock>,
        dynamic_shared: usize,
        limit: i32,
    ) {
        potential_block(min_grid, block, function, shared_of_block, dynamic_shared, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid: Out<i32>,
        block: Out<i32>,
        function: Handle,
        shared_of_block: Option<SharedBytesOfBlock>,
        dynamic_shared: usize,
        limit: i32,
        flags: u32,
    ) {
        check_flags(flags)?;
        potential_block(min_grid, block, function, shared_of_block, dynamic_shared, limit)
    }

    /// The share of each block when so many run at once, less what the kernel itself takes. As a GPU's driver has it, what the system
    /// takes of each block is not subtracted.
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Out<usize>, function: Handle, blocks: i32, block: i32) {
        let (driver, function) = function::get(function)?;
        bytes.check()?;
        let profile = driver.profile;
        let (Ok(blocks @ 1..), Ok(threads @ 1..)) = (u32::try_from(blocks), u32::try_from(block)) else {
            return CuResult::INVALID_VALUE.err();
        };
        if threads > profile.max_threads_per_block || blocks_per_multiprocessor(profile, threads, 0) < blocks {
            return CuResult::INVALID_VALUE.err();
        }
        let unit = shared_unit(profile);
        let share = profile.shared_bytes_per_sm / blocks / unit * unit;
        let free = share.saturating_sub(function.kernel().static_shared_bytes());
        bytes.put(free.min(function.max_dynamic_shared(profile)) as usize)
    }

    fn cuOccupancyMaxActiveClusters(_clusters: Out<i32>, function: Handle, config: In<LaunchConfigEx>) {
        refuse_clusters(function, config)
    }

    fn cuOccupancyMaxPotentialClusterSize(_size: Out<i32>, function: Handle, config: In<LaunchConfigEx>) {
        refuse_clusters(function, config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks_of(name: &str, threads: u32, shared: u64) -> u32 {
        blocks_per_multiprocessor(Profile::named(name).unwrap(), threads, shared)
    }

    #[test]
    fn the_scarcest_resource_decides() {
        // 2048 threads, 32 blocks, 228 KiB in units of 128 bytes with 1 KiB reserved per block.
        assert_eq!(blocks_of("h200", 1024, 0), 2, "threads");
        assert_eq!(blocks_of("h200", 32, 0), 32, "blocks");
        assert_eq!(blocks_of("h200", 33, 0), 32, "64 threads in two warps: still the blocks");
        assert_eq!(blocks_of("h200", 65, 0), 21, "three warps of 64");
        assert_eq!(blocks_of("h200", 128, 48 << 10), 4, "49 KiB each");
        assert_eq!(blocks_of("h200", 128, 227 << 10), 1, "all of it");
    }

    #[test]
    fn the_first_generation_gives_out_pairs_of_warps_and_half_kilobytes() {
        // 24 warps, 8 blocks, 16 KiB.
        assert_eq!(blocks_of("9800gt", 96, 0), 6, "three warps take up four");
        assert_eq!(blocks_of("9800gt", 64, 2049), 6, "2560 bytes each");
    }
}
