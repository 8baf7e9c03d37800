//! What a stage waits for, found by experiment: it runs with part of its work taken out, and what that does to its time tells what the part
//! was worth.
//!
//! That is how one looks for a bottleneck by hand: leave a statement out, and see. If nearly nothing is gained, the stage did not wait for
//! it, or something else took as long meanwhile. An experiment computes something else than its stage **by design**, so it has no place
//! among the rows of a run: it is never compared with the oracle, and its times are no [`common::report::Measured`].
//!
//! # Layout
//!
//! - [`mod@without`]: PTX without its loads, for every stage that launches kernels of ours; why loads, and what stands in their place.
//! - [`steering`]: which loads have to stay, because addresses or branches depend on them.
//! - [`conclusion`]: what the numbers say, in words, and no more than they say.
//! - `table`: the numbers.
//!
//! Beside those there are a chapter's own [`Experiment`]s, kernels written for the purpose.
//!
//! # What an experiment cannot show
//!
//! Taking a load out takes out the waiting for it, its place among the instructions, and what the assembler had to do around it: it gives
//! out registers anew and may order what is left in another way. Effects of a few percent have to be taken for nothing.
//! A share of the time that is gone is not the share that the loads took: other work may have been hidden behind them.

pub mod conclusion;
pub mod steering;
mod table;
pub mod without;

use kernels::{Kernel, Source};
use simt::bound::{Bound, bound};
use simt::{Counters, Profile};

use common::error::{Error, Result};
use common::gpu::Gpu;
use common::observer;
use common::progress;
use common::report::Row;
use common::runner;
use common::stage::{Experiment, Prepared, Run, Stage};
use common::timing::{self, Timing};
use common::workload::Workload;
use without::{Loads, Refusal, without};

/// A stage beside itself with parts taken out.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The whole stage, verified.
    pub whole: Trial,
    /// The whole again after the experiments, on a GPU: the clock may have changed meanwhile.
    pub again: Option<Timing>,
    /// The experiments, in the order of the table.
    pub experiments: Vec<Trial>,
    /// What the stage calls beside kernels of ours.
    pub library: Option<&'static str>,
    /// The GPU that was simulated.
    profile: Option<&'static Profile>,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What it is called.
    pub name: String,
    /// What is left to do.
    pub left: String,
    /// Which part it is without.
    pub kind: Kind,
    /// What it took, or why it was left out.
    pub effort: Result<Effort, String>,
}

/// Where a trial comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is taken out.
    Whole,
    /// Loads are.
    Without(Loads),
    /// The chapter's own kernel.
    Own,
}

/// What a trial took.
#[derive(Clone, Debug)]
pub enum Effort {
    /// On a GPU.
    Timed {
        /// How long.
        timing: Timing,
        /// Registers of a thread, of the kernel that has most.
        registers: u32,
    },
    /// On the simulator.
    Counted {
        /// What.
        counters: Box<Counters>,
        /// What binds on the GPU that is simulated.
        bound: Bound,
    },
}

impl Effort {
    /// How long it took, on a GPU.
    pub fn timing(&self) -> Option<Timing> {
        match self {
            Effort::Timed { timing, .. } => Some(*timing),
            Effort::Counted { .. } => None,
        }
    }

    /// What was counted, on the simulator.
    pub fn counters(&self) -> Option<&Counters> {
        match self {
            Effort::Timed { .. } => None,
            Effort::Counted { counters, .. } => Some(counters),
        }
    }

    /// The time, or on the simulator the least time that the counts need, in milliseconds.
    fn cost_ms(&self) -> f64 {
        match self {
            Effort::Timed { timing, .. } => timing.median_ms,
            Effort::Counted { bound, .. } => bound.least_ms(),
        }
    }
}

impl Diagnosis {
    /// The table and what it says.
    pub fn text(&self) -> String {
        let mut text = table::draw(self);
        text.push_str("\n\nOnly the whole stage is compared with the oracle: an experiment computes something else, by design.\n");
        if let Some(library) = self.library {
            text.push_str(&format!("The kernels of {library} are not ours, and stay whole in every experiment.\n"));
        }
        text.push('\n');
        for sentence in conclusion::sentences(self) {
            text.push_str(&sentence);
            text.push('\n');
        }
        text
    }

    /// The time of the whole, in milliseconds: the mean of before and after, or the least time that its counts need.
    fn whole_ms(&self) -> f64 {
        let first = self.whole.effort.as_ref().map_or(f64::NAN, Effort::cost_ms);
        self.again.map_or(first, |again| (first + again.median_ms) / 2.0)
    }

    /// What a trial takes of the whole; `None` for those left out.
    pub fn share(&self, trial: &Trial) -> Option<f64> {
        Some(trial.effort.as_ref().ok()?.cost_ms() / self.whole_ms())
    }
}

