//! The part of the API that asks about [occupancy](crate::occupancy).

use simt::Profile;

use crate::context;
use crate::error::{CuResult, Result};
use crate::ffi::{Handle, In, LaunchConfigEx, Out, SharedBytesOfBlock};
use crate::function::{self, Function};
use crate::occupancy::{self, BlockNeeds, Occupancy, WARP_SIZE};

/// Blocks of a kernel that a multiprocessor holds; 0 when no block can have so many threads or so much shared memory. As a GPU's driver
/// has it, neither the launch bounds of the kernel nor a lowered limit of dynamic shared memory counts here.
fn blocks(function: &Function, profile: &Profile, threads: u32, dynamic_shared: usize) -> u32 {
    let static_shared = u64::from(function.kernel().static_shared_bytes());
    let shared = static_shared.saturating_add(dynamic_shared as u64);
    let opted_in = static_shared + u64::from(function.max_dynamic_shared(profile));
    if threads > profile.max_threads_per_block || shared > opted_in.max(profile.shared_bytes_per_block.into()) {
        return 0;
    }
    function.occupancy(profile, threads, dynamic_shared as u64).blocks_per_multiprocessor
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
        let without_shared = Occupancy::of(profile, BlockNeeds { shared_bytes: 0, ..function.needs(threads, 0) });
        if threads > profile.max_threads_per_block || without_shared.blocks_per_multiprocessor < blocks {
            return CuResult::INVALID_VALUE.err();
        }
        let free = occupancy::shared_bytes_each(profile, blocks).saturating_sub(function.kernel().static_shared_bytes());
        bytes.put(free.min(function.max_dynamic_shared(profile)) as usize)
    }

    fn cuOccupancyMaxActiveClusters(_clusters: Out<i32>, function: Handle, config: In<LaunchConfigEx>) {
        refuse_clusters(function, config)
    }

    fn cuOccupancyMaxPotentialClusterSize(_size: Out<i32>, function: Handle, config: In<LaunchConfigEx>) {
        refuse_clusters(function, config)
    }
}
