//! The outputs of a block, of one of its warps and of one of its threads, in the kernel `warp_tile` of chapter 06.

use kernels::matmul::{BLOCK_COLUMNS, BLOCK_ROWS};

use super::super::svg::{MARGIN, Svg};
use super::shapes::{Picture, area, block};

/// Rows and columns of a warp's outputs.
pub const WARP: (u32, u32) = (32, 64);
/// The side of a square of outputs. A thread has one in each quarter of its warp's outputs.
pub const VECTOR: u32 = 4;
/// The warp that is drawn larger, and the lane that is marked.
const SHOWN: u32 = 3;
const LANE: u32 = 5;
/// The side of an output in the block, and in the warp.
const SMALL: f64 = 1.5;
const LARGE: f64 = 7.0;

pub fn draw() -> Picture {
    let mut svg = Svg::panel(346.0);
    let (left, top, right) = (MARGIN, 56.0, MARGIN + f64::from(BLOCK_COLUMNS) * SMALL + 44.0);
    let across = BLOCK_COLUMNS / WARP.1;
    let warps = across * BLOCK_ROWS / WARP.0;
    svg.text("title", left, 26.0, &format!("block: {BLOCK_ROWS} x {BLOCK_COLUMNS} outputs"));
    svg.text("small", left, 44.0, &format!("{warps} warps"));
    let (width, height) = (f64::from(WARP.1), f64::from(WARP.0));
    for warp in 0..warps {
        let (x, y) = (left + f64::from(warp % across) * width * SMALL, top + f64::from(warp / across) * height * SMALL);
        let class = if warp == SHOWN { "wanted" } else { "block" };
        block(&mut svg, class, area(x, y, width * SMALL - 2.0, height * SMALL - 2.0), &format!("warp {warp}"));
        if warp == SHOWN {
            let (edge, low, end) = (x + width * SMALL - 2.0, y + height * SMALL - 2.0, top + height * LARGE);
            svg.path("beam", &format!("M{edge:.1} {y:.1}L{right:.1} {top:.1}L{right:.1} {end:.1}L{edge:.1} {low:.1}z"));
        }
    }
    svg.text("title", right, 26.0, &format!("warp {SHOWN}: {} x {} outputs", WARP.0, WARP.1));
    svg.text("small", right, 44.0, &format!("each number is a lane, which has {VECTOR} x {VECTOR} outputs in each quarter"));
    let side = f64::from(VECTOR) * LARGE;
    for (quarter, lane) in (0..4).flat_map(|quarter| (0..32).map(move |lane| (quarter, lane))) {
        let (row, column) = square(quarter, lane);
        let class = if lane == LANE { "wanted" } else { ["block", "other", "other", "block"][quarter as usize] };
        let place = area(right + f64::from(column) * LARGE, top + f64::from(row) * LARGE, side - 1.0, side - 1.0);
        block(&mut svg, class, place, &lane.to_string());
    }
    let y = top + height * LARGE + 20.0;
    svg.text("small", right, y, &format!("Lane {LANE} has four squares, so 8 x 8 outputs."));
    svg.text("small", right, y + 17.0, "For a quarter, 32 lanes need 4 vectors of a, one for each row of squares,");
    svg.text("small", right, y + 34.0, "and 8 vectors of b, one for each column of squares.");
    let caption = "A block's tile is cut into a tile for each warp, and in each quarter of that tile the lanes form 4 rows of 8, so that many lanes want the \
                   same vector."
        .to_owned();
    Picture { svg, caption }
}

/// Returns the first row and column of a lane's square. It follows `place_of` in the kernel: lanes 2 i and 2 i + 1 are below each other.
pub fn square(quarter: u32, lane: u32) -> (u32, u32) {
    let (row, column) = (lane % 2 + lane / 16 * 2, lane / 2 % 8);
    (quarter / 2 * WARP.0 / 2 + row * VECTOR, quarter % 2 * WARP.1 / 2 + column * VECTOR)
}
