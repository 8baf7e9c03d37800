//! The simulator's counts beside those of Nsight Compute on a GPU: records of both, and the table of the book that compares them.
//!
//! `book/counts/<device>.json` holds what one device counted for every kernel of the project and for the patterns of
//! `simulator/simt/tests/programs/merging.cu`, which hold what a compiler makes wider loads of and what it does not. `cargo book
//! record counts/<device>` makes them again.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use common::units;
use kernels::{Source, ceilings};
use serde::{Deserialize, Serialize};
use simt::Counters;
use toolkit::digest;

use crate::chapters::chapters;
use crate::stale::Kernels;

mod count;

pub use count::Arguments;

/// The PTX of the patterns.
const PATTERNS_PTX: &str = include_str!("../../../../simulator/simt/tests/programs/merging.ptx");
/// The name of their group.
const PATTERNS_GROUP: &str = "patterns";
/// The name of the group of kernels that measure what a device can do at best; the others are named by their chapter.
const CEILINGS_GROUP: &str = "ceilings";

/// What one device counted.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    /// The device's name.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// What made the PTX, which is that of the repository on a GPU as well.
    pub compiler: String,
    /// What counted.
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
    /// The digest of its PTX ([`toolkit::digest`]), so that a count which is older than its kernel is seen.
    pub digest: Option<String>,
    /// By the name that Nsight Compute has for it.
    pub values: BTreeMap<String, u64>,
}

/// A count that both have.
pub struct Metric {
    /// Nsight Compute's name.
    pub name: &'static str,
    /// A column's heading.
    pub heading: &'static str,
    /// The simulator's count.
    pub simulated: fn(&Counters) -> u64,
}

/// What is compared.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        heading: "global load requests",
        simulated: |c| c.global_load_requests,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        heading: "their sectors",
        simulated: |c| c.global_load_sectors,
    },
    Metric {
        name: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        heading: "global store requests",
        simulated: |c| c.global_store_requests,
    },
    Metric {
        name: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        heading: "their sectors",
        simulated: |c| c.global_store_sectors,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
        heading: "shared loads",
        simulated: |c| c.shared_load_requests,
    },
    Metric {
        name: "smsp__inst_executed_op_shared_st_pred_on_any.sum",
        heading: "shared stores",
        simulated: |c| c.shared_store_requests,
    },
    Metric {
        name: "memory_l1_wavefronts_shared",
        heading: "shared wavefronts",
        simulated: |c| c.shared_load_wavefronts + c.shared_store_wavefronts,
    },
    Metric {
        name: "memory_l1_wavefronts_shared_ideal",
        heading: "ideal",
        simulated: |c| c.shared_load_wavefronts_ideal + c.shared_store_wavefronts_ideal,
    },
    Metric { name: "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", heading: "f32 multiply-adds", simulated: |c| c.f32_fma },
];

/// A difference that is understood.
pub struct Difference {
    group: &'static str,
    kernel: &'static str,
    /// Nsight Compute's names of the counts.
    metrics: &'static [&'static str],
    /// The reason, with the line that it comes from.
    reason: &'static str,
    /// Whether the GPU's count differs from run to run, and may be equal by chance.
    varies: bool,
}

const SHARED_LOADS: &str = "smsp__inst_executed_op_shared_ld_pred_on_any.sum";
const SHARED_STORES: &str = "smsp__inst_executed_op_shared_st_pred_on_any.sum";
const WAVEFRONTS: &str = "memory_l1_wavefronts_shared";
const IDEAL: &str = "memory_l1_wavefronts_shared_ideal";

