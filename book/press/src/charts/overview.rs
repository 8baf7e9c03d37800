//! All chapters under one roof: where each begins, where it ends, and where tensor cores bring it.
//!
//! Arithmetic of all kinds counts alike, a multiply-add as two operations, so that sums of integers and products of floats fit one picture.

use anyhow::{Context, Result};
use common::units;
use common::workload::Arithmetic;

use super::origin;
use super::plot::{Axis, Frame, Plot};
use super::roofline::{bytes_asked_for, fraction, slope_start};
use crate::archive::Pair;

/// The classes of the words of a chapter, in the colors of series.
const COLORS: [&str; 6] = ["f0", "f1", "f2", "f3", "f4", "f5"];

/// A stage, with its operations per byte that it asks for and per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dot<'a> {
    pub stage: &'a str,
    pub on_tensor_cores: bool,
    pub point: (f64, f64),
}

/// Draws the chapters, in order.
pub fn overview(pairs: &[Pair]) -> Result<String> {
    let runs = || pairs.iter().map(|pair| pair.measured);
    // The ceilings of the last run with that arithmetic.
    let ceilings = |arithmetic| runs().filter(|run| run.record.work().arithmetic == arithmetic).last()?.record.ceilings;
    let floats = ceilings(Arithmetic::F32).context("no run with a ceiling for floats")?;
    let bytes = ceilings(Arithmetic::Bytes).and_then(|ceilings| ceilings.byte_multiply_adds);
    let knee = (floats.flops / floats.bytes_per_s, floats.flops);

    let courses: Vec<(&Pair, Vec<Dot>)> = pairs.iter().map(|pair| (pair, course(&dots(*pair)))).collect();
    let points = || courses.iter().flat_map(|(_, course)| course.iter().map(|dot| dot.point)).chain([knee]);
    let x = Axis::by_factors(points().map(|point| point.0), 4.0, 4.0);
    let y = Axis::by_factors(points().map(|point| point.1), 2.0, 1.5);
    let words = |rate: f64| units::flops(rate).replace("FLOP", "op");
    let folders = pairs.first().context("no chapter was measured on this device and counted")?;
    let mut plot = Plot::new(Frame {
        title: "All chapters: operations per second over operations per byte".to_owned(),
        notes: vec![
            origin(runs()),
            format!(
                "Times: the chapters' records in book/results/{}. Bytes: those in book/results/{}, simulated.",
                folders.measured.device(),
                folders.counted.device()
            ),
            "Of each chapter the first stage, the fastest one, and the fastest on tensor cores if that is faster still.".to_owned(),
            "A multiply-add counts as two operations, of whatever numbers. L1 and L2 serve some of the bytes.".to_owned(),
        ],
        height: 560.0,
        x,
        x_ticks: x.powers_of_two().into_iter().map(|tick| (tick, fraction(tick))).collect(),
        x_name: "operations per byte that loads and stores ask for".to_owned(),
        y,
        y_words: words,
    });
    let start = slope_start(x, y, floats.bytes_per_s);
    plot.line("roof", &[start, knee, (x.ends.1, knee.1)]);
    plot.label_end(knee.1, None, format!("f32: {}", words(floats.flops)));
    if let Some(rate) = bytes {
        plot.level("limit s1", 2.0 * rate, format!("dp4a: {}", words(2.0 * rate)));
    }
    for (series, (pair, course)) in courses.iter().enumerate() {
        let run = pair.measured;
        let number = run.record.chapter.split('-').next().unwrap_or_default();
        plot.line(&format!("line s{series}"), &course.iter().map(|dot| dot.point).collect::<Vec<_>>());
        for dot in course {
            plot.dot(series, dot.point, format!("{number} {}", run.label(dot.stage)), COLORS[series.min(COLORS.len() - 1)]);
        }
    }
    plot.remark(start, knee, 0.125, format!("memory: {}", units::bandwidth(floats.bytes_per_s)));
    Ok(plot.end())
}

/// The stages that were timed and counted.
fn dots(pair: Pair<'_>) -> Vec<Dot<'_>> {
    let operations = 2.0 * pair.measured.record.work().multiply_adds as f64;
    let dot = |(stage, ms)| {
        let counters = pair.counted_stage(stage)?.counters?;
        let point = (operations / bytes_asked_for(pair, stage)?, 1e3 * operations / ms);
        Some(Dot { stage, on_tensor_cores: counters.tensor_multiply_adds > 0, point })
    };
    pair.measured.times().filter_map(dot).collect()
}

/// The first stage, the fastest without tensor cores, and the fastest with them if that is faster still.
pub(super) fn course<'a>(dots: &[Dot<'a>]) -> Vec<Dot<'a>> {
    let fastest = |on_tensor_cores| {
        let dots = dots.iter().filter(|dot| dot.on_tensor_cores == on_tensor_cores);
        dots.max_by(|one, other| one.point.1.total_cmp(&other.point.1))
    };
    let mut course: Vec<Dot> = Vec::new();
    for dot in [dots.first(), fastest(false), fastest(true)].into_iter().flatten() {
        if course.last().is_none_or(|last| dot.point.1 > last.point.1) {
            course.push(*dot);
        }
    }
    course
}
