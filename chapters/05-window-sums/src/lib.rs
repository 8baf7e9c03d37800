//! Chapter 05: sums over a window, where arithmetic is cheap and every byte that moves counts.
//!
//! # What we compute
//!
//! For each pixel of an image the sum, and the sum of squares, of the pixels in a horizontal window around it.
//! [`common::workload::window_sums`] has the inputs, the oracle, what happens near the edges, and how wide the integers must be.
//!
//! # The stages
//!
//! The functions below stand in the order of the table. [`slices`] has the stages that give each thread shared memory of its own, [`tiles`]
//! those whose threads share it, and [`halves`] what `--diagnose` takes apart. The kernels are in `kernels/cuda/05-window-sums.cu` and
//! `…-tiles.cu` beside it.

pub mod halves;
pub mod slices;
pub mod tiles;

use common::Chapter;
use common::Result;
use common::gpu::Gpu;
use common::report::{Row, row};
use common::stage::Stage;
use common::units::{count, factor, percent, significant};
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
    choice: None,
    experiments: &halves::EXPERIMENTS,
    lesson,
};

// ANCHOR: cpu
/// The formula as loops: for each place a walk over the window, all cores side by side.
pub const CPU: Stage<WindowSums> = Stage::cpu("cpu", "the formula as plain loops, all cores", cpu);

fn cpu(sums: &WindowSums, output: &mut [f32]) {
    let image = sums.image();
    let (width, k) = (image.width as usize, sums.window() as i64 / 2);
    let (sum, squares) = output.split_at_mut(image.pixels.len());
    let rows = sum.par_chunks_mut(width).zip(squares.par_chunks_mut(width)).zip(image.pixels.par_chunks(width));
    rows.for_each(|((sum, squares), pixels)| {
        for x in sums.columns() {
            let window = i64::from(x) - k..=i64::from(x) + k;
            let window = window.map(|place| i64::from(pixels[place.clamp(0, width as i64 - 1) as usize]));
            let (total, square) = window.fold((0, 0), |(total, square), pixel| (total + pixel, square + pixel * pixel));
            sum[x as usize] = total as f32;
            squares[x as usize] = square as f32;
        }
    });
}
// ANCHOR_END: cpu

/// What every kernel is told: `Shape` of `kernels/cuda/05-window-sums.cuh`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Shape {
    width: i32,
    window: i32,
    begin: i32,
    end: i32,
}

// SAFETY: `repr(C)` lays the fields out as the C++ compiler does those of the kernels' `Shape`, and none of them is a pointer.
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

/// Blocks for one place per thread.
fn one_each(sums: &WindowSums) -> LaunchConfig {
    let grid_dim = ((sums.columns().len() as u32).div_ceil(BLOCK), sums.image().height, 1);
    LaunchConfig { grid_dim, block_dim: (BLOCK, 1, 1), shared_mem_bytes: 0 }
}

/// Launches a kernel that takes the image, the shape and both halves of the output, as most of them do.
fn launch(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers, kernel: Kernel, config: LaunchConfig) -> Result<()> {
    let kernel = gpu.kernel(kernel)?;
    let shape = Shape::of(workload);
    let mut output = buffers.output.view_mut();
    let (mut sums, mut squares) = output.split_at_mut(buffers.image.len());
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut sums).arg(&mut squares);
    // SAFETY: with a row of blocks for each row of the image, the kernels read its pixels, places beyond the row as those of its edge, and
    // write one sum and one sum of squares for columns from `begin` to `end`; the workload made the image and each half of the output
    // as long as the image.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Rounding errors of stages that add what `powf` makes, which CUDA promises to 4 units in the last place (CUDA C++ Programming
/// Guide, "Mathematical Functions").
pub fn squares_by_powf(workload: &WindowSums) -> f64 {
    workload.rounding_of_f32_sums(4)
}

// ANCHOR: fused_global
/// The original's first version: both accumulators in global memory.
pub const FUSED_GLOBAL: Stage<WindowSums> =
    Stage::launches("fused-global", "both accumulators in global memory, `powf` for the squares", fused_global)
        .with_allowance(squares_by_powf);

fn fused_global(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, window_sums::FUSED_GLOBAL, one_each(workload))
}
// ANCHOR_END: fused_global

// ANCHOR: split_global
/// One loop for the sums, one for the squares.
pub const SPLIT_GLOBAL: Stage<WindowSums> =
    Stage::launches("split-global", "a loop for each of the two", split_global).with_allowance(squares_by_powf);

fn split_global(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, window_sums::SPLIT_GLOBAL, one_each(workload))
}
// ANCHOR_END: split_global

// ANCHOR: multiply
/// The first version with a product in place of `pow`.
pub const MULTIPLY: Stage<WindowSums> = Stage::launches("multiply", "fused-global with a product in place of `powf`", multiply)
    .with_allowance(|workload| workload.rounding_of_f32_sums(0));

fn multiply(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, window_sums::MULTIPLY, one_each(workload))
}
// ANCHOR_END: multiply

// ANCHOR: registers
/// Both accumulators in registers.
pub const REGISTERS: Stage<WindowSums> = Stage::launches("registers", "both accumulators in registers, as integers", registers);

fn registers(gpu: &Gpu, workload: &WindowSums, buffers: &mut Buffers) -> Result<()> {
    launch(gpu, workload, buffers, window_sums::REGISTERS, one_each(workload))
}
// ANCHOR_END: registers

/// What the table shows, in words and from its own numbers.
fn lesson(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = |name| row(rows, name).and_then(Row::counters);
    let timed = |name| row(rows, name).and_then(Row::median_ms);

    if let (Some(fused), Some(split), Some(registers)) = (counted("fused-global"), counted("split-global"), counted("registers")) {
        let requests = |c: &simt::Counters| c.global_load_requests + c.global_store_requests;
        lines.push(format!(
            "fused-global asks global memory {} times as often as registers, split-global {} times: with both accumulators in one loop the \
             compiler must expect that a store to one changes the other, and loads it again",
            significant(requests(fused) as f64 / requests(registers) as f64),
            significant(requests(split) as f64 / requests(registers) as f64),
        ));
    }
    if let (Some(pow), Some(product)) = (counted("fused-global"), counted("multiply")) {
        lines.push(format!(
            "multiply executes {} of the PTX instructions of fused-global: the others are what `powf` takes to square a number",
            percent(product.ptx_thread_instructions as f64 / pow.ptx_thread_instructions as f64),
        ));
    }
    if let (Some(odd), Some(padded)) = (counted("shared-slices"), counted("padded-slices")) {
        lines.push(format!(
            "padded-slices has {} bank conflicts, and shared-slices {}: slices of an odd number of words begin in different banks",
            count(padded.bank_conflicts()),
            count(odd.bank_conflicts()),
        ));
    }
    if let (Some(fused), Some(slices), Some(multiply), Some(registers)) =
        (timed("fused-global"), timed("shared-slices"), timed("multiply"), timed("registers"))
    {
        lines.push(format!(
            "shared-slices, with the sums on chip, is {} as fast as fused-global; multiply, without `powf`, {}; registers, with both, {}",
            factor(fused / slices),
            factor(fused / multiply),
            factor(fused / registers),
        ));
    }
    lines
}
