//! Labels for points of a picture, placed so that none covers another one, a sign or a line.

use super::svg::{Svg, width_of};

/// A place in the picture.
pub type Point = (f64, f64);

/// A part of the picture.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    /// Returns true if both have a part in common.
    pub fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    fn contains(&self, other: &Area) -> bool {
        self.left <= other.left && other.right <= self.right && self.top <= other.top && other.bottom <= self.bottom
    }
}

/// Words that belong to a point.
#[derive(Clone, Debug)]
pub struct Label {
    pub point: Point,
    pub text: String,
    /// A class of its letters besides `small`, or nothing.
    pub class: &'static str,
}

/// A layout of labels that overlap no other label, dot, or line.
pub struct Words {
    within: Area,
    taken: Vec<Area>,
}

impl Words {
    /// Height of a line of small print.
    const LINE: f64 = 12.0;
    /// From a point to its words.
    const GAP: f64 = 8.0;

    /// Returns an empty part of a picture, for words that stay inside.
    pub fn new(within: Area) -> Self {
        Self { within, taken: Vec::new() }
    }

    /// Keeps words off a part of the picture.
    pub fn avoid(&mut self, area: Area) {
        self.taken.push(area);
    }

    /// Keeps words off a line.
    pub fn avoid_line(&mut self, from: Point, to: Point) {
        // Pieces so short that the area of each is hardly more than the line.
        const PIECES: u32 = 100;
        let at = |piece: u32| {
            let part = f64::from(piece) / f64::from(PIECES);
            (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
        };
        for ((x1, y1), (x2, y2)) in (0..PIECES).map(|piece| (at(piece), at(piece + 1))) {
            self.avoid(Area { left: x1.min(x2), top: y1.min(y2) - 1.0, right: x1.max(x2), bottom: y1.max(y2) + 1.0 });
        }
    }

    /// Names dots. Dots in the same place share a label, as long as it stays short.
    pub fn name(&mut self, svg: &mut Svg, dots: &[Label]) {
        /// Dots nearer than this look like one.
        const SAME: f64 = 3.0;
        const WIDEST: f64 = 190.0;
        for Label { point: (x, y), .. } in dots {
            self.avoid(Area { left: x - 5.0, top: y - 5.0, right: x + 5.0, bottom: y + 5.0 });
        }
        let mut labels: Vec<Label> = Vec::new();
        for dot in dots {
            let together = |label: &&mut Label| {
                let (x, y) = (dot.point.0 - label.point.0, dot.point.1 - label.point.1);
                x.abs() < SAME && y.abs() < SAME && width_of(&label.text) + width_of(&dot.text) < WIDEST
            };
            match labels.iter_mut().find(together) {
                Some(label) => label.text += &format!(", {}", dot.text),
                None => labels.push(dot.clone()),
            }
        }
        // The first label gets the best place, so a few orders are tried: the best one leaves no label far from its dot.
        let keys: [fn(Point) -> f64; 4] = [|point| point.0, |point| -point.0, |point| point.1, |point| -point.1];
        let orders = keys.map(|key| {
            let mut order = labels.clone();
            order.sort_by(|one, other| key(one.point).total_cmp(&key(other.point)));
            let placed = self.placed(&order);
            let cost: f64 = order.iter().zip(&placed).map(|(label, area)| distance(label.point, area).powi(2)).sum();
            (order, placed, cost)
        });
        let best = orders.into_iter().min_by(|one, other| one.2.total_cmp(&other.2));
        let (order, placed, _) = best.unwrap_or_default();
        order.iter().zip(placed).for_each(|(label, area)| self.put(svg, label, area));
    }

    /// Writes words next to a point, as near as there is room.
    pub fn write(&mut self, svg: &mut Svg, point: Point, text: &str) {
        let label = Label { point, text: text.to_owned(), class: "" };
        let area = self.place(&label, &[]);
        self.put(svg, &label, area);
    }

    /// Finds places for labels, in order.
    fn placed(&self, labels: &[Label]) -> Vec<Area> {
        let mut areas = Vec::new();
        for label in labels {
            areas.push(self.place(label, &areas));
        }
        areas
    }

    /// Returns the nearest free place, or else the usual one. The areas in `more` are not free either.
    fn place(&self, label: &Label, more: &[Area]) -> Area {
        let ((x, y), width) = (label.point, width_of(&label.text));
        let area = |left: f64, middle: f64| Area {
            left,
            top: middle - Self::LINE / 2.0,
            right: left + width,
            bottom: middle + Self::LINE / 2.0,
        };
        let columns = (0..=12).flat_map(|column| {
            let gap = Self::GAP + 12.0 * f64::from(column);
            [x + gap, x - gap - width]
        });
        let columns: Vec<f64> = columns.chain([x - width / 2.0]).collect();
        let rows = (-24..=24).map(|row| y + 5.0 * f64::from(row));
        let areas = rows.flat_map(|middle| columns.iter().map(move |left| area(*left, middle)));
        let mut areas: Vec<Area> = areas.filter(|area| self.within.contains(area)).collect();
        areas.sort_by(|one, other| distance(label.point, one).total_cmp(&distance(label.point, other)));
        let free = |area: &Area| !self.taken.iter().chain(more).any(|taken| taken.overlaps(area));
        areas.into_iter().find(free).unwrap_or_else(|| area(x + Self::GAP, y))
    }

    /// Writes a label in its place. Draws a line to its point if that is not near.
    fn put(&mut self, svg: &mut Svg, label: &Label, area: Area) {
        let (x, y) = label.point;
        let Area { left, top, right, bottom } = area;
        if distance(label.point, &area) > 1.5 * Self::LINE {
            svg.line("lead", (x, y), (x.clamp(left - 2.0, right + 2.0), y.clamp(top, bottom)));
        }
        // Words to the left of their point end there, however wide the reader's letters are.
        let (side, at) = if right < x { (" right", right) } else { ("", left) };
        svg.text(format!("small{side} {}", label.class).trim_end(), at, (top + bottom) / 2.0 + 4.0, &label.text);
        self.taken.push(area);
    }
}

/// Returns the distance from a point to its words. To the side counts as nearer than above or below.
fn distance((x, y): Point, area: &Area) -> f64 {
    let aside = (area.left - x).max(x - area.right).max(0.0);
    let over = ((area.top + area.bottom) / 2.0 - y).abs();
    aside.hypot(over) + over / 4.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> (Words, Svg) {
        (Words::new(Area { left: 0.0, top: 0.0, right: 600.0, bottom: 300.0 }), Svg::new(300.0, "", &[]))
    }

    fn label(point: Point, text: &str) -> Label {
        Label { point, text: text.to_owned(), class: "" }
    }

    #[test]
    fn no_words_lie_on_others_or_on_dots_or_on_lines() {
        let (mut words, mut svg) = empty();
        let places: Vec<Point> = (0..8).map(|index| (300.0 + f64::from(index % 2), 150.0 + 3.0 * f64::from(index))).collect();
        words.avoid_line((0.0, 160.0), (600.0, 160.0));
        words.avoid_line((0.0, 300.0), (600.0, 0.0));
        // Their dots are obstacles, too.
        let obstacles = words.taken.len() + places.len();
        words.name(&mut svg, &places.iter().map(|point| label(*point, "double-buffered")).collect::<Vec<_>>());
        assert_eq!(words.taken.len(), obstacles + places.len());
        for (index, area) in words.taken.iter().enumerate().skip(obstacles) {
            assert!(words.within.contains(area), "{area:?}");
            assert!(!words.taken[..index].iter().any(|other| other.overlaps(area)), "{area:?}");
        }
    }

    #[test]
    fn dots_that_lie_on_each_other_share_their_words() {
        let (mut words, mut svg) = empty();
        let name = "a-name-of-some-length";
        let dots = [((100.0, 100.0), "one"), ((200.0, 100.0), "far"), ((101.0, 99.0), "two"), ((100.0, 101.0), name)];
        words.name(&mut svg, &dots.map(|(point, text)| label(point, text)));
        let svg = svg.end();
        assert!(svg.contains(&format!(">one, two, {name}<")) && svg.contains(">far<"), "{svg}");
        // A line that becomes too long ends.
        let (mut words, mut svg) = empty();
        words.name(&mut svg, &[0; 3].map(|_| label((300.0, 100.0), name)));
        assert_eq!(svg.end().matches("<text").count(), 1 + 3, "a title, and each name by itself");
    }
}
