//! What the book and the README show of saved runs: made from the records, never by hand.
//!
//! A record `book/results/<device>/<run>.json` becomes `book/src/generated/<device>/<run>.md`, which pages include. In the README the
//! table stands between `<!-- table <device>/<run> -->` and `<!-- end -->`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use common::gpu::DeviceKind;
use common::record::Record;
use common::table::{self, Drawing};
use common::units;
use kernels::stamp;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Every generated file with what must stand in it.
///
/// # Errors
///
/// When a record cannot be read, when it is older than its kernel, or when the README names a record that is not there.
pub fn files() -> Result<Vec<(PathBuf, String)>> {
    let results = root().join("book/results");
    let mut tables = Vec::new();
    for device in sorted(&results)? {
        for run in sorted(&device)?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
            let text = fs::read_to_string(&run).with_context(|| run.display().to_string())?;
            let record = Record::parse(&text).with_context(|| run.display().to_string())?;
            check_age(&record).with_context(|| run.display().to_string())?;
            let name = run.strip_prefix(&results)?.with_extension("").to_string_lossy().replace('\\', "/");
            tables.push((name.clone(), page(&record, &name)));
        }
    }
    let readme_path = root().join("README.md");
    let readme = fs::read_to_string(&readme_path)?;
    let mut files = vec![(readme_path, with_tables(&readme, &tables)?)];
    let generated = root().join("book/src/generated");
    files.extend(tables.into_iter().map(|(name, table)| (generated.join(name).with_extension("md"), table)));
    Ok(files)
}

/// A result that is older than its kernel says nothing about it.
fn check_age(record: &Record) -> Result<()> {
    let source = kernels::sources().iter().find(|source| source.stem == record.chapter);
    let Some(source) = source else { bail!("no kernels are named {}", record.chapter) };
    if record.kernel_sha256 != stamp::sha256(source.cuda) {
        bail!("{} has changed since this run; run the chapter again with --save", source.path());
    }
    Ok(())
}

/// The table of a run with what it was run on.
fn page(record: &Record, name: &str) -> String {
    let mut page = table::draw(record, Drawing::Markdown);
    let device = &record.device;
    let sizes = |key: &str| record.workload.get(key).map(ToString::to_string);
    let skipped = ["seed", "multiply_adds", "least_bytes"];
    let workload: Vec<String> = record
        .workload
        .iter()
        .filter(|(key, _)| !skipped.contains(&key.as_str()))
        .map(|(key, size)| format!("{size} {key}"))
        .collect();
    let kind = if device.kind == DeviceKind::Sim { "simulated " } else { "" };
    let date = record.date.split('T').next().unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "\n\n*{kind}{}; driver {}; {}; {}, seed {}; {date}",
        device.name,
        device.driver,
        device.compiler,
        workload.join(", "),
        sizes("seed").unwrap_or_else(|| "none".to_owned()),
    );
    if let Some(ceilings) = record.ceilings {
        let (flops, bandwidth) = (units::flops(ceilings.flops), units::bandwidth(ceilings.bytes_per_s));
        let _ = write!(page, ". Ceilings in the same run: {flops} of f32 multiply-adds, {bandwidth} of copies");
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
