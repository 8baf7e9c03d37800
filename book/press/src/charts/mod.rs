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

use anyhow::Result;

use crate::archive::Archive;
use crate::directive::{Arguments, named};
use crate::drawing::svg::inline;
use crate::lab::html::figure;

/// Draws a chart of a record, with the options of its kind.
type Draw = fn(&Archive, &str, &mut Arguments) -> Result<String>;

/// The kinds of charts. The record of `overview` is a device.
const CHARTS: [(&str, Draw); 5] = [
    ("times", |archive, name, _| stages::times(archive.run(name)?)),
    ("shares", |archive, name, options| stages::shares(archive, archive.run(name)?, options)),
    ("growth", |archive, name, options| growth::growth(archive, archive.run(name)?, options)),
    ("roofline", |archive, name, options| roofline::roofline(archive.pair(name)?, options)),
    ("overview", |archive, name, _| roofline::overview(&archive.pairs(name))),
];

/// Draws a directive's chart, given by its kind and a record.
pub fn draw(archive: &Archive, arguments: &mut Arguments) -> Result<String> {
    let kind = arguments.word("the kind of chart")?;
    let name = arguments.word("a record")?;
    named(format_args!("there is no chart {kind}"), &kind, CHARTS)?(archive, &name, arguments)
}

/// Draws the roofline of a record, or of a device with `overview`. A reader adds a point to it with the page's script.
pub fn interactive_roofline(archive: &Archive, arguments: &mut Arguments) -> Result<String> {
    let name = arguments.word("a record, or `overview` and a device")?;
    let svg = match name.as_str() {
        "overview" => roofline::overview(&archive.pairs(&arguments.word("a device")?)),
        record => roofline::roofline(archive.pair(record)?, arguments),
    }?;
    Ok(figure("roofline", &[], &inline(&svg, &arguments.alternative()?)))
}

#[cfg(test)]
mod tests;
