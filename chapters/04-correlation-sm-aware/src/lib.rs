//! Chapter 04: template matching with kernels that know which generation of GPUs they run on.
//!
//! # What we compute
//!
//! For every place in an image the normalised cross-correlation with a template: with the sums over the template's `n` pixels,
//!
//! `coefficient = (n ΣIT - ΣI ΣT) / sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²))`
//!
//! [`common::workload::correlation`] has the inputs, the oracle, and what happens at the edges.
//!
//! # The stages
//!
//! The functions below stand in the order of the table, each beside the launch that it makes. [`variant`] chooses between kernels by the
//! device; [`packed`] has the stages that multiply four pixels with one instruction, [`tensor`] the one that multiplies matrices. The kernels are in
//! `kernels/cuda/04-correlation-sm-aware.cu` and, for what not every generation has, in `…-dp4a.cu` and `…-tensor.cu` beside it.

pub mod packed;
pub mod tensor;
pub mod variant;

use common::Chapter;
use common::Result;
use common::gpu::Gpu;
use common::report::{Row, row};
use common::stage::Stage;
use common::units::{count, factor, percent};
use common::workload::Correlation;
use common::workload::correlation::Buffers;
use cudarc::driver::{DeviceRepr, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::correlation::{self, BLOCK_X, BLOCK_Y};
use rayon::prelude::*;

use crate::variant::{Multiply, Tile, Variant, chosen};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Correlation> = Chapter {
    name: "04-correlation-sm-aware",
    about: "template matching, with kernels for each generation of GPUs",
    sources: &[&correlation::SOURCE, &correlation::dp4a::SOURCE, &correlation::tensor::SOURCE],
    stages: &[
        CPU,
        GLOBAL,
        CONSTANT,
        SHARED,
        SHARED_SM,
        SHARED_UNROLL_4,
        SHARED_SUMS,
        packed::DP4A,
        packed::DP4A_TILE,
        packed::BOX_SUMS,
        tensor::TENSOR_CORES,
    ],
    mistakes: &[],
    experiments: &[],
    choice: Some(|gpu, correlation| Ok(format!("shared-sm: {}", chosen(gpu, correlation)?))),
    lesson,
};

// ANCHOR: cpu
/// The formula as loops: for each output a walk over the template, all cores side by side.
pub const CPU: Stage<Correlation> = Stage::cpu("cpu", "the formula as plain loops, all cores", cpu);

fn cpu(correlation: &Correlation, output: &mut [f32]) {
    let (image, template) = (correlation.image(), correlation.template());
    let (columns, _) = correlation.outputs();
    let (corner_x, corner_y) = correlation.corner();
    let shape = Shape::of(correlation);
    let clamped = |position: i64, length: u32| position.clamp(0, i64::from(length) - 1) as usize;
    output.par_chunks_mut(columns as usize).enumerate().for_each(|(y, output)| {
        for (x, output) in output.iter_mut().enumerate() {
            let (mut sum, mut squares, mut products) = (0_i64, 0_i64, 0_i64);
            for (j, wanted) in template.pixels.chunks(template.width as usize).enumerate() {
                let row = image.row(clamped(y as i64 + i64::from(corner_y) + j as i64, image.height) as u32);
                for (i, &wanted) in wanted.iter().enumerate() {
                    let pixel = i64::from(row[clamped(x as i64 + i64::from(corner_x) + i as i64, image.width)]);
                    sum += pixel;
                    squares += pixel * pixel;
                    products += pixel * i64::from(wanted);
                }
            }
            let pixels = i64::from(correlation.template_pixels());
            let of_image = pixels * squares - sum * sum;
            let covariance = pixels * products - sum * shape.template_sum;
            let variances = of_image as f32 * shape.template_variance as f32;
            *output = if variances > 0.0 { covariance as f32 / variances.sqrt() } else { 0.0 };
        }
    });
}
// ANCHOR_END: cpu

/// What every kernel is told: `Shape` of `kernels/cuda/04-correlation.cuh`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    image_width: i32,
    image_height: i32,
    template_width: i32,
    template_height: i32,
    corner_x: i32,
    corner_y: i32,
    columns: i32,
    rows: i32,
    template_sum: i64,
    template_variance: i64,
}

// SAFETY: `repr(C)` lays the fields out as the C++ compiler does those of the kernels' `Shape`, and none of them is a pointer.
unsafe impl DeviceRepr for Shape {}

