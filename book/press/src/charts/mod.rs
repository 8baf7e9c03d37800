//! Charts of saved runs: how long the stages of a chapter take, how near they come to the ceiling and to a library, what limits them, and
//! how all that changes with the size.
//!
//! # Layout
//!
//! - [`bars`]: a bar per stage, with columns of numbers. [`plot`]: points, lines and labels between two axes.
//! - [`rate`]: what the rates of a chapter count, and what a chart says of its runs.
//! - `stages`: bars. `growth`, `roofline`: plots. They hold the data, and no coordinates.

mod bars;
mod growth;
mod plot;
mod rate;
mod roofline;
mod stages;

use anyhow::{Result, bail};

use crate::archive::Archive;
use crate::directive::{Arguments, nearest};

/// Draws a chart: `times RUN`, `shares RUN`, `growth RUN`, `roofline RUN` or `overview DEVICE`, with the options of each.
pub fn draw(archive: &Archive, arguments: &mut Arguments) -> Result<String> {
    let kind = arguments.word("the kind of chart")?;
    let name = arguments.word("a record")?;
    draw_named(archive, &kind, &name, arguments)
}

/// Draws a chart of a kind and of a record.
pub fn draw_named(archive: &Archive, kind: &str, name: &str, arguments: &mut Arguments) -> Result<String> {
    match kind {
        "times" => stages::times(archive.run(name)?),
        "shares" => stages::shares(archive, archive.run(name)?, arguments),
        "growth" => growth::growth(archive, archive.run(name)?, arguments),
        "roofline" => roofline::roofline(archive.pair(name)?, arguments),
        "overview" => roofline::overview(&archive.pairs(name)),
        _ => bail!("there is no chart {kind}{}", nearest(kind, ["times", "shares", "growth", "roofline", "overview"])),
    }
}

#[cfg(test)]
mod tests;
