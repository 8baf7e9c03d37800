//! The record of a run: what the table is drawn from, what `--format json` prints and `--save` keeps, what the book is made of.
//!
//! Its keys are a contract: tools and the book read them.
//!
//! A row holds until a kernel that it rests on changes. So each row names its kernels ([`StageRecord::kernels`]), and the record names
//! those that measured its ceilings ([`Record::ceiling_kernels`]), each with the digest of its stored PTX ([`compilers::digest`]). The book
//! compares these digests with those of the PTX that is stored now.

use std::collections::BTreeMap;
use std::process::Command;

use compilers::digest;
use kernels::Kernel;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use simt::bound::{Bound, bound};
use simt::{Counters, Finding, Profile};
use thiserror::Error;

use crate::device::ceilings::Ceilings;
use crate::device::gpu::DeviceInfo;
use crate::device::sensors::Sensors;
use crate::results::report::{Outcome, Place, Row};
use crate::workload::{Arithmetic, Work};

/// One run of a chapter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The chapter's name, for example `01-conv-naive`.
    pub chapter: String,
    /// The commit that was checked out; `unknown` outside a repository.
    pub commit: String,
    /// When, in ISO 8601.
    pub date: String,
    /// On what.
    pub device: DeviceInfo,
    /// The workload's sizes, its seed, and the least work that it takes.
    pub workload: Map<String, Value>,
    /// The device's ceilings; `null` on the simulator.
    pub ceilings: Option<Ceilings>,
    /// The kernels that measured the ceilings.
    pub ceiling_kernels: KernelDigests,
    /// One per row, in the order in which they ran.
    pub stages: Vec<StageRecord>,
}

/// Kernels with digests of their stored PTX, which reveal changed kernels. A kernel is written as the stem of its source and its name, for
/// example `03-unroll/shared`; one that has no stored PTX yet has no digest.
pub type KernelDigests = BTreeMap<String, Option<String>>;

fn digests(kernels: &[Kernel]) -> KernelDigests {
    kernels.iter().map(|kernel| (digest::name(*kernel), digest::of(*kernel))).collect()
}

/// One row of a run. Only a verified row can have a time; [`Record::parse`] refuses others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StageRecord {
    /// The stage's name.
    pub name: String,
    /// Where it does its work.
    pub place: Place,
    /// Its result is the oracle's.
    pub verified: bool,
    /// How many outputs were compared one by one, where sums over runs of outputs cover the rest; absent if every output was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<usize>,
    /// The reason why there is no result, when there is none and none was tried.
    pub skipped: Option<String>,
    /// The reason, in a word or two, if its result does not count.
    pub failure: Option<String>,
    /// The kernels of ours that the stage asked for, to launch them or to choose how to: none of a row on the CPU, of one without a verified
    /// result, and of one that only calls a library.
    pub kernels: KernelDigests,
    /// Median time.
    pub median_ms: Option<f64>,
    /// A tenth of the samples were faster.
    pub p10_ms: Option<f64>,
    /// A tenth of the samples were slower.
    pub p90_ms: Option<f64>,
    /// Median time when short work is launched one by one, so that it may wait for the host. `median_ms` is then the time from a full queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched_ms: Option<f64>,
    /// The state of the GPU while the row was timed; absent on the simulator and where NVML is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensors: Option<Sensors>,
    /// The library that the row calls, with its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The least bytes that the row has to read and write, where they differ from the workload's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_bytes: Option<u64>,
    /// The error that comes closest to its tolerance.
    pub max_error: Option<f64>,
    /// The tolerance there.
    pub tolerance: Option<f64>,
    /// The simulator's counts; an empty object where nothing was counted.
    #[serde(with = "counters_or_empty")]
    pub counters: Option<Counters>,
    /// Defects of the kernel.
    pub findings: Vec<Finding>,
}

/// The reason why a text is no record.
#[derive(Debug, Error)]
pub enum RecordError {
    /// It is no JSON, or has other keys.
    #[error("the text is not the record of a run: {0}")]
    Json(#[from] serde_json::Error),
    /// It claims a time for a result that was not verified.
    #[error("stage {0} has a time without a verified result")]
    Unverified(String),
}

impl Record {
    /// Makes a record of now.
    pub fn new(
        chapter: &str,
        device: &DeviceInfo,
        mut workload: Map<String, Value>,
        work: Work,
        ceilings: Option<Ceilings>,
        rows: &[Row],
    ) -> Self {
        workload.insert("multiply_adds".to_owned(), work.multiply_adds.into());
        workload.insert("least_bytes".to_owned(), work.bytes.into());
        workload.insert("arithmetic".to_owned(), json!(work.arithmetic));
        let date = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
        let stages = rows.iter().map(StageRecord::new).collect();
        let device = device.clone();
        let ceiling_kernels = ceilings.map(|ceilings| digests(&ceilings.kernels())).unwrap_or_default();
        Self { chapter: chapter.to_owned(), commit: commit(), date, device, workload, ceilings, ceiling_kernels, stages }
    }

    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self, RecordError> {
        let record: Self = serde_json::from_str(text)?;
        match record.stages.iter().find(|stage| stage.median_ms.is_some() && !stage.verified) {
            Some(stage) => Err(RecordError::Unverified(stage.name.clone())),
            None => Ok(record),
        }
    }

