//! A run: stages, their table, and what is made of their results.
//!
//! The table goes out first. Saving the record and writing results can fail, and must not cost the reader a table that is finished.

use std::process::ExitCode;

use oracles::progress;
use run::atomic_file::AtomicFile;
use run::ceilings::Ceilings;
use run::console::{self, note, wrap};
use run::record::Record;
use run::report::{Outcome, Place, Row};
use run::runner::{self, Finished};
use run::table::{self, Drawing, Fitted, Wish};
use run::workload::Delivery;
use run::{Chapter, Gpu, Stage, Workload, lesson};

use crate::arguments::{Format, TableFlags};
use crate::error::Result;
use crate::mode::Setup;
use crate::patience;
use crate::session::{Session, note_problems};

pub fn run<W: Workload>(
    chapter: &Chapter<W>,
    stages: &[Stage<W>],
    flags: &TableFlags,
    width: usize,
    setup: &Setup<W>,
) -> Result<ExitCode> {
    // Before the long run: the user should not wait for a record that cannot be saved.
    let save = flags.save.as_deref().map(AtomicFile::create).transpose()?;
    let session = Session::open(setup)?;
    let Session { gpu, workload, .. } = &session;
    let ceilings = {
        let _alive = progress::spinner("ceilings");
        Ceilings::measure(gpu, workload.work().arithmetic)?
    };
    session.print_header(chapter, ceilings)?;
    for stage in stages.iter().filter(|stage| chapter.is_mistake(stage)) {
        note(format_args!("warning: {} is wrong on purpose ({}): its result and its time mean nothing", stage.name, stage.idea));
    }
    let expected = patience::agree(&session, stages, setup, 1, ceilings)?;
    let Finished { rows, outputs } = runner::run_expecting(gpu, stages, workload, setup.flags.repeat.into(), &expected)?;
    rows.iter().for_each(note_problems);

    let record = Record::new(chapter.name, gpu.info(), workload.sizes(), workload.work(), ceilings, &rows);
    let shown = show(chapter, &record, flags, width);
    // One file that cannot be written is no reason to withhold the other.
    let saved = save.map(|file| file.finish(&record.to_json()));
    let delivered = match session.delivery {
        Some(delivery) => deliver(&session.gpu, stages, &rows, outputs, session.workload, session.others, delivery)?,
        None => true,
    };
    shown?;
    saved.transpose()?;
    Ok(if delivered && !rows.iter().any(Row::failed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show<W: Workload>(chapter: &Chapter<W>, record: &Record, flags: &TableFlags, width: usize) -> run::Result<()> {
    let sentences = lesson::sentences(chapter.lesson, record);
    match flags.format {
        Format::Table => {
            let wish = Wish { lesson: &lesson::measures(chapter.lesson), columns: &flags.columns, width };
            let Fitted { text, mut notes, hidden, full_width } = table::fit(record, wish);
            if !hidden.is_empty() {
                notes.push(not_shown(&hidden, width, full_width));
            }
            let notes: String = notes.iter().map(|note| wrap(note, width) + "\n").collect();
            let lesson: String = sentences.iter().map(|sentence| format!("\n{}\n", wrap(sentence, width))).collect();
            console::print(&format!("{text}\n{notes}{lesson}"))
        }
        Format::Markdown => {
            let lesson: String = sentences.iter().map(|sentence| format!("\n{sentence}\n")).collect();
            console::print(&format!("{}\n{lesson}", table::draw(record, Drawing::Markdown)))
        }
        Format::Json => console::print(&record.to_json()),
    }
}

fn not_shown(hidden: &[String], width: usize, full_width: usize) -> String {
    let (names, one) = (hidden.join(", "), &hidden[0]);
    format!("Not shown in {width} columns: {names}. Choose with --columns {one},…; --wide shows all, in {full_width} columns.")
}

/// Computes every part with the best stage and hands the outputs on; `false` when one of them is not verified.
fn deliver<W: Workload>(
    gpu: &Gpu,
    stages: &[Stage<W>],
    rows: &[Row],
    mut outputs: Vec<Option<Vec<f32>>>,
    workload: W,
    others: Vec<W>,
    delivery: Delivery<W>,
) -> Result<bool> {
    let Some(best) = best(rows) else {
        note(format_args!("error: no stage has a verified result, so nothing was written"));
        return Ok(false);
    };
    let mut results = vec![outputs[best].take().unwrap_or_default()];
    for part in &others {
        let Finished { rows, mut outputs } = runner::run(gpu, &stages[best..=best], part, 0)?;
        match (&rows[0].outcome, outputs[0].take()) {
            (Outcome::Verified(_), Some(output)) => results.push(output),
            (Outcome::Failed(failure), _) => {
                note(format_args!("error: {}: stage {}: {failure}", part.describe(), rows[0].name));
                return Ok(false);
            }
            _ => return Ok(false),
        }
    }
    let parts: Vec<W> = [workload].into_iter().chain(others).collect();
    let written = delivery(&parts, &results)?;
    note(format_args!("{written}, computed by {}", rows[best].name));
    Ok(true)
}

/// Returns the fastest verified stage; without times the last one of the table, because each stage exists to beat the one before
/// it. A kernel goes before a CPU, and a stage that only copies has computed nothing.
fn best(rows: &[Row]) -> Option<usize> {
    let verified = |place: Place| rows.iter().enumerate().filter(move |(_, row)| row.place == place && row.measured().is_some());
    let fastest = verified(Place::Device)
        .filter_map(|(index, row)| Some((index, row.median_ms()?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(index, _)| index);
    let last = |place| verified(place).map(|(index, _)| index).next_back();
    fastest.or_else(|| last(Place::Device)).or_else(|| last(Place::Host))
}