impl Shape {
    /// The template's sums are added up here, on the CPU: they are the same for every output.
    pub(crate) fn of(correlation: &Correlation) -> Self {
        let (sum, squares) = correlation.template_sums();
        let (sum, squares) = (i64::from(sum), i64::from(squares));
        let ((corner_x, corner_y), (columns, rows)) = (correlation.corner(), correlation.outputs());
        Self {
            image_width: correlation.image().width as i32,
            image_height: correlation.image().height as i32,
            template_width: correlation.template().width as i32,
            template_height: correlation.template().height as i32,
            corner_x,
            corner_y,
            columns: columns as i32,
            rows: rows as i32,
            template_sum: sum,
            template_variance: i64::from(correlation.template_pixels()) * squares - sum * sum,
        }
    }
}

/// Blocks for one output per thread.
fn one_each(correlation: &Correlation, shared_mem_bytes: u32) -> LaunchConfig {
    let (columns, rows) = correlation.outputs();
    let grid_dim = (columns.div_ceil(BLOCK_X), rows.div_ceil(BLOCK_Y), 1);
    LaunchConfig { grid_dim, block_dim: (BLOCK_X, BLOCK_Y, 1), shared_mem_bytes }
}

// ANCHOR: global
/// One thread per output, image and template in global memory.
pub const GLOBAL: Stage<Correlation> = Stage::launches("global", "one thread per output, both pictures in global memory", global);

fn global(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(correlation::GLOBAL)?;
    let shape = Shape::of(correlation);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&buffers.template).arg(&shape).arg(&mut output);
    // SAFETY: the kernel reads the pixels of both pictures, places outside the image as those of its edge, and writes as many results
    // as there are outputs; the workload made the buffers with those lengths.
    unsafe { launch.launch(one_each(correlation, 0)) }?;
    Ok(())
}
// ANCHOR_END: global

// ANCHOR: constant
/// The template in constant memory, where all lanes of a warp get the same pixel at once.
pub const CONSTANT: Stage<Correlation> = Stage::launches("constant", "the template in constant memory", constant);

fn constant(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    fill_constant(gpu, buffers)?;
    let kernel = gpu.kernel(correlation::CONSTANT)?;
    let shape = Shape::of(correlation);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut output);
    // SAFETY: as for `global`, with the template in constant memory, which holds the largest one that the workload accepts.
    unsafe { launch.launch(one_each(correlation, 0)) }?;
    Ok(())
}

/// Copies the template from its buffer to the module's variable, as `cudaMemcpyToSymbol` does.
fn fill_constant(gpu: &Gpu, buffers: &Buffers) -> Result<()> {
    let module = gpu.module(&correlation::SOURCE)?;
    let mut symbol = module.get_global(correlation::TEMPLATE, &gpu.stream)?;
    Ok(gpu.stream.memcpy_dtod(&buffers.template, &mut symbol.slice_mut(..buffers.template.len()))?)
}
// ANCHOR_END: constant

// ANCHOR: shared
/// The block's part of the image in shared memory; where it does not fit, `constant` does the work.
pub const SHARED: Stage<Correlation> = Stage::launches("shared", "the block's tile of the image in shared memory", shared);

fn shared(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    match chosen(gpu, correlation)? {
        Variant::Shared { tile, .. } => with_tile(gpu, correlation, buffers, correlation::SHARED, tile),
        Variant::Constant { .. } => constant(gpu, correlation, buffers),
    }
}

/// Launches one of the kernels that keep a tile of the image in shared memory.
///
/// # Errors
///
/// The driver's errors.
pub fn with_tile(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers, kernel: Kernel, tile: Tile) -> Result<()> {
    fill_constant(gpu, buffers)?;
    let function = gpu.kernel(kernel)?;
    let (shape, pitch) = (Shape::of(correlation), tile.pitch as i32);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&function);
    launch.arg(&buffers.image).arg(&shape).arg(&pitch).arg(&mut output);
    if [correlation::SUMS.name, correlation::SUMS_MULTIPLY_24.name].contains(&kernel.name) {
        launch.arg(&mut buffers.sums);
    }
    // SAFETY: as for `constant`; the tile that the kernel writes and reads has as many bytes as the launch gives it, and `sums` has three
    // words per output, for those kernels that write them.
    unsafe { launch.launch(one_each(correlation, tile.bytes())) }?;
    Ok(())
}
// ANCHOR_END: shared

