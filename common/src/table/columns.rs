//! The columns between a stage's name and its verdict: their titles, what they show, and which of them matter most.

use crate::gpu::DeviceKind;
use crate::measure::Measure;
use crate::record::{Record, StageRecord};
use crate::report::Place;
use crate::units::{count, deviation, factor, milliseconds, percent, significant};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Time,
    Rate,
    OfCeiling,
    SpeedUp,
    Instructions,
    LoadSectors,
    BytesMoved,
    BankConflicts,
    BoundBy,
    Accuracy,
}

use Column::{Accuracy, BankConflicts, BoundBy, BytesMoved, Instructions, LoadSectors, OfCeiling, Rate, SpeedUp, Time};

/// All columns, from left to right.
pub const COLUMNS: [Column; 10] =
    [Time, Rate, OfCeiling, SpeedUp, Instructions, LoadSectors, BytesMoved, BankConflicts, BoundBy, Accuracy];

/// All columns, the most important one first, for a run on a GPU.
const ON_A_GPU: [Column; 10] =
    [Time, OfCeiling, SpeedUp, Rate, Accuracy, BoundBy, Instructions, LoadSectors, BytesMoved, BankConflicts];

/// The same for the simulator, where only rows of a CPU have times.
const ON_THE_SIMULATOR: [Column; 10] =
    [BoundBy, Instructions, LoadSectors, BytesMoved, BankConflicts, Accuracy, Time, SpeedUp, OfCeiling, Rate];

/// All columns, the most important one first. `lesson` lists what the chapter is about; where there are counts, the first of them that has
/// a column goes before everything else.
pub fn by_importance(record: &Record, lesson: &[Measure]) -> Vec<Column> {
    match record.device.kind {
        DeviceKind::Gpu => ON_A_GPU.to_vec(),
        DeviceKind::Sim => {
            let first = lesson.iter().find_map(|measure| shows(*measure)).unwrap_or(Instructions);
            let others = ON_THE_SIMULATOR.into_iter().filter(|column| *column != first);
            std::iter::once(first).chain(others).collect()
        }
    }
}

/// The column that shows a measure, if there is one.
fn shows(measure: Measure) -> Option<Column> {
    match measure {
        Measure::InstructionsPerMultiplyAdd => Some(Instructions),
        Measure::SectorsPerLoad => Some(LoadSectors),
        Measure::BytesPerMultiplyAdd | Measure::SectorsLoaded => Some(BytesMoved),
        Measure::BankConflicts | Measure::BankConflictShare => Some(BankConflicts),
        _ => None,
    }
}

impl Column {
    /// The title, in lines; `piece` is what some counts are divided by, see [`Arithmetic::piece`](crate::workload::Arithmetic::piece).
    pub fn title(self, piece: &str) -> String {
        match self {
            Time => "time".to_owned(),
            Rate => "rate".to_owned(),
            OfCeiling => "of ceiling".to_owned(),
            SpeedUp => "speed-up".to_owned(),
            Instructions => format!("PTX instructions\nper {piece}"),
            LoadSectors => "load sectors per\nrequest (at best)".to_owned(),
            BytesMoved => format!("bytes moved per\n{piece}"),
            BankConflicts => "bank\nconflicts".to_owned(),
            BoundBy => "bound by".to_owned(),
            Accuracy => "error / tolerance".to_owned(),
        }
    }

    /// The text for a row.
    pub fn cell(self, record: &Record, stage: &StageRecord) -> Option<String> {
        match self {
            Time => time(stage),
            Rate => Some(record.rate(stage)?.to_string()),
            OfCeiling => share_of_ceiling(record, stage),
            SpeedUp => speed_up(record, stage),
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

fn share_of_ceiling(record: &Record, stage: &StageRecord) -> Option<String> {
    let (share, ceiling) = record.share_of_ceiling(stage)?;
    Some(format!("{} of {ceiling}", percent(share)))
}

/// Against the first kernel that was timed.
fn speed_up(record: &Record, stage: &StageRecord) -> Option<String> {
    let first = record.stages.iter().filter(|stage| stage.place == Place::Device).find_map(|stage| stage.median_ms)?;
    let own = stage.median_ms?;
    (stage.place != Place::Between).then(|| factor(first / own))
}

/// Sectors per load, and how many it would take if the lanes' bytes were contiguous.
fn load_sectors(stage: &StageRecord) -> Option<String> {
    let counters = stage.counters?;
    Some(format!("{} ({})", significant(counters.sectors_per_load()?), significant(counters.ideal_sectors_per_load()?)))
}

/// Empty for kernels that use no shared memory.
fn bank_conflicts(stage: &StageRecord) -> Option<String> {
    let counters = stage.counters?;
    let requests = counters.shared_load_requests + counters.shared_store_requests;
    (requests > 0).then(|| count(counters.bank_conflicts()))
}

/// The two parts of the simulated chip that need the most time, as shares of the bottleneck.
fn bound_by(record: &Record, stage: &StageRecord) -> Option<String> {
    let bound = record.bound(stage)?;
    let shares = bound.shares().take(2).map(|(unit, share)| format!("{unit} {:.0} %", 100.0 * share));
    Some(shares.collect::<Vec<_>>().join(", "))
}

/// What came of the stage: the last column.
pub fn verdict(stage: &StageRecord) -> String {
    match (&stage.failure, &stage.skipped) {
        (Some(failure), _) => failure.clone(),
        (None, Some(reason)) => format!("skipped: {reason}"),
        (None, None) if stage.verified => match stage.sampled {
            Some(sampled) => format!("yes ({sampled} sampled, Freivalds)"),
            None => "yes".to_owned(),
        },
        (None, None) => "no".to_owned(),
    }
}
