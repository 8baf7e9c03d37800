//! Normalized cross-correlation on a device, and its command line.

mod findings;
mod options;

use cudarc::driver::CudaSlice;

use super::arguments::Argument;
use super::{Plan, Workload};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::guard::Guarded;
use workloads::Problem;

pub use options::Options;
pub use workloads::correlation::{
    Correlation, HEADLINE_SIZE, LONGEST_SIDE, MOST_IMAGE_PIXELS, MOST_TEMPLATE_PIXELS, Match, NO_SUM, Size, TEACHING_SIZE,
    best_matches,
};

/// The arrays of a correlation on a device.
pub struct Buffers {
    /// The image's pixels, row by row without gaps.
    pub image: CudaSlice<u8>,
    /// The template's pixels, row by row without gaps.
    pub template: CudaSlice<u8>,
    /// Memory for the coefficients, row by row.
    pub output: Guarded,
    /// Memory for the sums, for stages that store them: all ΣI, then all ΣI², then all ΣIT.
    pub sums: CudaSlice<u32>,
}

impl Workload for Correlation {
    type Options = Options;
    type Buffers = Buffers;

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        options::plan(options, seed, gpu)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            image: gpu.stream.clone_htod(&self.image().pixels)?,
            template: gpu.stream.clone_htod(&self.template().pixels)?,
            output: Guarded::new(gpu, self.output_len())?,
            sums: gpu.stream.clone_htod(&vec![NO_SUM; 3 * self.output_len()])?,
        })
    }

    fn output(buffers: &mut Buffers) -> &mut Guarded {
        &mut buffers.output
    }

    fn inputs_intact(&self, gpu: &Gpu, buffers: &Buffers) -> Result<bool> {
        let image = gpu.stream.clone_dtoh(&buffers.image)?;
        let template = gpu.stream.clone_dtoh(&buffers.template)?;
        Ok(image == self.image().pixels && template == self.template().pixels)
    }

    fn pointers(&self, gpu: &Gpu, buffers: &Buffers) -> Vec<(&'static str, Argument)> {
        let stream = &gpu.stream;
        vec![
            ("image", Argument::array(&buffers.image, stream)),
            ("template", Argument::array(&buffers.template, stream)),
            ("output", Argument::array(&buffers.output.view(), stream)),
        ]
    }

    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        let inverted = |pixels: &[u8]| pixels.iter().map(|pixel| !pixel).collect::<Vec<u8>>();
        gpu.stream.memcpy_htod(&inverted(&self.image().pixels), &mut buffers.image)?;
        Ok(gpu.stream.memcpy_htod(&inverted(&self.template().pixels), &mut buffers.template)?)
    }
}
