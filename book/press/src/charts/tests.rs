//! Charts of records with times and counts made up, and of the real ones.

use std::collections::BTreeMap;

use run::ceilings::Ceilings;
use run::record::Record;
use run::report::Place;
use simt::Counters;

use super::roofline::{Dot, course};
use super::*;
use crate::archive::STALE_NOTE;
use crate::facts::Facts;

const GPU: &str = "nvidia-h200/06-matmul-tiled";
const SIM: &str = "sim-h200/06-matmul-tiled";
const MULTIPLY_ADDS: u64 = 1 << 36;
const K: u64 = 2048;

/// Returns a matrix product's run with these rates and ceiling, in TFLOP/s. The other ceiling is 4 TB/s.
fn product(stages: &[(&str, f64)], ceiling: f64) -> Record {
    let text = std::fs::read_to_string(crate::root().join("book/results/nvidia-h200/06-matmul-tiled.json")).unwrap();
    let mut record = Record::parse(&text).unwrap();
    let pattern = record.stages.iter().find(|stage| stage.place == Place::Device).unwrap().clone();
    let stage = |(name, rate): &(&str, f64)| {
        let mut stage = pattern.clone();
        stage.name = (*name).to_owned();
        stage.median_ms = Some(2e3 * MULTIPLY_ADDS as f64 / (1e12 * rate));
        stage
    };
    record.stages = stages.iter().map(stage).collect();
    for (name, size) in [("m", 4096), ("n", 8192), ("k", K), ("multiply_adds", MULTIPLY_ADDS)] {
        record.workload.insert(name.to_owned(), size.into());
    }
    record.ceilings = Some(Ceilings { flops: 1e12 * ceiling, bytes_per_s: 4e12, byte_multiply_adds: None });
    record
}

/// Returns the simulator's record of stages with these FLOP per byte. It is of a product that is `part` times smaller.
fn counts(stages: &[(&str, f64)], part: u64) -> Record {
    let mut record = product(stages, 60.0);
    record.workload.insert("multiply_adds".into(), (MULTIPLY_ADDS / part).into());
    record.workload.insert("k".into(), (K / part).into());
    for (stage, (_, intensity)) in record.stages.iter_mut().zip(stages) {
        let sectors = (2.0 * MULTIPLY_ADDS as f64 / intensity / 32.0) as u64;
        let stores = sectors / 4;
        // With a part of `k` there are just as many outputs to store.
        let loads = (sectors - stores) / part;
        let tensor_multiply_adds = u64::from(stage.name.starts_with("tensor"));
        let counters =
            Counters { global_load_sectors: loads, global_store_sectors: stores, tensor_multiply_adds, ..Counters::default() };
        (stage.median_ms, stage.counters) = (None, Some(counters));
    }
    record
}

fn archive(records: impl IntoIterator<Item = (&'static str, Record)>) -> Archive {
    Archive::of(records.into_iter().map(|(name, record)| (name.to_owned(), record)).collect::<BTreeMap<_, _>>())
}

fn chart(archive: &Archive, text: &str) -> Result<String> {
    let mut arguments = Arguments::parse(text)?;
    let chart = draw(archive, &mut arguments)?;
    arguments.finish()?;
    Ok(chart)
}

/// Returns the number called `name` in an element that starts with `element`.
fn number(svg: &str, element: &str, name: &str) -> f64 {
    let rest = svg.split(element).nth(1).unwrap_or_else(|| panic!("no {element} in {svg}"));
    rest.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
}

/// Returns the points of a line.
fn points(svg: &str, class: &str) -> Vec<(f64, f64)> {
    let line = svg.split(&format!("<polyline class=\"{class}\" points=\"")).nth(1).unwrap();
    let points = line.split('"').next().unwrap().split(' ').map(|point| point.split_once(',').unwrap());
    points.map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).collect()
}

/// Returns the centers of the dots.
fn dots(svg: &str) -> Vec<(f64, f64)> {
    svg.split_inclusive("/>")
        .filter(|dot| dot.contains("<circle"))
        .map(|dot| (number(dot, "<circle", "cx"), number(dot, "<circle", "cy")))
        .collect()
}

#[test]
fn bars_are_as_long_as_their_values_and_marks_are_where_they_belong() {
    let archive = archive([(GPU, product(&[("half", 30.0), ("cublas", 45.0)], 60.0))]);
    let times = chart(&archive, &format!("times {GPU}")).unwrap();
    let bar = |svg: &str, name: &str| {
        let stage = format!(">{name}</text>");
        (number(svg, &stage, "x"), number(svg, &stage, "width"))
    };
    assert!((bar(&times, "half").1 / bar(&times, "cublas").1 - 1.5).abs() < 0.01, "{times}");
    let shares = chart(&archive, &format!("shares {GPU} rival=cublas")).unwrap();
    let ((start, half), mark) = (bar(&shares, "half"), number(&shares, "<line class=\"limit\"", "x1"));
    assert!((2.0 * half - (mark - start)).abs() < 0.3, "{shares}");
    assert!((start + bar(&shares, "cublas").1 - number(&shares, "<line class=\"limit s1\"", "x1")).abs() < 0.3);
}

