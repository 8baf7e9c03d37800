//! Which tile a size gets, and how many slices: as a value that can be printed and tested.
//!
//! A product has as many blocks as the result has tiles. Large tiles need fewer loads per multiply-add; small ones, and slices of the sum,
//! give a small or a narrow product enough blocks for every multiprocessor.
//!
//! The constants are fitted to times of one H200 at 13 sizes, in clocks: `kernels/NOTES.md`, "06-matmul-tiled", "The choice by size".

use std::fmt;

use run::planner::{self, Model, Planned, Slices, Sum};
use run::workload::matmul::Size;

/// The outputs of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// 128 x 256 outputs, 256 threads.
    Large,
    /// 64 x 64 outputs, 64 threads.
    Small,
}

/// The division of a product among blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The outputs of a block.
    pub tile: Tile,
    /// Slices of the sum, in columns of A and rows of B, each added up by blocks of its own.
    pub slices: Slices,
}

/// The divisor of a slice's length, in columns of A.
const DEPTH: u32 = 8;
/// The most slices.
const MOST_SLICES: u32 = 32;
/// Clocks of the launch that adds up slices. It follows another launch on the same stream. This is the cost of eight slices for
/// a product of 80 x 48 x 64 in a run of the chapter.
const LAUNCH: f64 = 8000.0;
/// Bytes per clock that this launch moves.
const BYTES_PER_CLOCK: f64 = 1500.0;
/// Lanes of a warp.
const WARP: u32 = 32;
/// Warp schedulers of a multiprocessor, one for each of its sub-partitions.
const SCHEDULERS: u32 = 4;

impl Tile {
    /// Returns the rows and columns.
    pub const fn sides(self) -> (u32, u32) {
        match self {
            Tile::Large => (128, 256),
            Tile::Small => (64, 64),
        }
    }

    /// Returns the threads of a block.
    pub const fn threads(self) -> u32 {
        match self {
            Tile::Large => 256,
            Tile::Small => 64,
        }
    }

    /// Returns the number of blocks that cover the result.
    fn blocks(self, size: Size) -> u64 {
        let (rows, columns) = self.sides();
        u64::from(size.m.div_ceil(rows)) * u64::from(size.n.div_ceil(columns))
    }

    /// Returns the blocks that are resident on a multiprocessor.
    fn resident(self) -> u64 {
        match self {
            Tile::Large => 1,
            Tile::Small => 8,
        }
    }

    /// Returns a warp's multiply-adds for one column of A.
    fn multiply_adds(self) -> f64 {
        let (rows, columns) = self.sides();
        f64::from(rows * columns / self.threads())
    }

    /// Returns the multiply-adds per clock of a scheduler with `warps` warps. Each is for a whole warp.
    fn rate(self, warps: u64) -> f64 {
        match (self, warps) {
            (Tile::Large, _) => 0.81,
            (Tile::Small, 1) => 0.68,
            (Tile::Small, 2) => 0.73,
            (Tile::Small, _) => 0.75,
        }
    }

    /// Returns a block's clocks besides its multiply-adds: filling its buffers, storing its results.
    fn overhead(self) -> f64 {
        match self {
            Tile::Large => 9000.0,
            Tile::Small => 2500.0,
        }
    }
}

/// The clocks of a product with tiles of one kind.
struct Clocks {
    tile: Tile,
    size: Size,
}

// ANCHOR: model
impl Model for Clocks {
    fn resident(&self) -> u64 {
        self.tile.resident()
    }

    /// Returns the clocks of the busiest scheduler's multiply-adds and a block's overhead.
    fn round(&self, blocks: u64, slice: u32) -> f64 {
        let warps = (blocks * u64::from(self.tile.threads() / WARP)).div_ceil(SCHEDULERS.into());
        warps as f64 / self.tile.rate(warps) * self.tile.multiply_adds() * f64::from(slice) + self.tile.overhead()
    }

    /// Returns the clocks of one more launch. It reads the partial sums of every slice and writes the results.
    fn adding(&self, slices: u32) -> f64 {
        let outputs = f64::from(self.size.m) * f64::from(self.size.n);
        LAUNCH + f64::from(slices + 1) * outputs * 4.0 / BYTES_PER_CLOCK
    }
}

impl Division {
    /// Finds the division with the shortest estimated time. Tries both tiles and all numbers of slices.
    pub fn of(size: Size, multiprocessors: u32) -> Self {
        let sum = Sum { most: MOST_SLICES, ..Sum::new(size.k, DEPTH) };
        let plan = |tile: Tile| planner::plan(tile.blocks(size), sum, multiprocessors, &Clocks { tile, size });
        let (large, small): (Planned, Planned) = (plan(Tile::Large), plan(Tile::Small));
        if small.time < large.time {
            Self { tile: Tile::Small, slices: small.slices }
        } else {
            Self { tile: Tile::Large, slices: large.slices }
        }
    }
    // ANCHOR_END: model

    /// Returns a division into about this many slices.
    pub fn with(size: Size, tile: Tile, slices: u32) -> Self {
        Self { tile, slices: Sum::new(size.k, DEPTH).cut(slices) }
    }
}

impl fmt::Display for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = self.tile.sides();
        match self.slices.count {
            1 => write!(f, "tiles of {rows} x {columns}"),
            slices => write!(f, "tiles of {rows} x {columns}, and the sum in {slices} slices"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_narrow_products_get_small_tiles_and_slices() {
        // The best of all divisions that were measured on an H200, by replayed graphs or, the last one, in a run of the
        // chapter.
        for ((m, n, k), tile, slices) in [
            ((4096, 4096, 4096), Tile::Large, 1),
            ((8192, 8192, 8192), Tile::Large, 1),
            ((2048, 2048, 2048), Tile::Large, 1),
            ((1024, 1024, 1024), Tile::Small, 1),
            ((512, 512, 512), Tile::Small, 4),
            ((4096, 64, 4096), Tile::Small, 8),
            ((64, 4096, 4096), Tile::Small, 8),
            ((256, 4096, 4096), Tile::Large, 4),
            ((80, 48, 64), Tile::Small, 1),
        ] {
            let division = Division::of(Size { m, n, k }, 132);
            assert_eq!((division.tile, division.slices.count), (tile, slices), "{m}, {n}, {k}: {division}");
        }
    }
}
