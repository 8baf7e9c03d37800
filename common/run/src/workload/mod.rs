//! Adds to a workload what a device and a command line need: buffers, options, the user's files.
//!
//! The computation and its oracle are in [`workloads`].

pub mod arguments;
pub mod convolution;
pub mod correlation;
pub mod histogram;
pub mod matmul;
pub mod window_sums;

use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::guard::Guarded;
use crate::memory;

use arguments::Argument;

pub use workloads::{Arithmetic, Border, Convolution, Correlation, Footprint, Histogram, Matmul, Problem, WindowSums, Work};

/// A computation on a device.
pub trait Workload: Problem {
    /// The command-line options that only this workload has: sizes, files.
    type Options: clap::Args;
    /// The inputs and the output on a device.
    type Buffers;

    /// Plans what the command line asks for. Without a size, a GPU gets a size at which it shows what it can do, and a simulated GPU gets
    /// one that takes seconds.
    ///
    /// # Errors
    ///
    /// When no such computation exists: sizes that cannot be or do not fit the device, files that cannot be read or written.
    fn plan(options: &Self::Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>>;

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

    /// The arrays that a kernel may be given, by name.
    fn pointers(&self, gpu: &Gpu, buffers: &Self::Buffers) -> Vec<(&'static str, Argument)>;

    /// Overwrites the inputs on the device, so that a stage that claims to copy them there really has to.
    ///
    /// # Errors
    ///
    /// The driver's errors.
    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Self::Buffers) -> Result<()>;
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

/// Refuses what does not fit, before anything is allocated. A simulated device is in the host's memory, so it has to fit there as well.
///
/// # Errors
///
/// [`Error::TooLarge`] for the device's or the host's memory, and the driver's errors.
pub fn check_memory(footprint: Footprint, gpu: &Gpu) -> Result<()> {
    let (available, _total) = gpu.context.mem_get_info()?;
    if footprint.device_bytes > available as u64 {
        return Err(Error::TooLarge { place: "the device", needed: footprint.device_bytes, available: available as u64 });
    }
    let needed = footprint.host_bytes + if gpu.is_simulated() { footprint.device_bytes } else { 0 };
    match memory::available() {
        Some(available) if needed > available => Err(Error::TooLarge { place: "this machine", needed, available }),
        _ => Ok(()),
    }
}
