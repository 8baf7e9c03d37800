//! Chapter 04: template matching with kernels that know which generation of GPUs they run on.
//!
//! # What we compute
//!
//! For every position in an image, the normalized cross-correlation with a template: with the sums over the template's `n` pixels,
//!
//! `coefficient = (n ΣIT - ΣI ΣT) / sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²))`
//!
//! [`run::workload::correlation`] has the inputs, the oracle, and what happens at the edges.
//!
//! # The stages
//!
//! The stages follow in the order of the table, each with the launch that it makes. The kernels are in
//! `kernels/cuda/04-correlation-sm-aware.cu` and, for what not every generation has, in `…-dp4a.cu`, `…-tensor.cu` and `…-hopper.cu` beside it.
//!
//! # Layout
//!
//! - `shape`: what every kernel is given; [`variant`]: which kernel a device gets.
//! - [`packed`]: the stages that multiply four pixels with one instruction.
//! - [`tensor`]: the stage that multiplies matrices; [`hopper`] and [`roles`]: those for the tensor cores of compute capability 9.0.
//! - [`fft`]: the rival, by transforms.

pub mod fft;
pub mod hopper;
pub mod packed;
pub mod roles;
mod shape;
pub mod tensor;
pub mod variant;

use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::correlation::{self, BLOCK_X, BLOCK_Y};
use kernels::unroll;
use run::workload::correlation::{Buffers, Correlation};
use run::{Chapter, Comparison, Gpu, Measure, Result, Stage, Unmet};

use crate::shape::Shape;
use crate::variant::{Attributes, Multiply, Tile, TileKernel, Variant, chosen};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<Correlation> = Chapter {
    name: "04-correlation-sm-aware",
    about: "template matching, with kernels for each generation of GPUs",
    sources: &[
        &correlation::SOURCE,
        &correlation::dp4a::SOURCE,
        &correlation::tensor::SOURCE,
        &correlation::hopper::SOURCE,
        &correlation::roles::SOURCE,
        &correlation::fft::SOURCE,
        &unroll::fft::SOURCE,
    ],
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
        hopper::WGMMA,
        roles::WGMMA_ROLES,
        fft::FFT,
    ],
    mistakes: &[],
    variants: &[],
    experiments: &[],
    choice: Some(|gpu, correlation| Ok(format!("{}: {}", SHARED_SM.name, chosen(gpu, correlation)?))),
    lesson: LESSON,
};

/// The lesson of the table.
const LESSON: &[Comparison<Correlation>] = &[
    Comparison::counts(SHARED, SHARED_UNROLL_4, Measure::BankConflicts)
        .because("The lanes read the same bytes; only the loop around them is shorter."),
    Comparison::counts(SHARED_UNROLL_4, packed::DP4A, Measure::InstructionsPerMultiplyAdd)
        .because("One instruction multiplies four pixels."),
    Comparison::counts(packed::DP4A, packed::DP4A_TILE, Measure::InstructionsPerMultiplyAdd)
        .because("Four outputs share each word that a thread loads."),
    Comparison::counts(packed::DP4A_TILE, packed::BOX_SUMS, Measure::Dp4aPerMultiplyAdd)
        .because("Two of the three sums do not depend on the template, so they are computed once."),
    Comparison::times(GLOBAL, SHARED).because("The arithmetic is the same, but the pixels come from shared memory."),
    Comparison::times(SHARED, packed::DP4A_TILE).because("`dp4a` is an instruction that only some generations have."),
    Comparison::times(packed::DP4A_TILE, tensor::TENSOR_CORES)
        .because("Tensor cores multiply bytes faster still.")
        .otherwise("There are too few outputs for its large blocks."),
    Comparison::times(tensor::TENSOR_CORES, hopper::WGMMA)
        .because("The tensor cores read the image where it lies, and one kernel does the work of four."),
    Comparison::times(hopper::WGMMA, roles::WGMMA_ROLES)
        .because("Some warps sum windows while others multiply.")
        .otherwise("There are too few outputs for its large blocks."),
];

/// Returns a grid with one output per thread.
fn one_each(correlation: &Correlation, shared_mem_bytes: u32) -> LaunchConfig {
    let (columns, rows) = correlation.outputs();
    let grid_dim = (columns.div_ceil(BLOCK_X), rows.div_ceil(BLOCK_Y), 1);
    LaunchConfig { grid_dim, block_dim: (BLOCK_X, BLOCK_Y, 1), shared_mem_bytes }
}

/// The formula as loops: for each output a loop over the template, on all cores.
pub const CPU: Stage<Correlation> = Stage::cpu("cpu", "the formula as plain loops, all cores", baselines::correlation::rows);

/// One thread per output, with image and template in global memory.
pub const GLOBAL: Stage<Correlation> =
    Stage::launches("global", "one thread per output, image and template in global memory", global);

fn global(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    let kernel = gpu.kernel(correlation::GLOBAL)?;
    let shape = Shape::of(correlation);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&buffers.template).arg(&shape).arg(&mut output);
    // SAFETY: the kernel reads the pixels of the image and of the template, with positions outside the image moved to
    // its edge, and writes a result for each output; the workload made the buffers with those lengths, which `shape`
    // gives.
    unsafe { launch.launch(one_each(correlation, 0)) }?;
    Ok(())
}

