//! What the simulator saw of the launches of a stage. A GPU tells nothing of that kind.

use simcuda::occupancy::Occupancy;
use simcuda::records::{LaunchRecord, Outcome};
use simt::{Counters, Dim3, Finding, LaunchReport};

use crate::error::{Error, Result};
use crate::gpu::Gpu;

/// What was seen since the last time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Counts over all launches; `None` on a GPU.
    pub counters: Option<Counters>,
    /// Each launch that finished, in order.
    pub launches: Vec<Launch>,
    /// Defects that did not stop a kernel.
    pub findings: Vec<Finding>,
    /// The defect that stopped a kernel.
    pub fault: Option<Finding>,
    /// What the simulator says of a launch that failed.
    pub message: Option<String>,
}

/// One launch that finished.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// What it did.
    pub report: LaunchReport,
    /// How its blocks fill a multiprocessor.
    pub occupancy: Occupancy,
}

/// Forgets what was seen until now.
///
/// # Errors
///
/// [`Error::Simulator`], when the simulator does not answer.
pub fn forget(gpu: &Gpu) -> Result<()> {
    take(gpu).map(drop)
}

/// Keeps of every launch from now on what the threads of its block with this index touch of device memory, in
/// [`LaunchReport::touched`]; `None` keeps nothing. The checks have to be on.
///
/// # Errors
///
/// [`Error::Simulator`], when the simulator does not answer.
pub fn trace(gpu: &Gpu, block: Option<Dim3>) -> Result<()> {
    gpu.simulator().map_or(Ok(()), |simulator| simulator.set_trace(block)).map_err(Error::Simulator)
}

/// Takes what was seen since the last time.
///
/// # Errors
///
/// [`Error::Simulator`], when the simulator does not answer.
pub fn take(gpu: &Gpu) -> Result<Observed> {
    let Some(simulator) = gpu.simulator() else { return Ok(Observed::default()) };
    let records = simulator.take_records().map_err(Error::Simulator)?;
    Ok(sum(records.launches))
}

fn sum(launches: impl IntoIterator<Item = LaunchRecord>) -> Observed {
    let mut seen = Observed { counters: Some(Counters::default()), ..Observed::default() };
    for launch in launches {
        match launch.outcome {
            Outcome::Finished(report) => {
                *seen.counters.get_or_insert_default() += report.counters;
                seen.findings.extend_from_slice(&report.findings);
                seen.launches.push(Launch { report: *report, occupancy: launch.occupancy });
            }
            Outcome::Failed { message, finding } => {
                seen.message = Some(message);
                seen.fault = finding.map(|finding| *finding);
            }
        }
    }
    seen
}
