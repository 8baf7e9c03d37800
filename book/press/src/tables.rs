//! Tables that are drawn from records and profiles, as Markdown.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use run::gpu::{DeviceInfo, DeviceKind};
use run::report::Place;
use run::table::{self, ForPage};
use run::units;
use run::workload::Work;
use simt::Profile;

use crate::archive::{Archive, Bounded, Pair, STALE_MARK, STALE_NOTE};
use crate::digests::CEILING;
use crate::drawing::svg::escape;
use crate::values::memory_bandwidth;

/// A table with what belongs under it.
pub struct Shown {
    table: String,
    /// Sentences about the rows.
    notes: Vec<String>,
    /// The source of the numbers, as Markdown.
    source: String,
}

impl Shown {
    /// Writes the table for a page, with its source folded.
    pub fn for_page(&self) -> String {
        let notes = if self.notes.is_empty() { String::new() } else { format!("<p class=\"below\">{}</p>\n\n", self.notes()) };
        format!("{}\n\n{notes}{}", self.table.trim_end(), source(&self.source))
    }

    /// Writes it for a page without the book's style sheet.
    pub fn plain(&self) -> String {
        let notes = if self.notes.is_empty() { String::new() } else { self.notes() + "\n\n" };
        format!("{}\n\n{notes}*{}*", self.table.trim_end(), self.source)
    }

    fn notes(&self) -> String {
        escape(&self.notes.join(" "))
    }
}

/// Draws the source of the numbers above, behind a line to open.
pub fn source(text: &str) -> String {
    format!("<details class=\"source\">\n<summary>Source</summary>\n\n{text}\n\n</details>")
}

/// Draws a run's table, with a line about where it ran.
pub fn run(archive: &Archive, name: &str) -> Result<Shown> {
    let run = archive.run(name)?;
    // The names of stale stages have a mark.
    let mut marked = run.record.clone();
    marked.stages.iter_mut().for_each(|stage| stage.name = run.label(&stage.name));
    // The simulator has counts and no times, and a processor the reverse.
    if marked.device.kind == DeviceKind::Sim {
        marked.stages.retain(|stage| stage.place == Place::Device);
    }
    let ForPage { table, mut notes } = table::for_page(&marked);
    let DeviceInfo { kind, name, driver, compiler, .. } = &run.record.device;
    let kind = if *kind == DeviceKind::Sim { "simulated " } else { "" };
    let seed = run.record.workload.get("seed").map_or_else(|| "none".to_owned(), ToString::to_string);
    let mut source = format!("{kind}{name}; driver {driver}; {compiler}; {}, seed {seed}; {}", run.sizes(), run.day());
    if let Some(ceilings) = run.record.ceilings {
        let note = if run.is_stale(CEILING) { format!(" ({STALE_NOTE})") } else { String::new() };
        source += &format!(". Ceilings in the same run: {ceilings}{note}");
    }
    source += &format!(". Record: `{}`.", run.path());
    notes.extend(stale_note(run.has_stale()));
    Ok(Shown { table, notes, source })
}

/// Explains the stale mark, if a row has one.
fn stale_note(has_stale: bool) -> Option<String> {
    has_stale.then(|| format!("{STALE_NOTE}."))
}

/// Draws measured times next to their lower bounds. No arrangement of the same loads and multiply-adds can beat them.
pub fn bounds(archive: &Archive, name: &str) -> Result<Shown> {
    let pair = archive.pair(name)?;
    let Pair { measured, counted } = pair;
    let mut table = "| stage | bound by | at least | measured |\n|---|---|---:|---:|\n".to_owned();
    for Bounded { name, median_ms, bound } in pair.bounded() {
        let unit = bound.binding().map_or_else(String::new, |part| part.unit.to_string());
        let (least, median) = (units::milliseconds(bound.least_ms()), units::milliseconds(median_ms));
        let mark = if pair.is_stale(name) { format!(" {STALE_MARK}") } else { String::new() };
        table += &format!("| {name}{mark} | {unit} | {least} | {median} |\n");
    }
    let Work { multiply_adds, arithmetic, .. } = measured.record.work();
    let (work, piece) = (units::count(multiply_adds), arithmetic.piece());
    let source = format!("Bound: counts of `{}`, for {work} {piece}s. Measured: `{}`.", counted.path(), measured.path());
    let notes = stale_note(pair.bounded().iter().any(|row| pair.is_stale(row.name))).into_iter().collect();
    Ok(Shown { table, notes, source })
}

