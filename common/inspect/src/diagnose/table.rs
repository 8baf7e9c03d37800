//! The table of a diagnosis: times and their shares of the whole on a GPU, counts and the bound that follows from them on the simulator.

use run::console::width_of;
use run::timing::Timing;
use run::units::{count, milliseconds, percent};
use simt::Counters;
use tabled::builder::Builder;
use tabled::settings::object::{Columns, Rows};
use tabled::settings::{Alignment, Style};

use super::trial::{Diagnosis, Effort, Trial};

/// A count with its title. A count that is zero in every line is left out.
type Count = (&'static str, fn(&Counters) -> u64);

const COUNTS: [Count; 7] = [
    ("PTX\ninstructions", |counters| counters.ptx_instructions),
    ("sectors\nloaded", |counters| counters.global_load_sectors),
    ("sectors\nstored", |counters| counters.global_store_sectors),
    ("wavefronts to\nload shared", |counters| counters.shared_load_wavefronts),
    ("f32\nmul-adds", |counters| counters.f32_fma),
    ("dp4a", |counters| counters.dp4a),
    ("tensor\nmul-adds", |counters| counters.tensor_multiply_adds),
];

/// The arithmetic of a stage that has none of the above. In other stages these compute addresses.
const INTEGERS: Count = ("integer\nmultiplies", |counters| counters.int_mad);

/// The number of [`COUNTS`] before those of arithmetic.
const BEFORE_ARITHMETIC: usize = 4;

/// Draws a diagnosis in lines of at most `width` characters. Where it does not fit, what is left in each run goes under the table, and then
/// counts are left out from the left, because the last columns are what they lead to.
pub fn fit(diagnosis: &Diagnosis, width: usize) -> String {
    let (counts, timed) = (counts(diagnosis), matches!(diagnosis.whole.effort, Ok(Effort::Timed { .. })));
    let full = draw(diagnosis, &counts, timed, true);
    if width_of(&full) <= width {
        return full;
    }
    let candidates = (0..=counts.len()).map(|first| (first, draw(diagnosis, &counts[first..], timed, false)));
    let (first, mut text) =
        candidates.min_by_key(|(first, table)| (width_of(table) > width, *first)).expect("there is a table without counts");
    text.push('\n');
    for trial in std::iter::once(&diagnosis.whole).chain(&diagnosis.experiments) {
        text += &format!("\n{}: {}", trial.name, trial.left);
    }
    if first > 0 {
        let hidden: Vec<String> = counts[..first].iter().map(|(title, _)| title.replace('\n', " ")).collect();
        text +=
            &format!("\nNot shown in {width} columns: {}. --wide shows all, in {} columns.", hidden.join(", "), width_of(&full));
    }
    text
}

/// Returns the counts that are not zero everywhere.
fn counts(diagnosis: &Diagnosis) -> Vec<Count> {
    let trials = || std::iter::once(&diagnosis.whole).chain(&diagnosis.experiments);
    let counters = || trials().filter_map(|trial| trial.effort.as_ref().ok()?.counters());
    let arithmetic = |counters: &Counters| COUNTS[BEFORE_ARITHMETIC..].iter().any(|(_, of)| of(counters) > 0);
    let integers = (!counters().any(arithmetic)).then_some(INTEGERS);
    let columns = COUNTS.into_iter().chain(integers);
    columns.filter(|(_, of)| counters().any(|counters| of(counters) > 0)).collect()
}

/// Draws a diagnosis: the whole stage first, and on a GPU once more at the end.
fn draw(diagnosis: &Diagnosis, counts: &[Count], timed: bool, with_left: bool) -> String {
    let trials = std::iter::once(&diagnosis.whole).chain(&diagnosis.experiments);
    let first = |name: &str, left: &str| [Some(name), with_left.then_some(left)].into_iter().flatten().map(str::to_owned).collect();
    let mut table = Builder::default();
    let numbers: Vec<&str> = if timed {
        vec!["time", "of the whole", "registers\nper thread"]
    } else {
        counts.iter().map(|(title, _)| *title).chain(["least\ntime", "bound by"]).collect()
    };
    let titles: Vec<String> = first("run", "what is left");
    let before = titles.len();
    table.push_record(titles.into_iter().chain(numbers.iter().map(|title| (*title).to_owned())));
    for trial in trials {
        let cells = match &trial.effort {
            Ok(effort) => cells(diagnosis, trial, effort, counts),
            Err(_) => vec!["left out".to_owned()],
        };
        table.push_record(first(&trial.name, &trial.left).into_iter().chain(cells));
    }
    if let Some(again) = diagnosis.again {
        let share = percent(again.median_ms / diagnosis.whole_ms());
        table.push_record(first("whole, again", &diagnosis.whole.left).into_iter().chain([time(&again), share]));
    }
    let mut table = table.build();
    table.with(Style::sharp()).modify(Columns::new(before..before + numbers.len()), Alignment::right());
    table.modify(Rows::first(), Alignment::left());
    table.to_string()
}

fn cells(diagnosis: &Diagnosis, trial: &Trial, effort: &Effort, counts: &[Count]) -> Vec<String> {
    let share = diagnosis.share(trial).map(percent).unwrap_or_default();
    match effort {
        Effort::Timed { timing, registers } => vec![time(timing), share, registers.to_string()],
        Effort::Counted { counters, bound } => {
            let counted = counts.iter().map(|(_, of)| count(of(counters)));
            let unit = bound.binding().map_or("nothing".to_owned(), |part| part.unit.to_string());
            counted.chain([share, unit]).collect()
        }
    }
}

/// Returns a median with its spread.
fn time(timing: &Timing) -> String {
    let spread = (timing.p90_ms - timing.p10_ms) / 2.0;
    let median = milliseconds(timing.median_ms);
    if spread > 0.0 { format!("{median} ± {}", milliseconds(spread)) } else { median }
}
