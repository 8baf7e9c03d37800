//! What keeps the stages of a chapter from the ceiling: their rates over the arithmetic that they do per byte that they move, under the
//! roof that memory and arithmetic make.
//!
//! After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures", 2009. There
//! the bytes are those of memory. Here they are those that the loads and stores of the kernels ask for, as the simulator counts them,
//! because that is what a tile changes: caches serve a part of them, and a stage may stand above the slope of memory.

use common::record::Record;
use common::units;

use super::svg::{Svg, WIDTH, width_of};
use super::{CUBLAS, CUBLAS_TF32, origin, rate_of, rates, size, sizes, ticks};
use crate::generated::OF_ITS_SIZE;

/// Bytes of a sector.
const SECTOR_BYTES: f64 = 32.0;

const HEIGHT: f64 = 470.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 156.0;
const TOP: f64 = 88.0;
const BOTTOM: f64 = 46.0;

/// A dot for each stage that was timed on a GPU and counted by the simulator; `None` without cuBLAS among the stages, or without ceilings.
pub fn roofline(measured: &Record, counted: &Record) -> Option<String> {
    let ceilings = measured.ceilings?;
    let rates = rates(measured)?;
    rate_of(&rates, CUBLAS)?;
    let dots: Vec<(&str, f64, f64)> =
        rates.iter().filter_map(|(name, rate)| Some((*name, intensity(measured, counted, name)?, *rate))).collect();
    let intensities = || dots.iter().map(|(_, intensity, _)| *intensity);
    let ridge = ceilings.flops / ceilings.bytes_per_s;

    let least = intensities().fold(ridge, f64::min) / 1.5;
    let most = intensities().fold(ridge, f64::max) * 4.0;
    let low = rates.iter().map(|(_, rate)| *rate).fold(ceilings.flops, f64::min) / 2.0;
    let high = rates.iter().map(|(_, rate)| *rate).fold(ceilings.flops, f64::max) * 1.5;
    let right = WIDTH - RIGHT;
    let bottom = HEIGHT - BOTTOM;
    let x = |intensity: f64| LEFT + (intensity / least).ln() / (most / least).ln() * (right - LEFT);
    let y = |rate: f64| bottom - (rate / low).ln() / (high / low).ln() * (bottom - TOP);

    let notes = [
        &origin(measured),
        "Times are measured. Bytes are simulated: the sectors that loads and stores of the kernels ask for.",
        "L1 and L2 serve a part of them, so that a stage may stand above the slope of memory.",
    ];
    let mut svg = Svg::new(HEIGHT, &format!("{}: {}", measured.chapter, sizes(measured)), &notes);
    for tick in ticks(low, high) {
        svg.line("grid", (LEFT, y(tick)), (right, y(tick)));
        svg.text("small right", LEFT - 8.0, y(tick) + 4.0, &units::flops(tick));
    }
    for tick in (-8..16).map(|power| 2_f64.powi(power)).filter(|tick| (least..most).contains(tick)) {
        svg.line("grid", (x(tick), TOP), (x(tick), bottom));
        svg.text("small middle", x(tick), bottom + 16.0, &tick.to_string());
    }
    svg.text("small middle", (LEFT + right) / 2.0, bottom + 34.0, "FLOP per byte that loads and stores ask for");

    // The slope starts where it enters the picture.
    let start = least.max(low / ceilings.bytes_per_s);
    let start = (x(start), y(start * ceilings.bytes_per_s));
    let knee = (x(ridge), y(ceilings.flops));
    svg.polyline(3, &[start, knee, (right, knee.1)]);
    let mut ends = vec![(knee.1, "f32", ceilings.flops)];
    for (name, class) in [(CUBLAS, "limit s1"), (CUBLAS_TF32, "limit s2")] {
        let Some(rate) = rate_of(&rates, name) else { continue };
        svg.line(class, (LEFT, y(rate)), (right, y(rate)));
        ends.push((y(rate), name, rate));
    }
    let mut words = Words::new(Area { left: LEFT, top: TOP, right, bottom });
    ends.iter().for_each(|(y, ..)| words.avoid_line((LEFT, *y), (right, *y)));
    words.avoid_line(start, knee);
    let places: Vec<(f64, f64)> = dots.iter().map(|(_, intensity, rate)| (x(*intensity), y(*rate))).collect();
    places.iter().for_each(|place| words.avoid_dot(*place));
    for ((name, ..), place) in dots.iter().zip(&places) {
        words.write(&mut svg, *place, name);
    }
    places.iter().for_each(|place| svg.sign(0, *place));
    let on_slope = (start.0 + (knee.0 - start.0) / 8.0, start.1 + (knee.1 - start.1) / 8.0);
    words.write(&mut svg, on_slope, &format!("memory: {}", units::bandwidth(ceilings.bytes_per_s)));

    // Beside the ends of the lines, and not on top of each other.
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut above = f64::NEG_INFINITY;
    for (at, name, rate) in ends {
        let at = at.max(above + 16.0);
        svg.text("small", right + 6.0, at + 4.0, &format!("{name}: {}", units::flops(rate)));
        above = at;
    }
    Some(svg.end())
}

