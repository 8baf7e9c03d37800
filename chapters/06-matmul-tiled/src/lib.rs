//! Chapter 06: the product of two matrices, where every number is used thousands of times.
//!
//! # What we compute
//!
//! `c[i][j] = sum over l < k of a[i][l] * b[l][j]`, with all three matrices stored row by row, of any size.
//! [`run::workload::matmul`] has the inputs, the oracle, and how far from it a result may be.
//!
//! # The stages
//!
//! The stages follow in the order of the table, each with the tile that its blocks compute. The kernels are in
//! `kernels/cuda/06-matmul-tiled.cu` and, for what needs compute capability 8.0, in `…-async.cu` and `…-tensor.cu` next to it; for what only 9.0
//! has, in `…-hopper.cu`, `…-sizes.cu` and `…-split.cu`.
//!
//! # Layout
//!
//! - [`slices`]: the stages with asynchronous copies, which can cut the sum into slices; [`choice`]: which tile and slices a size gets.
//! - [`tensor`]: the stage on tensor cores. [`hopper`]: the stage on those of Hopper, [`sizes`] the one for every size, and [`split`] the one that is as accurate as f32;
//!   [`run::tensor_map`] describes their matrices to TMA.
//! - [`rival`]: NVIDIA's own library.

pub mod choice;
pub mod hopper;
pub mod rival;
pub mod sizes;
pub mod slices;
pub mod split;
pub mod tensor;

use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::matmul::{self, BLOCK_COLUMNS, BLOCK_ROWS, COLUMN_THREADS, COLUMN_TILE, THREADS, TILE};
use run::planner::multiprocessors;
use run::workload::matmul::{Buffers, Matmul, Size};
use run::{Chapter, Comparison, Gpu, Measure, Result, Stage};

use crate::choice::Division;

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Matmul> = Chapter {
    name: "06-matmul-tiled",
    about: "the product of two matrices, from one thread per element to the vendor's library",
    sources: &[
        &matmul::SOURCE,
        &matmul::asynchronous::SOURCE,
        &matmul::tensor::SOURCE,
        &matmul::hopper::SOURCE,
        &matmul::sizes::SOURCE,
        &matmul::split::SOURCE,
    ],
    stages: &[
        CPU,
        NAIVE,
        TILED,
        REGISTER_TILE_1D,
        REGISTER_TILE,
        VECTOR,
        WARP_TILE,
        slices::DOUBLE_BUFFERED,
        slices::SMALL_TILE,
        slices::BY_SIZE,
        tensor::TENSOR_TF32,
        hopper::WGMMA_TF32,
        sizes::WGMMA_BY_SIZE,
        split::TENSOR_3XTF32,
        rival::CUBLAS,
        rival::CUBLAS_TF32,
    ],
    mistakes: &[],
    variants: &[],
    experiments: &[],
    choice: Some(|gpu, product| Ok(format!("{}: {}", slices::BY_SIZE.name, Division::of(product.size(), multiprocessors(gpu)?)))),
    lesson: LESSON,
};

/// The lesson of the table.
const LESSON: &[Comparison<Matmul>] = &[
    Comparison::counts(TILED, REGISTER_TILE, Measure::SharedWavefrontsPerWarpMultiplyAdd)
        .because("A number that is in a register serves eight multiply-adds."),
    Comparison::counts(REGISTER_TILE, VECTOR, Measure::SharedRequests).because("Each load brings four numbers."),
    Comparison::times(tensor::TENSOR_TF32, hopper::WGMMA_TF32)
        .because("Four warps multiply together, and read the larger factor straight from shared memory."),
    Comparison::times(NAIVE, slices::BY_SIZE).because("It loads less per multiply-add, and waits for fewer loads."),
    Comparison::times(rival::CUBLAS, slices::BY_SIZE)
        .because("At this size, the choice of tile and slices is better than what the library chooses by itself."),
];

/// Three loops, row by row, on all cores.
pub const CPU: Stage<Matmul> = Stage::cpu("cpu", "the three loops, all cores", baselines::matmul::rows);

/// Returns a grid with one block for each tile of the result.
fn tiles(size: Size, rows: u32, columns: u32, threads: u32) -> LaunchConfig {
    let grid_dim = (size.n.div_ceil(columns), size.m.div_ceil(rows), 1);
    LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Launches a kernel that takes the matrices and their sizes. This file's kernels do.
fn launch(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers, kernel: Kernel, config: LaunchConfig) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let Size { m, n, k } = product.size();
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.a).arg(&buffers.b).arg(&m).arg(&n).arg(&k).arg(&mut output);
    // SAFETY: the kernels read `m * k` and `k * n` numbers and write `m * n`, whatever the grid; the workload made the
    // matrices with those lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// One thread per output.
pub const NAIVE: Stage<Matmul> = Stage::launches("naive", "one thread per output", |gpu, product, buffers| {
    launch(gpu, product, buffers, matmul::NAIVE, tiles(product.size(), TILE, TILE, TILE * TILE))
});

/// The original's second version: tiles of both matrices in shared memory.
pub const TILED: Stage<Matmul> =
    Stage::launches("tiled", "tiles of 16 x 16 of both matrices in shared memory", |gpu, product, buffers| {
        launch(gpu, product, buffers, matmul::TILED, tiles(product.size(), TILE, TILE, TILE * TILE))
    });

/// Eight outputs per thread, one below another.
pub const REGISTER_TILE_1D: Stage<Matmul> =
    Stage::launches("register-tile-1d", "a column of eight outputs per thread", |gpu, product, buffers| {
        let config = tiles(product.size(), COLUMN_TILE, COLUMN_TILE, COLUMN_THREADS);
        launch(gpu, product, buffers, matmul::REGISTER_TILE_1D, config)
    });

/// Returns the grid for stages with 8 x 8 outputs per thread.
fn large_tiles(product: &Matmul) -> LaunchConfig {
    tiles(product.size(), BLOCK_ROWS, BLOCK_COLUMNS, THREADS)
}

/// A square of outputs per thread.
pub const REGISTER_TILE: Stage<Matmul> = Stage::launches("register-tile", "8 x 8 outputs per thread", |gpu, product, buffers| {
    launch(gpu, product, buffers, matmul::REGISTER_TILE, large_tiles(product))
});

/// Four numbers per load, while the next tiles are being loaded.
pub const VECTOR: Stage<Matmul> =
    Stage::launches("vector", "four numbers per load, without bank conflicts", |gpu, product, buffers| {
        launch(gpu, product, buffers, matmul::VECTOR, large_tiles(product))
    });

/// A rectangle of outputs per warp.
pub const WARP_TILE: Stage<Matmul> = Stage::launches("warp-tile", "a rectangle of outputs per warp", |gpu, product, buffers| {
    launch(gpu, product, buffers, matmul::WARP_TILE, large_tiles(product))
});
