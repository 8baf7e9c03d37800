//! Why a result does not count: the oracle, the checks of the simulator, or the device refuses it.

use std::fmt;

use oracles::output::Downloaded;
use oracles::{Accuracy, Mismatch, Oracle, check};
use simt::{Finding, Severity};

use crate::problem::Problem;

/// Most multiply-adds for which wrong outputs are compared with known mistakes.
const MOST_TO_RECOGNIZE: u64 = 1 << 24;

/// Compares an output with the oracle. A mismatch carries what the workload knows about it: where a row ends, and a mistake that gives just
/// these outputs.
pub fn compared<P: Problem>(problem: &P, got: &Downloaded, allowance: f64) -> Result<Accuracy, Box<Mismatch>> {
    check(got, problem.oracle(), allowance).map_err(|mut mismatch| {
        mismatch.row = problem.row_len();
        let arrays = problem.outputs();
        mismatch.arrays = if arrays.len() > 1 { arrays } else { &[] };
        if problem.work().multiply_adds <= MOST_TO_RECOGNIZE {
            let computes_it = |(_, oracle): &(_, Oracle)| check(got, oracle, 0.0).is_ok();
            mismatch.looks_like = problem.mistakes().into_iter().find(computes_it).map(|(what, _)| what);
        }
        mismatch
    })
}

/// Refuses a run with a finding that makes its result worthless. This comes before the comparison, because a race explains a wrong result and
/// makes a right one worthless.
pub fn without_defects(findings: &[Finding]) -> Result<(), Failure> {
    if findings.iter().any(|finding| finding.kind.severity() == Severity::Error) {
        return Err(Failure::Defects(findings.to_vec()));
    }
    Ok(())
}

/// The reason why a stage's result does not count.
#[derive(Clone, Debug)]
pub enum Failure {
    /// It differs from the oracle.
    Mismatch(Box<Mismatch>),
    /// It was right at first, and wrong after the stage was repeated for timing.
    Unstable(Box<Mismatch>),
    /// The stage changed its inputs, which the next stage reads.
    InputsChanged,
    /// The checks found defects, although the result may be right.
    Defects(Vec<Finding>),
    /// It differs from the oracle, and the checks found what usually does no harm.
    Both(Box<Mismatch>, Vec<Finding>),
    /// The device stopped it.
    Fault(Box<Fault>),
}

/// The known facts about a stage that the device stopped.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The reason, in the words of the simulator or of a GPU's driver.
    pub message: String,
    /// The defect that stopped it, if the simulator found one.
    pub finding: Option<Finding>,
    /// The error that the simulator's driver returned for it, if one was involved.
    pub error: Option<String>,
}

impl Failure {
    /// Adds findings that usually do no harm. They may have harmed a wrong output.
    pub fn beside(self, findings: Vec<Finding>) -> Self {
        match self {
            Failure::Mismatch(mismatch) if !findings.is_empty() => Failure::Both(mismatch, findings),
            other => other,
        }
    }

    /// Returns the known defects of the kernel.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Failure::Defects(findings) | Failure::Both(_, findings) => findings,
            Failure::Fault(fault) => fault.finding.as_slice(),
            Failure::Mismatch(_) | Failure::Unstable(_) | Failure::InputsChanged => &[],
        }
    }

    /// Names it in one or two words, for a table.
    pub fn label(&self) -> &'static str {
        match self {
            Failure::Mismatch(_) | Failure::Both(..) => "WRONG",
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
            Failure::Defects(findings) => write!(f, "{}", lines(findings)),
            Failure::Both(mismatch, findings) => write!(f, "{mismatch}\n{}", lines(findings)),
            Failure::Fault(fault) => match &fault.error {
                Some(error) => write!(f, "{}\n  {error}", fault.message),
                None => write!(f, "{}", fault.message),
            },
        }
    }
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
