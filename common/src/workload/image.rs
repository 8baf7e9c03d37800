//! What workloads over images share: how a size is written, what is outside the edges, and generated images.

use clap::ValueEnum;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use serde::Serialize;

/// What happens near an edge, where a window reaches outside the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Border {
    /// Compute only outputs whose whole window is inside the image
    #[default]
    Valid,
    /// Compute every output; outside the image, repeat the pixels of its edge
    Clamp,
}

/// The nearest position on a side of this length.
pub(super) fn clamped(position: i64, length: u32) -> u32 {
    position.clamp(0, i64::from(length) - 1) as u32
}

/// Parses a width and a height, for example `640x480`.
pub(super) fn sides(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_once(['x', 'X'])?;
    Some((number(width)?, number(height)?))
}

/// Parses a number that consists of digits only. A number that does not fit becomes the largest one, which is refused later.
pub(super) fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}

/// Pixels between the support points of the coarse pattern.
const CELL: usize = 16;

/// Gray levels that look like clouds with grain, row by row: an interpolated coarse random pattern plus a random number for each pixel.
/// They are computed from integers only, so they are the same on every machine.
pub(super) fn clouds(width: u32, height: u32, generator: &mut ChaCha8Rng) -> Vec<u8> {
    let (width, height) = (width as usize, height as usize);
    let across = width / CELL + 2;
    let coarse: Vec<u32> = (0..across * (height / CELL + 2)).map(|_| generator.next_u32() >> 24).collect();
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        let (row, down) = (y / CELL * across, (y % CELL) as u32);
        for x in 0..width {
            let (at, right) = (row + x / CELL, (x % CELL) as u32);
            let cell = CELL as u32;
            let upper = coarse[at] * (cell - right) + coarse[at + 1] * right;
            let lower = coarse[at + across] * (cell - right) + coarse[at + across + 1] * right;
            let cloud = (upper * (cell - down) + lower * down) / (cell * cell);
            let grain = generator.next_u32() >> 24;
            pixels.push(((3 * cloud + grain) / 4) as u8);
        }
    }
    pixels
}
