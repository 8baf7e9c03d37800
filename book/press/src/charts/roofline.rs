//! The limits of the stages of a chapter: their rates against the arithmetic that they do per byte, under the roofs that memory, the caches and the
//! arithmetic units make.
//!
//! After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures", 2009, with a slope for
//! each level of memory as in Yang, Kurth and Williams, "Hierarchical Roofline analysis for GPUs", 2020.
//!
//! The bytes are those that the loads and stores of a kernel ask for, in whole sectors, as the simulator counts them: that is the traffic of the L1
//! cache, and what a tile changes. So the slope of L1 is the one that no stage gets above. A stage above the slope of L2 or of memory gets the rest
//! of its bytes from a nearer level. How many bytes go through L2 and memory is not drawn, because the simulator has no caches to count them with.
//!
//! The rates of memory and of arithmetic come from the run itself. Those of the caches were measured by hand, once for a device, and are facts.
//!
//! If so little is computed that memory is the ceiling, the roof ends at a wall: every byte that the result depends on moves once.

use anyhow::{Context, Result, ensure};
use run::units;
use run::workload::{Arithmetic, Work};

use super::plot::{Axis, Frame, Plot};
use super::rate::{Unit, origin, rival, title};
use crate::archive::{Pair, Run};
use crate::directive::Arguments;
use crate::drawing::words::Point;
use crate::facts::Facts;

/// Bytes of a sector.
const SECTOR_BYTES: f64 = 32.0;

/// Says what the horizontal axis counts, and how to read the slopes.
const NOTE: &str = "Bytes of the sectors that are asked for. A stage above a slope gets some of them from a nearer level.";

/// Draws a dot for each stage that was timed and counted. The option `rivals` names stages of libraries, of which nothing is counted: lines at
/// their rates.
pub fn roofline(pair: Pair, arguments: &mut Arguments) -> Result<String> {
    let run = pair.measured;
    let Work { multiply_adds, bytes, arithmetic } = run.record.work();
    let mut unit = Unit::of(run);
    if arithmetic == Arithmetic::Integers {
        unit = Unit { pieces: multiply_adds as f64, name: "pixels", words: units::pixels, most: None, ..unit };
    }
    let flat = unit.most;
    let ceilings = run.record.ceilings.filter(|_| flat.is_some() || arithmetic == Arithmetic::Integers);
    let bytes_per_s = ceilings.with_context(|| format!("{} has no ceilings", run.name))?.bytes_per_s;
    let dots = dots(pair, unit.pieces);
    ensure!(!dots.is_empty(), "{} counts no stage of {}", pair.counted.name, run.name);
    let rivals = arguments.list("rivals").into_iter().map(|name| rival(run, unit, name)).collect::<Result<Vec<_>>>()?;

    // The roof bends where arithmetic is the ceiling, or ends at the wall.
    let per_byte = unit.pieces / bytes as f64;
    let knee = flat.map_or((per_byte, per_byte * bytes_per_s), |flat| (flat / bytes_per_s, flat));
    let points = || dots.iter().map(|dot| dot.point).chain([knee]);
    let x = Axis::by_factors(points().map(|point| point.0), 1.5, if flat.is_some() { 4.0 } else { 2.0 });
    let y = Axis::by_factors(points().map(|point| point.1).chain(rivals.iter().map(|(_, rate)| *rate)), 2.0, 1.5);
    let mut plot = Plot::new(Frame {
        title: title(run),
        notes: vec![
            origin(&[run]),
            format!("Times: {}", run.path()),
            format!("Bytes: {}, counted by the simulator", pair.counted.path()),
            NOTE.to_owned(),
        ],
        height: 470.0,
        x,
        x_ticks: x.powers_of_two(),
        x_name: format!("{} per byte that loads and stores ask for", unit.name),
        y,
        y_words: unit.words,
    });
    let end = if flat.is_some() { (x.ends.1, knee.1) } else { (knee.0, y.ends.0) };
    let start = draw_roof(&mut plot, run, bytes_per_s, unit.pieces / multiply_adds as f64, [knee, end])?;
    if let Some(rate) = flat {
        plot.label_end(rate, None, format!("{}: {}", arithmetic.ceiling(), (unit.words)(rate)));
    } else {
        let per_pixel = units::significant(bytes as f64 / unit.pieces);
        plot.remark(knee, (knee.0, y.ends.0), 0.5, format!("every byte once: {per_pixel} bytes per pixel"));
    }
    for ((name, rate), class) in rivals.iter().zip(["limit s1", "limit s2"].into_iter().cycle()) {
        plot.level(class, *rate, format!("{name}: {}", (unit.words)(*rate)));
    }
    for dot in &dots {
        plot.dot(0, dot.point, run.label(dot.stage), "");
    }
    plot.remark(start, knee, 0.125, format!("memory: {}", units::bandwidth(bytes_per_s)));
    Ok(plot.end())
}

