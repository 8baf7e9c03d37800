//! Shapes of several pictures: boxes with words, rows of cells, and pieces of time.

use super::super::svg::{MARGIN, Svg, WIDTH};

/// A picture, and the sentence below it.
pub struct Picture {
    pub svg: Svg,
    pub caption: String,
}

/// Width of what is inside of the margins.
pub const INNER: f64 = WIDTH - 2.0 * MARGIN;

/// A part of the picture.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// Returns an area with this upper left corner and these extents.
pub const fn area(x: f64, y: f64, width: f64, height: f64) -> Area {
    Area { x, y, width, height }
}

/// Returns the class of small words in the middle of a shape: white where the shape is dark in every theme.
fn class_on(shape: &str) -> &'static str {
    match shape {
        "wanted" | "clash" => "small middle on",
        "idle" => "small middle",
        _ => "small middle ink",
    }
}

/// Draws a rectangle with words in its middle.
pub fn block(svg: &mut Svg, class: &str, Area { x, y, width, height }: Area, words: &str) {
    svg.rect(class, x, y, width, height);
    if !words.is_empty() {
        svg.text(class_on(class), x + width / 2.0, y + height / 2.0 + 4.0, words);
    }
}

/// Shows that a part of the picture is drawn larger below it.
pub fn enlarge(svg: &mut Svg, part: Area, to: Area) {
    let (bottom, right, end) = (part.y + part.height, part.x + part.width, to.x + to.width);
    svg.path("beam", &format!("M{:.1} {bottom:.1}L{right:.1} {bottom:.1}L{end:.1} {:.1}L{:.1} {:.1}z", part.x, to.y, to.x, to.y));
}

/// A horizontal axis of time.
#[derive(Clone, Copy, Debug)]
pub struct Timeline {
    pub left: f64,
    pub right: f64,
    pub length: f64,
}

impl Timeline {
    /// Returns the place of a time.
    pub fn x(&self, time: f64) -> f64 {
        self.left + time / self.length * (self.right - self.left)
    }

    /// Draws a piece of time. Leaves out its words if they do not fit.
    pub fn piece(&self, svg: &mut Svg, class: &str, (from, to): (f64, f64), (y, height): (f64, f64), words: &str) {
        let (x, end) = (self.x(from), self.x(to.min(self.length)));
        let words = if super::super::svg::width_of(words) < end - x { words } else { "" };
        block(svg, class, area(x, y, (end - x - 1.0).max(0.5), height), words);
    }
}
