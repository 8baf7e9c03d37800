//! The picture on the cover: a loop that unrolls. Its columns are the machine instructions of two kernels of chapter 03.

use std::f64::consts::TAU;

use anyhow::Result;

use super::super::svg::{Svg, WIDTH};
use super::shapes::Picture;
use crate::archive::Archive;
use crate::listings;

const HEIGHT: f64 = 268.0;
const LANES: usize = 4;
/// Width and height of an instruction of a lane, with its gap.
const CELL: (f64, f64) = (11.0, 7.0);
const GAP: f64 = 1.6;
/// The middle of the roll, and the radius of its outermost turn.
const MIDDLE: (f64, f64) = (140.0, 128.0);
const RADIUS: f64 = 104.0;
/// From one turn of the roll to the next.
const PITCH: f64 = 36.0;
const NAME: (f64, f64) = (312.0, 98.0);
/// Radius where the roll begins.
const CORE: f64 = 14.0;

pub fn draw(archive: &Archive) -> Result<Picture> {
    let rolled = classes(&listings::read(archive, "03-unroll.shared")?);
    let unrolled = classes(&listings::read(archive, "03-unroll.unroll-4")?);
    let mut paths: [String; 3] = Default::default();
    for (column, middle, angle) in columns() {
        let class = if angle == 0.0 { unrolled[column % unrolled.len()] } else { rolled[column % rolled.len()] };
        for lane in 0..LANES {
            // The outermost lane is the lowest one of the ribbon.
            let out = (lane as f64 - (LANES - 1) as f64 / 2.0) * CELL.1;
            quad(&mut paths[class], middle, angle, out);
        }
    }
    let mut svg = Svg::panel(HEIGHT);
    for (class, path) in ["cover-load", "cover-math", "cover-rest"].into_iter().zip(paths) {
        svg.path(class, &path);
    }
    svg.text("cover-name", NAME.0, NAME.1, "Unrolled");
    svg.text("cover-words", NAME.0 + 3.0, NAME.1 + 38.0, "CUDA kernels optimized from Rust,");
    svg.text("cover-words", NAME.0 + 3.0, NAME.1 + 66.0, "one measured stage at a time");
    let products = |classes: &[usize]| format!("{} of {}", classes.iter().filter(|class| **class == 1).count(), classes.len());
    let [before, after] = [&rolled[..], &unrolled].map(products);
    let caption = format!(
        "A loop of chapter 03 in machine code, before and after it is unrolled: {before} instructions is a multiply-add (blue), then {after}; loads are \
         orange."
    );
    Ok(Picture { svg, caption })
}

/// Sorts the instructions of a listing: loads, multiply-adds, and others.
fn classes(listing: &str) -> Vec<usize> {
    let class = |line: &str| match line.split(['.', ' ']).next() {
        Some("LDS") => 0,
        Some("FFMA") => 1,
        _ => 2,
    };
    listing.lines().filter(|line| !line.trim().is_empty()).map(class).collect()
}

/// Returns the ribbon's columns: number, middle, and rotation. The straight part comes first, from right to left, and then the roll from its
/// outermost turn inward.
fn columns() -> Vec<(usize, (f64, f64), f64)> {
    let floor = MIDDLE.1 + RADIUS;
    let straight = ((WIDTH - 26.0 - MIDDLE.0) / CELL.0) as usize;
    let mut columns: Vec<_> =
        (0..straight).map(|column| (column, (MIDDLE.0 + (column as f64 + 0.5) * CELL.0, floor), 0.0)).collect();
    let mut angle: f64 = 0.0;
    for column in 0.. {
        let radius = RADIUS - PITCH * angle / TAU;
        if radius < CORE {
            break;
        }
        let turned = angle + CELL.0 / radius / 2.0;
        // From the lowest point to the left and up.
        let middle = (MIDDLE.0 - radius * turned.sin(), MIDDLE.1 + radius * turned.cos());
        columns.push((column, middle, turned));
        angle += CELL.0 / radius;
    }
    columns
}

/// Adds a lane's cell of a column to a path.
fn quad(path: &mut String, middle: (f64, f64), angle: f64, out: f64) {
    let (sine, cosine) = angle.sin_cos();
    // How far the corners are along the ribbon, and outward.
    let (half, low, high) = ((CELL.0 - GAP) / 2.0, out - (CELL.1 - GAP) / 2.0, out + (CELL.1 - GAP) / 2.0);
    let corners = [(-half, low), (half, low), (half, high), (-half, high)];
    let turned = |(x, y)| format!("{:.1} {:.1}", middle.0 + x * cosine - y * sine, middle.1 + x * sine + y * cosine);
    *path += &format!("M{}z", corners.map(turned).join("L"));
}
