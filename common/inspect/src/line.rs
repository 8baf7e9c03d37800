//! The line of the CUDA source to look at.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use simt::SourceLine;

/// A line, by its number or by a part of its text. The text still names the line after an edit above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The number, from 1.
    Number(u32),
    /// Text that the line contains.
    Text(String),
}

impl Line {
    /// Returns true if this names `line`; `source` finds the text of a source file by its name.
    pub fn names(&self, line: &SourceLine, source: impl Fn(&str) -> Option<&'static str>) -> bool {
        match self {
            Line::Number(number) => line.line == *number,
            Line::Text(part) => {
                let text = source(&line.file).and_then(|text| text.lines().nth(line.line.checked_sub(1)? as usize));
                text.is_some_and(|text| text.contains(part))
            }
        }
    }
}

impl FromStr for Line {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Line::Text(text.to_owned()), Line::Number))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Number(number) => write!(f, "on line {number}"),
            Line::Text(part) => write!(f, "on a line with `{part}`"),
        }
    }
}
