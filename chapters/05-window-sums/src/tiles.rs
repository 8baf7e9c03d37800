//! The stages whose threads share tiles of a row, and then the sums of their neighbours, up to the speed of a copy.

use common::Result;
use common::gpu::Gpu;
use common::stage::Stage;
use common::workload::WindowSums;
use common::workload::window_sums::Buffers;
use cudarc::driver::LaunchConfig;
use kernels::window_sums::tiles as kernel;
use kernels::window_sums::tiles::{ROW_THREADS, RUN, RUN_THREADS, TILE, TILE_THREADS, WARP};

use crate::{launch, one_each};

/// Blocks of `threads` threads that have `places` places each, for every row, from the first place on.
fn blocks(workload: &WindowSums, places: u32, threads: u32) -> LaunchConfig {
    let grid_dim = ((workload.columns().len() as u32).div_ceil(places), workload.image().height, 1);
    LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// The same from the last multiple of a warp's width before the first place, so that blocks begin where vectors do.
fn aligned_blocks(workload: &WindowSums, places: u32, threads: u32) -> LaunchConfig {
    let columns = workload.columns();
    let from = columns.start / WARP * WARP;
    let grid_dim = ((columns.end - from).div_ceil(places), workload.image().height, 1);
    LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

// ANCHOR: shared_tile
/// Each pixel fetched once per block.
pub const SHARED_TILE: Stage<WindowSums> =
    Stage::launches("shared-tile", "the pixels of all windows of a block in shared memory, once", shared_tile);

fn shared_tile(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, kernel::SHARED_TILE, one_each(workload))
}
// ANCHOR_END: shared_tile

// ANCHOR: sliding
/// Each place's sums from those of its neighbour.
pub const SLIDING: Stage<WindowSums> =
    Stage::launches("sliding", "nine places per thread: one pixel enters the window, one leaves it", sliding);

fn sliding(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, kernel::SLIDING, blocks(workload, RUN_THREADS * RUN, RUN_THREADS))
}
// ANCHOR_END: sliding

// ANCHOR: vector
/// Four places per thread, stored at once.
pub const VECTOR: Stage<WindowSums> = Stage::launches("vector", "four places per thread, loaded and stored as vectors", vector);

fn vector(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    let config = aligned_blocks(workload, RUN_THREADS * kernel::VECTOR, RUN_THREADS);
    launch(gpu, workload, buffers, kernel::VECTORS, config)
}
// ANCHOR_END: vector

// ANCHOR: row_scan
/// Prefix sums of what changes from one place to the next, along a whole row.
pub const ROW_SCAN: Stage<WindowSums> =
    Stage::launches("row-scan", "prefix sums of the changes along a row, for windows of any width", row_scan)
        .needs_compute_capability(3, 0);

fn row_scan(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, kernel::ROW_SCAN, blocks(workload, workload.image().width, ROW_THREADS))
}
// ANCHOR_END: row_scan

// ANCHOR: tile_scan
/// A window's sum as the difference of two prefix sums of a tile.
pub const TILE_SCAN: Stage<WindowSums> =
    Stage::launches("tile-scan", "prefix sums of a tile: a window is the difference of two", tile_scan)
        .needs_compute_capability(3, 0)
        .skipped_where(|_, workload| {
            let (window, most) = (workload.window(), widest());
            (window > most).then(|| format!("a tile holds the windows of some places up to a width of {most}, and not of {window}"))
        });

fn tile_scan(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, kernel::TILE_SCAN, aligned_blocks(workload, places(workload.window()), TILE_THREADS))
}
// ANCHOR_END: tile_scan

/// Places of a tile: those whose windows, with the pixel before them, lie in it wherever it begins, and a multiple of a warp's width.
fn places(window: u32) -> u32 {
    (TILE - window - (kernel::VECTOR - 1)) / WARP * WARP
}

/// The widest window of which a tile has places.
pub fn widest() -> u32 {
    TILE - WARP - (kernel::VECTOR - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_window_leaves_a_warp_of_places() {
        assert_eq!((widest(), places(widest()), places(15)), (989, 32, 992));
    }
}
