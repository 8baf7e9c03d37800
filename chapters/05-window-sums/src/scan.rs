//! The stages that compute prefix sums of whole rows, from which a window of any width is two loads away.

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::window_sums::once::{ONCE_THREADS, ONCE_TILE, ONE_PASS as ONE_PASS_KERNEL};
use kernels::window_sums::scan::{DIFFERENCES, PREFIX_ROWS, SCAN_THREADS, SCAN_TILE};
use run::gpu::allow_shared_memory;
use run::workload::window_sums::{Buffers, WindowSums};
use run::{Gpu, Prepared, Result, Stage, Unmet};

use crate::launch::{Shape, one_each};

/// Prefix sums of whole rows by decoupled look-back, then differences.
pub const INTEGRAL: Stage<WindowSums> =
    Stage::prepared("integral", "prefix sums of whole rows, stored for windows of any width", |gpu, workload| {
        prepare(gpu, workload, SCAN_TILE, 2, integral)
    })
    // Relaxed loads and stores of the whole GPU.
    .needs_compute_capability(7, 0);

/// The same in one launch. A block subtracts prefix sums while they are in shared memory.
pub const ONE_PASS: Stage<WindowSums> =
    Stage::prepared("one-pass", "prefix sums of whole rows in one launch, which stores few of them", |gpu, workload| {
        prepare(gpu, workload, ONCE_TILE, 3, one_pass)
    })
    .needs_compute_capability(7, 0)
    .requires(|gpu, _| Ok(Unmet::shared_memory(TILE_BYTES + OTHER_BYTES, gpu.most_shared_bytes()?)));

/// Bytes of a tile of [`ONE_PASS`] in shared memory. The second constant is the most that its other variables take there.
const TILE_BYTES: u32 = 8 * ONCE_TILE;
const OTHER_BYTES: u32 = 256;

/// The prefix sums, and what blocks tell each other.
struct Sums {
    pixels_to: CudaSlice<u32>,
    squares_to: CudaSlice<u32>,
    /// The next ticket, then a word for the pixels of each tile, then one for their squares, and more.
    state: CudaSlice<u64>,
    /// The tiles of all rows: the blocks of the scan.
    tiles: u32,
    enqueue: Enqueue,
}

/// Function that enqueues the launches of a stage.
type Enqueue = fn(&mut Sums, &Gpu, &WindowSums, &mut Buffers) -> Result<()>;

/// Allocates the prefix sums and the state. There are `words` of state for each tile of `tile` pixels.
fn prepare(gpu: &Gpu, workload: &WindowSums, tile: u32, words: u32, enqueue: Enqueue) -> Result<Box<dyn Prepared<WindowSums>>> {
    let pixels = workload.image().pixels.len();
    let tiles = workload.image().width.div_ceil(tile) * workload.image().height;
    let [pixels_to, squares_to] = [gpu.stream.alloc_zeros(pixels)?, gpu.stream.alloc_zeros(pixels)?];
    Ok(Box::new(Sums { pixels_to, squares_to, state: gpu.stream.alloc_zeros(1 + (words * tiles) as usize)?, tiles, enqueue }))
}

impl Prepared<WindowSums> for Sums {
    fn enqueue(&mut self, gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
        // Nothing is published yet, and the first ticket is 0.
        gpu.stream.memset_zeros(&mut self.state)?;
        (self.enqueue)(self, gpu, workload, buffers)
    }
}

fn integral(own: &mut Sums, gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    let (shape, rows) = (Shape::of(workload), workload.image().height as i32);
    let scan = gpu.kernel(PREFIX_ROWS)?;
    let config = LaunchConfig { grid_dim: (own.tiles, 1, 1), block_dim: (SCAN_THREADS, 1, 1), shared_mem_bytes: 0 };
    let mut launch = gpu.stream.launch_builder(&scan);
    launch.arg(&buffers.image).arg(&shape).arg(&rows).arg(&mut own.state).arg(&mut own.pixels_to).arg(&mut own.squares_to);
    // SAFETY: there is a block for each tile of each row, and each takes a ticket below their number. A block reads
    // the pixels of its tile that are in its row, writes a prefix sum of each in either array, which are as long as
    // the image, and reads and writes its row's words of `state`, which has two for each tile after the tickets.
    unsafe { launch.launch(config) }?;
    let differences = gpu.kernel(DIFFERENCES)?;
    let mut output = buffers.output.view_mut();
    let (mut sums, mut squares) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&differences);
    launch.arg(&buffers.image).arg(&shape).arg(&own.pixels_to).arg(&own.squares_to).arg(&mut sums).arg(&mut squares);
    // SAFETY: with a row of blocks for each row of the image, the kernel reads pixels and prefix sums of its row,
    // with positions beyond the row moved to its edge, and writes a sum and a sum of squares for each column from
    // `begin` to `end`; all arrays are as long as the image.
    unsafe { launch.launch(one_each(workload)) }?;
    Ok(())
}

fn one_pass(own: &mut Sums, gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    let (shape, rows) = (Shape::of(workload), workload.image().height as i32);
    let kernel = gpu.kernel(ONE_PASS_KERNEL)?;
    let config = LaunchConfig { grid_dim: (own.tiles, 1, 1), block_dim: (ONCE_THREADS, 1, 1), shared_mem_bytes: TILE_BYTES };
    allow_shared_memory(&kernel, config.shared_mem_bytes)?;
    let mut output = buffers.output.view_mut();
    let (mut sums, mut squares) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&rows).arg(&mut own.state).arg(&mut own.pixels_to).arg(&mut own.squares_to);
    launch.arg(&mut sums).arg(&mut squares);
    // SAFETY: there is a block for each tile of each row, and each takes a ticket below their number. A block reads the
    // pixels of its tile that are in its row, writes prefix sums of them in either array and reads some before them,
    // writes a sum and a sum of squares for columns from `begin` to `end`, and uses its row's words of `state`, which
    // has three for each tile after the tickets. All arrays are as long as the image, and the tile has the shared memory
    // that the launch gives it.
    unsafe { launch.launch(config) }?;
    Ok(())
}
