//! The stage for the tensor cores of Hopper, whose instructions read both matrices from shared memory.
//!
//! One kernel does everything, in blocks of one of four heights. Low blocks are more, which a small image needs to reach every
//! multiprocessor. High blocks prepare the template less often.

use cudarc::driver::{DeviceRepr, LaunchConfig, PushKernelArg};
use kernels::Kernel;
use kernels::correlation::hopper::{
    DOWN, LANE_COLUMNS, MOST_COLUMNS, PADDED_WORDS, PIECE_COLUMNS, TALL_THREADS, THREADS, UNIT, WGMMA_8, WGMMA_16, WGMMA_64,
    WGMMA_128, WIDE,
};
use run::gpu::allow_shared_memory;
use run::planner::multiprocessors;
use run::workload::correlation::{Buffers, Correlation};
use run::{Gpu, Result, Stage, Unmet};

use crate::shape::Shape;

/// The tile as it lies in shared memory, times template bands. The window sums come from the same tile.
pub const WGMMA: Stage<Correlation> = Stage::launches(
    "wgmma",
    "the tile as it is, times bands of the template, on Hopper's tensor cores; one kernel",
    |gpu, correlation: &Correlation, buffers| {
        let template = (correlation.template().width, correlation.template().height);
        let block = Block::choose(multiprocessors(gpu)?, gpu.most_shared_bytes()?, correlation.outputs(), template);
        with_block(gpu, correlation, buffers, block)
    },
)
.needs_generation(9, 0)
.requires(|gpu, correlation| {
    let template = correlation.template();
    let needed = Block::lowest().shared_bytes((template.width, template.height));
    let columns = Unmet::limit("columns of the template", template.width, MOST_COLUMNS);
    Ok(columns.or(Unmet::shared_memory(needed, gpu.most_shared_bytes()?)))
});

/// Launches the kernel whose blocks have this height.
/// Fails when the block does not fit into shared memory.
pub fn with_block(gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers, block: Block) -> Result<()> {
    let template = (correlation.template().width, correlation.template().height);
    let (columns, rows) = correlation.outputs();
    let config = LaunchConfig {
        grid_dim: (columns.div_ceil(WIDE), rows.div_ceil(block.rows), 1),
        block_dim: (block.threads, 1, 1),
        shared_mem_bytes: block.shared_bytes(template),
    };
    let kernel = gpu.kernel(block.kernel)?;
    allow_shared_memory(&kernel, config.shared_mem_bytes)?;
    let (shape, pieces) = (Shape::of(correlation), Pieces::of(template, block.rows));
    let mut output = buffers.output.view_mut();
    let mut launch = gpu.stream.launch_builder(&kernel);
    launch.arg(&buffers.image).arg(&buffers.template).arg(&shape).arg(&pieces).arg(&mut output);
    // SAFETY: the kernel reads the pixels of the image, with positions outside moved to its edge, and of the template, and
    // writes a result for each output; the workload made the buffers with those lengths, which `shape` gives. Its tile,
    // bands and sums have the bytes that the launch gives it, because `shared_bytes` counts the same `pieces`.
    unsafe { launch.launch(config) }?;
    Ok(())
}

/// Returns the bytes of a warp's window sums for a tile row: a pair for each column, and one for the end of the row.
pub(crate) fn prefix_bytes(pitch: u32) -> u32 {
    const PAIR: u32 = 8;
    LANE_COLUMNS * ((pitch / LANE_COLUMNS) | 1) * PAIR
}

/// The most rows of a piece of the template. Its bands have to fit into shared memory with the tile.
const PIECE_ROWS: u32 = 52;

/// The division of the template: `Pieces` of `kernels/cuda/04-correlation-bands.cuh`, field by field.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    columns: i32,
    rows: i32,
    units: i32,
    steps: i32,
    pitch: i32,
    tile_rows: i32,
}

// SAFETY: `repr(C)` lays out the fields as the C++ compiler lays out the kernels' `Pieces`, and none of them is a pointer.
unsafe impl DeviceRepr for Pieces {}

impl Pieces {
    /// Returns the fewest possible pieces, of about the same size. Blocks have this many rows of outputs.
    fn of((width, height): (u32, u32), block_rows: u32) -> Self {
        let across = width.div_ceil(PIECE_COLUMNS);
        // A piece starts at a multiple of `UNIT` columns, because the tensor cores' addresses are such multiples.
        let columns = if across == 1 { width } else { width.div_ceil(across).next_multiple_of(UNIT) };
        let rows = height.div_ceil(height.div_ceil(PIECE_ROWS));
        // The last of the `UNIT` outputs that start in the same unit reads `UNIT - 1` pixels more than the first.
        let units = (columns + UNIT - 1).div_ceil(UNIT);
        let steps = (rows + DOWN - 1).next_multiple_of(2);
        let last = |length: u32, piece: u32| (length - 1) / piece * piece;
        let pitch = last(width, columns) + WIDE - UNIT + units * UNIT;
        let tile_rows = last(height, rows) + block_rows - DOWN + steps;
        Self::new([columns, rows, units, steps, pitch, tile_rows])
    }

