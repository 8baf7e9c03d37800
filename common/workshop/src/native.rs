//! The check of an exercise with a driver of CUDA: on the simulator that this repository carries, or on a GPU.

use checker::check::{self, Error as Unchecked, Passed, Rejection, Task, Text};
use checker::device::{Compiled, Device, Form, Launch, Ran, Uncompiled, Value};
use checker::text::{Version, version};
use compilers::compiler::compile_with_nvrtc;
use compilers::input::{self, Input};
use compilers::{Compiler, Error as ToolError};
use cudarc::driver::{CudaFunction, LaunchConfig};
use cudarc::nvrtc::Ptx;
use run::Chapter;
use run::error::describe;
use run::gpu::{Gpu, TRIAL};
use run::report::Failure;
use run::runner;
use run::workload::Workload;
use run::workload::arguments::{self, Argument};

use crate::error::{Error, Result};
use crate::exercise::Exercise;

/// The mark that some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Times on a GPU, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// The learner's kernel.
    pub learner_ms: f64,
    /// The stage of the chapter that it is compared with.
    pub baseline_ms: f64,
}

/// Checks a learner's kernel, on the simulator or on a GPU, which counts nothing. Random sizes come from `seed`.
///
/// # Errors
///
/// When the exercise cannot be used, or the device refuses something that is not the kernel's fault.
pub fn check<W: Workload>(
    gpu: &Gpu,
    compiler: &Compiler,
    exercise: &Exercise,
    text: Text<'_>,
    seed: u64,
) -> Result<Result<Passed, Rejection>> {
    let starter = starter(exercise)?;
    let device = Native::new(gpu, compiler, exercise, text, 0);
    let task = Task { manifest: &exercise.manifest, starter: &starter, text };
    check::check::<W, _>(&device, task, seed).map_err(|unchecked| error(exercise, unchecked))
}

/// Times a learner's kernel that has passed, and the stage of the chapter that the exercise compares it with.
///
/// # Errors
///
/// As [`check()`]; also when one of the two is not verified at the size that is timed.
pub fn time<W: Workload>(
    gpu: &Gpu,
    compiler: &Compiler,
    exercise: &Exercise,
    text: Text<'_>,
    chapter: &Chapter<W>,
    repeat: usize,
) -> Result<Result<Timed, Rejection>> {
    let baseline = exercise.manifest.cases.as_ref().map_or("", |cases| &cases.baseline);
    let baseline = chapter.stage(baseline).map_err(|unknown| exercise.unusable(unknown))?;
    let starter = starter(exercise)?;
    let device = Native::new(gpu, compiler, exercise, text, repeat);
    let task = Task { manifest: &exercise.manifest, starter: &starter, text };
    let (workload, ran) = match check::run_timed::<W, _>(&device, task).map_err(|unchecked| error(exercise, unchecked))? {
        Ok(ran) => ran,
        Err(rejection) => return Ok(Err(rejection)),
    };
    let row = runner::run(gpu, &[*baseline], &workload, repeat)?.rows.remove(0);
    match (ran.median_ms, row.median_ms()) {
        (Some(learner_ms), Some(baseline_ms)) => Ok(Ok(Timed { learner_ms, baseline_ms })),
        _ => Err(exercise.unusable(format!("{} has no time: {:?}", baseline.name, row.outcome)).into()),
    }
}

fn starter(exercise: &Exercise) -> Result<String> {
    Ok(version(&exercise.solution, Version::Starter).map_err(|reason| exercise.unusable(reason))?)
}

fn error(exercise: &Exercise, unchecked: Unchecked<run::Error>) -> Error {
    match unchecked {
        Unchecked::Unusable(reason) => exercise.unusable(reason).into(),
        Unchecked::Device(error) => error.into(),
    }
}

/// A compiler with a learner's text, and a device that cudarc has opened.
struct Native<'a> {
    gpu: &'a Gpu,
    compiler: &'a Compiler,
    text: Input<'a>,
    /// The virtual architecture of the exercise.
    architecture: &'a str,
    /// How often to time a run.
    repeat: usize,
}

