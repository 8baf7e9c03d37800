//! The columns between a stage's name and its verdict: their titles, what they show, and which of them matter most.

use simt::Profile;

use crate::console::wrap;
use crate::device::gpu::DeviceKind;
use crate::measure::Measure;
use crate::results::record::{Record, StageRecord};
use crate::results::report::Place;
use crate::units::{count, deviation, factor, milliseconds, percent, significant};
use crate::workload::Arithmetic;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Time,
    /// The time when each run is launched by itself, where it is another one.
    Launched,
    Rate,
    OfCeiling,
    SpeedUp,
    /// The replacement for the time on the simulator: the least clocks that the bottleneck needs. A bound, not a measurement.
    Clocks,
    /// The clocks of the first kernel over those of the row.
    Factor,
    /// A count that a lesson compares and no other column shows.
    Count(Measure),
    Instructions,
    LoadSectors,
    BytesMoved,
    BankConflicts,
    BoundBy,
    Accuracy,
}

use Column::{
    Accuracy, BankConflicts, BoundBy, BytesMoved, Clocks, Count, Factor, Instructions, Launched, LoadSectors, OfCeiling, Rate,
    SpeedUp, Time,
};

/// Possible columns of a chapter's table in the book, left to right.
pub const COLUMNS: [Column; 11] =
    [Time, Launched, Rate, OfCeiling, SpeedUp, Instructions, LoadSectors, BytesMoved, BankConflicts, BoundBy, Accuracy];

/// Returns all columns in a terminal, from left to right. `lesson` lists what the chapter compares.
pub fn in_order(lesson: &[Measure]) -> Vec<Column> {
    let counts = of_lesson(lesson).into_iter().filter(|column| matches!(column, Count(_)));
    let others = COLUMNS.into_iter().skip_while(|column| *column != Instructions);
    [Time, Launched, Rate, OfCeiling, SpeedUp, Clocks, Factor].into_iter().chain(counts).chain(others).collect()
}

/// Returns all columns, the most important one first: what a row takes and how much less than the first kernel, then what the
/// lesson compares.
pub fn by_importance(record: &Record, lesson: &[Measure]) -> Vec<Column> {
    let (first, last): (&[Column], &[Column]) = match record.device.kind {
        DeviceKind::Gpu => (&[Time, SpeedUp, OfCeiling, Launched, Rate], &[Accuracy, BoundBy]),
        DeviceKind::Sim => (&[Clocks, Factor], &[BoundBy, Instructions, LoadSectors, BytesMoved, BankConflicts, Accuracy]),
    };
    distinct(first.iter().copied().chain(of_lesson(lesson)).chain(last.iter().copied()).chain(in_order(lesson)))
}

/// Returns the columns for what the lesson compares.
fn of_lesson(lesson: &[Measure]) -> Vec<Column> {
    distinct(lesson.iter().map(|measure| match measure {
        Measure::InstructionsPerMultiplyAdd => Instructions,
        Measure::SectorsPerLoad => LoadSectors,
        Measure::BytesPerMultiplyAdd => BytesMoved,
        Measure::BankConflicts => BankConflicts,
        other => Count(*other),
    }))
}

fn distinct(columns: impl Iterator<Item = Column>) -> Vec<Column> {
    let mut distinct = Vec::new();
    for column in columns {
        if !distinct.contains(&column) {
            distinct.push(column);
        }
    }
    distinct
}

impl Column {
    /// Returns its name on the command line, and its title in lines.
    fn words(self, arithmetic: Arithmetic) -> (String, String) {
        let piece = arithmetic.piece();
        let (name, title) = match self {
            Time => ("time", "time".to_owned()),
            Launched => ("launched", "launched\none by one".to_owned()),
            Rate => ("rate", "rate".to_owned()),
            OfCeiling => ("ceiling", "of ceiling".to_owned()),
            SpeedUp => ("speed-up", "speed-up".to_owned()),
            Clocks => ("clocks", "clocks\nat least".to_owned()),
            Factor => ("factor", "factor".to_owned()),
            Count(measure) => return (dashed(&format!("{measure:?}")), wrap(&measure.unit(arithmetic), 18)),
            Instructions => ("instructions", format!("PTX instructions\nper {piece}")),
            LoadSectors => ("sectors", "load sectors per\nrequest (at best)".to_owned()),
            BytesMoved => ("bytes", format!("bytes moved per\n{piece}")),
            BankConflicts => ("conflicts", "bank\nconflicts".to_owned()),
            BoundBy => ("bound", "bound by".to_owned()),
            Accuracy => ("error", "error / tolerance".to_owned()),
        };
        (name.to_owned(), title)
    }

    /// Returns its name on the command line.
    pub fn name(self) -> String {
        self.words(Arithmetic::default()).0
    }

    /// Returns the title, in lines.
    pub fn title(self, arithmetic: Arithmetic) -> String {
        self.words(arithmetic).1
    }