    /// Takes the numbers in the order of the fields.
    pub(crate) fn new(numbers: [u32; 6]) -> Self {
        let [columns, rows, units, steps, pitch, tile_rows] = numbers.map(|number| number as i32);
        Self { columns, rows, units, steps, pitch, tile_rows }
    }

    /// Returns the numbers in the order of the fields.
    pub(crate) fn numbers(&self) -> [u32; 6] {
        [self.columns, self.rows, self.units, self.steps, self.pitch, self.tile_rows].map(i32::unsigned_abs)
    }
}

/// A kernel, with the shape of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The kernel.
    pub kernel: Kernel,
    /// Rows of outputs.
    pub rows: u32,
    /// Threads.
    pub threads: u32,
}

impl Block {
    /// All that there are, the highest first.
    pub const ALL: [Self; 4] = [
        Self { kernel: WGMMA_128, rows: 128, threads: TALL_THREADS },
        Self { kernel: WGMMA_64, rows: 64, threads: THREADS },
        Self { kernel: WGMMA_16, rows: 16, threads: THREADS },
        Self { kernel: WGMMA_8, rows: 8, threads: THREADS },
    ];

    fn lowest() -> Self {
        Self::ALL[Self::ALL.len() - 1]
    }

    /// Chooses the lowest blocks that each get their own multiprocessor. If there are too many outputs for that, chooses the highest
    /// that fit into shared memory.
    fn choose(multiprocessors: u32, shared_bytes: u32, (columns, rows): (u32, u32), template: (u32, u32)) -> Self {
        let blocks = |block: &&Self| columns.div_ceil(WIDE) * rows.div_ceil(block.rows);
        let fits = |block: &&Self| block.shared_bytes(template) <= shared_bytes;
        let alone = Self::ALL.iter().rev().filter(fits).find(|block| blocks(block) <= multiprocessors);
        *alone.or_else(|| Self::ALL.iter().find(fits)).unwrap_or(&Self::lowest())
    }
}

impl Block {
    /// Returns the bytes of shared memory: the tile, and the bands with the padded rows that they are made from. The sums of
    /// products and the windows' sums take the place of the bands.
    fn shared_bytes(&self, template: (u32, u32)) -> u32 {
        let [_, rows, units, steps, pitch, tile_rows] = Pieces::of(template, self.rows).numbers();
        let bands = units * (steps + DOWN - 1) * UNIT * UNIT + rows * PADDED_WORDS * 4;
        let sums = self.rows * WIDE * 4 + self.threads / 32 * prefix_bytes(pitch);
        tile_rows.saturating_mul(pitch).saturating_add(bands.max(sums))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H200: (u32, u32) = (132, 232_448);

    #[test]
    fn a_template_is_cut_into_equal_pieces_that_fit_the_bands() {
        let original = Pieces { columns: 52, rows: 52, units: 5, steps: 56, pitch: 192, tile_rows: 180 };
        assert_eq!(Pieces::of((52, 52), 128), original);
        let wide = Pieces { columns: 64, rows: 50, units: 5, steps: 54, pitch: 256, tile_rows: 108 };
        assert_eq!(Pieces::of((128, 100), 8), wide);
        assert_eq!(Pieces::of((1, 1), 8), Pieces { columns: 1, rows: 1, units: 1, steps: 4, pitch: 128, tile_rows: 8 });
    }

    #[test]
    fn a_tile_has_every_pixel_that_an_output_reads() {
        for width in 1..=MOST_COLUMNS {
            for (height, block) in
                [(1, 0), (51, 1), (52, 2), (53, 3), (105, 1), (200, 3)].map(|(height, block)| (height, Block::ALL[block]))
            {
                let Pieces { columns, rows, units, steps, pitch, tile_rows } = Pieces::of((width, height), block.rows);
                let [wide, tall] = [WIDE + width - 1, block.rows + height - 1].map(|length| length as i32);
                assert!(pitch >= wide && pitch <= 256 && tile_rows >= tall, "{width}x{height}: {pitch}x{tile_rows}");
                assert!(columns + 15 <= 16 * units && rows + 3 <= steps && units <= 5 && rows <= 52, "{width}x{height}");
                assert!(columns as u32 == width || columns % 16 == 0, "{width}: pieces of {columns}");
            }
        }
    }

    #[test]
    fn two_high_blocks_of_the_original_template_share_a_multiprocessor() {
        // An H200 has 228 KiB, of which each block takes 1 KiB for the system.
        assert!(2 * (Block::ALL[0].shared_bytes((52, 52)) + 1024) <= 228 * 1024);
    }

    #[test]
    fn small_images_get_low_blocks() {
        for (side, kernel) in [(2048, WGMMA_128), (1024, WGMMA_64), (512, WGMMA_16), (256, WGMMA_8)] {
            let outputs = (side - 51, side - 51);
            assert_eq!(Block::choose(H200.0, H200.1, outputs, (52, 52)).kernel, kernel, "{side}");
        }
    }

    #[test]
    fn templates_that_are_too_large_for_high_blocks_get_low_ones() {
        assert_eq!(Block::choose(H200.0, H200.1, (4000, 4000), (128, 500)).kernel, WGMMA_64);
        assert!(Block::lowest().shared_bytes((128, 600)) > H200.1);
    }
}
