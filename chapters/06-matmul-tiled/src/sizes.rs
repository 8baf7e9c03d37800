//! The stage on Hopper's tensor cores for every size: which tile, and how many slices of the sum.
//!
//! A large tile needs fewer loads per multiply-add. Small ones, and slices, give a small product a block for every multiprocessor. The
//! blocks of a cluster add up their slices among themselves, so there is no second launch.
//!
//! The constants are fitted to times of one H200: `kernels/NOTES.md`, "06-matmul-tiled", "Tiles for every size".

use std::fmt;

use cudarc::driver::sys::CUfunction_attribute::{
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
};
use cudarc::driver::sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
use cudarc::driver::{DevicePtr, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::matmul::hopper::DEPTH;
use kernels::matmul::sizes::{WGMMA_64, WGMMA_128, WGMMA_192, WGMMA_256};
use run::gpu::allow_shared_memory;
use run::planner::{self, Model, Slices, Sum, multiprocessors};
use run::workload::matmul::{Buffers, Matmul, Size};
use run::{Gpu, Result, Stage};

use crate::hopper::{maps, requirement};
use crate::tensor::rounded_factors;

/// The outputs of a block, and what they cost.
#[derive(Debug, PartialEq)]
pub struct Tile {
    kernel: Kernel,
    /// Rows and columns.
    pub sides: (u32, u32),
    /// Pairs of tiles of A and B in shared memory.
    stages: u32,
    /// The most slices: blocks of a cluster.
    pub most_slices: u32,
    /// Nanoseconds for [`DEPTH`] columns of A.
    slab_ns: f64,
    /// A block's other nanoseconds: filling the ring, storing its outputs.
    fixed_ns: f64,
    /// Nanoseconds per slice for adding them up.
    slice_ns: f64,
}

/// The tiles, from the largest to the smallest.
pub static TILES: [Tile; 4] = [
    Tile { kernel: WGMMA_256, sides: (256, 128), stages: 4, most_slices: 1, slab_ns: 565.0, fixed_ns: 3200.0, slice_ns: 0.0 },
    Tile { kernel: WGMMA_192, sides: (192, 128), stages: 5, most_slices: 1, slab_ns: 435.0, fixed_ns: 2600.0, slice_ns: 0.0 },
    Tile { kernel: WGMMA_128, sides: (128, 128), stages: 6, most_slices: 8, slab_ns: 350.0, fixed_ns: 2000.0, slice_ns: 800.0 },
    Tile { kernel: WGMMA_64, sides: (64, 64), stages: 6, most_slices: 8, slab_ns: 250.0, fixed_ns: 800.0, slice_ns: 500.0 },
];

/// The division of a product among blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Division {
    /// The outputs of a block.
    pub tile: &'static Tile,
    /// Slices of the sum. A cluster has a block for each.
    pub slices: Slices,
}

impl Model for Tile {
    fn resident(&self) -> u64 {
        1
    }

    fn one_round_only(&self) -> bool {
        true
    }

    fn round(&self, blocks: u64, slice: u32) -> f64 {
        blocks as f64 * (f64::from(slice.div_ceil(DEPTH)) * self.slab_ns + self.fixed_ns)
    }

    fn adding(&self, slices: u32) -> f64 {
        f64::from(slices) * self.slice_ns
    }
}

impl Tile {
    /// Returns the number of tiles that cover a product.
    fn count(&self, size: Size) -> u32 {
        size.m.div_ceil(self.sides.0) * size.n.div_ceil(self.sides.1)
    }
}

impl Division {
    /// Finds the division with the shortest estimated time.
    pub fn of(size: Size, multiprocessors: u32) -> Self {
        // All blocks of a cluster run in one group of multiprocessors (a GPC). Pairs fill an H200. Of larger clusters, up to eight
        // blocks, there is room for 98 blocks at least.
        let plans = [(2, multiprocessors), (8, multiprocessors * 3 / 4)].into_iter().flat_map(|(most, multiprocessors)| {
            TILES.iter().map(move |tile| {
                let sum = Sum { most: most.min(tile.most_slices), ..Sum::new(size.k, DEPTH) };
                let plan = planner::plan(tile.count(size).into(), sum, multiprocessors.max(1), tile);
                (plan.time, Self { tile, slices: plan.slices })
            })
        });
        plans.min_by(|(one, _), (other, _)| one.total_cmp(other)).expect("there are tiles").1
    }

    /// Returns a division into about this many slices.
    pub fn with(size: Size, tile: &'static Tile, slices: u32) -> Self {
        Self { tile, slices: Sum::new(size.k, DEPTH).cut(slices) }
    }
}

