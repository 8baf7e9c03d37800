//! The stages of a pipeline of asynchronous copies.

use super::super::svg::{MARGIN, Svg, WIDTH};
use super::shapes::{Picture, Timeline};

const BUFFERS: usize = 3;
const TILES: usize = 6;
const ROW: f64 = 26.0;
const STEP: f64 = 34.0;

pub fn draw() -> Picture {
    let time = Timeline { left: MARGIN + 70.0, right: WIDTH - MARGIN, length: (TILES + 2) as f64 };
    let mut svg = Svg::titled(232.0, "three buffers: while tile k is computed, the copy of tile k + 2 is under way");
    let top = 42.0;
    for buffer in 0..BUFFERS {
        svg.text("small right", time.left - 8.0, top + buffer as f64 * STEP + 17.0, &format!("buffer {buffer}"));
    }
    let arithmetic = top + BUFFERS as f64 * STEP + 8.0;
    svg.text("small right", time.left - 8.0, arithmetic + 17.0, "arithmetic");
    // Behind the bars, so that it crosses no words.
    for step in 2..TILES + 2 {
        let x = time.x(step as f64) - 0.5;
        svg.line("barrier", (x, top - 4.0), (x, arithmetic + ROW + 2.0));
    }
    // Two copies start before the loop. The step that computes tile k starts the copy of tile k + 2.
    for tile in 0..TILES {
        let y = top + (tile % BUFFERS) as f64 * STEP;
        let compute = (tile + 2) as f64;
        let start = if tile < 2 { 0.15 * tile as f64 } else { compute - 2.0 };
        time.piece(&mut svg, "moved", (start, compute), (y, ROW), &format!("copy tile {tile}"));
        time.piece(&mut svg, "wanted", (compute, compute + 1.0), (y, ROW), &format!("read tile {tile}"));
        time.piece(&mut svg, "wanted", (compute, compute + 1.0), (arithmetic, ROW), &format!("tile {tile}"));
    }
    let y = arithmetic + ROW + 20.0;
    svg.text("small", time.left, y, "time");
    svg.arrow((time.left + 34.0, y - 4.0), (time.left + 110.0, y - 4.0));
    svg.text("small right", time.right, y, "at each line: wait for the oldest copy, then __syncthreads()");
    let caption = "An asynchronous copy needs no registers and no waiting thread: with three buffers, each copy has two steps of arithmetic to arrive in."
        .to_owned();
    Picture { svg, caption }
}
