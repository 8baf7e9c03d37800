//! What keeps the stages of a chapter from the ceiling: their rates over the arithmetic that they do per byte that they move, under the
//! roof that memory and arithmetic make.
//!
//! After Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures", 2009. There
//! the bytes are those of memory. Here they are those that the loads and stores of the kernels ask for, as the simulator counts them,
//! because that is what a tile changes: caches serve a part of them, and a stage may stand above the slope of memory.
//!
//! Where so little is computed that memory is the ceiling, the roof ends at a wall: every byte that the result depends on moves once.

use common::record::Record;
use common::units;
use common::workload::{Arithmetic, Work};

use super::plane::Plane;
use super::svg::{Svg, below};
use super::words::{Label, Point};
use super::{CUBLAS, CUBLAS_TF32, origin, path, size, sizes, times};
use crate::generated::{OF_ITS_SIZE, same_size};

/// Bytes of a sector.
const SECTOR_BYTES: f64 = 32.0;

const HEIGHT: f64 = 470.0;

/// Stages of libraries, of which nothing is counted: lines at their rates, in colours of series.
const RIVALS: [(&str, &str); 3] = [(CUBLAS, "limit s1"), (CUBLAS_TF32, "limit s2"), ("fft", "limit s1")];

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
    fn of(record: &Record) -> Option<Self> {
        let (Work { multiply_adds, arithmetic, .. }, ceilings) = (record.work(), record.ceilings?);
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

/// A dot for each stage that was timed on a GPU and counted by the simulator, with the names of both records; `None` without any, or
/// without ceilings.
pub fn roofline((name, measured): (&str, &Record), (counts, counted): (&str, &Record)) -> Option<String> {
    const TOP: f64 = below(4);
    let pieces = Pieces::of(measured)?;
    let bytes_per_s = measured.ceilings?.bytes_per_s;
    let rate = |ms: f64| 1e3 * pieces.all / ms;
    let dots: Vec<(&str, Point)> = times(measured)
        .filter_map(|(name, ms)| Some((name, (pieces.all / bytes_asked_for(measured, counted, name)?, rate(ms)))))
        .collect();
    if dots.is_empty() {
        return None;
    }
    let rivals = times(measured).filter_map(|(name, ms)| {
        let (name, class) = *RIVALS.iter().find(|(rival, _)| *rival == name)?;
        Some((name, class, rate(ms)))
    });
    let rivals: Vec<_> = rivals.collect();
    // Where the roof bends: at the arithmetic's ceiling, or at the wall.
    let flat = pieces.arithmetic.map(|(rate, _)| rate);
    let knee = flat.map_or(pieces.all / measured.work().bytes as f64, |flat| flat / bytes_per_s);
    let knee = (knee, knee * bytes_per_s);

    let all = dots.iter().map(|(_, dot)| *dot).chain(rivals.iter().map(|(.., rate)| (knee.0, *rate))).chain([knee]);
    let plane = Plane::new(TOP, HEIGHT, (1.5, if flat.is_some() { 4.0 } else { 2.0 }), &all.collect::<Vec<_>>());
    let notes = [
        origin(&[measured]),
        format!("Times: {}", path(name)),
        format!("Bytes: {}, counted by the simulator", path(counts)),
        "Bytes are those of the sectors that are asked for. L1 and L2 serve a part: a stage may stand above the slope.".to_owned(),
    ];
    let mut svg = Svg::new(HEIGHT, &format!("{}: {}", measured.chapter, sizes(measured)), &notes);
    plane.draw(&mut svg, pieces.words, &format!("{} per byte that loads and stores ask for", pieces.one));

    let (left, right, bottom) = (plane.area.left, plane.area.right, plane.area.bottom);
    let start = plane.start_of(bytes_per_s);
    let (start, knee) = (plane.at((start, start * bytes_per_s)), plane.at(knee));
    svg.polyline("roof", &[start, knee, if flat.is_some() { (right, knee.1) } else { (knee.0, bottom) }]);
    let mut words = plane.words();
    words.avoid_line(start, knee);
    let mut ends: Vec<(f64, String)> = Vec::new();
    if let Some((rate, name)) = pieces.arithmetic {
        words.avoid_line((left, knee.1), (right, knee.1));
        ends.push((knee.1, format!("{name}: {}", (pieces.words)(rate))));
    } else {
        words.avoid_line(knee, (knee.0, bottom));
    }
    for (name, class, rate) in rivals {
        let (_, y) = plane.at((1.0, rate));
        svg.line(class, (left, y), (right, y));
        words.avoid_line((left, y), (right, y));
        ends.push((y, format!("{name}: {}", (pieces.words)(rate))));
    }
    words.write_ends(&mut svg, right, ends);
    let labels: Vec<Label> =
        dots.iter().map(|(name, dot)| Label { point: plane.at(*dot), text: (*name).to_owned(), class: "" }).collect();
    words.name(&mut svg, &labels);
    labels.iter().for_each(|label| svg.sign(0, label.point));
    let on_slope = (start.0 + (knee.0 - start.0) / 8.0, start.1 + (knee.1 - start.1) / 8.0);
    words.write(&mut svg, on_slope, &format!("memory: {}", units::bandwidth(bytes_per_s)));
    if flat.is_none() {
        let per_pixel = units::significant(measured.work().bytes as f64 / pieces.all);
        words.write(&mut svg, (knee.0, (knee.1 + bottom) / 2.0), &format!("every byte once: {per_pixel} bytes per pixel"));
    }
    Some(svg.end())
}

/// Bytes that the kernels of a stage ask for at the size that was timed. What was counted at another size stands for it: loads grow
/// with the multiply-adds, and stores with the outputs.
pub fn bytes_asked_for(measured: &Record, counted: &Record, name: &str) -> Option<f64> {
    if !same_size(measured, counted) && OF_ITS_SIZE.contains(&name) {
        return None;
    }
    let counters = counted.stages.iter().find(|stage| stage.name == name)?.counters?;
    let multiply_adds = |record: &Record| record.work().multiply_adds as f64;
    let outputs = |record: &Record| multiply_adds(record) / terms(record);
    let loads = counters.global_load_sectors as f64 * multiply_adds(measured) / multiply_adds(counted);
    let stores = counters.global_store_sectors as f64 * outputs(measured) / outputs(counted);
    let bytes = (loads + stores) * SECTOR_BYTES;
    (bytes > 0.0).then_some(bytes)
}

/// Multiply-adds of an output: taps, pixels of a template, or what two matrices have in common.
fn terms(record: &Record) -> f64 {
    let of = |name: &str| size(record, name).map_or(1.0, |size| size as f64);
    of("taps") * of("template_width") * of("template_height") * of("k")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::tests::{counts_of, product};

    fn chart(measured: &Record, counted: &Record) -> Option<String> {
        roofline(("nvidia-h200/06-matmul-tiled", measured), ("sim-h200/06-matmul-tiled", counted))
    }

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
        let svg = chart(&measured, &counts_of(&[("slope", 2.0), ("knee", 15.0), ("flat", 32.0)], 1)).unwrap();
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
        let [whole, part] = [1, 64].map(|part| chart(&measured, &counts_of(&[("tile", 8.0)], part)).unwrap());
        assert_eq!(whole, part);
    }

    #[test]
    fn it_takes_counts_and_ceilings_and_shows_the_library_where_there_is_one() {
        let counted = counts_of(&[("tile", 8.0)], 1);
        let tile = [("tile", 30.0), ("cublas", 45.0)];
        let with_library = chart(&product(&tile, Some(60.0)), &counted).unwrap();
        let without = chart(&product(&tile[..1], Some(60.0)), &counted).unwrap();
        assert!(with_library.contains(">cublas: 45.0 TFLOP/s<") && !without.contains("cublas"), "{without}");
        assert!(chart(&product(&tile, None), &counted).is_none());
        assert!(chart(&product(&tile[1..], Some(60.0)), &counted).is_none(), "nothing that was counted");
    }

    #[test]
    fn where_memory_is_the_ceiling_the_roof_ends_where_every_byte_moves_once() {
        let mut measured = product(&[("tile", 30.0)], Some(60.0));
        let mut counted = counts_of(&[("tile", 8.0)], 1);
        for record in [&mut measured, &mut counted] {
            // One byte per piece of work: the stage asks for a quarter of one, as caches never do, and stands right of the wall.
            record.workload.insert("arithmetic".into(), "integers".into());
            record.workload.insert("least_bytes".into(), record.work().multiply_adds.into());
        }
        let svg = chart(&measured, &counted).unwrap();
        let (dots, roof) = (dots(&svg), roof(&svg));
        assert!(roof[1].0 == roof[2].0 && roof[1].1 < roof[2].1 && dots[0].0 > roof[1].0, "{dots:?} {roof:?}");
        assert!(svg.contains(">every byte once: 1.00 bytes per pixel<") && svg.contains(" Tpixels/s<"), "{svg}");
    }
}
