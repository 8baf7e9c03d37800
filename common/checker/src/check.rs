//! Checks a learner's kernel: compile, run at many sizes with the simulator's checks and the warps in several orders, compare with the oracle,
//! then count.
//!
//! The first defect ends the check, because the rest would only repeat it.

mod once;

use simt::{Dim3, Finding, FindingKind, WarpOrder, landmarks};
use workloads::failure::Failure;
use workloads::{Arithmetic, Problem};

use crate::cases;
use crate::compiled;
use crate::device::{Compiled, Device, Form, Launch, Ran, Uncompiled, Value};
use crate::host::Host;
use crate::manifest::{Cases, Extent, Kernel, Manifest, Target};
use crate::outputs;
use crate::rejection::Rejection;
use crate::simulated::is_of_absent_lane;
use crate::text::{has_word, unrollable_loop, without_calls};

pub use once::{launch_to_show, run_timed};

/// Other orders of warps than by number. A kernel must give the same bits in each.
const ORDERS: [WarpOrder; 2] = [WarpOrder::Descending, WarpOrder::Shuffled(13)];

/// Most instructions that an unoptimized kernel executes, relative to an optimized one.
const PLAIN: u64 = 16;

/// Most multiply-adds of a size that also runs without optimization. Larger sizes would take too long.
const MOST_PLAIN: u64 = 1 << 15;

/// Garbage in unset registers, which a kernel must not depend on. As a float, it is not a number; as an `int`, the largest.
const GARBAGE: u32 = 0x7fff_ffff;

/// Limits on a block's warp instructions: a base at any size, and an addition for each multiply-add of a warp in its share of the result. A
/// kernel whose threads share the work needs fewer by far.
const FUEL: [u64; 2] = [1 << 18, 200];

/// Most instructions of a large size relative to its share. With one output, most of a block's threads work for none.
const IDLE: u64 = 32;

/// Most blocks of a large grid that all run.
const MOST_BLOCKS: u64 = 64;

/// Most outputs of a large grid where blocks cannot be chosen.
const MOST_OUTPUTS: usize = 1 << 28;

/// The result of a check of a kernel that passes.
#[derive(Clone, Debug)]
pub struct Passed {
    /// At how many sizes it ran.
    pub sizes: usize,
    /// The count for each target, in their order.
    pub counted: Vec<f64>,
    /// The pieces of work that some counts are per.
    pub arithmetic: Arithmetic,
    /// Findings that leave the outputs valid, at the first size with any.
    pub warnings: Vec<Finding>,
    /// The compiler's remarks about the text; empty if there are none.
    pub remarks: String,
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

/// The subject of a check.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The exercise.
    pub manifest: &'a Manifest,
    /// The text that the learner started with.
    pub starter: &'a str,
    /// The text that they wrote.
    pub text: Text<'a>,
}

/// The reason why a check ends early.
#[derive(Debug)]
pub enum Stop<E> {
    /// The kernel does not pass.
    Rejected(Box<Rejection>),
    /// The exercise has a defect.
    Unusable(String),
    /// The device or the compiler does not work.
    Device(E),
}

impl<E> From<Rejection> for Stop<E> {
    fn from(rejection: Rejection) -> Self {
        Stop::Rejected(Box::new(rejection))
    }
}

/// Checks a learner's kernel on the simulator or on a GPU. A GPU counts nothing. Random sizes come from `seed`.
pub fn check<P: Problem, D: Device<P>>(device: &D, task: Task<'_>, seed: u64) -> Result<Passed, Stop<D::Error>> {
    Attempt::prepare(device, task)?.run_all(seed)
}

/// Compiles a form of the learner's text.
fn compile<P: Problem, D: Device<P>>(device: &D, form: Form, text: &str) -> Result<Compiled, Stop<D::Error>> {
    device.compile(form).map_err(|uncompiled| match uncompiled {
        Uncompiled::Refused(log) => Rejection::DoesNotCompile(without_calls(&log, text)).into(),
        Uncompiled::Error(error) => Stop::Device(error),
    })
}

