//! The CUDA source of a kernel with the counts of each line.

use simt::Counters;

use super::style::{Style, put};
use run::units::{percent, significant};

/// The least room for the source. Where there is less, columns of counts are left out.
const LEAST_CODE: usize = 24;
/// The most lines without counts shown between lines with counts.
const BRIDGED: u32 = 2;

/// A column: its title on two lines, and its text for the counts of a line of source and of all lines.
type Column = ([&'static str; 2], fn(&Counters, &Counters) -> Option<String>);

const COLUMNS: [Column; 4] = [
    (["PTX", "instr."], |c, total| share(c.ptx_instructions, total.ptx_instructions)),
    (["sectors/request", "(at best)"], |c, _| {
        let ideal = c.global_load_sectors_ideal + c.global_store_sectors_ideal;
        per_request(c.global_load_sectors + c.global_store_sectors, ideal, c.global_load_requests + c.global_store_requests)
    }),
    (["wavefronts/request", "(at best)"], |c, _| {
        let ideal = c.shared_load_wavefronts_ideal + c.shared_store_wavefronts_ideal;
        per_request(c.shared_load_wavefronts + c.shared_store_wavefronts, ideal, c.shared_load_requests + c.shared_store_requests)
    }),
    (["branches", "diverged"], |c, _| share(c.divergent_branches, c.branches)),
];

/// Lists the counted lines of a file and those between them. `counted` is in order, and `text` is the text of the file.
pub fn list(file: &str, text: Option<&str>, counted: &[(u32, &Counters)], total: &Counters, style: Style) -> String {
    let (titles, cells) = columns(counted.iter().map(|(_, counters)| *counters), total);
    let width = |(column, title): (usize, &[&str; 2])| {
        let cells = cells.iter().flat_map(|row| &row[column]).map(|cell| cell.chars().count());
        title.iter().map(|title| title.len()).chain(cells).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = titles.iter().enumerate().map(width).collect();
    let room = |widths: &[usize]| style.width.saturating_sub(7 + widths.iter().map(|width| width + 2).sum::<usize>());
    while widths.len() > 1 && room(&widths) < LEAST_CODE {
        widths.pop();
    }

    let mut listing = String::new();
    for (row, first) in ["line", ""].into_iter().enumerate() {
        let titles: String = titles.iter().zip(&widths).map(|(title, width)| format!("  {:>width$}", title[row])).collect();
        let last = if row == 0 { cut(file, room(&widths)) } else { String::new() };
        put(&mut listing, &style.dim(format!("{first:>5}{titles}  {last}").trim_end()));
    }
    let source: Vec<&str> = text.map(|text| text.lines().collect()).unwrap_or_default();
    let indent = counted.iter().filter_map(|(line, _)| source.get(*line as usize - 1)).map(|text| depth(text)).min().unwrap_or(0);
    let code = |line: u32| -> String {
        let text = source.get(line as usize - 1).map_or("", |text| text.get(indent.min(depth(text))..).unwrap_or(text));
        cut(text, room(&widths))
    };
    let empty: String = widths.iter().map(|width| " ".repeat(width + 2)).collect();
    let mut last = None;
    for ((line, _), cells) in counted.iter().zip(&cells) {
        match last {
            Some(last) if line - last > BRIDGED + 1 => put(&mut listing, &style.dim(&format!("{:>5}", "…"))),
            Some(last) => {
                (last + 1..*line).for_each(|line| put(&mut listing, &style.dim(&format!("{line:>5}{empty}  {}", code(line)))));
            }
            None => {}
        }
        let cells = cells.iter().map(|cell| cell.as_deref().unwrap_or(""));
        let row: String = cells.zip(&widths).map(|(cell, width)| format!("  {cell:>width$}")).collect();
        put(&mut listing, &format!("{line:>5}{row}  {}", code(*line)));
        last = Some(*line);
    }
    listing
}

/// Returns the titles of columns with counts, and each line's cells. A column is shown if some line has a count in it.
pub fn columns<'a>(
    lines: impl Iterator<Item = &'a Counters> + Clone,
    total: &Counters,
) -> (Vec<[&'static str; 2]>, Vec<Vec<Option<String>>>) {
    let is_shown = |(_, cell): &Column| lines.clone().any(|counters| cell(counters, total).is_some());
    let shown: Vec<Column> = COLUMNS.into_iter().filter(is_shown).collect();
    let cells = lines.clone().map(|counters| shown.iter().map(|(_, cell)| cell(counters, total)).collect()).collect();
    (shown.iter().map(|(title, _)| *title).collect(), cells)
}

/// Cuts a long text, and ends it with an ellipsis.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most.saturating_sub(1)).chain(['…']).collect() }
}

/// Counts the spaces at the start of a line.
fn depth(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// Writes a share; tiny ones are only reported as small, and nothing is not reported.
fn share(part: u64, whole: u64) -> Option<String> {
    let share = part as f64 / whole.max(1) as f64;
    (part > 0).then(|| if share < 0.001 { "< 0.1 %".to_owned() } else { percent(share) })
}

fn per_request(count: u64, ideal: u64, requests: u64) -> Option<String> {
    let per = |count: u64| significant(count as f64 / requests as f64);
    (requests > 0).then(|| format!("{} ({})", per(count), per(ideal)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "// a copy\n\n__global__ void copy(float* to, const float* from)\n{\n    int i = threadIdx.x;\n    // One\n    // after\n    // the\n    // other.\n    to[i] = from[i];\n}\n";

    #[test]
    fn lines_that_did_something_are_next_to_their_counts() {
        let index = Counters { ptx_instructions: 3, ..Counters::default() };
        let copy = Counters {
            ptx_instructions: 7,
            global_load_requests: 1,
            global_load_sectors: 32,
            global_load_sectors_ideal: 4,
            global_store_requests: 1,
            global_store_sectors: 4,
            global_store_sectors_ideal: 4,
            ..Counters::default()
        };
        let lines = [(3, &index), (5, &index), (10, &copy)];
        let total = Counters { ptx_instructions: 13, ..copy };
        let expected = "
 line     PTX  sectors/request  copy.cu
       instr.        (at best)
    3  23.1 %                   __global__ void copy(float* to, const float* from)
    4                           {
    5  23.1 %                       int i = threadIdx.x;
    …
   10  53.8 %      18.0 (4.00)      to[i] = from[i];
";
        let listing = list("copy.cu", Some(SOURCE), &lines, &total, Style::PLAIN);
        assert_eq!(listing, expected.strip_prefix('\n').unwrap(), "got\n{listing}");
    }

    #[test]
    fn long_lines_are_cut_and_files_without_text_have_their_counts() {
        let counted = Counters { ptx_instructions: 1, branches: 4, divergent_branches: 1, ..Counters::default() };
        let long = "x".repeat(300);
        for text in [Some(long.as_str()), None] {
            let listing = list("copy.cu", text, &[(1, &counted)], &counted, Style::PLAIN);
            assert!(listing.lines().all(|line| line.chars().count() <= Style::PLAIN.width), "{listing}");
            assert!(listing.contains("100 %") && listing.contains("25.0 %"), "{listing}");
        }
    }

    #[test]
    fn where_there_is_no_room_for_all_counts_the_source_stays() {
        let counted = Counters {
            ptx_instructions: 1,
            branches: 4,
            divergent_branches: 1,
            shared_load_requests: 1,
            shared_load_wavefronts: 2,
            global_load_requests: 1,
            ..Counters::default()
        };
        for (width, columns) in [(100, 4), (80, 3), (50, 1)] {
            let listing = list("copy.cu", Some(SOURCE), &[(10, &counted)], &counted, Style::plain(width));
            let titles = ["PTX", "sectors/request", "wavefronts/request", "branches"];
            assert_eq!(titles.iter().filter(|title| listing.contains(**title)).count(), columns, "{listing}");
            assert!(listing.lines().all(|line| line.chars().count() <= width), "{listing}");
            assert!(listing.contains("to[i] = from[i];"), "{listing}");
        }
    }
}
