//! The sums of a `wgmma`, and the warps, lanes and registers that hold them.

use anyhow::{Context, Result};
use kernels::matmul_half::COLUMNS;
use simt::{MatrixPart, places_in_registers};

use super::super::svg::{MARGIN, Svg};
use super::shapes::{Picture, area, block};

/// Rows of a warp, of which a warpgroup has four.
const WARP_ROWS: usize = 16;
/// Columns that are drawn larger.
const SHOWN: usize = 16;
/// The warp and the lane that are marked.
const WARP: usize = 1;
const LANE: usize = 5;
/// Width and height of an element.
const CELL: (f64, f64) = (22.0, 15.0);

/// Draws the sums in the simulator's layout, which the PTX ISA defines. A warp's part is that of an `mma` with as many columns.
pub fn draw() -> Result<Picture> {
    let registers =
        places_in_registers(MatrixPart::Accumulator, &format!("m16n{COLUMNS}k16"), "f32").context("the shape of a product")?;
    let (top, left, width, high) = (58.0, MARGIN + 4.0, 226.0, 60.0);
    let (right, height) = (left + width + 96.0, WARP_ROWS as f64 * CELL.1);
    let mut svg = Svg::titled(top + height + 50.0, &format!("64 x {COLUMNS} sums in the registers of a warpgroup"));
    svg.text("small", left, top - 8.0, &format!("{COLUMNS} columns"));
    for warp in 0..4 {
        let words = format!("warp {warp}: rows {} to {}", warp * WARP_ROWS, (warp + 1) * WARP_ROWS - 1);
        block(&mut svg, "block", area(left, top + warp as f64 * high, width, high - 2.0), &words);
    }
    let (part, y) = (width * SHOWN as f64 / f64::from(COLUMNS), top + WARP as f64 * high);
    svg.rect("wanted", left, y, part, high - 2.0);
    let (edge, low, end) = (left + width, y + high - 2.0, top + height);
    svg.path("beam", &format!("M{edge:.1} {y:.1}L{right:.1} {top:.1}L{right:.1} {end:.1}L{edge:.1} {low:.1}z"));
    svg.text("small", right, top - 8.0, &format!("warp {WARP}, the first {SHOWN} columns: the lane of each sum"));
    let mut held = vec![Vec::new(); WARP_ROWS];
    for (register, places) in registers.iter().enumerate() {
        for (lane, (row, column)) in places.iter().copied().enumerate().filter(|(_, (_, column))| *column < SHOWN) {
            let class = if lane == LANE { "wanted" } else { ["block", "other", "other", "block"][register / 2 % 4] };
            let place = area(right + column as f64 * CELL.0, top + row as f64 * CELL.1, CELL.0 - 1.0, CELL.1 - 1.0);
            block(&mut svg, class, place, &lane.to_string());
            if lane == LANE {
                held[row].push(format!("d{register} in column {column}"));
            }
        }
    }
    let mut y = top + height + 20.0;
    for (row, held) in held.iter().enumerate().filter(|(_, held)| !held.is_empty()) {
        svg.text("small right", right - 8.0, top + (row as f64 + 0.75) * CELL.1, &format!("row {}", WARP * WARP_ROWS + row));
        let words = format!("lane {LANE}, row {}: {}, and so on", WARP * WARP_ROWS + row, held.join(", "));
        svg.text("small", left, y, &words);
        y += 17.0;
    }
    let caption = "Each warp holds 16 of the 64 rows, and each thread holds pairs of neighbors: in two of its warp's rows, it has two of every eight \
                   columns."
        .to_owned();
    Ok(Picture { svg, caption })
}
