//! A request of a warp as an SVG: the same grid that [`super::picture`] draws with characters, for the book.
//!
//! The file is complete in itself. It has a title, a description, and colors for light and dark pages.

use std::fmt::Write;

use simt::memory::rules::Rules;
use simt::{AccessSample, Space};

use super::grid::{COLUMNS, Grid, Row, SECTOR_WORDS};
use super::picture;

/// Width and height of a word.
const CELL: u32 = 17;
/// Space between the sectors of a line.
const SECTOR_GAP: u32 = 7;
/// Space for the offsets of rows.
const LABEL: u32 = 62;
/// Space around everything.
const MARGIN: u32 = 14;
/// Width of a heading's letter in the widest of the usual fonts.
const LETTER: u32 = 8;
/// The top of the first row.
const TOP: u32 = 66;
/// Between a row and the next one.
const ROW_GAP: u32 = 3;
/// Height of a lane's number below another one in the same word.
const LINE: u32 = 10;
/// The most lanes of a word that are named one by one.
const NAMED: u32 = 4;

/// Colors of words. The media query follows the page if the browser passes the page's color scheme to an image, and otherwise the system.
/// The panel is opaque, so the picture is readable on any page.
const STYLE: &str = include_str!("svg.css");

/// Draws a sample; `None` for memory without sectors or banks.
pub fn draw(sample: &AccessSample, rules: Rules, caption: &str) -> Option<String> {
    let grid = Grid::of(sample, rules)?;
    let heading = format!("{caption}: {}", picture::title(sample));
    let width = (left(&grid, COLUMNS - 1) + CELL).max(MARGIN + heading.chars().count() as u32 * LETTER) + MARGIN;
    let legend = TOP + grid.rows.iter().map(|row| height(row) + ROW_GAP).sum::<u32>() + 14;
    let bottom = legend + CELL + MARGIN;
    let summary = picture::summary(&grid, sample);
    let clashes = grid.words_per_bank();
    let [title, description] = [heading.as_str(), &summary].map(escape);
    let (panel_width, panel_height) = (width - 1, bottom - 1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {bottom}\" width=\"{width}\" height=\"{bottom}\" role=\"img\" \
         aria-labelledby=\"title desc\">\n<title id=\"title\">{title}</title>\n<desc id=\"desc\">{description}</desc>\n<style>\n{STYLE}</style>\n\
         <rect class=\"panel\" x=\"0.5\" y=\"0.5\" width=\"{panel_width}\" height=\"{panel_height}\" rx=\"6\"/>\n"
    );
    text(&mut svg, "title", MARGIN, 24, &heading);
    text(&mut svg, "small", MARGIN, 41, &summary);
    text(&mut svg, "small", MARGIN, TOP - 6, "bytes");
    for (column, name) in grid.groups() {
        text(&mut svg, "small", left(&grid, column), TOP - 6, &name);
    }
    let mut y = TOP;
    for row in &grid.rows {
        text(&mut svg, "small", MARGIN, y + 13, &format!("+{}", row.offset));
        for (column, words) in clashes.iter().enumerate() {
            word(&mut svg, &grid, row, column, y, grid.conflicts && *words > 1);
        }
        y += height(row) + ROW_GAP;
    }
    keys(&mut svg, &grid, grid.conflicts && clashes.iter().any(|words| *words > 1), legend);
    svg.push_str("</svg>\n");
    Some(svg)
}

/// Returns the left edge of a column.
fn left(grid: &Grid, column: usize) -> u32 {
    let gaps = if grid.space == Space::Global { column / SECTOR_WORDS } else { 0 };
    MARGIN + LABEL + column as u32 * CELL + gaps as u32 * SECTOR_GAP
}

fn word(svg: &mut String, grid: &Grid, row: &Row, column: usize, y: u32, clashes: bool) {
    let (x, lanes) = (left(grid, column), row.lanes[column]);
    let class = match lanes {
        0 if grid.space == Space::Global && row.is_moved(column) => "moved",
        0 => "idle",
        _ if clashes => "clash",
        _ => "wanted",
    };
    cell(svg, class, x, y, height(row));
    for (line, name) in names(lanes).iter().enumerate() {
        text(svg, "lane", x + CELL / 2, y + 12 + line as u32 * LINE, name);
    }
}