// ANCHOR: constant
/// The template in constant memory, which broadcasts each pixel to a warp.
pub const CONSTANT: Stage<Correlation> = Stage::launches("constant", "the template in constant memory", constant);

fn constant(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers) -> Result<()> {
    fill_constant(gpu, buffers)?;
    let kernel = gpu.kernel(correlation::CONSTANT)?;
    let shape = Shape::of(correlation);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&shape).arg(&mut output);
    // SAFETY: the kernel reads the pixels of the image, with positions outside moved to its edge, and writes a result
    // for each output; the workload made the buffers with those lengths, which `shape` gives. It reads the template
    // from constant memory, where `fill_constant` has copied all of it.
    unsafe { launch.launch(one_each(correlation, 0)) }?;
    Ok(())
}

/// Copies the template to the module's variable, as `cudaMemcpyToSymbol` does. The variable holds the largest template
/// that the workload accepts.
fn fill_constant(gpu: &Gpu, buffers: &Buffers) -> Result<()> {
    let module = gpu.module(&correlation::SOURCE)?;
    let mut symbol = module.get_global(correlation::TEMPLATE, &gpu.stream)?;
    Ok(gpu.stream.memcpy_dtod(&buffers.template, &mut symbol.slice_mut(..buffers.template.len()))?)
}
// ANCHOR_END: constant

/// The block's tile of the image in shared memory. Where it does not fit, [`CONSTANT`] does the work.
pub const SHARED: Stage<Correlation> =
    Stage::launches("shared", "the block's tile of the image in shared memory", |gpu, correlation, buffers| {
        by_generation(gpu, correlation, buffers, [TileKernel::Coefficients(correlation::SHARED); 2])
    });

/// Launches a kernel with a tile of the image in shared memory.
pub fn with_tile(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers, kernel: TileKernel, tile: Tile) -> Result<()> {
    fill_constant(gpu, buffers)?;
    let (TileKernel::Coefficients(function) | TileKernel::CoefficientsAndSums(function)) = kernel;
    let function = gpu.kernel(function)?;
    let (shape, pitch) = (Shape::of(correlation), tile.pitch as i32);
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&function);
    launch.arg(&buffers.image).arg(&shape).arg(&pitch).arg(&mut output);
    if let TileKernel::CoefficientsAndSums(_) = kernel {
        launch.arg(&mut buffers.sums);
    }
    // SAFETY: the kernel reads the pixels of the image, with positions outside moved to its edge, and writes a result
    // for each output, and three sums for each output where its variant says so; the workload made the buffers with
    // those lengths, which `shape` gives. It reads the template from constant memory, where `fill_constant` has copied
    // all of it, and its tile has the bytes that the launch gives it.
    unsafe { launch.launch(one_each(correlation, tile.bytes())) }?;
    Ok(())
}

/// The same tile, with the device's fastest width of multiplication.
pub const SHARED_SM: Stage<Correlation> = Stage::launches(
    "shared-sm",
    "multiplications of 24 bits on compute capability 1.x, of 32 bits on all others",
    |gpu, correlation, buffers| {
        let kernels = [correlation::SHARED_MULTIPLY_24, correlation::SHARED].map(TileKernel::Coefficients);
        by_generation(gpu, correlation, buffers, kernels)
    },
);

/// Launches the 24-bit or 32-bit kernel for the device's generation. Launches [`CONSTANT`] where the tile does not fit.
fn by_generation(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers, kernels: [TileKernel; 2]) -> Result<()> {
    let [bits_24, bits_32] = kernels;
    match chosen(gpu, correlation)? {
        Variant::Shared { multiply: Multiply::Bits24, tile } => with_tile(gpu, correlation, buffers, bits_24, tile),
        Variant::Shared { multiply: Multiply::Bits32, tile } => with_tile(gpu, correlation, buffers, bits_32, tile),
        Variant::Constant { .. } => constant(gpu, correlation, buffers),
    }
}

/// The same with four template pixels per iteration of the loop.
pub const SHARED_UNROLL_4: Stage<Correlation> =
    Stage::launches("shared-unroll-4", "four template pixels per iteration of the loop", |gpu, correlation, buffers| {
        let kernels = [correlation::UNROLL_4_MULTIPLY_24, correlation::UNROLL_4].map(TileKernel::Coefficients);
        by_generation(gpu, correlation, buffers, kernels)
    });

/// The same, which also stores ΣI, ΣI² and ΣIT of every output. No kernel does that without a tile, so the stage needs
/// the tile to fit.
pub const SHARED_SUMS: Stage<Correlation> =
    Stage::launches("shared-sums", "unrolled, and the three sums are stored as well", |gpu, correlation, buffers| {
        let kernels = [correlation::SUMS_MULTIPLY_24, correlation::SUMS].map(TileKernel::CoefficientsAndSums);
        by_generation(gpu, correlation, buffers, kernels)
    })
    .requires(|gpu, correlation| {
        let template = correlation.template();
        let tile = Tile::of_block((template.width, template.height));
        Ok(Unmet::shared_memory(tile.bytes(), Attributes::of(gpu)?.shared_bytes))
    });