/// The differences that there are.
const DIFFERENCES: &[Difference] = &[
    Difference {
        group: "03-unroll",
        kernel: "tensor_f16x3",
        metrics: &[SHARED_LOADS],
        reason: "the difference are its 2176 `ldmatrix` (`load_matrix` in `03-unroll-tensor.cu`), which Nsight Compute does not count as shared loads. \
                 Their wavefronts it counts, and these are equal.",
        varies: false,
    },
    Difference {
        group: "03-unroll",
        kernel: "multiply",
        metrics: &["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"],
        reason: "the real part of a product of complex numbers is `mul.f32` and `sub.f32` in PTX, which says nothing of rounding in between, and ptxas \
                 makes one multiply-add of the two.",
        varies: false,
    },
    Difference {
        group: "04-correlation-sm-aware",
        kernel: "unroll_4",
        metrics: &[SHARED_STORES],
        reason: "the GPU counted 2080, 2081 and 2082 in three runs. The loop over a row of the tile (`load_block`) ends earlier for some lanes of a warp; presumably \
                 they do not always come together again before the next store.",
        varies: true,
    },
    Difference {
        group: "04-correlation-sm-aware",
        kernel: "sums",
        metrics: &[SHARED_STORES],
        reason: "2080 in two runs and 2081 in a third, for the same reason.",
        varies: true,
    },
    Difference {
        group: "05-window-sums",
        kernel: "vector",
        metrics: &[SHARED_LOADS, WAVEFRONTS, IDEAL],
        reason: "the last pixels of a window, fewer than a vector, are loaded behind branches in PTX. ptxas loads them as one vector before the branches; the \
                 simulator merges loads between which there is no branch.",
        varies: false,
    },
    Difference {
        group: "05-window-sums",
        kernel: "row_scan",
        metrics: &[SHARED_LOADS, WAVEFRONTS, IDEAL],
        reason: "`block_scan` adds the totals of some warps under a condition. ptxas selects where PTX branches, and merges the 16 loads, which then stand \
                 together, into 4.",
        varies: false,
    },
    Difference {
        group: "06-matmul-tiled",
        kernel: "double_buffered",
        metrics: &[WAVEFRONTS, IDEAL],
        reason: "what asynchronous copies write to shared memory passes through its banks, too (`start_copy`). Nsight Compute counts that, with conflicts where \
                 the tile of A is transposed on the way; the simulator does not.",
        varies: false,
    },
    Difference {
        group: "06-matmul-tiled",
        kernel: "small_tile",
        metrics: &[WAVEFRONTS, IDEAL],
        reason: "the same.",
        varies: false,
    },
    Difference {
        group: "06-matmul-tiled",
        kernel: "tensor_tf32",
        metrics: &[SHARED_LOADS, WAVEFRONTS, IDEAL, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
        reason: "the same, and its 1088 `ldmatrix` are no shared loads for Nsight Compute. Of the 512 sectors nothing is known; the last turns ask for copies of \
                 no bytes, which may count there.",
        varies: false,
    },
];

/// The digest that a kernel of a group has now; `None` when there is no such kernel.
fn digest_now(kernels: &Kernels, group: &str, kernel: &str) -> Option<String> {
    let of = |sources: &[&Source]| {
        let names = sources.iter().map(|source| format!("{}/{kernel}", digest::stem(source)));
        names.into_iter().find_map(|name| kernels.digest(&name).map(str::to_owned))
    };
    match group {
        PATTERNS_GROUP => digest::of_text(PATTERNS_PTX).ok()?.remove(kernel),
        CEILINGS_GROUP => of(&[&ceilings::SOURCE, &ceilings::dp4a::SOURCE]),
        chapter => chapters().into_iter().find(|(name, _)| *name == chapter).and_then(|(_, sources)| of(sources)),
    }
}

impl KernelCounts {
    /// Counts of a kernel as it is now.
    pub fn new(group: &str, kernel: &str) -> Self {
        let digest = digest_now(Kernels::stored(), group, kernel);
        Self { group: group.to_owned(), kernel: kernel.to_owned(), digest, values: BTreeMap::new() }
    }

    /// Adds what a further launch counted.
    pub fn add(&mut self, name: &str, value: u64) {
        *self.values.entry(name.to_owned()).or_default() += value;
    }

    /// Whether the kernel has changed since, or is gone.
    pub fn is_stale(&self, kernels: &Kernels) -> bool {
        self.digest.is_none() || self.digest != digest_now(kernels, &self.group, &self.kernel)
    }

    /// What people call it: `03-unroll/shared`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.group, self.kernel)
    }
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// When there is none, or the file holds something else.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    /// Reads a record from text.
    ///
    /// # Errors
    ///
    /// When the text is something else.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(serde_json::from_str(text)?)
    }

    /// The counts of a kernel.
    fn of(&self, group: &str, kernel: &str) -> Option<&KernelCounts> {
        self.kernels.iter().find(|counts| (counts.group.as_str(), counts.kernel.as_str()) == (group, kernel))
    }
}

