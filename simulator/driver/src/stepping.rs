//! Requests of `simcuda debug` and the answers of a process: which launches have defects, and what one warp of one launch did,
//! instruction by instruction.
//!
//! [`DEBUG`] names a file with a [`Request`]. Each process writes a file into the request's folder for each launch that is worth it, when
//! the launch has ended, because a process can end in ways that no library notices.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use simt::steps::{Recorded, StepRecord};
pub use simt::steps::{Values, Write};
use simt::{Dim3, Finding, LaunchConfig, LaunchOptions, Location, Module};

use crate::error::Error;
use crate::files::Spool;
use crate::messages::say_if_not_written;
use crate::name::readable;
use crate::observer::{Begun, Ended, Observer};
use crate::records::{Failed, Outcome};
use crate::variables::DEBUG;

/// The kind of file that a launch is.
const KIND: &str = "debug";

/// A request: the answers to write.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Request {
    /// The folder that the answers go to.
    pub folder: PathBuf,
    /// The warp to record.
    pub wanted: Option<Wanted>,
}

/// A warp of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The launch, counted from 1 in each process.
    pub launch: u64,
    /// Name of the kernel as in [`Launched::kernel`]; `None` for any kernel.
    pub kernel: Option<String>,
    /// The block.
    pub block: Dim3,
    /// Number of the warp in the block.
    pub warp: u32,
    /// How many instructions of the warp come before the first recorded one.
    pub first: u64,
    /// The most instructions to record.
    pub limit: usize,
}

/// A launch: the first one of its kernel, one with defects, or the one that is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// Its number, counted from 1.
    pub number: u64,
    /// Name of the kernel, as its source has it.
    pub kernel: String,
    /// Its shape.
    pub config: LaunchConfig,
    /// Why it did not run to its end.
    pub failure: Option<Failure>,
    /// Its defects.
    pub findings: Vec<Finding>,
    /// The warp that is wanted.
    pub warp: Option<Warp>,
}

/// Why a kernel did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Why, for people.
    pub message: String,
    /// The block that stopped it.
    pub block: Dim3,
    /// The warp of the block; `None` if the finding names the thread.
    pub warp: Option<u32>,
}

/// The instructions of a warp and their effects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warp {
    /// The module.
    pub ptx: String,
    /// The instructions that it executed, each once.
    pub places: Vec<Location>,
    /// The registers before the first recorded instruction.
    pub start: Vec<Write>,
    /// The instructions that it executed, as far as they are recorded.
    pub steps: Vec<Step>,
    /// How many instructions it executed in all.
    pub executed: u64,
    /// The defects found in it, with the instructions' numbers, from 0.
    pub found: Vec<(u64, Finding)>,
}

/// An instruction that a warp executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its index in [`Warp::places`].
    pub place: usize,
    /// A bit for each lane that executed it.
    pub lanes: u32,
    /// How many instructions its block had executed before it.
    pub clock: u64,
    /// The registers whose values it changed.
    pub writes: Vec<Write>,
}

impl From<(Recorded, &Module)> for Warp {
    fn from((recorded, module): (Recorded, &Module)) -> Self {
        let Recorded { start, steps, executed, found } = recorded;
        let (mut places, mut known) = (Vec::new(), HashMap::new());
        let steps = steps.into_iter().map(|step| {
            let place = *known.entry(step.location.ptx_line).or_insert_with(|| {
                places.push(step.location);
                places.len() - 1
            });
            Step { place, lanes: step.lanes, clock: step.clock, writes: step.writes }
        });
        let steps = steps.collect();
        Self { ptx: module.text(), places, start, steps, executed, found }
    }
}

/// The launches of a process that is debugged.
#[derive(Debug)]
pub(crate) struct Debugged {
    request: Request,
    /// Kernels that were launched.
    known: Mutex<BTreeSet<String>>,
}

impl Debugged {
    /// Reads from the environment what to do.
    pub(crate) fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, Error> {
        let request = |path: &str| serde_json::from_slice(&fs::read(path).ok()?).ok();
        let request = DEBUG.parsed(variable, "a file that `simcuda debug` wrote", request)?;
        Ok(request.map(|request| Self { request, known: Mutex::default() }))
    }
}

impl Observer for Debugged {
    /// Records the warp that is wanted. One thread of the host executes the blocks, so that the launch repeats itself.
    fn begin(&self, launch: &Begun<'_>, options: &mut LaunchOptions) {
        options.workers = Some(1);
        let is_meant = |wanted: &&Wanted| {
            wanted.launch == launch.number && wanted.kernel.as_ref().is_none_or(|name| *name == readable(launch.kernel))
        };
        let wanted = self.request.wanted.as_ref().filter(is_meant);
        options.steps = wanted.map(|wanted| Arc::new(StepRecord::new(wanted.block, wanted.warp, wanted.first, wanted.limit)));
    }

    fn end(&self, launch: &Begun<'_>, options: &LaunchOptions, ended: &Ended) {
        let kernel = readable(launch.kernel).into_owned();
        let (failure, findings) = match &ended.record.outcome {
            Outcome::Finished(report) => (None, report.findings.clone()),
            Outcome::Failed(Failed { message, finding }) => {
                let at = ended.out_of_fuel.map(|(block, warp)| (block, Some(warp)));
                let at = at.or(finding.as_ref().map(|finding| (finding.block, None)));
                let Some((block, warp)) = at else { return };
                (Some(Failure { message: message.clone(), block, warp }), finding.as_deref().cloned().into_iter().collect())
            }
        };
        let is_new = self.known.lock().insert(kernel.clone());
        if !is_new && failure.is_none() && findings.is_empty() && options.steps.is_none() {
            return;
        }
        let warp = options.steps.as_ref().map(|record| Warp::from((record.take(), launch.image.module())));
        let launched = Launched { number: launch.number, kernel, config: launch.config, failure, findings, warp };
        let written = Spool::new(&self.request.folder, KIND).add(&launched);
        say_if_not_written(written, format_args!("the launch of {} ({DEBUG})", launched.kernel));
    }
}

/// Reads the launches that the processes have written, process by process. Fails with [`Error::File`] if the folder or a file cannot be
/// read, or does not hold a launch.
pub fn read(folder: &Path) -> Result<Vec<Launched>, Error> {
    Spool::new(folder, KIND).read(|text| Ok(serde_json::from_slice(text)?))
}
