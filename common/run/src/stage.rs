//! One row of a chapter's table: one way to compute the chapter's workload.

use crate::device::capability::ComputeCapability;
use crate::results::report::Place;
use crate::{Gpu, Result, Unmet, Workload};

/// A way to compute `W`, with what it needs of the device.
///
/// Two stages are the same if they have the same name; names are unique within a chapter. Code refers to a stage by its constant, so
/// that a misspelled name does not compile; the name itself is for people and files.
pub struct Stage<W: Workload> {
    /// The row's name, and what `--stage` calls it.
    pub name: &'static str,
    /// The idea in one line.
    pub idea: &'static str,
    /// The function that launches it.
    pub run: Run<W>,
    compute_capability: ComputeCapability,
    only_this_generation: bool,
    requirement: Option<Requirement<W>>,
    allowance: Option<Allowance<W>>,
    library: Option<&'static str>,
    least_bytes: Option<fn(&W) -> u64>,
}

/// Kinds of stage, by where they run and how they are timed.
pub enum Run<W: Workload> {
    /// Enqueues launches on the device's stream, timed by CUDA events.
    Launches(Launches<W>),
    /// Like [`Run::Launches`], with memory or plans that a program would keep from one call to the next. Making them is not timed.
    Prepared(Prepare<W>),
    /// Computes on the CPU, timed by the wall clock.
    Cpu(Cpu<W>),
    /// Computes nothing: moves the inputs to the device and the contents of the output buffer back, to where [`Prepared::arrived`] finds
    /// them. The host's memory is prepared beforehand, so that only copies are timed.
    Copies(Prepare<W>),
}

/// Function that enqueues, on the device's stream, launches that write the output.
pub type Launches<W> = fn(&Gpu, &W, &mut <W as Workload>::Buffers) -> Result<()>;

/// Function that prepares a [`Run::Prepared`] or [`Run::Copies`] stage. It makes what the stage keeps between calls.
pub type Prepare<W> = fn(&Gpu, &W) -> Result<Box<dyn Prepared<W>>>;

/// Launches, or copies, with memory or plans of their own.
pub trait Prepared<W: Workload> {
    /// Enqueues them on the device's stream. Everything that depends on the values of the inputs belongs here, because this is what is
    /// timed.
    fn enqueue(&mut self, gpu: &Gpu, workload: &W, buffers: &mut W::Buffers) -> Result<()>;

    /// Returns the output, for stages that copy it to the host themselves. Such a stage writes nothing into the output buffer.
    fn arrived(&self) -> Result<Option<Vec<f32>>> {
        Ok(None)
    }
}

/// Launches without memory of their own.
impl<W: Workload, F: FnMut(&Gpu, &W, &mut W::Buffers) -> Result<()>> Prepared<W> for F {
    fn enqueue(&mut self, gpu: &Gpu, workload: &W, buffers: &mut W::Buffers) -> Result<()> {
        self(gpu, workload, buffers)
    }
}

/// Function that writes the output, on the CPU.
pub type Cpu<W> = fn(&W, &mut [f32]);

/// Function that checks a stage's needs on a device at a size; `None` when the stage can run.
pub type Requirement<W> = fn(&Gpu, &W) -> Result<Option<Unmet>>;

/// Function that returns an output's extra error, beyond the workload's own tolerance.
pub type Allowance<W> = fn(&W) -> f64;

/// A stage without some of its work, to time the rest. Its result is wrong by design and is never compared with the oracle, so an
/// experiment is not a stage, and its time does not appear in the table of a run.
pub struct Experiment<W: Workload> {
    /// The stage from which work was removed.
    pub stage: Stage<W>,
    /// The name of the experiment.
    pub name: &'static str,
    /// The work that remains, in one line.
    pub left: &'static str,
    /// Does the remaining work. Nothing reads what it writes.
    pub run: Launches<W>,
}

impl<W: Workload> Stage<W> {
    /// Makes a stage that launches kernels.
    pub const fn launches(name: &'static str, idea: &'static str, enqueue: Launches<W>) -> Self {
        Self::new(name, idea, Run::Launches(enqueue))
    }