/// Rejects a kernel that cannot be launched as the exercise launches it.
fn cannot_be_launched<E>(reason: impl Into<String>) -> Stop<E> {
    Rejection::CannotBeLaunched(reason.into()).into()
}

enum Way<'a, F> {
    /// As the compiler makes it, with the warps of a block in an order.
    Optimized(WarpOrder),
    /// Without optimization, which turns what C++ leaves undefined into anything, with a word in each register that is not set.
    Plain(&'a F, u32),
    /// As the compiler makes it, with garbage in each register that is not set.
    Spoiled,
    /// Without what it prints.
    Quiet(&'a F),
    /// As the compiler makes it, with time for threads that work for no output.
    Large,
}

struct Attempt<'a, P: Problem, D: Device<P>> {
    device: &'a D,
    manifest: &'a Manifest,
    text: &'a str,
    kernel: &'a Kernel,
    cases: &'a Cases,
    optimized: D::Function,
    /// Size in bytes of each of the kernel's parameters.
    parameters: Vec<u64>,
    /// The constants that the launch depends on.
    constants: Vec<(&'a str, u32)>,
    /// The host code that launches the kernel, if the learner wrote it.
    host: Option<Host>,
    /// The compiler's remarks about the text.
    remarks: String,
}

impl<'a, P: Problem, D: Device<P>> Attempt<'a, P, D> {
    fn prepare(device: &'a D, task: Task<'a>) -> Result<Self, Stop<D::Error>> {
        let Task { manifest, starter, text: Text { text, path, .. } } = task;
        let (Some(kernel), Some(cases)) = (&manifest.kernel, &manifest.cases) else {
            return Err(Stop::Unusable("it has no kernel to check".to_owned()));
        };
        if let Some(name) = manifest.constants().into_iter().find(|name| !has_word(text, name)) {
            let reason = format!("the launch needs a line `constexpr unsigned {name} = …;`, and there is no such line");
            return Err(cannot_be_launched(reason));
        }
        let Compiled { ptx, remarks } = compile(device, Form::Optimized, text)?;
        let (parameters, constants) = {
            let module = ptx::parse(&ptx).map_err(|error| cannot_be_launched(error.to_string()))?;
            let Some(entry) = module.kernel(&kernel.name) else {
                let name = &kernel.name;
                return Err(cannot_be_launched(format!("there is no kernel `extern \"C\" __global__ void {name}(…)` in it")));
            };
            if let Some(register) = compiled::surroundings(&ptx) {
                return Err(Rejection::ReadsSurroundings { register }.into());
            }
            if kernel.unrolled_by_hand
                && let Some(line) = unrollable_loop(text, starter, &compiled::loops(&module, path))
            {
                return Err(Rejection::NotByHand { line }.into());
            }
            (entry.params.iter().filter_map(|parameter| parameter.bytes).collect(), compiled::constants(manifest, &module))
        };
        let optimized = device.load(&ptx, &kernel.name).map_err(cannot_be_launched)?;
        let host = kernel.launch.as_ref().map(|_| Host::new(&ptx, text)).transpose().map_err(cannot_be_launched)?;
        let remarks = without_calls(&remarks, text);
        Ok(Self { device, manifest, text, kernel, cases, optimized, parameters, constants, host, remarks })
    }

    /// Compiles another form of the kernel. Most wrong kernels are rejected before one is needed.
    fn function(&self, form: Form) -> Result<D::Function, Stop<D::Error>> {
        self.device.load(&compile(self.device, form, self.text)?.ptx, &self.kernel.name).map_err(cannot_be_launched)
    }

    fn run_all(&self, seed: u64) -> Result<Passed, Stop<D::Error>> {
        let random = cases::random(&self.cases.random, seed).map_err(Stop::Unusable)?;
        let (mut right, mut warnings, mut small) = (0, Vec::new(), Vec::new());
        // A random size runs in one other order, and the next size in the other.
        let random = random.iter().zip(ORDERS.chunks(1).cycle());
        for (case, orders) in self.cases.fixed.iter().map(|case| (case, &ORDERS[..])).chain(random) {
            let (problem, ran) = self.run_in_orders(case, seed, right, orders)?;
            if problem.work().multiply_adds <= MOST_PLAIN {
                small.push(case);
            }
            if warnings.is_empty() {
                warnings = ran.warnings;
            }
            right += 1;
        }
        if self.device.is_simulated() {
            let plain = self.function(Form::Plain)?;
            for case in &small {
                self.run_plain(&plain, case, seed, right)?;
            }
            for case in small {
                self.run_spoiled(case, seed, right)?;
            }
        }
        // What a kernel prints does not count.
        let quiet = (self.device.is_simulated() && self.text.contains("printf")).then(|| self.function(Form::Quiet)).transpose()?;
        let other = self.cases.counted_too.as_ref().map(|size| cases::one(size, seed)).transpose().map_err(Stop::Unusable)?;
        let (mut counted, mut arithmetic, mut published) = (Vec::new(), P::ARITHMETIC, None);
        for case in [&self.cases.counted].into_iter().chain(&other) {
            let (problem, mut ran) = self.run(case, seed, right, Way::Optimized(WarpOrder::Ascending))?;
            if let Some(quiet) = &quiet {
                ran = self.run(case, seed, right, Way::Quiet(quiet))?.1;
            }
            right += 1;
            let work = problem.work();
            arithmetic = work.arithmetic;
            let times = work.multiply_adds as f64 / *published.get_or_insert(work.multiply_adds) as f64;
            // A GPU counts nothing.
            let Some(counters) = &ran.counters else { continue };
            for target in &self.manifest.targets {
                // Where there is nothing to divide by, there is nothing of it.
                let count = target.measure.of(counters, work).unwrap_or(0.0);
                let at_most = if target.measure.is_total() { target.at_most * times } else { target.at_most };
                if count > at_most {
                    let target = Target { at_most, ..target.clone() };
                    return Err(Rejection::Misses { right, target, counted: count, arithmetic, warnings }.into());
                }
                counted.push(count);
            }
        }
        counted.truncate(self.manifest.targets.len());
        // A kernel that works too much would not get to the end of these.
        for case in &self.cases.large {
            right += usize::from(self.run_large(case, seed, right)?);
        }
        Ok(Passed { sizes: right, counted, arithmetic, warnings, remarks: self.remarks.clone() })
    }

    /// Runs a large size once: all of it, or, of a grid with many blocks, those at which numbers get too large for their types. Returns false
    /// if this device cannot.
    fn run_large(&self, case: &str, seed: u64, right: usize) -> Result<bool, Stop<D::Error>> {
        let problem = P::of_case(case, seed).map_err(|reason| Stop::Unusable(format!("case `{case}`: {reason}")))?;
        let launch = self.launch(&problem, &Way::Large)?;
        let [x, y, z] = launch.grid;
        let grid = Dim3::new(x, y, z);
        let blocks = grid.volume();
        if blocks <= MOST_BLOCKS {
            return self.run(case, seed, right, Way::Large).map(|_| true);
        }
        let mut chosen = landmarks(grid);
        if launch.written.is_some() {
            // A block more than needed stores nothing.
            let threads = launch.block.into_iter().map(u64::from).product::<u64>();
            chosen.retain(|block| block * threads < problem.output_len() as u64);
        }
        let Some(ran) = self.device.run_blocks(&self.optimized, &problem, &launch, &chosen).map_err(Stop::Device)? else {
            let affordable = !self.device.is_simulated() && problem.output_len() <= MOST_OUTPUTS;
            return if affordable { self.run(case, seed, right, Way::Large).map(|_| true) } else { Ok(false) };
        };
        let fails =
            |failure| Rejection::Fails { at: problem.describe(), right, order: None, failure }.launched(launch.written.clone());
        match outputs::wrong_block(&problem, blocks, &ran.map_err(fails)?) {
            None => Ok(true),
            Some((block, reason)) => {
                let (at, block) = (problem.describe(), grid.index_of(block));
                Err(Rejection::FailsInBlock { at, right, block, grid, reason }.launched(launch.written).into())
            }
        }
    }

    /// Runs at one size, first with the warps by number. Then in other orders; once on a GPU. The counts are those of the first.
    fn run_in_orders(&self, case: &str, seed: u64, right: usize, orders: &[WarpOrder]) -> Result<(P, Ran), Stop<D::Error>> {
        let (problem, ran) = self.run(case, seed, right, Way::Optimized(WarpOrder::Ascending))?;
        if self.device.is_simulated() {
            for order in orders {
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

    /// Runs one size without optimization, with zeros and garbage in unset values.
    fn run_plain(&self, plain: &D::Function, case: &str, seed: u64, right: usize) -> Result<(), Stop<D::Error>> {
        for garbage in [0, GARBAGE] {
            match self.run(case, seed, right, Way::Plain(plain, garbage)) {
                Ok(_) => {}
                Err(Stop::Rejected(rejection)) => match *rejection {
                    // A value of an absent lane may be used nowhere: here it goes through memory all the same. Garbage shows.
                    Rejection::Fails { failure: Failure::Defects(found), .. }
                        if garbage == 0 && found.iter().all(is_of_absent_lane) => {}
                    Rejection::Fails { at, failure, .. } if garbage != 0 && !failure.findings().iter().any(is_of_absent_lane) => {
                        return Err(Rejection::UsesUnset { at, failure }.into());
                    }
                    Rejection::Fails { at, order, failure, .. } => {
                        let at = format!("{at} when it is compiled without optimization");
                        return Err(Rejection::Fails { at, right, order, failure }.into());
                    }
                    other => return Err(other.into()),
                },
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Runs one size with garbage in unset registers. The compiler makes one of an element past an array, where other builds find a number.
    fn run_spoiled(&self, case: &str, seed: u64, right: usize) -> Result<(), Stop<D::Error>> {
        self.run(case, seed, right, Way::Spoiled).map(drop).map_err(|stop| match stop {
            Stop::Rejected(rejection) => match *rejection {
                Rejection::Fails { at, failure, .. } => Rejection::UsesUnset { at, failure }.into(),
                other => other.into(),
            },
            error => error,
        })
    }

    /// Runs at one size and returns the workload, too. The kernel was right at `right` sizes before.
    fn run(&self, case: &str, seed: u64, right: usize, way: Way<'_, D::Function>) -> Result<(P, Ran), Stop<D::Error>> {
        let problem = P::of_case(case, seed).map_err(|reason| Stop::Unusable(format!("case `{case}`: {reason}")))?;
        let launch = self.launch(&problem, &way)?;
        let function = match way {
            Way::Optimized(_) | Way::Spoiled | Way::Large => &self.optimized,
            Way::Plain(plain, _) => plain,
            Way::Quiet(quiet) => quiet,
        };
        match self.device.run(function, &problem, &launch).map_err(Stop::Device)? {
            Ok(Ran { state: Some(variable), .. }) => Err(Rejection::KeepsState { variable }.into()),
            Ok(ran) if !ran.warnings.iter().any(|finding| self.has_no_defined_result(finding)) => Ok((problem, ran)),
            outcome => {
                let failure = outcome.map_or_else(|failure| failure, |ran| Failure::Defects(ran.warnings));
                let order = (launch.order != WarpOrder::Ascending).then_some(launch.order);
                Err(Rejection::Fails { at: problem.describe(), right, order, failure }.launched(launch.written).into())
            }
        }
    }

    /// Returns true for a finding that may spoil other runs: a race of lanes in step or of volatile accesses; a
    /// barrier in a branch that part of the block takes ("allowed in conditional code but only if the conditional evaluates identically
    /// across the entire thread block", CUDA C++ Programming Guide, Synchronization Functions). A thread that has ended needs not arrive
    /// ("reached by all non-exited threads", there, Independent Thread Scheduling), so that counts only where the task says so.
    fn has_no_defined_result(&self, finding: &Finding) -> bool {
        match finding.kind {
            FindingKind::Race { .. } | FindingKind::DifferentBarriers { .. } => true,
            FindingKind::EndedBeforeBarrier { .. } => self.kernel.barriers_for_all,
            _ => false,
        }
    }

    /// Returns the launch at a size.
    fn launch(&self, problem: &P, way: &Way<'_, D::Function>) -> Result<Launch, Stop<D::Error>> {
        let values = self.values(problem)?;
        let mut launch = match &self.host {
            Some(host) => host.launch(problem, self.kernel, &values, &self.parameters)?,
            None => {
                let [grid, block] = self.shape(problem)?;
                Launch { grid, block, shared_bytes: self.kernel.shared_bytes, values, ..Launch::default() }
            }
        };
        if launch.values.iter().map(|value| value.bytes()).ne(self.parameters.iter().copied()) {
            let names = self.kernel.arguments.join(", ");
            let reason =
                format!("its parameters do not match the launch, which passes {names}: leave its first lines as they were");
            return Err(cannot_be_launched(reason));
        }
        let blocks = launch.grid.iter().map(|&extent| u64::from(extent).max(1)).product::<u64>();
        let share = FUEL[0] + FUEL[1] * problem.work().multiply_adds / (32 * blocks);
        (launch.order, launch.garbage, launch.fuel) = match *way {
            Way::Optimized(order) => (order, 0, share),
            Way::Plain(_, garbage) => (WarpOrder::Ascending, garbage, PLAIN * share),
            Way::Spoiled => (WarpOrder::Ascending, GARBAGE, share),
            Way::Quiet(_) => (WarpOrder::Ascending, 0, share),
            Way::Large => (WarpOrder::Ascending, GARBAGE, IDLE * share),
        };
        Ok(launch)
    }

    /// Returns the grid's blocks and a block's threads at a size.
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
            Extent::Constant(name) => match self.constants.iter().find(|(known, _)| known == name) {
                Some((_, value)) => Ok(*value),
                None => Err(cannot_be_launched(format!("the launch needs the value of {name}, which is no constant"))),
            },
            Extent::Cover { cover, by } => {
                let whole = size(cover).ok_or_else(|| Stop::Unusable(format!("no size is named {cover}")))?;
                match self.extent(by, size)? {
                    0 => Err(cannot_be_launched(format!("the {cover} cannot be divided into pieces of 0"))),
                    piece => Ok(whole.div_ceil(piece)),
                }
            }
        }
    }

    /// Returns the values in the order of the kernel's parameters.
    fn values(&self, problem: &P) -> Result<Vec<Value>, Stop<D::Error>> {
        let arrays = problem.inputs().into_iter().map(|(name, _)| name).chain(problem.outputs().iter().copied());
        let mut known: Vec<(&str, Value)> = arrays.map(|name| (name, Value::Array(name, 0))).collect();
        known.extend(problem.sums().into_iter().map(|(name, sum)| (name, Value::Sum(sum))));
        known.extend(problem.launch_sizes().into_iter().map(|(name, size)| (name, Value::Size(size))));
        let value = |name: &String| {
            let index = known.iter().position(|(known, _)| known == name)?;
            Some(known.swap_remove(index).1)
        };
        let values: Option<Vec<Value>> = self.kernel.arguments.iter().map(value).collect();
        let names = || self.kernel.arguments.join(", ");
        values.ok_or_else(|| Stop::Unusable(format!("an argument of {} is unknown or used twice", names())))
    }
}