/// The counts of the kernels in a table that Nsight Compute wrote (`--csv --page raw`), summed over launches, in the order of the first.
///
/// # Errors
///
/// When the text is no such table, or lacks one of the metrics.
pub fn read_profile(group: &str, text: &str) -> Result<Vec<KernelCounts>> {
    // What the profiled program and the profiler print besides stands before the table.
    let start = text.find("\"ID\"").with_context(|| format!("Nsight Compute counted nothing:\n{text}"))?;
    let mut table = csv::ReaderBuilder::new().flexible(true).from_reader(&text.as_bytes()[start..]);
    let columns = table.headers()?.clone();
    let mut kernels: Vec<KernelCounts> = Vec::new();
    for row in table.records() {
        let row = row?;
        let field = |name: &str| columns.iter().position(|column| column == name).and_then(|column| row.get(column));
        // The row of units has no name.
        let Some(name) = field("Kernel Name").filter(|name| !name.is_empty()) else { continue };
        let name = name.split('(').next().unwrap_or(name);
        let index = kernels.iter().position(|kernel| kernel.kernel == name).unwrap_or_else(|| {
            kernels.push(KernelCounts::new(group, name));
            kernels.len() - 1
        });
        for metric in METRICS {
            let value = field(metric.name).and_then(|text| text.replace(',', "").parse::<f64>().ok());
            kernels[index].add(metric.name, value.with_context(|| format!("{name} has no {}", metric.name))? as u64);
        }
    }
    Ok(kernels)
}

/// What the columns of [`table`] are called by Nsight Compute, as Markdown.
pub fn names() -> String {
    let rows = METRICS.iter().map(|metric| format!("| {} | `{}` |\n", metric.heading, metric.name));
    "| column | Nsight Compute |\n|---|---|\n".to_owned() + &rows.collect::<String>()
}

/// Follows the name of a kernel that has changed since it was counted.
const STALE_MARK: &str = "†";

