//! The stage that stores prefix sums of whole rows, from which a window of any width is two loads away.

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::window_sums::scan::{DIFFERENCES, PREFIX_ROWS, SCAN_THREADS, SCAN_TILE};
use run::workload::window_sums::{Buffers, WindowSums};
use run::{Gpu, Prepared, Result, Stage};

use crate::launch::{Shape, one_each};

/// Prefix sums of whole rows by decoupled look-back, then differences.
pub const INTEGRAL: Stage<WindowSums> =
    Stage::prepared("integral", "prefix sums of whole rows, stored for windows of any width", prepare)
        // Relaxed loads and stores of the whole GPU.
        .needs_compute_capability(7, 0);

/// The prefix sums, and what blocks tell each other.
struct Integral {
    pixels_to: CudaSlice<u32>,
    squares_to: CudaSlice<u32>,
    /// The next ticket, then a word for the pixels of each tile, then one for their squares.
    state: CudaSlice<u64>,
}

fn prepare(gpu: &Gpu, workload: &WindowSums) -> Result<Box<dyn Prepared<WindowSums>>> {
    let pixels = workload.image().pixels.len();
    let [pixels_to, squares_to] = [gpu.stream.alloc_zeros(pixels)?, gpu.stream.alloc_zeros(pixels)?];
    Ok(Box::new(Integral { pixels_to, squares_to, state: gpu.stream.alloc_zeros(1 + 2 * tiles(workload) as usize)? }))
}

/// Returns the number of tiles of all rows: the blocks of the scan.
fn tiles(workload: &WindowSums) -> u32 {
    workload.image().width.div_ceil(SCAN_TILE) * workload.image().height
}

impl Prepared<WindowSums> for Integral {
    fn enqueue(&mut self, gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
        let (shape, rows) = (Shape::of(workload), workload.image().height as i32);
        // Nothing is published yet, and the first ticket is 0.
        gpu.stream.memset_zeros(&mut self.state)?;
        let scan = gpu.kernel(PREFIX_ROWS)?;
        let config = LaunchConfig { grid_dim: (tiles(workload), 1, 1), block_dim: (SCAN_THREADS, 1, 1), shared_mem_bytes: 0 };
        let mut launch = gpu.stream.launch_builder(&scan);
        launch.arg(&buffers.image).arg(&shape).arg(&rows).arg(&mut self.state).arg(&mut self.pixels_to).arg(&mut self.squares_to);
        // SAFETY: there is a block for each tile of each row, and each takes a ticket below their number. A block reads
        // the pixels of its tile that are in its row, writes a prefix sum of each in either array, which are as long as
        // the image, and reads and writes its row's words of `state`, which has two for each tile after the tickets.
        unsafe { launch.launch(config) }?;
        let differences = gpu.kernel(DIFFERENCES)?;
        let mut output = buffers.output.view_mut();
        let (mut sums, mut squares) = output.split_at_mut(buffers.image.len());
        let mut launch = gpu.stream.launch_builder(&differences);
        launch.arg(&buffers.image).arg(&shape).arg(&self.pixels_to).arg(&self.squares_to).arg(&mut sums).arg(&mut squares);
        // SAFETY: with a row of blocks for each row of the image, the kernel reads pixels and prefix sums of its row,
        // with positions beyond the row moved to its edge, and writes a sum and a sum of squares for each column from
        // `begin` to `end`; all arrays are as long as the image.
        unsafe { launch.launch(one_each(workload)) }?;
        Ok(())
    }
}