/// Runs a stage whole and in parts. A whole that is not verified comes back as its row, and nothing else is tried. What the simulator's
/// checks find in an experiment is not told: it may well read what nobody wrote.
///
/// # Errors
///
/// When the workload cannot be brought to the device, and the driver's errors.
pub fn diagnose<W: Workload>(
    gpu: &Gpu,
    stage: &Stage<W>,
    experiments: &[Experiment<W>],
    workload: &W,
    repeat: usize,
) -> Result<std::result::Result<Diagnosis, Row>> {
    let repeat = repeat.max(1);
    let whole = || Ok::<_, Error>(runner::run(gpu, std::slice::from_ref(stage), workload, repeat)?.rows.remove(0));
    let first = whole()?;
    let Some(measured) = first.measured() else { return Ok(Err(first)) };

    let mut bench = Bench::new(gpu, stage, workload, repeat)?;
    let whole_effort = effort(gpu, measured.counters().copied(), measured.timing(), bench.registers()?, workload.work().bytes);
    let mut trials = Vec::new();
    let kinds = bench.kinds_of_loads();
    for &loads in &kinds {
        let _alive = progress::spinner(name_of(loads));
        let left = match loads {
            Loads::Global if kinds.len() > 1 => "arithmetic, shared loads, stores",
            Loads::Shared if kinds.len() > 1 => "arithmetic, global loads, stores",
            _ => "arithmetic, stores",
        };
        let (effort, kept) = match bench.without(loads)? {
            Ok((effort, kept)) => (Ok(effort), kept),
            Err(reason) => (Err(reason), 0),
        };
        let kept = if kept > 0 { format!(", {kept} loads that decide addresses or branches") } else { String::new() };
        trials.push(Trial { name: name_of(loads).to_owned(), left: format!("{left}{kept}"), kind: Kind::Without(loads), effort });
    }
    for own in experiments.iter().filter(|experiment| experiment.stage == *stage) {
        let _alive = progress::spinner(own.name);
        let effort = Ok(bench.own(own)?);
        trials.push(Trial { name: own.name.to_owned(), left: own.left.to_owned(), kind: Kind::Own, effort });
    }

    let again = if gpu.is_simulated() {
        None
    } else {
        let last = whole()?;
        match last.measured() {
            Some(measured) => measured.timing(),
            None => return Ok(Err(last)),
        }
    };
    let whole = Trial { name: "whole".to_owned(), left: "everything".to_owned(), kind: Kind::Whole, effort: Ok(whole_effort) };
    Ok(Ok(Diagnosis { whole, again, experiments: trials, library: stage.library(), profile: gpu.profile() }))
}

fn name_of(loads: Loads) -> &'static str {
    match loads {
        Loads::Global => "without global loads",
        Loads::Shared => "without shared loads",
        Loads::Both => "without either",
    }
}

/// A stage with its workload on a device.
struct Bench<'a, W: Workload> {
    gpu: &'a Gpu,
    workload: &'a W,
    buffers: W::Buffers,
    repeat: usize,
    run: Launching<W>,
    /// The kernels that it asks for when it launches, which are those of ours. One that it kept from before would stay whole.
    kernels: Vec<Kernel>,
    /// Their sources, with the PTX that they are loaded from.
    sources: Vec<(&'static Source, String)>,
}

/// A stage that is ready to launch.
enum Launching<W: Workload> {
    Launches(common::stage::Launches<W>),
    /// Prepared with its kernels whole: how it divides the work must not depend on what the experiments make of them.
    Prepared(Box<dyn Prepared<W>>),
    /// Launches nothing.
    Nothing,
}

impl<W: Workload> Launching<W> {
    fn enqueue(&mut self, gpu: &Gpu, workload: &W, buffers: &mut W::Buffers) -> Result<()> {
        match self {
            Launching::Launches(launches) => launches(gpu, workload, buffers),
            Launching::Prepared(prepared) => prepared.enqueue(gpu, workload, buffers),
            Launching::Nothing => Ok(()),
        }
    }
}

