//! A request of a warp, drawn with characters: which lane requests which word, and what is moved for it.

use ptx::finding::AccessOp;
use simt::memory::rules::Rules;
use simt::{AccessSample, Space};

use super::grid::{COLUMNS, Cost, Grid, SECTOR_WORDS};
use super::style::{Style, put};
use run::units::{count, percent};

/// The most rows that are drawn, of up to 32.
const MAX_ROWS: usize = 12;
/// Characters for a row's offset.
const LABEL: usize = 9;
/// The longest line: an offset, and a word for each lane with space between the sectors.
const WIDTH: usize = LABEL + 2 + 2 * COLUMNS + COLUMNS / SECTOR_WORDS - 2;

/// Draws a sample; `None` for memory without sectors or banks.
pub fn draw(sample: &AccessSample, rules: Rules, style: Style) -> Option<String> {
    let grid = Grid::of(sample, rules)?;
    if style.width < WIDTH {
        return Some(format!("  the picture of this request needs {WIDTH} columns\n\n  {}\n", summary(&grid, sample)));
    }
    let width = if grid.space == Space::Global { 17 } else { 16 };
    let groups: String = grid.groups().map(|(_, name)| format!("{name:<width$}")).collect();
    let mut text = String::new();
    put(&mut text, &style.dim(&format!("{:>LABEL$}  {}", "bytes", groups.trim_end())));
    for row in grid.rows.iter().take(MAX_ROWS) {
        let mut cells = String::new();
        for (column, lanes) in row.lanes.iter().enumerate() {
            let cell = match lanes.count_ones() {
                0 if grid.space == Space::Shared || row.is_moved(column) => '·',
                0 => ' ',
                // A lane's number is a digit to base 32.
                1 => char::from_digit(lanes.trailing_zeros(), 32).unwrap_or('*'),
                _ => '*',
            };
            cells.push(cell);
            // Sectors are set apart, banks are not.
            let is_last = grid.space == Space::Global && column % SECTOR_WORDS == SECTOR_WORDS - 1;
            cells += if is_last { "  " } else { " " };
        }
        put(&mut text, &format!("{:>LABEL$}  {cells}", format!("+{}", row.offset)));
    }
    if let Some(more) = grid.rows.len().checked_sub(MAX_ROWS + 1) {
        put(&mut text, &format!("{:>LABEL$}  and {} more rows", "…", more + 1));
    }
    // If no bank has two words, the rows show it themselves.
    if grid.conflicts && grid.words_per_bank().iter().any(|words| *words > 1) {
        let counts = grid.words_per_bank().map(|words| if words == 0 { "· ".to_owned() } else { format!("{words:<2}") }).concat();
        put(&mut text, &style.dim(&format!("{:>LABEL$}  {}", "words", counts.trim_end())));
    }
    text.push('\n');
    put(&mut text, &format!("  {}", summary(&grid, sample)));
    let unused = if grid.space == Space::Global { "moved, not requested" } else { "not requested" };
    put(&mut text, &style.dim(&format!("  0-9 a-v: the lane that requests a 4-byte word; *: several lanes; ·: {unused}")));
    Some(text)
}

/// Returns the cost of a request, in a sentence.
pub fn summary(grid: &Grid, sample: &AccessSample) -> String {
    let plural = |number: u32, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let lanes = plural(sample.lanes.count_ones(), "lane");
    match grid.cost {
        Cost::Global { sectors, ideal, l1_wavefronts, transactions } => {
            let verb = if sample.op == AccessOp::Load { "read" } else { "written" };
            let (wanted, moved) = (grid.bytes_wanted, 32 * u64::from(sectors));
            let l1 = l1_wavefronts.map_or(String::new(), |number| format!("; {} in L1", plural(number, "wavefront")));
            let transactions = transactions.map_or(String::new(), |number| format!(" in {}", plural(number, "transaction")));
            let moves = format!("{}{transactions} {verb} for {lanes}, {ideal} at best", plural(sectors, "sector"));
            let share = percent(wanted as f64 / moved as f64);
            format!("{moves}; {} of {} bytes used ({share}){l1}", count(wanted), count(moved))
        }
        Cost::Shared { wavefronts, ideal } => {
            let conflicts = match (wavefronts == ideal, grid.is_broadcast()) {
                (true, true) => "one word, read once for all of them",
                (true, false) => "no bank conflicts",
                (false, _) => "bank conflicts",
            };
            format!("{} for {lanes}, {ideal} at best: {conflicts}", plural(wavefronts, "wavefront"))
        }
    }
}

/// Returns the title of a picture.
pub fn title(sample: &AccessSample) -> String {
    let line = sample.location.source.as_ref().map_or(String::new(), |source| format!(" on line {}", source.line));
    format!("a warp's {}{line}, {} byte{} per lane", what(sample), sample.bytes, if sample.bytes == 1 { "" } else { "s" })
}

