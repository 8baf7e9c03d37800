//! Arrays of one dimension: under each the parts of the block before, of the block, its warp and its thread, and of the block after.

use super::footprint::{Footprint, Who, grouped};
use super::svg::{MARGIN, Svg, WIDTH, below, width_of};
use super::trace::{Elements, Layout, runs};

/// Room for the names of parts.
const NAMES: f64 = 72.0;
/// From one part to the next.
const STEP: f64 = 15.0;
const BAR: f64 = 9.0;
/// Room above the first part for the array's name, ends, and length.
const HEAD: f64 = 34.0;
/// The least width of a part. A thinner one could not be seen.
const THINNEST: f64 = 1.5;

pub fn draw(who: &Who, footprints: &[Footprint], title: &str, captions: &[String]) -> String {
    let parts = 3 + who.beside(Layout::Strips).len();
    let top = below(captions.len()) - 2.0;
    let height = top + footprints.len() as f64 * (HEAD + parts as f64 * STEP) + 4.0;
    let mut svg = Svg::new(height, title, captions);
    let mut y = top;
    for footprint in footprints {
        strip(&mut svg, y, who, footprint);
        y += HEAD + parts as f64 * STEP;
    }
    svg.end()
}

/// Draws an array with its parts.
fn strip(svg: &mut Svg, top: f64, who: &Who, footprint: &Footprint) {
    let array = &footprint.array;
    let scale = (WIDTH - 2.0 * MARGIN - NAMES) / array.len() as f64;
    let left = MARGIN + NAMES;
    let [_, elements] = array.elements;
    let width = array.len() as f64 * scale;
    svg.text("right", left - 8.0, top + 18.0, array.name);
    svg.rect("outline", left, top + 10.0, width, BAR);
    svg.text("small middle", left + width / 2.0, top + 29.0, &format!("{} {elements}", grouped(array.len())));
    svg.text("small", left, top + 29.0, "0");
    svg.text("small right", left + width, top + 29.0, &grouped(array.len() - 1));
    let (block, neighbors) = (who.block(Layout::Strips), who.beside(Layout::Strips));
    let beside = |after: bool| {
        let blocks = neighbors.iter().zip(&footprint.beside).filter(move |(other, _)| (other.x > block.x) == after);
        blocks.map(|(block, part)| ("other", format!("block {}", block.x), part.all()))
    };
    let [warp, thread] = who.names();
    let own = [
        ("block", format!("block {}", block.x), footprint.block.all()),
        ("warp", warp, footprint.warp.all()),
        ("thread", thread, footprint.thread.all()),
    ];
    let mut y = top + HEAD;
    for (class, name, elements) in beside(false).chain(own).chain(beside(true)) {
        svg.text("small right", left - 8.0, y + 9.0, &name);
        let runs = runs(&elements);
        let bars = runs.iter().map(|run| {
            let width = ((run.end - run.start) as f64 * scale).max(THINNEST);
            (left + run.start as f64 * scale, y, width, BAR)
        });
        svg.cells(class, bars);
        if let (Some(first), Some(last)) = (runs.first(), runs.last()) {
            let words = describe(&elements);
            let (start, end) = (left + first.start as f64 * scale, left + last.end as f64 * scale);
            if end + 8.0 + width_of(&words) < WIDTH - MARGIN {
                svg.text("small", end + 6.0, y + 9.0, &words);
            } else if start - 8.0 - width_of(&words) > left {
                svg.text("small right", start - 6.0, y + 9.0, &words);
            }
        }
        y += STEP;
    }
}

/// Says how many elements there are, and which.
fn describe(elements: &Elements) -> String {
    let number = grouped(elements.len() as u64);
    let (Some(first), Some(last)) = (elements.first(), elements.last()) else { return number };
    let [first_name, last_name] = [first, last].map(|element| grouped(*element));
    if elements.len() == 1 {
        return format!("1: {first_name}");
    }
    let steps = elements.iter().zip(elements.iter().skip(1)).map(|(one, next)| next - one);
    match steps.clone().min().filter(|step| Some(*step) == steps.max()) {
        Some(1) => format!("{number}: {first_name} to {last_name}"),
        Some(_) if elements.len() == 2 => format!("2: {first_name} and {last_name}"),
        Some(step) => format!("{number}: every {step}th from {first_name} to {last_name}"),
        None => format!("{number} in {} runs from {first_name} to {last_name}", runs(elements).len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_told_by_their_order() {
        for (elements, expected) in [
            (vec![7], "1: 7"),
            (vec![7, 9], "2: 7 and 9"),
            (vec![7, 8], "2: 7 to 8"),
            ((10_000..10_064).collect(), "64: 10 000 to 10 063"),
            (vec![1, 65, 129], "3: every 64th from 1 to 129"),
            (vec![1, 2, 9], "3 in 2 runs from 1 to 9"),
        ] {
            assert_eq!(describe(&elements.into_iter().collect()), expected);
        }
    }
}
