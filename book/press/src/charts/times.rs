//! A bar for each stage, as long as its time, next to the time of the multiply-adds alone.

use anyhow::{Context, Result};
use common::units;
use common::workload::Arithmetic;

use super::bars::{Bars, Mark, Row};
use super::{Unit, ceiling, origin, title};
use crate::archive::Run;

/// Draws it.
pub fn times(run: Run) -> Result<String> {
    let stages: Vec<(&str, f64)> = run.times().collect();
    let longest = stages.iter().map(|(_, ms)| *ms).reduce(f64::max).with_context(|| format!("{} has no times", run.name))?;
    let arithmetic = run.record.work().arithmetic;
    let limit = ceiling(run).map(|per_s| 1e3 * Unit::of(run).pieces / per_s);
    let what = match arithmetic {
        Arithmetic::F32 | Arithmetic::Bytes => "the multiply-adds alone, at the rate measured in the same run",
        Arithmetic::Integers => "every byte once, at the rate of a copy in the same run",
    };
    let share =
        |ms: f64| limit.map_or_else(String::new, |limit| format!("{} of {}", units::percent(limit / ms), arithmetic.ceiling()));
    let rows = stages.iter().map(|(name, ms)| Row {
        label: run.label(name),
        class: "bar",
        value: *ms,
        cells: vec![units::milliseconds(*ms), share(*ms)],
    });
    let mark = |ms: f64| Mark { class: "limit", value: ms, text: format!("{}: {what}", units::milliseconds(ms)) };
    let bars = Bars {
        title: title(run),
        notes: vec![origin([run].into_iter()), run.path()],
        heads: vec!["time", if limit.is_some() { "of ceiling" } else { "" }],
        rows: rows.collect(),
        marks: limit.filter(|ms| *ms < longest).map(mark).into_iter().collect(),
        end: longest,
    };
    Ok(bars.draw())
}
