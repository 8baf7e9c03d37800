//! What the book and the README show of saved runs: made from the records, never by hand.
//!
//! A record `book/results/<device>/<run>.json` becomes `book/src/generated/<device>/<run>.md` if a page includes that. In the README the
//! table stands between `<!-- table <device>/<run> -->` and `<!-- end -->`.
//!
//! Where a chapter has a record of an H200 and one of the simulated H200, `nvidia-h200/<chapter>.bound.md` shows measured times beside
//! their bound.
//!
//! Pictures of warps, and what the checks say, come from runs of the simulator, which are the same on every machine (`pictures`):
//! `<device>/<chapter>.<stage>.svg` and `<device>/race.txt`. So do counts of a stage with its loads taken out,
//! `<device>/<chapter>.<stage>.diagnosis.txt`, and drawings of what a thread, its warp and its block read and write of the arrays,
//! `<device>/<chapter>.<stage>.footprint.svg` (`footprints`).
//!
//! Tables that only chapter 05 has are made by `window_tables`.
//!
//! Charts of the times of a chapter's stages, and of how near they come to the ceiling, are `<device>/<chapter>.times.svg` and
//! `<device>/<chapter>.shares.svg`; how they change with the size is `<device>/<chapter>.growth.svg`, or `.<outputs>.taps.svg` and
//! `.<image>.window.svg` where a chapter has several. With counts of the simulator there are `<device>/<chapter>.roofline.svg`, the rates of
//! stages over the bytes that they ask for, and `<device>/roofline.svg`, all chapters in one.
//!
//! What changes in the code from one stage to the next is `<chapter>.<from>.<to>.diff`, made by `differences`.
//!
//! The exercises are listed in `exercises.<chapter>.md`, and stand with their solutions in `solutions.md`, made by `exercise_pages`.
//!
//! What the simulator executes is listed in `instructions.md`, and what it counts is set beside a GPU's counts in
//! `counters.md`. `profiles.md` lists the GPUs that can be simulated. What the pages before the chapters show is made by `front_pages`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use common::gpu::DeviceKind;
use common::record::Record;
use common::report::Place;
use common::table::{self, Drawing};
use common::units;
use common::workload::Work;
use simt::bound::{Bound, bound};
use simt::{Counters, Profile};

use crate::chapters::chapters;
use crate::stale::Kernels;
use crate::{charts, counts, differences, exercise_pages, front_pages, instruction_tables, window_tables};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every generated file with what must stand in it.
///
/// # Errors
///
/// When a record cannot be read, or when the README names a record that is not there.
pub fn files() -> Result<Vec<(PathBuf, String)>> {
    let results = root().join("book/results");
    let mut tables = Vec::new();
    let mut records = Vec::new();
    for device in sorted(&results)? {
        for run in sorted(&device)?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
            let text = fs::read_to_string(&run).with_context(|| run.display().to_string())?;
            let record = Record::parse(&text).with_context(|| run.display().to_string())?;
            let name = run.strip_prefix(&results)?.with_extension("").to_string_lossy().replace('\\', "/");
            tables.push((name.clone(), page(&record, &name)));
            records.push((name, record));
        }
    }
    let mut charts = charts::charts(&records);
    let pairs = measured_and_counted()?;
    for (measured, counted) in &pairs {
        let chapter = format!("{H200}/{}", measured.chapter);
        tables.push((format!("{chapter}.bound"), bound_table(measured, counted)));
        let roofline = charts::roofline((&chapter, measured), (&counted_name(measured, counted), counted));
        charts.extend(roofline.map(|svg| (format!("{chapter}.roofline"), svg)));
    }
    charts.extend(charts::overview(&pairs).map(|svg| (format!("{H200}/roofline"), svg)));
    tables.extend(window_tables::tables(&records)?);
    let readme_path = root().join("README.md");
    let readme = fs::read_to_string(&readme_path)?;
    let mut files = vec![(readme_path, with_tables(&readme, &tables)?)];
    let generated = root().join("book/src/generated");
    files.push((generated.join("instructions.md"), instruction_tables::page()));
    files.push((generated.join("profiles.md"), profiles()));
    files.push((generated.join("chip.md"), front_pages::chip(&records)?));
    files.push((generated.join("naive-loop.ptx"), front_pages::naive_loop()?));
    let counts = [H200, SIMULATED_H200].map(|device| counts::Record::read(&root().join(format!("book/counts/{device}.json"))));
    let [hardware, simulated] = counts;
    files.push((generated.join("counters.md"), counts::table(&hardware?, &simulated?, Kernels::stored())?));
    files.push((generated.join("counters.names.md"), counts::names()));
    files.extend(charts.into_iter().map(|(name, svg)| (generated.join(format!("{name}.svg")), svg)));
    files.extend(differences::files()?);
    files.extend(exercise_pages::files()?);
    let pages = pages()?;
    // Records that no page shows by themselves are there for a chart.
    let shown = tables.into_iter().filter(|(name, _)| pages.contains(&format!("{{{{#include generated/{name}.md}}}}")));
    files.extend(shown.map(|(name, table)| (generated.join(format!("{name}.md")), table)));
    Ok(files)
}

