//! The matrices of `wgmma` in chapter 04: rows of pixels that overlap, and bands of the template.

use kernels::correlation::hopper::{UNIT, WIDE};

use super::super::svg::{MARGIN, Svg};
use super::shapes::{Picture, area, block};

/// Columns of the template.
const TEMPLATE: u32 = 52;
/// The unit of each row that the marked instruction multiplies.
const MARKED: u32 = 2;
/// The bands that are shown.
const SHIFTS: [u32; 4] = [0, 1, 2, UNIT - 1];
/// The width of a unit on the page.
const WIDTH: f64 = 50.0;
const ROW: f64 = 19.0;
const STEP: f64 = 22.0;

pub fn draw() -> Picture {
    let units = (TEMPLATE + UNIT - 1).div_ceil(UNIT);
    let rows = WIDE / UNIT;
    let left = MARGIN + 86.0;
    let mut svg = Svg::titled(434.0, &format!("{rows} rows of the matrix of pixels, all in one row of the tile"));
    let mut y = 40.0;
    let cells = |svg: &mut Svg, y: f64, name: &str, first: u32, number: u32, marked: Option<u32>| {
        svg.text("small right", left - 8.0, y + 14.0, name);
        for unit in first..first + number {
            let class = if marked == Some(unit) { "wanted" } else { "block" };
            let place = area(left + f64::from(unit) * WIDTH, y, WIDTH - 2.0, ROW);
            block(svg, class, place, &format!("p{} …", unit * UNIT));
        }
    };
    cells(&mut svg, y, "tile", 0, rows + units - 1, None);
    y += STEP + 8.0;
    for row in 0..rows {
        cells(&mut svg, y, &format!("row {row}"), row, units, Some(row + MARKED));
        y += STEP;
    }
    let notes = [
        format!(
            "Marked: what one instruction reads here, {UNIT} bytes of each row. The next one reads {UNIT} bytes further right."
        ),
        format!("It also reads the {UNIT} bytes below each of these, in the next row of the tile."),
    ];
    for note in notes {
        svg.text("small", MARGIN, y + 14.0, &note);
        y += 16.0;
    }
    y += 34.0;
    let title = format!("the other matrix: the template's row, {UNIT} times, each time one byte later");
    svg.text("title", MARGIN, y, &title);
    y += 12.0;
    for shift in SHIFTS {
        svg.text("small right", left - 8.0, y + 14.0, &format!("shift {shift}"));
        svg.rect("idle", left, y, f64::from(units) * WIDTH - 2.0, ROW);
        let byte = WIDTH / f64::from(UNIT);
        let place = area(left + f64::from(shift) * byte, y, f64::from(TEMPLATE) * byte, ROW);
        block(&mut svg, "moved", place, &format!("{TEMPLATE} pixels"));
        let words = format!("times rows 0, 1, 2, …: outputs {shift}, {}, {}, …", shift + UNIT, shift + 2 * UNIT);
        svg.text("small", left + f64::from(units) * WIDTH + 12.0, y + 14.0, &words);
        y += STEP;
    }
    let caption = format!(
        "Each row of the matrix of pixels begins {UNIT} bytes after the one before, so rows overlap and up to {units} of them use the same \
         bytes; the shifts of the template yield the outputs in between."
    );
    Picture { svg, caption }
}