/// Draws the roof and returns the start of the slope of memory. The slopes of the caches end at the knee, where arithmetic or memory limits every
/// stage. Devices without facts about caches have no slopes of them. The page's script gets the numbers.
fn draw_roof(plot: &mut Plot, run: Run, bytes_per_s: f64, per_multiply_add: f64, [knee, end]: [Point; 2]) -> Result<Point> {
    plot.describe(&[("bytes-per-s", bytes_per_s), ("most-per-s", knee.1), ("per-multiply-add", per_multiply_add)]);
    let (x, y) = plot.axes;
    // Where the slope of a level of memory enters the picture.
    let slope_start = |rate: f64| {
        let start = x.ends.0.max(y.ends.0 / rate);
        (start, start * rate)
    };
    let facts = Facts::read()?;
    let group = format!("{}_caches", run.device().trim_start_matches("nvidia-"));
    for (name, key) in [("L1", "l1"), ("L2", "l2")] {
        let Ok(rate) = facts.value(&group, key).map(|fact| fact.value) else { continue };
        let (start, bend) = (slope_start(rate), (knee.1 / rate, knee.1));
        if start.1 < knee.1 {
            plot.line("slope", &[start, bend, knee]);
            // Near the bend there are no dots.
            plot.remark(start, bend, 0.8, format!("{name}: {}", units::bandwidth(rate)));
        } else {
            plot.line("slope", &[(x.ends.0, knee.1), knee]);
        }
    }
    let start = slope_start(bytes_per_s);
    plot.line("roof", &[start, knee, end]);
    Ok(start)
}

/// Returns the bytes that a stage's kernels request at the timed size. Counts at another size are scaled: loads grow with the multiply-adds, and
/// stores with the outputs.
fn bytes_asked_for(pair: Pair, stage: &str) -> Option<f64> {
    let counters = pair.counted_stage(stage)?.counters?;
    let multiply_adds = |run: Run| run.record.work().multiply_adds as f64;
    let outputs = |run: Run| multiply_adds(run) / terms(run);
    let loads = counters.global_load_sectors as f64 * multiply_adds(pair.measured) / multiply_adds(pair.counted);
    let stores = counters.global_store_sectors as f64 * outputs(pair.measured) / outputs(pair.counted);
    let bytes = (loads + stores) * SECTOR_BYTES;
    (bytes > 0.0).then_some(bytes)
}

/// Returns the multiply-adds per output: taps, pixels of a template, or the side that two matrices share.
fn terms(run: Run) -> f64 {
    let of = |name: &str| run.size(name).map_or(1.0, |size| size as f64);
    of("taps") * of("template_width") * of("template_height") * of("k")
}

/// Classes for the words of a chapter, in the series' colors.
const COLORS: [&str; 6] = ["f0", "f1", "f2", "f3", "f4", "f5"];

/// A stage, with its operations per requested byte and per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dot<'a> {
    pub stage: &'a str,
    pub on_tensor_cores: bool,
    pub point: Point,
}

