//! The stages on Hopper's own tensor cores, which four warps use together, with tiles that TMA brings.

use cudarc::driver::sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
use cudarc::driver::sys::CUtensorMapL2promotion::{self, CU_TENSOR_MAP_L2_PROMOTION_L2_128B};
use cudarc::driver::{DevicePtr, LaunchConfig, PushKernelArg, SyncOnDrop};
use kernels::Kernel;
use kernels::matmul_half::DEPTH;
use kernels::matmul_half::hopper::{
    BARRIER_BYTES, BOX, COLUMNS, CONSUMERS, MULTICAST as MULTICAST_KERNEL, OUTPUT_BYTES, PAIR, PRODUCER as PRODUCER_KERNEL,
    RING as RING_KERNEL, ROWS, SLICE_BYTES, SLICE_COLUMNS, SLICES, SMALL, SMALL_BYTES, SMALL_COLUMNS, SMALL_ROWS, SMALL_THREADS,
    STAGE_BYTES, STAGES, STORES, THREADS, WGMMA as WGMMA_KERNEL,
};
use run::gpu::allow_shared_memory;
use run::guard::Guarded;
use run::planner::multiprocessors;
use run::stage::Launches;
use run::tensor_map::{Boxes, TensorMap};
use run::workload::matmul_half::{Buffers, MatmulHalf, Size};
use run::{Gpu, Result, Stage};

use crate::choice::Shape;
use crate::needs::{of_sums, requirement};

/// Bytes that come into the L2 cache together: a row of a box.
pub(crate) const PROMOTION: CUtensorMapL2promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B;

/// Dynamic shared memory of a block whose outputs TMA stores.
pub(crate) const MOST_BYTES: u32 = STAGES * STAGE_BYTES + OUTPUT_BYTES + BARRIER_BYTES;

/// Tensor cores for four warps together. One instruction multiplies 64 x 16 by 16 x 256 numbers.
pub const WGMMA: Stage<MatmulHalf> =
    stage("wgmma", "tensor cores for four warps together, tiles by TMA", |gpu, product, buffers| {
        direct(gpu, product, buffers, &Direct { stages: 1, ..Direct::large(WGMMA_KERNEL, CONSUMERS) })
    });

/// Four pairs of tiles. While one is used, three more are on their way.
pub const RING: Stage<MatmulHalf> = stage("ring", "four pairs of tiles, three of them on their way", |gpu, product, buffers| {
    direct(gpu, product, buffers, &Direct::large(RING_KERNEL, CONSUMERS))
});

/// One warp copies and eight warps multiply.
pub const PRODUCER: Stage<MatmulHalf> = stage("producer", "one warp copies, eight multiply", |gpu, product, buffers| {
    direct(gpu, product, buffers, &Direct::large(PRODUCER_KERNEL, THREADS))
});

/// Outputs go through shared memory.
pub const TMA_STORE: Stage<MatmulHalf> =
    stage("tma-store", "TMA stores the outputs", |gpu, product, buffers| by_tma(gpu, product, buffers, STORES, 1, u32::MAX));

/// One block per multiprocessor. It copies the next tiles while it stores the last outputs.
pub const PERSISTENT: Stage<MatmulHalf> =
    stage("persistent", "one block per multiprocessor, many tiles per block", |gpu, product, buffers| {
        by_tma(gpu, product, buffers, STORES, 1, multiprocessors(gpu)?)
    });

/// Two blocks share tiles of B.
pub const MULTICAST: Stage<MatmulHalf> =
    stage("multicast", "each tile of B is copied to two blocks at once", |gpu, product, buffers| {
        by_tma(gpu, product, buffers, MULTICAST_KERNEL, PAIR, multiprocessors(gpu)?)
    });

/// Tiles for every size.
pub const BY_SIZE: Stage<MatmulHalf> = stage("by-size", "tiles and slices for this size", by_size);

pub(crate) fn by_size(gpu: &Gpu, product: &MatmulHalf, buffers: &mut Buffers) -> Result<()> {
    let most = multiprocessors(gpu)?;
    match Shape::of(product.size(), most) {
        Shape::Pairs => by_tma(gpu, product, buffers, MULTICAST_KERNEL, PAIR, most),
        Shape::Large => by_tma(gpu, product, buffers, STORES, 1, most),
        Shape::Small => {
            let columns = SMALL_COLUMNS;
            direct(gpu, product, buffers, &Direct { columns, shared_bytes: Some(SMALL_BYTES), ..Direct::small(SMALL, 1) })
        }
        Shape::Slices => {
            let columns = SLICE_COLUMNS;
            direct(gpu, product, buffers, &Direct { columns, shared_bytes: Some(SLICE_BYTES), ..Direct::small(SLICES, PAIR) })
        }
    }
}

const fn stage(name: &'static str, idea: &'static str, launches: Launches<MatmulHalf>) -> Stage<MatmulHalf> {
    Stage::launches(name, idea, launches)
        .needs_generation(9, 0)
        .requires(|gpu, product| requirement(gpu, product, MOST_BYTES))
        .with_allowance(of_sums)
}

