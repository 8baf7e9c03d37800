//! Which tiles a size gets, as a value that can be printed and tested.
//!
//! The order and the bounds are fitted to times of one H200: `kernels/NOTES.md`, "06-matmul-half", "Tiles by size".

use std::fmt;

use kernels::matmul_half::hopper::{COLUMNS, PAIR, ROWS, SLICE_COLUMNS, SMALL_COLUMNS, SMALL_ROWS};
use run::workload::matmul_half::Size;

/// The tiles of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Tiles of 128 x 256 outputs. Two blocks share columns of B.
    Pairs,
    /// Tiles of 128 x 256 outputs.
    Large,
    /// Tiles of 64 x 128 outputs.
    Small,
    /// Tiles of 64 x 64 outputs, each by two blocks with half of the sums.
    Slices,
}

/// Rounds of tiles from which on sharing gains more than it costs. Blocks of a pair wait for each other.
const ROUNDS_OF_PAIRS: u64 = 8;

impl Shape {
    // ANCHOR: choice
    /// Chooses the largest tiles that give most multiprocessors one.
    pub fn of(size: Size, multiprocessors: u32) -> Self {
        let tiles = |rows: u32, columns: u32| u64::from(size.m.div_ceil(rows)) * u64::from(size.n.div_ceil(columns));
        let all = u64::from(multiprocessors);
        // Half of the multiprocessors with large tiles are as fast as all with tiles of half the size.
        let fill = |tiles: u64| 4 * tiles >= 3 * all;
        if tiles(ROWS, COLUMNS) >= ROUNDS_OF_PAIRS * all {
            Self::Pairs
        } else if fill(tiles(ROWS, COLUMNS)) {
            Self::Large
        } else if fill(tiles(SMALL_ROWS, SMALL_COLUMNS)) {
            Self::Small
        } else {
            Self::Slices
        }
    }
    // ANCHOR_END: choice
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Pairs => write!(f, "tiles of {ROWS} x {COLUMNS}, {PAIR} blocks share columns of B"),
            Shape::Large => write!(f, "tiles of {ROWS} x {COLUMNS}"),
            Shape::Small => write!(f, "tiles of {SMALL_ROWS} x {SMALL_COLUMNS}"),
            Shape::Slices => write!(f, "tiles of {SMALL_ROWS} x {SLICE_COLUMNS}, {PAIR} slices of each sum"),
        }
    }
}
