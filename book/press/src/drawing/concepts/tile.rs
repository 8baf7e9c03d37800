//! A tile that slides: over a signal, or over the two factors of a product.

use anyhow::{Result, bail};

use super::super::svg::{MARGIN, Svg, WIDTH, width_of};
use super::shapes::{Picture, area, block};
use kernels::{conv_shared, matmul};

pub fn draw(of: &str) -> Result<Picture> {
    match of {
        "signal" => Ok(signal()),
        "product" => Ok(product()),
        _ => bail!("a tile slides over a `signal` or over the factors of a `product`, not over `{of}`"),
    }
}

const STEPS: u32 = 4;

/// Returns the tile of `shared` in chapter 02.
fn signal() -> Picture {
    let (block_size, tile) = (conv_shared::BLOCK, conv_shared::TILE);
    let samples = block_size + tile - 1;
    let all = STEPS * tile + block_size - 1;
    let (left, row, step) = (MARGIN + 52.0, 22.0, 48.0);
    let scale = (WIDTH - MARGIN - left) / f64::from(all);
    let mut svg = Svg::titled(
        62.0 + step * f64::from(STEPS) + 12.0,
        &format!("block 0 works through {} taps, {tile} at a time", STEPS * tile),
    );
    svg.text("small", left, 48.0, &format!("signal: samples 0 to {}", all - 1));
    for index in 0..STEPS {
        let y = 56.0 + step * f64::from(index);
        let first = index * tile;
        svg.text("small right", left - 8.0, y + 15.0, &format!("step {index}"));
        svg.rect("outline", left, y, f64::from(all) * scale, row);
        let words = format!("samples {first} to {}", first + samples - 1);
        block(&mut svg, "wanted", area(left + f64::from(first) * scale, y, f64::from(samples) * scale, row), &words);
        // What the step before has loaded, too.
        if index > 0 {
            let again = samples - tile;
            svg.rect("moved", left + f64::from(first) * scale, y + row + 1.0, f64::from(again) * scale, 4.0);
        }
        let taps = format!("taps {first} to {}", first + tile - 1);
        svg.text("small middle", left + f64::from(first + samples / 2) * scale, y + row + 17.0, &taps);
    }
    let caption = format!(
        "The tile of a block of {block_size} threads holds {samples} samples for {tile} taps; then it slides {tile} samples to the right, and {} of \
         them (orange) are loaded again.",
        samples - tile
    );
    Picture { svg, caption }
}

/// Returns the tiles of `tiled` in chapter 06.
fn product() -> Picture {
    let tile = matmul::TILE;
    let (tiles, size) = (6, 30.0);
    let (at_row, at_column) = (1, 3);
    let side = f64::from(tiles) * size;
    let (left, top) = (MARGIN + 14.0, 44.0);
    let (c_left, c_top) = (left + side + 40.0, top + side + 40.0);
    let mut svg = Svg::titled(c_top + side + 22.0, &format!("tiles of {tile} x {tile}: a block computes one tile of C"));
    for (name, x, y) in [("A", left, c_top), ("B", c_left, top), ("C", c_left, c_top)] {
        svg.text("", x - 14.0, y + 12.0, name);
        svg.rect("outline", x, y, side, side);
        for line in 1..tiles {
            let at = f64::from(line) * size;
            svg.line("grid", (x + at, y), (x + at, y + side));
            svg.line("grid", (x, y + at), (x + side, y + at));
        }
    }
    // The band of each factor, and two of the tiles in it.
    let (row, column) = (c_top + f64::from(at_row) * size, c_left + f64::from(at_column) * size);
    svg.rect("block", left, row, side, size);
    svg.rect("block", column, top, size, side);
    for (class, slab) in [("other", 0), ("wanted", 1)] {
        let at = f64::from(slab) * size;
        block(&mut svg, class, area(left + at, row, size, size), &slab.to_string());
        block(&mut svg, class, area(column, top + at, size, size), &slab.to_string());
    }
    svg.arrow((left + 2.0 * size + 6.0, row + size / 2.0), (left + side - 6.0, row + size / 2.0));
    svg.arrow((column + size / 2.0, top + 2.0 * size + 6.0), (column + size / 2.0, top + side - 6.0));
    svg.rect("moved", column, row, size, size);
    let words = [
        "step 0: load both tiles 0,".to_owned(),
        format!("add {tile} products to each output;"),
        "step 1: the same with tiles 1;".to_owned(),
        "and so on, to the right in A".to_owned(),
        "and down in B.".to_owned(),
    ];
    for (index, line) in words.iter().enumerate() {
        svg.text("small", left, top + 14.0 + 17.0 * index as f64, line);
    }
    let beside = c_left + side + 24.0;
    let remarks = [
        (top + 20.0, "Each number of a tile".to_owned()),
        (top + 37.0, format!("is loaded once and used {tile} times.")),
        (row + size / 2.0 + 4.0, "The sums stay in registers.".to_owned()),
    ];
    for (y, words) in remarks {
        debug_assert!(beside + width_of(&words) < WIDTH);
        svg.text("small", beside, y, &words);
    }
    let caption = "The tile of A slides to the right while the tile of B slides down; the block's tile of C stays where it is and grows by one product \
                   of tiles per step."
        .to_owned();
    Picture { svg, caption }
}
