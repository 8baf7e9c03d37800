//! One-dimensional convolution on a device, and its command line.

mod options;
mod sounds;

use cudarc::driver::CudaSlice;
use oracles::same_bits;

use super::arguments::Argument;
use super::{Plan, Workload};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::guard::Guarded;
use workloads::Problem;

pub use options::Options;
pub use sounds::of_sounds;
pub use workloads::convolution::{Convolution, SEED_SIZE, Size, TEACHING_SIZE};

/// The arrays of a convolution on a device.
pub struct Buffers {
    /// The `outputs + taps - 1` samples.
    pub signal: CudaSlice<f32>,
    /// The `taps` filter values.
    pub filter: CudaSlice<f32>,
    /// The outputs.
    pub output: Guarded,
}

impl Workload for Convolution {
    type Options = Options;
    type Buffers = Buffers;

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        options::plan(options, seed, gpu)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            signal: gpu.stream.clone_htod(self.signal())?,
            filter: gpu.stream.clone_htod(self.filter())?,
            output: Guarded::new(gpu, self.output_len())?,
        })
    }

    fn output(buffers: &mut Buffers) -> &mut Guarded {
        &mut buffers.output
    }

    fn inputs_intact(&self, gpu: &Gpu, buffers: &Buffers) -> Result<bool> {
        let signal = gpu.stream.clone_dtoh(&buffers.signal)?;
        let filter = gpu.stream.clone_dtoh(&buffers.filter)?;
        Ok(same_bits(&signal, self.signal()) && same_bits(&filter, self.filter()))
    }

    fn pointers(&self, gpu: &Gpu, buffers: &Buffers) -> Vec<(&'static str, Argument)> {
        let stream = &gpu.stream;
        vec![
            ("signal", Argument::array(&buffers.signal, stream)),
            ("filter", Argument::array(&buffers.filter, stream)),
            ("output", Argument::array(&buffers.output.view(), stream)),
        ]
    }

    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        for input in [&mut buffers.signal, &mut buffers.filter] {
            // NaN is no input.
            gpu.stream.memcpy_htod(&vec![f32::NAN; input.len()], input)?;
        }
        Ok(())
    }
}
