//! The oracle of window sums: the sum and the sum of squares over a horizontal window around each pixel.

use std::ops::Range;

use crate::expected::Expected;
use crate::parallel;
use crate::progress;

/// Returns the expected outputs: all sums, then all sums of squares, each from all of its pixels. `pixels` are rows of `width`; a
/// window of `window` pixels goes on with the pixel of the edge beyond the edges of its row. Outside `columns`, a stage must write
/// nothing.
pub fn whole(pixels: &[i32], width: u32, window: u32, columns: Range<u32>) -> Vec<Expected> {
    let (row, half) = (width as usize, i64::from(window / 2));
    let rows: Vec<&[i32]> = pixels.chunks(row).collect();
    let bar = progress::bar("oracle", rows.len() as u64);
    let (sums, squares): (Vec<_>, Vec<_>) = parallel::map(rows.len(), |y| {
        let pixels = rows[y];
        let mut sums = vec![Expected::UNTOUCHED; pixels.len()];
        let mut squares = sums.clone();
        for x in columns.clone() {
            let window = i64::from(x) - half..=i64::from(x) + half;
            let (mut sum, mut square) = (0_i64, 0_i64);
            for position in window {
                let pixel = i64::from(pixels[position.clamp(0, i64::from(width) - 1) as usize]);
                sum += pixel;
                square += pixel * pixel;
            }
            sums[x as usize] = Expected::rounded_once(sum);
            squares[x as usize] = Expected::rounded_once(square);
        }
        bar.inc(1);
        (sums, squares)
    })
    .into_iter()
    .unzip();
    [sums.concat(), squares.concat()].concat()
}

/// Returns the largest magnitude of a pixel; 0 where there are none.
pub fn largest_magnitude(pixels: &[i32]) -> u32 {
    pixels.iter().map(|pixel| pixel.unsigned_abs()).max().unwrap_or(0)
}
