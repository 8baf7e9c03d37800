//! Charts for the book, from saved records: how long the stages of a chapter take, how near they come to the ceiling and to a library,
//! what keeps them from it, and how all that changes with the size.
//!
//! SVG of our own, in the style of the pictures of warps (`inspect::explain`): a chart is a few rectangles, lines and words, the text is
//! the same on every machine, so that a test can compare it, and it has colours for light and for dark pages.

mod curves;
mod overview;
mod plane;
mod roofline;
mod shares;
pub mod svg;
mod times;
mod words;

use common::record::Record;
use common::report::Place;
use common::units;
use common::workload::{Arithmetic, Work};
use serde_json::Value;

pub use overview::overview;
pub use roofline::roofline;

/// The library's stages, with which others are compared: in f32, and on tensor cores.
const CUBLAS: &str = "cublas";
const CUBLAS_TF32: &str = "cublas-tf32";

/// Every chart that the records of runs on GPUs yield by themselves, by the name of its file without extension. A record is named
/// `<device>/<chapter>` at the headline size, and has more behind that at others.
pub fn charts(records: &[(String, Record)]) -> Vec<(String, String)> {
    let timed: Vec<&(String, Record)> = records.iter().filter(|(_, record)| times(record).count() > 0).collect();
    let mut charts = Vec::new();
    for (name, record) in timed.iter().filter(|(name, record)| name.ends_with(&format!("/{}", record.chapter))) {
        charts.push((format!("{name}.times"), times::bars(name, record)));
        charts.extend(shares::shares(name, record).map(|svg| (format!("{name}.shares"), svg)));
    }
    charts.extend(curves::curves(&timed));
    charts
}

/// The stages that a device ran, with their times.
fn times(record: &Record) -> impl Iterator<Item = (&str, f64)> {
    let on_device = record.stages.iter().filter(|stage| stage.place == Place::Device && stage.verified);
    on_device.filter_map(|stage| Some((stage.name.as_str(), stage.median_ms?)))
}

/// What a chapter's rates are rates of, as its table tells them.
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
    fn of(record: &Record) -> Self {
        let Work { multiply_adds, bytes, arithmetic } = record.work();
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

/// What no stage of a chapter exceeds with the arithmetic of its table, in pieces per second: measured in the same run.
fn ceiling(record: &Record) -> Option<f64> {
    let ceilings = record.ceilings?;
    match record.work().arithmetic {
        Arithmetic::F32 => Some(ceilings.flops),
        Arithmetic::Bytes => ceilings.byte_multiply_adds,
        Arithmetic::Integers => Some(ceilings.bytes_per_s),
    }
}

/// The stages that a device ran, with their rates.
fn rates(record: &Record) -> Vec<(&str, f64)> {
    let rate = Unit::of(record);
    times(record).map(|(name, ms)| (name, rate.at(ms))).collect()
}

/// The rate of the stage of that name.
fn rate_of(rates: &[(&str, f64)], name: &str) -> Option<f64> {
    rates.iter().find(|(known, _)| *known == name).map(|(_, rate)| *rate)
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
    if let (Some(m), Some(n), Some(k)) = (size("m"), size("n"), size("k")) {
        return format!("{m} x {k} times {k} x {n}");
    }
    let outputs = ["outputs", "taps"].map(|name| size(name).map(|size| format!("{size} {name}")));
    outputs.into_iter().flatten().collect::<Vec<_>>().join(" x ")
}

/// On what some records were made, and when: the first of them stands for the device of all.
fn origin(records: &[&Record]) -> String {
    let days = || records.iter().filter_map(|record| record.date.split('T').next());
    let days = match (days().min(), days().max()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (first, _) => first.unwrap_or_default().to_owned(),
    };
    let device = records.first().map(|record| &record.device);
    device.map_or_else(String::new, |device| format!("{}, driver {}, {}, {days}", device.name, device.driver, device.compiler))
}

/// Where the record of that name is.
fn path(name: &str) -> String {
    format!("book/results/{name}.json")
}

/// One, two and five times every power of ten between two numbers, which are times in milliseconds or rates per second.
fn ticks(low: f64, high: f64) -> impl Iterator<Item = f64> {
    (-4..16)
        .flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)))
        .filter(move |tick| (low..high).contains(tick))
}

#[cfg(test)]
pub(crate) mod tests {
    use common::ceilings::Ceilings;
    use simt::Counters;

    use super::words::Area;
    use super::*;