/// The text of all pages of the book that are written by hand.
fn pages() -> Result<String> {
    let pages =
        sorted(&root().join("book/src"))?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.map(|path| fs::read_to_string(&path).with_context(|| path.display().to_string())).collect()
}

/// The folder of records of an H200, and of the simulated one.
pub const H200: &str = "nvidia-h200";
/// The simulated counterpart of that GPU.
pub const SIMULATED_H200: &str = "sim-h200";

/// Chapters with a record of an H200 at the headline size, and one of the simulated H200: at that size if there is one, and otherwise
/// at the size for teaching.
///
/// # Errors
///
/// When a record cannot be read.
pub fn measured_and_counted() -> Result<Vec<(Record, Record)>> {
    let mut pairs = Vec::new();
    for (chapter, _) in chapters() {
        let measured = root().join(record_name(H200, chapter, ""));
        let counted = [HEADLINE, ""].map(|size| root().join(record_name(SIMULATED_H200, chapter, size)));
        if let (true, Some(counted)) = (measured.is_file(), counted.iter().find(|path| path.is_file())) {
            let [measured, counted] =
                [&measured, counted].map(|path| -> Result<Record> { Ok(Record::parse(&fs::read_to_string(path)?)?) });
            pairs.push((measured?, counted?));
        }
    }
    Ok(pairs)
}

/// What the name of a record of the simulator has behind the chapter when it was made at the headline size, which takes minutes. Its
/// place is beside one for teaching where that says too little: where much of the work there is not that of the inner loops.
const HEADLINE: &str = ".seed";

/// Whether two runs computed the same, on whatever device. An older record does not say what was multiplied.
pub fn same_size(one: &Record, other: &Record) -> bool {
    one.work() == other.work()
}

/// The name of the record with which [`measured_and_counted`] pairs that of a GPU.
fn counted_name(measured: &Record, counted: &Record) -> String {
    format!("{SIMULATED_H200}/{}{}", measured.chapter, if same_size(measured, counted) { HEADLINE } else { "" })
}

/// Where a record is, from the root of the repository.
fn record_name(device: &str, chapter: &str, size: &str) -> String {
    format!("book/results/{device}/{chapter}{size}.json")
}

/// A stage that was timed on a GPU, with the bound of what the simulator counted.
pub struct Bounded<'a> {
    /// The stage's name.
    pub name: &'a str,
    /// Its median time.
    pub median_ms: f64,
    /// Its bound at the size that was timed.
    pub bound: Bound,
}

/// Stages that are other kernels at another size, for which their counts do not stand.
pub const OF_ITS_SIZE: [&str; 1] = ["by-size"];

/// The stages that were timed and counted. What is counted at one size stands for another: the counts that bind a stage are those of
/// its inner loop, and grow with the multiply-adds.
pub fn bounded<'a>(measured: &'a Record, counted: &Record) -> Vec<Bounded<'a>> {
    let factor = measured.work().multiply_adds as f64 / counted.work().multiply_adds as f64;
    let Some(profile) = counted.device.profile.as_deref().and_then(Profile::named) else { return Vec::new() };
    let same_size = same_size(measured, counted);
    let timed = measured.stages.iter().filter(|stage| stage.place == Place::Device);
    timed
        .filter(|stage| same_size || !OF_ITS_SIZE.contains(&stage.name.as_str()))
        .filter_map(|stage| {
            let counters = counted.stages.iter().find(|other| other.name == stage.name)?.counters?;
            let bound = bound(&scaled(&counters, factor)?, measured.work().bytes, profile);
            Some(Bounded { name: &stage.name, median_ms: stage.median_ms?, bound })
        })
        .collect()
}

