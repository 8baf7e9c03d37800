//! The stages on Hopper's own tensor cores, which four warps use together, with tiles that TMA brings.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
use cudarc::driver::sys::CUtensorMapL2promotion::{self, CU_TENSOR_MAP_L2_PROMOTION_L2_128B};
use cudarc::driver::{DevicePtr, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::matmul::hopper::{
    BARRIER_BYTES, BOX, COLUMNS, CONSUMERS, DEPTH, ROWS, STAGE_BYTES, STAGES, THREADS, WGMMA as WGMMA_KERNEL,
    WGMMA_RING as WGMMA_RING_KERNEL, WGMMA_TF32 as WGMMA_TF32_KERNEL,
};
use run::gpu::allow_shared_memory;
use run::planner::multiprocessors;
use run::stage::Launches;
use run::workload::matmul::{Buffers, Matmul, Size};
use run::{Gpu, Result, Stage, Unmet};

use crate::tensor::rounded_factors;
use run::tensor_map::{Boxes, TensorMap};

/// Tensor cores for four warps together. One instruction multiplies 64 x 8 by 8 x 256 numbers.
pub const WGMMA: Stage<Matmul> = stage("wgmma", "tensor cores for four warps together, tiles by TMA", |gpu, product, buffers| {
    let (across, down) = tiles(product);
    launch(gpu, product, buffers, WGMMA_KERNEL, 1, ((across, down, 1), CONSUMERS))
});

/// Four pairs of tiles. While one is used, three more are on their way.
pub const WGMMA_RING: Stage<Matmul> =
    stage("wgmma-ring", "four pairs of tiles, three of them on their way", |gpu, product, buffers| {
        let (across, down) = tiles(product);
        launch(gpu, product, buffers, WGMMA_RING_KERNEL, STAGES, ((across, down, 1), CONSUMERS))
    });

/// One warp copies and eight warps multiply.
pub const WGMMA_PRODUCER: Stage<Matmul> = stage("wgmma-producer", "one warp copies, eight multiply", |gpu, product, buffers| {
    let (across, down) = tiles(product);
    launch(gpu, product, buffers, WGMMA_TF32_KERNEL, STAGES, ((across * down, 1, 1), THREADS))
});

/// One block per multiprocessor. It copies the next tiles while it stores the last outputs.
pub const WGMMA_TF32: Stage<Matmul> =
    stage("wgmma-tf32", "one block per multiprocessor, many tiles per block", |gpu, product, buffers| {
        let (across, down) = tiles(product);
        let blocks = (across * down).min(multiprocessors(gpu)?);
        launch(gpu, product, buffers, WGMMA_TF32_KERNEL, STAGES, ((blocks, 1, 1), THREADS))
    });

const fn stage(name: &'static str, idea: &'static str, launches: Launches<Matmul>) -> Stage<Matmul> {
    Stage::launches(name, idea, launches)
        .needs_generation(9, 0)
        .requires(|gpu, product| requirement(gpu, product, STAGES * STAGE_BYTES + BARRIER_BYTES))
        .with_allowance(rounded_factors)
}

/// Checks that rows are whole 16 bytes, as TMA needs.
pub(crate) fn requirement(gpu: &Gpu, product: &Matmul, shared_bytes: u32) -> Result<Option<Unmet>> {
    let Size { n, k, .. } = product.size();
    let unaligned = [("n", n), ("k", k)].into_iter().find(|(_, size)| !size.is_multiple_of(4));
    if let Some((what, size)) = unaligned {
        return Ok(Some(Unmet::Alignment { what, of: 4, size }));
    }
    Ok(Unmet::shared_memory(shared_bytes, gpu.most_shared_bytes()?))
}

fn launch(
    gpu: &Gpu,
    product: &Matmul,
    buffers: &mut Buffers,
    kernel: Kernel,
    stages: u32,
    (grid_dim, threads): ((u32, u32, u32), u32),
) -> Result<()> {
    let function = gpu.kernel(kernel)?;
    let shared_mem_bytes = stages * STAGE_BYTES + BARRIER_BYTES;
    allow_shared_memory(&function, shared_mem_bytes)?;
    let Size { m, n, k } = product.size();
    gpu.context.bind_to_thread()?;
    let (a, _a_is_read) = buffers.a.device_ptr(&gpu.stream);
    let (b, _b_is_read) = buffers.b.device_ptr(&gpu.stream);
    let (a, b) = maps(product.size(), a, b, ROWS, CU_TENSOR_MAP_L2_PROMOTION_L2_128B)?;
    let config = LaunchConfig { grid_dim, block_dim: (threads, 1, 1), shared_mem_bytes };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&function);
    launch.arg(&a).arg(&b).arg(&m).arg(&n).arg(&k).arg(&mut output);
    // SAFETY: the maps describe matrices of `m * k` and `k * n` numbers, of which the kernel reads no others, and it
    // writes `m * n`; the workload made the matrices with those lengths. The launch gives the block shared memory for
    // all stages and their barriers.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Maps factors at these addresses, for tiles with these rows of A.
pub(crate) fn maps(
    size: Size,
    a: CUdeviceptr,
    b: CUdeviceptr,
    box_rows: u32,
    promotion: CUtensorMapL2promotion,
) -> Result<(TensorMap, TensorMap)> {
    let Size { m, n, k } = size;
    let numbers = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    let a = Boxes { matrix: a, rows: m, columns: k, box_rows, box_columns: DEPTH, numbers, promotion }.map()?;
    let b = Boxes { matrix: b, rows: k, columns: n, box_rows: DEPTH, box_columns: BOX, numbers, promotion }.map()?;
    Ok((a, b))
}

/// Returns the tiles of an output, across and down.
fn tiles(product: &Matmul) -> (u32, u32) {
    let Size { m, n, .. } = product.size();
    (n.div_ceil(COLUMNS), m.div_ceil(ROWS))
}