    /// Returns the record as text, with a line end.
    pub fn to_json(&self) -> String {
        // Maps with keys of text and numbers: there is nothing that JSON could not express.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns the least work that the computation takes.
    pub fn work(&self) -> Work {
        let number = |key: &str| self.workload.get(key).and_then(Value::as_u64).unwrap_or(0);
        let arithmetic = self.workload.get("arithmetic").and_then(|name| Arithmetic::deserialize(name).ok());
        // Runs that do not say are older than the word, and of floats.
        Work { multiply_adds: number("multiply_adds"), bytes: number("least_bytes"), arithmetic: arithmetic.unwrap_or_default() }
    }

    /// Returns the least work of a stage.
    pub fn work_of(&self, stage: &StageRecord) -> Work {
        let work = self.work();
        Work { bytes: stage.least_bytes.unwrap_or(work.bytes), ..work }
    }

    /// Returns the bound of a stage on the GPU that was simulated; `None` for stages without counts and on a GPU.
    pub fn bound(&self, stage: &StageRecord) -> Option<Bound> {
        let profile = Profile::named(self.device.profile.as_deref()?)?;
        Some(bound(&stage.counters?, self.work_of(stage).bytes, profile))
    }
}

impl StageRecord {
    fn new(row: &Row) -> Self {
        let measured = row.measured();
        let timing = measured.and_then(|measured| measured.timing);
        let (skipped, failure) = match &row.outcome {
            Outcome::Verified(_) => (None, None),
            Outcome::Failed(failure) => (None, Some(failure)),
            Outcome::Skipped(unmet) => (Some(unmet.to_string()), None),
            Outcome::NotRun(reason) => (Some(reason.clone()), None),
        };
        Self {
            name: row.name.to_owned(),
            place: row.place,
            verified: measured.is_some(),
            sampled: measured.and_then(|measured| measured.accuracy.sampled()),
            skipped,
            failure: failure.map(|failure| failure.label().to_owned()),
            kernels: measured.map(|measured| digests(&measured.kernels)).unwrap_or_default(),
            median_ms: timing.map(|timing| timing.median_ms),
            p10_ms: timing.map(|timing| timing.p10_ms),
            p90_ms: timing.map(|timing| timing.p90_ms),
            launched_ms: measured.and_then(|measured| measured.launched_ms),
            sensors: measured.and_then(|measured| measured.sensors.as_deref().cloned()),
            library: row.library.clone(),
            least_bytes: row.least_bytes,
            max_error: measured.map(|measured| measured.accuracy.max_error()),
            tolerance: measured.map(|measured| measured.accuracy.tolerance()),
            counters: row.counters().copied(),
            findings: row.findings().to_vec(),
        }
    }
}

/// Returns the source commit of this binary, with `-dirty` when files differ. A binary that runs away from its repository takes the commit
/// from `UNROLLED_COMMIT`.
pub fn commit() -> String {
    if let Some(commit) = compilers::variables::COMMIT.text() {
        return commit;
    }
    let git = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .output();
    match git {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// Counters as an object that is empty when there are none.
mod counters_or_empty {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::{Map, Value};
    use simt::Counters;

    pub fn serialize<S: Serializer>(counters: &Option<Counters>, serializer: S) -> Result<S::Ok, S::Error> {
        match counters {
            Some(counters) => counters.serialize(serializer),
            None => Map::<String, Value>::new().serialize(serializer),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Counters>, D::Error> {
        let fields = Map::<String, Value>::deserialize(deserializer)?;
        if fields.is_empty() {
            return Ok(None);
        }
        serde_json::from_value(Value::Object(fields)).map(Some).map_err(serde::de::Error::custom)
    }
}

/// A made-up record for this crate's tests, with a stage.
#[cfg(test)]
pub(crate) mod made_up {
    use super::{Record, StageRecord};

    /// A run with one verified stage.
    pub const TEXT: &str = r#"{"chapter": "x", "commit": "c", "date": "d", "device": {"kind": "gpu", "name": "n",
        "compute_capability": "9.0", "profile": null, "driver": "d", "compiler": "c"},
        "workload": {"multiply_adds": 1000000000, "least_bytes": 4000000}, "ceilings": null, "ceiling_kernels": {},
        "stages": [{"name": "s", "place": "device", "verified": true, "skipped": null, "failure": null, "kernels": {"01-x/k": "0"},
        "median_ms": 1.5, "p10_ms": null, "p90_ms": null, "max_error": null, "tolerance": null, "counters": {}, "findings": []}]}"#;

    pub fn record() -> Record {
        Record::parse(TEXT).unwrap()
    }

    pub fn stage(name: &str) -> StageRecord {
        StageRecord { name: name.to_owned(), ..record().stages.remove(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::made_up::TEXT;
    use super::*;
    use crate::device::gpu::DeviceKind;

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let read = Record::parse(TEXT).unwrap();
        assert_eq!((read.work().multiply_adds, read.device.kind), (1_000_000_000, DeviceKind::Gpu));
        let again: Value = serde_json::from_str(&read.to_json()).unwrap();
        assert_eq!(again, serde_json::from_str::<Value>(TEXT).unwrap());
    }

    #[test]
    fn a_time_without_a_verified_result_is_refused() {
        let error = Record::parse(&TEXT.replace("true", "false")).unwrap_err();
        assert!(matches!(error, RecordError::Unverified(stage) if stage == "s"));
    }

    #[test]
    fn a_record_says_how_many_outputs_were_sampled() {
        let sampled = |text: &str| Record::parse(text).unwrap().stages[0].sampled;
        assert_eq!(sampled(&TEXT.replace("\"skipped\"", "\"sampled\": 16384, \"skipped\"")), Some(16_384));
        assert_eq!(sampled(TEXT), None);
    }
}
