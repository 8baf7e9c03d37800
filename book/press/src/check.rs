//! `cargo book check`: whether the records are what `book/records.toml` says, and, with `--fresh`, whether all of them still hold.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser};
use common::record::Record;

use crate::chapters;
use crate::manifest::{Entry, Manifest, short};
use crate::stale::Kernels;
use crate::{counts, listings};

/// How strict to be.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Fail when a kernel has changed since something was measured of it; a release needs this
    #[arg(long)]
    fresh: bool,
}

impl Arguments {
    /// Checks, and lists what is stale.
    ///
    /// # Errors
    ///
    /// When a file has no entry, an entry no file, a record cannot be read, or a command is not one.
    pub fn run(&self) -> Result<ExitCode> {
        let manifest = Manifest::find()?;
        let problems = problems(&manifest)?;
        for problem in &problems {
            eprintln!("error: {problem}");
        }
        let mut stale = 0;
        for path in manifest.entries().keys() {
            if let Ok(Age::Stale(parts)) = age(&manifest, path, Kernels::stored()) {
                stale += 1;
                println!("{} is stale: {}", short(path), parts.join(", "));
            }
        }
        let records = manifest.entries().len();
        println!("{records} records, {stale} of them measured before a kernel last changed");
        if stale > 0 && self.fresh {
            eprintln!("error: {stale} records are stale; `cargo book record --stale` makes them again");
        }
        let failed = !problems.is_empty() || (self.fresh && stale > 0);
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// Whether a record still holds.
pub enum Age {
    /// It does.
    Fresh,
    /// These parts do not: stages, kernels, or the whole.
    Stale(Vec<String>),
}

/// What of a record still holds.
///
/// # Errors
///
/// When it cannot be read.
pub fn age(manifest: &Manifest, record: &str, kernels: &Kernels) -> Result<Age> {
    let path = manifest.path(record);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let parts = stale_parts(kind(record)?, &text, kernels).with_context(|| path.display().to_string())?;
    Ok(if parts.is_empty() { Age::Fresh } else { Age::Stale(parts) })
}

/// The parts of a record, given as text, that no longer hold.
///
/// # Errors
///
/// When the text is not such a record.
pub fn stale_parts(kind: Kind, text: &str, kernels: &Kernels) -> Result<Vec<String>> {
    Ok(match kind {
        Kind::Results => {
            let record = Record::parse(text)?;
            kernels.stale_parts(&record).into_iter().map(|(part, changed)| format!("{part} ({})", changed.join(", "))).collect()
        }
        Kind::Counts => {
            let stale = counts::Record::parse(text)?.kernels.into_iter().filter(|kernel| kernel.is_stale(kernels));
            stale.map(|kernel| kernel.name()).collect()
        }
        Kind::Listings if listings::is_stale(text, kernels)? => vec!["the whole".to_owned()],
        Kind::Listings => Vec::new(),
    })
}

/// The kinds of records, each in a folder of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Runs of chapters.
    Results,
    /// What was counted of every kernel.
    Counts,
    /// Machine code.
    Listings,
}

/// The kind of a record, by its path from `book/`.
///
/// # Errors
///
/// When it is in none of their folders.
pub fn kind(record: &str) -> Result<Kind> {
    match record.split('/').next() {
        Some("results") => Ok(Kind::Results),
        Some("counts") => Ok(Kind::Counts),
        Some("listings") => Ok(Kind::Listings),
        _ => anyhow::bail!("{record} is in none of the folders results, counts and listings"),
    }
}

/// What is wrong with the records or their list.
///
/// # Errors
///
/// When a folder cannot be read.
pub fn problems(manifest: &Manifest) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for folder in ["results", "counts", "listings"] {
        for path in files_below(&manifest.path(folder))? {
            let path = path.strip_prefix(manifest.path(""))?.to_string_lossy().replace('\\', "/");
            if !manifest.entries().contains_key(&path) {
                problems.push(format!("book/records.toml does not say which command makes {path}"));
            }
        }
    }
    for (path, entry) in manifest.entries() {
        let wrong = if manifest.path(path).is_file() {
            entry_problem(manifest, path, entry)
        } else {
            Err(anyhow::anyhow!("there is no such file"))
        };
        problems.extend(wrong.err().map(|error| format!("{path}: {error:#}")));
    }
    Ok(problems)
}

fn entry_problem(manifest: &Manifest, path: &str, entry: &Entry) -> Result<()> {
    age(manifest, path, Kernels::stored())?;
    ensure!(!entry.used_by.is_empty(), "nothing uses it; delete the record and its entry");
    ensure!(entry.needs.gpu() == entry.model.is_some(), "a record of a GPU names its model, and no other does");
    let (program, arguments) = entry.words();
    match kind(path)? {
        Kind::Results => {
            let record = Record::parse(&fs::read_to_string(manifest.path(path))?)?;
            ensure!(record.chapter == program, "{program} does not make a record of {}", record.chapter);
            let stages = chapters::accept(program, &arguments)?;
            let names: Vec<&str> = record.stages.iter().map(|stage| stage.name.as_str()).collect();
            ensure!(stages == names, "`{}` runs the stages {stages:?}, and the record has {names:?}", entry.command);
            if let Some(model) = &entry.model {
                ensure!(record.device.name == *model, "the record is one of {}, and not of {model}", record.device.name);
            }
            Ok(())
        }
        Kind::Counts => accept::<counts::Arguments>(entry, "counts"),
        Kind::Listings => accept::<listings::Arguments>(entry, "listing"),
    }
}

