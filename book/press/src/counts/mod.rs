//! The simulator's counts next to those of Nsight Compute on a GPU: records of both, and the table of the book that compares them.
//!
//! `book/counts/<device>.json` holds what one device counted for every kernel of the project and for the patterns of
//! `simulator/simt/tests/programs/merging.cu`, which hold what a compiler makes wider loads of and what it does not. `cargo book
//! record counts/<device>` makes them again.

use std::collections::BTreeMap;
use std::fs;
use std::sync::LazyLock;

use anyhow::{Context, Result, ensure};
use compilers::digest;
use kernels::{Source, ceilings};
use run::units;
use serde::{Deserialize, Serialize};
use simt::Counters;

use crate::archive::{Archive, STALE_MARK};
use crate::chapters::chapters;
use crate::digests::Kernels;
use crate::directive::Arguments;
use crate::root;
use crate::tables::source;

pub mod count;

/// The PTX of the patterns.
const PATTERNS_PTX: &str = include_str!("../../../../simulator/simt/tests/programs/merging.ptx");
/// The name of their group.
const PATTERNS_GROUP: &str = "patterns";
/// The name of the group of kernels that measure the ceilings. The other groups are named by their chapter.
const CEILINGS_GROUP: &str = "ceilings";

/// The path of the reasons for differences, from the repository's root.
const DIFFERENCES: &str = "book/differences.toml";

/// The counts of one device.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    /// The device's name.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// The compiler of the PTX, which is that of the repository on a GPU as well.
    pub compiler: String,
    /// The program that counted.
    pub counted_by: String,
    /// When, in ISO 8601.
    pub date: String,
    /// The kernels, group by group in the order in which they ran.
    pub kernels: Vec<KernelCounts>,
}

/// The counts of all launches of one kernel.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelCounts {
    /// The stem of its source, or `patterns`.
    pub group: String,
    /// Its name.
    pub kernel: String,
    /// The digest of its PTX ([`compilers::digest`]), so that a count which is older than its kernel is seen.
    pub digest: Option<String>,
    /// By the name that Nsight Compute has for it.
    pub values: BTreeMap<String, u64>,
}

/// A count that both have: Nsight Compute's name, the heading of its column, and the simulator's count.
type Metric = (&'static str, &'static str, fn(&Counters) -> u64);

/// The counts that are compared.
const METRICS: [Metric; 9] = [
    ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global load requests", |c| c.global_load_requests),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "their sectors", |c| c.global_load_sectors),
    ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global store requests", |c| c.global_store_requests),
    ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "their sectors", |c| c.global_store_sectors),
    ("smsp__inst_executed_op_shared_ld_pred_on_any.sum", "shared loads", |c| c.shared_load_requests),
    ("smsp__inst_executed_op_shared_st_pred_on_any.sum", "shared stores", |c| c.shared_store_requests),
    ("memory_l1_wavefronts_shared", "shared wavefronts", |c| c.shared_load_wavefronts + c.shared_store_wavefronts),
    ("memory_l1_wavefronts_shared_ideal", "ideal", |c| c.shared_load_wavefronts_ideal + c.shared_store_wavefronts_ideal),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "f32 multiply-adds", |c| c.f32_fma),
];

/// A difference that is understood, in `book/differences.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Difference {
    /// The kernels that differ, as [`KernelCounts::name`] has them.
    kernel: String,
    /// Nsight Compute's names of the counts.
    metrics: Vec<String>,
    /// The reason, with the line that it comes from.
    reason: String,
    /// True if the GPU's count differs from run to run, and may be equal by chance.
    #[serde(default)]
    varies: bool,
}

/// The digests of the patterns.
static PATTERNS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| digest::of_text(PATTERNS_PTX).unwrap_or_default());

/// Returns the current digest of a group's kernel, if it exists.
fn digest_now(kernels: &Kernels, group: &str, kernel: &str) -> Option<String> {
    let of = |sources: &[&Source]| {
        let names = sources.iter().map(|source| format!("{}/{kernel}", digest::stem(source)));
        names.into_iter().find_map(|name| kernels.digest(&name).map(str::to_owned))
    };
    match group {
        PATTERNS_GROUP => PATTERNS.get(kernel).cloned(),
        CEILINGS_GROUP => of(&[&ceilings::SOURCE, &ceilings::dp4a::SOURCE]),
        chapter => chapters().into_iter().find(|(name, _)| *name == chapter).and_then(|(_, sources)| of(sources)),
    }
}

impl KernelCounts {
    /// Returns the counts of a kernel as it is now.
    pub fn new(group: &str, kernel: &str) -> Self {
        let digest = digest_now(Kernels::stored(), group, kernel);
        Self { group: group.to_owned(), kernel: kernel.to_owned(), digest, values: BTreeMap::new() }
    }

    /// Returns true if the kernel has changed since, or is gone.
    pub fn is_stale(&self, kernels: &Kernels) -> bool {
        self.digest.is_none() || self.digest != digest_now(kernels, &self.group, &self.kernel)
    }

    /// Returns the name for people: `03-unroll/shared`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.group, self.kernel)
    }
}

