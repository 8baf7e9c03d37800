//! Stages whose outputs are more than sums: with a bias, and of 8-bit factors with scales.

use cudarc::driver::sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8;
use cudarc::driver::{CudaSlice, DevicePtr, LaunchConfig, PushKernelArg};
use kernels::matmul_half::eighths::FP8 as FP8_KERNEL;
use kernels::matmul_half::hopper::{ADD_BIAS, BOX, COLUMN_BYTES, CONSUMERS, FUSED as FUSED_KERNEL, PAIR, ROWS};
use run::gpu::allow_shared_memory;
use run::planner::multiprocessors;
use run::tensor_map::Boxes;
use run::workload::matmul_half::{Buffers, MatmulHalf, Size, UNIT_ROUNDOFF};
use run::{Gpu, Result, Stage, Unmet};

use crate::hopper::{MOST_BYTES, PROMOTION, by_size, factors, map_output, persistent};
use crate::needs::{NO_BIAS, aligned, of_sums};

const SHARED_BYTES: u32 = MOST_BYTES + COLUMN_BYTES;

/// Blocks of a multiprocessor that add a bias.
const BLOCKS: u32 = 8;

/// A product, and a second kernel that changes it.
pub const SEPARATE: Stage<MatmulHalf> =
    Stage::launches("separate", "bias and ReLU by a kernel of their own", |gpu, product, buffers| {
        by_size(gpu, product, buffers)?;
        let function = gpu.kernel(ADD_BIAS)?;
        let Size { m, n, .. } = product.size();
        let grid_dim = (multiprocessors(gpu)? * BLOCKS, 1, 1);
        let Buffers { bias: Some(bias), output, .. } = buffers else { unreachable!("required") };
        let mut output = output.view_mut();
        let bias: &CudaSlice<f32> = bias;
        let mut launch = gpu.stream.launch_builder(&function);
        launch.arg(&mut output).arg(&m).arg(&n).arg(bias);
        // SAFETY: the kernel reads and writes `m * n` numbers, an even number of them, and reads `n` of the bias; the workload
        // made both with those lengths.
        unsafe { launch.launch(LaunchConfig { grid_dim, block_dim: (CONSUMERS, 1, 1), shared_mem_bytes: 0 }) }?;
        Ok(())
    })
    .needs_generation(9, 0)
    .requires(needs_bias)
    .with_allowance(|product| of_sums(product) + UNIT_ROUNDOFF * product.product().largest_magnitudes());

/// The outputs never leave the multiprocessor without their bias.
pub const FUSED: Stage<MatmulHalf> = Stage::launches("fused", "bias and ReLU before the outputs are stored", fused)
    .needs_generation(9, 0)
    .requires(needs_bias)
    .with_allowance(of_sums);

fn fused(gpu: &Gpu, product: &MatmulHalf, buffers: &mut Buffers) -> Result<()> {
    let function = gpu.kernel(FUSED_KERNEL)?;
    allow_shared_memory(&function, SHARED_BYTES)?;
    let Size { m, n, k } = product.size();
    let [a, b] = factors(gpu, product, buffers, ROWS)?;
    let Buffers { bias: Some(bias), output, .. } = buffers else { unreachable!("required") };
    let bias: &CudaSlice<f32> = bias;
    let (c, _c_is_written) = map_output(gpu, product, output)?;
    let config = persistent(product.size(), 1, multiprocessors(gpu)?, SHARED_BYTES);
    let mut launch = gpu.stream.launch_builder(&function);
    launch.arg(&a).arg(&b).arg(&c).arg(&m).arg(&n).arg(&k).arg(bias);
    // SAFETY: the maps describe matrices of `m * k`, `k * n` and `m * n` numbers; the kernel reads no others of the first
    // two, writes no others of the third, and reads `n` numbers of the bias. The workload made all of them with those
    // lengths. The launch gives the block shared memory for all stages, the outputs, the barriers and the bias.
    unsafe { launch.launch(config) }?;
    Ok(())
}

fn needs_bias(gpu: &Gpu, product: &MatmulHalf) -> Result<Option<Unmet>> {
    if product.bias().is_none() {
        return Ok(Some(Unmet::Option { what: "needs a bias: --bias" }));
    }
    aligned(gpu, product, 8, SHARED_BYTES)
}

/// Factors of 8 bits.
pub const FP8: Stage<MatmulHalf> = Stage::launches("fp8", "factors of 8 bits, with scales", fp8)
    .needs_generation(9, 0)
    .requires(|gpu, product| {
        if product.quantized().is_none() {
            return Ok(Some(Unmet::Option { what: "needs numbers of 8 bits: --fp8" }));
        }
        if product.bias().is_some() {
            return Ok(Some(NO_BIAS));
        }
        aligned(gpu, product, 16, SHARED_BYTES)
    })
    .with_allowance(of_eighths);

fn fp8(gpu: &Gpu, product: &MatmulHalf, buffers: &mut Buffers) -> Result<()> {
    let function = gpu.kernel(FP8_KERNEL)?;
    allow_shared_memory(&function, SHARED_BYTES)?;
    let Size { m, n, k } = product.size();
    gpu.context.bind_to_thread()?;
    let Buffers { quantized: Some([a, b]), output, .. } = buffers else { unreachable!("required") };
    let map = |matrix: &CudaSlice<u8>, rows, box_rows| {
        let (matrix, _is_read) = matrix.device_ptr(&gpu.stream);
        Boxes {
            matrix,
            rows,
            columns: k,
            box_rows,
            box_columns: 2 * BOX,
            numbers: CU_TENSOR_MAP_DATA_TYPE_UINT8,
            promotion: PROMOTION,
        }
        .map()
    };
    let (of_a, of_b) = (map(&a.numbers, m, ROWS)?, map(&b.numbers, n, BOX)?);
    let (c, _c_is_written) = map_output(gpu, product, output)?;
    let config = persistent(product.size(), PAIR, multiprocessors(gpu)?, SHARED_BYTES);
    let mut launch = gpu.stream.launch_builder(&function);
    launch.arg(&of_a).arg(&of_b).arg(&c).arg(&m).arg(&n).arg(&k).arg(&a.scales).arg(&b.scales);
    // SAFETY: the maps describe matrices of `m * k`, `n * k` and `m * n` numbers; the kernel reads no others of the first two,
    // writes no others of the third, and reads `m` and `n` scales. The workload made all of them with those lengths. The
    // launch gives the block shared memory for all stages, the outputs, the barriers and the scales, and the grid is made
    // of whole clusters.
    unsafe { launch.launch(config) }?;
    Ok(())
}

// ANCHOR: eighths
/// Returns the rounding errors of sums of 8-bit factors: a tensor core adds 32 products and a sum, and cuts off all digits more than 13
/// below the leading one of the largest. Those of generated matrices lose nothing.
fn of_eighths(product: &MatmulHalf) -> f64 {
    if product.has_exact_sums() {
        return 0.0;
    }
    f64::from(product.size().k.div_ceil(32)) * 33.0 * 2.0_f64.powi(-13) * product.product().largest_magnitudes()
}
// ANCHOR_END: eighths
