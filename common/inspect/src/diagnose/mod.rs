//! Finds the bottleneck of a stage by experiment: it runs the stage again with part of its work removed, and compares the times.
//!
//! People look for a bottleneck by hand in the same way: they remove a statement and measure. If almost nothing is gained, the stage did not
//! wait for that statement, or something else took as long at the same time. An experiment computes something else than its stage **by
//! design**. So it is not a row of a run: it is never compared with the oracle, and its times are not a [`run::report::Measured`].
//!
//! # Layout
//!
//! - [`steering`]: which loads have to stay, because addresses or branches depend on them.
//! - [`mod@without`]: PTX without its loads, why loads, and what replaces them.
//! - [`trial`]: a diagnosis as data.
//! - [`conclusion`]: what the numbers say in words, and no more than they say.
//! - `table`: the numbers.
//!
//! A chapter's own [`Experiment`]s are kernels written for the purpose.
//!
//! # What an experiment cannot show
//!
//! Removing a load also removes the wait for it, its place in the instruction stream, and everything that the assembler does around it. The
//! assembler assigns registers anew and may reorder what is left. So treat effects of a few percent as nothing. The share of the time that
//! is gone is not the share that the loads took: other work may have overlapped with them.

pub mod conclusion;
pub mod steering;
mod table;
pub mod trial;
pub mod without;

use kernels::{Kernel, Source};
use oracles::progress;
use run::console::wrap_lines;
use run::error::{Error, Result};
use run::gpu::Gpu;
use run::observer;
use run::report::Row;
use run::runner;
use run::stage::{Experiment, Run, Stage};
use run::timing::{self, Timing};
use run::workload::Workload;
use simt::Counters;
use simt::bound::bound;

use without::{Loads, Refusal, Without, without};

pub use trial::{Diagnosis, Effort, Kind, Trial};

impl Diagnosis {
    /// Returns the table and its conclusions, in lines of any length.
    pub fn text(&self) -> String {
        self.text_in(usize::MAX)
    }

    /// Returns the table and its conclusions, at most `width` characters wide.
    pub fn text_in(&self, width: usize) -> String {
        let mut text = table::fit(self, width);
        text.push_str("\n\nOnly the whole stage is compared with the oracle: an experiment computes something else, by design.\n");
        if let Some(library) = self.library {
            text.push_str(&format!("The kernels of {library} are not ours, and stay whole in every experiment.\n"));
        }
        text.push('\n');
        for sentence in conclusion::sentences(self) {
            text.push_str(&sentence);
            text.push('\n');
        }
        wrap_lines(&text, width)
    }
}

/// Runs a stage whole and without parts of its work. If the whole is not verified, its row comes back and nothing else is tried. Findings of
/// the simulator's checks in an experiment are ignored, because an experiment may read uninitialized memory.
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

    let mut subject = Subject::new(gpu, stage, workload, repeat)?;
    let least_bytes = stage.least_bytes(workload);
    let registers = most_registers(gpu, &subject.kernels)?;
    let whole_effort = effort(gpu, measured.counters.as_deref().copied(), measured.timing, registers, least_bytes);
    let mut trials = Vec::new();
    let removals = subject.removals();
    let several = removals.len() > 1;
    for (loads, without) in removals {
        let _alive = progress::spinner(loads.without());
        let left = match loads {
            Loads::Global if several => "arithmetic, shared loads, stores",
            Loads::Shared if several => "arithmetic, global loads, stores",
            _ => "arithmetic, stores",
        };
        let (effort, kept) = match without {
            Ok(without) => (Ok(subject.with_texts(&without.texts, loads)?), without.kept),
            Err(refusal) => (Err(refusal.to_string()), 0),
        };
        let kept = if kept > 0 { format!(", {kept} loads that decide addresses or branches") } else { String::new() };
        trials.push(Trial { name: loads.without().to_owned(), left: format!("{left}{kept}"), kind: Kind::Without(loads), effort });
    }
    for own in experiments.iter().filter(|experiment| experiment.stage == *stage) {
        let _alive = progress::spinner(own.name);
        let effort = Ok(trial(gpu, workload, &mut subject.buffers, repeat, 0, own.run)?);
        trials.push(Trial { name: own.name.to_owned(), left: own.left.to_owned(), kind: Kind::Own, effort });
    }

    let mut again = None;
    if !gpu.is_simulated() {
        let last = whole()?;
        let Some(measured) = last.measured() else { return Ok(Err(last)) };
        again = measured.timing;
    }
    let whole = Trial { name: "whole".to_owned(), left: "everything".to_owned(), kind: Kind::Whole, effort: Ok(whole_effort) };
    Ok(Ok(Diagnosis { whole, again, experiments: trials, library: stage.library(), profile: gpu.profile() }))
}

/// A stage with its workload on a device.
struct Subject<'a, W: Workload> {
    gpu: &'a Gpu,
    workload: &'a W,
    buffers: W::Buffers,
    repeat: usize,
    least_bytes: u64,
    enqueue: Enqueue<W>,
    /// The kernels of ours that it asks for when it launches. A kernel that it kept from earlier would stay whole.
    kernels: Vec<Kernel>,
    /// Their sources, with the PTX that they are loaded from.
    sources: Vec<(&'static Source, String)>,
}