    /// A record of a run of chapter 03 with the times of some stages.
    pub fn record(taps: u64, stages: &[(&str, f64)]) -> Record {
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

    /// A record of a run of a matrix product with the rates of some stages in TFLOP/s, below a ceiling.
    pub fn product(stages: &[(&str, f64)], ceiling: Option<f64>) -> Record {
        let mut record = record(4096, stages);
        record.chapter = "06-matmul-tiled".to_owned();
        record.workload.remove("taps");
        for (name, size) in [("m", 4096), ("n", 8192), ("k", K), ("multiply_adds", MULTIPLY_ADDS)] {
            record.workload.insert(name.to_owned(), size.into());
        }
        for stage in &mut record.stages {
            stage.median_ms = stage.median_ms.map(|rate| 2e3 * MULTIPLY_ADDS as f64 / (1e12 * rate));
        }
        record.ceilings = ceiling.map(|ceiling| Ceilings { flops: 1e12 * ceiling, bytes_per_s: 4e12, byte_multiply_adds: None });
        record
    }

    const MULTIPLY_ADDS: u64 = 1 << 36;
    const K: u64 = 2048;

    /// What the simulator would count of stages that do so many FLOP per byte, in a part of the work of [`product`].
    pub fn counts_of(stages: &[(&str, f64)], part: u64) -> Record {
        let mut record = product(stages, None);
        record.workload.insert("multiply_adds".into(), (MULTIPLY_ADDS / part).into());
        record.workload.insert("k".into(), (K / part).into());
        for (stage, (_, intensity)) in record.stages.iter_mut().zip(stages) {
            let sectors = (2.0 * MULTIPLY_ADDS as f64 / intensity / 32.0) as u64;
            let stores = sectors / 4;
            // With a part of `k` there are as many outputs to store.
            let loads = (sectors - stores) / part;
            let counters = Counters { global_load_sectors: loads, global_store_sectors: stores, ..Counters::default() };
            (stage.median_ms, stage.counters) = (None, Some(counters));
        }
        record
    }

    #[test]
    fn a_chapter_with_cublas_has_shares_beside_its_times() {
        let record = |name: &str| (format!("nvidia-h200/{name}"), product(&[("naive", 5.0), ("cublas", 50.0)], Some(60.0)));
        let charts = charts(&[record("06-matmul-tiled"), record("06-matmul-tiled.512")]);
        let [(times, _), (shares, svg)] = &charts[..] else { panic!("{} charts", charts.len()) };
        assert_eq!((times.as_str(), shares.as_str()), ("nvidia-h200/06-matmul-tiled.times", "nvidia-h200/06-matmul-tiled.shares"));
        assert!(svg.contains(">06-matmul-tiled: 4096 x 2048 times 2048 x 8192<"), "{svg}");
    }

    #[test]
    fn a_chapter_has_bars_and_three_lengths_have_curves() {
        let stages = [("shared", 2.0), ("long-run", 0.5), ("tensor-tf32x3", 0.25), ("fft", 0.1)];
        let named = |name: &str, taps| (format!("nvidia-h200/{name}"), record(taps, &stages));
        let mut records = vec![named("03-unroll", 4096), named("03-unroll.294912x64", 64)];
        let names = |records: &[(String, Record)]| charts(records).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        let of_the_headline = ["nvidia-h200/03-unroll.times", "nvidia-h200/03-unroll.shares"];
        assert_eq!(names(&records), of_the_headline);
        records.push(named("03-unroll.294912x1024", 1024));
        assert_eq!(names(&records), [&of_the_headline[..], &["nvidia-h200/03-unroll.294912.taps"]].concat());
        let svg = charts(&records).remove(2).1;
        // A curve for every series that has times, and a sign at each of its points and beside its name.
        assert_eq!(svg.matches("<polyline").count(), 3);
        assert_eq!(svg.matches("<circle").count(), 3 + 1);
        let at = |taps: &str| svg.find(&format!(">{taps}</text>")).unwrap();
        assert!(at("64") < at("1024") && at("1024") < at("4096"), "in the order of the lengths");
    }

    /// The words of a chart, with the part of the picture that they take.
    fn words(svg: &str) -> Vec<(Area, &str)> {
        svg.split("<text").skip(1).filter_map(|element| word(element.split('<').next()?)).collect()
    }

    fn word(element: &str) -> Option<(Area, &str)> {
        let attribute = |name: &str| element.split(&format!(" {name}=\"")).nth(1)?.split('"').next();
        let number = |name: &str| attribute(name)?.parse::<f64>().ok();
        let (class, x, y) = (attribute("class")?, number("x")?, number("y")?);
        let text = element.split_once('>')?.1;
        // The letters of titles and of the names of bars are larger than small print.
        let width = svg::width_of(text) * if class.starts_with("small") { 1.0 } else { 1.2 };
        let left = match class {
            class if class.contains("right") => x - width,
            class if class.contains("middle") => x - width / 2.0,
            _ => x,
        };
        Some((Area { left, top: y - 9.0, right: left + width, bottom: y + 1.0 }, text))
    }

    #[test]
    fn no_words_of_the_charts_in_the_book_lie_on_others_or_leave_the_picture() {
        let files = crate::generated::files().unwrap();
        let charts: Vec<_> =
            files.iter().filter(|(path, _)| path.extension().is_some_and(|extension| extension == "svg")).collect();
        assert!(charts.len() > 20, "{} charts", charts.len());
        charts.into_iter().for_each(|(path, svg)| assert_words_are_apart(&path.display().to_string(), svg));
    }

    /// No words lie on others or leave the picture.
    pub fn assert_words_are_apart(name: &str, svg: &str) {
        let words = words(svg);
        assert!(words.len() > 5, "{name}: {} words", words.len());
        for (index, (area, text)) in words.iter().enumerate() {
            assert!(area.left >= 0.0 && area.right <= svg::WIDTH, "{name}: {text} takes {area:?}");
            let other = words[..index].iter().find(|(other, _)| other.overlaps(area));
            assert!(other.is_none(), "{name}: {text} lies on {other:?}");
        }
    }
}
