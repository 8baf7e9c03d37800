//! Bars, one below the other, with columns of numbers on the right and marks across all of them.

use crate::drawing::svg::{MARGIN, Svg, WIDTH, below, width_of};

pub struct Bars {
    pub title: String,
    pub notes: Vec<String>,
    pub heads: Vec<&'static str>,
    pub rows: Vec<Row>,
    /// Lines across the bars.
    pub marks: Vec<Mark>,
    /// The value at which a bar is cut; bars are as long as their values up to there.
    pub end: f64,
}

pub struct Row {
    pub label: String,
    /// Its color, as a class of the style sheet.
    pub class: &'static str,
    pub value: f64,
    /// A text for each column.
    pub cells: Vec<String>,
}

/// A value to compare bars with.
pub struct Mark {
    /// Its line, as a class of the style sheet.
    pub class: &'static str,
    pub value: f64,
    pub text: String,
}

/// Room for the names.
const LABEL: f64 = 122.0;
const BAR: f64 = 16.0;
/// From a bar to the next one.
const STEP: f64 = 24.0;
/// Room for the heads of columns.
const HEADS: f64 = 17.0;
/// Height of a line of words below the bars.
const LINE: f64 = 17.0;
/// Between columns.
const GAP: f64 = 14.0;

impl Bars {
    pub fn draw(mut self) -> String {
        let top = below(self.notes.len()) + HEADS;
        let bottom = top + self.rows.len() as f64 * STEP;
        let height = bottom + self.marks.len() as f64 * LINE + 12.0;
        let mut svg = Svg::new(height, &self.title, &self.notes);
        let left = MARGIN + LABEL;
        let mut right = WIDTH - MARGIN;
        for (column, head) in self.heads.iter().enumerate().rev() {
            let cells = || self.rows.iter().map(|row| row.cells[column].as_str());
            svg.text("small right", right, top - 9.0, head);
            for (index, cell) in cells().enumerate() {
                svg.text("small right", right, top + index as f64 * STEP + 12.5, cell);
            }
            right -= cells().chain([*head]).map(width_of).fold(0.0, f64::max) + GAP;
        }
        let x = |value: f64| left + (value / self.end).min(1.0) * (right - left);
        for (index, Row { label, class, value, .. }) in self.rows.iter().enumerate() {
            let y = top + index as f64 * STEP;
            svg.text("right", left - 8.0, y + 12.5, label);
            svg.rect(class, left, y, (x(*value) - left).max(1.0), BAR);
            if *value > self.end {
                svg.line("cut", (right - 14.0, y + BAR + 1.0), (right - 8.0, y - 1.0));
            }
        }
        // The words of a mark are right of its line, or left of it where the picture ends. Marks farther left come lower, so their lines pass
        // the words of the others on the left.
        self.marks.sort_by(|one, other| other.value.total_cmp(&one.value));
        for (index, Mark { class, value, text }) in self.marks.iter().enumerate() {
            let (x, y) = (x(*value), bottom + (index + 1) as f64 * LINE);
            svg.line(class, (x, top - 8.0), (x, y));
            if x + 6.0 + width_of(text) < WIDTH - MARGIN {
                svg.text("small", x + 6.0, y, text);
            } else {
                svg.text("small right", x - 6.0, y, text);
            }
        }
        svg.end()
    }
}
