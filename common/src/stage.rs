//! One row of a chapter's table: one way to compute the chapter's workload.

use crate::error::Result;
use crate::gpu::Gpu;
use crate::report::Place;
use crate::workload::Workload;

/// A way to compute `W`, with what it needs of the device.
pub struct Stage<W: Workload> {
    /// The row's name, and what `--stage` calls it.
    pub name: &'static str,
    /// The idea in one line.
    pub idea: &'static str,
    /// What it does.
    pub run: Run<W>,
    /// The lowest compute capability that has what the stage uses, major and minor.
    compute_capability: (u32, u32),
    lacks: Option<Lacks<W>>,
    allowance: Option<Allowance<W>>,
    library: Option<&'static str>,
}

/// The kinds of stage, by where they run and how they are timed.
pub enum Run<W: Workload> {
    /// Enqueues launches on the device's stream, timed by CUDA events.
    Launches(Launches<W>),
    /// The same, with memory or plans of its own that a program would keep from one call to the next. Making them is not timed.
    Prepared(Prepare<W>),
    /// Computes on the CPU, timed by the clock on the wall.
    Cpu(Cpu<W>),
    /// Computes nothing: moves the inputs to the device and the output back. Prepares the host's memory, so that only copies
    /// are timed.
    Copies(PrepareCopies<W>),
}

/// Enqueues on the device's stream what writes the output.
pub type Launches<W> = fn(&Gpu, &W, &mut <W as Workload>::Buffers) -> Result<()>;

/// Makes ready for launches.
pub type Prepare<W> = fn(&Gpu, &W) -> Result<Box<dyn Prepared<W>>>;

/// Launches with something of their own.
pub trait Prepared<W: Workload> {
    /// Enqueues on the device's stream what writes the output. Everything that depends on the values of the inputs belongs here,
    /// because this is what is timed.
    ///
    /// # Errors
    ///
    /// The driver's errors, and those of the libraries that the stage calls.
    fn enqueue(&mut self, gpu: &Gpu, workload: &W, buffers: &mut W::Buffers) -> Result<()>;
}

/// Writes the output, on the CPU.
pub type Cpu<W> = fn(&W, &mut [f32]);

/// What a stage lacks on this device or at this size, as a sentence goes on after "skipped:"; `None` when it can run.
pub type Lacks<W> = fn(&Gpu, &W) -> Option<String>;

/// How much further from the oracle than the workload's own tolerance each output may lie.
pub type Allowance<W> = fn(&W) -> f64;

/// Makes ready for copies.
pub type PrepareCopies<W> = fn(&Gpu, &W) -> Result<Box<dyn Copies<W>>>;

/// Copies between a host and a device.
pub trait Copies<W: Workload> {
    /// Enqueues the copies: the inputs to the device, and what stands in the output's place back.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    fn enqueue(&mut self, gpu: &Gpu, buffers: &mut W::Buffers) -> Result<()>;

    /// The output as it arrived on the host.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    fn arrived(&self) -> Result<Vec<f32>>;
}

/// A stage with part of its work left out, to see what the rest takes: its result is wrong by design, and nobody compares it with the
/// oracle. That is why it is no stage, and why no table of a run has room for its time.
pub struct Experiment<W: Workload> {
    /// The stage of which it does a part.
    pub stage: &'static str,
    /// What the experiment is called.
    pub name: &'static str,
    /// What is left, in one line.
    pub left: &'static str,
    /// Does the part. What it writes is for nobody to read.
    pub run: Launches<W>,
}

impl<W: Workload> Stage<W> {
    /// A stage that launches kernels.
    pub const fn launches(name: &'static str, idea: &'static str, enqueue: Launches<W>) -> Self {
        Self::new(name, idea, Run::Launches(enqueue))
    }

    /// A stage that launches kernels with memory or plans of its own.
    pub const fn prepared(name: &'static str, idea: &'static str, prepare: Prepare<W>) -> Self {
        Self::new(name, idea, Run::Prepared(prepare))
    }

    /// A stage that computes on the CPU.
    pub const fn cpu(name: &'static str, idea: &'static str, compute: Cpu<W>) -> Self {
        Self::new(name, idea, Run::Cpu(compute))
    }

    /// A stage that only copies.
    pub const fn copies(name: &'static str, idea: &'static str, prepare: PrepareCopies<W>) -> Self {
        Self::new(name, idea, Run::Copies(prepare))
    }

    const fn new(name: &'static str, idea: &'static str, run: Run<W>) -> Self {
        Self { name, idea, run, compute_capability: (0, 0), lacks: None, allowance: None, library: None }
    }

    /// Skips the stage on devices below this compute capability.
    pub const fn needs_compute_capability(self, major: u32, minor: u32) -> Self {
        Self { compute_capability: (major, minor), ..self }
    }

    /// Skips the stage where it lacks something.
    pub const fn skipped_where(self, lacks: Lacks<W>) -> Self {
        Self { lacks: Some(lacks), ..self }
    }

    /// Allows each output to lie further from the oracle, for a stage that computes the same in another way and with other rounding
    /// errors. Where the function is written it is derived.
    pub const fn with_allowance(self, allowance: Allowance<W>) -> Self {
        Self { allowance: Some(allowance), ..self }
    }

    /// Says which library's kernels the stage launches beside ours: nobody can look into those.
    pub const fn calls(self, library: &'static str) -> Self {
        Self { library: Some(library), ..self }
    }

    /// The library whose kernels the stage launches.
    pub fn library(&self) -> Option<&'static str> {
        self.library
    }

    /// Where the stage does its work.
    pub fn place(&self) -> Place {
        match self.run {
            Run::Launches(_) | Run::Prepared(_) => Place::Device,
            Run::Cpu(_) => Place::Host,
            Run::Copies(_) => Place::Between,
        }
    }

    /// Why the stage cannot run on this device; `None` when it can.
    pub fn lacks(&self, gpu: &Gpu, workload: &W) -> Option<String> {
        let (major, minor) = self.compute_capability;
        let actual = &gpu.info().compute_capability;
        let (has_major, has_minor) = actual.split_once('.')?;
        let has = (has_major.parse::<u32>().ok()?, has_minor.parse::<u32>().ok()?);
        if has < (major, minor) {
            return Some(format!("needs compute capability {major}.{minor}, the device has {actual}"));
        }
        self.lacks.and_then(|lacks| lacks(gpu, workload))
    }

    /// What the stage may lie further off than the workload's tolerance.
    pub(crate) fn allowance(&self, workload: &W) -> f64 {
        self.allowance.map_or(0.0, |allowance| allowance(workload))
    }
}

// Derived, they would demand that the workload itself can be copied.
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