/// Returns the operation of a request, and its memory.
pub fn what(sample: &AccessSample) -> String {
    let op = if sample.op == AccessOp::Load { "load from" } else { "store to" };
    let space = if sample.space == Space::Global { "global" } else { "shared" };
    let variable = sample.variable.as_ref().map_or(String::new(), |name| format!("{name} in "));
    format!("{op} {variable}{space} memory")
}

#[cfg(test)]
mod tests {
    use super::super::grid::tests::sample;
    use super::*;

    fn assert_drawn(sample: &AccessSample, expected: &str) {
        let drawn = draw(sample, Rules::Current, Style::PLAIN).unwrap();
        assert_eq!(drawn, expected.strip_prefix('\n').unwrap(), "got\n{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() <= 100));
    }

    #[test]
    fn neighboring_words_that_start_within_a_line() {
        let sample = sample(Space::Global, AccessOp::Load, 4, u32::MAX, |lane| 0x1_0000 + 4 * lane + 4);
        assert_drawn(
            &sample,
            "
    bytes  sector 0         sector 1         sector 2         sector 3
       +0  · 0 1 2 3 4 5 6  7 8 9 a b c d e  f g h i j k l m  n o p q r s t u
     +128  v · · · · · · ·

  5 sectors read for 32 lanes, 4 at best; 128 of 160 bytes used (80.0 %); 1 wavefront in L1
  0-9 a-v: the lane that requests a 4-byte word; *: several lanes; ·: moved, not requested
",
        );
    }

    #[test]
    fn a_column_of_a_tile_without_padding_fills_one_bank() {
        let sample = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |lane| 128 * lane + 8);
        assert_drawn(
            &sample,
            "
    bytes  bank 0          bank 8          bank 16         bank 24
       +0  · · 0 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
     +128  · · 1 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
     +256  · · 2 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
     +384  · · 3 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
     +512  · · 4 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
     +640  · · 5 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
     +768  · · 6 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
     +896  · · 7 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
    +1024  · · 8 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
    +1152  · · 9 · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
    +1280  · · a · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
    +1408  · · b · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
        …  and 20 more rows
    words  · · 32· · · · · · · · · · · · · · · · · · · · · · · · · · · · ·

  32 wavefronts for 32 lanes, 1 at best: bank conflicts
  0-9 a-v: the lane that requests a 4-byte word; *: several lanes; ·: not requested
",
        );
    }

    #[test]
    fn neighboring_words_of_shared_memory_are_in_different_banks() {
        let sample = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |lane| 4 * lane + 8);
        assert_drawn(
            &sample,
            "
    bytes  bank 0          bank 8          bank 16         bank 24
       +0  · · 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s t
     +128  u v · · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·

  1 wavefront for 32 lanes, 1 at best: no bank conflicts
  0-9 a-v: the lane that requests a 4-byte word; *: several lanes; ·: not requested
",
        );
    }

    #[test]
    fn the_first_gpus_had_half_as_many_banks() {
        let sample = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |lane| 4 * lane);
        let drawn = draw(&sample, Rules::Tesla, Style::PLAIN).unwrap();
        assert!(drawn.starts_with("    bytes  bank 0          bank 8          bank 0          bank 8\n"), "{drawn}");
        assert!(drawn.contains("2 wavefronts for 32 lanes, 2 at best: no bank conflicts"), "{drawn}");
    }

    #[test]
    fn a_word_that_all_lanes_request_is_read_once() {
        let sample = sample(Space::Shared, AccessOp::Load, 4, u32::MAX, |_| 2044);
        assert_drawn(
            &sample,
            "
    bytes  bank 0          bank 8          bank 16         bank 24
    +1920  · · · · · · · · · · · · · · · · · · · · · · · · · · · · · · · *

  1 wavefront for 32 lanes, 1 at best: one word, read once for all of them
  0-9 a-v: the lane that requests a 4-byte word; *: several lanes; ·: not requested
",
        );
    }

    #[test]
    fn bytes_share_words_and_lanes_may_be_idle() {
        let sample = sample(Space::Global, AccessOp::Store, 1, 0x1ff, |lane| lane);
        assert_drawn(
            &sample,
            "
    bytes  sector 0         sector 1         sector 2         sector 3
       +0  * * 8 · · · · ·

  1 sector written for 9 lanes, 1 at best; 9 of 32 bytes used (28.1 %)
  0-9 a-v: the lane that requests a 4-byte word; *: several lanes; ·: moved, not requested
",
        );
    }

    #[test]
    fn where_there_is_no_room_for_the_picture_its_sentence_stays() {
        let sample = sample(Space::Global, AccessOp::Load, 4, u32::MAX, |lane| 0x1_0000 + 4 * lane);
        let drawn = |width| draw(&sample, Rules::Current, Style::plain(width)).unwrap();
        let widest = drawn(WIDTH).lines().filter(|line| line.contains('+')).map(|line| line.chars().count()).max();
        assert_eq!(widest, Some(WIDTH));
        let narrow = drawn(WIDTH - 1);
        assert!(!narrow.contains("sector 0") && narrow.contains("4 sectors read for 32 lanes"), "{narrow}");
    }
}
