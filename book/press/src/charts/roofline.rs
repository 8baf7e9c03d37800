//! What keeps the stages of a chapter from the ceiling: their rates over the arithmetic that they do per byte that they move, under the
//! roof that memory and arithmetic make.
//!
//! After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures", 2009. Their bytes
//! are those of memory. Ours are the bytes that the loads and stores of the kernels ask for, as the simulator counts them, because that is
//! what a tile changes: caches serve some of them, so a stage may be above the slope of memory.
//!
//! Where so little is computed that memory is the ceiling, the roof ends at a wall: every byte that the result depends on moves once.

use anyhow::{Context, Result, ensure};
use common::units;
use common::workload::{Arithmetic, Work};

use super::plot::{Axis, Frame, Plot};
use super::{origin, title};
use crate::archive::{Pair, Run};
use crate::directive::Arguments;

/// Bytes of a sector.
const SECTOR_BYTES: f64 = 32.0;

/// What both axes count.
struct Pieces {
    /// In the whole work.
    all: f64,
    words: fn(f64) -> String,
    one: &'static str,
    /// The rate at which arithmetic alone would do them, and its name.
    arithmetic: Option<(f64, &'static str)>,
}

impl Pieces {
    fn of(run: Run) -> Option<Self> {
        let (Work { multiply_adds, arithmetic, .. }, ceilings) = (run.record.work(), run.record.ceilings?);
        let all = multiply_adds as f64;
        Some(match arithmetic {
            Arithmetic::F32 => {
                Self { all: 2.0 * all, words: units::flops, one: "FLOP", arithmetic: Some((ceilings.flops, arithmetic.ceiling())) }
            }
            Arithmetic::Bytes => {
                let ceiling = (ceilings.byte_multiply_adds?, arithmetic.ceiling());
                Self { all, words: units::multiply_adds, one: "multiply-adds", arithmetic: Some(ceiling) }
            }
            Arithmetic::Integers => Self { all, words: units::pixels, one: "pixels", arithmetic: None },
        })
    }
}

/// Draws a dot for each stage that was timed and counted. The option `rivals` names stages of libraries, of which nothing is counted: lines at
/// their rates.
pub fn roofline(pair: Pair, arguments: &mut Arguments) -> Result<String> {
    let run = pair.measured;
    let pieces = Pieces::of(run).with_context(|| format!("{} has no ceilings", run.name))?;
    let bytes_per_s = run.record.ceilings.map_or(0.0, |ceilings| ceilings.bytes_per_s);
    let rate = |ms: f64| 1e3 * pieces.all / ms;
    let dots = run.times().filter_map(|(name, ms)| Some((name, (pieces.all / bytes_asked_for(pair, name)?, rate(ms)))));
    let dots: Vec<(&str, (f64, f64))> = dots.collect();
    ensure!(!dots.is_empty(), "{} counts no stage of {}", pair.counted.name, run.name);
    let rivals = arguments.list("rivals").into_iter().map(|name| {
        let ms = run.stage(&name)?.median_ms.with_context(|| format!("{} has no time of {name}", run.name))?;
        Ok((name, rate(ms)))
    });
    let rivals: Vec<(String, f64)> = rivals.collect::<Result<_>>()?;

    // The roof bends where arithmetic is the ceiling, or ends at the wall.
    let flat = pieces.arithmetic.map(|(rate, _)| rate);
    let knee = flat.map_or(pieces.all / run.record.work().bytes as f64, |flat| flat / bytes_per_s);
    let knee = (knee, knee * bytes_per_s);
    let points = || dots.iter().map(|(_, dot)| *dot).chain([knee]);
    let x = Axis::by_factors(points().map(|point| point.0), 1.5, if flat.is_some() { 4.0 } else { 2.0 });
    let y = Axis::by_factors(points().map(|point| point.1).chain(rivals.iter().map(|(_, rate)| *rate)), 2.0, 1.5);
    let mut plot = Plot::new(Frame {
        title: title(run),
        notes: vec![
            origin([run].into_iter()),
            format!("Times: {}", run.path()),
            format!("Bytes: {}, counted by the simulator", pair.counted.path()),
            "Bytes are those of the sectors that are asked for. L1 and L2 serve some: a stage may be above the slope.".to_owned(),
        ],
        height: 470.0,
        x,
        x_ticks: x.powers_of_two().into_iter().map(|tick| (tick, fraction(tick))).collect(),
        x_name: format!("{} per byte that loads and stores ask for", pieces.one),
        y,
        y_words: pieces.words,
    });
    let start = slope_start(x, y, bytes_per_s);
    plot.line("roof", &[start, knee, if flat.is_some() { (x.ends.1, knee.1) } else { (knee.0, y.ends.0) }]);
    if let Some((rate, name)) = pieces.arithmetic {
        plot.label_end(rate, None, format!("{name}: {}", (pieces.words)(rate)));
    } else {
        let per_pixel = units::significant(run.record.work().bytes as f64 / pieces.all);
        plot.remark(knee, (knee.0, y.ends.0), 0.5, format!("every byte once: {per_pixel} bytes per pixel"));
    }
    for ((name, rate), class) in rivals.iter().zip(["limit s1", "limit s2"].into_iter().cycle()) {
        plot.level(class, *rate, format!("{name}: {}", (pieces.words)(*rate)));
    }
    for (name, point) in &dots {
        plot.dot(0, *point, run.label(name), "");
    }
    plot.remark(start, knee, 0.125, format!("memory: {}", units::bandwidth(bytes_per_s)));
    Ok(plot.end())
}

/// Where the slope of memory enters the picture.
pub fn slope_start(x: Axis, y: Axis, bytes_per_s: f64) -> (f64, f64) {
    let start = x.ends.0.max(y.ends.0 / bytes_per_s);
    (start, start * bytes_per_s)
}

/// A power of two in words.
pub fn fraction(tick: f64) -> String {
    if tick < 1.0 { format!("1/{}", 1.0 / tick) } else { tick.to_string() }
}

/// Bytes that the kernels of a stage ask for at the size that was timed. Counts at another size stand for them: loads grow with the
/// multiply-adds, and stores with the outputs.
pub fn bytes_asked_for(pair: Pair, stage: &str) -> Option<f64> {
    let counters = pair.counted_stage(stage)?.counters?;
    let multiply_adds = |run: Run| run.record.work().multiply_adds as f64;
    let outputs = |run: Run| multiply_adds(run) / terms(run);
    let loads = counters.global_load_sectors as f64 * multiply_adds(pair.measured) / multiply_adds(pair.counted);
    let stores = counters.global_store_sectors as f64 * outputs(pair.measured) / outputs(pair.counted);
    let bytes = (loads + stores) * SECTOR_BYTES;
    (bytes > 0.0).then_some(bytes)
}

/// Multiply-adds per output: taps, pixels of a template, or the side that two matrices share.
fn terms(run: Run) -> f64 {
    let of = |name: &str| run.size(name).map_or(1.0, |size| size as f64);
    of("taps") * of("template_width") * of("template_height") * of("k")
}
