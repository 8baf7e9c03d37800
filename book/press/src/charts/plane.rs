//! A plane in which both directions count factors: what the stages do per second over what they do per byte.

use super::svg::{MARGIN, Svg, WIDTH};
use super::ticks;
use super::words::{Area, Point, Words};

/// Room for the words of the vertical axis, for those of lines that end on the right, and for those of the horizontal axis.
const LEFT: f64 = 112.0;
const RIGHT: f64 = 156.0;
const BOTTOM: f64 = 46.0;

/// The part of a chart that has axes.
pub struct Plane {
    /// Where it lies.
    pub area: Area,
    /// The ends of both axes.
    intensities: (f64, f64),
    rates: (f64, f64),
}

impl Plane {
    /// A plane that begins at a height of the picture and reaches to its end, with room for all these points and for factors on
    /// their left and on their right.
    pub fn new(top: f64, height: f64, room: (f64, f64), points: &[Point]) -> Self {
        let ends = |of: fn(&Point) -> f64, below: f64, above: f64| {
            let (least, most) = points.iter().map(of).fold((f64::INFINITY, 0.0), |(least, most), it| (it.min(least), it.max(most)));
            (least / below, most * above)
        };
        Self {
            area: Area { left: LEFT, top, right: WIDTH - RIGHT, bottom: height - BOTTOM },
            intensities: ends(|point| point.0, room.0, room.1),
            rates: ends(|point| point.1, 2.0, 1.5),
        }
    }

    /// Where so many pieces per byte and per second stand.
    pub fn at(&self, (intensity, rate): Point) -> Point {
        let part = |value: f64, (low, high): (f64, f64)| (value / low).ln() / (high / low).ln();
        let Area { left, top, right, bottom } = self.area;
        (left + part(intensity, self.intensities) * (right - left), bottom - part(rate, self.rates) * (bottom - top))
    }

    /// Where words may stand: in the plane, and right of it.
    pub fn words(&self) -> Words {
        Words::new(Area { right: WIDTH - MARGIN, ..self.area })
    }

    /// The pieces per byte with which the slope of memory enters the picture.
    pub fn start_of(&self, bytes_per_s: f64) -> f64 {
        self.intensities.0.max(self.rates.0 / bytes_per_s)
    }

    /// The grid, with rates in words, and what the horizontal axis counts.
    pub fn draw(&self, svg: &mut Svg, words: fn(f64) -> String, axis: &str) {
        let Area { left, top, right, bottom } = self.area;
        for tick in ticks(self.rates.0, self.rates.1) {
            let (_, y) = self.at((self.intensities.0, tick));
            svg.line("grid", (left, y), (right, y));
            svg.text("small right", left - 8.0, y + 4.0, &words(tick));
        }
        let (least, most) = self.intensities;
        // Every second power of two where there are many.
        let step = if most / least > 1024.0 { 2 } else { 1 };
        for tick in (-10..16).step_by(step).map(|power| 2_f64.powi(power)).filter(|tick| (least..most).contains(tick)) {
            let (x, _) = self.at((tick, self.rates.0));
            svg.line("grid", (x, top), (x, bottom));
            let words = if tick < 1.0 { format!("1/{}", 1.0 / tick) } else { tick.to_string() };
            svg.text("small middle", x, bottom + 16.0, &words);
        }
        svg.text("small middle", (left + right) / 2.0, bottom + 34.0, axis);
    }
}
