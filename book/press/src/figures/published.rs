//! What the texts of 2008 to 2012 published that the chapters start from. The texts themselves are no part of the repository.

use super::number::{Number, Unit};
use super::quantity::Dimension;
use crate::window_tables::PUBLISHED as WINDOW_SUMS;

/// The convolution of 294 912 outputs and 32 768 taps on a GeForce GTX 280 (chapters 01 to 03), in milliseconds: on the CPU, translated
/// to the GPU as it is, with shared memory, that unrolled by 4 and by 8 or 16, with a larger tile, that unrolled, and the copies alone.
const CONVOLUTION_MS: [f64; 8] = [18_923.0, 827.0, 234.0, 156.0, 140.0, 265.0, 140.0, 16.0];

/// The same tutorial's gain over the CPU, and two of its outputs, from the CPU and from the GPU.
const CONVOLUTION: [f64; 5] = [135.0, 13.800_844, 13.800_883, -50.197_727, -50.197_735];

/// Either of the two sums over a window alone, on a GeForce 9800 GT (chapter 05), in milliseconds; the others stand in a table.
const HALVES_MS: [f64; 1] = [3.0];

/// Whether a number was published, in its unit if it has one.
pub fn is_published(number: &Number, unit: Option<Unit>) -> bool {
    let times = CONVOLUTION_MS.into_iter().chain(HALVES_MS).chain(WINDOW_SUMS.map(|(_, ms)| ms));
    let plain = CONVOLUTION.into_iter();
    match unit {
        Some(unit) if unit.dimension == Dimension::TIME => {
            let ms = number.value * unit.scale / 1e-3;
            times.into_iter().any(|published| (published - ms).abs() < 1e-9 * published)
        }
        Some(Unit { scale: 1.0, dimension: Dimension::PLAIN }) => plain.into_iter().any(|published| published == number.value),
        Some(_) => false,
        None => times.chain(plain).any(|published| published == number.value),
    }
}
