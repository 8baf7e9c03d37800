//! The product of two matrices on a device, and its command line.

mod options;

use cudarc::driver::CudaSlice;
use oracles::same_bits;

use super::arguments::Argument;
use super::{Plan, Workload};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::guard::Guarded;
use workloads::Problem;

pub use options::Options;
pub use workloads::matmul::{DEEPEST, HEADLINE_SIZE, LONGEST_SIDE, Matmul, SEED_SIZE, Size, TEACHING_SIZE};

/// The matrices on a device, each row after row without gaps.
pub struct Buffers {
    /// `m * k` values.
    pub a: CudaSlice<f32>,
    /// `k * n` values.
    pub b: CudaSlice<f32>,
    /// Memory for `m * n` values.
    pub output: Guarded,
}

impl Workload for Matmul {
    type Options = Options;
    type Buffers = Buffers;

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        options::plan(options, seed, gpu)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            a: gpu.stream.clone_htod(self.a())?,
            b: gpu.stream.clone_htod(self.b())?,
            output: Guarded::new(gpu, self.output_len())?,
        })
    }

    fn output(buffers: &mut Buffers) -> &mut Guarded {
        &mut buffers.output
    }

    fn inputs_intact(&self, gpu: &Gpu, buffers: &Buffers) -> Result<bool> {
        let (a, b) = (gpu.stream.clone_dtoh(&buffers.a)?, gpu.stream.clone_dtoh(&buffers.b)?);
        Ok(same_bits(&a, self.a()) && same_bits(&b, self.b()))
    }

    fn pointers(&self, gpu: &Gpu, buffers: &Buffers) -> Vec<(&'static str, Argument)> {
        let stream = &gpu.stream;
        vec![
            ("a", Argument::array(&buffers.a, stream)),
            ("b", Argument::array(&buffers.b, stream)),
            ("c", Argument::array(&buffers.output.view(), stream)),
        ]
    }

    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        for input in [&mut buffers.a, &mut buffers.b] {
            // NaN is no input.
            gpu.stream.memcpy_htod(&vec![f32::NAN; input.len()], input)?;
        }
        Ok(())
    }
}
