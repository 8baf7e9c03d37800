//! Chapter 06, half precision: the product of two matrices of bf16 numbers, on tensor cores.
//!
//! # What we compute
//!
//! `c[i][j] = bf16(sum over l < k of a[i][l] * b[l][j])`, with sums in f32 and all three matrices stored row by row.
//! [`run::workload::matmul_half`] has the inputs, the oracle, and how far from it a result may be.
//!
//! # The stages
//!
//! The stages follow in the order of the table. The kernels are in `kernels/cuda/06-matmul-half.cu` and, for what only compute capability
//! 9.0 has, in `…-hopper.cu` next to it. All of them compute tiles of 128 x 256 outputs, but those of [`hopper::BY_SIZE`].
//!
//! # Layout
//!
//! - [`hopper`]: the stages on Hopper's tensor cores. [`choice`]: which of them a size gets.
//! - [`finish`]: outputs that are more than sums: with a bias, and of factors with scales.
//! - [`needs`]: sizes that a stage cannot take, and its rounding errors.
//! - [`rival`]: NVIDIA's own library.

pub mod choice;
pub mod finish;
pub mod hopper;
pub mod needs;
pub mod rival;

use cudarc::driver::{LaunchConfig, PushKernelArg};
use kernels::matmul_half::{self, COLUMNS, MMA as MMA_KERNEL, ROWS, SHARED_BYTES, THREADS};
use run::gpu::allow_shared_memory;
use run::planner::multiprocessors;
use run::workload::matmul_half::{MatmulHalf, Size};
use run::{Chapter, Comparison, Stage};

use crate::choice::Shape;
use crate::needs::{of_sums, requirement};

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<MatmulHalf> = Chapter {
    name: "06-matmul-half",
    about: "the product of two matrices of bf16 numbers, on tensor cores",
    sources: &[&matmul_half::SOURCE, &matmul_half::hopper::SOURCE, &matmul_half::eighths::SOURCE],
    stages: &[
        CPU,
        MMA,
        hopper::WGMMA,
        hopper::RING,
        hopper::PRODUCER,
        hopper::TMA_STORE,
        hopper::PERSISTENT,
        hopper::MULTICAST,
        hopper::BY_SIZE,
        finish::SEPARATE,
        finish::FUSED,
        finish::FP8,
        rival::CUBLAS,
    ],
    mistakes: &[],
    variants: &[],
    experiments: &[],
    choice: Some(|gpu, product| Ok(format!("{}: {}", hopper::BY_SIZE.name, Shape::of(product.size(), multiprocessors(gpu)?)))),
    lesson: LESSON,
};

/// The lesson of the table.
const LESSON: &[Comparison<MatmulHalf>] = &[
    Comparison::times(hopper::WGMMA, hopper::RING).because("Three pairs of tiles are on their way while one is used."),
    Comparison::times(hopper::PRODUCER, hopper::TMA_STORE).because("TMA stores whole rows of boxes, in the background."),
];

/// Three loops, row by row, on all cores, with f32 results.
pub const CPU: Stage<MatmulHalf> = Stage::cpu("cpu", "the three loops, all cores", |product, output| {
    baselines::matmul::rows(product.product(), output);
    if let Some(bias) = product.bias() {
        output.iter_mut().zip(bias.iter().cycle()).for_each(|(output, bias)| *output = (*output + bias).max(0.0));
    }
});

/// Tensor cores of a warp. One instruction multiplies 16 x 16 by 16 x 8 numbers.
pub const MMA: Stage<MatmulHalf> =
    Stage::launches("mma", "tensor cores of a warp, tiles with an XOR swizzle", |gpu, product: &MatmulHalf, buffers| {
        let function = gpu.kernel(MMA_KERNEL)?;
        allow_shared_memory(&function, SHARED_BYTES)?;
        let Size { m, n, k } = product.size();
        let grid_dim = (n.div_ceil(COLUMNS), m.div_ceil(ROWS), 1);
        let config = LaunchConfig { grid_dim, block_dim: (THREADS, 1, 1), shared_mem_bytes: SHARED_BYTES };
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&function);
        launch.arg(&buffers.a).arg(&buffers.b).arg(&m).arg(&n).arg(&k).arg(&mut output);
        // SAFETY: the kernel reads `m * k` and `k * n` numbers and writes `m * n`, whatever the grid; the workload made the
        // matrices with those lengths, and the launch gives the block the shared memory that its tiles need.
        unsafe { launch.launch(config) }?;
        Ok(())
    })
    .needs_compute_capability(8, 0)
    .requires(|gpu, product| requirement(gpu, product, SHARED_BYTES))
    .with_allowance(of_sums);