/// A kernel whose threads store their own outputs.
struct Direct {
    kernel: Kernel,
    rows: u32,
    columns: u32,
    threads: u32,
    stages: u32,
    /// Shared memory, unless it is that of the stages of large tiles.
    shared_bytes: Option<u32>,
    /// Blocks for each tile; `None` for a grid of two dimensions.
    blocks: Option<u32>,
}

impl Direct {
    const fn large(kernel: Kernel, threads: u32) -> Self {
        Self { kernel, rows: ROWS, columns: COLUMNS, threads, stages: STAGES, shared_bytes: None, blocks: None }
    }

    const fn small(kernel: Kernel, blocks: u32) -> Self {
        Self { rows: SMALL_ROWS, blocks: Some(blocks), ..Self::large(kernel, SMALL_THREADS) }
    }
}

fn direct(gpu: &Gpu, product: &MatmulHalf, buffers: &mut Buffers, direct: &Direct) -> Result<()> {
    let &Direct { kernel, rows, columns, threads, stages, shared_bytes, blocks } = direct;
    let function = gpu.kernel(kernel)?;
    let shared_mem_bytes = shared_bytes.unwrap_or(stages * STAGE_BYTES + BARRIER_BYTES);
    allow_shared_memory(&function, shared_mem_bytes)?;
    let Size { m, n, k } = product.size();
    let [a, b] = factors(gpu, product, buffers, rows)?;
    let (across, down) = (n.div_ceil(columns), m.div_ceil(rows));
    let grid_dim = blocks.map_or((across, down, 1), |blocks| (across * down * blocks, 1, 1));
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

/// Launches a kernel whose outputs TMA stores: at most `most` blocks, in clusters of `cluster`.
fn by_tma(gpu: &Gpu, product: &MatmulHalf, buffers: &mut Buffers, kernel: Kernel, cluster: u32, most: u32) -> Result<()> {
    let function = gpu.kernel(kernel)?;
    allow_shared_memory(&function, MOST_BYTES)?;
    let Size { m, n, k } = product.size();
    let [a, b] = factors(gpu, product, buffers, ROWS)?;
    let (c, _c_is_written) = map_output(gpu, product, &mut buffers.output)?;
    let config = persistent(product.size(), cluster, most, MOST_BYTES);
    let mut launch = gpu.stream.launch_builder(&function);
    launch.arg(&a).arg(&b).arg(&c).arg(&m).arg(&n).arg(&k);
    // SAFETY: the maps describe matrices of `m * k`, `k * n` and `m * n` numbers; the kernel reads no others of the first two
    // and writes no others of the third. The workload made the matrices with those lengths. The launch gives the block
    // shared memory for all stages, the outputs and the barriers, and the grid is made of whole clusters.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Maps the output. A box has the 64 rows that a warpgroup stores.
pub(crate) fn map_output<'a>(gpu: &'a Gpu, product: &MatmulHalf, output: &'a mut Guarded) -> Result<(TensorMap, SyncOnDrop<'a>)> {
    let Size { m, n, .. } = product.size();
    let (matrix, is_written) = output.address_mut(gpu);
    let numbers = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    let map = Boxes { matrix, rows: m, columns: n, box_rows: ROWS / 2, box_columns: BOX, numbers, promotion: PROMOTION }.map()?;
    Ok((map, is_written))
}

// ANCHOR: persistent
/// Returns a grid for large tiles: at most `most` blocks, in clusters of `cluster`.
pub(crate) fn persistent(Size { m, n, .. }: Size, cluster: u32, most: u32, shared_mem_bytes: u32) -> LaunchConfig {
    let tiles = n.div_ceil(COLUMNS) * m.div_ceil(cluster * ROWS);
    let grid_dim = (tiles.min(most / cluster).max(1) * cluster, 1, 1);
    LaunchConfig { grid_dim, block_dim: (THREADS, 1, 1), shared_mem_bytes }
}
// ANCHOR_END: persistent

/// Maps A, with boxes of so many rows, and B.
pub(crate) fn factors(gpu: &Gpu, product: &MatmulHalf, buffers: &Buffers, box_rows: u32) -> Result<[TensorMap; 2]> {
    let Size { m, n, k } = product.size();
    gpu.context.bind_to_thread()?;
    let (a, _a_is_read) = buffers.a.device_ptr(&gpu.stream);
    let (b, _b_is_read) = buffers.b.device_ptr(&gpu.stream);
    let numbers = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    let a = Boxes { matrix: a, rows: m, columns: k, box_rows, box_columns: BOX, numbers, promotion: PROMOTION }.map()?;
    let b = Boxes { matrix: b, rows: k, columns: n, box_rows: DEPTH, box_columns: BOX, numbers, promotion: PROMOTION }.map()?;
    Ok([a, b])
}
