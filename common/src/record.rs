//! The record of a run as JSON, for the book's tables and for comparing machines.
//!
//! Its keys are a contract: tools and the book read them.

use std::process::Command;

use serde::Serialize;
use serde_json::{Map, Value};
use simt::{Counters, Finding};

use crate::ceilings::Ceilings;
use crate::gpu::DeviceInfo;
use crate::report::{Outcome, Row};

/// One run of a chapter.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    /// The chapter's name, for example `01-conv-naive`.
    pub chapter: &'static str,
    /// What was checked out; `unknown` outside a repository.
    pub commit: String,
    /// When, in ISO 8601.
    pub date: String,
    /// On what.
    pub device: &'a DeviceInfo,
    /// The workload's sizes and its seed.
    pub workload: Map<String, Value>,
    /// What the device can do at best; `null` on the simulator.
    pub ceilings: Option<Ceilings>,
    /// One per row.
    pub stages: Vec<StageRecord<'a>>,
}

/// One row of a run.
#[derive(Debug, Serialize)]
pub struct StageRecord<'a> {
    name: &'static str,
    verified: bool,
    /// Why there is no result, when there is none and none was tried.
    skipped: Option<&'a str>,
    median_ms: Option<f64>,
    p10_ms: Option<f64>,
    p90_ms: Option<f64>,
    max_error: Option<f64>,
    tolerance: Option<f64>,
    counters: CountersRecord<'a>,
    findings: &'a [Finding],
}

/// The simulator's counts, or an empty object.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum CountersRecord<'a> {
    Counted(&'a Counters),
    None {},
}

impl<'a> Record<'a> {
    /// A record of now.
    pub fn new(
        chapter: &'static str,
        device: &'a DeviceInfo,
        workload: Map<String, Value>,
        ceilings: Option<Ceilings>,
        rows: &'a [Row],
    ) -> Self {
        let date = jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string();
        let stages = rows.iter().map(StageRecord::new).collect();
        Self { chapter, commit: commit(), date, device, workload, ceilings, stages }
    }

    /// The record as text, with a line end.
    pub fn to_json(&self) -> String {
        // Maps with keys of text and numbers: there is nothing that JSON could not express.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl<'a> StageRecord<'a> {
    fn new(row: &'a Row) -> Self {
        let measured = row.measured();
        let timing = measured.and_then(|measured| measured.timing());
        let (skipped, findings): (_, &[Finding]) = match &row.outcome {
            Outcome::Verified(_) => (None, &[]),
            Outcome::Failed(failure) => (None, failure.findings()),
            Outcome::Skipped(reason) | Outcome::NotRun(reason) => (Some(reason.as_str()), &[]),
        };
        Self {
            name: row.name,
            verified: measured.is_some(),
            skipped,
            median_ms: timing.map(|timing| timing.median_ms),
            p10_ms: timing.map(|timing| timing.p10_ms),
            p90_ms: timing.map(|timing| timing.p90_ms),
            max_error: measured.map(|measured| measured.accuracy().max_error()),
            tolerance: measured.map(|measured| measured.accuracy().tolerance()),
            counters: row.counters().map_or(CountersRecord::None {}, CountersRecord::Counted),
            findings,
        }
    }
}

/// The commit of the source that this binary was built from, with `-dirty` when files differ from it.
fn commit() -> String {
    let git = Command::new("git")
        .args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .output();
    match git {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    }
}
