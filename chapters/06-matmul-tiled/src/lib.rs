//! Chapter 06: the product of two matrices, where every number is used thousands of times.
//!
//! # What we compute
//!
//! `c[i][j] = sum over l < k of a[i][l] * b[l][j]`, all three matrices stored row after row, of any size.
//! [`common::workload::matmul`] has the inputs, the oracle, and how far from it a result may lie.
//!
//! # The stages
//!
//! The functions below stand in the order of the table, each with the tile that its blocks compute. [`slices`] has the stages whose copies
//! nobody waits for and which can cut the sum into slices, and [`choice`] which of them a size gets; [`tensor`] has the one on tensor cores,
//! and [`rival`] calls NVIDIA's own library. The kernels are in `kernels/cuda/06-matmul-tiled.cu` and, for what needs compute capability
//! 8.0, in `…-async.cu` and `…-tensor.cu` beside it.

pub mod choice;
pub mod rival;
pub mod slices;
pub mod tensor;

use common::Chapter;
use common::Result;
use common::gpu::Gpu;
use common::report::{Row, row};
use common::stage::Stage;
use common::units::{factor, percent, significant};
use common::workload::Matmul;
use common::workload::matmul::{Buffers, Size};
use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::matmul::{self, BLOCK_COLUMNS, BLOCK_ROWS, COLUMN_THREADS, COLUMN_TILE, THREADS, TILE};
use rayon::prelude::*;

use crate::choice::Division;

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Matmul> = Chapter {
    name: "06-matmul-tiled",
    about: "the product of two matrices, from one thread per element to the vendor's library",
    sources: &[&matmul::SOURCE, &matmul::asynchronous::SOURCE, &matmul::tensor::SOURCE],
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
        rival::CUBLAS,
        rival::CUBLAS_TF32,
    ],
    mistakes: &[],
    experiments: &[],
    choice: Some(|gpu, product| Ok(format!("by-size: {}", Division::of(product.size(), choice::multiprocessors(gpu)?)))),
    lesson,
};

// ANCHOR: cpu
/// Three loops, row by row, all cores side by side.
pub const CPU: Stage<Matmul> = Stage::cpu("cpu", "the three loops, all cores", cpu);

fn cpu(product: &Matmul, output: &mut [f32]) {
    let Size { n, k, .. } = product.size();
    output.par_chunks_mut(n as usize).zip(product.a().par_chunks(k as usize)).for_each(|(output, a)| {
        output.fill(0.0);
        for (&factor, b) in a.iter().zip(product.b().chunks(n as usize)) {
            for (output, &b) in output.iter_mut().zip(b) {
                *output += factor * b;
            }
        }
    });
}
// ANCHOR_END: cpu

/// Blocks of `threads` threads, each for a tile of the result.
fn tiles(size: Size, rows: u32, columns: u32, threads: u32) -> LaunchConfig {
    let grid_dim = (size.n.div_ceil(columns), size.m.div_ceil(rows), 1);
    LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Launches a kernel that takes the matrices and their sizes.
fn launch(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers, kernel: Kernel, config: LaunchConfig) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let Size { m, n, k } = product.size();
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.a).arg(&buffers.b).arg(&m).arg(&n).arg(&k).arg(&mut output);
    // SAFETY: the kernels read `m * k` and `k * n` numbers and write `m * n`, whatever the grid; the workload made the buffers with those
    // lengths.
    unsafe { launch.launch(config) }?;
    Ok(())
}

// ANCHOR: naive
/// One thread per output.
pub const NAIVE: Stage<Matmul> = Stage::launches("naive", "one thread per output", naive);

fn naive(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, product, buffers, matmul::NAIVE, tiles(product.size(), TILE, TILE, TILE * TILE))
}
// ANCHOR_END: naive

// ANCHOR: tiled
/// The original's second version: tiles of both matrices in shared memory.
pub const TILED: Stage<Matmul> = Stage::launches("tiled", "tiles of 16 x 16 of both matrices in shared memory", tiled);

fn tiled(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, product, buffers, matmul::TILED, tiles(product.size(), TILE, TILE, TILE * TILE))
}
// ANCHOR_END: tiled

// ANCHOR: register_tile_1d
/// Eight outputs per thread, one below the other.
pub const REGISTER_TILE_1D: Stage<Matmul> =
    Stage::launches("register-tile-1d", "a column of eight outputs per thread", register_tile_1d);

fn register_tile_1d(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
    let config = tiles(product.size(), COLUMN_TILE, COLUMN_TILE, COLUMN_THREADS);
    launch(gpu, product, buffers, matmul::REGISTER_TILE_1D, config)
}
// ANCHOR_END: register_tile_1d

/// Blocks for the stages with 8 x 8 outputs per thread.
fn large_tiles(product: &Matmul) -> LaunchConfig {
    tiles(product.size(), BLOCK_ROWS, BLOCK_COLUMNS, THREADS)
}

// ANCHOR: register_tile
/// A square of outputs per thread.
pub const REGISTER_TILE: Stage<Matmul> = Stage::launches("register-tile", "8 x 8 outputs per thread", register_tile);

fn register_tile(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, product, buffers, matmul::REGISTER_TILE, large_tiles(product))
}
// ANCHOR_END: register_tile

// ANCHOR: vector
/// Four numbers per load, and the next tiles on their way.
pub const VECTOR: Stage<Matmul> = Stage::launches("vector", "four numbers per load, and no bank conflicts", vector);

fn vector(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, product, buffers, matmul::VECTOR, large_tiles(product))
}
// ANCHOR_END: vector

// ANCHOR: warp_tile
/// A rectangle of outputs per warp.
pub const WARP_TILE: Stage<Matmul> = Stage::launches("warp-tile", "a rectangle of outputs per warp", warp_tile);

fn warp_tile(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, product, buffers, matmul::WARP_TILE, large_tiles(product))
}
// ANCHOR_END: warp_tile

/// What the table shows, in words and from its own numbers.
fn lesson(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = |name| row(rows, name).and_then(Row::counters);
    let timed = |name| row(rows, name).and_then(Row::median_ms);

    if let (Some(tiled), Some(square)) = (counted("tiled"), counted("register-tile")) {
        let per_product =
            |c: &simt::Counters| 32.0 * (c.shared_load_wavefronts + c.shared_store_wavefronts) as f64 / c.f32_fma as f64;
        lines.push(format!(
            "for 32 multiply-adds, tiled passes {} times through the banks of shared memory and register-tile {}: a number that is in a register \
             serves eight products",
            significant(per_product(tiled)),
            significant(per_product(square)),
        ));
    }
    if let (Some(square), Some(vector)) = (counted("register-tile"), counted("vector")) {
        lines.push(format!(
            "vector makes {} of the requests to shared memory that register-tile makes",
            percent(
                (vector.shared_load_requests + vector.shared_store_requests) as f64
                    / (square.shared_load_requests + square.shared_store_requests) as f64
            ),
        ));
    }
    if let (Some(naive), Some(best), Some(cublas)) = (timed("naive"), timed("by-size"), timed("cublas")) {
        lines.push(format!(
            "by-size is {} as fast as naive, and {} as fast as cuBLAS",
            factor(naive / best),
            factor(cublas / best)
        ));
    }
    lines
}
