//! The unit of the rates of a chapter, and the words of charts about their runs.

use anyhow::{Context, Result};
use run::units;
use run::workload::{Arithmetic, Work};

use crate::archive::{Run, STALE_NOTE};

/// The unit of a chapter's rates, as its table shows them.
#[derive(Clone, Copy)]
pub struct Unit {
    /// Pieces in the whole work: operations, multiply-adds or bytes.
    pub pieces: f64,
    pub name: &'static str,
    /// A rate in words.
    pub words: fn(f64) -> String,
    /// The arithmetic of the ceiling, in words.
    pub ceiling: &'static str,
    /// The most pieces per second that the device can do with that arithmetic, measured in the same run.
    pub most: Option<f64>,
}

impl Unit {
    pub fn of(run: Run) -> Self {
        let Work { multiply_adds, bytes, arithmetic } = run.record.work();
        let (multiply_adds, bytes, ceilings) = (multiply_adds as f64, bytes as f64, run.record.ceilings);
        let unit = |pieces, name, words, ceiling, most| Self { pieces, name, words, ceiling, most };
        match arithmetic {
            Arithmetic::Bf16 => unit(2.0 * multiply_adds, "FLOP", units::flops, "bf16 multiply-adds", None),
            Arithmetic::F32 => {
                unit(2.0 * multiply_adds, "FLOP", units::flops, "f32 multiply-adds", ceilings.map(|ceilings| ceilings.flops))
            }
            Arithmetic::Bytes => {
                let most = ceilings.and_then(|ceilings| ceilings.byte_multiply_adds);
                unit(multiply_adds, "multiply-adds", units::multiply_adds, "multiply-adds of bytes by dp4a", most)
            }
            Arithmetic::Integers => unit(bytes, "bytes", units::bandwidth, "a copy", ceilings.map(|ceilings| ceilings.bytes_per_s)),
        }
    }

    /// Returns the pieces per second if the whole work takes `ms`.
    pub fn at(self, ms: f64) -> f64 {
        1e3 * self.pieces / ms
    }
}

/// Returns a stage of a library to compare others with: its name and its rate.
pub fn rival(run: Run, unit: Unit, name: String) -> Result<(String, f64)> {
    let ms = run.stage(&name)?.median_ms.with_context(|| format!("{} has no time of {name}", run.name))?;
    Ok((name, unit.at(ms)))
}

/// Returns the title of a chart of one run.
pub fn title(run: Run) -> String {
    format!("{}: {}", run.record.chapter, run.sizes())
}

/// Says what some runs were made on, and when; the first one names the device of all. Explains the stale mark if a stage has one.
pub fn origin(runs: &[Run]) -> String {
    let days = || runs.iter().map(Run::day);
    let days = match (days().min(), days().max()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.unwrap_or_default().to_owned(),
    };
    let Some(device) = runs.first().map(|run| &run.record.device) else { return String::new() };
    // With a note about stale stages, the line has no room for the compiler.
    let end =
        if runs.iter().any(Run::has_stale) { format!("{days}; {STALE_NOTE}") } else { format!("{}, {days}", device.compiler) };
    format!("{}, driver {}, {end}", device.name, device.driver)
}