/// Reads the command line of an entry, a subcommand of `book`, without running it.
fn accept<A: Args>(entry: &Entry, subcommand: &str) -> Result<()> {
    #[derive(Parser)]
    struct Alone<A: Args> {
        #[command(flatten)]
        _arguments: A,
    }
    let (program, arguments) = entry.words();
    ensure!(program == "book" && arguments.first() == Some(&subcommand), "`{}` is not `book {subcommand} …`", entry.command);
    Alone::<A>::try_parse_from([&arguments[..], &["--save", "x"]].concat())?;
    Ok(())
}

/// The files in a folder and in the folders within.
fn files_below(folder: &std::path::Path) -> Result<Vec<std::path::PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::archive::Archive;
    use crate::{page, readme, root};

    #[test]
    fn the_list_and_the_records_agree() {
        let problems = problems(&Manifest::read(root()).unwrap()).unwrap();
        assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
    }

    #[test]
    fn what_does_not_agree_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("book");
        for kind in ["results/sim-h200", "counts", "listings"] {
            fs::create_dir_all(book.join(kind)).unwrap();
        }
        let record = "results/sim-h200/02-conv-shared.json";
        fs::copy(root().join("book").join(record), book.join(record)).unwrap();
        let found = |list: &str| {
            fs::write(book.join("records.toml"), list).unwrap();
            problems(&Manifest::read(folder.path()).unwrap()).unwrap()
        };
        let entry = |command: &str, rest: &str| format!("[\"{record}\"]\ncommand = \"{command}\"\n{rest}\n");
        let right = "needs = \"sim\"\nused_by = [\"02-conv-shared.md\"]";
        assert_eq!(found(&entry("02-conv-shared --device sim:h200", right)), Vec::<String>::new());
        let cases = [
            (String::new(), "does not say which command makes results/sim-h200/02-conv-shared.json"),
            (entry("02-conv-shared", "needs = \"sim\"\nused_by = []"), "nothing uses it"),
            (entry("02-conv-shared --devise sim", right), "unexpected argument '--devise'"),
            (entry("02-conv-shared --stage shard", right), "no stage named `shard`"),
            (entry("02-conv-shared --stage shared", right), "runs the stages [\"shared\"]"),
            (entry("02-conv-shared --size 1x0", right), "at least 1"),
            (entry("03-unroll", right), "03-unroll does not make a record of 02-conv-shared"),
            (entry("02-conv-shared", &right.replace("sim", "gpu")), "names its model"),
        ];
        for (list, message) in cases {
            let found = found(&list).join("\n");
            assert!(found.contains(message), "{found}");
        }
        let gone = entry("02-conv-shared", right).replace("sim-h200", "sim-t4");
        let found = found(&gone).join("\n");
        assert!(found.contains("results/sim-t4/02-conv-shared.json: there is no such file"), "{found}");
    }

    #[test]
    fn every_record_is_used_where_its_entry_says() {
        let mut used: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for page in page::sources().unwrap() {
            let name = page.path.strip_prefix("book/src/").unwrap_or(&page.path);
            for record in page::records_of(&page).unwrap() {
                used.entry(record).or_default().push(name.to_owned());
            }
        }
        let archive = Archive::read().unwrap();
        readme::current(&archive).unwrap();
        for record in archive.take_used() {
            used.entry(record).or_default().push("README.md".to_owned());
        }
        let mut wrong = Vec::new();
        for (record, entry) in Manifest::read(root()).unwrap().entries() {
            let found = used.remove(record).unwrap_or_default();
            if found != entry.used_by {
                wrong.push(format!("[\"{record}\"]\nused_by = {found:?}"));
            }
        }
        wrong.extend(used.keys().map(|record| format!("pages use {record}, which is not listed")));
        assert!(wrong.is_empty(), "book/records.toml should say\n{}\n", wrong.join("\n"));
    }

    #[test]
    fn records_are_kept_as_they_are_written() {
        // Numbers are read to within their last digit.
        let same_number =
            |one: &str, other: &str| match (one.trim_end_matches(',').parse::<f64>(), other.trim_end_matches(',').parse::<f64>()) {
                (Ok(one), Ok(other)) => (one - other).abs() <= 1e-15 * one.abs(),
                _ => false,
            };
        let same_line = |one: &str, other: &str| match (one.split_once(": "), other.split_once(": ")) {
            (Some((key, one)), Some((other_key, other))) => key == other_key && (one == other || same_number(one, other)),
            _ => one == other,
        };
        for path in files_below(&root().join("book/results")).unwrap() {
            let text = fs::read_to_string(&path).unwrap();
            let written = Record::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())).to_json();
            let differs = text.lines().zip(written.lines()).find(|(kept, written)| !same_line(kept, written));
            assert_eq!(differs, None, "{}: left as it is kept, right as `--save` writes it", path.display());
            assert_eq!(text.lines().count(), written.lines().count(), "{}", path.display());
        }
    }
}