/// Returns the lanes that request a word, one below the other; a sign for many.
fn names(lanes: u32) -> Vec<String> {
    if lanes.count_ones() > NAMED {
        return vec!["\u{2217}".to_owned()];
    }
    (0..32).filter(|lane| lanes >> lane & 1 != 0).map(|lane| lane.to_string()).collect()
}

/// Returns the height of a row: that of the word with the most names.
fn height(row: &Row) -> u32 {
    let names = row.lanes.iter().map(|lanes| names(*lanes).len() as u32).max().unwrap_or(0);
    CELL + names.saturating_sub(1) * LINE
}

/// Draws the meaning of the colors.
fn keys(svg: &mut String, grid: &Grid, clashes: bool, y: u32) {
    let counts = || grid.rows.iter().flat_map(|row| row.lanes).map(u32::count_ones);
    let requested = match counts().max() {
        Some(0 | 1) | None => "requested, with the lane",
        Some(2..=NAMED) => "requested, with the lanes",
        Some(_) => "requested, with the lane (\u{2217} many)",
    };
    let others: &[_] = match grid.space {
        Space::Global => &[("moved", "moved, not requested"), ("idle", "not moved")],
        _ if clashes => &[("clash", "another word of its bank is requested too"), ("idle", "not requested")],
        _ => &[("idle", "not requested")],
    };
    let mut x = MARGIN + LABEL;
    for (class, meaning) in [("wanted", requested)].iter().chain(others) {
        cell(svg, class, x, y, CELL);
        text(svg, "small", x + CELL + 6, y + 13, meaning);
        x += CELL + 30 + 6 * meaning.chars().count() as u32;
    }
}

// Writing to a string cannot fail.
fn cell(svg: &mut String, class: &str, x: u32, y: u32, height: u32) {
    let _ = writeln!(svg, "<rect class=\"{class}\" x=\"{}.5\" y=\"{y}.5\" width=\"{}\" height=\"{}\"/>", x, CELL - 2, height - 1);
}

fn text(svg: &mut String, class: &str, x: u32, y: u32, text: &str) {
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escape(text));
}

/// Escapes the special characters of text in XML and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::grid::tests::sample;
    use super::*;
    use ptx::finding::AccessOp;

    #[test]
    fn every_lane_of_a_column_is_in_a_bank_with_conflicts() {
        let column = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |lane| 128 * lane);
        let svg = draw(&column, Rules::Current, "a < b").unwrap();
        // One of the words is the legend's.
        assert_eq!(svg.matches("class=\"clash\"").count(), 32 + 1);
        assert!(svg.contains("<title id=\"title\">a &lt; b: a warp's load from shared memory on line 7"));
        assert!(svg.contains("32 wavefronts for 32 lanes, 1 at best: bank conflicts"));
    }

    #[test]
    fn what_is_moved_but_not_requested_is_visible() {
        let strided = sample(Space::Global, AccessOp::Load, 4, u32::MAX, |lane| 32 * lane);
        let svg = draw(&strided, Rules::Current, "strided").unwrap();
        assert_eq!((svg.matches("class=\"wanted\"").count(), svg.matches("class=\"moved\"").count()), (32 + 1, 32 * 7 + 1));
        assert_eq!(svg.matches("class=\"idle\"").count(), 1);
        assert_eq!(svg.matches("<text class=\"lane\"").count(), 32);
    }
    #[test]
    fn lanes_that_share_a_word_are_named_unless_they_are_many() {
        let pairs = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |lane| lane / 2 * 4);
        let svg = draw(&pairs, Rules::Current, "pairs").unwrap();
        assert_eq!(svg.matches("<text class=\"lane\"").count(), 32);
        assert!(svg.contains(">30</text>") && svg.contains(">31</text>") && !svg.contains('\u{2217}'), "{svg}");
        let all = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |_| 0);
        let svg = draw(&all, Rules::Current, "all").unwrap();
        assert_eq!(svg.matches("<text class=\"lane\">").count() + svg.matches("<text class=\"lane\" ").count(), 1);
        assert!(svg.contains("(\u{2217} many)"), "{svg}");
    }
}
