//! Checks a learner's kernel: compile, run at many sizes with the simulator's checks and the warps in several orders, compare with the oracle,
//! then count.
//!
//! The first defect ends the check, because the rest would only repeat it.

use common::Chapter;
use common::error::describe;
use common::gpu::{Gpu, TRIAL};
use common::report::{Failure, Measured};
use common::runner;
use common::workload::arguments::{self, Argument};
use common::workload::{Arithmetic, Plan, Workload};
use cudarc::driver::{CudaFunction, LaunchConfig};
use cudarc::nvrtc::Ptx;
use simt::{Finding, FindingKind, WarpOrder};
use toolkit::Compiler;
use toolkit::compiler::compile_with_nvrtc;
use toolkit::input::{Form, Input};

use crate::cases;
use crate::error::{Error, Result};
use crate::exercise::Exercise;
use crate::manifest::{Cases, Extent, Kernel, Target};
use crate::text::{Version, constant, unrollable_loop, version};

/// What some editors write at the start of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The orders of warps in which a kernel must give the same bits.
const ORDERS: [WarpOrder; 3] = [WarpOrder::Ascending, WarpOrder::Descending, WarpOrder::Shuffled(13)];

/// A kernel without optimization executes up to so many times as many instructions.
const PLAIN: u64 = 16;

/// Sizes with more multiply-adds take too long without optimization.
const MOST_PLAIN: u64 = 1 << 15;

/// What registers hold before they are set, when a kernel must not depend on it: not a number, and the largest `int`.
const GARBAGE: u32 = 0x7fff_ffff;

/// Instructions of warps that a block may execute at any size, and for each multiply-add of a warp in its share of the result. A kernel whose
/// threads share the work needs fewer by far.
const FUEL: [u64; 2] = [1 << 18, 200];

/// What a check found about a kernel that passes.
#[derive(Clone, Debug)]
pub struct Passed {
    /// At how many sizes it ran.
    pub sizes: usize,
    /// The count for each target, in their order.
    pub counted: Vec<f64>,
    /// The pieces of work that some counts are per.
    pub arithmetic: Arithmetic,
    /// What the simulator found that leaves the outputs valid, at the first size with such a finding.
    pub warnings: Vec<Finding>,
    /// What the compiler said about the text; empty if nothing.
    pub remarks: String,
}

/// Why a kernel does not pass.
#[derive(Clone, Debug)]
pub enum Rejection {
    /// It does not compile; the compiler's messages.
    DoesNotCompile(String),
    /// It compiles, but the exercise's launch does not fit it.
    CannotBeLaunched(String),
    /// It is wrong at a size.
    Fails {
        /// The size, as the workload describes it.
        at: String,
        /// At how many sizes it was right before.
        right: usize,
        /// The order of the warps, if it is right when they run by number.
        order: Option<WarpOrder>,
        /// How it is wrong.
        failure: Failure,
    },
    /// Its outputs are right, and have other bits when the warps of a block run in another order.
    DependsOnOrder {
        /// The size, as the workload describes it.
        at: String,
        /// The first output that differs.
        index: usize,
        /// Its value when the warps run by number, and in the other order.
        values: [f32; 2],
    },
    /// It is right only if a variable that nobody has set holds zero.
    UsesUnset {
        /// The size, as the workload describes it.
        at: String,
        /// How it is wrong otherwise.
        failure: Failure,
    },
    /// A line that keeps the compiler from unrolling is missing.
    NotByHand {
        /// The line of the loop.
        line: usize,
    },
    /// It is right, but misses a target.
    Misses {
        /// At how many sizes it is right.
        right: usize,
        /// The target.
        target: Target,
        /// The count.
        counted: f64,
        /// The pieces of work that some counts are per.
        arithmetic: Arithmetic,
        /// What the simulator found that leaves the outputs valid, at the first size with such a finding.
        warnings: Vec<Finding>,
    },
}

/// Times on a GPU, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// The learner's kernel.
    pub learner_ms: f64,
    /// The stage of the chapter that it is compared with.
    pub baseline_ms: f64,
}

/// A learner's file.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Its full path, for the compiler.
    pub path: &'a str,
    /// Its path as short as possible, for messages.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
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
    verdict(Attempt::prepare(gpu, compiler, exercise, text).and_then(|attempt| attempt.run_all::<W>(seed)))
}

/// Times a learner's kernel that has passed, and the stage of the chapter that the exercise compares it with.
///
/// # Errors
///
/// As [`check`]; also when one of the two is not verified at the size that is timed.
pub fn time<W: Workload>(
    gpu: &Gpu,
    compiler: &Compiler,
    exercise: &Exercise,
    text: Text<'_>,
    chapter: &Chapter<W>,
    repeat: usize,
) -> Result<Result<Timed, Rejection>> {
    verdict(Attempt::prepare(gpu, compiler, exercise, text).and_then(|attempt| attempt.time(chapter, repeat)))
}

