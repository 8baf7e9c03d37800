//! A grid of blocks, one of its blocks as warps, and one of its warps as lanes.

use super::super::svg::{MARGIN, Svg};
use super::shapes::{Area, INNER, Picture, area, block, enlarge};

/// Outputs: not a multiple of a block's threads.
const OUTPUTS: usize = 1000;
const BLOCK: usize = 256;
const WARP: usize = 32;
/// The lane of the last warp whose numbers are shown.
const LANE: usize = 5;

pub fn draw() -> Picture {
    let blocks = OUTPUTS.div_ceil(BLOCK);
    let (last, warps) = (blocks - 1, BLOCK / WARP);
    let first_of_warp = last * BLOCK + (warps - 1) * WARP;
    let title = format!("a grid: {blocks} blocks, because {OUTPUTS} outputs need {blocks} blocks of {BLOCK} threads");
    let mut svg = Svg::titled(306.0, &title);
    let row = parts(36.0, 32.0, blocks, 10.0);
    for (index, place) in row.iter().enumerate() {
        block(&mut svg, if index == last { "wanted" } else { "block" }, *place, &format!("block {index}"));
    }
    let inside = parts(114.0, 30.0, warps, 6.0);
    enlarge(&mut svg, row[last], area(MARGIN, 112.0, INNER, 0.0));
    svg.text("title", MARGIN, 104.0, &format!("block {last}: {warps} warps"));
    for (index, place) in inside.iter().enumerate() {
        block(&mut svg, if index == warps - 1 { "wanted" } else { "block" }, *place, &format!("warp {index}"));
    }
    let lanes = parts(190.0, 26.0, WARP, 2.0);
    enlarge(&mut svg, inside[warps - 1], area(MARGIN, 188.0, INNER, 0.0));
    svg.text("title", MARGIN, 180.0, &format!("warp {} of block {last}: {WARP} lanes", warps - 1));
    for (lane, place) in lanes.iter().enumerate() {
        let class = match first_of_warp + lane {
            past if past >= OUTPUTS => "idle",
            _ if lane == LANE => "moved",
            _ => "wanted",
        };
        block(&mut svg, class, *place, &lane.to_string());
    }
    let thread = (warps - 1) * WARP + LANE;
    let marked = lanes[LANE].x + lanes[LANE].width / 2.0;
    svg.line("lead", (marked, 217.0), (marked, 254.0));
    let past = OUTPUTS - first_of_warp;
    let middle = (lanes[past].x + lanes[WARP - 1].x + lanes[WARP - 1].width) / 2.0;
    svg.text("small middle", middle, 234.0, &format!("i >= {OUTPUTS}: {} threads without an output", blocks * BLOCK - OUTPUTS));
    svg.text("", MARGIN, 270.0, &format!("lane {LANE}: blockIdx.x = {last}, threadIdx.x = {thread}, blockDim.x = {BLOCK}"));
    let index = format!("i = blockIdx.x * blockDim.x + threadIdx.x = {last} * {BLOCK} + {thread} = {}", first_of_warp + LANE);
    svg.text("", MARGIN, 290.0, &index);
    let caption = "A grid is made of blocks, a block of warps, and a warp of 32 lanes; each lane is a thread, and its index says which output is its own."
        .to_owned();
    Picture { svg, caption }
}

/// Returns parts of equal width, side by side over the whole picture.
fn parts(y: f64, height: f64, number: usize, gap: f64) -> Vec<Area> {
    let width = (INNER - gap * (number - 1) as f64) / number as f64;
    (0..number).map(|index| area(MARGIN + index as f64 * (width + gap), y, width, height)).collect()
}
