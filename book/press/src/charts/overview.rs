//! All chapters under one roof: where each begins, where it ends, and where its tensor cores bring it.
//!
//! Arithmetic of all kinds counts alike, a multiply-add as two operations, so that sums of integers and products of floats fit one picture.

use common::record::Record;
use common::units;
use common::workload::Arithmetic;

use super::plane::Plane;
use super::roofline::bytes_asked_for;
use super::svg::{Svg, below};
use super::words::{Label, Point};
use super::{origin, times};
use crate::generated::{H200, SIMULATED_H200};

const HEIGHT: f64 = 560.0;

/// The classes of a chapter's words, in the colours of series.
const COLOURS: [&str; 6] = ["f0", "f1", "f2", "f3", "f4", "f5"];

/// A stage, with its operations per byte that it asks for and per second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dot<'a> {
    stage: &'a str,
    on_tensor_cores: bool,
    place: Point,
}

/// The chapters, in order, each as timed and as counted; `None` without a ceiling for floats.
pub fn overview(pairs: &[(Record, Record)]) -> Option<String> {
    const TOP: f64 = below(4);
    let measured: Vec<&Record> = pairs.iter().map(|(measured, _)| measured).collect();
    // The ceilings of the last run with that arithmetic.
    let ceilings = |arithmetic| measured.iter().rev().find(|record| record.work().arithmetic == arithmetic)?.ceilings;
    let floats = ceilings(Arithmetic::F32)?;
    let bytes = ceilings(Arithmetic::Bytes).and_then(|ceilings| ceilings.byte_multiply_adds);
    let knee = (floats.flops / floats.bytes_per_s, floats.flops);

    let courses: Vec<(&str, Vec<Dot>)> =
        pairs.iter().map(|(measured, counted)| (number(measured), course(&dots(measured, counted)))).collect();
    let places = courses.iter().flat_map(|(_, course)| course.iter().map(|dot| dot.place));
    let plane = Plane::new(TOP, HEIGHT, (4.0, 4.0), &places.chain([knee]).collect::<Vec<_>>());
    let notes = [
        origin(&measured),
        format!("Times: the chapters' records in book/results/{H200}. Bytes: those in book/results/{SIMULATED_H200}, simulated."),
        "Of each chapter the first stage, the fastest one, and the fastest on tensor cores if that is faster still.".to_owned(),
        "A multiply-add counts as two operations, of whatever numbers. L1 and L2 serve a part of the bytes.".to_owned(),
    ];
    let mut svg = Svg::new(HEIGHT, "All chapters: operations per second over operations per byte", &notes);
    let words = |rate: f64| units::flops(rate).replace("FLOP", "op");
    plane.draw(&mut svg, words, "operations per byte that loads and stores ask for");

    let (left, right) = (plane.area.left, plane.area.right);
    let start = plane.start_of(floats.bytes_per_s);
    let (start, knee) = (plane.at((start, start * floats.bytes_per_s)), plane.at(knee));
    svg.polyline("roof", &[start, knee, (right, knee.1)]);
    let mut labels = plane.words();
    labels.avoid_line(start, knee);
    let mut ends = vec![(knee.1, format!("f32: {}", words(floats.flops)))];
    if let Some(rate) = bytes {
        let (_, y) = plane.at((1.0, 2.0 * rate));
        svg.line("limit s1", (left, y), (right, y));
        ends.push((y, format!("dp4a: {}", words(2.0 * rate))));
    }
    ends.iter().for_each(|(y, _)| labels.avoid_line((left, *y), (right, *y)));
    labels.write_ends(&mut svg, right, ends);
    let mut named = Vec::new();
    for (series, (number, course)) in courses.iter().enumerate() {
        let points: Vec<Point> = course.iter().map(|dot| plane.at(dot.place)).collect();
        svg.curve(series, &points);
        points.windows(2).for_each(|pair| labels.avoid_line(pair[0], pair[1]));
        points.iter().for_each(|point| svg.sign(series, *point));
        let class = COLOURS[series.min(COLOURS.len() - 1)];
        let label = |(point, dot): (&Point, &Dot)| Label { point: *point, text: format!("{number} {}", dot.stage), class };
        named.extend(points.iter().zip(course).map(label));
    }
    labels.name(&mut svg, &named);
    let on_slope = (start.0 + (knee.0 - start.0) / 8.0, start.1 + (knee.1 - start.1) / 8.0);
    labels.write(&mut svg, on_slope, &format!("memory: {}", units::bandwidth(floats.bytes_per_s)));
    Some(svg.end())
}

