//! Checks a learner's kernel: compile, run at many sizes with the simulator's checks and the warps in several orders, compare with the oracle,
//! then count.
//!
//! The first defect ends the check, because the rest would only repeat it.

use simt::{Finding, FindingKind, WarpOrder};
use workloads::failure::Failure;
use workloads::{Arithmetic, Problem};

use crate::cases;
use crate::device::{Compiled, Device, Form, Launch, Ran, Uncompiled, Value};
use crate::manifest::{Cases, Extent, Kernel, Manifest, Target};
use crate::text::{constant, unrollable_loop};

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

/// What is checked.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The exercise.
    pub manifest: &'a Manifest,
    /// What the learner started with.
    pub starter: &'a str,
    /// What they wrote.
    pub text: Text<'a>,
}

/// Why there is no verdict.
#[derive(Debug)]
pub enum Error<E> {
    /// A defect of the exercise.
    Unusable(String),
    /// The device or the compiler does not work.
    Device(E),
}

/// What is known of a kernel that is right, or why it is rejected; or why there is no verdict.
pub type Verdict<T, E> = Result<Result<T, Rejection>, Error<E>>;

/// Checks a learner's kernel, on the simulator or on a GPU, which counts nothing. Random sizes come from `seed`.
/// Fails when the exercise cannot be used, or the device refuses something that is not the kernel's fault.
pub fn check<P: Problem, D: Device<P>>(device: &D, task: Task<'_>, seed: u64) -> Verdict<Passed, D::Error> {
    verdict(Attempt::prepare(device, task).and_then(|attempt| attempt.run_all(seed)))
}

/// Runs a learner's kernel at the size at which it is timed. Returns the workload, too.
pub fn run_timed<P: Problem, D: Device<P>>(device: &D, task: Task<'_>) -> Verdict<(P, Ran), D::Error> {
    let at_that_size = |attempt: Attempt<'_, P, D>| attempt.run(&attempt.cases.timed, 13, 0, Way::Optimized(WarpOrder::Ascending));
    verdict(Attempt::prepare(device, task).and_then(at_that_size))
}

/// What ends a check early: the kernel's fault, or anything else's.
enum Stop<E> {
    Rejection(Box<Rejection>),
    Error(Error<E>),
}

impl<E> From<Rejection> for Stop<E> {
    fn from(rejection: Rejection) -> Self {
        Stop::Rejection(Box::new(rejection))
    }
}

fn unusable<E>(reason: impl ToString) -> Stop<E> {
    Stop::Error(Error::Unusable(reason.to_string()))
}

fn broken<E>(error: E) -> Stop<E> {
    Stop::Error(Error::Device(error))
}

fn is_race(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::Race { .. })
}

fn is_of_absent_lane(finding: &Finding) -> bool {
    matches!(finding.kind, FindingKind::AbsentLane { .. })
}

/// A kernel that cannot be launched as the exercise launches it.
fn cannot_be_launched<E>(reason: impl Into<String>) -> Stop<E> {
    Rejection::CannotBeLaunched(reason.into()).into()
}