/// What ends a check early: the kernel's fault, or anything else's.
enum Stop {
    Rejection(Rejection),
    Error(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Error(error.into())
    }
}

fn is_race(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::Race { .. })
}

fn is_of_absent_lane(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::AbsentLane { .. })
}

/// A kernel that cannot be launched as the exercise launches it.
fn cannot_be_launched(reason: impl Into<String>) -> Stop {
    Stop::Rejection(Rejection::CannotBeLaunched(reason.into()))
}

/// Tells the kernel's faults and other errors apart.
fn verdict<T>(result: Result<T, Stop>) -> Result<Result<T, Rejection>> {
    match result {
        Ok(found) => Ok(Ok(found)),
        Err(Stop::Rejection(rejection)) => Ok(Err(rejection)),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// A way to run a kernel.
#[derive(Clone, Copy)]
enum Way {
    /// As the compiler makes it, with the warps of a block in an order.
    Optimized(WarpOrder),
    /// Without optimization, which turns what C++ leaves undefined into anything, with a word in each register that is not set.
    Plain(u32),
    /// Without what it prints.
    Quiet,
}

/// A learner's kernel, ready to run.
struct Attempt<'a> {
    gpu: &'a Gpu,
    exercise: &'a Exercise,
    text: Text<'a>,
    kernel: &'a Kernel,
    cases: &'a Cases,
    optimized: CudaFunction,
    /// On the simulator only.
    plain: Option<CudaFunction>,
    /// For a kernel that prints: the same without that.
    quiet: Option<CudaFunction>,
    /// Size in bytes of each of the kernel's parameters.
    parameters: Vec<u64>,
    /// What the compiler said about a text that it compiled.
    remarks: String,
}

impl<'a> Attempt<'a> {
    /// Compiles and loads.
    fn prepare(gpu: &'a Gpu, compiler: &Compiler, exercise: &'a Exercise, text: Text<'a>) -> Result<Self, Stop> {
        let (Some(kernel), Some(cases)) = (&exercise.manifest.kernel, &exercise.manifest.cases) else {
            return Err(exercise.unusable("it has no kernel to check").into());
        };
        if kernel.unrolled_by_hand {
            let starter = version(&exercise.solution, Version::Starter).map_err(|reason| exercise.unusable(reason))?;
            if let Some(line) = unrollable_loop(text.text, &starter) {
                return Err(Stop::Rejection(Rejection::NotByHand { line }));
            }
        }
        let input = Input { name: text.path, text: text.text.trim_start_matches(BYTE_ORDER_MARK), headers: &[] };
        let compile = |input, form| match (compiler, gpu.compiler()) {
            // On a GPU, the chapter's stages run code for that GPU. To compare times, so does the learner's kernel.
            (Compiler::Nvrtc(_), Some((nvrtc, architecture))) => compile_with_nvrtc(nvrtc, input, architecture, form),
            _ => compiler.compile(input, &kernel.architecture, form),
        };
        let (ptx, remarks) = compile(input, Form::Optimized).map_err(|error| {
            match (error, compile(TRIAL, Form::Optimized)) {
                (toolkit::Error::Compile { log, .. }, Ok(_)) => Stop::Rejection(Rejection::DoesNotCompile(log)),
                // The learner is not to blame: this compiler compiles nothing.
                (error, Ok(_)) | (_, Err(error)) => common::Error::from(error).into(),
            }
        })?;
        let parameters = {
            let module = simt::ptx::parse(&ptx).map_err(|error| cannot_be_launched(error.to_string()))?;
            let Some(compiled) = module.kernel(&kernel.name) else {
                let name = &kernel.name;
                return Err(cannot_be_launched(format!("there is no kernel `extern \"C\" __global__ void {name}(…)` in it")));
            };
            compiled.params.iter().filter_map(|parameter| parameter.bytes).collect()
        };
        let refused = |error| {
            let message = gpu.simulator().and_then(|simulator| simulator.take_error().ok().flatten());
            cannot_be_launched(message.unwrap_or_else(|| describe(error)))
        };
        let load = |ptx: String| {
            let module = gpu.context.load_module(Ptx::from_src(ptx)).map_err(refused)?;
            module.load_function(&kernel.name).map_err(refused)
        };
        let optimized = load(ptx)?;
        let again = |form| load(compile(input, form).map_err(common::Error::from)?.0);
        let (mut plain, mut quiet) = (None, None);
        if gpu.is_simulated() {
            plain = Some(again(Form::Plain)?);
            if text.text.contains("printf") {
                quiet = Some(again(Form::Quiet)?);
            }
        }
        Ok(Self { gpu, exercise, text, kernel, cases, optimized, plain, quiet, parameters, remarks })
    }

    /// Runs at all sizes, then counts.
    fn run_all<W: Workload>(&self, seed: u64) -> Result<Passed, Stop> {
        let random = cases::random(&self.cases.random, seed).map_err(|reason| self.exercise.unusable(reason))?;
        let (mut right, mut warnings, mut small) = (0, Vec::new(), Vec::new());
        for case in self.cases.fixed.iter().chain(&random) {
            let (workload, measured) = self.run_in_orders::<W>(case, seed, right)?;
            if workload.work().multiply_adds <= MOST_PLAIN {
                small.push(case);
            }
            if warnings.is_empty() {
                warnings = measured.warnings;
            }
            right += 1;
        }
        for case in small.into_iter().filter(|_| self.plain.is_some()) {
            self.run_plain::<W>(case, seed, right)?;
        }
        let (workload, mut measured) = self.run_in_orders::<W>(&self.cases.counted, seed, right)?;
        if self.quiet.is_some() {
            measured = self.run::<W>(&self.cases.counted, seed, 0, right, Way::Quiet)?.1;
        }
        right += 1;
        let arithmetic = workload.work().arithmetic;
        let mut counted = Vec::new();
        // A GPU counts nothing.
        if let Some(counters) = &measured.counters {
            for target in &self.exercise.manifest.targets {
                // Where there is nothing to divide by, there is nothing of it.
                let count = target.measure.of(counters, workload.work()).unwrap_or(0.0);
                if count > target.at_most {
                    let target = target.clone();
                    return Err(Stop::Rejection(Rejection::Misses { right, target, counted: count, arithmetic, warnings }));
                }
                counted.push(count);
            }
        }
        Ok(Passed { sizes: right, counted, arithmetic, warnings, remarks: self.remarks.clone() })
    }

    /// Runs at one size with the warps in each order; once on a GPU. The counts are those of the first.
    fn run_in_orders<W: Workload>(&self, case: &str, seed: u64, right: usize) -> Result<(W, Measured), Stop> {
        let (workload, measured, first) = self.run::<W>(case, seed, 0, right, Way::Optimized(WarpOrder::Ascending))?;
        if self.gpu.is_simulated() {
            for order in &ORDERS[1..] {
                let (_, _, output) = self.run::<W>(case, seed, 0, right, Way::Optimized(*order))?;
                let differs = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
                if let Some(index) = first.iter().zip(&output).position(differs) {
                    let (at, values) = (workload.describe(), [first[index], output[index]]);
                    return Err(Stop::Rejection(Rejection::DependsOnOrder { at, index, values }));
                }
            }
        }
        Ok((workload, measured))
    }

    /// Runs without optimization at one size, with zeros and with garbage in what is not set.
    fn run_plain<W: Workload>(&self, case: &str, seed: u64, right: usize) -> Result<(), Stop> {
        for garbage in [0, GARBAGE] {
            match self.run::<W>(case, seed, 0, right, Way::Plain(garbage)) {
                // Each value goes through memory here, also one that is then used nowhere.
                Err(Stop::Rejection(Rejection::Fails { failure: Failure::Defects(found), .. }))
                    if found.iter().all(is_of_absent_lane) =>
                {
                    return Ok(());
                }
                Err(Stop::Rejection(Rejection::Fails { at, failure, .. })) if garbage != 0 => {
                    return Err(Stop::Rejection(Rejection::UsesUnset { at, failure }));
                }
                ran => ran?,
            };
        }
        Ok(())
    }

    fn time<W: Workload>(&self, chapter: &Chapter<W>, repeat: usize) -> Result<Timed, Stop> {
        let baseline = chapter.stage(&self.cases.baseline).map_err(|unknown| self.exercise.unusable(unknown))?;
        let (workload, measured, _) = self.run::<W>(&self.cases.timed, 13, repeat, 0, Way::Optimized(WarpOrder::Ascending))?;
        let row = runner::run(self.gpu, &[*baseline], &workload, repeat)?.rows.remove(0);
        match (measured.timing, row.median_ms()) {
            (Some(timing), Some(baseline_ms)) => Ok(Timed { learner_ms: timing.median_ms, baseline_ms }),
            _ => Err(self.exercise.unusable(format!("{} has no time: {:?}", baseline.name, row.outcome)).into()),
        }
    }

    /// Runs at one size, after `right` sizes at which the kernel was right. Returns the output, too.
    fn run<W: Workload>(
        &self,
        case: &str,
        seed: u64,
        repeat: usize,
        right: usize,
        way: Way,
    ) -> Result<(W, Measured, Vec<f32>), Stop> {
        let options = cases::options(case).map_err(|reason| self.exercise.unusable(format!("case `{case}`: {reason}")))?;
        let Plan { mut parts, .. } = W::plan(&options, seed, self.gpu)?;
        let workload = parts.swap_remove(0);
        let config = self.config(&workload)?;
        let (x, y, z) = config.grid_dim;
        let blocks = u64::from(x).max(1) * u64::from(y).max(1) * u64::from(z).max(1);
        let share = FUEL[0] + FUEL[1] * workload.work().multiply_adds / (32 * blocks);
        let (order, garbage, fuel) = match way {
            Way::Optimized(order) => (order, 0, share),
            Way::Plain(garbage) => (WarpOrder::Ascending, garbage, PLAIN * share),
            Way::Quiet => (WarpOrder::Ascending, 0, share),
        };
        if let Some(simulator) = self.gpu.simulator() {
            let set = simulator.set_warp_order(order).and_then(|()| simulator.set_garbage(garbage));
            set.and_then(|()| simulator.set_fuel(fuel)).map_err(common::Error::from)?;
        }
        let function = match way {
            Way::Optimized(_) => None,
            Way::Plain(_) => self.plain.as_ref(),
            Way::Quiet => self.quiet.as_ref(),
        };
        let function = function.unwrap_or(&self.optimized);
        // The closure can only return errors of a run, so a launch that does not fit the kernel is reported after it.
        let mut stop = None;
        let outcome = runner::run_launches(self.gpu, &workload, repeat, &mut |gpu, workload, buffers| {
            let arguments = match self.arguments(gpu, workload, buffers) {
                Ok(arguments) => arguments,
                Err(unfit) => {
                    stop = Some(unfit);
                    return Ok(());
                }
            };
            let mut launch = arguments::launch(&gpu.stream, function, &arguments);
            // SAFETY: `arguments` has checked that each argument is as wide as the kernel's parameter, and every array lives until the
            // run is over. Where the kernel reads and writes is up to its author. The simulator stops it at the first access outside an
            // array. A GPU runs only kernels that passed there, or that their author sent there with `--device gpu`.
            unsafe { launch.launch(config) }?;
            Ok(())
        })?;
        if let Some(stop) = stop {
            return Err(stop);
        }
        match outcome {
            // Volatile accesses, and lanes of a warp that run in step by chance, leave the outputs right on this run.
            Ok((measured, output)) if !measured.warnings.iter().any(is_race) => Ok((workload, measured, output)),
            outcome => {
                let failure = outcome.map_or_else(|failure| failure, |(measured, _)| Failure::Defects(measured.warnings));
                let at = workload.describe();
                let order = (order != WarpOrder::Ascending).then_some(order);
                Err(Stop::Rejection(Rejection::Fails { at, right, order, failure }))
            }
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
            return Err(cannot_be_launched(format!("a block has 1 to 1024 threads, not {x} x {y} x {z}")));
        }
        Ok(config)
    }

    fn extent(&self, extent: &Extent, size: &impl Fn(&str) -> Option<u32>) -> Result<u32, Stop> {
        match extent {
            Extent::Number(number) => Ok(*number),
            Extent::Constant(name) => constant(self.text.text, name).map_err(cannot_be_launched),
            Extent::Cover { cover, by } => {
                let whole = size(cover).ok_or_else(|| self.exercise.unusable(format!("no size is named {cover}")))?;
                match self.extent(by, size)? {
                    0 => Err(cannot_be_launched(format!("the {cover} cannot be divided into pieces of 0"))),
                    piece => Ok(whole.div_ceil(piece)),
                }
            }
        }
    }

    /// The arguments in the order of the kernel's parameters.
    fn arguments<W: Workload>(&self, gpu: &Gpu, workload: &W, buffers: &W::Buffers) -> Result<Vec<Argument>, Stop> {
        let mut known = workload.pointers(gpu, buffers);
        known.extend(workload.launch_sizes().into_iter().map(|(name, size)| (name, Argument::Size(size))));
        let argument = |name: &String| {
            let index = known.iter().position(|(known, _)| known == name)?;
            Some(known.swap_remove(index).1)
        };
        let arguments: Option<Vec<Argument>> = self.kernel.arguments.iter().map(argument).collect();
        let names = self.kernel.arguments.join(", ");
        let arguments =
            arguments.ok_or_else(|| self.exercise.unusable(format!("an argument of {names} is unknown or used twice")))?;
        if arguments.iter().map(|argument| argument.bytes() as u64).ne(self.parameters.iter().copied()) {
            let reason =
                format!("its parameters do not match the launch, which passes {names}: leave its first lines as they were");
            return Err(cannot_be_launched(reason));
        }
        Ok(arguments)
    }
}
