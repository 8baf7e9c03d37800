//! The stages with asynchronous copies, which can cut the sums into slices: a block then adds up one slice of its tile's sums, and a second
//! kernel adds up the slices.

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::matmul::ADD_SLICES;
use kernels::matmul::asynchronous::{
    DOUBLE_BUFFERED as DOUBLE_BUFFERED_KERNEL, DOUBLE_BUFFERED_ANY, SMALL_TILE as SMALL, SMALL_TILE_ANY,
};
use oracles::{Accuracy, Mismatch, check};
use run::gpu::allow_shared_memory;
use run::planner::{Slices, multiprocessors, partial_sums};
use run::workload::Problem;
use run::workload::matmul::{Buffers, Matmul, Size};
use run::{Gpu, Prepared, Result, Stage, Workload};

use crate::choice::{Division, Tile};

/// Threads of a block that adds up slices.
const ADDING: u32 = 256;

/// Large tiles, copied in the background while the previous ones are used.
pub const DOUBLE_BUFFERED: Stage<Matmul> =
    Stage::prepared("double-buffered", "tiles are copied in the background, 128 x 256 outputs per block", |gpu, product| {
        divide(gpu, product, Division::with(product.size(), Tile::Large, 1))
    })
    .needs_compute_capability(8, 0);

/// The same with small tiles.
pub const SMALL_TILE: Stage<Matmul> =
    Stage::prepared("small-tile", "64 x 64 outputs per block: slower where there are enough large tiles", |gpu, product| {
        divide(gpu, product, Division::with(product.size(), Tile::Small, 1))
    })
    .needs_compute_capability(8, 0);

/// Tile and slices by the size of the product.
pub const BY_SIZE: Stage<Matmul> =
    Stage::prepared("by-size", "tile and slices chosen by the size of the product", |gpu, product| {
        divide(gpu, product, Division::of(product.size(), multiprocessors(gpu)?))
    })
    .needs_compute_capability(8, 0)
    .with_allowance(any_order);

/// Returns the largest error of a sum in any order: `k` roundings of the sum of magnitudes, `((1 + u)^k - 1) sum |t|`
/// (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 4.2).
pub fn any_order(product: &Matmul) -> f64 {
    let unit_roundoff = 2.0_f64.powi(-24);
    (f64::from(product.size().k) * unit_roundoff).exp_m1() * product.largest_magnitudes()
}

/// A kernel whose blocks add up slices of their sums.
pub(crate) struct Blocks {
    pub(crate) kernel: Kernel,
    /// Rows and columns of the outputs of a block.
    pub(crate) sides: (u32, u32),
    pub(crate) threads: u32,
    /// Bytes of dynamic shared memory.
    pub(crate) shared_bytes: u32,
}

/// Blocks and slices for a product, with memory for partial sums. A single slice has none.
struct Sliced {
    blocks: Blocks,
    slices: Slices,
    partial: Option<CudaSlice<f32>>,
}

/// Prepares a product with these blocks and slices.
pub(crate) fn prepare(gpu: &Gpu, product: &Matmul, blocks: Blocks, slices: Slices) -> Result<Box<dyn Prepared<Matmul>>> {
    let partial = if slices.count > 1 { Some(partial_sums(gpu, slices.count, product.output_len())?) } else { None };
    Ok(Box::new(Sliced { blocks, slices, partial }))
}

fn divide(gpu: &Gpu, product: &Matmul, Division { tile, slices }: Division) -> Result<Box<dyn Prepared<Matmul>>> {
    let kernel = kernel(tile, product.size());
    prepare(gpu, product, Blocks { kernel, sides: tile.sides(), threads: tile.threads(), shared_bytes: 0 }, slices)
}

/// Computes a product with this division and compares it with the oracle. The product's size might not get this
/// division. The inner error is what is wrong with the result.
pub fn divided(gpu: &Gpu, product: &Matmul, division: Division) -> Result<Result<Accuracy, Box<Mismatch>>> {
    let mut buffers = product.upload(gpu)?;
    divide(gpu, product, division)?.enqueue(gpu, product, &mut buffers)?;
    let got = buffers.output.download(gpu)?;
    Ok(check(&got, product.oracle(), any_order(product)))
}

/// Returns a tile's kernel. It can copy vectors of four numbers only if every row of `B` starts at a multiple of 16 bytes.
fn kernel(tile: Tile, size: Size) -> Kernel {
    match (tile, size.n.is_multiple_of(4)) {
        (Tile::Large, true) => DOUBLE_BUFFERED_KERNEL,
        (Tile::Large, false) => DOUBLE_BUFFERED_ANY,
        (Tile::Small, true) => SMALL,
        (Tile::Small, false) => SMALL_TILE_ANY,
    }
}

impl Prepared<Matmul> for Sliced {
    // ANCHOR: slices
    fn enqueue(&mut self, gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
        let (Size { m, n, k }, Slices { count, length }) = (product.size(), self.slices);
        let Blocks { kernel, sides: (rows, columns), threads, shared_bytes } = self.blocks;
        let function = gpu.kernel(kernel)?;
        if shared_bytes > 0 {
            allow_shared_memory(&function, shared_bytes)?;
        }
        let grid_dim = (n.div_ceil(columns), m.div_ceil(rows), count);
        let config = LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: shared_bytes };
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&function);
        launch.arg(&buffers.a).arg(&buffers.b).arg(&m).arg(&n).arg(&k).arg(&length);
        match &mut self.partial {
            None => launch.arg(&mut output),
            Some(partial) => launch.arg(partial),
        };
        // SAFETY: the kernel reads `m * k` and `k * n` numbers, and writes `m * n` for each slice; the workload made
        // the matrices with those lengths, and for several slices `prepare` made `partial` with `m * n` numbers for
        // each. The launch gives the block the shared memory that the kernel's `Blocks` say it uses.
        unsafe { launch.launch(config) }?;
        if let Some(partial) = &self.partial {
            add_slices(gpu, product, partial, count, buffers)?;
        }
        Ok(())
    }
    // ANCHOR_END: slices
}

/// Adds up the partial sums, slice by slice.
fn add_slices(gpu: &Gpu, product: &Matmul, partial: &CudaSlice<f32>, slices: u32, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(ADD_SLICES)?;
    let outputs = u64::from(product.size().m) * u64::from(product.size().n);
    let blocks = outputs.div_ceil(u64::from(ADDING)) as u32;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (ADDING, 1, 1), shared_mem_bytes: 0 };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(partial).arg(&outputs).arg(&slices).arg(&mut output);
    // SAFETY: the kernel reads `slices` rows of `m * n` partial sums and writes `m * n` results; the stage made
    // `partial` with that many rows, and its first kernel has written them; the workload made the output with `m * n`
    // values.
    unsafe { launch.launch(config) }?;
    Ok(())
}