/// Tells the kernel's faults and other errors apart.
fn verdict<T, E>(result: Result<T, Stop<E>>) -> Verdict<T, E> {
    match result {
        Ok(found) => Ok(Ok(found)),
        Err(Stop::Rejection(rejection)) => Ok(Err(*rejection)),
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
struct Attempt<'a, P: Problem, D: Device<P>> {
    device: &'a D,
    manifest: &'a Manifest,
    text: &'a str,
    kernel: &'a Kernel,
    cases: &'a Cases,
    optimized: D::Function,
    /// On the simulator only.
    plain: Option<D::Function>,
    /// For a kernel that prints: the same without that.
    quiet: Option<D::Function>,
    /// Size in bytes of each of the kernel's parameters.
    parameters: Vec<u64>,
    /// What the compiler said about a text that it compiled.
    remarks: String,
}

impl<'a, P: Problem, D: Device<P>> Attempt<'a, P, D> {
    /// Compiles and loads.
    fn prepare(device: &'a D, task: Task<'a>) -> Result<Self, Stop<D::Error>> {
        let Task { manifest, starter, text: Text { text, .. } } = task;
        let (Some(kernel), Some(cases)) = (&manifest.kernel, &manifest.cases) else {
            return Err(unusable("it has no kernel to check"));
        };
        if kernel.unrolled_by_hand
            && let Some(line) = unrollable_loop(text, starter)
        {
            return Err(Rejection::NotByHand { line }.into());
        }
        let compile = |form| {
            device.compile(form).map_err(|uncompiled| match uncompiled {
                Uncompiled::Refused(log) => Rejection::DoesNotCompile(log).into(),
                Uncompiled::Error(error) => broken(error),
            })
        };
        let Compiled { ptx, remarks } = compile(Form::Optimized)?;
        let parameters = {
            let module = ptx::parse(&ptx).map_err(|error| cannot_be_launched(error.to_string()))?;
            let Some(compiled) = module.kernel(&kernel.name) else {
                let name = &kernel.name;
                return Err(cannot_be_launched(format!("there is no kernel `extern \"C\" __global__ void {name}(…)` in it")));
            };
            compiled.params.iter().filter_map(|parameter| parameter.bytes).collect()
        };
        let load = |ptx: &str| device.load(ptx, &kernel.name).map_err(cannot_be_launched);
        let optimized = load(&ptx)?;
        let (mut plain, mut quiet) = (None, None);
        if device.is_simulated() {
            plain = Some(load(&compile(Form::Plain)?.ptx)?);
            if text.contains("printf") {
                quiet = Some(load(&compile(Form::Quiet)?.ptx)?);
            }
        }
        Ok(Self { device, manifest, text, kernel, cases, optimized, plain, quiet, parameters, remarks })
    }

    /// Runs at all sizes, then counts.
    fn run_all(&self, seed: u64) -> Result<Passed, Stop<D::Error>> {
        let random = cases::random(&self.cases.random, seed).map_err(unusable)?;
        let (mut right, mut warnings, mut small) = (0, Vec::new(), Vec::new());
        for case in self.cases.fixed.iter().chain(&random) {
            let (problem, ran) = self.run_in_orders(case, seed, right)?;
            if problem.work().multiply_adds <= MOST_PLAIN {
                small.push(case);
            }
            if warnings.is_empty() {
                warnings = ran.warnings;
            }
            right += 1;
        }
        for case in small.into_iter().filter(|_| self.plain.is_some()) {
            self.run_plain(case, seed, right)?;
        }
        let (problem, mut ran) = self.run_in_orders(&self.cases.counted, seed, right)?;
        if self.quiet.is_some() {
            ran = self.run(&self.cases.counted, seed, right, Way::Quiet)?.1;
        }
        right += 1;
        let arithmetic = problem.work().arithmetic;
        let mut counted = Vec::new();
        // A GPU counts nothing.
        if let Some(counters) = &ran.counters {
            for target in &self.manifest.targets {
                // Where there is nothing to divide by, there is nothing of it.
                let count = target.measure.of(counters, problem.work()).unwrap_or(0.0);
                if count > target.at_most {
                    let target = target.clone();
                    return Err(Rejection::Misses { right, target, counted: count, arithmetic, warnings }.into());
                }
                counted.push(count);
            }
        }
        Ok(Passed { sizes: right, counted, arithmetic, warnings, remarks: self.remarks.clone() })
    }

    /// Runs at one size with the warps in each order; once on a GPU. The counts are those of the first.
    fn run_in_orders(&self, case: &str, seed: u64, right: usize) -> Result<(P, Ran), Stop<D::Error>> {
        let (problem, ran) = self.run(case, seed, right, Way::Optimized(WarpOrder::Ascending))?;
        if self.device.is_simulated() {
            for order in &ORDERS[1..] {
                let output = self.run(case, seed, right, Way::Optimized(*order))?.1.output;
                let first = &ran.output;
                let differs = |(a, b): (&f32, &f32)| a.to_bits() != b.to_bits();
                if let Some(index) = first.iter().zip(&output).position(differs) {
                    let (at, values) = (problem.describe(), [first[index], output[index]]);
                    return Err(Rejection::DependsOnOrder { at, index, values }.into());
                }
            }
        }
        Ok((problem, ran))
    }

    /// Runs without optimization at one size, with zeros and with garbage in what is not set.
    fn run_plain(&self, case: &str, seed: u64, right: usize) -> Result<(), Stop<D::Error>> {
        for garbage in [0, GARBAGE] {
            let Err(stop) = self.run(case, seed, right, Way::Plain(garbage)) else { continue };
            return Err(match stop {
                Stop::Rejection(rejection) => match *rejection {
                    // Each value goes through memory here, also one that is then used nowhere.
                    Rejection::Fails { failure: Failure::Defects(found), .. } if found.iter().all(is_of_absent_lane) => {
                        return Ok(());
                    }
                    Rejection::Fails { at, failure, .. } if garbage != 0 => Rejection::UsesUnset { at, failure }.into(),
                    other => other.into(),
                },
                error @ Stop::Error(_) => error,
            });
        }
        Ok(())
    }

    /// Runs at one size, after `right` sizes at which the kernel was right. Returns the workload, too.
    fn run(&self, case: &str, seed: u64, right: usize, way: Way) -> Result<(P, Ran), Stop<D::Error>> {
        let problem = P::of_case(case, seed).map_err(|reason| unusable(format!("case `{case}`: {reason}")))?;
        let [grid, block] = self.shape(&problem)?;
        let blocks = grid.iter().map(|&extent| u64::from(extent).max(1)).product::<u64>();
        let share = FUEL[0] + FUEL[1] * problem.work().multiply_adds / (32 * blocks);
        let (order, garbage, fuel, function) = match way {
            Way::Optimized(order) => (order, 0, share, None),
            Way::Plain(garbage) => (WarpOrder::Ascending, garbage, PLAIN * share, self.plain.as_ref()),
            Way::Quiet => (WarpOrder::Ascending, 0, share, self.quiet.as_ref()),
        };
        let (values, shared_bytes) = (self.values(&problem)?, self.kernel.shared_bytes);
        let launch = Launch { grid, block, shared_bytes, values, order, garbage, fuel };
        match self.device.run(function.unwrap_or(&self.optimized), &problem, &launch).map_err(broken)? {
            // Volatile accesses, and lanes of a warp that run in step by chance, leave the outputs right on this run.
            Ok(ran) if !ran.warnings.iter().any(is_race) => Ok((problem, ran)),
            outcome => {
                let failure = outcome.map_or_else(|failure| failure, |ran| Failure::Defects(ran.warnings));
                let order = (order != WarpOrder::Ascending).then_some(order);
                Err(Rejection::Fails { at: problem.describe(), right, order, failure }.into())
            }
        }
    }

    /// Blocks of the grid and threads of a block at a size.
    fn shape(&self, problem: &P) -> Result<[[u32; 3]; 2], Stop<D::Error>> {
        let sizes = problem.launch_sizes();
        let size = |name: &str| sizes.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
        let three = |extents: &[Extent]| -> Result<[u32; 3], Stop<D::Error>> {
            let mut three = [1; 3];
            for (axis, extent) in three.iter_mut().zip(extents) {
                *axis = self.extent(extent, &size)?;
            }
            Ok(three)
        };
        let (grid, block) = (three(&self.kernel.grid)?, three(&self.kernel.block)?);
        let [x, y, z] = block;
        if x == 0 || x.saturating_mul(y).saturating_mul(z) > 1024 {
            return Err(cannot_be_launched(format!("a block has 1 to 1024 threads, not {x} x {y} x {z}")));
        }
        Ok([grid, block])
    }

    fn extent(&self, extent: &Extent, size: &impl Fn(&str) -> Option<u32>) -> Result<u32, Stop<D::Error>> {
        match extent {
            Extent::Number(number) => Ok(*number),
            Extent::Constant(name) => constant(self.text, name).map_err(cannot_be_launched),
            Extent::Cover { cover, by } => {
                let whole = size(cover).ok_or_else(|| unusable(format!("no size is named {cover}")))?;
                match self.extent(by, size)? {
                    0 => Err(cannot_be_launched(format!("the {cover} cannot be divided into pieces of 0"))),
                    piece => Ok(whole.div_ceil(piece)),
                }
            }
        }
    }

    /// The values in the order of the kernel's parameters.
    fn values(&self, problem: &P) -> Result<Vec<Value>, Stop<D::Error>> {
        let arrays = problem.inputs().into_iter().map(|(name, _)| name).chain(problem.outputs().iter().copied());
        let mut known: Vec<(&str, Value)> = arrays.map(|name| (name, Value::Array(name))).collect();
        known.extend(problem.sums().into_iter().map(|(name, sum)| (name, Value::Sum(sum))));
        known.extend(problem.launch_sizes().into_iter().map(|(name, size)| (name, Value::Size(size))));
        let value = |name: &String| {
            let index = known.iter().position(|(known, _)| known == name)?;
            Some(known.swap_remove(index).1)
        };
        let values: Option<Vec<Value>> = self.kernel.arguments.iter().map(value).collect();
        let names = self.kernel.arguments.join(", ");
        let values = values.ok_or_else(|| unusable(format!("an argument of {names} is unknown or used twice")))?;
        if values.iter().map(|value| value.bytes()).ne(self.parameters.iter().copied()) {
            let reason =
                format!("its parameters do not match the launch, which passes {names}: leave its first lines as they were");
            return Err(cannot_be_launched(reason));
        }
        Ok(values)
    }
}