    /// Returns the text for a row.
    pub fn cell(self, record: &Record, stage: &StageRecord) -> Option<String> {
        match self {
            Time => time(stage),
            Launched => launched(stage),
            Rate => Some(record.rate(stage)?.to_string()),
            OfCeiling => share_of_ceiling(record, stage),
            SpeedUp => speed_up(record, stage),
            Clocks => Some(count(clocks(record, stage)?.ceil() as u64)),
            Factor => less_clocks(record, stage),
            Count(measure) => Some(measure.number(measure.of(&stage.counters?, record.work())?)),
            Instructions => Some(significant(record.per_multiply_add(stage.counters?.ptx_thread_instructions))),
            LoadSectors => load_sectors(stage),
            BytesMoved => Some(significant(record.per_multiply_add(stage.counters?.bytes_moved()))),
            BankConflicts => bank_conflicts(stage),
            BoundBy => bound_by(record, stage),
            Accuracy => Some(format!("{} / {}", deviation(stage.max_error?), deviation(stage.tolerance?))),
        }
    }
}

fn time(stage: &StageRecord) -> Option<String> {
    let median = milliseconds(stage.median_ms?);
    let spread = (stage.p90_ms? - stage.p10_ms?) / 2.0;
    // A single sample has no spread.
    Some(if spread > 0.0 { format!("{median} ± {}", milliseconds(spread)) } else { median })
}

/// Returns the time of single launches, where it differs.
///
/// Two measurements may differ by 3 %, and the marks between runs take more than a microsecond.
fn launched(stage: &StageRecord) -> Option<String> {
    const MARK_MS: f64 = 0.0015;
    let (queued, launched) = (stage.median_ms?, stage.launched_ms?);
    (launched > 1.03 * queued + MARK_MS).then(|| milliseconds(launched))
}

fn share_of_ceiling(record: &Record, stage: &StageRecord) -> Option<String> {
    let (share, ceiling) = record.share_of_ceiling(stage)?;
    Some(format!("{} of {ceiling}", percent(share)))
}

fn speed_up(record: &Record, stage: &StageRecord) -> Option<String> {
    let first = record.stages.iter().filter(|stage| stage.place == Place::Device).find_map(|stage| stage.median_ms)?;
    let own = stage.median_ms?;
    (stage.place != Place::Between).then(|| factor(first / own))
}

/// Returns the least clocks that the simulated chip's bottleneck needs.
fn clocks(record: &Record, stage: &StageRecord) -> Option<f64> {
    let profile = Profile::named(record.device.profile.as_deref()?)?;
    // Milliseconds times thousands of clocks per second.
    Some(record.bound(stage)?.least_ms() * f64::from(profile.clock_khz)).filter(|clocks| *clocks > 0.0)
}

fn less_clocks(record: &Record, stage: &StageRecord) -> Option<String> {
    let first = record.stages.iter().find_map(|stage| clocks(record, stage))?;
    Some(factor(first / clocks(record, stage)?))
}

/// Converts joined capitalized words to lower case with dashes: `SectorsLoaded` is `sectors-loaded`.
fn dashed(words: &str) -> String {
    let mut name = String::new();
    for letter in words.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// Returns the sectors per load, and their number for contiguous bytes.
fn load_sectors(stage: &StageRecord) -> Option<String> {
    let counters = stage.counters?;
    Some(format!("{} ({})", significant(counters.sectors_per_load()?), significant(counters.ideal_sectors_per_load()?)))
}

/// Returns the bank conflicts, or nothing where they are not counted.
///
/// That is where a kernel does not use shared memory, and where it adds there with atomic operations.
fn bank_conflicts(stage: &StageRecord) -> Option<String> {
    let counters = stage.counters?;
    let requests = counters.shared_load_requests + counters.shared_store_requests;
    (requests > 0 && counters.shared_atomic_requests == 0).then(|| count(counters.bank_conflicts()))
}

/// Returns the simulated chip's two busiest parts, as shares of the bottleneck.
fn bound_by(record: &Record, stage: &StageRecord) -> Option<String> {
    let bound = record.bound(stage)?;
    let shares = bound.shares().take(2).map(|(unit, share)| format!("{unit} {:.0} %", 100.0 * share));
    Some(shares.collect::<Vec<_>>().join(", "))
}

/// The verdict of a stage that did not run.
pub const SKIPPED: &str = "skipped";
/// The verdict of a stage whose result is right.
pub const YES: &str = "yes";

/// Returns the outcome of the stage: the last column.
pub fn verdict(stage: &StageRecord) -> String {
    match (&stage.failure, &stage.skipped) {
        (Some(failure), _) => failure.clone(),
        (None, Some(reason)) => format!("{SKIPPED}: {reason}"),
        (None, None) if stage.verified => match stage.sampled {
            Some(sampled) => format!("{YES} ({sampled} sampled, Freivalds)"),
            None => YES.to_owned(),
        },
        (None, None) => "no".to_owned(),
    }
}
