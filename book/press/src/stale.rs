//! Finds the rows of a record that still hold: those whose kernels have not changed since.
//!
//! A record names the kernels of each row with the digests that their PTX had ([`compilers::digest`]). A row is *stale* when one of these
//! digests differs from that of the PTX that is stored now, or when the kernel is gone. A stale row is still shown, with a label; nothing
//! but `cargo book check --fresh` fails on it.

use std::fs;

use anyhow::{Context, Result, bail};
use run::record::Record;

use crate::counts::{self, KernelCounts};
use crate::digests::Kernels;
use crate::listings;
use crate::manifest::Manifest;

/// A record of any kind, as it was read.
pub enum Kept {
    /// A run of a chapter.
    Results(Box<Record>),
    /// Counts of every kernel.
    Counts(counts::Record),
    /// The text of a listing.
    Listing(String),
}

impl Kept {
    /// Reads a record of the manifest's repository.
    pub fn read(manifest: &Manifest, record: &str) -> Result<Self> {
        let path = manifest.path(record);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Self::parse(record, text).with_context(|| path.display().to_string())
    }

    /// Reads the text of a record; its path from `book/` says the kind.
    pub fn parse(record: &str, text: String) -> Result<Self> {
        Ok(match record.split('/').next() {
            Some("results") => Self::Results(Box::new(Record::parse(&text)?)),
            Some("counts") => Self::Counts(serde_json::from_str(&text)?),
            Some("listings") => Self::Listing(text),
            _ => bail!("{record} is in none of the folders results, counts and listings"),
        })
    }

