//! A block's warps over time, with a barrier between their stores and their loads, and without.

use super::super::svg::{MARGIN, Svg, WIDTH};
use super::shapes::{Picture, Timeline};

/// The time each warp takes to store its part of the tile.
const STORES: [f64; 4] = [5.0, 8.0, 6.5, 11.0];
/// The time that each of them then takes to read the tile.
const READS: f64 = 6.0;
const ROW: f64 = 20.0;
const STEP: f64 = 25.0;

pub fn draw() -> Picture {
    let time = Timeline { left: MARGIN + 52.0, right: WIDTH - MARGIN, length: 18.0 };
    let slowest = STORES.iter().copied().fold(0.0, f64::max);
    let mut svg = Svg::panel(330.0);
    let mut y = 26.0;
    let with = ("with __syncthreads()", "barrier", "the last warp arrives: now all go on");
    let without = ("without it", "limit", "only now is the whole tile in place");
    for (title, class, words) in [with, without] {
        svg.text("title", MARGIN, y, title);
        y += 14.0;
        let top = y;
        for (warp, store) in STORES.into_iter().enumerate() {
            svg.text("small right", time.left - 8.0, y + 14.0, &format!("warp {warp}"));
            time.piece(&mut svg, "moved", (0.0, store), (y, ROW), "stores its part");
            if class == "barrier" {
                time.piece(&mut svg, "idle", (store, slowest), (y, ROW), "waits");
                time.piece(&mut svg, "wanted", (slowest, slowest + READS), (y, ROW), "reads the tile");
            } else {
                let end = store + READS;
                time.piece(&mut svg, "clash", (store, end.min(slowest)), (y, ROW), "reads too early");
                let words = if store < slowest { "" } else { "reads the tile" };
                time.piece(&mut svg, "wanted", (slowest.max(store), end.max(slowest)), (y, ROW), words);
            }
            y += STEP;
        }
        svg.line(class, (time.x(slowest), top - 6.0), (time.x(slowest), y));
        svg.text("small middle", time.x(slowest), y + 14.0, words);
        y += 48.0;
    }
    let caption = "A barrier makes every warp wait for the slowest one; without it, a fast warp reads samples that a slow warp has not stored yet."
        .to_owned();
    Picture { svg, caption }
}
