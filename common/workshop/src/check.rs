//! Checks a learner's kernel: compile, run at many sizes with the simulator's checks, compare with the oracle, then count.
//!
//! The first thing that is wrong ends the check, because the rest would only repeat it.

use cudarc::driver::{CudaFunction, LaunchConfig};
use cudarc::nvrtc::Ptx;
use toolkit::nvrtc::{Input, Nvrtc};
use toolkit::options::options;

use super::manifest::{Cases, Extent, Kernel, Target};
use super::text::constant;
use crate::error::{Error, Result};
use crate::{Exercise, Unusable, cases};
use common::chapter::Chapter;
use common::error::describe;
use common::gpu::{Gpu, TRIAL};
use common::report::{Failure, Measured, Outcome};
use common::runner;
use common::workload::arguments::{self, Argument};
use common::workload::{Arithmetic, Plan, Workload};

/// What a check found of a kernel that passes.
#[derive(Clone, Debug, PartialEq)]
pub struct Passed {
    /// The sizes at which it was run.
    pub sizes: usize,
    /// What was counted for each target, in their order.
    pub counted: Vec<f64>,
    /// What some of that is told per.
    pub arithmetic: Arithmetic,
}

/// Why a kernel does not pass.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// The compiler's messages.
    DoesNotCompile(String),
    /// It compiles, and cannot be launched as the exercise launches it.
    CannotBeLaunched(String),
    /// It is wrong at a size.
    Fails {
        /// The size, as the workload describes it.
        at: String,
        /// At how many sizes it was right before.
        right: usize,
        /// How it is wrong.
        failure: Failure,
    },
    /// It is right, and misses a target.
    Misses {
        /// At how many sizes it is right.
        right: usize,
        /// The target.
        target: Target,
        /// What was counted.
        counted: f64,
        /// What some counts are told per.
        arithmetic: Arithmetic,
    },
}

/// Times of a GPU, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// The learner's kernel.
    pub learner_ms: f64,
    /// The stage of the chapter that it is compared with.
    pub baseline_ms: f64,
}

/// What ends a check early: the kernel's fault, or anything else's.
enum Stop {
    Trouble(Trouble),
    Error(Error),
}

