//! The swizzle of 128 bytes: where TMA puts the 16-byte chunks of eight rows.

use simt::tensor_map::Swizzle;

use super::super::svg::{MARGIN, Svg};
use super::shapes::{Picture, area, block};

/// Rows after which the pattern repeats, and chunks of a row.
const ROWS: u32 = 8;
/// The column of chunks that is marked.
const COLUMN: u32 = 2;
/// Width and height of a chunk.
const CELL: (f64, f64) = (37.0, 22.0);

/// Draws the places as the simulator computes them.
pub fn draw() -> Picture {
    let top = 66.0;
    let below = top + f64::from(ROWS) * CELL.1;
    let mut svg = Svg::panel(below + 48.0);
    let width = f64::from(ROWS) * CELL.0;
    let left = MARGIN + 46.0;
    let found = format!("chunk {COLUMN} of every row: the same four banks");
    let layouts = [
        (Swizzle::None, left, "without a swizzle", found),
        (
            Swizzle::Bytes128,
            left + width + 50.0,
            "with the swizzle of 128 bytes",
            format!("chunk {COLUMN} of every row: all 32 banks"),
        ),
    ];
    svg.text("small right", left - 8.0, top - 8.0, "banks");
    for (swizzle, left, title, found) in layouts {
        svg.text("title", left, 26.0, title);
        for place in 0..ROWS {
            let banks = format!("{}–{}", 4 * place, 4 * place + 3);
            svg.text("small middle", left + (f64::from(place) + 0.5) * CELL.0, top - 8.0, &banks);
        }
        for (row, chunk) in (0..ROWS).flat_map(|row| (0..ROWS).map(move |chunk| (row, chunk))) {
            let place = swizzle.place(128 * row + 16 * chunk) % 128 / 16;
            let class = if chunk == COLUMN { "wanted" } else { "block" };
            let (x, y) = (left + f64::from(place) * CELL.0, top + f64::from(row) * CELL.1);
            block(&mut svg, class, area(x, y, CELL.0 - 2.0, CELL.1 - 2.0), &chunk.to_string());
        }
        svg.text("small middle", left + width / 2.0, below + 16.0, &found);
    }
    for row in 0..ROWS {
        svg.text("small right", left - 8.0, top + f64::from(row) * CELL.1 + 14.0, &format!("row {row}"));
    }
    svg.text(
        "small",
        MARGIN,
        below + 37.0,
        "Each number is that of a chunk of 16 bytes, as wide as four banks. A row has eight of them, 128 bytes.",
    );
    let caption = "TMA stores chunk c of row r at place c ^ r, so the eight chunks of a column lie in different banks.".to_owned();
    Picture { svg, caption }
}