/// FLOP per byte that the kernels of a stage ask for at the size that was timed. What was counted at another size stands for it: loads grow
/// with the multiply-adds, and stores with the outputs.
fn intensity(measured: &Record, counted: &Record, name: &str) -> Option<f64> {
    if measured.workload != counted.workload && OF_ITS_SIZE.contains(&name) {
        return None;
    }
    let counters = counted.stages.iter().find(|stage| stage.name == name)?.counters?;
    let outputs = |record: &Record| Some(size(record, "m")? as f64 * size(record, "n")? as f64);
    let multiply_adds = |record: &Record| record.work().multiply_adds as f64;
    let loads = counters.global_load_sectors as f64 * multiply_adds(measured) / multiply_adds(counted);
    let stores = counters.global_store_sectors as f64 * outputs(measured)? / outputs(counted)?;
    let bytes = (loads + stores) * SECTOR_BYTES;
    (bytes > 0.0).then(|| 2.0 * multiply_adds(measured) / bytes)
}

/// A part of the picture.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn contains(&self, other: &Area) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }
}

/// Words beside points, none of which lies on another, on a dot or on a line.
struct Words {
    within: Area,
    taken: Vec<Area>,
}

impl Words {
    /// Height of a line of small print.
    const LINE: f64 = 12.0;
    /// From a point to its words.
    const GAP: f64 = 8.0;

    fn new(within: Area) -> Self {
        Self { within, taken: Vec::new() }
    }

    fn avoid_dot(&mut self, (x, y): (f64, f64)) {
        self.taken.push(Area { left: x - 5.0, top: y - 5.0, right: x + 5.0, bottom: y + 5.0 });
    }

    fn avoid_line(&mut self, from: (f64, f64), to: (f64, f64)) {
        // Pieces so short that the area of each is hardly more than the line.
        const PIECES: u32 = 100;
        let at = |piece: u32, from: f64, to: f64| from + (to - from) * f64::from(piece) / f64::from(PIECES);
        for piece in 0..PIECES {
            let (x, y) =
                ([piece, piece + 1].map(|piece| at(piece, from.0, to.0)), [piece, piece + 1].map(|piece| at(piece, from.1, to.1)));
            self.taken.push(Area { left: x[0], top: y[0].min(y[1]) - 1.0, right: x[1], bottom: y[0].max(y[1]) + 1.0 });
        }
    }

