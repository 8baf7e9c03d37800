//! The stages with asynchronous copies, which can cut the sums into slices: a block then adds up one slice of its tile's sums, and a second
//! kernel adds up the slices.

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::matmul::ADD_SLICES;
use kernels::matmul::asynchronous::{
    DOUBLE_BUFFERED as DOUBLE_BUFFERED_KERNEL, DOUBLE_BUFFERED_ANY, SMALL_TILE as SMALL, SMALL_TILE_ANY,
};
use oracles::{Accuracy, Mismatch, check};
use run::Result;
use run::gpu::Gpu;
use run::planner::{self, Slices, multiprocessors};
use run::stage::{Prepared, Stage};
use run::workload::matmul::{Buffers, Size};
use run::workload::{Matmul, Problem, Workload};

use crate::choice::{Division, Tile};

/// Threads of a block that adds up slices.
const ADDING: u32 = 256;

/// Large tiles, copied in the background while the previous ones are used.
pub const DOUBLE_BUFFERED: Stage<Matmul> =
    Stage::prepared("double-buffered", "tiles are copied in the background, 128 x 256 outputs per block", |gpu, product| {
        prepare(gpu, product, Division::with(product.size(), Tile::Large, 1))
    })
    .needs_compute_capability(8, 0);

/// The same with small tiles.
pub const SMALL_TILE: Stage<Matmul> =
    Stage::prepared("small-tile", "64 x 64 outputs per block: slower where there are enough large tiles", |gpu, product| {
        prepare(gpu, product, Division::with(product.size(), Tile::Small, 1))
    })
    .needs_compute_capability(8, 0);

/// Tile and slices by the size of the product.
pub const BY_SIZE: Stage<Matmul> =
    Stage::prepared("by-size", "tile and slices chosen by the size of the product", |gpu, product| {
        prepare(gpu, product, Division::of(product.size(), multiprocessors(gpu)?))
    })
    .needs_compute_capability(8, 0)
    .with_allowance(any_order);

/// How far from the exact sum a sum may be that is added up in any order: `k` roundings of the sum of magnitudes,
/// `((1 + u)^k - 1) sum |t|` (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 4.2).
pub fn any_order(product: &Matmul) -> f64 {
    let unit_roundoff = 2.0_f64.powi(-24);
    (f64::from(product.size().k) * unit_roundoff).exp_m1() * product.largest_magnitudes()
}

/// A division with memory for its partial sums.
struct Sliced {
    division: Division,
    partial: Option<CudaSlice<f32>>,
}

fn prepare(gpu: &Gpu, product: &Matmul, division: Division) -> Result<Box<dyn Prepared<Matmul>>> {
    Ok(Box::new(Sliced { division, partial: partial_sums(gpu, product.size(), division.slices.count)? }))
}

/// Memory for the partial sums of all slices; a single slice has none.
pub(crate) fn partial_sums(gpu: &Gpu, size: Size, slices: u32) -> Result<Option<CudaSlice<f32>>> {
    let outputs = size.m as usize * size.n as usize;
    Ok(if slices > 1 { Some(planner::partial_sums(gpu, slices, outputs)?) } else { None })
}

/// Computes a product with a division that its size might not get, and compares it with the oracle.
/// The inner error is what is wrong with the result.
pub fn divided(gpu: &Gpu, product: &Matmul, division: Division) -> Result<Result<Accuracy, Box<Mismatch>>> {
    let mut buffers = product.upload(gpu)?;
    prepare(gpu, product, division)?.enqueue(gpu, product, &mut buffers)?;
    let got = buffers.output.download(gpu)?;
    Ok(check(&got, product.oracle(), any_order(product)))
}

/// The kernel for a tile. Vectors of four numbers can be copied only if every row of `B` starts at a multiple of 16 bytes.
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
        let Division { tile, slices: Slices { count, length } } = self.division;
        let size = product.size();
        let (rows, columns) = tile.sides();
        let function = gpu.kernel(kernel(tile, size))?;
        let grid_dim = (size.n.div_ceil(columns), size.m.div_ceil(rows), count);
        let config = LaunchConfig { grid_dim, block_dim: (tile.threads(), 1, 1), shared_mem_bytes: 0 };
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&function);
        launch.arg(&buffers.a).arg(&buffers.b).arg(&size.m).arg(&size.n).arg(&size.k).arg(&length);
        match &mut self.partial {
            None => launch.arg(&mut output),
            Some(partial) => launch.arg(partial),
        };
        // SAFETY: the kernel reads `m * k` and `k * n` numbers, and writes `m * n` for each slice; the workload made
        // the matrices with those lengths, and for several slices `prepare` made `partial` with `m * n` numbers for
        // each.
        unsafe { launch.launch(config) }?;
        if let Some(partial) = &self.partial {
            add_slices(gpu, product, partial, count, buffers)?;
        }
        Ok(())
    }
    // ANCHOR_END: slices
}

/// Adds up the partial sums, slice by slice.
pub(crate) fn add_slices(gpu: &Gpu, product: &Matmul, partial: &CudaSlice<f32>, slices: u32, buffers: &mut Buffers) -> Result<()> {
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
