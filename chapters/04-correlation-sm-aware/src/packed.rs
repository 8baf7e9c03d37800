//! The stages that multiply four pixels with one instruction, `dp4a`, from compute capability 6.1 on.

use cudarc::driver::{CudaSlice, DevicePtr, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::correlation::dp4a::{self, MOST_WORDS, RUN, TALL, VECTOR};
use kernels::correlation::{BLOCK_X, BLOCK_Y};
use run::workload::correlation::{Buffers, Correlation};
use run::{Gpu, Prepared, Result, Stage, Unmet};

use crate::shape::Shape;
use crate::variant::{Attributes, Tile};

/// Returns the words of a row of the template.
fn words_per_row(correlation: &Correlation) -> u32 {
    correlation.template().width.div_ceil(VECTOR)
}

/// Returns the words of the template in the kernels' order. Includes the rows of zeros after it.
fn template_words(correlation: &Correlation) -> u32 {
    words_per_row(correlation) * (correlation.template().height + TALL - 1)
}

/// Returns a block's tile for `wide` by `tall` outputs per thread: whole words, and one more at the end of each row,
/// because a window that starts inside a word also ends inside one.
fn tile(correlation: &Correlation, wide: u32, tall: u32) -> Tile {
    let pitch = (BLOCK_X * wide).next_multiple_of(VECTOR) + (words_per_row(correlation) + 1) * VECTOR;
    Tile { pitch, rows: BLOCK_Y * tall + correlation.template().height - 1 }
}

/// Checks what kernels with such a tile require: constant memory for the template, and shared memory for the tile.
fn requirement(gpu: &Gpu, correlation: &Correlation, tile: Tile) -> Result<Option<Unmet>> {
    let constant = Unmet::limit("words of constant memory", template_words(correlation), MOST_WORDS);
    let shared_bytes = Attributes::of(gpu)?.shared_bytes;
    Ok(constant.or_else(|| Unmet::shared_memory(tile.bytes(), shared_bytes)))
}

/// Returns a grid with `wide` x `tall` outputs per thread.
fn config(correlation: &Correlation, wide: u32, tall: u32) -> LaunchConfig {
    let (columns, rows) = correlation.outputs();
    let grid_dim = (columns.div_ceil(BLOCK_X * wide), rows.div_ceil(BLOCK_Y * tall), 1);
    LaunchConfig { grid_dim, block_dim: (BLOCK_X, BLOCK_Y, 1), shared_mem_bytes: tile(correlation, wide, tall).bytes() }
}

/// Arranges the template in words of constant memory.
fn fill_words(gpu: &Gpu, correlation: &Correlation, buffers: &Buffers) -> Result<()> {
    const THREADS: u32 = 256;
    let module = gpu.module(&dp4a::SOURCE)?;
    let symbol = module.get_global(dp4a::WORDS, &gpu.stream)?;
    let kernel = gpu.kernel(dp4a::FILL_WORDS)?;
    let (width, height) = (correlation.template().width as i32, correlation.template().height as i32);
    let (words, _in_use) = symbol.device_ptr(&gpu.stream);
    let blocks = template_words(correlation).div_ceil(THREADS);
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.template).arg(&width).arg(&height).arg(&words);
    // SAFETY: the kernel reads `width * height` pixels, the length of the workload's template, and writes
    // `template_words` words to the symbol, which holds `MOST_WORDS`; the stages require that many to be enough.
    unsafe { launch.launch(LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }) }?;
    Ok(())
}

/// One output per thread, four pixels per instruction.
pub const DP4A: Stage<Correlation> = Stage::launches("dp4a", "four pixels per instruction", |gpu, correlation, buffers| {
    with_words(gpu, correlation, buffers, dp4a::DP4A, 1)
})
.needs_compute_capability(6, 1)
.requires(|gpu, correlation| requirement(gpu, correlation, tile(correlation, 1, 1)));

/// Four neighboring outputs per thread, which share the words it reads.
pub const DP4A_TILE: Stage<Correlation> =
    Stage::launches("dp4a-tile", "four neighboring outputs per thread share what it reads", |gpu, correlation, buffers| {
        with_words(gpu, correlation, buffers, dp4a::DP4A_TILE, VECTOR)
    })
    .needs_compute_capability(6, 1)
    .requires(|gpu, correlation| requirement(gpu, correlation, tile(correlation, VECTOR, 1)));

