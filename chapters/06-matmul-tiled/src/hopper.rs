//! The stage on Hopper's own tensor cores, which four warps use together, with tiles that TMA brings.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
use cudarc::driver::sys::CUtensorMapL2promotion::{self, CU_TENSOR_MAP_L2_PROMOTION_L2_128B};
use cudarc::driver::{DevicePtr, LaunchConfig, PushKernelArg};
use kernels::matmul::hopper::{
    BARRIER_BYTES, BOX, COLUMNS, DEPTH, ROWS, STAGE_BYTES, STAGES, THREADS, WGMMA_TF32 as WGMMA_TF32_KERNEL,
};
use run::gpu::allow_shared_memory;
use run::planner::multiprocessors;
use run::workload::matmul::{Buffers, Matmul, Size};
use run::{Gpu, Result, Stage, Unmet};

use crate::tensor::rounded_factors;
use run::tensor_map::{Boxes, TensorMap};

/// Dynamic shared memory of a block.
const SHARED_BYTES: u32 = STAGES * STAGE_BYTES + BARRIER_BYTES;

/// Tensor cores for four warps together. B is the left factor of the transposed product, because that may come from registers.
pub const WGMMA_TF32: Stage<Matmul> =
    Stage::launches("wgmma-tf32", "tensor cores for four warps together, B from registers", launch)
        .needs_generation(9, 0)
        .requires(|gpu, product| requirement(gpu, product, SHARED_BYTES))
        .with_allowance(rounded_factors);

/// Checks that rows are whole 16 bytes, as TMA needs.
pub(crate) fn requirement(gpu: &Gpu, product: &Matmul, shared_bytes: u32) -> Result<Option<Unmet>> {
    let Size { n, k, .. } = product.size();
    let unaligned = [("n", n), ("k", k)].into_iter().find(|(_, size)| !size.is_multiple_of(4));
    if let Some((what, size)) = unaligned {
        return Ok(Some(Unmet::Alignment { what, of: 4, size }));
    }
    Ok(Unmet::shared_memory(shared_bytes, gpu.most_shared_bytes()?))
}

fn launch(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
    let function = gpu.kernel(WGMMA_TF32_KERNEL)?;
    allow_shared_memory(&function, SHARED_BYTES)?;
    let Size { m, n, k } = product.size();
    gpu.context.bind_to_thread()?;
    let (a, _a_is_read) = buffers.a.device_ptr(&gpu.stream);
    let (b, _b_is_read) = buffers.b.device_ptr(&gpu.stream);
    let (a, b) = maps(product.size(), a, b, ROWS, CU_TENSOR_MAP_L2_PROMOTION_L2_128B)?;
    let blocks = (m.div_ceil(ROWS) * n.div_ceil(COLUMNS)).min(multiprocessors(gpu)?);
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: SHARED_BYTES };
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
