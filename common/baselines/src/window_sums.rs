//! Sums over windows on a CPU.

use rayon::prelude::*;
use workloads::WindowSums;

/// Computes rows on all cores: each pixel by a loop over its window.
pub fn rows(sums: &WindowSums, output: &mut [f32]) {
    let image = sums.image();
    let (width, k) = (image.width as usize, sums.window() as i64 / 2);
    let (sum, squares) = output.split_at_mut(image.pixels.len());
    let rows = sum.par_chunks_mut(width).zip(squares.par_chunks_mut(width)).zip(image.pixels.par_chunks(width));
    rows.for_each(|((sum, squares), pixels)| {
        for x in sums.columns() {
            let window = i64::from(x) - k..=i64::from(x) + k;
            let window = window.map(|x| i64::from(pixels[x.clamp(0, width as i64 - 1) as usize]));
            let (total, square) = window.fold((0, 0), |(total, square), pixel| (total + pixel, square + pixel * pixel));
            sum[x as usize] = total as f32;
            squares[x as usize] = square as f32;
        }
    });
}