/// Launches a stage that is ready. It was prepared with whole kernels, because how it divides the work must not depend on the experiments.
type Enqueue<W> = Box<dyn FnMut(&Gpu, &W, &mut <W as Workload>::Buffers) -> Result<()>>;

impl<'a, W: Workload> Subject<'a, W> {
    fn new(gpu: &'a Gpu, stage: &Stage<W>, workload: &'a W, repeat: usize) -> Result<Self> {
        let mut buffers = workload.upload(gpu)?;
        let mut enqueue: Enqueue<W> = match stage.run {
            Run::Launches(launches) => Box::new(launches),
            Run::Prepared(prepare) => {
                let mut prepared = prepare(gpu, workload)?;
                Box::new(move |gpu, workload, buffers| prepared.enqueue(gpu, workload, buffers))
            }
            Run::Cpu(_) | Run::Copies(_) => Box::new(|_, _, _| Ok(())),
        };
        gpu.take_requested();
        enqueue(gpu, workload, &mut buffers)?;
        gpu.stream.synchronize()?;
        let kernels = gpu.take_requested();
        let mut sources: Vec<(&'static Source, String)> = Vec::new();
        for kernel in &kernels {
            if sources.iter().all(|(source, _)| *source != kernel.source) {
                sources.push((kernel.source, gpu.ptx(kernel.source)?));
            }
        }
        Ok(Self { gpu, workload, buffers, repeat, least_bytes: stage.least_bytes(workload), enqueue, kernels, sources })
    }

    /// Removes loads of each kind that the stage has. If it has only one kind, removing both kinds adds nothing.
    fn removals(&self) -> Vec<(Loads, std::result::Result<Without, Refusal>)> {
        let remove = |loads| {
            let modules = self.sources.iter().map(|(source, ptx)| {
                let kernels = self.kernels.iter().filter(|kernel| kernel.source == *source);
                (ptx.as_str(), kernels.map(|kernel| kernel.name).collect())
            });
            (loads, without(&modules.collect::<Vec<_>>(), loads))
        };
        let mut removals = Vec::from([Loads::Global, Loads::Shared].map(remove));
        removals.retain(|(_, without)| !matches!(without, Err(Refusal::None)));
        if removals.len() == 2 {
            removals.push(remove(Loads::Both));
        }
        removals
    }

    /// Returns the stage's effort with these texts instead of its sources' own.
    fn with_texts(&mut self, texts: &[String], loads: Loads) -> Result<Effort> {
        let Self { gpu, workload, repeat, least_bytes, .. } = *self;
        let mut sources = self.sources.iter().zip(texts);
        let replaced = sources.try_for_each(|((source, _), text)| gpu.replace_ptx(source, Some(text.clone())));
        let least_bytes = if loads == Loads::Shared { least_bytes } else { 0 };
        let effort = replaced.and_then(|()| trial(gpu, workload, &mut self.buffers, repeat, least_bytes, &mut self.enqueue));
        // Even after an error, the kernels become whole again.
        self.sources.iter().try_for_each(|(source, _)| gpu.replace_ptx(source, None))?;
        effort
    }
}

/// Returns the effort of a run; `least_bytes` is the least that its computation has to read and write.
fn effort(gpu: &Gpu, counters: Option<Counters>, timing: Option<Timing>, registers: u32, least_bytes: u64) -> Effort {
    match (timing, gpu.profile()) {
        (None, Some(profile)) => {
            let counters = counters.unwrap_or_default();
            Effort::Counted { counters: Box::new(counters), bound: bound(&counters, least_bytes, profile) }
        }
        (timing, _) => Effort::Timed { timing: timing.expect("a run on a GPU is timed"), registers },
    }
}

/// Returns the registers per thread of the kernel with the most.
fn most_registers(gpu: &Gpu, kernels: &[Kernel]) -> Result<u32> {
    let mut most = 0;
    for kernel in kernels {
        most = most.max(gpu.kernel(*kernel)?.num_regs()?.unsigned_abs());
    }
    Ok(most)
}

/// Counts launches on the simulator, or times them on a GPU. Their output is not compared; `least_bytes` as in [`effort`].
fn trial<W: Workload>(
    gpu: &Gpu,
    workload: &W,
    buffers: &mut W::Buffers,
    repeat: usize,
    least_bytes: u64,
    mut enqueue: impl FnMut(&Gpu, &W, &mut W::Buffers) -> Result<()>,
) -> Result<Effort> {
    W::output(buffers).poison(gpu)?;
    observer::forget(gpu)?;
    gpu.take_requested();
    enqueue(gpu, workload, buffers)?;
    gpu.stream.synchronize()?;
    let (counters, kernels) = (observer::take(gpu)?.counters, gpu.take_requested());
    let timing = if gpu.is_simulated() { None } else { Some(timing::time(gpu, repeat, || enqueue(gpu, workload, buffers))?) };
    Ok(effort(gpu, counters, timing, most_registers(gpu, &kernels)?, least_bytes))
}
