//! How near the stages of a chapter come to the ceiling, and to a library where that is one of the stages: a bar for each, as long as its rate.
//!
//! A chart of times shows only that the fast stages are short. This one shows how much is left to gain, and how far a library got that many
//! people have worked on.

use anyhow::{Context, Result};
use common::units::percent;
use common::workload::Arithmetic;

use super::bars::{Bars, Mark, Row};
use super::{Unit, ceiling, origin, title};
use crate::archive::{Archive, Run};
use crate::directive::Arguments;

/// A stage of a library, with its rate and its colors.
struct Rival {
    name: String,
    rate: f64,
    bar: &'static str,
    line: &'static str,
}

impl Rival {
    fn take(run: Run, rate: Unit, name: Option<String>, bar: &'static str, line: &'static str) -> Result<Option<Self>> {
        let Some(name) = name else { return Ok(None) };
        let ms = run.stage(&name)?.median_ms.with_context(|| format!("{} has no time of {name}", run.name))?;
        Ok(Some(Self { name, rate: rate.at(ms), bar, line }))
    }
}

/// Draws it. The options `rival` and `tensor-rival` name stages of a library, which the others are compared with: those that run on tensor
/// cores with the second.
pub fn shares(archive: &Archive, run: Run, arguments: &mut Arguments) -> Result<String> {
    let rate = Unit::of(run);
    let ceiling = ceiling(run).with_context(|| format!("{} has no ceiling", run.name))?;
    let rival = Rival::take(run, rate, arguments.option("rival"), "f1", "limit s1")?;
    let tensor_rival = Rival::take(run, rate, arguments.option("tensor-rival"), "f2", "limit s2")?;
    let rivals = || rival.iter().chain(&tensor_rival);

    let stages: Vec<(&str, f64)> = run.times().map(|(name, ms)| (name, rate.at(ms))).collect();
    let longest = stages.iter().map(|(_, rate)| *rate).fold(ceiling, f64::max);
    // A few bars that are much longer would leave no room to tell the others from the ceiling.
    let end = if longest > 1.5 * ceiling { 1.3 * ceiling } else { longest };
    let of_ceiling = |rate: f64| percent(rate / ceiling);
    let counted = archive.pair(run.name).ok();
    let is_tensor = |name: &str| {
        let counters = counted.and_then(|pair| pair.counted_stage(name)?.counters);
        counters.is_some_and(|counters| counters.tensor_multiply_adds > 0)
    };
    let rows = stages.iter().map(|(name, pieces)| {
        let own = rivals().find(|rival| rival.name == *name);
        let compared = match &tensor_rival {
            _ if own.is_some() => None,
            Some(tensor) if is_tensor(name) => Some(percent(pieces / tensor.rate) + " (tf32)"),
            _ => rival.as_ref().map(|rival| percent(pieces / rival.rate)),
        };
        let mut cells = vec![(rate.words)(*pieces), of_ceiling(*pieces)];
        cells.extend(rival.is_some().then(|| compared.unwrap_or_default()));
        Row { label: run.label(name), class: own.map_or("bar", |rival| rival.bar), value: *pieces, cells }
    });
    let rows = rows.collect();
    let mut marks =
        vec![Mark { class: "limit", value: ceiling, text: format!("100 %: {}, {}", rate.ceiling, (rate.words)(ceiling)) }];
    marks.extend(rivals().filter(|rival| rival.rate <= end).map(|rival| Mark {
        class: rival.line,
        value: rival.rate,
        text: format!("{}: {} of the ceiling", rival.name, of_ceiling(rival.rate)),
    }));
    let of = if run.record.work().arithmetic == Arithmetic::Integers { "a copy" } else { "multiply-adds alone" };
    let cut = if longest > end { " Bars with a cut are longer than drawn." } else { "" };
    let mut heads = vec!["rate", "of ceiling"];
    heads.extend(rival.is_some().then_some("of cuBLAS"));
    let notes =
        vec![origin([run].into_iter()), run.path(), format!("The ceiling is the rate of {of}, measured in the same run.{cut}")];
    Ok(Bars { title: title(run), notes, heads, rows, marks, end }.draw())
}
