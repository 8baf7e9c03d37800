//! Tables of chapter 05's page: how often its first version and the halves of it ask global memory, what its original published beside the
//! bound on the GPU that it ran on, and what the spacing of slices costs on GPUs of several generations.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use common::gpu::Gpu;
use common::observer;
use common::record::{Record, StageRecord};
use common::stage::Run;
use common::units::{milliseconds, percent, significant};
use common::workload::window_sums::{Size, WindowSums};
use common::workload::{Border, Workload};
use simt::Profile;
use window_sums::{CHAPTER as WINDOW_SUMS, FUSED_GLOBAL};

/// The chapter that the tables are of.
const CHAPTER: &str = "05-window-sums";

/// Times that the original publishes, in milliseconds, for a picture whose size it does not tell.
pub const PUBLISHED: [(&str, f64); 3] = [("fused-global", 12.0), ("split-global", 7.0), ("shared-slices", 1.65)];

/// The GPU of the original, as a folder of records.
const PUBLISHED_ON: &str = "sim-9800gt";

/// The tables that are made from records of the simulator, by the name of their file without extension, where there are such records.
///
/// # Errors
///
/// When a record lacks a stage.
pub fn tables(records: &[(String, Record)]) -> Result<Vec<(String, String)>> {
    let mut tables = Vec::new();
    if let Some((name, record)) = records.iter().find(|(name, _)| *name == format!("{PUBLISHED_ON}/{CHAPTER}")) {
        tables.push((format!("{name}.published"), published(record)?));
    }
    let simulated = records.iter().filter(|(name, record)| {
        name.starts_with("sim-") && name.ends_with(&format!("/{CHAPTER}")) && record.device.profile.is_some()
    });
    let simulated: Vec<&Record> = simulated.map(|(_, record)| record).collect();
    if !simulated.is_empty() {
        tables.push((format!("{CHAPTER}.slices"), slices(&simulated)?));
    }
    Ok(tables)
}

fn stage<'a>(record: &'a Record, name: &str) -> Result<&'a StageRecord> {
    record.stages.iter().find(|stage| stage.name == name).with_context(|| format!("{} has no stage {name}", record.chapter))
}

/// The original's rows: as published, and their bound at the size of the record. Only what the rows are to each other can be compared.
fn published(record: &Record) -> Result<String> {
    let mut table =
        "| stage | published | of the first | bound, simulated | of the first | bound by |\n|---|---:|---:|---:|---:|---|\n"
            .to_owned();
    let mut first = None;
    for (name, published_ms) in PUBLISHED {
        let bound = record.bound(stage(record, name)?).with_context(|| format!("{name} has no counts"))?;
        let (of_published, of_bound) = *first.get_or_insert((published_ms, bound.least_ms()));
        let unit = bound.binding().map_or_else(String::new, |part| part.unit.to_string());
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} | {} | {unit} |",
            milliseconds(published_ms),
            percent(published_ms / of_published),
            milliseconds(bound.least_ms()),
            percent(bound.least_ms() / of_bound),
        );
    }
    let device = &record.device;
    let _ = writeln!(
        table,
        "\n*Published: GeForce 9800 GT, window 15, size unknown. Bound: simulated {}, {}, {}. Record: `book/results/{PUBLISHED_ON}/{CHAPTER}.json`.*",
        device.name,
        device.compiler,
        crate::charts::sizes(record),
    );
    Ok(table)
}

/// How often each thread of the first version, and of its halves, asks global memory: accesses of one place, with windows of 15.
/// `gpu` is the simulator, and which GPU it simulates makes no difference.
///
/// # Errors
///
/// When a kernel does not run.
pub fn halves(gpu: &Gpu) -> Result<String> {
    // Whole warps, so that a warp's requests are those of each of its threads.
    let (window, places) = (15, 256);
    let sums = WindowSums::random(Size { width: places + window - 1, height: 1 }, window, Border::Valid, 13)?;
    let fused = (FUSED_GLOBAL.name, "both", FUSED_GLOBAL.run);
    let halves = WINDOW_SUMS.experiments.iter().map(|experiment| (experiment.name, experiment.left, Run::Launches(experiment.run)));
    let mut table = "| kernel | what it computes | loads | stores | accesses |\n|---|---|---:|---:|---:|\n".to_owned();
    let mut accesses = Vec::new();
    for (name, what, run) in std::iter::once(fused).chain(halves) {
        let Run::Launches(enqueue) = run else { bail!("{name} is not a plain launch") };
        let mut buffers = sums.upload(gpu)?;
        observer::forget(gpu)?;
        enqueue(gpu, &sums, &mut buffers)?;
        gpu.stream.synchronize()?;
        let counters = observer::take(gpu)?.counters.context("only the simulator counts")?;
        let per_thread = |requests: u64| requests / u64::from(places / 32);
        let (loads, stores) = (per_thread(counters.global_load_requests), per_thread(counters.global_store_requests));
        accesses.push(loads + stores);
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {name} | {what} | {loads} | {stores} | {} |", loads + stores);
    }
    let [whole, ref halves @ ..] = accesses[..] else { bail!("there is no whole") };
    let _ = writeln!(
        table,
        "\n*Accesses to global memory for one pixel with a window of {window}, counted by the simulator. The two halves together: {} of the whole.*",
        percent(halves.iter().sum::<u64>() as f64 / whole as f64)
    );
    Ok(table)
}

/// Passes through the banks per request, for slices that start 15 and 16 words apart.
fn slices(records: &[&Record]) -> Result<String> {
    let mut table = "| GPU | compute capability | slices of 15 words | slices of 16 words |\n|---|---:|---:|---:|\n".to_owned();
    let mut records = records.to_vec();
    records
        .sort_by_key(|record| record.device.profile.as_deref().and_then(Profile::named).map(|profile| profile.compute_capability));
    for record in records {
        let passes = |name: &str| -> Result<String> {
            let counters = stage(record, name)?.counters.with_context(|| format!("{name} has no counts"))?;
            let requests = counters.shared_load_requests + counters.shared_store_requests;
            let wavefronts = counters.shared_load_wavefronts + counters.shared_store_wavefronts;
            Ok(significant(wavefronts as f64 / requests as f64))
        };
        let device = &record.device;
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} |",
            device.name,
            device.compute_capability,
            passes("shared-slices")?,
            passes("padded-slices")?
        );
    }
    let _ = writeln!(
        table,
        "\n*Passes through the banks per request to shared memory, loads and stores, simulated. Records: `book/results/sim-*/{CHAPTER}.json`.*"
    );
    Ok(table)
}
