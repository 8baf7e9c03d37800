//! Adds to a workload what a device and a command line need: buffers, options, the user's files.
//!
//! The computation and its oracle are in [`workloads`].

pub mod array;
pub mod convolution;
pub mod correlation;
pub mod histogram;
pub mod matmul;
pub mod matmul_half;
pub mod window_sums;

use std::path::Path;

use cudarc::driver::DevicePtr;
use serde_json::json;
use workloads::origin::Origin;
use workloads::window_sums::Image;

use crate::device::guard::Guarded;
use crate::device::memory;
use crate::files::picture::{self, Gray};
use crate::{Error, Gpu, Result};

use array::DeviceArray;

pub use workloads::{
    Arithmetic, Border, Convolution, Correlation, Footprint, Histogram, Matmul, MatmulHalf, Problem, WindowSums, Work,
};

/// A computation on a device.
pub trait Workload: Problem {
    /// The command-line options that only this workload has: sizes, files.
    type Options: clap::Args;
    /// The inputs and the output on a device.
    type Buffers;

    /// Plans what the command line asks for. Without a size, a GPU gets a size at which it shows what it can do, and a simulated GPU gets
    /// one that takes seconds.
    /// Fails when no such computation exists: sizes that cannot be or do not fit the device, files that cannot be read or written.
    fn plan(options: &Self::Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>>;

    /// Copies the inputs to a device, and allocates the output.
    fn upload(&self, gpu: &Gpu) -> Result<Self::Buffers>;

    /// Returns the output on the device.
    fn output(buffers: &mut Self::Buffers) -> &mut Guarded;

    /// Returns the inputs on the device, in the order of [`Problem::inputs`].
    fn input_arrays(buffers: &mut Self::Buffers) -> Vec<&mut dyn DeviceArray>;

    /// Returns true if the device's inputs still equal the host's. A stage that overwrites its inputs would spoil every stage after it.
    fn inputs_intact(&self, gpu: &Gpu, buffers: &mut Self::Buffers) -> Result<bool> {
        for (array, (_, bytes)) in Self::input_arrays(buffers).into_iter().zip(self.inputs()) {
            if !array.holds(gpu, bytes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Overwrites the device's inputs, so that a stage must really copy them.
    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Self::Buffers) -> Result<()> {
        for (array, (_, bytes)) in Self::input_arrays(buffers).into_iter().zip(self.inputs()) {
            array.write(gpu, &bytes.iter().map(|byte| !byte).collect::<Vec<u8>>())?;
        }
        Ok(())
    }

    /// Returns the addresses of arrays that a kernel may receive, by name.
    fn addresses(&self, gpu: &Gpu, buffers: &mut Self::Buffers) -> Vec<(&'static str, u64)> {
        let inputs = Self::input_arrays(buffers).into_iter().zip(self.inputs());
        let mut addresses: Vec<_> = inputs.map(|(array, (name, _))| (name, array.address(gpu))).collect();
        let output = Self::output(buffers).view();
        let (first, _no_other_stream) = output.device_ptr(&gpu.stream);
        let each = (size_of::<f32>() * output.len() / self.outputs().len()) as u64;
        addresses.extend((0..).zip(self.outputs()).map(|(place, name)| (*name, first + place * each)));
        addresses
    }
}

/// The work of a whole run, and where its results go.
pub struct Plan<W> {
    /// The computations. The first one fills the table; the others (further channels of a sound) only have to be right.
    pub parts: Vec<W>,
    /// Receives one output per part when all of them are verified.
    pub delivery: Option<Delivery<W>>,
}

impl<W: Problem> Plan<W> {
    /// Plans one computation, if it fits in memory.
    fn of(workload: W, delivery: Option<Delivery<W>>, gpu: &Gpu) -> Result<Self> {
        check_memory(workload.footprint(), gpu)?;
        Ok(Self { parts: vec![workload], delivery })
    }
}

/// Function that delivers verified outputs (one per part of the plan), for example to a file. Returns one line that says where they went.
pub type Delivery<W> = Box<dyn FnOnce(&[W], &[Vec<f32>]) -> Result<String>>;

/// Returns the requested or default size, if it fits in memory. The default is `teaching` on the simulator and `headline` on a GPU.
fn size_for<S: Copy>(gpu: &Gpu, asked: Option<S>, [teaching, headline]: [S; 2], footprint: fn(S) -> Footprint) -> Result<S> {
    let size = asked.unwrap_or(if gpu.is_simulated() { teaching } else { headline });
    check_memory(footprint(size), gpu)?;
    Ok(size)
}

fn read_image(path: &Path) -> Result<(Image, Origin)> {
    let Gray { name, width, height, pixels } = picture::read(path)?;
    let image = Image { width, height, pixels: pixels.into_iter().map(i32::from).collect() };
    Ok((image, Origin::Files { words: name.clone(), names: vec![("input", json!(name))] }))
}

/// Refuses what does not fit, before anything is allocated. A simulated device is in the host's memory, so it has to fit there as well.
pub fn check_memory(footprint: Footprint, gpu: &Gpu) -> Result<()> {
    let (available, _total) = gpu.context.mem_get_info()?;
    if footprint.device_bytes > available as u64 {
        return Err(Error::TooLarge { place: "the device", needed: footprint.device_bytes, available: available as u64 });
    }
    memory::require(footprint.host_bytes + if gpu.is_simulated() { footprint.device_bytes } else { 0 })
}
