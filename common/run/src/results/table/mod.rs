//! Draws the table of a run.
//!
//! On a GPU it shows times and what they mean: the rate, the share of the device's ceiling, and the speed-up over the first kernel. On the
//! simulator there are no times of the device, so it shows counts, which explain the times that a GPU would show.
//!
//! [`draw`] shows every column, and [`fit`] shows those that fit a terminal.

mod columns;

use tabled::builder::Builder;
use tabled::settings::object::{Columns, Rows};
use tabled::settings::{Alignment, Style};
use thiserror::Error;

use crate::console::{width_of, wrap};
use crate::measure::Measure;
use crate::results::record::Record;
use columns::{COLUMNS, Column, SKIPPED, YES, by_importance, in_order, verdict};

/// The form in which a table is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// With lines, for a terminal.
    Lines,
    /// As Markdown.
    Markdown,
}

/// The part of a run that a reader wants to see.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// The columns that the chapter's lesson compares.
    pub lesson: &'a [Measure],
    /// The columns, by name; none means the most important ones.
    pub columns: &'a [String],
    /// The most characters of a line.
    pub width: usize,
}

/// A table with lines that fits a width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The table.
    pub text: String,
    /// The notes under it: the meaning of columns that are not measurements, and why stages were skipped.
    pub notes: Vec<String>,
    /// The names of the columns that it leaves out.
    pub hidden: Vec<String>,
    /// The width that shows everything.
    pub full_width: usize,
}

/// A name that no column has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no column {name:?} in this table: expected some of {known}")]
pub struct UnknownColumn {
    name: String,
    known: String,
}

/// Draws a run, without the columns that no row fills.
pub fn draw(record: &Record, drawing: Drawing) -> String {
    Content::of(record, &COLUMNS).draw(drawing, true)
}

/// A table for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForPage {
    /// The table, as Markdown.
    pub table: String,
    /// The notes under it: what is the same in every row, and why stages were skipped.
    pub notes: Vec<String>,
}

/// Draws a run for a page: a column that says the same in every row becomes a sentence.
pub fn for_page(record: &Record) -> ForPage {
    let mut content = Content::of(record, &COLUMNS);
    let mut notes = content.shorten_verdicts(record);
    content.name_ceiling();
    if content.columns.iter().any(|filled| filled.column == Column::Launched) {
        notes.push(LAUNCHED.to_owned());
    }
    if exceeds_ceiling(record) {
        notes.push(EQUIVALENT.to_owned());
    }
    let same = content.take_same();
    let verified = content.rows.iter().all(|row| row.verdict == YES);
    if verified {
        notes.insert(0, "Every row is verified.".to_owned());
    }
    notes.extend(same);
    ForPage { table: content.draw(Drawing::Markdown, !verified), notes }
}

/// Checks that a chapter's table can have these columns, before anything runs. `lesson` has the measures of the chapter's lesson.
pub fn check(names: &[String], lesson: &[Measure]) -> Result<(), UnknownColumn> {
    let known: Vec<String> = in_order(lesson).into_iter().map(Column::name).collect();
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(UnknownColumn { name: name.clone(), known: known.join(", ") }),
        None => Ok(()),
    }
}

