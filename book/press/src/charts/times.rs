//! A bar for each stage, as long as its time, beside the time of the multiply-adds alone.

use common::record::Record;
use common::units;
use common::workload::Arithmetic;

use super::svg::{MARGIN, Svg, WIDTH, below, width_of};
use super::{Unit, ceiling, origin, path, sizes, times};

/// A bar for each stage, as long as its time.
pub fn bars(name: &str, record: &Record) -> String {
    const LABEL: f64 = 118.0;
    const BAR: f64 = 16.0;
    const STEP: f64 = 24.0;
    const TOP: f64 = below(2);
    let stages: Vec<(&str, f64)> = times(record).collect();
    let longest = stages.iter().map(|(_, ms)| *ms).fold(0.0, f64::max);
    let left = MARGIN + LABEL;
    let bottom = TOP + stages.len() as f64 * STEP;
    let arithmetic = record.work().arithmetic;
    let limit = ceiling(record).map(|per_s| 1e3 * Unit::of(record).pieces / per_s);
    let what = match arithmetic {
        Arithmetic::F32 | Arithmetic::Bytes => "the multiply-adds alone, at the rate measured in the same run",
        Arithmetic::Integers => "every byte once, at the rate of a copy in the same run",
    };
    let drawn_limit = limit.filter(|ms| *ms < longest);
    let of_ceiling =
        |ms: f64| limit.map_or_else(String::new, |limit| format!(", {} of {}", units::percent(limit / ms), arithmetic.ceiling()));
    let values: Vec<String> = stages.iter().map(|(_, ms)| units::milliseconds(*ms) + &of_ceiling(*ms)).collect();
    // The text beside the longest bar must fit.
    let value_width = values.iter().map(|value| width_of(value)).fold(128.0, f64::max);
    let scale = (WIDTH - 2.0 * MARGIN - LABEL - value_width) / longest;
    let height = bottom + if drawn_limit.is_some() { 30.0 } else { 12.0 };
    let mut svg = Svg::new(height, &format!("{}: {}", record.chapter, sizes(record)), &[origin(&[record]), path(name)]);
    for (index, (name, ms)) in stages.iter().enumerate() {
        let y = TOP + index as f64 * STEP;
        svg.text("right", left - 8.0, y + 12.5, name);
        svg.rect("bar", left, y, (ms * scale).max(1.0), BAR);
        // Beside the bar, and beside the limit where that would cross the words.
        let end = ms.max(drawn_limit.unwrap_or(0.0));
        svg.text("small", left + end * scale + 6.0, y + 12.5, &values[index]);
    }
    if let Some(ms) = drawn_limit {
        let x = left + ms * scale;
        svg.line("limit", (x, TOP - 8.0), (x, bottom + 4.0));
        let text = format!("{}: {what}", units::milliseconds(ms));
        svg.text("small", x, bottom + 18.0, &text);
    }
    svg.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::tests::record;

    #[test]
    fn a_bar_is_as_long_as_its_time() {
        let svg = bars("nvidia-h200/03-unroll", &record(4096, &[("slow", 4.0), ("fast", 1.0)]));
        let width = |name: &str| {
            let bar = svg.split(&format!(">{name}</text>")).nth(1).unwrap().split("width=\"").nth(1).unwrap();
            bar.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!((width("slow") / width("fast") - 4.0).abs() < 0.01);
        assert!(svg.contains("4.00 ms") && svg.contains("1.00 ms"), "{svg}");
    }
}
