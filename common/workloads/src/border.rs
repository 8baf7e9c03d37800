//! Code that workloads share: how two sides are written, and what is outside the edges of an image.

use std::str::FromStr;

use serde::Serialize;

/// The treatment of windows that reach outside the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Border {
    /// Compute only outputs whose whole window is inside the image
    #[default]
    Valid,
    /// Compute every output; outside the image, repeat the pixels of its edge
    Clamp,
}

impl FromStr for Border {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        named(text, [("valid", Border::Valid), ("clamp", Border::Clamp)])
    }
}

/// Parses the name of one of two things.
pub fn named<T>(text: &str, known: [(&str, T); 2]) -> Result<T, String> {
    let expected = format!("expected {} or {}", known[0].0, known[1].0);
    known.into_iter().find(|(name, _)| *name == text).map(|(_, value)| value).ok_or(expected)
}

/// Parses a width and a height, for example `640x480`. The error is `expected`, or says which number is too large.
pub fn sides(text: &str, expected: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once(['x', 'X']).ok_or(expected)?;
    Ok((number(width, expected)?, number(height, expected)?))
}

/// Parses `N` numbers with commas between them, as [`sides`] does.
pub fn numbers<const N: usize>(text: &str, expected: &str) -> Result<[u32; N], String> {
    let numbers: Vec<u32> = text.split(',').map(|text| number(text, expected)).collect::<Result<_, _>>()?;
    numbers.try_into().map_err(|_| expected.to_owned())
}

fn number(text: &str, expected: &str) -> Result<u32, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(expected.to_owned());
    }
    text.parse().map_err(|_| format!("{text} is too large: {} is the most", u32::MAX))
}
