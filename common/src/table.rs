//! Draws the table of a run.
//!
//! On a GPU it shows times and what they mean: the rate, the share of the device's ceiling, and the speed-up over the first kernel. On the
//! simulator there are no times of the device, so it shows counts, which explain the times that a GPU would show.

use tabled::builder::Builder;
use tabled::settings::object::{Columns, Rows};
use tabled::settings::{Alignment, Style};

use crate::record::{Record, StageRecord};
use crate::report::Place;
use crate::units::{count, deviation, factor, milliseconds, percent, significant};

/// How a table is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// With lines, for a terminal.
    Lines,
    /// As Markdown.
    Markdown,
}

/// Replaced by [`Arithmetic::piece`](crate::workload::Arithmetic::piece).
const PIECE: &str = "PIECE";

/// A column: its title, and its text for a row.
struct Column {
    title: &'static str,
    cell: fn(&Record, &StageRecord) -> Option<String>,
}

const COLUMNS: [Column; 10] = [
    Column { title: "time", cell: time },
    Column { title: "rate", cell: rate },
    Column { title: "of ceiling", cell: share_of_ceiling },
    Column { title: "speed-up", cell: speed_up },
    Column { title: "PTX instructions\nper PIECE", cell: instructions },
    Column { title: "load sectors per\nrequest (at best)", cell: load_sectors },
    Column { title: "bytes moved per\nPIECE", cell: bytes_moved },
    Column { title: "bank\nconflicts", cell: bank_conflicts },
    Column { title: "bound by", cell: bound_by },
    Column { title: "error / tolerance", cell: accuracy },
];

/// Draws a run, without the columns that no row fills.
pub fn draw(record: &Record, drawing: Drawing) -> String {
    let columns: Vec<(&Column, Vec<Option<String>>)> = COLUMNS
        .iter()
        .map(|column| (column, record.stages.iter().map(|stage| (column.cell)(record, stage)).collect::<Vec<_>>()))
        .filter(|(_, cells)| cells.iter().any(Option::is_some))
        .collect();

    let mut table = Builder::default();
    let title = |text: &str| {
        let title = text.replace(PIECE, record.work().arithmetic.piece());
        if drawing == Drawing::Markdown { title.replace('\n', " ") } else { title }
    };
    let titles = columns.iter().map(|(column, _)| title(column.title));
    table.push_record(std::iter::once(title("stage")).chain(titles).chain([title("verified")]));
    for (index, stage) in record.stages.iter().enumerate() {
        let cells = columns.iter().map(|(_, cells)| cells[index].clone().unwrap_or_default());
        table.push_record(std::iter::once(stage.name.clone()).chain(cells).chain([verdict(stage)]));
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

fn time(_: &Record, stage: &StageRecord) -> Option<String> {
    let median = milliseconds(stage.median_ms?);
    let spread = (stage.p90_ms? - stage.p10_ms?) / 2.0;
    // A single sample has no spread.
    Some(if spread > 0.0 { format!("{median} ± {}", milliseconds(spread)) } else { median })
}

fn rate(record: &Record, stage: &StageRecord) -> Option<String> {
    Some(record.rate(stage)?.to_string())
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

fn instructions(record: &Record, stage: &StageRecord) -> Option<String> {
    Some(significant(record.per_multiply_add(stage.counters?.ptx_thread_instructions)))
}

/// Sectors per load, and how many it would take if the lanes' bytes were contiguous.
fn load_sectors(_: &Record, stage: &StageRecord) -> Option<String> {
    let counters = stage.counters?;
    Some(format!("{} ({})", significant(counters.sectors_per_load()?), significant(counters.ideal_sectors_per_load()?)))
}

fn bytes_moved(record: &Record, stage: &StageRecord) -> Option<String> {
    Some(significant(record.per_multiply_add(stage.counters?.bytes_moved())))
}

/// Empty for kernels that use no shared memory.
fn bank_conflicts(_: &Record, stage: &StageRecord) -> Option<String> {
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

fn accuracy(_: &Record, stage: &StageRecord) -> Option<String> {
    Some(format!("{} / {}", deviation(stage.max_error?), deviation(stage.tolerance?)))
}

fn verdict(stage: &StageRecord) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::ComputeCapability;
    use crate::ceilings::Ceilings;
    use crate::gpu::{DeviceInfo, DeviceKind};
    use crate::record::KernelDigests;
    use simt::Counters;

    fn stage(name: &str, place: Place, median_ms: Option<f64>, counters: Option<Counters>) -> StageRecord {
        StageRecord {
            name: name.to_owned(),
            place,
            verified: true,
            sampled: None,
            skipped: None,
            failure: None,
            kernels: KernelDigests::new(),
            median_ms,
            p10_ms: median_ms,
            p90_ms: median_ms.map(|ms| ms * 1.1),
            max_error: Some(0.25),
            tolerance: Some(0.5),
            counters,
            findings: Vec::new(),
        }
    }

    fn record(ceilings: Option<Ceilings>, stages: Vec<StageRecord>) -> Record {
        let text = String::new;
        let workload = [("multiply_adds", 1_000_000_000_u64), ("least_bytes", 4_000_000)];
        Record {
            chapter: text(),
            commit: text(),
            date: text(),
            device: DeviceInfo {
                kind: if ceilings.is_some() { DeviceKind::Gpu } else { DeviceKind::Sim },
                name: text(),
                compute_capability: ComputeCapability::new(9, 0),
                profile: ceilings.is_none().then(|| "h200".to_owned()),
                driver: text(),
                compiler: text(),
            },
            workload: workload.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect(),
            ceilings,
            ceiling_kernels: KernelDigests::new(),
            stages,
        }
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
        let drawn = draw(&record(ceilings, stages), Drawing::Markdown);
        let squeeze = |line: usize| drawn.lines().nth(line).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeeze(0), "| stage | time | rate | of ceiling | speed-up | error / tolerance | verified |");
        assert_eq!(squeeze(2), "| cpu | 500 ms ± 25.0 ms | 4.00 GFLOP/s | | 0.00400x | 2.5e-1 / 5.0e-1 | yes |");
        for cell in ["50.0 % of f32", "4.00x", "16.0 GB/s", "skipped: needs 9.0", "WRONG", "yes (16384 sampled, Freivalds)"] {
            assert!(drawn.contains(cell), "{cell} is not in\n{drawn}");
        }
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
