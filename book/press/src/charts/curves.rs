//! Times or rates against a size in which runs differ.

use common::record::Record;
use common::units;
use serde_json::Value;

use super::svg::{MARGIN, Svg, WIDTH, below, width_of};
use super::{Unit, ceiling, origin, path, size, ticks, times};

/// Runs of a chapter that differ in one size, and become curves over it.
struct Family {
    chapter: &'static str,
    /// The sizes in which they differ: the same number for all of these, as the sides of a square.
    over: &'static [&'static str],
    /// What that number is called below the axis.
    axis: &'static str,
    /// The sizes that are the same.
    fixed: &'static [&'static str],
    /// The file's name behind the chapter's, with the sizes that are the same.
    file: fn(fixed: &str) -> String,
    /// What is said of the runs, for example `294912 outputs, filters of 64 to 4096 taps`.
    title: fn(fixed: &str, least: f64, most: f64) -> String,
    /// What is drawn over the size.
    quantity: Quantity,
    /// The stages that have a curve, or [`FASTEST_F32`].
    series: &'static [&'static str],
}

/// What the vertical axis counts.
#[derive(Clone, Copy, PartialEq)]
enum Quantity {
    /// Times, by factors.
    Time,
    /// Rates, by factors.
    Rate,
    /// Rates, from nothing.
    RateFromZero,
}

/// The name of a record, and what it says.
type Run = (String, Record);

/// A curve of the fastest stage in each run of those that have no curve of their own.
const FASTEST_F32: &str = "f32, the fastest stage";

const FAMILIES: [Family; 6] = [
    Family {
        chapter: "01-conv-naive",
        over: &["outputs"],
        axis: "outputs",
        fixed: &["taps"],
        file: |_| "growth".to_owned(),
        title: |taps, least, most| format!("{taps} taps, {least} to {most} outputs"),
        quantity: Quantity::Time,
        series: &["cpu", "cpu-parallel", "naive-strided", "naive"],
    },
    Family {
        chapter: "02-conv-shared",
        over: &["taps"],
        axis: "taps",
        fixed: &["outputs"],
        file: |_| "growth".to_owned(),
        title: |outputs, least, most| format!("{outputs} outputs, filters of {least} to {most} taps"),
        quantity: Quantity::RateFromZero,
        series: &["naive", "shared", "shared-wide"],
    },
    Family {
        chapter: "03-unroll",
        over: &["taps"],
        axis: "taps",
        fixed: &["outputs"],
        file: |outputs| format!("{outputs}.taps"),
        title: |outputs, least, most| format!("{outputs} outputs, filters of {least} to {most} taps"),
        quantity: Quantity::Time,
        series: &[FASTEST_F32, "tensor-tf32x3", "tensor-f16x3", "fft"],
    },
    Family {
        chapter: "04-correlation-sm-aware",
        over: &["template_width", "template_height"],
        axis: "width and height of the template",
        fixed: &["image_width", "image_height"],
        file: |_| "growth".to_owned(),
        title: |image, least, most| format!("{image} pixels, templates of {least}x{least} to {most}x{most}"),
        quantity: Quantity::Rate,
        series: &["global", "shared", "dp4a-tile", "box-sums", "tensor", "shared-unroll-4"],
    },
    Family {
        chapter: "05-window-sums",
        over: &["window"],
        axis: "window",
        fixed: &["image_width", "image_height"],
        file: |image| format!("{image}.window"),
        title: |image, least, most| format!("{image} pixels, windows of {least} to {most}"),
        quantity: Quantity::Time,
        series: &["registers", "shared-tile", "sliding", "tile-scan"],
    },
    Family {
        chapter: "06-matmul-tiled",
        over: &["m", "n", "k"],
        axis: "m = n = k",
        fixed: &[],
        file: |_| "growth".to_owned(),
        title: |_, least, most| format!("square matrices of {least} to {most} rows"),
        quantity: Quantity::RateFromZero,
        series: &["naive", "warp-tile", "double-buffered", "by-size", "cublas"],
    },
];

const HEIGHT: f64 = 420.0;
const RIGHT: f64 = 164.0;
const TOP: f64 = below(2) + 8.0;
const BOTTOM: f64 = 46.0;

/// Every family that has runs enough among the records.
pub fn curves(records: &[&Run]) -> Vec<(String, String)> {
    let mut families: Vec<(String, &Family, Vec<&Run>)> = Vec::new();
    for run in records {
        let (name, record) = run;
        let Some(family) = FAMILIES.iter().find(|family| family.chapter == record.chapter) else { continue };
        if family.place(record).is_none() || has_border(record) {
            continue;
        }
        let device = name.split('/').next().unwrap_or_default();
        // What is the same names the family, whether its file is named so or not.
        let key = format!("{device} {} {}", record.chapter, family.fixed_sizes(record));
        match families.iter_mut().find(|(known, ..)| *known == key) {
            Some((.., members)) => members.push(run),
            None => families.push((key, family, vec![run])),
        }
    }
    // Two points are no curve.
    families.retain(|(.., members)| members.len() > 2);
    let drawn = families.into_iter().map(|(_, family, mut members)| {
        members.sort_by_key(|(_, record)| family.place(record));
        let (name, record) = members[0];
        let device = name.split('/').next().unwrap_or_default();
        (format!("{device}/{}.{}", family.chapter, (family.file)(&family.fixed_sizes(record))), family.curves(device, &members))
    });
    drawn.collect()
}

