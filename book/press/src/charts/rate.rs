//! What the rates of a chapter count, and what a chart says of its runs.

use common::units;
use common::workload::{Arithmetic, Work};

use crate::archive::{Run, STALE_NOTE};

/// What a chapter's rates count, as its table shows them.
#[derive(Clone, Copy)]
pub struct Unit {
    /// Pieces in the whole work: operations, multiply-adds or bytes.
    pub pieces: f64,
    /// A rate in words.
    pub words: fn(f64) -> String,
    /// What the ceiling is the rate of, in words.
    pub ceiling: &'static str,
}

impl Unit {
    pub fn of(run: Run) -> Self {
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
    pub fn at(self, ms: f64) -> f64 {
        1e3 * self.pieces / ms
    }
}

/// The most pieces per second that the device can do with the arithmetic of the chapter, measured in the same run.
pub fn ceiling(run: Run) -> Option<f64> {
    let ceilings = run.record.ceilings?;
    match run.record.work().arithmetic {
        Arithmetic::F32 => Some(ceilings.flops),
        Arithmetic::Bytes => ceilings.byte_multiply_adds,
        Arithmetic::Integers => Some(ceilings.bytes_per_s),
    }
}

/// The title of a chart of one run.
pub fn title(run: Run) -> String {
    format!("{}: {}", run.record.chapter, run.sizes())
}

/// What some runs were made on, and when; the first one names the device of all. Says what a stale mark means if a stage has one.
pub fn origin<'a>(runs: impl Iterator<Item = Run<'a>> + Clone) -> String {
    let days = || runs.clone().map(|run| run.day());
    let days = match (days().min(), days().max()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.unwrap_or_default().to_owned(),
    };
    let Some(device) = runs.clone().next().map(|run| &run.record.device) else { return String::new() };
    if runs.clone().any(|run| run.has_stale()) {
        // The line has no room for the compiler as well.
        return format!("{}, driver {}, {days}; {STALE_NOTE}", device.name, device.driver);
    }
    format!("{}, driver {}, {}, {days}", device.name, device.driver, device.compiler)
}
