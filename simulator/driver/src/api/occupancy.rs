//! The part of the API that asks about [occupancy](crate::occupancy).

use simt::{LaunchError, Profile, cluster};

use super::function::Function;
use super::kernel::{code_of, dim};
use super::launch::read_shape;
use super::library;
use super::prelude::*;
use crate::ffi::{LaunchConfigEx, SharedBytesOfBlock};
use crate::occupancy::{self, BlockNeeds, Occupancy, WARP_SIZE};

/// Counts the blocks of a kernel that a multiprocessor holds; 0 if no block can have this many threads or this much shared memory. Like a
/// GPU's driver, this ignores the kernel's launch bounds and a lowered limit on dynamic shared memory.
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
    let driver = driver()?;
    let function = library::function(function)?;
    out.check()?;
    let threads = u32::try_from(block).ok().filter(|&threads| threads > 0).ok_or(CuResult::INVALID_VALUE)?;
    out.put(blocks(&function, driver.profile, threads, dynamic_shared) as i32)
}

/// Finds the largest of the block sizes that fill a multiprocessor best.
fn put_potential_block(
    min_grid: Out<i32>,
    block: Out<i32>,
    handle: Handle,
    shared_of_block: Option<SharedBytesOfBlock>,
    shared: usize,
    limit: i32,
) -> Result<()> {
    let shared_of = |threads| match shared_of_block {
        // SAFETY: the C caller passed the function to be called like this, with a block size.
        Some(shared_of_block) => unsafe { shared_of_block(threads) },
        None => shared,
    };
    let driver = driver()?;
    let function = library::function(handle)?;
    min_grid.check()?;
    block.check()?;
    let profile = driver.profile;
    let most = function.max_threads(profile);
    // 0 means no limit.
    let limit = match u32::try_from(limit).map_err(|_| CuResult::INVALID_VALUE)? {
        0 => most,
        limit => limit.min(most),
    };
    let sizes = (1..=limit.div_ceil(WARP_SIZE)).map(|warps| (warps * WARP_SIZE).min(limit));
    let candidates = sizes.map(|threads| {
        let blocks = blocks(&function, profile, threads, shared_of(threads as i32));
        (blocks * threads, threads, blocks)
    });
    // If no block size is possible, the answer is no blocks of no threads.
    let (_, threads, blocks) = candidates.filter(|&(_, _, blocks)| blocks > 0).max().unwrap_or_default();
    min_grid.put((blocks * profile.multiprocessors) as i32)?;
    block.put(threads as i32)
}

/// `CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE` has no effect, because caching global loads costs no occupancy here.
fn check_flags(flags: u32) -> Result<()> {
    context::current()?;
    if flags & !1 == 0 { Ok(()) } else { CuResult::INVALID_VALUE.err() }
}

/// The most blocks of a multiprocessor that are in clusters. An H200 answers as if it were this number, however small the blocks are.
const CLUSTERED_BLOCKS: u32 = 8;

/// Counts the clusters that run at once, at most. A GPU may hold fewer of more than two blocks, because all blocks of a cluster run in one
/// group of multiprocessors, and these groups differ between GPUs of one kind.
fn active_clusters(function: &Function, profile: &Profile, config: &LaunchConfigEx) -> Result<u32> {
    let asked = read_shape(config)?.cluster;
    // An H200 wants to be asked about the clusters that a kernel was compiled for, too.
    refuse!(
        INVALID_CLUSTER_SIZE if asked.is_none() && function.kernel().cluster().required.is_some(),
        "the configuration must name the cluster"
    );
    let (bounds, large) = (function.cluster_bounds(), function.allows_large_clusters());
    let clusters = cluster::check(bounds, dim(config.grid), (asked, large), profile);
    let Some(extent) = clusters.map_err(|misuse| code_of(&LaunchError::Misuse(misuse.into())).because(misuse.to_string()))? else {
        return Ok(0);
    };
    let threads = config.block.iter().product();
    let each = blocks(function, profile, threads, config.shared_mem_bytes as usize).min(CLUSTERED_BLOCKS);
    Ok(each * profile.multiprocessors / extent.volume() as u32)
}

exports! {
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Out<i32>, function: Handle, block: i32, dynamic_shared: usize) =>
        put_blocks(blocks, function, block, dynamic_shared);

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<i32>, function: Handle, block: i32, dynamic_shared: usize, flags: u32,
    ) => check_flags(flags).and_then(|()| put_blocks(blocks, function, block, dynamic_shared));

    fn cuOccupancyMaxPotentialBlockSize(
        min_grid: Out<i32>, block: Out<i32>, function: Handle, shared_of_block: Option<SharedBytesOfBlock>, dynamic_shared: usize,
        limit: i32,
    ) => put_potential_block(min_grid, block, function, shared_of_block, dynamic_shared, limit);

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid: Out<i32>, block: Out<i32>, function: Handle, shared_of_block: Option<SharedBytesOfBlock>, dynamic_shared: usize,
        limit: i32, flags: u32,
    ) =>
        check_flags(flags)
            .and_then(|()| put_potential_block(min_grid, block, function, shared_of_block, dynamic_shared, limit));

    /// Returns each block's share of shared memory if `blocks` run at once. The kernel's static shared memory is subtracted. Like a GPU's
    /// driver, this does not subtract the part of each block that the system reserves.
    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Out<usize>, function: Handle, blocks: i32, block: i32) {
        let driver = driver()?;
        let function = library::function(function)?;
        bytes.check()?;
        let profile = driver.profile;
        let (Ok(blocks @ 1..), Ok(threads @ 1..)) = (u32::try_from(blocks), u32::try_from(block)) else {
            refuse!(INVALID_VALUE);
        };
        let without_shared = Occupancy::of(profile, BlockNeeds { shared_bytes: 0, ..function.needs(threads, 0) });
        refuse!(INVALID_VALUE if threads > profile.max_threads_per_block || without_shared.blocks_per_multiprocessor < blocks);
        let free = occupancy::shared_bytes_each(profile, blocks).saturating_sub(function.kernel().static_shared_bytes());
        bytes.put(free.min(function.max_dynamic_shared(profile)) as usize)
    }

    fn cuOccupancyMaxActiveClusters(clusters: Out<i32>, function: Handle, config: In<LaunchConfigEx>) {
        let driver = driver()?;
        let function = library::function(function)?;
        clusters.put_made(|| Ok(active_clusters(&function, driver.profile, &config.read()?)? as i32))
    }

    fn cuOccupancyMaxPotentialClusterSize(size: Out<i32>, function: Handle, config: In<LaunchConfigEx>) {
        let driver = driver()?;
        let function = library::function(function)?;
        size.check()?;
        let config = config.read()?;
        refuse!(
            NOT_SUPPORTED if driver.profile.compute_capability < cluster::FIRST_CAPABILITY,
            "{} has no clusters of blocks", driver.profile.name
        );
        let fits = blocks(&function, driver.profile, config.block.iter().product(), config.shared_mem_bytes as usize) > 0;
        let most = if function.allows_large_clusters() { cluster::MOST_BLOCKS } else { cluster::PORTABLE_BLOCKS };
        size.put(if fits { most as i32 } else { 0 })
    }
}
