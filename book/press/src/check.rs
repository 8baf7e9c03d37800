//! `cargo book check`: checks that the records are what `book/records.toml` says, and, with `--fresh`, that all of them still hold.

use std::process::ExitCode;

use crate::archive::files_below;
use crate::chapters::with_chapter;
use crate::digests::Kernels;
use crate::manifest::{EXPERIMENT, Entry, Manifest, short};
use crate::stale::Kept;
use crate::{counts, listings};
use anyhow::{Context, Result, anyhow, ensure};
use clap::{Args, Command};

/// The strictness of the check.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Fail when a kernel has changed since something was measured of it; a release needs this
    #[arg(long)]
    fresh: bool,
}

impl Arguments {
    /// Checks the records, and lists those that are stale.
    pub fn run(&self) -> Result<ExitCode> {
        let manifest = Manifest::find()?;
        let problems = problems(&manifest)?;
        problems.iter().for_each(|problem| eprintln!("error: {problem}"));
        let mut stale = 0;
        for path in manifest.entries.keys() {
            let parts = stale_parts(&manifest, path).unwrap_or_default();
            if !parts.is_empty() {
                stale += 1;
                println!("{} is stale: {}", short(path), parts.join(", "));
            }
        }
        let records = manifest.entries.len();
        println!("{records} records, {stale} of them stale");
        if stale > 0 && self.fresh {
            eprintln!("error: {stale} records are stale; `cargo book record --stale` makes them again");
        }
        let failed = !problems.is_empty() || (self.fresh && stale > 0);
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// Returns the parts of a record that no longer hold: stages, kernels, or the whole. A stage that its command runs and that it does not have
/// yet is one of them.
pub fn stale_parts(manifest: &Manifest, path: &str) -> Result<Vec<String>> {
    let kept = Kept::read(manifest, path)?;
    let mut parts = kept.stale_parts(Kernels::stored()).with_context(|| path.to_owned())?;
    if let (Kept::Results(record), Some(entry)) = (&kept, manifest.entries.get(path)) {
        let is_new = |name: &&str| record.stages.iter().all(|stage| stage.name != *name);
        parts.extend(stages(entry)?.into_iter().filter(is_new).map(|stage| format!("{stage} (new)")));
    }
    Ok(parts)
}

/// Lists the problems of the records and of their list.
pub fn problems(manifest: &Manifest) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for folder in ["results", "counts", "listings"] {
        for path in files_below(&manifest.path(folder))? {
            let path = path.strip_prefix(manifest.path(""))?.to_string_lossy().replace('\\', "/");
            if !manifest.entries.contains_key(&path) {
                problems.push(format!("book/records.toml does not say which command makes {path}"));
            }
        }
    }
    for (path, entry) in &manifest.entries {
        problems.extend(check_entry(manifest, path, entry).err().map(|error| format!("{path}: {error:#}")));
    }
    Ok(problems)
}

fn check_entry(manifest: &Manifest, path: &str, entry: &Entry) -> Result<()> {
    ensure!(manifest.path(path).is_file(), "there is no such file");
    stale_parts(manifest, path)?;
    let (_, _, on_gpu) = entry.needs.details();
    ensure!(on_gpu == entry.model.is_some(), "a record of a GPU names its model, and no other does");
    match Kept::read(manifest, path)? {
        Kept::Results(record) => {
            let (program, arguments) = entry.words();
            if program == EXPERIMENT {
                ensure!(
                    record.chapter == format!("{EXPERIMENT}-{}", arguments.join(" ")),
                    "the record is one of {}",
                    record.chapter
                );
                return Ok(());
            }
            ensure!(record.chapter == program, "{program} does not make a record of {}", record.chapter);
            let stages = stages(entry)?;
            let names: Vec<&str> = record.stages.iter().map(|stage| stage.name.as_str()).collect();
            let old: Vec<&str> = stages.iter().copied().filter(|stage| names.contains(stage)).collect();
            ensure!(old == names, "`{}` runs the stages {stages:?}, and the record has {names:?}", entry.command);
            if let Some(model) = &entry.model {
                ensure!(record.device.name == *model, "the record is one of {}, and not of {model}", record.device.name);
            }
            Ok(())
        }
        Kept::Counts(_) => accept::<counts::count::Arguments>(entry, "counts"),
        Kept::Listing(_) => accept::<listings::Arguments>(entry, "listing"),
    }
}

/// Lists the stages that an entry's command runs, in table order. An experiment has none.
fn stages(entry: &Entry) -> Result<Vec<&'static str>> {
    let (program, arguments) = entry.words();
    if program == EXPERIMENT {
        return Ok(Vec::new());
    }
    with_chapter!(program, chapter => cli::stages(chapter, &arguments).map_err(|problem| anyhow!("{program}: {problem}")))
}

/// Reads an entry's command line, a subcommand of `book`, without running it.
fn accept<A: Args>(entry: &Entry, subcommand: &'static str) -> Result<()> {
    let words = || entry.command.split_whitespace();
    ensure!(words().take(2).eq(["book", subcommand]), "`{}` is not `book {subcommand} …`", entry.command);
    A::augment_args(Command::new(subcommand)).try_get_matches_from(words().skip(1).chain(["--save", "x"]))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use run::record::Record;

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
        let right = "needs = \"sim\"";
        assert_eq!(found(&entry("02-conv-shared --device sim:h200", right)), Vec::<String>::new());
        let cases = [
            (String::new(), "does not say which command makes results/sim-h200/02-conv-shared.json"),
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
        // A stage that is newer than the record makes it stale.
        let text = fs::read_to_string(root().join("book").join(record)).unwrap();
        let mut older: serde_json::Value = serde_json::from_str(&text).unwrap();
        older["stages"].as_array_mut().unwrap().remove(1);
        fs::write(book.join(record), older.to_string()).unwrap();
        assert_eq!(found(&entry("02-conv-shared --device sim:h200", right)), Vec::<String>::new());
        let manifest = Manifest::read(folder.path()).unwrap();
        assert_eq!(stale_parts(&manifest, record).unwrap(), ["shared (new)"]);
        let gone = entry("02-conv-shared", right).replace("sim-h200", "sim-t4");
        let found = found(&gone).join("\n");
        assert!(found.contains("results/sim-t4/02-conv-shared.json: there is no such file"), "{found}");
    }

    #[test]
    fn every_record_is_used_and_listed() {
        let mut used = page::records_of(&page::sources().unwrap()).unwrap();
        let archive = Archive::read().unwrap();
        readme::current(&archive).unwrap();
        used.extend(archive.take_used());
        let listed: BTreeSet<String> = Manifest::read(root()).unwrap().entries.into_keys().collect();
        let unused: Vec<_> = listed.difference(&used).collect();
        assert!(unused.is_empty(), "no page uses {unused:?}: delete the records and their entries");
        let lost: Vec<_> = used.difference(&listed).collect();
        assert!(lost.is_empty(), "book/records.toml does not list {lost:?}");
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
