//! Points, lines and labels between two axes.

use crate::drawing::svg::{MARGIN, Svg, WIDTH, below, width_of};
use crate::drawing::words::{Area, Label, Point, Words};

/// Room for the labels at the right ends of lines.
const RIGHT: f64 = 164.0;
/// Room for the words of the horizontal axis.
const BOTTOM: f64 = 46.0;
/// Vertical distance between labels at the ends of lines.
const STEP: f64 = 16.0;

#[derive(Clone, Copy)]
pub struct Axis {
    pub ends: (f64, f64),
    /// True if equal distances are equal factors.
    pub by_factors: bool,
}

impl Axis {
    /// Makes a logarithmic axis for all values. The factors `below` and `above` leave room at its ends.
    pub fn by_factors(values: impl Iterator<Item = f64>, below: f64, above: f64) -> Self {
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
        Self { ends: (least / below, most * above), by_factors: true }
    }

    pub fn from_zero(end: f64) -> Self {
        Self { ends: (0.0, end), by_factors: false }
    }

    /// Returns the position of a value, from 0 to 1.
    fn part(self, value: f64) -> f64 {
        let (low, high) = self.ends;
        if self.by_factors { (value / low).ln() / (high / low).ln() } else { (value - low) / (high - low) }
    }

    /// Returns values to name: one, two and five times every power of ten, or about seven equal steps.
    pub fn ticks(self) -> Vec<f64> {
        let (low, high) = self.ends;
        let round = |low: f64| {
            let all = (-4..16).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
            all.filter(move |tick| (low..high).contains(tick))
        };
        if self.by_factors {
            return round(low).collect();
        }
        let step = round(high / 12.0).next().unwrap_or(high);
        (0..).map(|index| f64::from(index) * step).take_while(|tick| *tick < high).collect()
    }

    /// Returns the powers of two on the axis, with their labels. If there are many, returns every second one.
    pub fn powers_of_two(self) -> Vec<(f64, String)> {
        let (low, high) = self.ends;
        let step = if high / low > 1024.0 { 2 } else { 1 };
        let ticks = (-10..16).step_by(step).map(|power| 2_f64.powi(power)).filter(|tick| (low..high).contains(tick));
        ticks.map(|tick| (tick, if tick < 1.0 { format!("1/{}", 1.0 / tick) } else { tick.to_string() })).collect()
    }
}

pub struct Frame {
    pub title: String,
    pub notes: Vec<String>,
    pub height: f64,
    /// The horizontal axis, its named values, and what it counts.
    pub x: Axis,
    pub x_ticks: Vec<(f64, String)>,
    pub x_name: String,
    pub y: Axis,
    /// Its values in words.
    pub y_words: fn(f64) -> String,
}

/// A plot in the making. Places are values on both axes.
pub struct Plot {
    svg: Svg,
    area: Area,
    pub axes: (Axis, Axis),
    words: Words,
    /// Labels at the right ends of lines: height, series and text.
    ends: Vec<(f64, Option<usize>, String)>,
    dots: Vec<(usize, Label)>,
    remarks: Vec<(Point, String)>,
}

impl Plot {
    pub fn new(frame: Frame) -> Self {
        let Frame { title, notes, height, x, x_ticks, x_name, y, y_words } = frame;
        let y_ticks: Vec<(f64, String)> =
            y.ticks().into_iter().map(|tick| (tick, if tick == 0.0 { "0".to_owned() } else { y_words(tick) })).collect();
        let left = MARGIN + 8.0 + y_ticks.iter().map(|(_, words)| width_of(words)).fold(0.0, f64::max);
        let area = Area { left, top: below(notes.len()) + 8.0, right: WIDTH - RIGHT, bottom: height - BOTTOM };
        let words = Words::new(Area { right: WIDTH - MARGIN, ..area });
        let svg = Svg::new(height, &title, &notes);
        let mut plot = Self { svg, area, axes: (x, y), words, ends: Vec::new(), dots: Vec::new(), remarks: Vec::new() };
        for (tick, words) in y_ticks {
            let (_, at) = plot.at((x.ends.1, tick));
            plot.svg.line("grid", (left, at), (area.right, at));
            plot.svg.text("small right", left - 8.0, at + 4.0, &words);
        }
        for (tick, words) in x_ticks {
            let (at, _) = plot.at((tick, y.ends.1));
            plot.svg.line("grid", (at, area.top), (at, area.bottom));
            plot.svg.text("small middle", at, area.bottom + 16.0, &words);
        }
        plot.svg.text("small middle", (left + area.right) / 2.0, area.bottom + 34.0, &x_name);
        plot
    }

