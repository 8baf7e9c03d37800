//! The result of a run: one row per stage.
//!
//! A row that shows a time must hold a [`Measured`], a `Measured` must hold an [`Accuracy`], and only a comparison with the oracle makes an
//! `Accuracy`. So there is no way to report the time of a wrong result.

use kernels::Kernel;
use oracles::Accuracy;
use serde::{Deserialize, Serialize};
use simt::{Counters, Finding};

use crate::device::sensors::Sensors;
use crate::device::timing::Timing;
use crate::observer::Launch;
use crate::{Error, Result, Unmet};

pub use workloads::failure::{Failure, Fault};

/// One stage's row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The stage's name.
    pub name: &'static str,
    /// Where it runs.
    pub place: Place,
    /// The library that it calls, with its version.
    pub library: Option<String>,
    /// The least bytes that it has to read and write, where they differ from the workload's.
    pub least_bytes: Option<u64>,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The place where a stage does its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In kernels on the device.
    Device,
    /// On the host's CPU.
    Host,
    /// In copies between the host and the device.
    Between,
}

/// The outcome of a stage.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Its result is right.
    Verified(Measured),
    /// Its result does not count.
    Failed(Failure),
    /// The device or the size does not meet a requirement.
    Skipped(Unmet),
    /// A stage before it left the device unusable.
    NotRun(String),
}

/// The measurements of a stage whose result is right.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How close the result is: the proof that it was compared with the oracle.
    pub accuracy: Accuracy,
    /// How long it took. There is none on the simulator, whose clock says nothing about a GPU.
    pub timing: Option<Timing>,
    /// Median time of short work when it is launched one by one. It may wait for the host.
    pub launched_ms: Option<f64>,
    /// The state of the GPU while it was timed.
    pub sensors: Option<Box<Sensors>>,
    /// The simulator's counts. There are none on a GPU.
    pub counters: Option<Box<Counters>>,
    /// Our kernels that the stage asked for: the ones it launched, and the ones it used to choose a launch.
    pub kernels: Vec<Kernel>,
    /// The simulator's report about each launch, in order. Empty if the details of some launches were dropped.
    pub launches: Vec<Launch>,
    /// Of how many launches the simulator dropped the details.
    pub launches_dropped: u64,
    /// Findings that leave the result valid.
    pub warnings: Vec<Finding>,
}

impl Measured {
    /// Makes the measurements of a result that was compared with the oracle. The rest is added where it is known.
    pub fn new(accuracy: Accuracy, timing: Option<Timing>) -> Self {
        let (launched_ms, sensors, counters, kernels, launches, warnings) = Default::default();
        Self { accuracy, timing, launched_ms, sensors, counters, kernels, launches, launches_dropped: 0, warnings }
    }

    /// Returns the launches, for callers that need every one. Fails if the details of some launches were dropped.
    pub fn all_launches(&self) -> Result<&[Launch]> {
        match self.launches_dropped {
            0 => Ok(&self.launches),
            dropped => Err(Error::LaunchesDropped { dropped }),
        }
    }
}

impl Row {
    /// Returns the measurements, if the result is verified.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            Outcome::Verified(measured) => Some(measured),
            _ => None,
        }
    }

    /// Returns the median time in milliseconds of a verified and timed result.
    pub fn median_ms(&self) -> Option<f64> {
        Some(self.measured()?.timing?.median_ms)
    }

    /// Returns the simulator's counts, if the result is verified.
    pub fn counters(&self) -> Option<&Counters> {
        self.measured()?.counters.as_deref()
    }

    /// Returns the findings in the stage's kernels, errors and warnings alike.
    pub fn findings(&self) -> &[Finding] {
        match &self.outcome {
            Outcome::Verified(measured) => &measured.warnings,
            Outcome::Failed(failure) => failure.findings(),
            Outcome::Skipped(_) | Outcome::NotRun(_) => &[],
        }
    }

    /// Returns true if something is wrong with the stage.
    pub fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_) | Outcome::NotRun(_))
    }
}
