//! Images and matrices: the block's part, its warp's over it, and its thread's over that, with the parts of the neighboring blocks outlined.

use super::footprint::{Footprint, Who, grouped};
use super::svg::{MARGIN, Svg, WIDTH, below, width_of};
use super::trace::{Array, Elements};

/// Between an array and the next one, with room for a name.
const GAP: f64 = 26.0;
/// The least width and height of a part. A thinner one could not be seen.
const THINNEST: f64 = 1.5;
/// The largest element.
const LARGEST: f64 = 8.0;
/// The height of a product, at most.
const HIGHEST: f64 = 520.0;
/// A row of an image that has few of them.
const HIGH_ROW: f64 = 12.0;
/// The legend's height.
const LEGEND: f64 = 28.0;

/// An array with its place and the size of its elements.
struct Plane<'a> {
    footprint: &'a Footprint,
    /// The words above it.
    label: String,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// Draws images, one below the other.
pub fn stacked(who: &Who, footprints: &[Footprint], title: &str, captions: &[String]) -> String {
    let widest = footprints.iter().map(|footprint| footprint.array.columns).max().unwrap_or(1);
    let width = ((WIDTH - 2.0 * MARGIN) / widest as f64).min(LARGEST);
    let mut y = below(captions.len()) - 14.0;
    let mut planes = Vec::new();
    for footprint in footprints {
        let height = if footprint.array.rows as f64 * width < 4.0 * HIGH_ROW { HIGH_ROW } else { width };
        let Array { name, columns, rows, elements: [_, elements], .. } = &footprint.array;
        let label = format!("{name}: {} x {} {elements}", grouped(*columns), grouped(*rows));
        planes.push(Plane { footprint, label, left: MARGIN, top: y + GAP, width, height });
        y += GAP + footprint.array.rows as f64 * height;
    }
    draw(who, &planes, y, title, captions)
}

/// Returns the matrices of a product: A to the left of C, and B above it, so that rows and columns that meet are in line.
pub fn product(who: &Who, footprints: &[Footprint], title: &str, captions: &[String]) -> String {
    let [a, b, c] = footprints else { return stacked(who, footprints, title, captions) };
    let across = (WIDTH - 2.0 * MARGIN - GAP) / (a.array.columns + c.array.columns) as f64;
    let size = across.min(HIGHEST / (b.array.rows + c.array.rows) as f64).min(LARGEST);
    let top = below(captions.len()) - 14.0 + GAP;
    let left = MARGIN + a.array.columns as f64 * size + GAP;
    let below_b = top + b.array.rows as f64 * size + GAP;
    let planes = [matrix(a, MARGIN, below_b, size), matrix(b, left, top, size), matrix(c, left, below_b, size)];
    draw(who, &planes, below_b + c.array.rows as f64 * size, title, captions)
}

fn matrix(footprint: &Footprint, left: f64, top: f64, size: f64) -> Plane<'_> {
    let Array { name, rows, columns, .. } = &footprint.array;
    Plane { footprint, label: format!("{name}: {rows} x {columns}"), left, top, width: size, height: size }
}

fn draw(who: &Who, planes: &[Plane<'_>], bottom: f64, title: &str, captions: &[String]) -> String {
    let mut svg = Svg::new(bottom + LEGEND + MARGIN, title, captions);
    for plane in planes {
        plane.draw(&mut svg);
    }
    let mut x = MARGIN;
    let [warp, thread] = who.names();
    for (class, name) in [("block", "the block"), ("warp", &warp), ("thread", &thread), ("beside", "a block beside it")] {
        svg.rect(class, x, bottom + 14.0, 14.0, 14.0);
        svg.text("small", x + 20.0, bottom + 25.0, name);
        x += 44.0 + width_of(name);
    }
    svg.end()
}

impl Plane<'_> {
    fn draw(&self, svg: &mut Svg) {
        let Footprint { array, block, warp, thread, beside } = self.footprint;
        let Array { rows, columns, .. } = array;
        svg.text("small", self.left, self.top - 7.0, &self.label);
        for (class, part) in [("block", block), ("warp", warp), ("thread", thread)] {
            let cells = rectangles(&part.all(), *columns);
            svg.cells(class, cells.iter().map(|cell| self.place(cell)));
        }
        for part in beside {
            if let Some(around) = around(&rectangles(&part.all(), *columns)) {
                let (x, y, width, height) = self.place(&around);
                svg.rect("beside", x, y, width, height);
            }
        }
        svg.rect("outline", self.left, self.top, *columns as f64 * self.width, *rows as f64 * self.height);
    }

    fn place(&self, cell: &Rectangle) -> (f64, f64, f64, f64) {
        let width = ((cell.right - cell.left) as f64 * self.width).max(THINNEST);
        let height = ((cell.bottom - cell.top) as f64 * self.height).max(THINNEST);
        (self.left + cell.left as f64 * self.width, self.top + cell.top as f64 * self.height, width, height)
    }
}

/// Columns and rows, from the first to the one after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rectangle {
    left: u64,
    top: u64,
    right: u64,
    bottom: u64,
}

/// Groups elements as rectangles: runs of a row, and equal runs below each other.
fn rectangles(elements: &Elements, columns: u64) -> Vec<Rectangle> {
    let mut done: Vec<Rectangle> = Vec::new();
    let mut row: Vec<Rectangle> = Vec::new();
    for element in elements {
        let (x, y) = (element % columns, element / columns);
        match row.last_mut() {
            Some(last) if last.top == y && last.right == x => last.right += 1,
            _ => row.push(Rectangle { left: x, top: y, right: x + 1, bottom: y + 1 }),
        }
    }
    for run in row {
        let above = done.iter_mut().rev().find(|above| (above.left, above.right, above.bottom) == (run.left, run.right, run.top));
        match above {
            Some(above) => above.bottom = run.bottom,
            None => done.push(run),
        }
    }
    done
}

/// Returns the smallest rectangle around all of them.
fn around(rectangles: &[Rectangle]) -> Option<Rectangle> {
    rectangles.iter().copied().reduce(|one, other| Rectangle {
        left: one.left.min(other.left),
        top: one.top.min(other.top),
        right: one.right.max(other.right),
        bottom: one.bottom.max(other.bottom),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_elements_are_one_rectangle() {
        // In rows of five: `.##.#`, `.##..`, `...##`.
        let elements = [1, 2, 4, 6, 7, 13, 14].into_iter().collect();
        let rectangle = |left, top, right, bottom| Rectangle { left, top, right, bottom };
        let expected = [rectangle(1, 0, 3, 2), rectangle(4, 0, 5, 1), rectangle(3, 2, 5, 3)];
        assert_eq!(rectangles(&elements, 5), expected);
        assert_eq!(around(&expected), Some(rectangle(1, 0, 5, 3)));
    }
}