impl<'a, W: Workload> Bench<'a, W> {
    fn new(gpu: &'a Gpu, stage: &Stage<W>, workload: &'a W, repeat: usize) -> Result<Self> {
        let mut buffers = workload.upload(gpu)?;
        let mut run = match stage.run {
            Run::Launches(launches) => Launching::Launches(launches),
            Run::Prepared(prepare) => Launching::Prepared(prepare(gpu, workload)?),
            Run::Cpu(_) | Run::Copies(_) => Launching::Nothing,
        };
        gpu.take_asked();
        run.enqueue(gpu, workload, &mut buffers)?;
        gpu.stream.synchronize()?;
        let kernels = gpu.take_asked();
        let mut sources: Vec<(&'static Source, String)> = Vec::new();
        for kernel in &kernels {
            if sources.iter().all(|(source, _)| source.stem != kernel.source.stem) {
                sources.push((kernel.source, gpu.ptx(kernel.source)?));
            }
        }
        Ok(Self { gpu, workload, buffers, repeat, run, kernels, sources })
    }

    /// The experiments that make sense: where one kind of load is all there is, the stage without both is the stage without that.
    fn kinds_of_loads(&self) -> Vec<Loads> {
        let has = |loads| !matches!(self.texts(loads), Err(Refusal::None));
        match (has(Loads::Global), has(Loads::Shared)) {
            (true, true) => vec![Loads::Global, Loads::Shared, Loads::Both],
            (true, false) => vec![Loads::Global],
            (false, true) => vec![Loads::Shared],
            (false, false) => Vec::new(),
        }
    }

    fn texts(&self, loads: Loads) -> std::result::Result<without::Without, Refusal> {
        let modules = self.sources.iter().map(|(source, ptx)| {
            let kernels = self.kernels.iter().filter(|kernel| kernel.source.stem == source.stem);
            (ptx.as_str(), kernels.map(|kernel| kernel.name).collect())
        });
        let modules: Vec<_> = modules.collect();
        without(&modules, loads)
    }

    /// What the stage takes without some of its loads, and how many of them stay; or why that cannot be found out.
    fn without(&mut self, loads: Loads) -> Result<std::result::Result<(Effort, usize), String>> {
        let without = match self.texts(loads) {
            Ok(without) => without,
            Err(refusal) => return Ok(Err(refusal.to_string())),
        };
        let effort = self.with_texts(&without.texts, loads);
        // Whatever came of it, the kernels become whole again.
        self.sources.iter().try_for_each(|(source, _)| self.gpu.substitute(source, None))?;
        Ok(Ok((effort?, without.kept)))
    }

    /// What the stage takes with these texts in the place of its sources' own.
    fn with_texts(&mut self, texts: &[String], loads: Loads) -> Result<Effort> {
        let Self { gpu, workload, repeat, .. } = *self;
        for ((source, _), text) in self.sources.iter().zip(texts) {
            gpu.substitute(source, Some(text.clone()))?;
        }
        let run = &mut self.run;
        let enqueue = |gpu: &Gpu, workload: &W, buffers: &mut W::Buffers| run.enqueue(gpu, workload, buffers);
        let (counters, timing) = trial(gpu, workload, &mut self.buffers, repeat, enqueue)?;
        let least_bytes = if loads == Loads::Shared { workload.work().bytes } else { 0 };
        Ok(effort(gpu, counters, timing, self.registers()?, least_bytes))
    }

    /// What a chapter's own experiment takes.
    fn own(&mut self, experiment: &Experiment<W>) -> Result<Effort> {
        self.gpu.take_asked();
        let (counters, timing) = trial(self.gpu, self.workload, &mut self.buffers, self.repeat, experiment.run)?;
        let registers = most_registers(self.gpu, &self.gpu.take_asked())?;
        Ok(effort(self.gpu, counters, timing, registers, 0))
    }

    fn registers(&self) -> Result<u32> {
        most_registers(self.gpu, &self.kernels)
    }
}

/// What was measured of a run; `least_bytes` is what its computation has to read and write, whichever way.
fn effort(gpu: &Gpu, counters: Option<Counters>, timing: Option<Timing>, registers: u32, least_bytes: u64) -> Effort {
    match (timing, gpu.profile()) {
        (None, Some(profile)) => {
            let counters = counters.unwrap_or_default();
            Effort::Counted { counters: Box::new(counters), bound: bound(&counters, least_bytes, profile) }
        }
        (timing, _) => Effort::Timed { timing: timing.expect("a run on a GPU is timed"), registers },
    }
}

/// Registers per thread of the kernel that has most of them.
fn most_registers(gpu: &Gpu, kernels: &[Kernel]) -> Result<u32> {
    let mut most = 0;
    for kernel in kernels {
        most = most.max(gpu.kernel(*kernel)?.num_regs()?.unsigned_abs());
    }
    Ok(most)
}

/// Runs what writes an output that nobody compares: counts it on the simulator, times it on a GPU.
fn trial<W: Workload>(
    gpu: &Gpu,
    workload: &W,
    buffers: &mut W::Buffers,
    repeat: usize,
    mut enqueue: impl FnMut(&Gpu, &W, &mut W::Buffers) -> Result<()>,
) -> Result<(Option<Counters>, Option<Timing>)> {
    W::output(buffers).poison(gpu)?;
    observer::forget(gpu)?;
    enqueue(gpu, workload, buffers)?;
    gpu.stream.synchronize()?;
    let counters = observer::take(gpu)?.counters;
    let timing = if gpu.is_simulated() { None } else { Some(timing::time(gpu, repeat, || enqueue(gpu, workload, buffers))?) };
    Ok((counters, timing))
}