impl Record {
    /// Reads the record of a device.
    pub fn read(device: &str) -> Result<Self> {
        let path = format!("book/counts/{device}.json");
        let text = fs::read_to_string(root().join(&path)).with_context(|| format!("there is no {path}"))?;
        serde_json::from_str(&text).context(path)
    }

    /// Returns the counts of a kernel.
    fn of(&self, group: &str, kernel: &str) -> Option<&KernelCounts> {
        self.kernels.iter().find(|counts| (counts.group.as_str(), counts.kernel.as_str()) == (group, kernel))
    }

    /// Returns the kernels that another record lacks, in words.
    fn lone(&self, other: &Record) -> String {
        let lone = self.kernels.iter().filter(|kernel| other.of(&kernel.group, &kernel.kernel).is_none());
        lone.map(|kernel| format!("`{}`", kernel.name())).collect::<Vec<_>>().join(", ")
    }
}

/// Reads the kernels' counts from a table of Nsight Compute (`--csv --page raw`). Sums them over launches, in the order of the first.
pub fn read_profile(group: &str, text: &str) -> Result<Vec<KernelCounts>> {
    // The output of the profiled program and of the profiler comes before the table.
    let start = text.find("\"ID\"").with_context(|| format!("Nsight Compute counted nothing:\n{text}"))?;
    let mut rows = rows(&text[start..]).into_iter();
    let columns = rows.next().unwrap_or_default();
    let mut kernels: Vec<KernelCounts> = Vec::new();
    for row in rows {
        let field = |name: &str| columns.iter().position(|column| column == name).and_then(|column| row.get(column));
        // The row of units has no name.
        let Some(name) = field("Kernel Name").filter(|name| !name.is_empty()) else { continue };
        let name = name.split('(').next().unwrap_or(name);
        for (metric, ..) in METRICS {
            let value = field(metric).and_then(|text| text.replace(',', "").parse::<f64>().ok());
            let value = value.with_context(|| format!("{name} has no {metric}"))?;
            *counts_of(&mut kernels, group, name).values.entry(metric.to_owned()).or_default() += value as u64;
        }
    }
    Ok(kernels)
}

/// Returns the fields of each row of a table in CSV.
fn rows(text: &str) -> Vec<Vec<String>> {
    // A row ends with its line, and a field is at most as long as the text.
    let text = text.to_owned() + "\n";
    let mut rest = text.as_bytes();
    let mut field = vec![0; text.len()];
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    let mut reader = csv_core::Reader::new();
    while let (csv_core::ReadFieldResult::Field { record_end }, read, written) = reader.read_field(rest, &mut field) {
        rest = &rest[read..];
        row.push(String::from_utf8_lossy(&field[..written]).into_owned());
        if record_end {
            rows.push(std::mem::take(&mut row));
        }
    }
    rows
}

/// Returns the counts of a kernel in a list. A new kernel is added at the end.
fn counts_of<'a>(kernels: &'a mut Vec<KernelCounts>, group: &str, name: &str) -> &'a mut KernelCounts {
    let index = kernels.iter().position(|kernel| kernel.group == group && kernel.kernel == name).unwrap_or_else(|| {
        kernels.push(KernelCounts::new(group, name));
        kernels.len() - 1
    });
    &mut kernels[index]
}

/// Returns Nsight Compute's names for the columns of [`table`], as Markdown.
fn names() -> String {
    let rows = METRICS.map(|(name, heading, _)| format!("| {heading} | `{name}` |\n"));
    "| column | Nsight Compute |\n|---|---|\n".to_owned() + &rows.concat()
}

/// Renders the directive `counts`: the table of two devices' records, or, with `names`, the names of its columns.
pub fn render(archive: &Archive, arguments: &mut Arguments) -> Result<String> {
    let first = arguments.word("a device with counts, or `names`,")?;
    if first == "names" {
        return Ok(names());
    }
    let read = |device: &str| {
        archive.note(&format!("counts/{device}.json"));
        Record::read(device)
    };
    table(&read(&first)?, &read(&arguments.word("the simulated device")?)?)
}

