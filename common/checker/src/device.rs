//! What compiles and runs a learner's kernel.

use simt::{Counters, Finding, WarpOrder};
use workloads::Problem;
use workloads::failure::Failure;

/// What is made of a learner's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// What a GPU would run.
    Optimized,
    /// Without optimization.
    Plain,
    /// As [`Form::Optimized`], without what it prints.
    Quiet,
}

/// A text that was compiled.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The PTX.
    pub ptx: String,
    /// What the compiler said about the text; empty if nothing.
    pub remarks: String,
}

/// Why a text was not compiled.
#[derive(Debug)]
pub enum Uncompiled<E> {
    /// The compiler refuses it; its messages.
    Refused(String),
    /// The compiler, or something else, does not work.
    Error(E),
}

/// One value that a kernel gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The address of the workload's array of this name.
    Array(&'static str),
    /// A size: `unsigned`, or `int`.
    Size(u32),
    /// A sum of 64 bits: `long long`.
    Sum(i64),
}

impl Value {
    /// Its size among the kernel's parameters, in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Value::Array(_) | Value::Sum(_) => 8,
            Value::Size(_) => 4,
        }
    }
}

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks, in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block, in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// One value for each parameter, each as wide as the parameter.
    pub values: Vec<Value>,
    /// The order in which the warps of a block take turns. A GPU has its own.
    pub order: WarpOrder,
    /// What registers hold before they are set. A GPU has anything there.
    pub garbage: u32,
    /// Instructions of warps that a block may execute. A GPU has no limit.
    pub fuel: u64,
}

/// What a run whose output is right left.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The output.
    pub output: Vec<f32>,
    /// What the simulator counted. There is none on a GPU.
    pub counters: Option<Box<Counters>>,
    /// Findings that leave the output valid.
    pub warnings: Vec<Finding>,
    /// The median time, if the device was asked for it.
    pub median_ms: Option<f64>,
}

/// A compiler with a learner's text, and a device to run what it makes.
pub trait Device<P: Problem> {
    /// What can go wrong that is not the kernel's fault.
    type Error;
    /// A kernel that is ready to run.
    type Function;

    /// Whether it counts, checks, and runs warps in any order.
    fn is_simulated(&self) -> bool;

    /// Compiles the text.
    ///
    /// # Errors
    ///
    /// See [`Uncompiled`].
    fn compile(&self, form: Form) -> Result<Compiled, Uncompiled<Self::Error>>;

    /// Loads a kernel of PTX.
    ///
    /// # Errors
    ///
    /// The reason why the device refuses it.
    fn load(&self, ptx: &str, kernel: &str) -> Result<Self::Function, String>;

    /// Runs a kernel on the inputs of a problem, and compares its output with the oracle and its inputs with what they were.
    ///
    /// # Errors
    ///
    /// What is wrong with the kernel is in the inner result, and everything else in the outer one.
    fn run(&self, function: &Self::Function, problem: &P, launch: &Launch) -> Result<Result<Ran, Failure>, Self::Error>;
}
