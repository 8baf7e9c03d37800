//! The simulator's observations of a stage's launches. A GPU reports nothing like them.

use driver::occupancy::Occupancy;
use driver::records::{Failed, Outcome, Records};
use simt::{Counters, Dim3, Finding, LaunchReport};

use crate::console::note;
use crate::{Error, Gpu, Result};

/// Everything that was seen since the last time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Counts over all launches; `None` on a GPU.
    pub counters: Option<Counters>,
    /// Each launch that finished, in order. Empty if the simulator dropped the details of some launches, so that a part is
    /// not taken for all.
    pub launches: Vec<Launch>,
    /// Launches whose details the simulator dropped. The counts and the findings cover them all the same.
    pub dropped: u64,
    /// Defects that did not stop a kernel: each one once, with how often it was seen.
    pub findings: Vec<Finding>,
    /// How often a defect was seen that is not in `findings`, because too many others came first.
    pub findings_dropped: u64,
    /// The defect that stopped the first kernel that failed.
    pub fault: Option<Finding>,
    /// The reason why the first launch that failed did so.
    pub message: Option<String>,
}

/// One launch that finished.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The simulator's report.
    pub report: LaunchReport,
    /// How its blocks fill a multiprocessor.
    pub occupancy: Occupancy,
}

/// Forgets what was seen until now.
pub fn forget(gpu: &Gpu) -> Result<()> {
    records(gpu).map(drop)
}

/// Records the device memory that one block's threads touch, in [`LaunchReport::touched`]. `block` is its index in every launch from
/// now on; `None` records nothing. The checks have to be on.
pub fn trace(gpu: &Gpu, block: Option<Dim3>) -> Result<()> {
    gpu.simulator().map_or(Ok(()), |simulator| simulator.set_trace(block)).map_err(Error::Simulator)
}

/// Takes what was seen since the last time. Says on stderr what the simulator dropped of it, so that a part is not taken for the whole.
pub fn take(gpu: &Gpu) -> Result<Observed> {
    let Some(records) = records(gpu)? else { return Ok(Observed::default()) };
    let observed = Observed::from(records);
    observed.warnings().iter().for_each(|warning| note(format_args!("warning: {warning}")));
    Ok(observed)
}

fn records(gpu: &Gpu) -> Result<Option<Records>> {
    gpu.simulator().map(|simulator| simulator.take_records().map_err(Error::Simulator)).transpose()
}

impl Observed {
    /// Returns the missing data: a sentence for each kind of record that the simulator dropped.
    pub fn warnings(&self) -> Vec<String> {
        let launches = format!(
            "the simulator dropped the details of {} launches, so nothing is shown per launch or per line; the totals are complete",
            self.dropped
        );
        let findings = format!("the simulator found defects {} more times than it lists", self.findings_dropped);
        [(self.dropped, launches), (self.findings_dropped, findings)]
            .into_iter()
            .filter_map(|(dropped, warning)| (dropped > 0).then_some(warning))
            .collect()
    }
}

impl From<Records> for Observed {
    fn from(records: Records) -> Self {
        let launches = records.all_launches().map(|launches| {
            let finished = launches.filter_map(|launch| match &launch.outcome {
                Outcome::Finished(report) => Some(Launch { report: report.as_ref().clone(), occupancy: launch.occupancy.clone() }),
                Outcome::Failed(_) => None,
            });
            finished.collect()
        });
        let (launches, dropped) = (launches.unwrap_or_default(), records.dropped());
        let (message, fault) = records.totals.first_failure.map(|Failed { message, finding }| (message, finding)).unzip();
        Self {
            counters: Some(records.totals.counters),
            launches,
            dropped,
            findings: records.totals.findings,
            findings_dropped: records.totals.findings_dropped,
            fault: fault.flatten().map(|finding| *finding),
            message,
        }
    }
}
