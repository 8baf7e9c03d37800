//! The simulator's counts beside those of Nsight Compute on a GPU: records of both, and the table of the book that compares them.
//!
//! `book/counts/<device>.json` holds what one device counted for every kernel of the project and for the patterns of
//! `simulator/simt/tests/programs/merging.cu`, which hold what a compiler makes wider loads of and what it does not. The program
//! `counts` makes the records; `cargo book` makes `book/src/generated/counters.md` of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use common::units;
use kernels::ceilings;
use serde::{Deserialize, Serialize};
use simt::Counters;
use toolkit::stamp;

use crate::chapters::chapters;

/// The patterns' source.
pub const PATTERNS: &str = include_str!("../../../simulator/simt/tests/programs/merging.cu");
/// The name of their group; the others are named by the stem of their source.
pub const PATTERNS_GROUP: &str = "patterns";

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
    /// The stem of its source, or [`PATTERNS_GROUP`].
    pub group: String,
    /// SHA-256 of the source, so that a count which is older than its kernel is seen.
    pub source_sha256: String,
    /// Its name.
    pub kernel: String,
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

/// SHA-256 of what a group's kernels were made from.
fn sha256_of_group(group: &str) -> Option<String> {
    match group {
        PATTERNS_GROUP => Some(stamp::sha256(PATTERNS)),
        "ceilings" => Some(stamp::sha256_of(&[&ceilings::SOURCE, &ceilings::dp4a::SOURCE])),
        chapter => chapters().into_iter().find(|(name, _)| *name == chapter).map(|(_, sources)| stamp::sha256_of(sources)),
    }
}

impl KernelCounts {
    /// Counts of a kernel whose source is as it is now.
    pub fn new(group: &str, kernel: &str) -> Self {
        let source_sha256 = sha256_of_group(group).unwrap_or_default();
        Self { group: group.to_owned(), source_sha256, kernel: kernel.to_owned(), values: BTreeMap::new() }
    }

    /// Adds what a further launch counted.
    pub fn add(&mut self, name: &str, value: u64) {
        *self.values.entry(name.to_owned()).or_default() += value;
    }
}

impl Record {
    /// Reads a record, which must be as new as its kernels.
    ///
    /// # Errors
    ///
    /// When there is none, when it is no record, or when a kernel has changed since.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let record: Record = serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        for KernelCounts { group, source_sha256, kernel, .. } in &record.kernels {
            if sha256_of_group(group).as_ref() != Some(source_sha256) {
                bail!("{}: the source of {group}, {kernel} has changed; run `counts` again", path.display());
            }
        }
        Ok(record)
    }
}

/// The counts of the kernels in a table that Nsight Compute wrote (`--csv --page raw`), summed over launches, in the order of the first.
///
/// # Errors
///
/// When the text is no such table, or lacks one of the metrics.
pub fn read_profile(group: &str, text: &str) -> Result<Vec<KernelCounts>> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("\"ID\""));
    let names = fields(lines.next().with_context(|| format!("Nsight Compute counted nothing:\n{text}"))?);
    let mut kernels: Vec<KernelCounts> = Vec::new();
    for line in lines.filter(|line| line.starts_with('"')) {
        let row: BTreeMap<&str, String> = names.iter().map(String::as_str).zip(fields(line)).collect();
        // The row of units has no name.
        let Some(name) = row.get("Kernel Name").filter(|name| !name.is_empty()) else { continue };
        let name = name.split('(').next().unwrap_or(name);
        if kernels.iter().all(|kernel| kernel.kernel != name) {
            kernels.push(KernelCounts::new(group, name));
        }
        let Some(kernel) = kernels.iter_mut().find(|kernel| kernel.kernel == name) else { continue };
        for metric in METRICS {
            let value = row.get(metric.name).and_then(|text| text.replace(',', "").parse::<f64>().ok());
            kernel.add(metric.name, value.with_context(|| format!("{name} has no {}", metric.name))? as u64);
        }
    }
    Ok(kernels)
}

/// The fields of a line of CSV, all of which may stand in quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            character => fields.last_mut().expect("one field at least").push(character),
        }
    }
    fields
}

/// What the columns of [`table`] are called by Nsight Compute, as Markdown.
pub fn names() -> String {
    let rows = METRICS.iter().map(|metric| format!("| {} | `{}` |\n", metric.heading, metric.name));
    "| column | Nsight Compute |\n|---|---|\n".to_owned() + &rows.collect::<String>()
}

/// The records of both, side by side, as Markdown. A number alone is what both counted.
///
/// # Errors
///
/// When they hold different kernels, when they differ without a known reason, or when a reason stands for no difference.
pub fn table(hardware: &Record, simulated: &Record) -> Result<String> {
    let names = |record: &Record| record.kernels.iter().map(|k| format!("{}/{}", k.group, k.kernel)).collect::<Vec<_>>();
    if names(hardware) != names(simulated) {
        bail!("the records hold different kernels: {:?} and {:?}", names(hardware), names(simulated));
    }
    let mut table = "| kernel |".to_owned();
    METRICS.iter().for_each(|metric| table += &format!(" {} |", metric.heading));
    table += &format!("\n|---|{}", "---:|".repeat(METRICS.len()));
    let mut reasons = Vec::new();
    let (mut equal, mut compared) = (0, 0);
    let mut group = "";
    for (theirs, ours) in hardware.kernels.iter().zip(&simulated.kernels) {
        if theirs.group != group {
            group = &theirs.group;
            let _ = write!(table, "\n| **{group}** |{}", " |".repeat(METRICS.len()));
        }
        let _ = write!(table, "\n| `{}` |", theirs.kernel);
        for Metric { name, .. } in METRICS {
            let [counted, modelled] = [theirs, ours].map(|kernel| kernel.values.get(*name).copied());
            let (counted, modelled) = counted.zip(modelled).with_context(|| format!("{} has no {name}", theirs.kernel))?;
            compared += 1;
            equal += usize::from(counted == modelled);
            let _ = match counted == modelled {
                true => write!(table, " {} |", units::count(counted)),
                false => write!(table, " **{} / {}** |", units::count(counted), units::count(modelled)),
            };
            let is_known =
                |known: &&Difference| (known.group, known.kernel) == (group, &theirs.kernel) && known.metrics.contains(name);
            match (counted == modelled, DIFFERENCES.iter().find(is_known)) {
                (true, None | Some(Difference { varies: true, .. })) => {}
                (false, Some(Difference { kernel, reason, .. })) => reasons.push(format!("- `{kernel}`: {reason}")),
                (false, None) => bail!("{group}, {}: {name} is {counted} on the GPU and {modelled} here", theirs.kernel),
                (true, Some(_)) => bail!("{group}, {}: {name} no longer differs", theirs.kernel),
            }
        }
    }
    let date = |record: &Record| record.date.split('T').next().unwrap_or_default().to_owned();
    let _ = write!(
        table,
        "\n\n*{equal} of {compared} counts are equal. A number alone is what both count; two are the GPU's and the simulator's. {}: driver {}, {}, {}, {}. {}: {}, {}. `cargo run -p \
         tests --bin counts` makes the records `book/counts/*.json`.*\n",
        hardware.device,
        hardware.driver,
        hardware.compiler,
        hardware.counted_by,
        date(hardware),
        simulated.device,
        simulated.compiler,
        date(simulated),
    );
    reasons.dedup();
    if !reasons.is_empty() {
        let _ = write!(table, "\n{}\n", reasons.join("\n"));
    }
    Ok(table)
}
