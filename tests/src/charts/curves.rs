//! Time against a size in which runs differ.

use common::record::Record;
use common::units;

use super::svg::{Svg, WIDTH};
use super::{origin, size, ticks, times};

/// Runs of a chapter that differ in one size, and become curves over it.
struct Family {
    chapter: &'static str,
    /// The size in which they differ.
    over: &'static str,
    /// The sizes that are the same.
    fixed: &'static [&'static str],
    /// What is said of the runs, for example `294912 outputs, filters of 64 to 4096 taps`.
    title: fn(fixed: &str, least: f64, most: f64) -> String,
    /// The stages that have a curve, or [`FASTEST_F32`].
    series: [&'static str; 4],
}

/// A curve of the fastest stage in each run of those that have no curve of their own.
const FASTEST_F32: &str = "f32, the fastest stage";

const FAMILIES: [Family; 2] = [
    Family {
        chapter: "03-unroll",
        over: "taps",
        fixed: &["outputs"],
        title: |outputs, least, most| format!("{outputs} outputs, filters of {least} to {most} taps"),
        series: [FASTEST_F32, "tensor-tf32x3", "tensor-f16x3", "fft"],
    },
    Family {
        chapter: "05-window-sums",
        over: "window",
        fixed: &["image_width", "image_height"],
        title: |image, least, most| format!("{image} pixels, windows of {least} to {most}"),
        series: ["registers", "shared-tile", "sliding", "tile-scan"],
    },
];

/// Every family that has runs enough among the records, each named `<device>/<chapter>.<fixed sizes>.<the size over which they go>`.
pub fn curves(records: &[&(String, Record)]) -> Vec<(String, String)> {
    let mut families: Vec<(String, &Family, Vec<&Record>)> = Vec::new();
    for (name, record) in records {
        let Some(family) = FAMILIES.iter().find(|family| family.chapter == record.chapter) else { continue };
        let device = name.split('/').next().unwrap_or_default();
        let name = format!("{device}/{}.{}.{}", record.chapter, family.fixed_sizes(record), family.over);
        match families.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., members)) => members.push(record),
            None => families.push((name, family, vec![record])),
        }
    }
    // Two points are no curve.
    families.retain(|(.., members)| members.len() > 2);
    let drawn = families.into_iter().map(|(name, family, mut members)| {
        members.sort_by_key(|record| size(record, family.over));
        (name, family.curves(&members))
    });
    drawn.collect()
}

impl Family {
    /// The sizes that are the same for all of it.
    fn fixed_sizes(&self, record: &Record) -> String {
        self.fixed.iter().map(|name| size(record, name).unwrap_or_default().to_string()).collect::<Vec<_>>().join("x")
    }

    /// The time of a series in a record.
    fn time_of(&self, series: &str, record: &Record) -> Option<f64> {
        let belongs = |name: &str| if series == FASTEST_F32 { !self.series.contains(&name) } else { name == series };
        times(record).filter(|(name, _)| belongs(name)).map(|(_, ms)| ms).min_by(f64::total_cmp)
    }

    /// Time against the size in which the runs differ, both by factors.
    fn curves(&self, records: &[&Record]) -> String {
        const HEIGHT: f64 = 420.0;
        const LEFT: f64 = 68.0;
        const RIGHT: f64 = 150.0;
        const TOP: f64 = 62.0;
        const BOTTOM: f64 = 46.0;
        let all = || records.iter().flat_map(|record| self.series.iter().filter_map(|series| self.time_of(series, record)));
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        let place = |record: &Record| size(record, self.over).unwrap_or(1) as f64;
        let (shortest, longest) = (place(records[0]), place(records[records.len() - 1]));
        let x = |size: f64| LEFT + (size / shortest).ln() / (longest / shortest).ln() * (WIDTH - LEFT - RIGHT);
        let (low, high) = (least / 1.3, most * 1.3);
        let y = |ms: f64| HEIGHT - BOTTOM - (ms / low).ln() / (high / low).ln() * (HEIGHT - TOP - BOTTOM);

        let title = format!("{}: {}", self.chapter, (self.title)(&self.fixed_sizes(records[0]), shortest, longest));
        let mut svg = Svg::new(HEIGHT, &title, &[&origin(records[0])]);
        for tick in ticks(low, high) {
            svg.line("grid", (LEFT, y(tick)), (WIDTH - RIGHT, y(tick)));
            svg.text("small right", LEFT - 8.0, y(tick) + 4.0, &units::milliseconds(tick));
        }
        for record in records {
            svg.line("grid", (x(place(record)), TOP), (x(place(record)), HEIGHT - BOTTOM));
            svg.text("small middle", x(place(record)), HEIGHT - BOTTOM + 16.0, &place(record).to_string());
        }
        svg.text("small middle", (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - BOTTOM + 34.0, self.over);
        let mut labels: Vec<(f64, usize)> = Vec::new();
        for (index, series) in self.series.iter().enumerate() {
            let points: Vec<(f64, f64)> =
                records.iter().filter_map(|record| Some((x(place(record)), y(self.time_of(series, record)?)))).collect();
            let Some(last) = points.last() else { continue };
            svg.polyline(index, &points);
            points.iter().for_each(|point| svg.sign(index, *point));
            labels.push((last.1, index));
        }
        // Beside the ends of the curves, and not on top of each other.
        labels.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut above = f64::NEG_INFINITY;
        for (at, index) in labels {
            let at = at.max(above + 16.0);
            svg.sign(index, (WIDTH - RIGHT + 14.0, at));
            svg.text("small", WIDTH - RIGHT + 24.0, at + 4.0, self.series[index]);
            above = at;
        }
        svg.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::tests::record;

    #[test]
    fn of_the_f32_stages_the_fastest_counts() {
        let record = record(64, &[("shared", 2.0), ("long-run", 0.5), ("tensor-tf32x3", 0.25)]);
        let family = &FAMILIES[0];
        assert_eq!(family.series.map(|series| family.time_of(series, &record)), [Some(0.5), Some(0.25), None, None]);
    }
}
