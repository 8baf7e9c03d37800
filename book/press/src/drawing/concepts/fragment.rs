//! The elements of the matrices of a tensor core's product, and the lanes that hold them.

use anyhow::{Context, Result};
use simt::{MatrixPart, places_in_registers};

use super::super::svg::{MARGIN, Svg};
use super::shapes::{Picture, area, block};

/// The product: of a 16 x 16 and a 16 x 8 matrix.
const SHAPE: &str = "m16n8k16";
/// The lane whose elements are marked.
const LANE: usize = 5;
/// Width and height of an element.
const CELL: (f64, f64) = (19.0, 14.0);
/// Classes of the registers of a lane.
const REGISTERS: [&str; 4] = ["block", "other", "block", "other"];

/// Draws the matrices in the simulator's layout, which the PTX ISA defines.
pub fn draw() -> Result<Picture> {
    let (left, top, side) = (MARGIN + 4.0, 58.0, 16.0);
    let (right, below) = (left + side * CELL.0 + 30.0, top + side * CELL.1 + 34.0);
    let mut svg =
        Svg::titled(below + side * CELL.1 + 18.0, &format!("mma.{SHAPE}, bf16: A x B + C, and the lane that holds each element"));
    // The letter is that of its registers. A register has two elements of A in a row, two of B in a column, or one of C.
    let matrices = [
        (MatrixPart::A, "A: 16 x 16", 'a', "bf16", (1, 2), (left, below)),
        (MatrixPart::B, "B: 16 x 8", 'b', "bf16", (2, 1), (right, top)),
        (MatrixPart::Accumulator, "C: 16 x 8", 'c', "f32", (1, 1), (right, below)),
    ];
    let mut y = top + 4.0;
    svg.text("", left, y, &format!("lane {LANE} holds"));
    for (part, name, letter, number, (down, across), at) in matrices {
        let registers = places_in_registers(part, SHAPE, number).context("the shape of a product")?;
        svg.text("", at.0, at.1 - 7.0, name);
        y += 4.0;
        for (register, places) in registers.iter().enumerate() {
            for (lane, (row, column)) in places.iter().enumerate() {
                let class = if lane == LANE { "wanted" } else { REGISTERS[register % REGISTERS.len()] };
                let (x, y) = (at.0 + *column as f64 * CELL.0, at.1 + *row as f64 * CELL.1);
                let place = area(x, y, f64::from(across) * CELL.0 - 1.0, f64::from(down) * CELL.1 - 1.0);
                block(&mut svg, class, place, &lane.to_string());
            }
            let (row, column) = places[LANE];
            let named = |what, first, number| match number {
                2 => format!("{what}s {first} and {}", first + 1),
                _ => format!("{what} {first}"),
            };
            y += 14.0;
            svg.text(
                "small",
                left,
                y,
                &format!("{letter}{register}: {}, {}", named("row", row, down), named("column", column, across)),
            );
        }
    }
    let beside = right + 8.0 * CELL.0 + 14.0;
    let words = [
        (top + 12.0, "B: four lanes share a column."),
        (top + 27.0, "A box is a register, and it has"),
        (top + 42.0, "two elements, upper and lower."),
        (below + 12.0, "A, C: four lanes share a row."),
        (below + 27.0, "In A, a box has two elements:"),
        (below + 42.0, "left and right. In C: one."),
        (below + 72.0, "Shades: the lane's registers,"),
        (below + 87.0, "in turn."),
    ];
    words.into_iter().for_each(|(y, words)| svg.text("small", beside, y, words));
    let caption = "The three matrices of one tensor-core product are spread over the registers of the 32 lanes of a warp: four registers of A and \
                   two of B, with two elements each, and four sums in each lane."
        .to_owned();
    Ok(Picture { svg, caption })
}