impl<'a> Native<'a> {
    fn new(gpu: &'a Gpu, compiler: &'a Compiler, exercise: &'a Exercise, text: Text<'a>, repeat: usize) -> Self {
        let architecture = exercise.manifest.kernel.as_ref().map_or("", |kernel| &kernel.architecture);
        let text = Input { name: text.path, text: text.text.trim_start_matches(BYTE_ORDER_MARK), headers: &[] };
        Self { gpu, compiler, text, architecture, repeat }
    }

    fn compiled(&self, input: Input<'_>, form: Form) -> compilers::Result<(String, String)> {
        let form = match form {
            Form::Optimized => input::Form::Optimized,
            Form::Plain => input::Form::Plain,
            Form::Quiet => input::Form::Quiet,
        };
        match (self.compiler, self.gpu.compiler()) {
            // On a GPU, the chapter's stages run code for that GPU. To compare times, so does the learner's kernel.
            (Compiler::Nvrtc(_), Some((nvrtc, architecture))) => compile_with_nvrtc(nvrtc, input, architecture, form),
            _ => self.compiler.compile(input, self.architecture, form),
        }
    }
}

impl<W: Workload> Device<W> for Native<'_> {
    type Error = run::Error;
    type Function = CudaFunction;

    fn is_simulated(&self) -> bool {
        self.gpu.is_simulated()
    }

    fn compile(&self, form: Form) -> Result<Compiled, Uncompiled<run::Error>> {
        let error = match self.compiled(self.text, form) {
            Ok((ptx, remarks)) => return Ok(Compiled { ptx, remarks }),
            Err(error) => error,
        };
        Err(match (error, self.compiled(TRIAL, Form::Optimized)) {
            (ToolError::Compile { log, .. }, Ok(_)) => Uncompiled::Refused(log),
            // The learner is not to blame: this compiler compiles nothing.
            (error, Ok(_)) | (_, Err(error)) => Uncompiled::Error(error.into()),
        })
    }

    fn load(&self, ptx: &str, kernel: &str) -> Result<CudaFunction, String> {
        let refused = |error| {
            let message = self.gpu.simulator().and_then(|simulator| simulator.take_error().ok().flatten());
            message.unwrap_or_else(|| describe(error))
        };
        let module = self.gpu.context.load_module(Ptx::from_src(ptx)).map_err(refused)?;
        module.load_function(kernel).map_err(refused)
    }

    fn run(&self, function: &CudaFunction, workload: &W, launch: &Launch) -> run::Result<Result<Ran, Failure>> {
        if let Some(simulator) = self.gpu.simulator() {
            simulator.set_warp_order(launch.order)?;
            simulator.set_garbage(launch.garbage)?;
            simulator.set_fuel(launch.fuel)?;
        }
        let config =
            LaunchConfig { grid_dim: launch.grid.into(), block_dim: launch.block.into(), shared_mem_bytes: launch.shared_bytes };
        let outcome = runner::run_launches(self.gpu, workload, self.repeat, &mut |gpu, workload, buffers| {
            let arrays = workload.pointers(gpu, buffers);
            let argument = |value: &Value| match *value {
                Value::Array(name) => {
                    let array = arrays.iter().find(|(known, _)| *known == name);
                    array.map_or(Argument::Pointer(0), |(_, pointer)| *pointer)
                }
                Value::Size(size) => Argument::Size(size),
                Value::Sum(sum) => Argument::Sum(sum),
            };
            let arguments: Vec<Argument> = launch.values.iter().map(argument).collect();
            let mut builder = arguments::launch(&gpu.stream, function, &arguments);
            // SAFETY: the check has made sure that each value is as wide as the kernel's parameter, and every array lives until the run is
            // over. Where the kernel reads and writes is up to its author. The simulator stops it at the first access outside an array. A
            // GPU runs only kernels that passed there, or that their author sent there with `--device gpu`.
            unsafe { builder.launch(config) }?;
            Ok(())
        })?;
        Ok(outcome.map(|(measured, output)| {
            let median_ms = measured.timing.map(|timing| timing.median_ms);
            Ran { output, counters: measured.counters, warnings: measured.warnings, median_ms }
        }))
    }
}
