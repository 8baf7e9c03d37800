//! The elements of the matrices of a tensor core's product, and the lanes that hold them.

use anyhow::{Context, Result};
use simt::{MatrixPart, places_of_words};

use super::super::svg::{MARGIN, Svg};
use super::shapes::{Picture, area, block};

/// The product: of a 16 x 8 and an 8 x 8 matrix.
const SHAPE: &str = "m16n8k8";
/// The lane whose elements are marked.
const LANE: usize = 5;
/// Width and height of an element.
const CELL: (f64, f64) = (26.0, 18.0);
/// Classes of the registers of a lane.
const REGISTERS: [&str; 4] = ["block", "other", "block", "other"];

/// Draws the matrices in the simulator's layout, which the PTX ISA defines.
pub fn draw() -> Result<Picture> {
    let (width, height) = (8.0 * CELL.0, 8.0 * CELL.1);
    let (left, top) = (MARGIN + 16.0, 58.0);
    let (right, below) = (left + width + 44.0, top + height + 40.0);
    let mut svg =
        Svg::titled(below + 2.0 * height + 18.0, &format!("mma.{SHAPE}, tf32: A x B + C, and the lane that holds each element"));
    // The letter is that of its registers.
    let matrices = [
        (MatrixPart::A, "A: 16 x 8", 'a', (left, below)),
        (MatrixPart::B, "B: 8 x 8", 'b', (right, top)),
        (MatrixPart::Accumulator, "C: 16 x 8", 'c', (right, below)),
    ];
    let mut held = Vec::new();
    for (part, name, letter, at) in matrices {
        let registers = places_of_words(part, SHAPE).context("the shape of a product")?;
        svg.text("", at.0, at.1 - 7.0, name);
        for (register, places) in registers.iter().enumerate() {
            for (lane, (row, column)) in places.iter().enumerate() {
                let class = if lane == LANE { "wanted" } else { REGISTERS[register % REGISTERS.len()] };
                let place = area(at.0 + *column as f64 * CELL.0, at.1 + *row as f64 * CELL.1, CELL.0 - 1.0, CELL.1 - 1.0);
                block(&mut svg, class, place, &lane.to_string());
            }
        }
        let element = |(register, places): (usize, &[(usize, usize); 32])| {
            let (row, column) = places[LANE];
            format!("{letter}{register}: row {row}, column {column}")
        };
        held.push(registers.iter().enumerate().map(element).collect::<Vec<_>>());
    }
    let mut y = top + 8.0;
    svg.text("", left, y, &format!("lane {LANE} holds"));
    for registers in &held {
        y += 4.0;
        for register in registers {
            y += 14.0;
            svg.text("small", left, y, register);
        }
    }
    let beside = right + width + 22.0;
    let words = [
        (top + 14.0, "B: four lanes share a column"),
        (below + 14.0, "A, C: four lanes share a row"),
        (below + 44.0, "Shades: the register that"),
        (below + 59.0, "holds the element."),
    ];
    words.into_iter().for_each(|(y, words)| svg.text("small", beside, y, words));
    let caption = "The three matrices of one tensor-core product are spread over the registers of the 32 lanes of a warp: four elements of A, two of B and \
                   four of C in each lane."
        .to_owned();
    Ok(Picture { svg, caption })
}