    /// Makes a stage that launches kernels with its own memory or plans.
    pub const fn prepared(name: &'static str, idea: &'static str, prepare: Prepare<W>) -> Self {
        Self::new(name, idea, Run::Prepared(prepare))
    }

    /// Makes a stage that computes on the CPU.
    pub const fn cpu(name: &'static str, idea: &'static str, compute: Cpu<W>) -> Self {
        Self::new(name, idea, Run::Cpu(compute))
    }

    /// Makes a stage that only copies.
    pub const fn copies(name: &'static str, idea: &'static str, prepare: Prepare<W>) -> Self {
        Self::new(name, idea, Run::Copies(prepare))
    }

    const fn new(name: &'static str, idea: &'static str, run: Run<W>) -> Self {
        let compute_capability = ComputeCapability::new(0, 0);
        Self {
            name,
            idea,
            run,
            compute_capability,
            only_this_generation: false,
            requirement: None,
            allowance: None,
            library: None,
            least_bytes: None,
        }
    }

    /// Skips the stage on devices below this compute capability.
    pub const fn needs_compute_capability(self, major: u32, minor: u32) -> Self {
        Self { compute_capability: ComputeCapability::new(major, minor), ..self }
    }

    /// Skips the stage on devices of any other compute capability. Its instructions exist in no other generation.
    pub const fn needs_generation(self, major: u32, minor: u32) -> Self {
        Self { only_this_generation: true, ..self.needs_compute_capability(major, minor) }
    }

    /// Skips the stage where this requirement is not met.
    pub const fn requires(self, requirement: Requirement<W>) -> Self {
        Self { requirement: Some(requirement), ..self }
    }

    /// Allows each output a larger error, for stages with other rounding errors. Such a stage computes the same result in another way.
    /// The allowance is derived where its function is written.
    pub const fn with_allowance(self, allowance: Allowance<W>) -> Self {
        Self { allowance: Some(allowance), ..self }
    }

    /// Names the library whose kernels the stage launches besides ours. Their source and counts are not available.
    pub const fn calls(self, library: &'static str) -> Self {
        Self { library: Some(library), ..self }
    }

    /// Replaces the least bytes to read and write. For stages whose input is stored in fewer bytes than the workload's.
    pub const fn with_least_bytes(self, bytes: fn(&W) -> u64) -> Self {
        Self { least_bytes: Some(bytes), ..self }
    }

    /// Returns the stage's own least bytes; `None` if they are the workload's.
    pub fn own_least_bytes(&self, workload: &W) -> Option<u64> {
        self.least_bytes.map(|bytes| bytes(workload))
    }

    /// Returns the least bytes that the stage has to read and write.
    pub fn least_bytes(&self, workload: &W) -> u64 {
        self.own_least_bytes(workload).unwrap_or(workload.work().bytes)
    }

    /// Returns the library whose kernels the stage launches.
    pub fn library(&self) -> Option<&'static str> {
        self.library
    }

    /// Returns where the stage does its work.
    pub fn place(&self) -> Place {
        match self.run {
            Run::Launches(_) | Run::Prepared(_) => Place::Device,
            Run::Cpu(_) => Place::Host,
            Run::Copies(_) => Place::Between,
        }
    }

    /// Returns why the stage cannot run on this device at this size; `None` when it can.
    pub fn unmet(&self, gpu: &Gpu, workload: &W) -> Result<Option<Unmet>> {
        let (needed, available) = (self.compute_capability, gpu.info().compute_capability);
        if available < needed {
            return Ok(Some(Unmet::ComputeCapability { needed, available }));
        }
        if self.only_this_generation && available != needed {
            return Ok(Some(Unmet::OtherGeneration { needed, available }));
        }
        self.requirement.map_or(Ok(None), |requirement| requirement(gpu, workload))
    }

    /// Returns the extra error that an output may have beyond the tolerance.
    pub(crate) fn allowance(&self, workload: &W) -> f64 {
        self.allowance.map_or(0.0, |allowance| allowance(workload))
    }
}

impl<W: Workload> PartialEq for Stage<W> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<W: Workload> Eq for Stage<W> {}

// Derived, these would demand that the workload itself can be copied.
impl<W: Workload> Clone for Run<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Workload> Copy for Run<W> {}

impl<W: Workload> Clone for Stage<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: Workload> Copy for Stage<W> {}
