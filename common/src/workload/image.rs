//! What workloads share: how two sides are written, and of an image, what is outside the edges.

use clap::ValueEnum;
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