/// Every count times a factor.
fn scaled(counters: &Counters, factor: f64) -> Option<Counters> {
    let mut counts = serde_json::to_value(counters).ok()?;
    for count in counts.as_object_mut()?.values_mut() {
        *count = ((count.as_f64()? * factor) as u64).into();
    }
    serde_json::from_value(counts).ok()
}

/// Measured times beside the times that no arrangement of the same loads and multiply-adds can beat.
fn bound_table(measured: &Record, counted: &Record) -> String {
    let mut table = "| stage | bound by | at least | measured |\n|---|---|---:|---:|\n".to_owned();
    for Bounded { name, median_ms, bound } in bounded(measured, counted) {
        let unit = bound.binding().map_or_else(String::new, |part| part.unit.to_string());
        let (least, median) = (units::milliseconds(bound.least_ms()), units::milliseconds(median_ms));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "| {name} | {unit} | {least} | {median} |");
    }
    let Work { multiply_adds, arithmetic, .. } = measured.work();
    let multiply_adds = units::count(multiply_adds);
    let _ = writeln!(
        table,
        "\n*Bound: counts of `book/results/{}.json`, for {multiply_adds} {}s. Measured: `{}`.*",
        counted_name(measured, counted),
        arithmetic.piece(),
        record_name(H200, &measured.chapter, ""),
    );
    table
}

/// The GPUs that can be simulated.
fn profiles() -> String {
    let mut table =
        "| `sim:` | product | compute capability | SMs | clock | memory | L2 | shared memory per SM | figures |\n".to_owned();
    table += "|---|---|---:|---:|---:|---:|---:|---:|---|\n";
    for profile in Profile::all() {
        let (major, minor) = profile.compute_capability;
        let bytes_per_s = 2.0 * f64::from(profile.memory_clock_khz) * 1e3 * f64::from(profile.memory_bus_bits) / 8.0;
        let size = |bytes: u64| if bytes == 0 { "none".to_owned() } else { units::bytes(bytes) };
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| `{}` | {} | {major}.{minor} | {} | {} MHz | {} | {} | {} | {} |",
            profile.name,
            profile.product,
            profile.multiprocessors,
            profile.clock_khz / 1000,
            units::bandwidth(bytes_per_s),
            size(profile.l2_bytes),
            size(profile.shared_bytes_per_sm.into()),
            profile.sources,
        );
    }
    table
}

/// The table of a run with what it was run on.
fn page(record: &Record, name: &str) -> String {
    let mut page = table::draw(record, Drawing::Markdown);
    let device = &record.device;
    let kind = if device.kind == DeviceKind::Sim { "simulated " } else { "" };
    let date = record.date.split('T').next().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "\n\n*{kind}{}; driver {}; {}; {}, seed {}; {date}",
        device.name,
        device.driver,
        device.compiler,
        charts::sizes(record),
        record.workload.get("seed").map_or_else(|| "none".to_owned(), ToString::to_string),
    );
    if let Some(ceilings) = record.ceilings {
        let _ = write!(page, ". Ceilings in the same run: {ceilings}");
    }
    let _ = writeln!(page, ". Record: `book/results/{name}.json`.*");
    page
}

/// Puts the tables in their places in a text.
fn with_tables(text: &str, tables: &[(String, String)]) -> Result<String> {
    const END: &str = "<!-- end -->";
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!-- table ") {
        let (name, after) = after.split_once(" -->").context("a table mark that does not end")?;
        let (_, after) = after.split_once(END).with_context(|| format!("table {name} has no {END}"))?;
        let table = tables.iter().find(|(known, _)| known == name);
        let (_, table) = table.with_context(|| format!("no record book/results/{name}.json"))?;
        let _ = write!(result, "{before}<!-- table {name} -->\n\n{table}\n{END}");
        rest = after;
    }
    result.push_str(rest);
    Ok(result)
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
