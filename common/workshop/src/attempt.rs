//! A learner's attempt at an exercise: their text, checked on the simulator, or checked and timed on a GPU.

use checker::check::{self, Passed, Stop, Task, Text};
use checker::device::{Compilation, Compiled, Device, Form, Launch, Ran, Stored, Uncompiled, Value};
use checker::rejection::Rejection;
use checker::simulated::Simulated;
use checker::text::{Version, version};
use compilers::compiler::compile_with_nvrtc;
use compilers::input::{self, Input};
use compilers::{Compiler, Error as ToolError};
use cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;
use run::error::describe;
use run::gpu::TRIAL;
use run::report::Failure;
use run::{Chapter, Gpu, Workload, console, runner};

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

/// A learner's text with the compiler for it.
pub struct Attempt<'a> {
    compiler: &'a Compiler,
    exercise: &'a Exercise,
    text: Text<'a>,
    starter: String,
}

impl<'a> Attempt<'a> {
    /// Prepares a check of this text.
    pub fn new(compiler: &'a Compiler, exercise: &'a Exercise, text: Text<'a>) -> Result<Self> {
        let starter = version(&exercise.solution, Version::Starter).map_err(|reason| exercise.unusable(reason))?;
        Ok(Self { compiler, exercise, text, starter })
    }

    /// Checks the text on the simulator. Random sizes come from `seed`.
    /// Fails when the exercise or the compiler cannot be used.
    pub fn on_simulator<W: Workload>(&self, seed: u64) -> Result<Result<Passed, Rejection>> {
        // A reader of standard output who has left is not the kernel's fault.
        let print = |text: &str| drop(console::print(text));
        let device = Simulated { compiler: |form| self.compiled(form, None), workers: None, print };
        self.judged(check::check::<W, _>(&device, self.task(), seed))
    }

    /// Checks the text on a GPU, which counts nothing. Then times it, and the stage of the chapter that the exercise compares it with,
    /// `repeat` times. Fails also when one of the two is not verified at that size.
    pub fn on_gpu<W: Workload>(
        &self,
        gpu: &Gpu,
        chapter: &Chapter<W>,
        repeat: usize,
        seed: u64,
    ) -> Result<Result<Timed, Rejection>> {
        let baseline = self.exercise.manifest.cases.as_ref().map_or("", |cases| &cases.baseline);
        let baseline = chapter.stage(baseline).map_err(|unknown| self.exercise.unusable(unknown))?;
        let device = |repeat| OnGpu { gpu, attempt: self, repeat };
        if let Err(rejection) = self.judged(check::check::<W, _>(&device(0), self.task(), seed))? {
            return Ok(Err(rejection));
        }
        let (workload, ran) = match self.judged(check::run_timed::<W, _>(&device(repeat), self.task()))? {
            Ok(ran) => ran,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let row = runner::run(gpu, &[*baseline], &workload, repeat)?.rows.remove(0);
        match (ran.median_ms, row.median_ms()) {
            (Some(learner_ms), Some(baseline_ms)) => Ok(Ok(Timed { learner_ms, baseline_ms })),
            _ => Err(self.exercise.unusable(format!("{} has no time: {:?}", baseline.name, row.outcome)).into()),
        }
    }

    fn task(&self) -> Task<'_> {
        Task { manifest: &self.exercise.manifest, starter: &self.starter, text: self.text }
    }

    /// Tells a rejection from the errors.
    fn judged<T>(&self, checked: Result<T, Stop<Error>>) -> Result<Result<T, Rejection>> {
        match checked {
            Ok(found) => Ok(Ok(found)),
            Err(Stop::Rejected(rejection)) => Ok(Err(*rejection)),
            Err(Stop::Unusable(reason)) => Err(self.exercise.unusable(reason).into()),
            Err(Stop::Device(error)) => Err(error),
        }
    }