/// Draws a run in lines of at most [`Wish::width`] characters. Where the whole table does not fit, titles and verdicts take more lines, and
/// then whole columns are left out, the least important ones first. The names of the stages and their verdicts are always there, even if the
/// width is too small for them.
pub fn fit(record: &Record, wish: Wish<'_>) -> Fitted {
    let Wish { lesson, columns: names, width } = wish;
    let mut content = Content::of(record, &in_order(lesson));
    let mut notes = content.shorten_verdicts(record);
    let full = content.draw(Drawing::Lines, true);
    let full_width = width_of(&full);
    let named = |name: &String| content.columns.iter().map(|filled| filled.column).find(|column| column.name() == *name);
    let order = if names.is_empty() { by_importance(record, lesson) } else { names.iter().filter_map(named).collect() };
    let mut shown = order.clone();
    if full_width > width || !names.is_empty() {
        shown = content.narrow(&order, width);
    }
    let is_shown = |column: Column| shown.contains(&column);
    let hidden = content.columns.iter().map(|filled| filled.column).filter(|column| order.contains(column) && !is_shown(*column));
    let hidden = hidden.map(Column::name).collect();
    if content.columns.iter().any(|filled| is_shown(filled.column) && matches!(filled.column, Column::Clocks | Column::Factor)) {
        notes.insert(0, CLOCKS.to_owned());
    }
    if content.columns.iter().any(|filled| is_shown(filled.column) && filled.column == Column::Launched) {
        notes.insert(0, LAUNCHED.to_owned());
    }
    if is_shown(Column::OfCeiling) && exceeds_ceiling(record) {
        notes.insert(0, EQUIVALENT.to_owned());
    }
    content.columns.retain(|filled| is_shown(filled.column));
    Fitted { text: content.draw(Drawing::Lines, true), notes, hidden, full_width }
}

const STAGE: &str = "stage";
const VERIFIED: &str = "verified";
/// Explanation of the simulator's clock columns, which are not measurements.
const CLOCKS: &str = "Clocks: the least that the simulated chip's bottleneck needs, not a measured time. Factor: how many times fewer than the \
                      first kernel's.";

/// Explanation of the column of times of single launches.
const LAUNCHED: &str = "Time: the GPU finds each run in its queue when it has finished the one before. Launched one by one, a run may also wait for the \
                        host.";

/// Explanation of shares above 100 %.
const EQUIVALENT: &str = "More than 100 %: the row uses another unit, such as tensor cores, or another algorithm with fewer operations. Its rate is an \
                          equivalent: the operations of the definition in its time.";

/// Returns true if a row's rate is above its ceiling.
fn exceeds_ceiling(record: &Record) -> bool {
    record.stages.iter().filter_map(|stage| record.share_of_ceiling(stage)).any(|(share, _)| share > 1.0)
}

struct Content {
    columns: Vec<Filled>,
    rows: Vec<Row>,
}

/// A column that at least one row fills.
struct Filled {
    column: Column,
    title: String,
    /// One per row.
    cells: Vec<String>,
}

impl Filled {
    fn width(&self) -> usize {
        self.cells.iter().chain([&self.title]).map(|text| width_of(text)).max().unwrap_or(0)
    }
}

/// The cells of a row that are always shown.
struct Row {
    name: String,
    verdict: String,
}

impl Content {
    fn of(record: &Record, columns: &[Column]) -> Self {
        let arithmetic = record.work().arithmetic;
        let columns = columns.iter().filter_map(|&column| {
            let cells: Vec<_> = record.stages.iter().map(|stage| column.cell(record, stage)).collect();
            let is_filled = cells.iter().any(Option::is_some);
            let cells = cells.into_iter().map(Option::unwrap_or_default).collect();
            is_filled.then(|| Filled { column, title: column.title(arithmetic), cells })
        });
        let rows = record.stages.iter().map(|stage| Row { name: stage.name.clone(), verdict: verdict(stage) });
        Self { columns: columns.collect(), rows: rows.collect() }
    }

