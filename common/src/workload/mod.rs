//! What a chapter computes, independent of how: inputs, sizes, the expected result, and the least work that it takes.
//!
//! A workload knows no kernel. Stages are checked against it, so it must not share their mistakes: its oracle is a plain loop
//! in f64.

pub mod arguments;
pub mod convolution;
pub mod correlation;
pub mod histogram;
pub mod image;
pub mod matmul;
pub mod origin;
pub mod window_sums;

use oracles::{Expected, Oracle};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::guard::Guarded;
use crate::memory;

use arguments::Argument;

pub use convolution::Convolution;
pub use correlation::Correlation;
pub use histogram::Histogram;
pub use image::Border;
pub use matmul::Matmul;
pub use window_sums::WindowSums;

/// One computation with fixed inputs.
pub trait Workload: Sized + Send + Sync + 'static {
    /// The command-line options that only this workload has: sizes, files.
    type Options: clap::Args;
    /// The inputs and the output on a device.
    type Buffers;
    /// The arithmetic of its work.
    const ARITHMETIC: Arithmetic;

    /// What the command line asks for. Without a size, a GPU gets a size at which it shows what it can do, and a simulated GPU gets
    /// one that takes seconds.
    ///
    /// # Errors
    ///
    /// When no such computation exists: sizes that cannot be or do not fit the device, files that cannot be read or written.
    fn plan(options: &Self::Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>>;

    /// The sizes for a reader, for example `4096 outputs x 512 taps, seed 13`.
    fn describe(&self) -> String;

    /// The sizes for a record, by name; with the seed, or `null` where the data are the user's.
    fn sizes(&self) -> Map<String, Value>;

    /// The least work that the computation takes.
    fn work(&self) -> Work;

    /// A part of the computation with about so many multiply-adds, to estimate how long the whole takes; `None` if there is none.
    fn part(&self, multiply_adds: u64) -> Option<Self>;

    /// How much memory a run takes.
    fn footprint(&self) -> Footprint;

    /// Number of outputs.
    fn output_len(&self) -> usize;

    /// Copies the inputs to a device, and allocates the output.
    ///
    /// # Errors
    ///
    /// The driver's errors, too little memory among them.
    fn upload(&self, gpu: &Gpu) -> Result<Self::Buffers>;

    /// The output on the device.
    fn output(buffers: &mut Self::Buffers) -> &mut Guarded;

    /// Whether the inputs on the device are still those of the host. A stage that overwrites its inputs would spoil every
    /// stage after it.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    fn inputs_intact(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Result<bool>;

    /// The sizes that a launch may name.
    fn launch_sizes(&self) -> Vec<(&'static str, u32)>;

    /// What else a kernel may be given by name: the arrays, and sums that the host adds up.
    fn pointers(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<(&'static str, Argument)>;

    /// Overwrites the inputs on the device, so that a stage that claims to copy them there really has to.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Self::Buffers) -> Result<()>;

    /// What the output is compared with: expected values, and how far a correct f32 result may lie from them. Computed at the first
    /// call.
    fn oracle(&self) -> &Oracle;

    /// How much farther from the oracle than its tolerance an output may be that a learner's kernel computes, in whatever order and type.
    fn allowance(&self) -> f64 {
        0.0
    }

    /// Outputs of a row, where they are a picture or a matrix.
    fn row_len(&self) -> Option<usize> {
        None
    }

    /// The names of the arrays that the output consists of, one after the other and equally long, if there are several.
    fn output_arrays(&self) -> &'static [&'static str] {
        &[]
    }

    /// Mistakes that beginners make: each a phrase after "a kernel", and what a kernel with it computes. Computed for small workloads, when
    /// an output is wrong.
    fn mistakes(&self) -> Vec<(&'static str, Oracle)> {
        Vec::new()
    }

    /// The expected value of every output.
    ///
    /// # Panics
    ///
    /// When the workload has more than [`MOST_PRODUCTS_OF_A_WHOLE_ORACLE`](oracles::MOST_PRODUCTS_OF_A_WHOLE_ORACLE), so that its oracle is sampled.
    fn expected(&self) -> &[Expected] {
        self.oracle().whole().expect("the oracle of a small workload has every output")
    }
}

/// The work of a whole run, and where its results go.
pub struct Plan<W> {
    /// The computations. The first one fills the table; the others (further channels of a sound) only have to be right.
    pub parts: Vec<W>,
    /// Receives one output per part when all of them are verified.
    pub delivery: Option<Box<dyn Delivery<W>>>,
}

/// Where verified outputs go, for example a sound file.
pub trait Delivery<W> {
    /// Delivers the outputs, one per part of the plan. Returns one line that says where they went.
    ///
    /// # Errors
    ///
    /// When they cannot be written.
    fn deliver(self: Box<Self>, parts: &[W], outputs: &[Vec<f32>]) -> Result<String>;
}

/// The least work that a computation takes, however it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Multiply-adds of the direct sum. Where each sum follows from its neighbor, only the remaining ones count.
    pub multiply_adds: u64,
    /// Bytes that must be read once and written once.
    pub bytes: u64,
    /// What is multiplied.
    pub arithmetic: Arithmetic,
}

/// What is multiplied and added, and with it the ceiling that rates are compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arithmetic {
    /// Single-precision floats: fused multiply-adds.
    #[default]
    F32,
    /// Bytes, summed in 32-bit integers: `dp4a`, four at a time.
    Bytes,
    /// 32-bit integers, with one multiply-add per pixel: so little of it that memory is the ceiling, and a rate is one of bytes.
    Integers,
}

impl Arithmetic {
    /// The name of the ceiling that rates are compared with.
    pub fn ceiling(self) -> &'static str {
        match self {
            Arithmetic::F32 => "f32",
            Arithmetic::Bytes => "dp4a",
            Arithmetic::Integers => "memory",
        }
    }

    /// The unit of work that the simulator's counts are divided by.
    pub fn piece(self) -> &'static str {
        match self {
            Arithmetic::F32 | Arithmetic::Bytes => "multiply-add",
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

impl Footprint {
    /// Refuses what does not fit, before anything is allocated. A simulated device is in the host's memory, so it has to fit there as well.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] for the device's or the host's memory, and the driver's errors.
    pub fn check(&self, gpu: &Gpu) -> Result<()> {
        let (available, _total) = gpu.context.mem_get_info()?;
        if self.device_bytes > available as u64 {
            return Err(Error::TooLarge { place: "the device", needed: self.device_bytes, available: available as u64 });
        }
        let needed = self.host_bytes + if gpu.is_simulated() { self.device_bytes } else { 0 };
        match memory::available() {
            Some(available) if needed > available => Err(Error::TooLarge { place: "this machine", needed, available }),
            _ => Ok(()),
        }
    }
}
