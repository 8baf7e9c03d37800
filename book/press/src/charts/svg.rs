//! The drawing of charts: rectangles, lines and words, and colours for light and for dark pages.

use std::fmt::Write;

/// The media query follows the page, where the browser tells an image the colour scheme of the page that it stands on, and otherwise the
/// system; the panel behind is opaque, so that a chart is readable on any page. The series have colours that people with any colour
/// vision tell apart, and signs besides.
const STYLE: &str = "
  .panel { fill: #ffffff; stroke: #d0d7de; }
  text { font-family: system-ui, sans-serif; font-size: 12px; fill: #1f2328; }
  .title { font-weight: 600; font-size: 13px; }
  .small { fill: #59636e; font-size: 11px; }
  .right { text-anchor: end; } .middle { text-anchor: middle; }
  .grid { stroke: #d8dee4; stroke-width: 1; }
  .limit { stroke: #b3261e; stroke-width: 1.5; stroke-dasharray: 5 4; }
  .lead { stroke: #8c959f; stroke-width: 0.75; }
  .roof { fill: none; stroke: #1f2328; stroke-width: 2; }
  .bar { fill: #0550ae; }
  .cut { stroke: #ffffff; stroke-width: 4; }
  .line { fill: none; stroke-width: 2; }
  .s0 { stroke: #0550ae; } .s1 { stroke: #bc4c00; } .s2 { stroke: #8250df; } .s3 { stroke: #1a7f37; }
  .s4 { stroke: #6e7781; } .s5 { stroke: #bf3989; }
  .f0 { fill: #0550ae; } .f1 { fill: #bc4c00; } .f2 { fill: #8250df; } .f3 { fill: #1a7f37; }
  .f4 { fill: #6e7781; } .f5 { fill: #bf3989; }
  @media (prefers-color-scheme: dark) {
    .panel { fill: #161b22; stroke: #3d444d; }
    text { fill: #e6edf3; }
    .small { fill: #9198a1; }
    .grid { stroke: #2d333b; }
    .limit { stroke: #ff7b72; }
    .lead { stroke: #6e7681; }
    .roof { stroke: #e6edf3; }
    .bar { fill: #388bfd; }
    .cut { stroke: #161b22; }
    .s0 { stroke: #58a6ff; } .s1 { stroke: #f0883e; } .s2 { stroke: #bc8cff; } .s3 { stroke: #56d364; }
    .s4 { stroke: #9198a1; } .s5 { stroke: #f778ba; }
    .f0 { fill: #58a6ff; } .f1 { fill: #f0883e; } .f2 { fill: #bc8cff; } .f3 { fill: #56d364; }
    .f4 { fill: #9198a1; } .f5 { fill: #f778ba; }
  }
";

/// Width of every chart: that of a page's text.
pub const WIDTH: f64 = 720.0;
/// Room around everything.
pub const MARGIN: f64 = 14.0;

/// Where a chart begins that has so many lines of small print above it.
pub const fn below(notes: usize) -> f64 {
    43.0 + 15.0 * notes as f64
}

/// An SVG in the making. Coordinates have one decimal, so that no machine rounds them otherwise.
pub struct Svg(String);

impl Svg {
    /// A panel with a title, and lines of small print under it that say what is shown.
    pub fn new(height: f64, title: &str, notes: &[String]) -> Self {
        let (panel_width, panel_height) = (WIDTH - 1.0, height - 1.0);
        let mut svg = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" \
             aria-labelledby=\"title desc\">\n<title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n<style>{STYLE}</style>\n\
             <rect class=\"panel\" x=\"0.5\" y=\"0.5\" width=\"{panel_width}\" height=\"{panel_height}\" rx=\"6\"/>\n",
            escape(title),
            escape(&notes.join("\n")),
        ));
        svg.text("title", MARGIN, 24.0, title);
        for (index, note) in notes.iter().enumerate() {
            svg.text("small", MARGIN, 41.0 + 15.0 * index as f64, note);
        }
        svg
    }

    /// Classes besides those of every drawing.
    pub fn style(&mut self, style: &str) {
        let _ = writeln!(self.0, "<style>{style}</style>");
    }

    /// Words, in classes of [`STYLE`].
    // Writing to a string cannot fail.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = writeln!(self.0, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
    }

    /// A rectangle with its upper left corner at a point.
    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = writeln!(
            self.0,
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2\"/>"
        );
    }

    /// Rectangles without round corners, each with its upper left corner, its width and its height; few or many, they are one shape.
    pub fn cells(&mut self, class: &str, cells: impl Iterator<Item = (f64, f64, f64, f64)>) {
        let path: String =
            cells.map(|(x, y, width, height)| format!("M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z")).collect();
        let _ = writeln!(self.0, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// A line from one point to another.
    pub fn line(&mut self, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
        let _ = writeln!(self.0, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
    }

    /// Lines from point to point.
    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(self.0, "<polyline class=\"{class}\" points=\"{}\"/>", points.join(" "));
    }

    /// A curve in the colour of a series.
    pub fn curve(&mut self, series: usize, points: &[(f64, f64)]) {
        self.polyline(&format!("line s{series}"), points);
    }

    /// The sign of a series: a circle, a square, a diamond, a triangle, one that stands on its tip, or an upright bar.
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

    /// The whole text.
    pub fn end(self) -> String {
        self.0 + "</svg>\n"
    }
}

/// About as wide as words in small print are; no text is wider on average.
pub fn width_of(text: &str) -> f64 {
    6.2 * text.chars().count() as f64
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
