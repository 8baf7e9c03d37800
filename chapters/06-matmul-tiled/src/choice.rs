//! Which tile a size gets, and how many slices: as a value that can be printed and tested.
//!
//! A product has as many blocks as the result has tiles. Large tiles need fewer loads for each multiply-add; small ones, and slices of the
//! sum, make enough blocks of a small or a narrow product to give every multiprocessor work.

use std::fmt;

use common::Result;
use common::gpu::Gpu;
use common::workload::matmul::Size;
use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;

/// The outputs of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// 128 x 256, 256 threads.
    Large,
    /// 64 x 64, 64 threads.
    Small,
}

/// How a product is divided among blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The outputs of a block.
    pub tile: Tile,
    /// Columns of A, and rows of B, of a block.
    pub slice: u32,
    /// Parts of the sum that blocks of their own add up.
    pub slices: u32,
}

/// Slices are whole multiples of this many columns of A.
const DEPTH: u32 = 8;
/// Slices at most.
const MOST_SLICES: u32 = 32;
/// Clocks of the launch that adds slices up, behind another launch of the same stream: what eight slices cost a product of 80 x 48 x 64 in a run of
/// the chapter (`kernels/NOTES.md`).
const LAUNCH: f64 = 8000.0;
/// Bytes per clock that it moves.
const BYTES_PER_CLOCK: f64 = 1500.0;

impl Tile {
    /// Rows and columns.
    pub fn sides(self) -> (u32, u32) {
        match self {
            Tile::Large => (128, 256),
            Tile::Small => (64, 64),
        }
    }

    /// Threads of a block.
    pub fn threads(self) -> u32 {
        match self {
            Tile::Large => 256,
            Tile::Small => 64,
        }
    }

    /// Blocks that a multiprocessor holds at a time.
    fn at_once(self) -> u64 {
        match self {
            Tile::Large => 1,
            Tile::Small => 8,
        }
    }

    /// Clocks of a multiprocessor that has so many blocks at a time, no more than fit. Fitted to times of one H200 at 13 sizes (`kernels/NOTES.md`).
    fn clocks(self, blocks: u64, slice: u32) -> f64 {
        // Warps of the busiest scheduler, multiply-adds of a warp for a column of A, and what a block takes besides.
        let (warps, work, besides) = match self {
            Tile::Large => (2 * blocks, 128.0, 9000.0),
            Tile::Small => (blocks.div_ceil(2), 64.0, 2500.0),
        };
        // Multiply-adds that a scheduler starts in a clock.
        let rate = match (self, warps) {
            (Tile::Large, _) => 0.81,
            (Tile::Small, 1) => 0.68,
            (Tile::Small, 2) => 0.73,
            (Tile::Small, _) => 0.75,
        };
        warps as f64 / rate * work * f64::from(slice) + besides
    }
}

impl Division {
    // ANCHOR: division
    /// The division of the least estimated time, of both tiles and all numbers of slices.
    pub fn of(size: Size, multiprocessors: u32) -> Self {
        let all = [Tile::Large, Tile::Small]
            .into_iter()
            .flat_map(|tile| (1..=MOST_SLICES).map(move |slices| Self::with(size, tile, slices)));
        let least = all.min_by(|one, other| one.clocks(size, multiprocessors).total_cmp(&other.clocks(size, multiprocessors)));
        least.unwrap_or(Self::with(size, Tile::Large, 1))
    }

    /// A division into about so many slices, each a whole number of the tiles' depth.
    pub fn with(size: Size, tile: Tile, slices: u32) -> Self {
        let slice = size.k.div_ceil(slices).div_ceil(DEPTH) * DEPTH;
        Self { tile, slice, slices: size.k.div_ceil(slice) }
    }

    /// Clocks until the busiest multiprocessor is done.
    fn clocks(self, size: Size, multiprocessors: u32) -> f64 {
        let (rows, columns) = self.tile.sides();
        let blocks = u64::from(size.m.div_ceil(rows)) * u64::from(size.n.div_ceil(columns)) * u64::from(self.slices);
        let busiest = blocks.div_ceil(u64::from(multiprocessors));
        let (rounds, rest) = (busiest / self.tile.at_once(), busiest % self.tile.at_once());
        let last = if rest > 0 { self.tile.clocks(rest, self.slice) } else { 0.0 };
        let products = rounds as f64 * self.tile.clocks(self.tile.at_once(), self.slice) + last;
        let outputs = f64::from(size.m) * f64::from(size.n);
        let adding = LAUNCH + f64::from(self.slices + 1) * outputs * 4.0 / BYTES_PER_CLOCK;
        products + if self.slices > 1 { adding } else { 0.0 }
    }
    // ANCHOR_END: division
}

impl fmt::Display for Division {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, columns) = self.tile.sides();
        match self.slices {
            1 => write!(f, "tiles of {rows} x {columns}"),
            slices => write!(f, "tiles of {rows} x {columns}, and the sum in {slices} slices"),
        }
    }
}

/// The multiprocessors of a device.
///
/// # Errors
///
/// The driver's errors.
pub fn multiprocessors(gpu: &Gpu) -> Result<u32> {
    Ok(gpu.context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_narrow_products_get_small_tiles_and_slices() {
        // The best of all that was measured on an H200, by replayed graphs or, the last one, in a run of the chapter (kernels/NOTES.md).
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
            assert_eq!((division.tile, division.slices), (tile, slices), "{m}, {n}, {k}: {division}");
        }
    }

    #[test]
    fn slices_cover_the_sum_and_none_is_empty() {
        for k in [1, 7, 8, 9, 63, 64, 65, 1000, 4096] {
            for slices in 1..=MOST_SLICES {
                let Division { slice, slices, .. } = Division::with(Size { m: 1, n: 1, k }, Tile::Small, slices);
                assert!(slice * slices >= k && slice * (slices - 1) < k, "{k}: {slices} of {slice}");
            }
        }
    }
}
