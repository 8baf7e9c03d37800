//! Chapter 05: sums over a window, where arithmetic is cheap and every byte that moves counts.
//!
//! # What we compute
//!
//! For each pixel of an image, the sum and the sum of squares of the pixels in a horizontal window around it.
//! [`common::workload::window_sums`] has the inputs, the oracle, what happens near the edges, and how wide the integers must be.
//!
//! # The stages
//!
//! The stages follow in the order of the table, each with the launch that it makes. The kernels are in
//! `kernels/cuda/05-window-sums.cu` and, from [`tiles::SHARED_TILE`] on, in `…-tiles.cu` beside it.
//!
//! # Layout
//!
//! - [`slices`]: the stages that give each thread shared memory of its own.
//! - [`tiles`]: the stages whose threads share a tile.
//! - [`halves`]: the experiments that `--diagnose` runs.

pub mod halves;
pub mod slices;
pub mod tiles;

use common::Chapter;
use common::Result;
use common::gpu::Gpu;
use common::lesson::Comparison;
use common::measure::Measure;
use common::stage::Stage;
use common::workload::WindowSums;
use common::workload::window_sums::Buffers;
use cudarc::driver::{DeviceRepr, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::window_sums::{self, BLOCK};
use rayon::prelude::*;

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<WindowSums> = Chapter {
    name: "05-window-sums",
    about: "sums over a window: find the bottleneck, then move the sums on chip",
    sources: &[&window_sums::SOURCE, &window_sums::tiles::SOURCE],
    stages: &[
        CPU,
        FUSED_GLOBAL,
        SPLIT_GLOBAL,
        slices::SHARED_SLICES,
        slices::PADDED_SLICES,
        MULTIPLY,
        REGISTERS,
        tiles::SHARED_TILE,
        tiles::SLIDING,
        tiles::VECTOR,
        tiles::ROW_SCAN,
        tiles::TILE_SCAN,
    ],
    mistakes: &[],
    experiments: &halves::EXPERIMENTS,
    choice: None,
    lesson: LESSON,
};

/// What the table shows.
const LESSON: &[Comparison<WindowSums>] = &[
    Comparison::counts(
        FUSED_GLOBAL,
        SPLIT_GLOBAL,
        Measure::GlobalRequests,
        "With both sums in one loop, the compiler must assume that storing one changes the other, and loads it again.",
    ),
    Comparison::counts(SPLIT_GLOBAL, REGISTERS, Measure::GlobalRequests, "A sum in a register is stored once, at the end."),
    Comparison::counts(
        FUSED_GLOBAL,
        MULTIPLY,
        Measure::InstructionsPerMultiplyAdd,
        "The other instructions are what `powf` takes to square a number.",
    ),
    Comparison::counts(
        slices::SHARED_SLICES,
        slices::PADDED_SLICES,
        Measure::BankConflicts,
        "Slices of an odd number of words start in different banks; slices of a round number do not.",
    ),
    Comparison::times(FUSED_GLOBAL, slices::SHARED_SLICES, "The sums are on chip while they grow."),
    Comparison::times(FUSED_GLOBAL, MULTIPLY, "A product replaces `powf`."),
    Comparison::times(FUSED_GLOBAL, REGISTERS, "The sums are in registers, and a product replaces `powf`."),
];

/// What every kernel is given: `Shape` of `kernels/cuda/05-window-sums.cuh`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Shape {
    width: i32,
    window: i32,
    begin: i32,
    end: i32,
}

// SAFETY: `repr(C)` lays out the fields as the C++ compiler lays out the kernels' `Shape`, and none of them is a pointer.
unsafe impl DeviceRepr for Shape {}

impl Shape {
    fn of(sums: &WindowSums) -> Self {
        let columns = sums.columns();
        Self {
            width: sums.image().width as i32,
            window: sums.window() as i32,
            begin: columns.start as i32,
            end: columns.end as i32,
        }
    }
}

/// A grid with one output per thread, and a row of blocks for each row of the image.
fn one_each(sums: &WindowSums) -> LaunchConfig {
    let grid_dim = ((sums.columns().len() as u32).div_ceil(BLOCK), sums.image().height, 1);
    LaunchConfig { grid_dim, block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 }
}

/// Launches a kernel that takes the image, the shape, and both halves of the output, as most of this chapter's kernels do.
fn launch(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers, kernel: Kernel, config: LaunchConfig) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let shape = Shape::of(workload);
    let mut output = buffers.output.view_mut();
    let (mut sums, mut squares) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut sums).arg(&mut squares);
    // SAFETY: with a row of blocks for each row of the image, the kernels read its pixels, with positions beyond the row moved to its edge, and
    // write a sum and a sum of squares for each column from `begin` to `end`; the workload made the image and each half of the output as
    // long as `shape` and the rows of the grid say.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// The rounding errors of stages that add results of `powf`, which CUDA promises to 4 units in the last place (CUDA C++ Programming Guide,
/// "Mathematical Functions").
pub fn squares_by_powf(workload: &WindowSums) -> f64 {
    workload.rounding_of_f32_sums(4)
}

// ANCHOR: cpu
/// The formula as loops: for each pixel a loop over its window, on all cores.
pub const CPU: Stage<WindowSums> = Stage::cpu("cpu", "the formula as plain loops, all cores", cpu);

fn cpu(sums: &WindowSums, output: &mut [f32]) {
    let image = sums.image();
    let (width, k) = (image.width as usize, sums.window() as i64 / 2);
    let (sum, squares) = output.split_at_mut(image.pixels.len());
    let rows = sum.par_chunks_mut(width).zip(squares.par_chunks_mut(width)).zip(image.pixels.par_chunks(width));
    rows.for_each(|((sum, squares), pixels)| {
        for x in sums.columns() {
            let window = i64::from(x) - k..=i64::from(x) + k;
            let window = window.map(|x| i64::from(pixels[x.clamp(0, width as i64 - 1) as usize]));
            let (total, square) = window.fold((0, 0), |(total, square), pixel| (total + pixel, square + pixel * pixel));
            sum[x as usize] = total as f32;
            squares[x as usize] = square as f32;
        }
    });
}
// ANCHOR_END: cpu

// ANCHOR: fused_global
/// The original's first version: both sums in global memory while they grow.
pub const FUSED_GLOBAL: Stage<WindowSums> =
    Stage::launches("fused-global", "both sums in global memory, `powf` for the squares", fused_global)
        .with_allowance(squares_by_powf);

fn fused_global(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, window_sums::FUSED_GLOBAL, one_each(workload))
}
// ANCHOR_END: fused_global

// ANCHOR: split_global
/// One loop for the sum, and one for the sum of squares.
pub const SPLIT_GLOBAL: Stage<WindowSums> =
    Stage::launches("split-global", "one loop for each of the two sums", split_global).with_allowance(squares_by_powf);

fn split_global(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, window_sums::SPLIT_GLOBAL, one_each(workload))
}
// ANCHOR_END: split_global

// ANCHOR: multiply
/// The first version with a product instead of `powf`.
pub const MULTIPLY: Stage<WindowSums> = Stage::launches("multiply", "fused-global with a product instead of `powf`", multiply)
    .with_allowance(|workload| workload.rounding_of_f32_sums(0));

fn multiply(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, window_sums::MULTIPLY, one_each(workload))
}
// ANCHOR_END: multiply

// ANCHOR: registers
/// Both sums in registers.
pub const REGISTERS: Stage<WindowSums> = Stage::launches("registers", "both sums in registers, as integers", registers);

fn registers(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, window_sums::REGISTERS, one_each(workload))
}
// ANCHOR_END: registers