/// Draws how near all rows on a device come to their bounds.
///
/// There is a line for each part of the chip that bounds some of them.
pub fn all_bounds(archive: &Archive, device: &str) -> Result<Shown> {
    let pairs = archive.comparable_pairs(device);
    ensure!(!pairs.is_empty(), "no run on {device} has counts of its size");
    let mut shares = BTreeMap::<String, Vec<f64>>::new();
    let mut rows = "| run | stage | bound by | at least | measured | share |\n|---|---|---|---:|---:|---:|\n".to_owned();
    for pair in &pairs {
        for row in pair.bounded() {
            let Some(part) = row.bound.binding() else { continue };
            let (size, least, median) = (pair.measured.sizes(), row.bound.least_ms(), row.median_ms);
            let chapter = &pair.measured.record.chapter;
            let (unit, share) = (part.unit.to_string(), least / median);
            rows += &format!("| {chapter}, {size} | {} | {unit} ", row.name);
            rows += &format!("| {} | {} | {:.0} % |\n", units::milliseconds(least), units::milliseconds(median), 100.0 * share);
            shares.entry(unit).or_default().push(share);
        }
    }
    let mut table = "| bound by | rows | lowest share | median | highest |\n|---|---:|---:|---:|---:|\n".to_owned();
    for (unit, shares) in &mut shares {
        shares.sort_by(f64::total_cmp);
        let [lowest, median, highest] = [0, shares.len() / 2, shares.len() - 1].map(|at| 100.0 * shares[at]);
        table += &format!("| {unit} | {} | {lowest:.0} % | {median:.0} % | {highest:.0} % |\n", shares.len());
    }
    table += &format!("\n<details>\n<summary>Every row</summary>\n\n{rows}\n</details>\n");
    let counted: BTreeSet<String> = pairs.iter().map(|pair| format!("`{}`", pair.counted.path())).collect();
    let counted = Vec::from_iter(counted).join(", ");
    Ok(Shown { table, notes: Vec::new(), source: format!("Times: {} records of `{device}`. Counts: {counted}.", pairs.len()) })
}

/// Draws the GPUs that can be simulated.
pub fn profiles() -> String {
    let mut table =
        "| `sim:` | product | compute capability | SMs | clock | memory | L2 | shared memory per SM | figures |\n".to_owned();
    table += "|---|---|---:|---:|---:|---:|---:|---:|---|\n";
    for profile in Profile::all() {
        let Profile { name, product, compute_capability: (major, minor), multiprocessors, clock_khz, sources, .. } = profile;
        let size = |bytes: u64| if bytes == 0 { "none".to_owned() } else { units::bytes(bytes) };
        let (clock, bandwidth) = (clock_khz / 1000, units::bandwidth(memory_bandwidth(profile)));
        let (l2, shared) = (size(profile.l2_bytes), size(profile.shared_bytes_per_sm.into()));
        table += &format!("| `{name}` | {product} | {major}.{minor} | {multiprocessors} | {clock} MHz | ");
        table += &format!("{bandwidth} | {l2} | {shared} | {sources} |\n");
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "nvidia-h200/03-unroll";

    #[test]
    fn a_stale_row_is_marked_and_the_mark_is_explained() {
        let archive = Archive::read().unwrap().judged_by(|_, _| false);
        for table in [run(&archive, RUN).unwrap().for_page(), bounds(&archive, RUN).unwrap().for_page()] {
            assert!(!table.contains('†'), "{table}");
        }
        let archive = archive.judged_by(|_, stage| stage == "shared");
        for table in [run(&archive, RUN).unwrap().for_page(), bounds(&archive, RUN).unwrap().for_page()] {
            assert!(table.contains("| shared † ") && table.contains(STALE_NOTE), "{table}");
            assert_eq!(table.matches('†').count(), 2, "{table}");
        }
    }

    #[test]
    fn no_row_on_a_gpu_is_faster_than_its_bound() {
        let archive = Archive::read().unwrap();
        let devices: BTreeSet<&str> =
            archive.names().filter_map(|name| name.split('/').next()).filter(|device| device.starts_with("nvidia-")).collect();
        for device in devices {
            let mut compared = 0;
            for pair in archive.comparable_pairs(device) {
                for row in pair.bounded() {
                    let (name, least, median) = (pair.measured.name, row.bound.least_ms(), row.median_ms);
                    assert!(least <= median, "{name}: {} takes {median} ms, and at least {least} ms", row.name);
                    compared += 1;
                }
            }
            assert!(compared > 25, "{device}: {compared} rows");
            println!("{}", all_bounds(&archive, device).unwrap().plain());
        }
    }
}
