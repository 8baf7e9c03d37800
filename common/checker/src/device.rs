//! The interface to what compiles and runs a learner's kernel.

use std::fmt;

use serde::Deserialize;
use simt::{Counters, Finding, WarpOrder};
use workloads::Problem;
use workloads::failure::Failure;

/// A form in which a learner's text is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a GPU would run it.
    Optimized,
    /// Without optimization.
    Plain,
    /// As [`Form::Optimized`], without what it prints.
    Quiet,
}

/// A text that was compiled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compiled {
    /// The PTX.
    pub ptx: String,
    /// The compiler's remarks about the text; empty if there are none.
    pub remarks: String,
}

/// The reason why a text was not compiled.
#[derive(Debug)]
pub enum Uncompiled<E> {
    /// The compiler refuses it; its messages.
    Refused(String),
    /// The compiler, or something else, does not work.
    Error(E),
}

/// The compiler's result for a form of the text.
pub type Compilation<E> = Result<Compiled, Uncompiled<E>>;

/// One value that a kernel gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// The address of the workload's array of this name, and so many bytes after it.
    Array(&'static str, i64),
    /// A size: `unsigned`, or `int`.
    Size(u32),
    /// A sum of 64 bits: `long long`.
    Sum(i64),
}

impl Value {
    /// Returns its size in the parameter list, in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Value::Array(..) | Value::Sum(_) => 8,
            Value::Size(_) => 4,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Array(name, 0) => f.write_str(name),
            Value::Array(name, bytes) => write!(f, "{name} and {bytes} bytes further"),
            Value::Size(size) => size.fmt(f),
            Value::Sum(sum) => sum.fmt(f),
        }
    }
}

/// A launch of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Blocks, in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block, in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// One value for each parameter, each as wide as the parameter.
    pub values: Vec<Value>,
    /// The launch in the learner's text, if the learner wrote it.
    pub written: Option<Written>,
    /// The order in which the warps of a block take turns. A GPU has its own.
    pub order: WarpOrder,
    /// The word in registers before they are set. A GPU has anything there.
    pub garbage: u32,
    /// Instructions of warps that a block may execute. A GPU has no limit.
    pub fuel: u64,
}

/// A launch that the learner wrote.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its line, from 1.
    pub line: u32,
    /// The launch with its values, and where it may be wrong.
    pub said: String,
}

/// The results of a run whose output is right.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The output.
    pub output: Vec<f32>,
    /// The simulator's counts. There are none on a GPU.
    pub counters: Option<Box<Counters>>,
    /// Findings that leave the output valid.
    pub warnings: Vec<Finding>,
    /// The variable of the module that the kernel changed, if any. What a GPU's kernel changed is not known.
    pub state: Option<String>,
    /// The median time, if the device was asked for it.
    pub median_ms: Option<f64>,
}

/// The outputs that one block of a grid stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The block's number in the grid.
    pub block: u64,
    /// The indices of the outputs, in ascending order, and the values there.
    pub outputs: Vec<(usize, f32)>,
}

/// A compiler with a learner's text, and a device for the result.
pub trait Device<P: Problem> {
    /// An error that is not the kernel's fault.
    type Error;
    /// A kernel that is ready to run.
    type Function;

    /// Returns true if it counts, checks, and runs warps in any order.
    fn is_simulated(&self) -> bool;

    /// Compiles the text.
    fn compile(&self, form: Form) -> Compilation<Self::Error>;

    /// Loads a kernel from PTX. The error is the device's reason for refusing it.
    fn load(&self, ptx: &str, kernel: &str) -> Result<Self::Function, String>;

    /// Runs a kernel on a problem's inputs, and checks its output. Compares the output with the oracle, and the inputs with what
    /// they were. A fault of the kernel is in the inner result, and every other error in the outer one.
    fn run(&self, function: &Self::Function, problem: &P, launch: &Launch) -> Result<Result<Ran, Failure>, Self::Error>;

    /// Runs some blocks of a kernel, each alone. `None` where that is impossible: on a GPU, or with too little memory.
    fn run_blocks(
        &self,
        function: &Self::Function,
        problem: &P,
        launch: &Launch,
        blocks: &[u64],
    ) -> Result<Option<Result<Vec<Stored>, Failure>>, Self::Error>;
}