/// Draws all chapters under one roof: where each begins, where it ends, and where tensor cores bring it.
///
/// Arithmetic of all kinds counts alike, a multiply-add as two operations, so that sums of integers and products of floats fit one picture.
pub fn overview(pairs: &[Pair]) -> Result<String> {
    let runs: Vec<Run> = pairs.iter().map(|pair| pair.measured).collect();
    // The ceilings of the last run with that arithmetic.
    let ceilings = |arithmetic| runs.iter().rfind(|run| run.record.work().arithmetic == arithmetic)?.record.ceilings;
    let floats = ceilings(Arithmetic::F32).context("no run with a ceiling for floats")?;
    let bytes = ceilings(Arithmetic::Bytes).and_then(|ceilings| ceilings.byte_multiply_adds);
    let knee = (floats.flops / floats.bytes_per_s, floats.flops);

    let courses: Vec<Vec<Dot>> =
        pairs.iter().map(|pair| course(&dots(*pair, 2.0 * pair.measured.record.work().multiply_adds as f64))).collect();
    let points = || courses.iter().flatten().map(|dot| dot.point).chain([knee]);
    let x = Axis::by_factors(points().map(|point| point.0), 4.0, 4.0);
    let y = Axis::by_factors(points().map(|point| point.1), 2.0, 1.5);
    let words = |rate: f64| units::flops(rate).replace("FLOP", "op");
    let first = pairs.first().context("no chapter was measured on this device and counted")?;
    let (times, counts) = (first.measured.device(), first.counted.device());
    let mut plot = Plot::new(Frame {
        title: "All chapters: operations per second over operations per byte".to_owned(),
        notes: vec![
            origin(&runs),
            format!("Times: the chapters' records in book/results/{times}. Bytes: those in book/results/{counts}, simulated."),
            "Of each chapter the first stage, the fastest one, and the fastest on tensor cores if that is faster still.".to_owned(),
            "A multiply-add counts as two operations, of whatever numbers.".to_owned(),
            NOTE.to_owned(),
        ],
        height: 560.0,
        x,
        x_ticks: x.powers_of_two(),
        x_name: "operations per byte that loads and stores ask for".to_owned(),
        y,
        y_words: words,
    });
    let start = draw_roof(&mut plot, first.measured, floats.bytes_per_s, 2.0, [knee, (x.ends.1, knee.1)])?;
    plot.label_end(knee.1, None, format!("f32: {}", words(floats.flops)));
    if let Some(rate) = bytes {
        plot.level("limit s1", 2.0 * rate, format!("dp4a: {}", words(2.0 * rate)));
    }
    for (series, (run, course)) in runs.iter().zip(&courses).enumerate() {
        let number = run.record.chapter.split('-').next().unwrap_or_default();
        plot.line(&format!("line s{series}"), &course.iter().map(|dot| dot.point).collect::<Vec<_>>());
        for dot in course {
            plot.dot(series, dot.point, format!("{number} {}", run.label(dot.stage)), COLORS[series.min(COLORS.len() - 1)]);
        }
    }
    plot.remark(start, knee, 0.125, format!("memory: {}", units::bandwidth(floats.bytes_per_s)));
    Ok(plot.end())
}

/// Returns the stages that were timed and counted. `operations` is the chapter's number of operations.
fn dots(pair: Pair<'_>, operations: f64) -> Vec<Dot<'_>> {
    let dot = |(stage, ms)| {
        let counters = pair.counted_stage(stage)?.counters?;
        let point = (operations / bytes_asked_for(pair, stage)?, 1e3 * operations / ms);
        Some(Dot { stage, on_tensor_cores: counters.tensor_multiply_adds > 0, point })
    };
    pair.measured.times().filter_map(dot).collect()
}

/// Returns the first stage and the fastest without and with tensor cores. Leaves out a stage that is not faster than the one before it.
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