/// Draws the records of both, side by side, as Markdown. A number alone is what both counted. Kernels that have changed since either was made
/// are marked, and a difference there needs no reason; kernels that only one of the two has are named below the table. Fails if counts of a
/// kernel that has not changed differ without a known reason, or no longer differ.
fn table(hardware: &Record, simulated: &Record) -> Result<String> {
    let known: BTreeMap<String, Vec<Difference>> =
        toml::from_str(&fs::read_to_string(root().join(DIFFERENCES))?).context(DIFFERENCES)?;
    let mut table = "| kernel |".to_owned();
    METRICS.iter().for_each(|(_, heading, _)| table += &format!(" {heading} |"));
    table += &format!("\n|---|{}", "---:|".repeat(METRICS.len()));
    let mut reasons = Vec::new();
    let (mut equal, mut compared) = (0, 0);
    let mut any_stale = false;
    let mut group = "";
    for ours in &simulated.kernels {
        let Some(theirs) = hardware.of(&ours.group, &ours.kernel) else { continue };
        let kernel = ours.name();
        if ours.group != group {
            group = &ours.group;
            table += &format!("\n| **{group}** |{}", " |".repeat(METRICS.len()));
        }
        let is_stale = [ours, theirs].iter().any(|counts| counts.is_stale(Kernels::stored()));
        any_stale |= is_stale;
        table += &format!("\n| `{}`{} |", ours.kernel, if is_stale { format!(" {STALE_MARK}") } else { String::new() });
        for (name, ..) in METRICS {
            let [counted, modeled] = [theirs, ours].map(|kernel| kernel.values.get(name).copied());
            let (counted, modeled) = counted.zip(modeled).with_context(|| format!("{kernel} has no {name}"))?;
            let difference =
                known.values().flatten().find(|known| known.kernel == kernel && known.metrics.iter().any(|it| it == name));
            compared += 1;
            if counted == modeled {
                equal += 1;
                table += &format!(" {} |", units::count(counted));
                ensure!(is_stale || difference.is_none_or(|known| known.varies), "{kernel}: {name} no longer differs");
            } else {
                table += &format!(" **{} / {}** |", units::count(counted), units::count(modeled));
                ensure!(is_stale || difference.is_some(), "{kernel}: {name} is {counted} on the GPU and {modeled} here");
                reasons.extend(difference.map(|known| format!("- `{}`: {}", ours.kernel, known.reason)));
            }
        }
    }
    let date = |record: &Record| record.date.split('T').next().unwrap_or_default().to_owned();
    let Record { device, driver, compiler, counted_by, .. } = hardware;
    let mut from = format!("{device}: driver {driver}, {compiler}, {counted_by}, {}. ", date(hardware));
    let Record { device, compiler, .. } = simulated;
    from += &format!("{device}: {compiler}, {}. Records: `book/counts/*.json`.", date(simulated));
    table += &format!(
        "\n\n*{equal} of {compared} counts are equal. A number alone is what both count; two are the GPU's and the simulator's.*\n\n{}\n",
        source(&from)
    );
    if any_stale {
        table += &format!("\n*{STALE_MARK} counted before this kernel last changed*\n");
    }
    for (lone, counted_by) in [(hardware.lone(simulated), "the GPU"), (simulated.lone(hardware), "the simulator")] {
        if !lone.is_empty() {
            table += &format!("\n*Counted only on {counted_by}: {lone}*\n");
        }
    }
    reasons.dedup();
    if !reasons.is_empty() {
        table += &format!("\n{}\n", reasons.join("\n"));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> [Record; 2] {
        ["nvidia-h200", "sim-h200"].map(|device| Record::read(device).unwrap())
    }

    #[test]
    fn the_table_of_nsight_compute_is_read() {
        let names: Vec<String> = METRICS.iter().map(|(name, ..)| format!("\"{name}\"")).collect();
        let row = |name: &str, value: &str| {
            let values = vec![format!("\"{value}\""); METRICS.len()].join(",");
            format!("\"0\",\"{name}\",{values}\n")
        };
        let text = format!(
            "==PROF== Connected, \"quoted\"\n\"ID\",\"Kernel Name\",{}\n{}{}{}",
            names.join(","),
            row("", "inst"),
            row("shared(float const*, int)", "1,234"),
            row("shared(float const*, int)", "6"),
        );
        let kernels = read_profile("03-unroll", &text).unwrap();
        let [KernelCounts { kernel, digest: Some(_), values, .. }] = &kernels[..] else { panic!("{kernels:?}") };
        assert_eq!(kernel, "shared");
        assert!(values.len() == METRICS.len() && values.values().all(|value| *value == 1240), "{values:?}");
        assert!(read_profile("03-unroll", "==ERROR== nothing").is_err());
        assert!(read_profile("03-unroll", "\"ID\",\"Kernel Name\"\n\"0\",\"k\"\n").is_err());
    }

    #[test]
    fn a_count_that_is_older_than_its_kernel_is_labeled_and_needs_no_reason() {
        let [hardware, mut simulated] = records();
        let index = simulated.kernels.iter().position(|kernel| kernel.name() == "03-unroll/shared").unwrap();
        let was_stale = table(&hardware, &simulated).unwrap().matches(STALE_MARK).count();
        *simulated.kernels[index].values.values_mut().next().unwrap() += 1;
        let difference = table(&hardware, &simulated);
        assert!(difference.is_err() || was_stale > 0);
        simulated.kernels[index].digest = Some("another".to_owned());
        let labeled = table(&hardware, &simulated).unwrap();
        assert!(labeled.contains(&format!("\n| `shared` {STALE_MARK} |")), "{labeled}");
        assert!(labeled.contains(&format!("*{STALE_MARK} counted before this kernel last changed*")), "{labeled}");
    }

    #[test]
    fn a_kernel_that_was_counted_on_one_side_only_is_named() {
        let [mut hardware, simulated] = records();
        let lone = hardware.kernels.pop().unwrap().name();
        let table = table(&hardware, &simulated).unwrap();
        let named = table.lines().find(|line| line.starts_with("*Counted only on the simulator: ")).unwrap_or_default();
        assert!(named.contains(&format!("`{lone}`")), "{table}");
    }
}
