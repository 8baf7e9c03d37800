//! Charts for the book, from saved records: how long the stages of a chapter take, and where one way to compute overtakes another.
//!
//! SVG of our own, in the style of the pictures of warps (`common::explain`): a chart is a few rectangles, lines and words, the text is
//! the same on every machine, so that a test can compare it, and it has colours for light and for dark pages.

use std::fmt::Write;

use common::record::Record;
use common::report::Place;
use common::units;
use common::workload::{Arithmetic, Work};
use serde_json::Value;

/// The media query follows the system, and the panel behind is opaque, so that a chart is readable on any page. The series have
/// colours that people with any colour vision tell apart, and signs besides.
const STYLE: &str = "
  .panel { fill: #ffffff; stroke: #d0d7de; }
  text { font-family: system-ui, sans-serif; font-size: 12px; fill: #1f2328; }
  .title { font-weight: 600; font-size: 13px; }
  .small { fill: #59636e; font-size: 11px; }
  .right { text-anchor: end; } .middle { text-anchor: middle; }
  .grid { stroke: #d8dee4; stroke-width: 1; }
  .limit { stroke: #b3261e; stroke-width: 1.5; stroke-dasharray: 5 4; }
  .bar { fill: #0550ae; }
  .line { fill: none; stroke-width: 2; }
  .s0 { stroke: #0550ae; } .s1 { stroke: #bc4c00; } .s2 { stroke: #8250df; } .s3 { stroke: #1a7f37; }
  .f0 { fill: #0550ae; } .f1 { fill: #bc4c00; } .f2 { fill: #8250df; } .f3 { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    .panel { fill: #161b22; stroke: #3d444d; }
    text { fill: #e6edf3; }
    .small { fill: #9198a1; }
    .grid { stroke: #2d333b; }
    .limit { stroke: #ff7b72; }
    .bar { fill: #388bfd; }
    .s0 { stroke: #58a6ff; } .s1 { stroke: #f0883e; } .s2 { stroke: #bc8cff; } .s3 { stroke: #56d364; }
    .f0 { fill: #58a6ff; } .f1 { fill: #f0883e; } .f2 { fill: #bc8cff; } .f3 { fill: #56d364; }
  }
";

/// Width of every chart: that of a page's text.
const WIDTH: f64 = 720.0;
/// Room around everything.
const MARGIN: f64 = 14.0;

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

/// Every chart that the records of runs on GPUs yield, by the name of its file without extension. A record is named
/// `<device>/<chapter>` at the headline size, and has more behind that at others.
pub fn charts(records: &[(String, Record)]) -> Vec<(String, String)> {
    let timed: Vec<&(String, Record)> = records.iter().filter(|(_, record)| times(record).count() > 0).collect();
    let headline = timed.iter().filter(|(name, record)| name.ends_with(&format!("/{}", record.chapter)));
    let mut charts: Vec<(String, String)> = headline.map(|(name, record)| (format!("{name}.times"), bars(record))).collect();
    let mut families: Vec<(String, &Family, Vec<&Record>)> = Vec::new();
    for (name, record) in timed {
        let Some(family) = FAMILIES.iter().find(|family| family.chapter == record.chapter) else { continue };
        let device = name.split('/').next().unwrap_or_default();
        let name = format!("{device}/{}.{}.{}", record.chapter, family.fixed_sizes(record), family.over);
        match families.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., members)) => members.push(record),
            None => families.push((name, family, vec![record])),
        }
    }
    for (name, family, mut members) in families {
        members.sort_by_key(|record| size(record, family.over));
        // Two points are no curve.
        if members.len() > 2 {
            charts.push((name, family.curves(&members)));
        }
    }
    charts
}

/// The stages that a device ran, with their times.
fn times(record: &Record) -> impl Iterator<Item = (&str, f64)> {
    let on_device = record.stages.iter().filter(|stage| stage.place == Place::Device && stage.verified);
    on_device.filter_map(|stage| Some((stage.name.as_str(), stage.median_ms?)))
}

fn size(record: &Record, name: &str) -> Option<u64> {
    record.workload.get(name)?.as_u64()
}

/// The workload's sizes in words.
pub fn sizes(record: &Record) -> String {
    let size = |name: &str| size(record, name).map(|size| size.to_string());
    let pair = |a: &str, b: &str| Some(format!("{}x{}", size(a)?, size(b)?));
    let border = record.workload.get("border").and_then(Value::as_str).filter(|border| *border != "valid");
    let border = border.map_or(String::new(), |border| format!(", border {border}"));
    if let (Some(image), Some(template)) = (pair("image_width", "image_height"), pair("template_width", "template_height")) {
        return format!("{image} pixels, template {template}{border}");
    }
    if let (Some(image), Some(window)) = (pair("image_width", "image_height"), size("window")) {
        return format!("{image} pixels, window {window}{border}");
    }
    let outputs = ["outputs", "taps"].map(|name| size(name).map(|size| format!("{size} {name}")));
    outputs.into_iter().flatten().collect::<Vec<_>>().join(" x ")
}

/// What was run on what, and when.
fn origin(record: &Record) -> String {
    let date = record.date.split('T').next().unwrap_or_default();
    format!("{}, driver {}, {}, {date}", record.device.name, record.device.driver, record.device.compiler)
}

/// A bar for each stage, as long as its time.
fn bars(record: &Record) -> String {
    const LABEL: f64 = 118.0;
    const BAR: f64 = 16.0;
    const STEP: f64 = 24.0;
    const TOP: f64 = 58.0;
    let stages: Vec<(&str, f64)> = times(record).collect();
    let longest = stages.iter().map(|(_, ms)| *ms).fold(0.0, f64::max);
    let left = MARGIN + LABEL;
    let bottom = TOP + stages.len() as f64 * STEP;
    let Work { multiply_adds, bytes, arithmetic } = record.work();
    let (limit, what) = match arithmetic {
        Arithmetic::F32 | Arithmetic::Bytes => {
            let ceiling = record.ceilings.and_then(|ceilings| ceilings.multiply_adds(arithmetic));
            (
                ceiling.map(|per_s| 1e3 * multiply_adds as f64 / per_s),
                "the multiply-adds alone, at the rate measured in the same run",
            )
        }
        Arithmetic::Integers => {
            let ceiling = record.ceilings.map(|ceilings| ceilings.bytes_per_s);
            (ceiling.map(|per_s| 1e3 * bytes as f64 / per_s), "every byte once, at the rate of a copy in the same run")
        }
    };
    let drawn_limit = limit.filter(|ms| *ms < longest);
    let of_ceiling =
        |ms: f64| limit.map_or_else(String::new, |limit| format!(", {} of {}", units::percent(limit / ms), arithmetic.ceiling()));
    let values: Vec<String> = stages.iter().map(|(_, ms)| units::milliseconds(*ms) + &of_ceiling(*ms)).collect();
    // The text beside the longest bar must fit, and no character is wider than this on average.
    let value_width = values.iter().map(|value| 5.8 * value.chars().count() as f64).fold(128.0, f64::max);
    let scale = (WIDTH - 2.0 * MARGIN - LABEL - value_width) / longest;
    let height = bottom + if drawn_limit.is_some() { 30.0 } else { 12.0 };
    let mut svg = Svg::new(height, &format!("{}: {}", record.chapter, sizes(record)), &origin(record));
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
        let ticks: Vec<f64> = ticks().filter(|tick| (least / 1.3..most * 1.3).contains(tick)).collect();
        let place = |record: &Record| size(record, self.over).unwrap_or(1) as f64;
        let (shortest, longest) = (place(records[0]), place(records[records.len() - 1]));
        let x = |size: f64| LEFT + (size / shortest).ln() / (longest / shortest).ln() * (WIDTH - LEFT - RIGHT);
        let (low, high) = (least / 1.3, most * 1.3);
        let y = |ms: f64| HEIGHT - BOTTOM - (ms / low).ln() / (high / low).ln() * (HEIGHT - TOP - BOTTOM);

        let title = format!("{}: {}", self.chapter, (self.title)(&self.fixed_sizes(records[0]), shortest, longest));
        let mut svg = Svg::new(HEIGHT, &title, &origin(records[0]));
        for tick in ticks {
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

/// One, two and five times every power of ten that a time in milliseconds may have.
fn ticks() -> impl Iterator<Item = f64> {
    (-4..5).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)))
}

/// An SVG in the making. Coordinates have one decimal, so that no machine rounds them otherwise.
struct Svg(String);

impl Svg {
    fn new(height: f64, title: &str, origin: &str) -> Self {
        let (panel_width, panel_height) = (WIDTH - 1.0, height - 1.0);
        let mut svg = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" \
             aria-labelledby=\"title desc\">\n<title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n<style>{STYLE}</style>\n\
             <rect class=\"panel\" x=\"0.5\" y=\"0.5\" width=\"{panel_width}\" height=\"{panel_height}\" rx=\"6\"/>\n",
            escape(title),
            escape(origin),
        ));
        svg.text("title", MARGIN, 24.0, title);
        svg.text("small", MARGIN, 41.0, origin);
        svg
    }

    // Writing to a string cannot fail.
    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = writeln!(self.0, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
    }

    fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = writeln!(
            self.0,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"/>"
        );
    }

    fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let _ = writeln!(self.0, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }

    fn polyline(&mut self, series: usize, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.0, "<polyline class=\"line s{series}\" points=\"{}\"/>", points.join(" "));
    }

    /// A circle, a square, a diamond or a triangle.
    fn sign(&mut self, series: usize, (x, y): (f64, f64)) {
        let shape = match series {
            0 => format!("<circle class=\"f0\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
            1 => format!("<rect class=\"f1\" x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"/>", x - 3.5, y - 3.5),
            2 => format!("<path class=\"f2\" d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"/>", y - 5.0),
            _ => format!("<path class=\"f3\" d=\"M{x:.1} {:.1}l5 9h-10z\"/>", y - 5.0),
        };
        self.0 += &shape;
        self.0.push('\n');
    }

    fn end(self) -> String {
        self.0 + "</svg>\n"
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of a run of chapter 03 with the times of some stages.
    fn record(taps: u64, stages: &[(&str, f64)]) -> Record {
        let text = std::fs::read_to_string(crate::generated::root().join("book/results/nvidia-h200/01-conv-naive.json")).unwrap();
        let mut record = Record::parse(&text).unwrap();
        let pattern = record.stages.iter().find(|stage| stage.place == Place::Device).unwrap().clone();
        let stage = |(name, ms): &(&str, f64)| {
            let mut stage = pattern.clone();
            (stage.name, stage.median_ms) = ((*name).to_owned(), Some(*ms));
            stage
        };
        record.stages = stages.iter().map(stage).collect();
        record.chapter = "03-unroll".to_owned();
        record.workload.insert("taps".into(), taps.into());
        record
    }

    #[test]
    fn a_chapter_has_bars_and_three_lengths_have_curves() {
        let stages = [("shared", 2.0), ("long-run", 0.5), ("tensor-tf32x3", 0.25), ("fft", 0.1)];
        let named = |name: &str, taps| (format!("nvidia-h200/{name}"), record(taps, &stages));
        let mut records = vec![named("03-unroll", 4096), named("03-unroll.294912x64", 64)];
        let names = |records: &[(String, Record)]| charts(records).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(&records), ["nvidia-h200/03-unroll.times"]);
        records.push(named("03-unroll.294912x1024", 1024));
        assert_eq!(names(&records), ["nvidia-h200/03-unroll.times", "nvidia-h200/03-unroll.294912.taps"]);
        let svg = charts(&records).remove(1).1;
        // A curve for every series that has times, and a sign at each of its points and beside its name.
        assert_eq!(svg.matches("<polyline").count(), 3);
        assert_eq!(svg.matches("<circle").count(), 3 + 1);
        let at = |taps: &str| svg.find(&format!(">{taps}</text>")).unwrap();
        assert!(at("64") < at("1024") && at("1024") < at("4096"), "in the order of the lengths");
    }

    #[test]
    fn a_bar_is_as_long_as_its_time() {
        let svg = bars(&record(4096, &[("slow", 4.0), ("fast", 1.0)]));
        let width = |name: &str| {
            let bar = svg.split(&format!(">{name}</text>")).nth(1).unwrap().split("width=\"").nth(1).unwrap();
            bar.split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!((width("slow") / width("fast") - 4.0).abs() < 0.01);
        assert!(svg.contains("4.00 ms") && svg.contains("1.00 ms"), "{svg}");
    }

    #[test]
    fn of_the_f32_stages_the_fastest_counts() {
        let record = record(64, &[("shared", 2.0), ("long-run", 0.5), ("tensor-tf32x3", 0.25)]);
        let family = &FAMILIES[0];
        assert_eq!(family.series.map(|series| family.time_of(series, &record)), [Some(0.5), Some(0.25), None, None]);
    }
}
