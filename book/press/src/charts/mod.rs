//! Charts of saved runs: how long the stages of a chapter take, how near they come to the ceiling and to a library, what limits them, and
//! how all that changes with the size.
//!
//! # Layout
//!
//! - [`bars`]: a bar per stage, with columns of numbers. [`plot`]: points, lines and labels between two axes.
//! - `times`, `shares`: bars. `growth`, `roofline`, `overview`: plots. They hold the data, and no coordinates.

mod bars;
mod growth;
mod overview;
mod plot;
mod roofline;
mod shares;
mod times;

use anyhow::{Result, bail};
use common::units;
use common::workload::{Arithmetic, Work};

use crate::archive::{Archive, Run, STALE_NOTE};
use crate::directive::{Arguments, nearest};

/// What kinds of charts there are.
const KINDS: [&str; 5] = ["times", "shares", "growth", "roofline", "overview"];

/// Draws a chart: `times RUN`, `shares RUN`, `growth RUN`, `roofline RUN` or `overview DEVICE`, with the options of each.
///
/// # Errors
///
/// When there is no such run, stage or option, or when a run lacks what the chart shows.
pub fn draw(archive: &Archive, arguments: &mut Arguments) -> Result<String> {
    let kind = arguments.word("the kind of chart")?;
    let name = arguments.word("a record")?;
    match kind.as_str() {
        "times" => times::times(archive.run(&name)?),
        "shares" => shares::shares(archive, archive.run(&name)?, arguments),
        "growth" => growth::growth(archive, archive.run(&name)?, arguments),
        "roofline" => roofline::roofline(archive.pair(&name)?, arguments),
        "overview" => overview::overview(&archive.pairs(&name)),
        _ => bail!("there is no chart {kind}{}", nearest(&kind, KINDS)),
    }
}

/// What a chapter's rates count, as its table shows them.
#[derive(Clone, Copy)]
struct Unit {
    /// Pieces in the whole work: operations, multiply-adds or bytes.
    pieces: f64,
    /// A rate in words.
    words: fn(f64) -> String,
    /// What the ceiling is the rate of, in words.
    ceiling: &'static str,
}

impl Unit {
    fn of(run: Run) -> Self {
        let Work { multiply_adds, bytes, arithmetic } = run.record.work();
        match arithmetic {
            Arithmetic::F32 => Self { pieces: 2.0 * multiply_adds as f64, words: units::flops, ceiling: "f32 multiply-adds" },
            Arithmetic::Bytes => {
                Self { pieces: multiply_adds as f64, words: units::multiply_adds, ceiling: "multiply-adds of bytes by dp4a" }
            }
            Arithmetic::Integers => Self { pieces: bytes as f64, words: units::bandwidth, ceiling: "a copy" },
        }
    }

    /// Pieces per second, when the whole work takes so long.
    fn at(self, ms: f64) -> f64 {
        1e3 * self.pieces / ms
    }
}

/// The most pieces per second that the device can do with the arithmetic of the chapter, measured in the same run.
fn ceiling(run: Run) -> Option<f64> {
    let ceilings = run.record.ceilings?;
    match run.record.work().arithmetic {
        Arithmetic::F32 => Some(ceilings.flops),
        Arithmetic::Bytes => ceilings.byte_multiply_adds,
        Arithmetic::Integers => Some(ceilings.bytes_per_s),
    }
}

/// The title of a chart of one run.
fn title(run: Run) -> String {
    format!("{}: {}", run.record.chapter, run.sizes())
}

/// What some runs were made on, and when; the first one names the device of all. Says what a stale mark means if a stage has one.
fn origin<'a>(runs: impl Iterator<Item = Run<'a>> + Clone) -> String {
    let days = || runs.clone().map(|run| run.day());
    let days = match (days().min(), days().max()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.unwrap_or_default().to_owned(),
    };
    let Some(device) = runs.clone().next().map(|run| &run.record.device) else { return String::new() };
    let stale = if runs.clone().any(|run| run.has_stale()) { format!("; {STALE_NOTE}") } else { String::new() };
    format!("{}, driver {}, {}, {days}{stale}", device.name, device.driver, device.compiler)
}

#[cfg(test)]
mod tests;
