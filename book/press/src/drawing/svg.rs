//! SVG for pages: rectangles, lines and words. The colors are in `book/drawings.css`, which follows the theme that the reader has chosen.

use std::fmt::Write;

pub use inspect::explain::svg::escape;

/// Width of every chart: that of a page's text.
pub const WIDTH: f64 = 720.0;
/// Room around everything.
pub const MARGIN: f64 = 14.0;

/// Returns a chart's top below this many lines of small print.
pub const fn below(notes: usize) -> f64 {
    43.0 + 15.0 * notes as f64
}

/// An SVG in the making. Coordinates have one decimal, so that no machine rounds them otherwise.
pub struct Svg(String);

impl Svg {
    /// Returns a panel with a title, and notes in small print below. The notes say what is shown.
    pub fn new(height: f64, title: &str, notes: &[String]) -> Self {
        let mut svg = Self::panel(height);
        svg.text("title", MARGIN, 24.0, title);
        for (index, note) in notes.iter().enumerate() {
            svg.text("small", MARGIN, 41.0 + 15.0 * index as f64, note);
        }
        svg
    }

    /// Returns a panel without words.
    pub fn panel(height: f64) -> Self {
        let (panel_width, panel_height) = (WIDTH - 1.0, height - 1.0);
        Self(format!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\n\
             <rect class=\"panel\" x=\"0.5\" y=\"0.5\" width=\"{panel_width}\" height=\"{panel_height}\" rx=\"6\"/>\n"
        ))
    }

    /// Returns a panel that has only a title.
    pub fn titled(height: f64, title: &str) -> Self {
        let mut svg = Self::panel(height);
        svg.text("title", MARGIN, 26.0, title);
        svg
    }

    /// Writes words, in classes of the style sheet.
    // Writing to a string cannot fail.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = writeln!(self.0, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
    }

    /// Draws a rectangle with its upper left corner at a point.
    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = writeln!(
            self.0,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"/>"
        );
    }

    /// Draws rectangles without round corners as one shape: each is its upper left corner, its width and its height.
    pub fn cells(&mut self, class: &str, cells: impl Iterator<Item = (f64, f64, f64, f64)>) {
        let path: String =
            cells.map(|(x, y, width, height)| format!("M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z")).collect();
        let _ = writeln!(self.0, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// Draws a line from one point to another.
    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let _ = writeln!(self.0, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }

    /// Draws a line with a head at its end.
    pub fn arrow(&mut self, from: (f64, f64), to: (f64, f64)) {
        const HEAD: f64 = 6.0;
        let (x, y) = (to.0 - from.0, to.1 - from.1);
        let length = x.hypot(y).max(1.0);
        let (along, across) = ((x / length * HEAD, y / length * HEAD), (-y / length * HEAD / 2.0, x / length * HEAD / 2.0));
        let end = (to.0 - along.0, to.1 - along.1);
        self.line("arrow", from, end);
        let [left, right] = [1.0, -1.0].map(|side| (end.0 + side * across.0, end.1 + side * across.1));
        let _ = writeln!(
            self.0,
            "<path class=\"head\" d=\"M{:.1} {:.1}L{:.1} {:.1}L{:.1} {:.1}z\"/>",
            to.0, to.1, left.0, left.1, right.0, right.1
        );
    }

    /// Draws a shape from a path.
    pub fn path(&mut self, class: &str, path: &str) {
        let _ = writeln!(self.0, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// Adds numbers for a script; nothing is drawn.
    pub fn data(&mut self, class: &str, values: impl Iterator<Item = (&'static str, f64)>) {
        let values: String = values.map(|(name, value)| format!(" data-{name}=\"{value}\"")).collect();
        let _ = writeln!(self.0, "<g class=\"{class}\"{values}></g>");
    }

    /// Draws lines from point to point.
    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.0, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
    }

    /// Draws the sign of a series: a circle, a square, a diamond, a triangle, one upside down, or an upright bar.
    pub fn sign(&mut self, series: usize, (x, y): (f64, f64)) {
        let shape = match series {
            0 => format!("<circle class=\"f0\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
            1 => format!("<rect class=\"f1\" x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"/>", x - 3.5, y - 3.5),
            2 => format!("<path class=\"f2\" d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"/>", y - 5.0),
            3 => format!("<path class=\"f3\" d=\"M{x:.1} {:.1}l5 9h-10z\"/>", y - 5.0),
            4 => format!("<path class=\"f4\" d=\"M{x:.1} {:.1}l5 -9h-10z\"/>", y + 5.0),
            _ => format!("<rect class=\"f5\" x=\"{:.1}\" y=\"{:.1}\" width=\"5\" height=\"11\"/>", x - 2.5, y - 5.5),
        };
        self.0 += &shape;
        self.0.push('\n');
    }

    /// Returns the whole text.
    pub fn end(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// Estimates the width of small print; no text is wider on average.
pub fn width_of(text: &str) -> f64 {
    6.2 * text.chars().count() as f64
}

/// Escapes the characters that mean something in HTML, attributes included.
pub fn escape_all(text: &str) -> String {
    escape(text).replace('"', "&quot;")
}

/// Makes an SVG part of a page, with alternative text. Removes its title, which a browser would show at the pointer, and its style, which
/// would apply to the whole page.
pub fn inline(svg: &str, words: &str) -> String {
    let attribute = |name: &str| {
        let value = svg.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next());
        format!("{name}=\"{}\"", value.unwrap_or_default())
    };
    let size = ["viewBox", "width", "height"].map(attribute).join(" ");
    // The panel is the first thing that is drawn.
    let body = svg[svg.find("<rect").unwrap_or(0)..].replace('\n', " ");
    let body = body.trim_end().trim_end_matches("</svg>").trim();
    let words = escape_all(words);
    format!("<div class=\"drawing\">\n<svg {size} role=\"img\" aria-label=\"{words}\">\n{body}\n</svg>\n</div>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_in_a_page_has_words_and_no_style_of_its_own() {
        let own = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 5\" width=\"9\" height=\"5\" role=\"img\" aria-labelledby=\"title\">\n\
                   <title id=\"title\">a</title>\n<style>\n\n  .a { }\n</style>\n<rect/>\n</svg>\n";
        let expected = "<div class=\"drawing\">\n<svg viewBox=\"0 0 9 5\" width=\"9\" height=\"5\" role=\"img\" \
                        aria-label=\"one &lt; &quot;two&quot;\">\n<rect/>\n</svg>\n</div>";
        assert_eq!(inline(own, "one < \"two\""), expected);
        let mut svg = Svg::new(50.0, "title", &[]);
        svg.line("a", (0.0, 0.0), (1.0, 1.0));
        let inlined = inline(&svg.end(), "words");
        assert!(
            inlined.contains("<svg viewBox=\"0 0 720 50\" width=\"720\" height=\"50\" role=\"img\" aria-label=\"words\">"),
            "{inlined}"
        );
        assert!(inlined.contains(">title</text>") && inlined.ends_with("</svg>\n</div>"), "{inlined}");
    }
}