/// Launches a kernel with `wide` outputs side by side per thread.
fn with_words(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers, kernel: Kernel, wide: u32) -> Result<()> {
    fill_words(gpu, correlation, buffers)?;
    let kernel = gpu.kernel(kernel)?;
    let (shape, pitch) = (Shape::of(correlation), tile(correlation, wide, 1).pitch as i32);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&pitch).arg(&mut output);
    // SAFETY: the kernels read the image, with positions outside moved to its edge, and write a result for each
    // output; the workload made the buffers with those lengths, which `shape` gives. They read the template's words,
    // which `fill_words` has written, and their tile has the bytes that the launch gives it.
    unsafe { launch.launch(config(correlation, wide, 1)) }?;
    Ok(())
}

/// The sums of the image's pixels do not depend on the template. They are computed beforehand, by running sums, so only
/// the products remain in the inner loop.
pub const BOX_SUMS: Stage<Correlation> = Stage::prepared(
    "box-sums",
    "sums of pixels by running sums; only the products remain in the inner loop",
    |gpu, correlation| Ok(Box::new(BoxSums::new(gpu, correlation)?)),
)
.needs_compute_capability(6, 1)
.requires(|gpu, correlation| requirement(gpu, correlation, tile(correlation, VECTOR, TALL)));

/// ΣI and ΣI² of every output, pair by pair. `of_rows` has those of the rows that they are added from.
pub(crate) struct BoxSums {
    of_rows: CudaSlice<u32>,
    pub(crate) of_windows: CudaSlice<u32>,
}

impl BoxSums {
    pub(crate) fn new(gpu: &Gpu, correlation: &Correlation) -> Result<Self> {
        let (columns, rows) = correlation.outputs();
        let pairs = |rows: u32| 2 * rows as usize * columns as usize;
        Ok(Self {
            of_rows: gpu.stream.alloc_zeros(pairs(rows + correlation.template().height - 1))?,
            of_windows: gpu.stream.alloc_zeros(pairs(rows))?,
        })
    }

    /// Enqueues the two kernels that compute the sums.
    pub(crate) fn sum(&mut self, gpu: &Gpu, correlation: &Correlation, buffers: &Buffers) -> Result<()> {
        let shape = Shape::of(correlation);
        let (columns, rows) = correlation.outputs();
        let rows_read = rows + correlation.template().height - 1;
        let row_tile = Tile { rows: BLOCK_Y, ..tile(correlation, VECTOR, 1) };

        let row_sums = gpu.kernel(dp4a::ROW_SUMS)?;
        let pitch = row_tile.pitch as i32;
        let mut launch = gpu.stream.launch_builder(&row_sums);
        launch.arg(&buffers.image).arg(&shape).arg(&pitch).arg(&mut self.of_rows);
        let config = LaunchConfig {
            grid_dim: (columns.div_ceil(BLOCK_X * VECTOR), rows_read.div_ceil(BLOCK_Y), 1),
            block_dim: (BLOCK_X, BLOCK_Y, 1),
            shared_mem_bytes: row_tile.bytes(),
        };
        // SAFETY: the kernel reads the image, with positions outside moved to its edge, whose length the workload's
        // `shape` gives, and writes a pair for every column and every row that an output reads; `new` made `of_rows`
        // with that many. Its tile has the bytes that the launch gives it.
        unsafe { launch.launch(config) }?;

        let column_sums = gpu.kernel(dp4a::COLUMN_SUMS)?;
        let mut launch = gpu.stream.launch_builder(&column_sums);
        launch.arg(&self.of_rows).arg(&shape).arg(&mut self.of_windows);
        let config = LaunchConfig {
            grid_dim: (columns.div_ceil(BLOCK_X), rows.div_ceil(BLOCK_Y * RUN), 1),
            block_dim: (BLOCK_X, BLOCK_Y, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the kernel reads the pairs in `of_rows`, all of which the kernel before it wrote, and writes a pair
        // for every output; `new` made `of_windows` with that many.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}

impl Prepared<Correlation> for BoxSums {
    fn enqueue(&mut self, gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
        self.sum(gpu, correlation, buffers)?;
        fill_words(gpu, correlation, buffers)?;
        let products = gpu.kernel(dp4a::PRODUCTS)?;
        let (shape, pitch) = (Shape::of(correlation), tile(correlation, VECTOR, TALL).pitch as i32);
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&products);
        launch.arg(&buffers.image).arg(&self.of_windows).arg(&shape).arg(&pitch).arg(&mut output);
        // SAFETY: the kernel reads the image, with positions outside moved to its edge, and writes a result for each
        // output; the workload made the buffers with those lengths, which `shape` gives. It reads a pair of
        // `of_windows` for each output, which `sum` has written, and the template's words, which `fill_words` has
        // written. Its tile has the bytes that the launch gives it.
        unsafe { launch.launch(config(correlation, VECTOR, TALL)) }?;
        Ok(())
    }
}
