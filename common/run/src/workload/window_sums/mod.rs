//! Window sums on a device, and their command line.

mod maps;
mod options;

use cudarc::driver::CudaSlice;

use super::arguments::Argument;
use super::{Plan, Workload};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::guard::Guarded;
use workloads::Problem;

pub use maps::{binary, variances};
pub use options::Options;
pub use workloads::window_sums::{HEADLINE_SIZE, Image, MOST_IMAGE_PIXELS, MOST_ROWS, SUMS_BELOW, Size, TEACHING_SIZE, WindowSums};

/// The arrays of window sums on a device.
pub struct Buffers {
    /// The pixels, row by row without gaps.
    pub image: CudaSlice<i32>,
    /// Memory for the sums, and after them for the sums of squares.
    pub output: Guarded,
}

impl Workload for WindowSums {
    type Options = Options;
    type Buffers = Buffers;

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        options::plan(options, seed, gpu)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers { image: gpu.stream.clone_htod(&self.image().pixels)?, output: Guarded::new(gpu, self.output_len())? })
    }

    fn output(buffers: &mut Buffers) -> &mut Guarded {
        &mut buffers.output
    }

    fn inputs_intact(&self, gpu: &Gpu, buffers: &Buffers) -> Result<bool> {
        Ok(gpu.stream.clone_dtoh(&buffers.image)? == self.image().pixels)
    }

    fn pointers(&self, gpu: &Gpu, buffers: &Buffers) -> Vec<(&'static str, Argument)> {
        let (stream, output) = (&gpu.stream, buffers.output.view());
        let (sums, squares) = output.split_at(self.image().pixels.len());
        vec![
            ("image", Argument::array(&buffers.image, stream)),
            ("sums", Argument::array(&sums, stream)),
            ("squares", Argument::array(&squares, stream)),
        ]
    }

    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        let inverted: Vec<i32> = self.image().pixels.iter().map(|pixel| !pixel).collect();
        Ok(gpu.stream.memcpy_htod(&inverted, &mut buffers.image)?)
    }
}