impl fmt::Display for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = self.tile.sides;
        write!(f, "tiles of {rows} x {columns}, slices: {}", self.slices.count)
    }
}

/// Tile and slices by the size of the product.
pub const WGMMA_BY_SIZE: Stage<Matmul> = Stage::launches(
    "wgmma-by-size",
    "tile and slices chosen by the size, slices added within a cluster",
    |gpu, product, buffers| launch(gpu, product, buffers, Division::of(product.size(), multiprocessors(gpu)?)),
)
.needs_generation(9, 0)
.requires(|gpu, product| requirement(gpu, product, TILES.iter().map(shared_bytes).max().unwrap_or(0)))
.with_allowance(rounded_factors);

/// Returns a block's dynamic shared memory: the stages, and two barriers of 8 bytes for each.
fn shared_bytes(tile: &Tile) -> u32 {
    let (rows, columns) = tile.sides;
    tile.stages * ((rows + columns) * DEPTH * size_of::<f32>() as u32 + 16)
}

/// Enqueues a product with this division. [`Division::of`] might choose another one.
pub fn launch(gpu: &Gpu, product: &Matmul, buffers: &mut Buffers, Division { tile, slices }: Division) -> Result<()> {
    let function = gpu.kernel(tile.kernel)?;
    let shared_mem_bytes = shared_bytes(tile);
    allow_shared_memory(&function, shared_mem_bytes)?;
    // ANCHOR: cluster
    let extents = [
        (CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, slices.count),
        (CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1),
        (CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1),
    ];
    for (attribute, blocks) in extents {
        function.set_attribute(attribute, blocks as i32)?;
    }
    let tiles = tile.count(product.size());
    // Of several slices, every block needs the others of its cluster. Of one, a block takes many tiles.
    let blocks = if slices.count > 1 { tiles * slices.count } else { tiles.min(multiprocessors(gpu)?) };
    // ANCHOR_END: cluster
    let Size { m, n, k } = product.size();
    gpu.context.bind_to_thread()?;
    let (a, _a_is_read) = buffers.a.device_ptr(&gpu.stream);
    let (b, _b_is_read) = buffers.b.device_ptr(&gpu.stream);
    let (a, b) = maps(product.size(), a, b, tile.sides.0, CU_TENSOR_MAP_L2_PROMOTION_L2_256B)?;
    let config = LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (2 * tile.sides.1 + 128, 1, 1), shared_mem_bytes };
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&function);
    launch.arg(&a).arg(&b).arg(&m).arg(&n).arg(&k).arg(&slices.length).arg(&mut output);
    // SAFETY: the maps describe matrices of `m * k` and `k * n` numbers, of which the kernel reads no others, and it
    // writes `m * n`; the workload made the matrices with those lengths. The launch gives the block shared memory for
    // all stages and their barriers, and a cluster to every tile with several slices.
    unsafe { launch.launch(config) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_gets_the_division_that_was_fastest_or_one_as_fast() {
        for ((m, n, k), sides, slices) in [
            ((256, 256, 256), (64, 64), 1),
            ((384, 384, 384), (64, 64), 2),
            ((512, 512, 512), (64, 64), 2),
            ((640, 640, 640), (64, 64), 1),
            ((768, 768, 768), (128, 128), 2),
            ((896, 896, 896), (128, 128), 2),
            ((1000, 1000, 1000), (128, 128), 2),
            ((1024, 1024, 1024), (128, 128), 2),
            ((1280, 1280, 1280), (128, 128), 1),
            ((1536, 1536, 1536), (192, 128), 1),
            ((1792, 1792, 1792), (256, 128), 1),
            ((2048, 2048, 2048), (256, 128), 1),
            ((2560, 2560, 2560), (256, 128), 1),
            ((3072, 3072, 3072), (192, 128), 1),
            ((4096, 4096, 4096), (256, 128), 1),
            ((6144, 6144, 6144), (256, 128), 1),
            ((8192, 8192, 8192), (256, 128), 1),
            ((4096, 64, 4096), (64, 64), 2),
            ((64, 4096, 4096), (64, 64), 2),
            ((256, 256, 4096), (64, 64), 6),
            ((512, 512, 4096), (128, 128), 6),
        ] {
            let division = Division::of(Size { m, n, k }, 132);
            assert_eq!((division.tile.sides, division.slices.count), (sides, slices), "{m}, {n}, {k}: {division}");
        }
    }
}