impl From<common::Error> for Stop {
    fn from(error: common::Error) -> Self {
        Stop::Error(error.into())
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

/// A learner's file.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Its whole path, for the compiler.
    pub path: &'a str,
    /// Its path as short as it can be told.
    pub name: &'a str,
    /// What stands in it.
    pub text: &'a str,
}

/// Checks a learner's kernel on the simulator, or on a GPU, which counts nothing. Random sizes come from `seed`.
///
/// # Errors
///
/// When the exercise cannot be used, or the device refuses something that is no fault of the kernel.
pub fn check<W: Workload>(
    gpu: &Gpu,
    nvrtc: &Nvrtc,
    exercise: &Exercise,
    text: Text<'_>,
    seed: u64,
) -> Result<Result<Passed, Trouble>> {
    match Bench::prepare(gpu, nvrtc, exercise, text).and_then(|bench| bench.run_all::<W>(seed)) {
        Ok(passed) => Ok(Ok(passed)),
        Err(Stop::Trouble(trouble)) => Ok(Err(trouble)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// Times a learner's kernel that has passed, and the stage of the chapter that the exercise compares it with.
///
/// # Errors
///
/// As [`check`]; also when one of the two is not verified at the size that is timed.
pub fn time<W: Workload>(
    gpu: &Gpu,
    nvrtc: &Nvrtc,
    exercise: &Exercise,
    text: Text<'_>,
    chapter: &Chapter<W>,
    repeat: usize,
) -> Result<Result<Timed, Trouble>> {
    let timed = Bench::prepare(gpu, nvrtc, exercise, text).and_then(|bench| bench.time(chapter, repeat));
    match timed {
        Ok(timed) => Ok(Ok(timed)),
        Err(Stop::Trouble(trouble)) => Ok(Err(trouble)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// A learner's kernel, ready to run.
struct Bench<'a> {
    gpu: &'a Gpu,
    exercise: &'a Exercise,
    text: Text<'a>,
    kernel: &'a Kernel,
    cases: &'a Cases,
    function: CudaFunction,
    /// Bytes of each of the kernel's parameters.
    parameters: Vec<usize>,
}

impl<'a> Bench<'a> {
    /// Compiles and loads.
    fn prepare(gpu: &'a Gpu, nvrtc: &Nvrtc, exercise: &'a Exercise, text: Text<'a>) -> Result<Self, Stop> {
        let (Some(kernel), Some(cases)) = (&exercise.manifest.kernel, &exercise.manifest.cases) else {
            return Err(unusable(exercise, "there is no kernel to check".to_owned()).into());
        };
        let input = Input { name: text.path, text: text.text, headers: &[] };
        // A GPU's time is one of code for that GPU, as it is for the chapter's stages.
        let (nvrtc, architecture) = gpu.compiler().unwrap_or((nvrtc, &kernel.architecture));
        let options = options(architecture);
        let ptx = nvrtc.compile(input, &options).map_err(|error| match nvrtc.compile(TRIAL, &options) {
            Ok(_) => Stop::Trouble(Trouble::DoesNotCompile(error.log)),
            // It is no fault of the learner's: this compiler compiles nothing.
            Err(broken) => Stop::Error(common::Error::from(broken).into()),
        })?;
        let Some(parameters) = parameters(&ptx, &kernel.name) else {
            let reason = format!("there is no kernel `extern \"C\" __global__ void {}(…)` in it", kernel.name);
            return Err(Stop::Trouble(Trouble::CannotBeLaunched(reason)));
        };
        let refused = |error| {
            let told = gpu.simulator().and_then(|simulator| simulator.take_error().ok().flatten());
            Stop::Trouble(Trouble::CannotBeLaunched(told.unwrap_or_else(|| describe(error))))
        };
        let module = gpu.context.load_module(Ptx::from_src(ptx)).map_err(refused)?;
        let function = module.load_function(&kernel.name).map_err(refused)?;
        Ok(Self { gpu, exercise, text, kernel, cases, function, parameters })
    }

    /// All sizes, and then the counts.
    fn run_all<W: Workload>(&self, seed: u64) -> Result<Passed, Stop> {
        let random = cases::random(&self.cases.random, seed).map_err(|reason| unusable(self.exercise, reason))?;
        let mut right = 0;
        for case in self.cases.fixed.iter().chain(&random) {
            self.run::<W>(case, seed, 0, right)?;
            right += 1;
        }
        let (workload, measured) = self.run::<W>(&self.cases.counted, seed, 0, right)?;
        right += 1;
        let arithmetic = workload.work().arithmetic;
        let mut counted = Vec::new();
        // A GPU counts nothing.
        if let Some(counters) = measured.counters() {
            for target in &self.exercise.manifest.targets {
                let count = target.measure.of(counters, workload.work());
                let Some(count) = count else {
                    let reason = format!("{:?} cannot be told of a kernel that has none", target.measure);
                    return Err(Stop::Trouble(Trouble::CannotBeLaunched(reason)));
                };
                let missed = target.at_most.is_some_and(|most| count > most) || target.at_least.is_some_and(|least| count < least);
                if missed {
                    return Err(Stop::Trouble(Trouble::Misses { right, target: target.clone(), counted: count, arithmetic }));
                }
                counted.push(count);
            }
        }
        Ok(Passed { sizes: right, counted, arithmetic })
    }

    fn time<W: Workload>(&self, chapter: &Chapter<W>, repeat: usize) -> Result<Timed, Stop> {
        let baseline = chapter.stage(&self.cases.baseline).map_err(|unknown| unusable(self.exercise, unknown.to_string()))?;
        let (workload, measured) = self.run::<W>(&self.cases.timed, 13, repeat, 0)?;
        let rows = runner::run(self.gpu, &[*baseline], &workload, repeat)?.rows;
        match (measured.timing(), rows[0].median_ms()) {
            (Some(timing), Some(baseline_ms)) => Ok(Timed { learner_ms: timing.median_ms, baseline_ms }),
            _ => Err(unusable(self.exercise, format!("{} was not timed: {:?}", baseline.name, rows[0].outcome)).into()),
        }
    }

    /// One size; `right` sizes were right before.
    fn run<W: Workload>(&self, case: &str, seed: u64, repeat: usize, right: usize) -> Result<(W, Measured), Stop> {
        let options = cases::options(case).map_err(|reason| unusable(self.exercise, format!("case `{case}`: {reason}")))?;
        let Plan { mut parts, .. } = W::plan(&options, seed, self.gpu)?;
        let workload = parts.swap_remove(0);
        let config = self.config(&workload)?;
        // A launch can only report errors of a run; an exercise that cannot be used is reported after it.
        let mut refused = None;
        let outcome = runner::run_launches(self.gpu, &workload, repeat, &mut |gpu, workload, buffers| {
            let arguments = match self.arguments(gpu, workload, buffers) {
                Ok(arguments) => arguments,
                Err(error) => {
                    refused = Some(error);
                    return Ok(());
                }
            };
            let mut launch = arguments::launch(&gpu.stream, &self.function, &arguments);
            // SAFETY: the parameters have the kernel's widths, as `config` has checked. What the kernel does with them is its author's
            // business: the simulator stops it at the first access outside its arrays, and a GPU only gets what has passed there, or
            // what its author has sent there by asking for it.
            unsafe { launch.launch(config) }?;
            Ok(())
        })?;
        if let Some(error) = refused {
            return Err(error.into());
        }
        match outcome {
            Outcome::Verified(measured) => Ok((workload, measured)),
            Outcome::Failed(failure) => Err(Stop::Trouble(Trouble::Fails { at: workload.describe(), right, failure })),
            Outcome::Skipped(unmet) => Err(unusable(self.exercise, unmet.to_string()).into()),
            Outcome::NotRun(reason) => Err(unusable(self.exercise, reason).into()),
        }
    }

    /// The launch at a size.
    fn config<W: Workload>(&self, workload: &W) -> Result<LaunchConfig, Stop> {
        let sizes = workload.launch_sizes();
        let size = |name: &str| sizes.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
        let three = |extents: &[Extent]| -> Result<(u32, u32, u32), Stop> {
            let mut three = [1; 3];
            for (axis, extent) in three.iter_mut().zip(extents) {
                *axis = self.extent(extent, &size)?;
            }
            Ok(three.into())
        };
        let config = LaunchConfig {
            grid_dim: three(&self.kernel.grid)?,
            block_dim: three(&self.kernel.block)?,
            shared_mem_bytes: self.kernel.shared_bytes,
        };
        let (x, y, z) = config.block_dim;
        if x == 0 || x.saturating_mul(y).saturating_mul(z) > 1024 {
            let reason = format!("a block of {x} x {y} x {z} threads cannot be: there must be 1 to 1024");
            return Err(Stop::Trouble(Trouble::CannotBeLaunched(reason)));
        }
        Ok(config)
    }

    fn extent(&self, extent: &Extent, size: &impl Fn(&str) -> Option<u32>) -> Result<u32, Stop> {
        match extent {
            Extent::Number(number) => Ok(*number),
            Extent::Constant(name) => {
                constant(self.text.text, name).map_err(|reason| Stop::Trouble(Trouble::CannotBeLaunched(reason)))
            }
            Extent::Cover { cover, by } => {
                let whole = size(cover).ok_or_else(|| unusable(self.exercise, format!("no size is named {cover}")))?;
                let part = self.extent(by, size)?;
                if part == 0 {
                    return Err(Stop::Trouble(Trouble::CannotBeLaunched("nothing is divided into parts of 0".to_owned())));
                }
                Ok(whole.div_ceil(part))
            }
        }
    }

    /// The arguments in the order of the kernel's parameters.
    fn arguments<W: Workload>(&self, gpu: &Gpu, workload: &W, buffers: &W::Buffers) -> Result<Vec<Argument>> {
        let mut known = workload.pointers(gpu, buffers);
        known.extend(workload.launch_sizes().into_iter().map(|(name, size)| (name, Argument::Size(size))));
        let mut arguments = Vec::new();
        for name in &self.kernel.arguments {
            let Some(index) = known.iter().position(|(known, _)| known == name) else {
                return Err(unusable(self.exercise, format!("no argument is named {name}, or it is named twice")));
            };
            arguments.push(known.swap_remove(index).1);
        }
        let bytes: Vec<usize> = arguments.iter().map(Argument::bytes).collect();
        if bytes != self.parameters {
            return Err(Error::Parameters { kernel: self.kernel.name.clone(), expected: self.kernel.arguments.join(", ") });
        }
        Ok(arguments)
    }
}

/// What is wrong with an exercise, and not with its learner.
fn unusable(exercise: &Exercise, reason: String) -> Error {
    Error::Exercise(Unusable { path: format!("exercise {} of {}", exercise.stem(), exercise.chapter).into(), reason })
}

/// Bytes of each parameter of a kernel, as its PTX declares them; `None` when there is no such kernel.
fn parameters(ptx: &str, kernel: &str) -> Option<Vec<usize>> {
    let (_, rest) = ptx.split_once(&format!(".entry {kernel}("))?;
    let (declared, _) = rest.split_once(')')?;
    let bytes = |parameter: &str| {
        let mut words = parameter.split_whitespace();
        let kind = words.find(|word| word.starts_with('.') && !matches!(*word, ".param" | ".align" | ".ptr"))?;
        let of_one = kind.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse::<usize>().ok()? / 8;
        let elements = parameter.split_once('[').and_then(|(_, rest)| rest.split_once(']')?.0.parse().ok());
        Some(of_one * elements.unwrap_or(1))
    };
    declared.split(',').map(str::trim).filter(|parameter| !parameter.is_empty()).map(bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_from_ptx() {
        let ptx = ".visible .entry tile(\n\t.param .u64 tile_param_0,\n\t.param .u32 tile_param_1,\n\t.param .align 8 .b8 tile_param_2[24]\n)\n{";
        assert_eq!(parameters(ptx, "tile"), Some(vec![8, 4, 24]));
        assert_eq!(parameters(ptx, "til"), None);
        assert_eq!(parameters(".visible .entry none(\n\n)\n{", "none"), Some(Vec::new()));
    }
}
