//! The oracle of histograms: how often each gray level occurs.

use crate::expected::Expected;
use crate::rounding::{EXACT_IN_F32, UNIT_ROUNDOFF};

/// Returns the number of pixels of each of `levels` gray levels. Panics when a pixel is no gray level.
pub fn whole(pixels: &[i32], levels: usize) -> Vec<Expected> {
    let mut counts = vec![0_u64; levels];
    for &pixel in pixels {
        counts[usize::try_from(pixel).expect("a gray level is not negative")] += 1;
    }
    let rounded_once = |count: u64| {
        let value = count as f64;
        Expected { value, tolerance: if value <= EXACT_IN_F32 { 0.0 } else { UNIT_ROUNDOFF * value } }
    };
    counts.into_iter().map(rounded_once).collect()
}
