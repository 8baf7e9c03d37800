//! Sparse matrices of `mma.sp`: half of the elements of A, and where in its rows they are.

use alu::registers::LANES;
use ptx::program::fragment::{Fragment, Number};

/// Returns the matrix with its zeros.
///
/// PTX ISA, "Sparse matrix storage": of four adjacent elements of a row (of f16, bf16, s8, u8 and floats of 8 bits), of four pairs (of s4 and
/// u4), or of the four halves of two tf32, two are stored, and two indices of two bits each say which. The lanes that hold them are those of
/// the figures at "Sparse MMA metadata": a register has 16 bits for a row and for the row 8 below it, or where elements have 8 bits or fewer,
/// 32 bits for one row.
pub fn expanded(stored: &[f64], fragment: &Fragment, metadata: &[u32; LANES], selector: usize) -> Vec<f64> {
    let (rows, columns) = fragment.extents();
    // Elements of what an index counts, or the indices of an element.
    let (per_unit, per_element) = match fragment.number {
        Number::S4 | Number::U4 => (2, 1),
        Number::Tf32 => (1, 2),
        _ => (1, 1),
    };
    let mut dense = vec![0.0; rows * columns * 2];
    for (at, value) in stored.iter().enumerate() {
        let (row, column) = (at / columns, at % columns);
        let index = column / per_unit * per_element;
        let (chunk, of_chunk) = (index / 2, index % 2);
        let (lanes, lane, first_bit) = match fragment.number.bits() {
            16.. => (columns * per_element / 8, chunk / 4, row / 8 * 16 + chunk % 4 * 4),
            _ => (columns / per_unit / 8, row / 8 + chunk / 8 * 2, chunk % 8 * 4),
        };
        let word = metadata[row % 8 * 4 + (selector * lanes + lane) % 4];
        let unit = chunk * 4 + (word >> (first_bit + 2 * of_chunk) & 3) as usize;
        dense[row * columns * 2 + unit / per_element * per_unit + column % per_unit] = *value;
    }
    dense
}
