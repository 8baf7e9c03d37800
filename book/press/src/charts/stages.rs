//! A bar for each stage: as long as its time, or as its rate next to the ceiling and to a library where that is one of the stages.
//!
//! A chart of times shows only that the fast stages are short. One of rates shows how much is left to gain, and how far a library got that
//! many people have worked on.

use anyhow::{Context, Result};
use run::units::{milliseconds, percent};
use run::workload::Arithmetic;

use super::bars::{Bars, Mark, Row};
use super::rate::{Unit, origin, rival, title};
use crate::archive::{Archive, Run};
use crate::directive::Arguments;

/// Draws the times, next to the time of the multiply-adds alone.
pub fn times(run: Run) -> Result<String> {
    let stages: Vec<(&str, f64)> = run.times().collect();
    let longest = stages.iter().map(|(_, ms)| *ms).reduce(f64::max).with_context(|| format!("{} has no times", run.name))?;
    let arithmetic = run.record.work().arithmetic;
    let unit = Unit::of(run);
    let limit = unit.most.map(|per_s| 1e3 * unit.pieces / per_s);
    let what = match arithmetic {
        Arithmetic::F32 | Arithmetic::Bf16 | Arithmetic::Bytes => "the multiply-adds alone, at the rate measured in the same run",
        Arithmetic::Integers => "every byte once, at the rate of a copy in the same run",
    };
    let share = |ms: f64| limit.map_or_else(String::new, |limit| format!("{} of {}", percent(limit / ms), arithmetic.ceiling()));
    let row = |(name, ms)| Row { label: run.label(name), class: "bar", value: ms, cells: vec![milliseconds(ms), share(ms)] };
    let mark = |ms: f64| Mark { class: "limit", value: ms, text: format!("{}: {what}", milliseconds(ms)) };
    let bars = Bars {
        title: title(run),
        notes: vec![origin(&[run]), run.path()],
        heads: vec!["time", if limit.is_some() { "of ceiling" } else { "" }],
        rows: stages.into_iter().map(row).collect(),
        marks: limit.filter(|ms| *ms < longest).map(mark).into_iter().collect(),
        end: longest,
    };
    Ok(bars.draw())
}

/// Draws the rates. The options `rival` and `tensor-rival` name stages of a library, which the others are compared with: those that run on
/// tensor cores with the second.
pub fn shares(archive: &Archive, run: Run, arguments: &mut Arguments) -> Result<String> {
    let unit = Unit::of(run);
    let ceiling = unit.most.with_context(|| format!("{} has no ceiling", run.name))?;
    let [plain, tensor] = ["rival", "tensor-rival"].map(|option| arguments.option(option).map(|name| rival(run, unit, name)));
    let (plain, tensor) = (plain.transpose()?, tensor.transpose()?);
    let rivals = || plain.iter().map(|rival| (rival, "f1", "limit s1")).chain(tensor.iter().map(|rival| (rival, "f2", "limit s2")));

    let stages: Vec<(&str, f64)> = run.times().map(|(name, ms)| (name, unit.at(ms))).collect();
    let longest = stages.iter().map(|(_, rate)| *rate).fold(ceiling, f64::max);
    // A few bars that are much longer would leave no room to tell the others from the ceiling.
    let end = if longest > 1.5 * ceiling { 1.3 * ceiling } else { longest };
    let of_ceiling = |rate: f64| percent(rate / ceiling);
    let counted = archive.pair(run.name).ok();
    let is_tensor = |name: &str| {
        let counters = counted.and_then(|pair| pair.counted_stage(name)?.counters);
        counters.is_some_and(|counters| counters.tensor_multiply_adds > 0)
    };
    let row = |(name, rate): (&str, f64)| {
        let own = rivals().find(|((rival, _), ..)| rival == name);
        let compared = match (&plain, &tensor) {
            _ if own.is_some() => String::new(),
            (_, Some((_, tensor))) if is_tensor(name) => percent(rate / tensor) + " (tf32)",
            (plain, _) => plain.as_ref().map_or_else(String::new, |(_, plain)| percent(rate / plain)),
        };
        let mut cells = vec![(unit.words)(rate), of_ceiling(rate)];
        cells.extend(plain.is_some().then_some(compared));
        Row { label: run.label(name), class: own.map_or("bar", |(_, bar, _)| bar), value: rate, cells }
    };
    let text = format!("100 %: {}, {}", unit.ceiling, (unit.words)(ceiling));
    let mut marks = vec![Mark { class: "limit", value: ceiling, text }];
    marks.extend(rivals().filter(|((_, rate), ..)| *rate <= end).map(|((name, rate), _, class)| {
        let text = format!("{name}: {} of the ceiling", of_ceiling(*rate));
        Mark { class, value: *rate, text }
    }));
    let of = if run.record.work().arithmetic == Arithmetic::Integers { "a copy" } else { "multiply-adds alone" };
    let cut = if longest > end { " Bars with a cut are longer than drawn." } else { "" };
    let mut heads = vec!["rate", "of ceiling"];
    heads.extend(plain.is_some().then_some("of cuBLAS"));
    let notes = vec![origin(&[run]), run.path(), format!("The ceiling is the rate of {of}, measured in the same run.{cut}")];
    let rows = stages.into_iter().map(row).collect();
    Ok(Bars { title: title(run), notes, heads, rows, marks, end }.draw())
}