    /// Records where the axes are, for the page's script. `more` is what the script needs to add the reader's point.
    pub fn describe(&mut self, more: &[(&'static str, f64)]) {
        let Area { left, top, right, bottom } = self.area;
        let (x, y) = (self.axes.0.ends, self.axes.1.ends);
        let ends = [("left", left), ("top", top), ("right", right), ("bottom", bottom)];
        let values = [("x0", x.0), ("x1", x.1), ("y0", y.0), ("y1", y.1)];
        self.svg.data("axes", ends.iter().chain(&values).chain(more).copied());
    }

    /// Returns the point of a pair of values.
    fn at(&self, (x, y): Point) -> Point {
        let Area { left, top, right, bottom } = self.area;
        (left + self.axes.0.part(x) * (right - left), bottom - self.axes.1.part(y) * (bottom - top))
    }

    /// Draws lines from point to point, which words keep off.
    pub fn line(&mut self, class: &str, points: &[Point]) {
        let points: Vec<Point> = points.iter().map(|point| self.at(*point)).collect();
        self.svg.polyline(class, &points);
        points.windows(2).for_each(|pair| self.words.avoid_line(pair[0], pair[1]));
    }

    /// Draws a line across the plot, with words at its right end.
    pub fn level(&mut self, class: &str, y: f64, text: String) {
        self.line(class, &[(self.axes.0.ends.0, y), (self.axes.0.ends.1, y)]);
        self.label_end(y, None, text);
    }

    /// Labels the right end of a line that ends at `y`.
    pub fn label_end(&mut self, y: f64, series: Option<usize>, text: String) {
        self.ends.push((self.at((self.axes.0.ends.1, y)).1, series, text));
    }

    /// Draws a curve in its series' color, with a marker per point. Writes its name at its end.
    pub fn curve(&mut self, series: usize, points: &[Point], name: String) {
        let Some((_, y)) = points.last() else { return };
        self.line(&format!("line s{series}"), points);
        points.iter().for_each(|point| self.svg.sign(series, self.at(*point)));
        self.label_end(*y, Some(series), name);
    }

    /// Draws a marker with a name next to it. The name may have the series' color.
    pub fn dot(&mut self, series: usize, point: Point, text: String, class: &'static str) {
        self.dots.push((series, Label { point: self.at(point), text, class }));
    }

    /// Writes words at a point, as near as there is room: part of the way from the point to another one.
    pub fn remark(&mut self, from: Point, to: Point, part: f64, text: String) {
        let (from, to) = (self.at(from), self.at(to));
        self.remarks.push(((from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1)), text));
    }

    /// Places all words and ends the picture.
    pub fn end(self) -> String {
        let Self { mut svg, area, mut words, mut ends, dots, remarks, .. } = self;
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        let heights = spread(&ends.iter().map(|end| end.0).collect::<Vec<_>>(), area.bottom);
        for ((_, series, text), at) in ends.iter().zip(heights) {
            if let Some(series) = series {
                svg.sign(*series, (area.right + 14.0, at));
            }
            let left = area.right + if series.is_some() { 24.0 } else { 8.0 };
            svg.text("small", left, at + 4.0, text);
            words.avoid(Area { left, top: at - STEP / 2.0, right: WIDTH, bottom: at + STEP / 2.0 });
        }
        words.name(&mut svg, &dots.iter().map(|(_, label)| label.clone()).collect::<Vec<_>>());
        dots.iter().for_each(|(series, label)| svg.sign(*series, label.point));
        remarks.iter().for_each(|(point, text)| words.write(&mut svg, *point, text));
        svg.end()
    }
}

/// Moves labels apart and keeps them above the bottom. `wanted` has their heights, sorted from the top.
fn spread(wanted: &[f64], bottom: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    for index in 1..places.len() {
        places[index] = places[index].max(places[index - 1] + STEP);
    }
    let mut below = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(below);
        below = *place - STEP;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_at_the_ends_of_lines_make_room_for_each_other() {
        assert_eq!(spread(&[100.0, 104.0, 300.0], 374.0), [100.0, 116.0, 300.0]);
        assert_eq!(spread(&[370.0, 374.0], 374.0), [358.0, 374.0]);
    }

    #[test]
    fn equal_distances_are_equal_factors_or_equal_steps() {
        let axis = Axis::by_factors([2.0, 32.0].into_iter(), 2.0, 2.0);
        assert_eq!(axis.ends, (1.0, 64.0));
        assert!((axis.part(8.0) - 0.5).abs() < 1e-12);
        assert_eq!(axis.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(
            axis.powers_of_two().iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>(),
            ["1", "2", "4", "8", "16", "32"]
        );
        assert_eq!(Axis::from_zero(64.0).ticks(), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0]);
        assert_eq!(Axis::from_zero(64.0).part(16.0), 0.25);
    }
}
