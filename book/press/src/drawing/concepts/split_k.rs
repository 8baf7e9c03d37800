//! A long sum as the work of one block, and cut into slices for several blocks.

use super::super::svg::{MARGIN, Svg, WIDTH};
use super::shapes::{Picture, Timeline};

const SLICES: u32 = 4;
/// Times of adding up a slice, storing its sums, and adding them.
const SLICE: f64 = 4.0;
const STORE: f64 = 1.0;
const ADD: f64 = 1.6;
const ROW: f64 = 22.0;
const STEP: f64 = 27.0;

pub fn draw() -> Picture {
    let time = Timeline { left: MARGIN + 120.0, right: WIDTH - MARGIN, length: SLICE * f64::from(SLICES) };
    let mut svg = Svg::panel(324.0);
    let mut y = 26.0;
    for (whole, title) in [(true, "one block adds up all terms"), (false, "each block adds up one slice of the terms")] {
        svg.text("title", MARGIN, y, title);
        y += 10.0;
        for row in 0..SLICES {
            svg.text("small right", time.left - 8.0, y + 15.0, &format!("multiprocessor {row}"));
            let slices = if whole { 0..SLICES } else { row..row + 1 };
            for slice in slices.filter(|_| !whole || row == 0) {
                let start = if whole { SLICE * f64::from(slice) } else { 0.0 };
                time.piece(&mut svg, "wanted", (start, start + SLICE), (y, ROW), &format!("slice {slice} of the terms"));
            }
            if whole && row > 0 {
                time.piece(&mut svg, "idle", (0.0, time.length), (y, ROW), "no block");
            } else if !whole {
                let stored = SLICE + STORE;
                time.piece(&mut svg, "moved", (SLICE, stored), (y, ROW), "store");
                time.piece(&mut svg, "block", (stored + 0.4, stored + 0.4 + ADD), (y, ROW), "add rows");
            }
            y += STEP;
        }
        y += 34.0;
    }
    let (x, top) = (time.x(SLICE + STORE + 0.2), y - 34.0 - STEP * f64::from(SLICES));
    svg.line("barrier", (x, top - 4.0), (x, y - 34.0));
    svg.text("small middle", x, y - 20.0, "all rows of partial sums are in memory");
    svg.text("small", time.x(SLICE + STORE + ADD + 0.8), top + 15.0, "the same outputs, earlier");
    svg.text("small right", time.right - 92.0, y - 20.0, "time, not to scale");
    svg.arrow((time.right - 84.0, y - 24.0), (time.right, y - 24.0));
    let caption = "A long sum keeps one multiprocessor busy; its slices keep several busy at once, and cost a row of partial sums each and a second kernel \
                   that adds the rows."
        .to_owned();
    Picture { svg, caption }
}
