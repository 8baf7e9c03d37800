//! The oracle of histograms: how often each gray level occurs.

use crate::expected::Expected;

/// Returns the number of pixels of each of `levels` gray levels. Panics when a pixel is no gray level.
pub fn whole(pixels: &[i32], levels: usize) -> Vec<Expected> {
    let mut counts = vec![0; levels];
    for &pixel in pixels {
        counts[usize::try_from(pixel).expect("a gray level is not negative")] += 1;
    }
    counts.into_iter().map(Expected::rounded_once).collect()
}