    /// Right of the point or left of it, as near as there is room.
    fn write(&mut self, svg: &mut Svg, (x, y): (f64, f64), text: &str) {
        let width = width_of(text);
        let shifts = (0..80).step_by(2).flat_map(|shift| [f64::from(shift), -f64::from(shift)]);
        let places = shifts.flat_map(|shift| [x + Self::GAP, x - Self::GAP - width].map(|left| (left, y + shift)));
        let area = |(left, middle): (f64, f64)| Area {
            left,
            top: middle - Self::LINE / 2.0,
            right: left + width,
            bottom: middle + Self::LINE / 2.0,
        };
        let free = |place: &(f64, f64)| {
            let area = area(*place);
            self.within.contains(&area) && !self.taken.iter().any(|taken| taken.overlaps(&area))
        };
        let (left, middle) = places.clone().find(free).unwrap_or((x + Self::GAP, y));
        if (middle - y).abs() > Self::LINE {
            let nearer = if left > x { left - 2.0 } else { left + width + 2.0 };
            svg.line("grid", (x, y), (nearer, middle));
        }
        svg.text("small", left, middle + 4.0, text);
        self.taken.push(area((left, middle)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::tests::{counts_of, product};

    /// The places of the dots, in the order of the stages.
    fn dots(svg: &str) -> Vec<(f64, f64)> {
        let number = |text: &str, name: &str| -> f64 {
            text.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        svg.split("<circle").skip(1).map(|dot| (number(dot, "cx"), number(dot, "cy"))).collect()
    }

    /// The corners of the roof.
    fn roof(svg: &str) -> Vec<(f64, f64)> {
        let points = svg.split(" points=\"").nth(1).unwrap().split('"').next().unwrap();
        let number = |text: &str| text.parse::<f64>().unwrap();
        points.split(' ').map(|point| point.split_once(',').unwrap()).map(|(x, y)| (number(x), number(y))).collect()
    }

    #[test]
    fn a_stage_that_memory_feeds_stands_on_the_slope_and_one_at_the_ceiling_on_the_flat() {
        // The ceilings are 60 TFLOP/s and 4 TB/s, with their knee at 15 FLOP per byte.
        let measured = product(&[("slope", 8.0), ("knee", 60.0), ("flat", 60.0), ("cublas", 45.0)], Some(60.0));
        let svg = roofline(&measured, &counts_of(&[("slope", 2.0), ("knee", 15.0), ("flat", 32.0)], 1)).unwrap();
        let (dots, roof) = (dots(&svg), roof(&svg));
        let near = |one: (f64, f64), other: (f64, f64)| (one.0 - other.0).abs() < 0.3 && (one.1 - other.1).abs() < 0.3;
        let [start, knee, end] = roof[..] else { panic!("{roof:?}") };
        assert!(dots.len() == 3 && near(dots[1], knee), "{dots:?} {roof:?}");
        assert!((dots[2].1 - end.1).abs() < 0.3 && knee.0 < dots[2].0 && dots[2].0 < end.0, "{dots:?} {roof:?}");
        let along = (dots[0].0 - start.0) / (knee.0 - start.0);
        assert!((0.0..1.0).contains(&along), "{dots:?} {roof:?}");
        assert!(near(dots[0], (dots[0].0, start.1 + along * (knee.1 - start.1))), "{dots:?} {roof:?}");
    }

    #[test]
    fn counts_at_a_smaller_size_make_the_same_picture() {
        let measured = product(&[("tile", 30.0), ("cublas", 45.0)], Some(60.0));
        let [whole, part] = [1, 64].map(|part| roofline(&measured, &counts_of(&[("tile", 8.0)], part)).unwrap());
        assert_eq!(whole, part);
    }

    #[test]
    fn it_takes_the_library_and_the_ceilings() {
        let counted = counts_of(&[("tile", 8.0)], 1);
        assert!(roofline(&product(&[("tile", 30.0)], Some(60.0)), &counted).is_none());
        assert!(roofline(&product(&[("tile", 30.0), ("cublas", 45.0)], None), &counted).is_none());
    }

    #[test]
    fn no_words_lie_on_others_or_on_dots_or_on_lines() {
        let mut words = Words::new(Area { left: 0.0, top: 0.0, right: 600.0, bottom: 300.0 });
        let mut svg = Svg::new(300.0, "", &[]);
        let places: Vec<(f64, f64)> = (0..8).map(|index| (300.0 + f64::from(index % 2), 150.0 + 3.0 * f64::from(index))).collect();
        words.avoid_line((0.0, 160.0), (600.0, 160.0));
        words.avoid_line((0.0, 300.0), (600.0, 0.0));
        places.iter().for_each(|place| words.avoid_dot(*place));
        let obstacles = words.taken.len();
        places.iter().for_each(|place| words.write(&mut svg, *place, "double-buffered"));
        assert_eq!(words.taken.len(), obstacles + places.len());
        for (index, area) in words.taken.iter().enumerate().skip(obstacles) {
            assert!(words.within.contains(area), "{area:?}");
            assert!(!words.taken[..index].iter().any(|other| other.overlaps(area)), "{area:?}");
        }
    }
}