/// Whether outputs beyond the usual ones are computed, with other kernels.
fn has_border(record: &Record) -> bool {
    record.workload.get("border").and_then(Value::as_str).is_some_and(|border| border != "valid")
}

impl Family {
    /// The size over which it goes; `None` for a run whose sides differ.
    fn place(&self, record: &Record) -> Option<u64> {
        let mut sides = self.over.iter().map(|name| size(record, name));
        let first = sides.next()??;
        sides.all(|side| side == Some(first)).then_some(first)
    }

    /// The sizes that are the same for all of it.
    fn fixed_sizes(&self, record: &Record) -> String {
        self.fixed.iter().map(|name| size(record, name).unwrap_or_default().to_string()).collect::<Vec<_>>().join("x")
    }

    /// The time of a series in a record.
    fn time_of(&self, series: &str, record: &Record) -> Option<f64> {
        if series == FASTEST_F32 {
            let others = times(record).filter(|(name, _)| !self.series.contains(name));
            return others.map(|(_, ms)| ms).min_by(f64::total_cmp);
        }
        // Those of the CPU, too.
        record.stages.iter().find(|stage| stage.name == series && stage.verified)?.median_ms
    }

    /// What is drawn of a series in a record.
    fn value_of(&self, series: &str, record: &Record) -> Option<f64> {
        let ms = self.time_of(series, record)?;
        Some(if self.quantity == Quantity::Time { ms } else { Unit::of(record).at(ms) })
    }

    /// The quantity against the size in which the runs differ, which is drawn by factors.
    fn curves(&self, device: &str, runs: &[&Run]) -> String {
        let records: Vec<&Record> = runs.iter().map(|(_, record)| record).collect();
        let rate = Unit::of(records[0]);
        let words = if self.quantity == Quantity::Time { units::milliseconds } else { rate.words };
        let place = |record: &Record| self.place(record).unwrap_or(1) as f64;
        let (shortest, longest) = (place(records[0]), place(records[records.len() - 1]));
        let axis = Axis::new(self, &records);
        let left = MARGIN + 8.0 + axis.ticks().iter().map(|tick| width_of(&words(*tick))).fold(0.0, f64::max);
        let x = |size: f64| left + (size / shortest).ln() / (longest / shortest).ln() * (WIDTH - left - RIGHT);

        let title = format!("{}: {}", self.chapter, (self.title)(&self.fixed_sizes(records[0]), shortest, longest));
        let mut svg = Svg::new(HEIGHT, &title, &[origin(&records), files(device, self.chapter, runs)]);
        for tick in axis.ticks() {
            svg.line("grid", (left, axis.y(tick)), (WIDTH - RIGHT, axis.y(tick)));
            svg.text("small right", left - 8.0, axis.y(tick) + 4.0, &if tick == 0.0 { "0".to_owned() } else { words(tick) });
        }
        for record in &records {
            let size = place(record);
            svg.line("grid", (x(size), TOP), (x(size), HEIGHT - BOTTOM));
            let words = if size < 100_000.0 { size.to_string() } else { units::count(size as u64) };
            svg.text("small middle", x(size), HEIGHT - BOTTOM + 16.0, &words);
        }
        svg.text("small middle", (left + WIDTH - RIGHT) / 2.0, HEIGHT - BOTTOM + 34.0, self.axis);
        let mut labels: Vec<(f64, Option<usize>, String)> = Vec::new();
        if let Some(ceiling) = axis.ceiling {
            svg.line("limit", (left, axis.y(ceiling)), (WIDTH - RIGHT, axis.y(ceiling)));
            labels.push((axis.y(ceiling), None, format!("ceiling: {}", words(ceiling))));
        }
        for (index, series) in self.series.iter().enumerate() {
            let value = |record: &&Record| Some((x(place(record)), axis.y(self.value_of(series, record)?)));
            let points: Vec<(f64, f64)> = records.iter().filter_map(value).collect();
            let Some(last) = points.last() else { continue };
            svg.curve(index, &points);
            points.iter().for_each(|point| svg.sign(index, *point));
            labels.push((last.1, Some(index), (*series).to_owned()));
        }
        // Beside the ends of the curves, and not on top of each other.
        labels.sort_by(|one, other| one.0.total_cmp(&other.0));
        for ((_, series, text), at) in labels.iter().zip(spread(&labels.iter().map(|label| label.0).collect::<Vec<_>>())) {
            if let Some(series) = series {
                svg.sign(*series, (WIDTH - RIGHT + 14.0, at));
            }
            svg.text("small", WIDTH - RIGHT + 24.0, at + 4.0, text);
        }
        svg.end()
    }
}