#[test]
fn a_stage_is_compared_with_the_library_on_the_same_cores() {
    let stages = [("half", 30.0), ("tensor", 240.0), ("cublas", 45.0), ("cublas-tf32", 300.0)];
    let archive = archive([(GPU, product(&stages, 60.0)), (SIM, counts(&stages[..2], 1))]);
    let svg = chart(&archive, &format!("shares {GPU} rival=cublas tensor-rival=cublas-tf32")).unwrap();
    for text in [">30.0 TFLOP/s<", ">50.0 %<", ">66.7 %<", ">240 TFLOP/s<", ">80.0 % (tf32)<", ">500 %<"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    // Both are far beyond the picture: cut, and without a mark.
    assert_eq!(svg.matches("class=\"cut\"").count(), 2);
    let without = chart(&archive, &format!("shares {GPU}")).unwrap();
    assert!(!without.contains("cuBLAS"), "{without}");
}

#[test]
fn a_stage_that_memory_feeds_is_on_the_slope_and_one_at_the_ceiling_on_the_flat() {
    // The ceilings are 60 TFLOP/s and 4 TB/s, with their knee at 15 FLOP per byte.
    let measured = product(&[("slope", 8.0), ("knee", 60.0), ("flat", 60.0), ("cublas", 45.0)], 60.0);
    let archive = archive([(GPU, measured), (SIM, counts(&[("slope", 2.0), ("knee", 15.0), ("flat", 32.0)], 1))]);
    let svg = chart(&archive, &format!("roofline {GPU} rivals=cublas")).unwrap();
    let (dots, roof) = (dots(&svg), points(&svg, "roof"));
    let near = |one: (f64, f64), other: (f64, f64)| (one.0 - other.0).abs() < 0.3 && (one.1 - other.1).abs() < 0.3;
    let [start, knee, end] = roof[..] else { panic!("{roof:?}") };
    assert!(dots.len() == 3 && near(dots[1], knee), "{dots:?} {roof:?}");
    assert!((dots[2].1 - end.1).abs() < 0.3 && knee.0 < dots[2].0 && dots[2].0 < end.0, "{dots:?} {roof:?}");
    let along = (dots[0].0 - start.0) / (knee.0 - start.0);
    assert!((0.0..1.0).contains(&along) && near(dots[0], (dots[0].0, start.1 + along * (knee.1 - start.1))), "{dots:?} {roof:?}");
    assert!(svg.contains(">cublas: 45.0 TFLOP/s<"), "{svg}");
}

#[test]
fn a_stage_that_a_cache_feeds_is_on_the_slope_of_that_cache() {
    let facts = Facts::read().unwrap();
    let rate = |level: &str| facts.value("h200_caches", level).unwrap().value / 1e12;
    let (near, far) = (rate("l1"), rate("l2"));
    let measured = product(&[("near", 1.5 * near), ("far", 1.5 * far)], 60.0);
    let archive = archive([(GPU, measured), (SIM, counts(&[("near", 1.5), ("far", 1.5)], 1))]);
    let svg = chart(&archive, &format!("roofline {GPU}")).unwrap();
    let knee = points(&svg, "roof")[1];
    let slopes = svg.split("<polyline").filter(|line| line.starts_with(" class=\"slope\"")).map(|line| format!("<polyline{line}"));
    let slopes: Vec<_> = slopes.map(|line| points(&line, "slope")).collect();
    assert_eq!(slopes.len(), 2, "{svg}");
    for (dot, slope) in dots(&svg).into_iter().zip(slopes) {
        let [start, bend, end] = slope[..] else { panic!("{slope:?}") };
        let along = (dot.0 - start.0) / (bend.0 - start.0);
        assert!((0.0..1.0).contains(&along), "{dot:?} {slope:?}");
        assert!((dot.1 - (start.1 + along * (bend.1 - start.1))).abs() < 0.3, "{dot:?} {slope:?}");
        assert!(end == knee && bend.1 == knee.1, "{slope:?} {knee:?}");
    }
}

#[test]
fn counts_at_a_smaller_size_make_the_same_picture() {
    let svg = |part| {
        let archive = archive([(GPU, product(&[("tile", 30.0)], 60.0)), (SIM, counts(&[("tile", 8.0)], part))]);
        chart(&archive, &format!("roofline {GPU}")).unwrap()
    };
    assert_eq!(svg(1), svg(64));
}

#[test]
fn where_memory_is_the_ceiling_the_roof_ends_where_every_byte_moves_once() {
    let mut records = [product(&[("tile", 30.0)], 60.0), counts(&[("tile", 8.0)], 1)];
    for record in &mut records {
        // One byte per pixel: the stage asks for a quarter of one, as caches never do, and is right of the wall.
        record.workload.insert("arithmetic".into(), "integers".into());
        record.workload.insert("least_bytes".into(), record.work().multiply_adds.into());
    }
    let [measured, counted] = records;
    let svg = chart(&archive([(GPU, measured), (SIM, counted)]), &format!("roofline {GPU}")).unwrap();
    let (dots, roof) = (dots(&svg), points(&svg, "roof"));
    assert!(roof[1].0 == roof[2].0 && roof[1].1 < roof[2].1 && dots[0].0 > roof[1].0, "{dots:?} {roof:?}");
    assert!(svg.contains(">every byte once: 1.00 bytes per pixel<") && svg.contains(" Tpixels/s<"), "{svg}");
}

#[test]
fn a_course_goes_from_the_first_stage_to_the_fastest_and_on_to_the_tensor_cores() {
    let dot = |stage, on_tensor_cores, rate| Dot { stage, on_tensor_cores, point: (1.0, rate) };
    let stages = |dots: &[Dot]| course(dots).iter().map(|dot| dot.stage.to_owned()).collect::<Vec<_>>();
    let [first, best, last] = [dot("first", false, 1.0), dot("best", false, 3.0), dot("last", false, 2.0)];
    assert_eq!(stages(&[first, best, last]), ["first", "best"]);
    assert_eq!(stages(&[first, best, dot("tensor", true, 5.0)]), ["first", "best", "tensor"]);
    assert_eq!(stages(&[first, best, dot("tensor", true, 2.0)]), ["first", "best"]);
    assert_eq!(stages(&[best, last]), ["best"]);
}

#[test]
fn a_curve_joins_the_runs_that_differ_in_one_size() {
    let square = |side: u64, rate: f64| {
        let mut record = product(&[("tile", rate / 2.0), ("other", rate / 4.0), ("cublas", rate)], 60.0);
        for name in ["m", "n", "k"] {
            record.workload.insert(name.to_owned(), side.into());
        }
        record
    };
    let mut clamped = square(2048, 40.0);
    clamped.workload.insert("border".into(), "clamp".into());
    let names = ["nvidia-h200/06-matmul-tiled.512", "nvidia-h200/06-matmul-tiled.1024", "nvidia-h200/06-matmul-tiled.clamp"];
    let mut records =
        vec![(GPU, square(4096, 60.0)), (names[0], square(512, 15.0)), (names[1], square(1024, 30.0)), (names[2], clamped)];
    records.push(("nvidia-h200/06-matmul-tiled.narrow", product(&[("cublas", 45.0)], 60.0)));
    let directive = format!("growth {GPU} over=side y=rate stages=cublas rest=\"the fastest other\"");
    let svg = chart(&archive(records), &directive).unwrap();
    assert!(svg.contains("square matrices of 512 to 4096 rows") && svg.contains(">3 records of book/results/"), "{svg}");
    let (rest, cublas, ceiling) = (points(&svg, "line s0"), points(&svg, "line s1"), points(&svg, "limit")[0].1);
    let zero = number(&svg, "<text class=\"small right\"", "y") - 4.0;
    for (one, share) in cublas.iter().chain(&rest).zip([0.25, 0.5, 1.0, 0.125, 0.25, 0.5]) {
        assert!(((zero - one.1) / (zero - ceiling) - share).abs() < 0.001, "{svg}");
    }
    assert!(cublas[0].0 < cublas[1].0 && cublas[1].0 < cublas[2].0);
}

#[test]
fn a_stale_stage_is_marked_in_every_chart() {
    let archive = Archive::read().unwrap().judged_by(|_, stage| stage == "shared");
    let run = "nvidia-h200/03-unroll";
    for text in [
        format!("times {run}"),
        format!("shares {run}"),
        format!("roofline {run}"),
        format!("growth {run} over=taps stages=shared,fft"),
    ] {
        let svg = chart(&archive, &text).unwrap();
        assert!(svg.contains("shared †") && svg.contains(STALE_NOTE), "{text}: {svg}");
    }
    assert!(chart(&archive, "overview nvidia-h200").unwrap().contains("03 shared †"));
}
