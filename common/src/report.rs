//! What a run found out: one row per stage.
//!
//! A row that shows a time must hold a [`Measured`], a `Measured` must hold an [`Accuracy`], and only a comparison with the
//! oracle makes one of those. So there is no way to write down the time of a wrong result.

use std::fmt;

use serde::{Deserialize, Serialize};
use simt::{Counters, Finding};

use crate::observer::Launch;
use crate::requirement::Unmet;
use crate::timing::Timing;
use crate::verify::{Accuracy, Mismatch};

/// One stage's row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The stage's name.
    pub name: &'static str,
    /// Where it runs.
    pub place: Place,
    /// What came of it.
    pub outcome: Outcome,
}

/// Where a stage does its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In kernels on the device.
    Device,
    /// On the host's CPU.
    Host,
    /// Between the two.
    Between,
}

/// What came of a stage.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It computes what it should.
    Verified(Measured),
    /// It does not.
    Failed(Failure),
    /// The device or the size does not meet what it needs.
    Skipped(Unmet),
    /// A stage before it left the device unusable.
    NotRun(String),
}

/// What was seen of a stage that computes what it should.
#[derive(Clone, Debug)]
pub struct Measured {
    accuracy: Accuracy,
    timing: Option<Timing>,
    counters: Option<Box<Counters>>,
    launches: Vec<Launch>,
    warnings: Vec<Finding>,
}

impl Measured {
    /// The measurements of a result that was compared with the oracle, as `accuracy` proves. No timing where the clock says
    /// nothing about the device, no counters where there are none.
    pub fn new(accuracy: Accuracy, timing: Option<Timing>, counters: Option<Counters>) -> Self {
        Self { accuracy, timing, counters: counters.map(Box::new), launches: Vec::new(), warnings: Vec::new() }
    }

    /// The same with what the simulator reported of each launch.
    pub fn with_launches(self, launches: Vec<Launch>) -> Self {
        Self { launches, ..self }
    }

    /// The same, with findings that leave the result valid.
    pub fn with_warnings(self, warnings: Vec<Finding>) -> Self {
        Self { warnings, ..self }
    }

    /// Findings that leave the result valid.
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// How close the result is.
    pub fn accuracy(&self) -> Accuracy {
        self.accuracy
    }

    /// How long it took.
    pub fn timing(&self) -> Option<Timing> {
        self.timing
    }

    /// What the simulator counted.
    pub fn counters(&self) -> Option<&Counters> {
        self.counters.as_deref()
    }

    /// What the simulator reported of each launch, in order.
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }
}

/// Why a stage's result does not count.
#[derive(Clone, Debug)]
pub enum Failure {
    /// It differs from the oracle.
    Mismatch(Box<Mismatch>),
    /// It was right at first, and wrong after it had been repeated for timing.
    Unstable(Box<Mismatch>),
    /// It changed its own inputs, which the next stage reads.
    InputsChanged,
    /// The checks found defects, although the result may be right.
    Defects(Vec<Finding>),
    /// The device stopped it.
    Fault(Box<Fault>),
}

/// What is known of a stage that the device stopped.
#[derive(Clone, Debug)]
pub struct Fault {
    /// What the driver says.
    pub error: String,
    /// What the simulator saw.
    pub finding: Option<Finding>,
    /// Further words of the simulator, where there is no finding.
    pub detail: Option<String>,
}

impl Failure {
    /// The defects of the kernel that are known.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Failure::Defects(findings) => findings,
            Failure::Fault(fault) => fault.finding.as_slice(),
            Failure::Mismatch(_) | Failure::Unstable(_) | Failure::InputsChanged => &[],
        }
    }

    /// One or two words for a table.
    pub fn label(&self) -> &'static str {
        match self {
            Failure::Mismatch(_) => "WRONG",
            Failure::Unstable(_) => "UNSTABLE",
            Failure::InputsChanged => "INPUTS CHANGED",
            Failure::Defects(_) => "DEFECT",
            Failure::Fault(_) => "FAULT",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Mismatch(mismatch) => write!(f, "{mismatch}"),
            Failure::Unstable(mismatch) => write!(f, "right at first, wrong when repeated: {mismatch}"),
            Failure::InputsChanged => write!(f, "the stage changed its inputs, which every other stage reads"),
            Failure::Defects(findings) => {
                for (index, finding) in findings.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "\n" };
                    write!(f, "{separator}{finding}")?;
                }
                Ok(())
            }
            Failure::Fault(fault) => match (&fault.finding, &fault.detail) {
                (Some(finding), _) => write!(f, "{finding}\n  {}", fault.error),
                (None, Some(detail)) => write!(f, "{detail}\n  {}", fault.error),
                (None, None) => write!(f, "{}", fault.error),
            },
        }
    }
}

impl Row {
    /// The measurements, if the result is verified.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            Outcome::Verified(measured) => Some(measured),
            _ => None,
        }
    }

    /// The median time in milliseconds, if the result is verified and was timed.
    pub fn median_ms(&self) -> Option<f64> {
        Some(self.measured()?.timing()?.median_ms)
    }

    /// The simulator's counts, if the result is verified.
    pub fn counters(&self) -> Option<&Counters> {
        self.measured()?.counters()
    }

    /// What is known to be wrong or doubtful in the stage's kernels.
    pub fn findings(&self) -> &[Finding] {
        match &self.outcome {
            Outcome::Verified(measured) => measured.warnings(),
            Outcome::Failed(failure) => failure.findings(),
            Outcome::Skipped(_) | Outcome::NotRun(_) => &[],
        }
    }

    /// Whether the row says that something is wrong with a stage.
    pub fn failed(&self) -> bool {
        matches!(self.outcome, Outcome::Failed(_) | Outcome::NotRun(_))
    }
}
