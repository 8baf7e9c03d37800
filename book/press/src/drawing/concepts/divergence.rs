//! A warp whose lanes disagree at an `if`, and two warps whose lanes agree.

use std::ops::Range;

use super::super::svg::{MARGIN, Svg, width_of};
use super::shapes::Picture;

const LANES: usize = 32;
/// Lanes of the first warp that take the first path.
const FIRST: usize = 16;
/// Instructions of each path.
const PATH: usize = 3;
const CELL: f64 = 9.0;
const ROW: f64 = 16.0;

/// An instruction of a warp: its words, its class, and the lanes that take part.
type Line = (&'static str, &'static str, Range<usize>);

pub fn draw() -> Picture {
    let mut svg = Svg::panel(258.0);
    let paths = |first: usize| {
        let mut lines = vec![("compare", "block", 0..LANES)];
        lines.extend((0..PATH).filter(|_| first > 0).map(|_| ("path A", "wanted", 0..first)));
        lines.extend((0..PATH).filter(|_| first < LANES).map(|_| ("path B", "moved", first..LANES)));
        lines.push(("go on", "block", 0..LANES));
        lines
    };
    let wide = LANES as f64 * CELL;
    let left = MARGIN + 52.0;
    svg.text("title", MARGIN, 26.0, "lanes disagree: both paths in turn");
    let end = warp(&mut svg, left, 40.0, &paths(FIRST));
    svg.text("small", left, end + 14.0, &format!("lanes 0 to {}", FIRST - 1));
    svg.text("small right", left + wide, end + 14.0, &format!("lanes {FIRST} to {}", LANES - 1));
    svg.text("small", left, end + 36.0, &format!("{} instructions, each for a part of the lanes", 2 * PATH));

    let right = left + wide + 60.0;
    svg.text("title", right - 46.0, 26.0, "lanes agree: one path");
    let end = warp(&mut svg, right, 40.0, &paths(LANES));
    svg.text("small", right, end + 14.0, "one warp");
    let end = warp(&mut svg, right, end + 24.0, &paths(0));
    svg.text("small", right, end + 14.0, &format!("another warp: {PATH} instructions each"));
    let caption = "A warp starts one instruction for all of its lanes: if they disagree at an if, it takes both paths in turn and then reconverges."
        .to_owned();
    Picture { svg, caption }
}

/// Draws a warp's instructions one below the other. Returns where they end.
fn warp(svg: &mut Svg, left: f64, top: f64, lines: &[Line]) -> f64 {
    for (index, (words, class, lanes)) in lines.iter().enumerate() {
        let y = top + index as f64 * ROW;
        let cell = |lane: usize| (left + lane as f64 * CELL, y, CELL - 1.0, ROW - 2.0);
        svg.cells("idle", (0..LANES).filter(|lane| !lanes.contains(lane)).map(cell));
        svg.cells(class, lanes.clone().map(cell));
        let is_first = index == 0 || lines[index - 1].0 != *words;
        if is_first {
            debug_assert!(width_of(words) < 52.0);
            svg.text("small right", left - 6.0, y + 11.0, words);
        }
    }
    top + lines.len() as f64 * ROW
}
