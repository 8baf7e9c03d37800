//! The table of a run.
//!
//! On a GPU it shows times and what they mean: the rate, its share of what this device can do, the gain over the first row. On the
//! simulator it shows no times of the device, because there are none, but the counts that explain the times which a GPU would show.

use tabled::builder::Builder;
use tabled::settings::object::{Columns, Rows};
use tabled::settings::{Alignment, Style};

use crate::ceilings::Ceilings;
use crate::report::{Outcome, Place, Row};
use crate::units::{bandwidth, deviation, factor, flops, milliseconds, percent, significant};
use crate::workload::Work;

/// How a table is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// With lines, for a terminal.
    Lines,
    /// As Markdown.
    Markdown,
}

/// Bytes in a sector, the least that memory moves.
const SECTOR: u64 = 32;

/// What the columns need beside the row.
struct Context<'a> {
    rows: &'a [Row],
    work: Work,
    ceilings: Option<Ceilings>,
}

/// A column: its title, and what a row has in it.
struct Column {
    title: &'static str,
    cell: fn(&Context<'_>, &Row) -> Option<String>,
}

const COLUMNS: [Column; 11] = [
    Column { title: "time", cell: time },
    Column { title: "rate", cell: rate },
    Column { title: "of ceiling", cell: share_of_ceiling },
    Column { title: "speed-up", cell: speed_up },
    Column { title: "PTX instructions\nper multiply-add", cell: instructions },
    Column { title: "load sectors\nper request", cell: load_sectors },
    Column { title: "of them\nneeded", cell: load_efficiency },
    Column { title: "store sectors\nper request", cell: store_sectors },
    Column { title: "bytes moved per\nmultiply-add", cell: bytes_moved },
    Column { title: "bank\nconflicts", cell: bank_conflicts },
    Column { title: "error / tolerance", cell: accuracy },
];

/// Draws the rows. A column that no row fills is left out.
pub fn draw(rows: &[Row], work: Work, ceilings: Option<Ceilings>, drawing: Drawing) -> String {
    let context = Context { rows, work, ceilings };
    let columns: Vec<(&Column, Vec<Option<String>>)> = COLUMNS
        .iter()
        .map(|column| (column, rows.iter().map(|row| (column.cell)(&context, row)).collect::<Vec<_>>()))
        .filter(|(_, cells)| cells.iter().any(Option::is_some))
        .collect();

    let mut table = Builder::default();
    let title = |text: &str| if drawing == Drawing::Markdown { text.replace('\n', " ") } else { text.to_owned() };
    let titles = columns.iter().map(|(column, _)| title(column.title));
    table.push_record(std::iter::once(title("stage")).chain(titles).chain([title("verified")]));
    for (index, row) in rows.iter().enumerate() {
        let cells = columns.iter().map(|(_, cells)| cells[index].clone().unwrap_or_default());
        table.push_record(std::iter::once(row.name.to_owned()).chain(cells).chain([verdict(row)]));
    }
    let mut table = table.build();
    match drawing {
        Drawing::Lines => table.with(Style::sharp()),
        Drawing::Markdown => table.with(Style::markdown()),
    };
    table.modify(Columns::new(1..=columns.len()), Alignment::right());
    table.modify(Rows::first(), Alignment::left());
    table.to_string()
}

/// Multiply-adds, twice: once for the multiplication, once for the addition.
fn operations(context: &Context<'_>) -> f64 {
    2.0 * context.work.multiply_adds as f64
}

fn time(_: &Context<'_>, row: &Row) -> Option<String> {
    let timing = row.measured()?.timing()?;
    let median = milliseconds(timing.median_ms);
    if timing.samples < 2 {
        return Some(median);
    }
    let spread = milliseconds((timing.p90_ms - timing.p10_ms) / 2.0);
    Some(format!("{median} ± {spread}"))
}

fn rate(context: &Context<'_>, row: &Row) -> Option<String> {
    let seconds = row.median_ms()? / 1e3;
    Some(match row.place {
        Place::Device | Place::Host => flops(operations(context) / seconds),
        Place::Between => bandwidth(context.work.bytes as f64 / seconds),
    })
}

/// The share of the ceiling that is nearer: arithmetic, or memory if every byte were moved just once.
fn share_of_ceiling(context: &Context<'_>, row: &Row) -> Option<String> {
    let (seconds, ceilings) = (row.median_ms()? / 1e3, context.ceilings?);
    if row.place != Place::Device {
        return None;
    }
    let arithmetic = operations(context) / seconds / ceilings.flops;
    let memory = context.work.bytes as f64 / seconds / ceilings.bytes_per_s;
    Some(if arithmetic >= memory { format!("{} of f32", percent(arithmetic)) } else { format!("{} of memory", percent(memory)) })
}

/// Against the first kernel that was timed.
fn speed_up(context: &Context<'_>, row: &Row) -> Option<String> {
    let first = context.rows.iter().filter(|row| row.place == Place::Device).find_map(Row::median_ms)?;
    let own = row.median_ms()?;
    (row.place != Place::Between).then(|| factor(first / own))
}

fn instructions(context: &Context<'_>, row: &Row) -> Option<String> {
    let counters = row.counters()?;
    Some(significant(counters.ptx_thread_instructions as f64 / context.work.multiply_adds as f64))
}

fn load_sectors(_: &Context<'_>, row: &Row) -> Option<String> {
    let counters = row.counters()?;
    ratio(counters.global_load_sectors, counters.global_load_requests).map(significant)
}

fn load_efficiency(_: &Context<'_>, row: &Row) -> Option<String> {
    let counters = row.counters()?;
    ratio(counters.global_load_sectors_ideal, counters.global_load_sectors).map(percent)
}

fn store_sectors(_: &Context<'_>, row: &Row) -> Option<String> {
    let counters = row.counters()?;
    ratio(counters.global_store_sectors, counters.global_store_requests).map(significant)
}

fn bytes_moved(context: &Context<'_>, row: &Row) -> Option<String> {
    let counters = row.counters()?;
    let sectors = counters.global_load_sectors + counters.global_store_sectors;
    Some(significant((sectors * SECTOR) as f64 / context.work.multiply_adds as f64))
}

/// Left out where no kernel uses shared memory.
fn bank_conflicts(_: &Context<'_>, row: &Row) -> Option<String> {
    let counters = row.counters()?;
    let requests = counters.shared_load_requests + counters.shared_store_requests;
    (requests > 0).then(|| crate::units::count(counters.bank_conflicts()))
}

fn accuracy(_: &Context<'_>, row: &Row) -> Option<String> {
    let accuracy = row.measured()?.accuracy();
    Some(format!("{} / {}", deviation(accuracy.max_error()), deviation(accuracy.tolerance())))
}

fn verdict(row: &Row) -> String {
    match &row.outcome {
        Outcome::Verified(_) => "yes".to_owned(),
        Outcome::Failed(failure) => failure.label().to_owned(),
        Outcome::Skipped(reason) => format!("skipped: {reason}"),
        Outcome::NotRun(_) => "not run".to_owned(),
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Downloaded;
    use crate::report::Measured;
    use crate::timing::Timing;
    use crate::verify::{Expected, check};
    use simt::Counters;

    fn row(name: &'static str, place: Place, median_ms: Option<f64>, counters: Option<Counters>) -> Row {
        let expected = [Expected { value: 1.0, tolerance: 0.5 }];
        let accuracy = check(&Downloaded { values: vec![1.25], breach: None }, &expected).unwrap();
        let timing = median_ms.and_then(|ms| Timing::of(&[ms, ms, ms], 1));
        Row { name, place, outcome: Outcome::Verified(Measured::new(accuracy, timing, counters)) }
    }

    const WORK: Work = Work { multiply_adds: 1_000_000_000, bytes: 4_000_000 };

    #[test]
    fn on_a_gpu_the_table_shows_times_and_what_they_mean() {
        let rows = [
            row("cpu", Place::Host, Some(500.0), None),
            row("slow", Place::Device, Some(2.0), None),
            row("fast", Place::Device, Some(0.5), None),
            row("copy-only", Place::Between, Some(0.25), None),
            Row { name: "new", place: Place::Device, outcome: Outcome::Skipped("needs 9.0".into()) },
        ];
        let ceilings = Some(Ceilings { flops: 8e12, bytes_per_s: 1e12 });
        let expected = "\
| stage     | time            | rate         | of ceiling    | speed-up | error / tolerance | verified           |
|-----------|-----------------|--------------|---------------|----------|-------------------|--------------------|
| cpu       |    500 ms ± 0 ns | 4.00 GFLOP/s |               | 0.00400x | 2.5e-1 / 5.0e-1 | yes                |";
        let drawn = draw(&rows, WORK, ceilings, Drawing::Markdown);
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeeze(drawn.lines().next().unwrap()), squeeze(expected.lines().next().unwrap()));
        assert_eq!(squeeze(drawn.lines().nth(2).unwrap()), squeeze(expected.lines().nth(2).unwrap()));
        for cell in ["50.0 % of f32", "4.00x", "16.0 GB/s", "skipped: needs 9.0"] {
            assert!(drawn.contains(cell), "{cell} is not in\n{drawn}");
        }
    }

    #[test]
    fn on_the_simulator_the_table_shows_counts_and_no_times_of_the_device() {
        let counters = Counters {
            ptx_instructions: 10,
            ptx_thread_instructions: 5_000_000_000,
            global_load_requests: 100,
            global_load_sectors: 1650,
            global_load_sectors_ideal: 500,
            ..Counters::default()
        };
        let drawn = draw(&[row("strided", Place::Device, None, Some(counters))], WORK, None, Drawing::Lines);
        for cell in ["5.00", "16.5", "30.3 %"] {
            assert!(drawn.contains(cell), "{cell} is not in\n{drawn}");
        }
        for title in ["time", "rate", "speed-up", "bank"] {
            assert!(!drawn.contains(title), "{title} is in\n{drawn}");
        }
    }
}