    /// Compiles a form of the text, for `gpu` where possible.
    fn compiled(&self, form: Form, gpu: Option<&Gpu>) -> Compilation<Error> {
        let text = self.text.text.trim_start_matches(BYTE_ORDER_MARK);
        let text = self.exercise.manifest.source(self.text.path, text);
        let text = Input { name: self.text.path, text: &text, headers: &[] };
        let form = match form {
            Form::Optimized => input::Form::Optimized,
            Form::Plain => input::Form::Plain,
            Form::Quiet => input::Form::Quiet,
        };
        let error = match self.compile(text, form, gpu) {
            Ok((ptx, remarks)) => return Ok(Compiled { ptx, remarks }),
            Err(error) => error,
        };
        Err(match (error, self.compile(TRIAL, input::Form::Optimized, gpu)) {
            (ToolError::Compile { log, .. }, Ok(_)) => Uncompiled::Refused(log),
            // The learner is not to blame: this compiler compiles nothing.
            (error, Ok(_)) | (_, Err(error)) => Uncompiled::Error(run::Error::from(error).into()),
        })
    }

    fn compile(&self, input: Input<'_>, form: input::Form, gpu: Option<&Gpu>) -> compilers::Result<(String, String)> {
        match (self.compiler, gpu.and_then(Gpu::compiler)) {
            // On a GPU, the chapter's stages run code for that GPU. To compare times, so does the learner's kernel.
            (Compiler::Nvrtc(_), Some((nvrtc, architecture))) => compile_with_nvrtc(nvrtc, input, architecture, form),
            _ => {
                let architecture = self.exercise.manifest.kernel.as_ref().map_or("", |kernel| &kernel.architecture);
                self.compiler.compile(input, architecture, form)
            }
        }
    }
}

struct OnGpu<'a> {
    gpu: &'a Gpu,
    attempt: &'a Attempt<'a>,
    /// How often to time a run.
    repeat: usize,
}

impl<W: Workload> Device<W> for OnGpu<'_> {
    type Error = Error;
    type Function = CudaFunction;

    fn is_simulated(&self) -> bool {
        false
    }

    fn compile(&self, form: Form) -> Compilation<Error> {
        self.attempt.compiled(form, Some(self.gpu))
    }

    fn load(&self, ptx: &str, kernel: &str) -> Result<CudaFunction, String> {
        let module = self.gpu.context.load_module(Ptx::from_src(ptx)).map_err(describe)?;
        module.load_function(kernel).map_err(describe)
    }

    fn run_blocks(&self, _: &CudaFunction, _: &W, _: &Launch, _: &[u64]) -> Result<Option<Result<Vec<Stored>, Failure>>> {
        Ok(None)
    }

    fn run(&self, function: &CudaFunction, workload: &W, launch: &Launch) -> Result<Result<Ran, Failure>> {
        let config =
            LaunchConfig { grid_dim: launch.grid.into(), block_dim: launch.block.into(), shared_mem_bytes: launch.shared_bytes };
        let outcome =
            runner::run_launches(self.gpu, workload, self.repeat, &mut |gpu: &Gpu, workload: &W, buffers: &mut W::Buffers| {
                let addresses = workload.addresses(gpu, buffers);
                let address = |value: &Value| match value {
                    Value::Array(name, offset) => {
                        let array = addresses.iter().find(|(known, _)| known == name);
                        array.map_or(0, |(_, address)| address.wrapping_add_signed(*offset))
                    }
                    Value::Size(_) | Value::Sum(_) => 0,
                };
                let addresses: Vec<u64> = launch.values.iter().map(address).collect();
                let mut builder = gpu.stream.launch_builder(function);
                for (value, address) in launch.values.iter().zip(&addresses) {
                    match value {
                        Value::Array(..) => builder.arg(address),
                        Value::Size(size) => builder.arg(size),
                        Value::Sum(sum) => builder.arg(sum),
                    };
                }
                // SAFETY: the check has made sure that each value is as wide as the kernel's parameter, and every array lives until the run is
                // over. Where the kernel reads and writes is up to its author. A GPU runs only kernels that passed on the simulator, which stops
                // them at the first access outside an array, or that their author sent there with `--device gpu`.
                unsafe { builder.launch(config) }?;
                Ok(())
            })?;
        Ok(outcome.map(|(measured, output)| {
            let median_ms = measured.timing.map(|timing| timing.median_ms);
            Ran { output, counters: measured.counters, warnings: measured.warnings, state: None, median_ms }
        }))
    }
}