    /// Shortens verdicts of skipped and sampled stages, and returns their explanations.
    fn shorten_verdicts(&mut self, record: &Record) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut sampled = None;
        for (row, stage) in self.rows.iter_mut().zip(&record.stages) {
            if let Some(reason) = &stage.skipped {
                match reasons.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, names)) => names.push(&stage.name),
                    None => reasons.push((reason, vec![&stage.name])),
                }
                row.verdict = SKIPPED.to_owned();
            } else if let Some(how) = stage.sampled {
                sampled = Some(format!("Verified: {how} outputs one by one, and all of them by random sums (Freivalds)."));
                row.verdict = YES.to_owned();
            }
        }
        let skipped = reasons.into_iter().map(|(reason, names)| format!("Skipped: {} ({reason}).", names.join(", ")));
        sampled.into_iter().chain(skipped).collect()
    }

    /// Moves the ceiling into the title if all shares agree on it.
    fn name_ceiling(&mut self) {
        let Some(shares) = self.columns.iter_mut().find(|filled| filled.column == Column::OfCeiling) else { return };
        let of = |cell: &String| cell.split_once(" of ").map(|(_, ceiling)| format!(" of {ceiling}"));
        let Some(suffix) = shares.cells.iter().find_map(of) else { return };
        if shares.cells.iter().all(|cell| cell.is_empty() || cell.ends_with(&suffix)) {
            shares.cells.iter_mut().for_each(|cell| *cell = cell.trim_end_matches(&suffix).to_owned());
            shares.title = format!("{} ({})", shares.title, suffix.trim_start_matches(" of "));
        }
    }

    /// Removes columns with the same text in each of several rows. Returns a sentence for each column.
    fn take_same(&mut self) -> Vec<String> {
        let is_same = |filled: &Filled| {
            let first = &filled.cells[0];
            filled.cells.len() > 1 && !first.is_empty() && filled.cells.iter().all(|cell| cell == first)
        };
        let (same, columns): (Vec<Filled>, _) = self.columns.drain(..).partition(is_same);
        self.columns = columns;
        same.into_iter().map(|filled| format!("In every row, {}: {}.", in_one_line(&filled.title), filled.cells[0])).collect()
    }

    /// Wraps titles and verdicts, and chooses columns of `order` that fit.
    fn narrow(&mut self, order: &[Column], width: usize) -> Vec<Column> {
        for filled in &mut self.columns {
            let cells = filled.cells.iter().map(|cell| width_of(cell));
            let words = filled.title.split_whitespace().map(width_of);
            let widest = cells.chain(words).max().unwrap_or(0);
            filled.title = wrap(&filled.title, widest);
        }
        let names = self.rows.iter().map(|row| width_of(&row.name)).chain([width_of(STAGE)]).max().unwrap_or(0);
        let verdicts = self.rows.iter().map(|row| width_of(&wrap(&row.verdict, 0)));
        let narrowest = verdicts.chain([width_of(VERIFIED)]).max().unwrap_or(0);
        // The line at the right end, and the columns that are always there.
        let mut left = width.saturating_sub(1 + in_frame(names) + in_frame(narrowest));
        let mut shown = Vec::new();
        for column in order {
            let needed = self.columns.iter().find(|filled| filled.column == *column).map(|filled| in_frame(filled.width()));
            if let Some(needed) = needed.filter(|needed| *needed <= left) {
                left -= needed;
                shown.push(*column);
            }
        }
        for row in &mut self.rows {
            row.verdict = wrap(&row.verdict, narrowest + left);
        }
        shown
    }

    fn draw(&self, drawing: Drawing, verdicts: bool) -> String {
        let mut table = Builder::default();
        let title = |filled: &Filled| if drawing == Drawing::Markdown { in_one_line(&filled.title) } else { filled.title.clone() };
        let titles = self.columns.iter().map(title);
        table.push_record(std::iter::once(STAGE.to_owned()).chain(titles).chain(verdicts.then(|| VERIFIED.to_owned())));
        for (index, row) in self.rows.iter().enumerate() {
            let cells = self.columns.iter().map(|filled| filled.cells[index].clone());
            table.push_record(std::iter::once(row.name.clone()).chain(cells).chain(verdicts.then(|| row.verdict.clone())));
        }
        let mut table = table.build();
        match drawing {
            Drawing::Lines => table.with(Style::sharp()),
            Drawing::Markdown => table.with(Style::markdown()),
        };
        table.modify(Columns::new(1..=self.columns.len()), Alignment::right());
        table.modify(Rows::first(), Alignment::left());
        match drawing {
            Drawing::Lines => table.to_string(),
            Drawing::Markdown => self.aligned(&table.to_string()),
        }
    }

    /// Marks the columns of numbers in a Markdown table as right-aligned.
    fn aligned(&self, table: &str) -> String {
        let rule = |line: &str| {
            let dashes = line.trim_matches('|').split('|').enumerate().map(|(index, dashes)| {
                let column = index.checked_sub(1).and_then(|index| self.columns.get(index));
                let is_number = column.is_some_and(|filled| filled.column != Column::BoundBy);
                if is_number { format!("{}:", &dashes[1..]) } else { dashes.to_owned() }
            });
            format!("|{}|", dashes.collect::<Vec<_>>().join("|"))
        };
        let lines = table.lines().enumerate().map(|(index, line)| if index == 1 { rule(line) } else { line.to_owned() });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Returns a column's width with its left border and two spaces.
fn in_frame(width: usize) -> usize {
    width + 3
}

fn in_one_line(title: &str) -> String {
    title.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::ceilings::Ceilings;
    use crate::device::gpu::DeviceKind;
    use crate::results::record::{StageRecord, made_up};
    use crate::results::report::Place;
    use simt::Counters;

    fn stage(name: &str, place: Place, median_ms: Option<f64>, counters: Option<Counters>) -> StageRecord {
        StageRecord {
            place,
            median_ms,
            p10_ms: median_ms,
            p90_ms: median_ms.map(|ms| ms * 1.1),
            max_error: Some(0.25),
            tolerance: Some(0.5),
            counters,
            ..made_up::stage(name)
        }
    }

    fn record(ceilings: Option<Ceilings>, stages: Vec<StageRecord>) -> Record {
        let mut record = Record { ceilings, stages, ..made_up::record() };
        if ceilings.is_none() {
            (record.device.kind, record.device.profile) = (DeviceKind::Sim, Some("h200".to_owned()));
        }
        record
    }

    #[test]
    fn on_a_gpu_the_table_shows_times_and_what_they_mean() {
        let mut new = stage("new", Place::Device, None, None);
        (new.verified, new.skipped, new.max_error) = (false, Some("needs 9.0".to_owned()), None);
        let mut broken = stage("broken", Place::Device, None, None);
        (broken.verified, broken.failure, broken.max_error) = (false, Some("WRONG".to_owned()), None);
        let ceilings = Some(Ceilings { flops: 8e12, bytes_per_s: 1e12, byte_multiply_adds: None });
        let mut large = stage("large", Place::Device, Some(1.0), None);
        large.sampled = Some(16_384);
        let stages = vec![
            stage("cpu", Place::Host, Some(500.0), None),
            stage("slow", Place::Device, Some(2.0), None),
            stage("fast", Place::Device, Some(0.5), None),
            stage("copy-only", Place::Between, Some(0.25), None),
            new,
            broken,
            large,
        ];
        let fitted = fit(&record(ceilings, stages.clone()), Wish { lesson: &[], columns: &[], width: 80 });
        assert!(
            !fitted.text.contains("sampled") && fitted.notes[0].starts_with("Verified: 16384 outputs one by one"),
            "{fitted:?}"
        );
        let drawn = draw(&record(ceilings, stages), Drawing::Markdown);
        let squeeze = |line: usize| drawn.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeeze(0), "| stage | time | rate | of ceiling | speed-up | error / tolerance | verified |");
        assert_eq!(squeeze(2), "| cpu | 500 ms ± 25.0 ms | 4.00 GFLOP/s | | 0.00400x | 2.5e-1 / 5.0e-1 | yes |");
        for cell in ["50.0 % of f32", "4.00x", "16.0 GB/s", "skipped: needs 9.0", "WRONG", "yes (16384 sampled, Freivalds)"] {
            assert!(drawn.contains(cell), "{cell} is not in\n{drawn}");
        }
    }

    #[test]
    fn a_share_above_the_ceiling_is_explained() {
        let ceilings = Some(Ceilings { flops: 8e12, bytes_per_s: 1e12, byte_multiply_adds: None });
        let notes = |fast_ms| {
            let stages = vec![stage("slow", Place::Device, Some(2.0), None), stage("fast", Place::Device, Some(fast_ms), None)];
            for_page(&record(ceilings, stages)).notes
        };
        assert!(!notes(0.5).contains(&EQUIVALENT.to_owned()) && notes(0.1).contains(&EQUIVALENT.to_owned()));
    }

    #[test]
    fn the_time_of_single_launches_is_shown_where_it_is_another_one() {
        let ceilings = Some(Ceilings { flops: 8e12, bytes_per_s: 1e12, byte_multiply_adds: None });
        let launched = |median_ms, launched_ms| StageRecord { launched_ms, ..stage("s", Place::Device, Some(median_ms), None) };
        let same = for_page(&record(ceilings, vec![launched(0.0245, Some(0.0258)), launched(0.5, None)]));
        assert!(!same.table.contains("one by one") && same.notes.iter().all(|note| note != LAUNCHED), "{same:?}");
        let other = for_page(&record(ceilings, vec![launched(0.006, Some(0.01)), launched(0.5, None)]));
        assert!(other.table.contains("launched one by one") && other.table.contains(" 10.0 µs |"), "{}", other.table);
        assert!(other.notes.contains(&LAUNCHED.to_owned()));
    }

    #[test]
    fn what_is_the_same_in_every_row_of_a_page_s_table_is_said_once() {
        let ceilings = Some(Ceilings { flops: 8e12, bytes_per_s: 1e12, byte_multiply_adds: None });
        let stages = vec![stage("slow", Place::Device, Some(2.0), None), stage("fast", Place::Device, Some(0.5), None)];
        let page = for_page(&record(ceilings, stages.clone()));
        assert_eq!(page.notes, ["Every row is verified.", "In every row, error / tolerance: 2.5e-1 / 5.0e-1."]);
        let squeezed: Vec<String> =
            page.table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").replace('-', "")).collect();
        assert_eq!(squeezed[..2], ["| stage | time | rate | of ceiling (f32) | speedup |", "||:|:|:|:|"]);
        assert!(page.table.contains("| 50.0 %") || page.table.contains(" 12.5 % |"), "{}", page.table);
        // One row that differs keeps the column.
        let mut wrong = stages;
        (wrong[1].verified, wrong[1].failure) = (false, Some("WRONG".to_owned()));
        let page = for_page(&record(ceilings, wrong));
        assert!(page.table.contains("| verified |") && page.table.contains("WRONG"), "{}", page.table);
    }

    #[test]
    fn on_the_simulator_the_table_shows_counts_and_no_times_of_the_device() {
        let counters = Counters {
            ptx_instructions: 10,
            ptx_thread_instructions: 5_000_000_000,
            f32_fma: 1_000_000,
            global_load_requests: 100,
            global_load_sectors: 1650,
            global_load_sectors_ideal: 500,
            ..Counters::default()
        };
        let drawn = draw(&record(None, vec![stage("strided", Place::Device, None, Some(counters))]), Drawing::Lines);
        // 4 000 000 bytes through L2 take 62 500 clocks of a multiprocessor at 64 a clock; 31 250 multiply-adds of a warp and 100
        // loads take 7837 at four a clock.
        for cell in ["5.00", "16.5 (5.00)", "L2 100 %, issue 13 %"] {
            assert!(drawn.contains(cell), "{cell} is not in\n{drawn}");
        }
        for title in ["time", "rate", "speed-up", "bank"] {
            assert!(!drawn.contains(title), "{title} is in\n{drawn}");
        }
    }
}
