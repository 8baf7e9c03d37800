//! The stage on tensor cores that is as accurate as one with f32 factors.

use cudarc::driver::sys::CUtensorMapDataType::{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32};
use cudarc::driver::sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
use cudarc::driver::{CudaSlice, DevicePtr, LaunchConfig, PushKernelArg};
use kernels::matmul::split::{
    BARRIER_BYTES, BOX, COLUMNS, DEPTH, ROWS, SPLIT_OFF_LOW, STAGE_BYTES, STAGES, TENSOR_3XTF32 as KERNEL, THREADS,
};
use run::gpu::allow_shared_memory;
use run::planner::multiprocessors;
use run::workload::matmul::{Buffers, Matmul, Size};
use run::{Gpu, Prepared, Result, Stage};

use crate::hopper::requirement;
use run::tensor_map::Boxes;

/// Dynamic shared memory of a block.
const SHARED_BYTES: u32 = STAGES * STAGE_BYTES + BARRIER_BYTES;

/// Threads per block, and blocks per multiprocessor, to split off low parts.
const SPLITTING: (u32, u32) = (256, 8);

/// The sum of three products. Each factor is the sum of two numbers of 11 binary digits.
pub const TENSOR_3XTF32: Stage<Matmul> =
    Stage::prepared("tensor-3xtf32", "f32 factors as sums of two numbers of 11 digits, three products", prepare)
        .needs_generation(9, 0)
        .requires(|gpu, product| requirement(gpu, product, SHARED_BYTES));

/// Memory for the low parts of A.
struct Split {
    low: CudaSlice<f32>,
}

fn prepare(gpu: &Gpu, product: &Matmul) -> Result<Box<dyn Prepared<Matmul>>> {
    Ok(Box::new(Split { low: gpu.stream.alloc_zeros(product.a().len())? }))
}

impl Prepared<Matmul> for Split {
    fn enqueue(&mut self, gpu: &Gpu, product: &Matmul, buffers: &mut Buffers) -> Result<()> {
        let (threads, blocks_each) = SPLITTING;
        // `k` is a multiple of four.
        let vectors = (product.a().len() / 4) as u64;
        let most = multiprocessors(gpu)?;
        let blocks = vectors.div_ceil(threads.into()).min((most * blocks_each).into()) as u32;
        let splitting = gpu.kernel(SPLIT_OFF_LOW)?;
        let mut launch = gpu.stream.launch_builder(&splitting);
        launch.arg(&buffers.a).arg(&mut self.low).arg(&vectors);
        // SAFETY: the kernel reads and writes `vectors` times four numbers: A has that many, and `prepare` made `low` as long.
        unsafe { launch.launch(LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }) }?;

        let function = gpu.kernel(KERNEL)?;
        allow_shared_memory(&function, SHARED_BYTES)?;
        let Size { m, n, k } = product.size();
        let (a, _a_is_read) = buffers.a.device_ptr(&gpu.stream);
        let (low, _low_is_read) = self.low.device_ptr(&gpu.stream);
        let (b, _b_is_read) = buffers.b.device_ptr(&gpu.stream);
        let rounded = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
        let promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
        let [high, low] = [a, low].map(|matrix| {
            Boxes { matrix, rows: m, columns: k, box_rows: ROWS, box_columns: DEPTH, numbers: rounded, promotion }.map()
        });
        let (high, low) = (high?, low?);
        let numbers = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
        let b = Boxes { matrix: b, rows: k, columns: n, box_rows: DEPTH, box_columns: BOX, numbers, promotion }.map()?;
        let blocks = (m.div_ceil(ROWS) * n.div_ceil(COLUMNS)).min(most);
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: SHARED_BYTES };
        let mut output = buffers.output.view_mut();
        let mut launch = gpu.stream.launch_builder(&function);
        launch.arg(&high).arg(&low).arg(&b).arg(&m).arg(&n).arg(&k).arg(&mut output);
        // SAFETY: the maps describe matrices of `m * k`, `m * k` and `k * n` numbers, of which the kernel reads no others,
        // and it writes `m * n`; the workload and `prepare` made the matrices with those lengths. The launch gives the
        // block shared memory for all stages and their barriers.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}