// ANCHOR: shared_sm
/// The same, with multiplications as wide as the device likes them.
pub const SHARED_SM: Stage<Correlation> =
    Stage::launches("shared-sm", "multiplications of 24 bits on compute capability 1.x, of 32 on all others", shared_sm);

fn shared_sm(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    by_generation(gpu, correlation, buffers, correlation::SHARED_MULTIPLY_24, correlation::SHARED)
}

/// Launches one of two kernels by the device's generation, or `constant` where the tile does not fit.
fn by_generation(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers, bits_24: Kernel, bits_32: Kernel) -> Result<()> {
    match chosen(gpu, correlation)? {
        Variant::Shared { multiply: Multiply::Bits24, tile } => with_tile(gpu, correlation, buffers, bits_24, tile),
        Variant::Shared { multiply: Multiply::Bits32, tile } => with_tile(gpu, correlation, buffers, bits_32, tile),
        Variant::Constant { .. } => constant(gpu, correlation, buffers),
    }
}
// ANCHOR_END: shared_sm

// ANCHOR: shared_unroll_4
/// The same with four template pixels per turn of the loop.
pub const SHARED_UNROLL_4: Stage<Correlation> =
    Stage::launches("shared-unroll-4", "four template pixels per turn of the loop", shared_unroll_4);

fn shared_unroll_4(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    by_generation(gpu, correlation, buffers, correlation::UNROLL_4_MULTIPLY_24, correlation::UNROLL_4)
}
// ANCHOR_END: shared_unroll_4

// ANCHOR: shared_sums
/// The same, which also stores ΣI, ΣI² and ΣIT of every output. Without a tile there is no such kernel, and the stage is skipped.
pub const SHARED_SUMS: Stage<Correlation> =
    Stage::launches("shared-sums", "the same, and the three sums are stored, too", shared_sums).skipped_where(
        |gpu, correlation| match chosen(gpu, correlation) {
            Ok(Variant::Shared { .. }) => None,
            Ok(constant) => Some(constant.to_string()),
            Err(error) => Some(error.to_string()),
        },
    );

fn shared_sums(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    by_generation(gpu, correlation, buffers, correlation::SUMS_MULTIPLY_24, correlation::SUMS)
}
// ANCHOR_END: shared_sums

/// What the table shows, in words and from its own numbers.
fn lesson(rows: &[Row]) -> Vec<String> {
    let mut lines = Vec::new();
    let counted = |name| row(rows, name).and_then(Row::counters);
    let timed = |name| row(rows, name).and_then(Row::median_ms);

    if let (Some(shared), Some(unrolled)) = (counted("shared"), counted("shared-unroll-4"))
        && shared.bank_conflicts() > 0
    {
        lines.push(format!(
            "shared reads bytes with {} bank conflicts, and shared-unroll-4 with {}: the lanes ask for the same bytes, only the loop around \
             them is shorter",
            count(shared.bank_conflicts()),
            count(unrolled.bank_conflicts()),
        ));
    }
    if let (Some(unrolled), Some(dp4a), Some(tile)) = (counted("shared-unroll-4"), counted("dp4a"), counted("dp4a-tile")) {
        lines.push(format!(
            "dp4a executes {} of the PTX instructions of shared-unroll-4, and dp4a-tile {}: four pixels per instruction, then four \
             outputs per load",
            percent(dp4a.ptx_thread_instructions as f64 / unrolled.ptx_thread_instructions as f64),
            percent(tile.ptx_thread_instructions as f64 / unrolled.ptx_thread_instructions as f64),
        ));
    }
    if let (Some(tile), Some(boxes)) = (counted("dp4a-tile"), counted("box-sums")) {
        lines.push(format!(
            "box-sums executes {} of dp4a-tile's dp4a: two of the three sums do not depend on the template",
            percent(boxes.dp4a as f64 / tile.dp4a as f64),
        ));
    }
    if let (Some(global), Some(shared)) = (timed("global"), timed("shared")) {
        lines.push(format!("shared is {} as fast as global with the same arithmetic", factor(global / shared)));
    }
    if let (Some(shared), Some(tile), Some(tensor)) = (timed("shared"), timed("dp4a-tile"), timed("tensor")) {
        let why = if tensor < tile {
            "instructions that only some generations have"
        } else {
            "there are too few places for tensor's large blocks"
        };
        lines.push(format!(
            "dp4a-tile is {} as fast as shared, and tensor {}: {why}",
            factor(shared / tile),
            factor(shared / tensor)
        ));
    }
    lines
}
