//! One computation with fixed inputs, and what it takes at least.

use oracles::{Expected, Oracle};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One computation with fixed inputs.
pub trait Problem: Sized + Send + Sync + 'static {
    /// Its name, for example `convolution`.
    const NAME: &'static str;
    /// The arithmetic of its work.
    const ARITHMETIC: Arithmetic;

    /// Generates inputs for a case of an exercise: a size and further options, as on the command line of a chapter after
    /// `--size`.
    fn of_case(case: &str, seed: u64) -> Result<Self, String>;

    /// Returns the sizes for a reader: `4096 outputs x 512 taps, seed 13`.
    fn describe(&self) -> String;

    /// Returns the sizes for a record, by name; with the seed, or `null` where the data are the user's.
    fn sizes(&self) -> Map<String, Value>;

    /// Returns the least work that the computation takes.
    fn work(&self) -> Work;

    /// Returns a part with about so many multiply-adds, for time estimates; `None` if there is none.
    fn part(&self, multiply_adds: u64) -> Option<Self>;

    /// Returns the memory that a run takes.
    fn footprint(&self) -> Footprint;

    /// Returns the input arrays by name, as stored in device memory.
    fn inputs(&self) -> Vec<(&'static str, &[u8])>;

    /// Returns the names of the output's arrays, consecutive and equally long.
    fn outputs(&self) -> &'static [&'static str];

    /// Returns the number of outputs, of all arrays together.
    fn output_len(&self) -> usize;

    /// Returns the sizes that a launch may name.
    fn launch_sizes(&self) -> Vec<(&'static str, u32)>;

    /// Returns 64-bit sums that the host computes for a kernel, by name.
    fn sums(&self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }

    /// Returns expected values, and how far a correct f32 result may deviate. Computed at the first call.
    fn oracle(&self) -> &Oracle;

    /// Returns the extra error that a learner's kernel may have. It adds to the oracle's tolerance, because the kernel may compute
    /// in any order and type.
    fn allowance(&self) -> f64 {
        0.0
    }

    /// Returns the outputs per row, where they are a picture or matrix.
    fn row_len(&self) -> Option<usize> {
        None
    }

    /// Returns mistakes that beginners make: each a phrase after "a kernel", and what a kernel with it computes. Computed for small
    /// workloads, when an output is wrong.
    fn mistakes(&self) -> Vec<(&'static str, Oracle)> {
        Vec::new()
    }

    /// Returns the expected value of every output.
    /// Panics when the workload has more than [`MOST_PRODUCTS_OF_A_WHOLE_ORACLE`](oracles::MOST_PRODUCTS_OF_A_WHOLE_ORACLE), so
    /// that its oracle is sampled.
    fn expected(&self) -> &[Expected] {
        self.oracle().whole().expect("the oracle of a small workload has every output")
    }

    /// Returns the expected values of some outputs, given in ascending order. Works for any number of outputs.
    fn expected_at(&self, indices: &[usize]) -> Vec<Expected> {
        let expected = self.expected();
        indices.iter().map(|&index| expected[index]).collect()
    }
}

/// The least work that a computation takes, however it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Multiply-adds of the direct sum. Where each sum follows from its neighbor, only the remaining ones count.
    pub multiply_adds: u64,
    /// Bytes that must be read once and written once.
    pub bytes: u64,
    /// The kind of numbers that are multiplied.
    pub arithmetic: Arithmetic,
}

/// The kind of numbers that are multiplied and added. It decides the ceiling that rates are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arithmetic {
    /// Single-precision floats: fused multiply-adds.
    #[default]
    F32,
    /// bf16 factors, summed in f32, by tensor cores.
    Bf16,
    /// Bytes, summed in 32-bit integers: `dp4a`, four at a time.
    Bytes,
    /// 32-bit integers, with one multiply-add per pixel: so little of it that memory is the ceiling, and a rate is one of bytes.
    Integers,
}

impl Arithmetic {
    /// Returns the name of the ceiling that rates are compared with.
    pub fn ceiling(self) -> &'static str {
        match self {
            Arithmetic::F32 => "f32",
            Arithmetic::Bf16 => "bf16",
            Arithmetic::Bytes => "dp4a",
            Arithmetic::Integers => "memory",
        }
    }

    /// Returns the unit of work that the simulator's counts are divided by.
    pub fn piece(self) -> &'static str {
        match self {
            Arithmetic::F32 | Arithmetic::Bf16 | Arithmetic::Bytes => "multiply-add",
            Arithmetic::Integers => "pixel",
        }
    }
}

/// The memory that a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// On the device.
    pub device_bytes: u64,
    /// On the host, for inputs, results and the oracle.
    pub host_bytes: u64,
}
