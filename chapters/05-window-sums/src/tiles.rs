//! The stages whose threads share tiles of a row, and then their neighbors' sums, up to the speed of a copy.

use cudarc::driver::LaunchConfig;
use kernels::window_sums::tiles as kernel;
use kernels::window_sums::tiles::{ROW_THREADS, RUN, RUN_THREADS, TILE, TILE_THREADS, WARP};
use run::workload::window_sums::WindowSums;
use run::{Stage, Unmet};

use crate::launch::{launch, one_each};

/// Returns a grid with blocks of `outputs` outputs for every row. They start at the output's first column.
fn blocks(workload: &WindowSums, outputs: u32, threads: u32) -> LaunchConfig {
    let grid_dim = ((workload.columns().len() as u32).div_ceil(outputs), workload.image().height, 1);
    LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Returns the same, but from a multiple of a warp's width: the last up to that column, where a vector begins.
fn aligned_blocks(workload: &WindowSums, outputs: u32, threads: u32) -> LaunchConfig {
    let columns = workload.columns();
    let from = columns.start / WARP * WARP;
    let grid_dim = ((columns.end - from).div_ceil(outputs), workload.image().height, 1);
    LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Each pixel is loaded once per block.
pub const SHARED_TILE: Stage<WindowSums> = Stage::launches(
    "shared-tile",
    "the pixels under a block's windows in shared memory, each loaded once",
    |gpu, workload, buffers| launch(gpu, workload, buffers, kernel::SHARED_TILE, one_each(workload)),
);

/// Each output's sums from its neighbor's.
pub const SLIDING: Stage<WindowSums> =
    Stage::launches("sliding", "nine outputs per thread: one pixel enters the window, one leaves it", |gpu, workload, buffers| {
        launch(gpu, workload, buffers, kernel::SLIDING, blocks(workload, RUN_THREADS * RUN, RUN_THREADS))
    });

/// Four outputs per thread, stored at once.
pub const VECTOR: Stage<WindowSums> =
    Stage::launches("vector", "four outputs per thread, loaded and stored as vectors", |gpu, workload, buffers| {
        let config = aligned_blocks(workload, RUN_THREADS * kernel::VECTOR, RUN_THREADS);
        launch(gpu, workload, buffers, kernel::VECTORS, config)
    });

/// Prefix sums, along a whole row, of the changes between outputs.
pub const ROW_SCAN: Stage<WindowSums> =
    Stage::launches("row-scan", "prefix sums of the changes along a row, for windows of any width", |gpu, workload, buffers| {
        launch(gpu, workload, buffers, kernel::ROW_SCAN, blocks(workload, workload.image().width, ROW_THREADS))
    })
    .needs_compute_capability(3, 0);

/// Window sums, each the difference of two prefix sums of a tile.
pub const TILE_SCAN: Stage<WindowSums> = Stage::launches(
    "tile-scan",
    "prefix sums of a tile: the sum over a window is the difference of two",
    |gpu, workload, buffers| {
        let config = aligned_blocks(workload, outputs_of_tile(workload.window()), TILE_THREADS);
        launch(gpu, workload, buffers, kernel::TILE_SCAN, config)
    },
)
.needs_compute_capability(3, 0)
.requires(|_, workload| Ok(Unmet::limit("pixels per window", workload.window(), widest())));

/// Returns the outputs of a tile: those whose windows, with the pixel before them, are in the tile wherever it begins,
/// and a multiple of a warp's width.
fn outputs_of_tile(window: u32) -> u32 {
    (TILE - window - (kernel::VECTOR - 1)) / WARP * WARP
}

/// Returns the widest window for which a tile has outputs.
pub fn widest() -> u32 {
    TILE - WARP - (kernel::VECTOR - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_window_leaves_a_warp_of_outputs() {
        assert_eq!((widest(), outputs_of_tile(widest()), outputs_of_tile(15)), (989, 32, 992));
    }
}