/// Heights for lines of words that want to stand at these heights, from the top: not on top of each other, and inside the picture.
fn spread(wanted: &[f64]) -> Vec<f64> {
    const STEP: f64 = 16.0;
    let mut places = wanted.to_vec();
    for index in 1..places.len() {
        places[index] = places[index].max(places[index - 1] + STEP);
    }
    let mut below = HEIGHT - BOTTOM;
    for place in places.iter_mut().rev() {
        *place = place.min(below);
        below = *place - STEP;
    }
    places
}

/// Where the records are, and how many.
fn files(device: &str, chapter: &str, runs: &[&Run]) -> String {
    format!("{} records of {}", runs.len(), path(&format!("{device}/{chapter}.*")).replace(".*.json", "*.json"))
}

/// The vertical axis.
struct Axis {
    low: f64,
    high: f64,
    by_factors: bool,
    /// Drawn as a line.
    ceiling: Option<f64>,
}

impl Axis {
    fn new(family: &Family, records: &[&Record]) -> Self {
        let all = || records.iter().flat_map(|record| family.series.iter().filter_map(|series| family.value_of(series, record)));
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        if family.quantity == Quantity::RateFromZero {
            // That of the largest run; a ceiling that is far away would leave no room for the rates.
            let ceiling = records.last().and_then(|record| ceiling(record)).filter(|ceiling| *ceiling < 2.0 * most);
            return Self { low: 0.0, high: 1.05 * ceiling.unwrap_or(most).max(most), by_factors: false, ceiling };
        }
        Self { low: least / 1.3, high: most * 1.3, by_factors: true, ceiling: None }
    }

    fn y(&self, value: f64) -> f64 {
        let Self { low, high, .. } = *self;
        let part = if self.by_factors { (value / low).ln() / (high / low).ln() } else { (value - low) / (high - low) };
        HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.by_factors {
            return ticks(self.low, self.high).collect();
        }
        // The step that makes about seven of them.
        let step = ticks(self.high / 12.0, self.high).next().unwrap_or(self.high);
        (0..).map(|index| f64::from(index) * step).take_while(|tick| *tick < self.high).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::tests::{product, record};

    #[test]
    fn of_the_f32_stages_the_fastest_counts() {
        let record = record(64, &[("shared", 2.0), ("long-run", 0.5), ("tensor-tf32x3", 0.25)]);
        let family = &FAMILIES[2];
        let times: Vec<Option<f64>> = family.series.iter().map(|series| family.time_of(series, &record)).collect();
        assert_eq!(times, [Some(0.5), Some(0.25), None, None]);
    }

    /// A product of square matrices, with a rate in TFLOP/s.
    fn square(side: u64, rate: f64) -> (String, Record) {
        let mut record = product(&[("cublas", rate)], Some(60.0));
        for name in ["m", "n", "k"] {
            record.workload.insert(name.to_owned(), side.into());
        }
        (format!("nvidia-h200/06-matmul-tiled.{side}"), record)
    }

    #[test]
    fn a_rate_below_the_ceiling_is_drawn_from_nothing() {
        let mut runs = vec![square(4096, 60.0), square(512, 15.0), square(1024, 30.0)];
        let narrow = product(&[("cublas", 45.0)], Some(60.0));
        runs.push(("nvidia-h200/06-matmul-tiled.narrow".to_owned(), narrow));
        let drawn = curves(&runs.iter().collect::<Vec<_>>());
        let [(name, svg)] = &drawn[..] else { panic!("{} charts", drawn.len()) };
        assert_eq!(name, "nvidia-h200/06-matmul-tiled.growth");
        assert!(svg.contains("square matrices of 512 to 4096 rows") && svg.contains(">3 records of book/results/"), "{svg}");
        let number = |text: &str, name: &str| -> f64 {
            text.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let points = svg.split("<polyline").nth(1).unwrap().split(" points=\"").nth(1).unwrap().split('"').next().unwrap();
        let heights: Vec<f64> = points.split(' ').map(|point| point.split_once(',').unwrap().1.parse().unwrap()).collect();
        let ceiling = number(svg.split("<line class=\"limit\"").nth(1).unwrap(), "y1");
        let rate = |y: f64| (HEIGHT - BOTTOM - y) / (HEIGHT - BOTTOM - ceiling);
        for (height, share) in heights.iter().zip([0.25, 0.5, 1.0]) {
            assert!((rate(*height) - share).abs() < 0.001, "{heights:?}");
        }
    }

    #[test]
    fn runs_with_a_border_are_of_another_kind() {
        let mut runs = [square(512, 15.0), square(1024, 30.0), square(2048, 40.0)];
        runs[1].1.workload.insert("border".into(), "clamp".into());
        assert!(curves(&runs.iter().collect::<Vec<_>>()).is_empty());
    }

    #[test]
    fn words_at_the_ends_of_curves_make_room_for_each_other() {
        assert_eq!(spread(&[100.0, 104.0, 300.0]), [100.0, 116.0, 300.0]);
        let lowest = HEIGHT - BOTTOM;
        assert_eq!(spread(&[lowest - 4.0, lowest]), [lowest - 16.0, lowest]);
    }
}