    /// Returns the parts that do not hold with these kernels, in words.
    pub fn stale_parts(&self, kernels: &Kernels) -> Result<Vec<String>> {
        Ok(match self {
            Self::Results(record) => {
                let parts = kernels.stale_parts(record).into_iter();
                parts.map(|(part, changed)| format!("{part} ({})", changed.join(", "))).collect()
            }
            Self::Counts(record) => {
                record.kernels.iter().filter(|kernel| kernel.is_stale(kernels)).map(KernelCounts::name).collect()
            }
            Self::Listing(text) if listings::is_stale(text, kernels)? => vec!["the whole".to_owned()],
            Self::Listing(_) => Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::LazyLock;

    use compilers::digest;
    use run::record::KernelDigests;

    use super::*;
    use crate::manifest::short;
    use crate::root;

    fn manifest() -> Manifest {
        Manifest::read(root()).unwrap()
    }

    /// Returns the kernels with another text for one source.
    fn changed(stem: &str, change: impl Fn(&str) -> String) -> Kernels {
        let source = kernels::sources().iter().find(|source| digest::stem(source) == stem).unwrap();
        let text = change(source.ptx);
        assert_ne!(text, source.ptx);
        Kernels::stored().with(stem, &text).unwrap()
    }

    /// Returns the text with another rounding in a kernel's first multiply-add.
    fn another_instruction(ptx: &str, kernel: &str) -> String {
        let (head, rest) = ptx.split_once(&format!(".entry {kernel}(")).unwrap();
        format!("{head}.entry {kernel}({}", rest.replacen("fma.rn.f32", "fma.rz.f32", 1))
    }

    /// Returns every record by path, as if made from the stored kernels. It does not matter what has changed since.
    fn made_now() -> &'static BTreeMap<String, Kept> {
        static MADE: LazyLock<BTreeMap<String, Kept>> = LazyLock::new(|| {
            let manifest = manifest();
            let made = |record: &String| (record.clone(), renewed(record, fs::read_to_string(manifest.path(record)).unwrap()));
            manifest.entries.keys().map(made).collect()
        });
        &MADE
    }

    fn renewed(path: &str, text: String) -> Kept {
        let now = |name: &String| Kernels::stored().digest(name).map(str::to_owned);
        let mut kept = Kept::parse(path, text).unwrap();
        match &mut kept {
            Kept::Results(record) => {
                let rows = record.stages.iter_mut().map(|row| &mut row.kernels);
                rows.chain([&mut record.ceiling_kernels]).flatten().for_each(|(name, digest)| *digest = now(name));
            }
            Kept::Counts(record) => {
                for counts in &mut record.kernels {
                    counts.digest = KernelCounts::new(&counts.group, &counts.kernel).digest;
                }
            }
            Kept::Listing(text) => {
                let kernel = text.lines().find_map(|line| line.strip_prefix("// kernel: ")).unwrap().to_owned();
                let line = |line: &str| match line.starts_with("// digest: ") {
                    true => format!("// digest: {}\n", now(&kernel).unwrap()),
                    false => format!("{line}\n"),
                };
                *text = text.lines().map(line).collect();
            }
        }
        assert_eq!(kept.stale_parts(Kernels::stored()).unwrap(), Vec::<String>::new(), "{path}");
        kept
    }

    /// Lists the records' parts that these kernels would make stale: `record: part (kernels)`. Assumes records of the stored kernels.
    fn newly_stale(kernels: &Kernels) -> Vec<String> {
        let of_record = |(path, kept): (&String, &Kept)| {
            let parts = kept.stale_parts(kernels).unwrap().into_iter();
            parts.map(|part| format!("{}: {part}", short(path))).collect::<Vec<_>>()
        };
        made_now().iter().flat_map(of_record).collect()
    }

    #[test]
    fn comments_and_line_numbers_make_nothing_stale() {
        for source in kernels::sources() {
            let shifted = |line: &str| match line.trim_start().strip_prefix(".loc\t") {
                Some(rest) => {
                    let mut numbers: Vec<String> = rest.split(' ').map(str::to_owned).collect();
                    numbers[1] = (numbers[1].parse::<u32>().unwrap() + 1).to_string();
                    format!("\t.loc\t{} // moved\n", numbers.join(" "))
                }
                None => format!("{line} // a comment\n"),
            };
            let kernels = changed(digest::stem(source), |ptx| ptx.lines().map(shifted).collect());
            assert_eq!(newly_stale(&kernels), Vec::<String>::new(), "{}", source.path);
        }
    }

    #[test]
    fn an_instruction_of_shared_makes_the_rows_of_that_stage_stale_and_no_others() {
        for (chapter, listings) in [("02-conv-shared", &[][..]), ("03-unroll", &["listings/03-unroll.shared"])] {
            let kernels = changed(chapter, |ptx| another_instruction(ptx, "shared"));
            let kernel = format!("{chapter}/shared");
            let manifest = manifest();
            let records = manifest.entries.keys().filter_map(|path| {
                let name = short(path);
                let run = name.rsplit('/').next().unwrap_or_default();
                let of_chapter = run == chapter || run.starts_with(&format!("{chapter}."));
                // A record of other stages alone does not have the row.
                let mut stages = manifest.entries[path].command.split(" --stage ").skip(1).peekable();
                let has_row = stages.peek().is_none() || stages.any(|stage| stage.starts_with("shared"));
                let of_chapter = of_chapter && has_row;
                (of_chapter && path.starts_with("results/")).then(|| format!("{name}: shared ({kernel})"))
            });
            let counts = ["nvidia-h200", "sim-h200"].map(|device| format!("counts/{device}: {kernel}"));
            let listings = listings.iter().map(|name| format!("{name}: the whole"));
            let mut expected: Vec<String> = records.chain(counts).chain(listings).collect();
            let mut found = newly_stale(&kernels);
            expected.sort();
            found.sort();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_kernel_that_several_stages_launch_makes_all_of_them_stale() {
        let kernels = changed("03-unroll", |ptx| {
            let (head, rest) = ptx.split_once(".entry add_slices(").unwrap();
            format!("{head}.entry add_slices({}", rest.replacen("add.f32", "sub.f32", 1))
        });
        let Kept::Results(record) = &made_now()["results/nvidia-h200/03-unroll.json"] else { panic!("the record of a run") };
        let stale: Vec<&str> =
            record.stages.iter().map(|row| row.name.as_str()).filter(|row| kernels.is_stale(record, row)).collect();
        assert_eq!(stale, ["split-filter", "constant-filter", "long-run", "tensor-tf32x3", "tensor-f16x3"]);
    }

    #[test]
    fn the_kernels_of_the_ceilings_age_by_themselves() {
        let kernels = changed("ceilings", |ptx| another_instruction(ptx, "fma_chains"));
        let found = newly_stale(&kernels);
        assert!(found.contains(&"nvidia-h200/01-conv-naive: ceiling (ceilings/fma_chains)".to_owned()), "{found:?}");
        assert!(
            found.iter().all(|part| part.ends_with("(ceilings/fma_chains)") || part.ends_with(": ceilings/fma_chains")),
            "{found:?}"
        );
    }

    #[test]
    fn a_kernel_that_is_gone_or_has_no_digest_is_changed() {
        let then = |name: &str, digest: Option<&str>| KernelDigests::from([(name.to_owned(), digest.map(str::to_owned))]);
        let shared = Kernels::stored().digest("03-unroll/shared").unwrap();
        let changed = |then: KernelDigests| !Kernels::stored().changed(&then).is_empty();
        assert!(!changed(then("03-unroll/shared", Some(shared))));
        assert!(changed(then("03-unroll/shared", None)));
        assert!(changed(then("03-unroll/gone", Some(shared))));
        assert!(changed(then("02-conv-shared/shared", Some(shared))));
    }
}