/// A chapter's number, as its name has it.
fn number(record: &Record) -> &str {
    record.chapter.split('-').next().unwrap_or_default()
}

/// The stages that were timed and counted.
fn dots<'a>(measured: &'a Record, counted: &Record) -> Vec<Dot<'a>> {
    let operations = 2.0 * measured.work().multiply_adds as f64;
    let on_tensor_cores = |name: &str| {
        let counters = counted.stages.iter().find(|stage| stage.name == name).and_then(|stage| stage.counters);
        counters.is_some_and(|counters| counters.tensor_multiply_adds > 0)
    };
    let dot = |(stage, ms): (&'a str, f64)| {
        let place = (operations / bytes_asked_for(measured, counted, stage)?, 1e3 * operations / ms);
        Some(Dot { stage, on_tensor_cores: on_tensor_cores(stage), place })
    };
    times(measured).filter_map(dot).collect()
}

/// The first stage, the fastest on the usual cores, and the fastest on tensor cores if that is faster still.
fn course<'a>(dots: &[Dot<'a>]) -> Vec<Dot<'a>> {
    let fastest = |on_tensor_cores| {
        let dots = dots.iter().filter(|dot| dot.on_tensor_cores == on_tensor_cores);
        dots.max_by(|one, other| one.place.1.total_cmp(&other.place.1))
    };
    let mut course: Vec<Dot> = Vec::new();
    for dot in [dots.first(), fastest(false), fastest(true)].into_iter().flatten() {
        if course.last().is_none_or(|last| dot.place.1 > last.place.1) {
            course.push(*dot);
        }
    }
    course
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::tests::{counts_of, product};

    #[test]
    fn a_course_goes_from_the_first_stage_to_the_fastest_and_on_to_the_tensor_cores() {
        let dot = |stage, on_tensor_cores, rate| Dot { stage, on_tensor_cores, place: (1.0, rate) };
        let stages = |dots: &[Dot]| course(dots).iter().map(|dot| dot.stage.to_owned()).collect::<Vec<_>>();
        let [first, best, last] = [dot("first", false, 1.0), dot("best", false, 3.0), dot("last", false, 2.0)];
        assert_eq!(stages(&[first, best, last]), ["first", "best"]);
        assert_eq!(stages(&[first, best, dot("tensor", true, 5.0)]), ["first", "best", "tensor"]);
        assert_eq!(stages(&[first, best, dot("tensor", true, 2.0)]), ["first", "best"]);
        assert_eq!(stages(&[best, last]), ["best"]);
    }

    #[test]
    fn every_chapter_is_there_by_its_number() {
        let stages = [("naive", 5.0), ("tile", 30.0), ("cublas", 45.0)];
        let pair = |chapter: &str| {
            let (mut measured, counted) = (product(&stages, Some(60.0)), counts_of(&[("naive", 0.5), ("tile", 8.0)], 1));
            measured.chapter = chapter.to_owned();
            (measured, counted)
        };
        let svg = overview(&[pair("05-sums"), pair("06-products")]).unwrap();
        // Both chapters' dots lie on each other here.
        assert!(svg.contains(">05 naive, 06 naive<") && svg.contains(">05 tile, 06 tile<"), "{svg}");
        assert!(overview(&[]).is_none());
    }
}