/// The records of both, side by side, as Markdown. A number alone is what both counted. Kernels that have changed since either was made
/// are marked, and a difference there needs no reason; kernels that only one of the two has are left out and named below the table.
///
/// # Errors
///
/// When the counts of a kernel that has not changed differ without a known reason, or no longer differ.
pub fn table(hardware: &Record, simulated: &Record, kernels: &Kernels) -> Result<String> {
    let mut table = "| kernel |".to_owned();
    METRICS.iter().for_each(|metric| table += &format!(" {} |", metric.heading));
    table += &format!("\n|---|{}", "---:|".repeat(METRICS.len()));
    let mut reasons = Vec::new();
    let (mut equal, mut compared) = (0, 0);
    let mut any_stale = false;
    let mut group = "";
    for ours in &simulated.kernels {
        let Some(theirs) = hardware.of(&ours.group, &ours.kernel) else { continue };
        if ours.group != group {
            group = &ours.group;
            let _ = write!(table, "\n| **{group}** |{}", " |".repeat(METRICS.len()));
        }
        let is_stale = [ours, theirs].iter().any(|counts| counts.is_stale(kernels));
        any_stale |= is_stale;
        let _ = write!(table, "\n| `{}`{} |", ours.kernel, if is_stale { format!(" {STALE_MARK}") } else { String::new() });
        for Metric { name, .. } in METRICS {
            let [counted, modelled] = [theirs, ours].map(|kernel| kernel.values.get(*name).copied());
            let (counted, modelled) = counted.zip(modelled).with_context(|| format!("{} has no {name}", ours.kernel))?;
            compared += 1;
            equal += usize::from(counted == modelled);
            let _ = match counted == modelled {
                true => write!(table, " {} |", units::count(counted)),
                false => write!(table, " **{} / {}** |", units::count(counted), units::count(modelled)),
            };
            let is_known =
                |known: &&Difference| (known.group, known.kernel) == (group, &ours.kernel) && known.metrics.contains(name);
            match (counted == modelled, DIFFERENCES.iter().find(is_known)) {
                (true, None | Some(Difference { varies: true, .. })) => {}
                (false, Some(Difference { kernel, reason, .. })) => reasons.push(format!("- `{kernel}`: {reason}")),
                _ if is_stale => {}
                (false, None) => bail!("{group}, {}: {name} is {counted} on the GPU and {modelled} here", ours.kernel),
                (true, Some(_)) => bail!("{group}, {}: {name} no longer differs", ours.kernel),
            }
        }
    }
    let date = |record: &Record| record.date.split('T').next().unwrap_or_default().to_owned();
    let _ = write!(
        table,
        "\n\n*{equal} of {compared} counts are equal. A number alone is what both count; two are the GPU's and the simulator's. {}: driver {}, {}, {}, {}. {}: {}, {}. Records: \
         `book/counts/*.json`.*\n",
        hardware.device,
        hardware.driver,
        hardware.compiler,
        hardware.counted_by,
        date(hardware),
        simulated.device,
        simulated.compiler,
        date(simulated),
    );
    if any_stale {
        let _ = write!(table, "\n*{STALE_MARK} counted before this kernel last changed*\n");
    }
    for (one, other, counted_by) in [(hardware, simulated, "the GPU"), (simulated, hardware, "the simulator")] {
        let lone = one.kernels.iter().filter(|kernel| other.of(&kernel.group, &kernel.kernel).is_none());
        let names: Vec<String> = lone.map(|kernel| format!("`{}`", kernel.name())).collect();
        if !names.is_empty() {
            let _ = write!(table, "\n*Counted only on {counted_by}: {}*\n", names.join(", "));
        }
    }
    reasons.dedup();
    if !reasons.is_empty() {
        let _ = write!(table, "\n{}\n", reasons.join("\n"));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    fn records() -> [Record; 2] {
        ["nvidia-h200", "sim-h200"].map(|device| Record::read(&root().join(format!("book/counts/{device}.json"))).unwrap())
    }

    #[test]
    fn the_table_of_nsight_compute_is_read() {
        let names: Vec<String> = METRICS.iter().map(|metric| format!("\"{}\"", metric.name)).collect();
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
        let kernels = Kernels::stored();
        let [hardware, mut simulated] = records();
        let index = simulated.kernels.iter().position(|kernel| kernel.name() == "03-unroll/shared").unwrap();
        let was_stale = table(&hardware, &simulated, kernels).unwrap().matches(STALE_MARK).count();
        *simulated.kernels[index].values.values_mut().next().unwrap() += 1;
        let difference = table(&hardware, &simulated, kernels);
        assert!(difference.is_err() || was_stale > 0);
        simulated.kernels[index].digest = Some("another".to_owned());
        let labeled = table(&hardware, &simulated, kernels).unwrap();
        assert!(labeled.contains(&format!("\n| `shared` {STALE_MARK} |")), "{labeled}");
        assert!(labeled.contains(&format!("*{STALE_MARK} counted before this kernel last changed*")), "{labeled}");
    }

    #[test]
    fn a_kernel_that_was_counted_on_one_side_only_is_named() {
        let [mut hardware, simulated] = records();
        let lone = hardware.kernels.pop().unwrap().name();
        let table = table(&hardware, &simulated, Kernels::stored()).unwrap();
        assert!(table.contains(&format!("*Counted only on the simulator: `{lone}`*")), "{table}");
    }
}
