//! Kernels with one instruction removed, in the stages that launch them.

use std::collections::BTreeSet;

use kernels::{Kernel, Source};
use ptx::mutation::{Mutant, mutants_of};
use ptx::parse;
use run::gpu::Gpu;
use run::report::{Outcome, Place};
use run::runner;
use run::stage::Stage;
use run::workload::Workload;

/// Chooses mutants of a kernel.
pub type Choice = fn(&Mutant) -> bool;

/// Lends the device for one run.
pub type Lend = fn(&mut dyn FnMut(&Gpu) -> Outcome) -> Outcome;

/// A stage, and a mutant of one of the kernels it launches.
pub struct Trial<'a, W: Workload> {
    pub stage: &'a Stage<W>,
    pub kernel: Kernel,
    pub mutant: Mutant,
}

/// Returns the chosen mutants of a kernel.
fn chosen(kernel: Kernel, choice: Choice) -> Vec<Mutant> {
    let module = parse(kernel.source.ptx).unwrap();
    let kernel = module.kernel(kernel.name).expect("a kernel of the module");
    mutants_of(&module, kernel).into_iter().filter(choice).collect()
}

/// Returns the opcode of the instruction that a mutant changes.
pub fn opcode(mutant: &Mutant) -> &str {
    mutant.instruction.split([' ', ';']).find(|word| !word.starts_with('@')).unwrap_or_default()
}

/// Returns the outcome of a stage with this text as its PTX.
pub fn outcome<W: Workload>(gpu: &Gpu, stage: &Stage<W>, source: &'static Source, ptx: Option<String>, workload: &W) -> Outcome {
    gpu.replace_ptx(source, ptx).unwrap();
    let finished = runner::run(gpu, &[*stage], workload, 0).unwrap();
    gpu.replace_ptx(source, None).unwrap();
    finished.rows.into_iter().next().expect("a row for a stage").outcome
}

/// Pairs each stage with each chosen mutant of its kernels. Only kernels of these sources count. As it is, the stage must be right, and
/// be warned of nothing.
pub fn trials<'a, W: Workload>(
    sources: &[&'static Source],
    stages: &'a [Stage<W>],
    workload: &W,
    choice: Choice,
    lend: Lend,
) -> Vec<Trial<'a, W>> {
    let mut trials = Vec::new();
    for stage in stages.iter().filter(|stage| stage.place() == Place::Device) {
        let measured = match lend(&mut |gpu| runner::run(gpu, &[*stage], workload, 0).unwrap().rows.remove(0).outcome) {
            Outcome::Verified(measured) => measured,
            Outcome::Skipped(_) => continue,
            other => panic!("{} as it is: {other:?}", stage.name),
        };
        assert!(measured.warnings.is_empty(), "{} as it is: {:?}", stage.name, measured.warnings);
        let launched: BTreeSet<&str> = measured.launches.iter().map(|launch| launch.report.kernel.as_str()).collect();
        let is_tried = |kernel: &Kernel| sources.contains(&kernel.source) && launched.contains(kernel.name);
        for kernel in kernels::all().filter(is_tried) {
            trials.extend(chosen(kernel, choice).into_iter().map(|mutant| Trial { stage, kernel, mutant }));
        }
    }
    trials
}

impl<W: Workload> Trial<'_, W> {
    /// Runs the stage with the mutant. Returns how the stage failed, or what it was warned of; nothing if nobody misses the instruction.
    pub fn said(&self, workload: &W, lend: Lend) -> Option<String> {
        let Self { stage, kernel, mutant } = self;
        let ptx = mutant.apply(kernel.source.ptx);
        match lend(&mut |gpu| outcome(gpu, stage, kernel.source, Some(ptx.clone()), workload)) {
            Outcome::Failed(failure) => Some(failure.to_string()),
            Outcome::Verified(measured) if !measured.warnings.is_empty() => {
                Some(measured.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            }
            _ => None,
        }
    }
}
