//! Histograms on a device, and their command line.

use std::path::PathBuf;

use clap::Args;
use cudarc::driver::CudaSlice;
use serde_json::json;

use super::arguments::Argument;
use super::{Plan, Workload, check_memory};
use crate::error::Result;
use crate::gpu::Gpu;
use crate::guard::Guarded;
use crate::picture::{self, Gray};
use workloads::Problem;
use workloads::origin::Origin;
use workloads::window_sums::{HEADLINE_SIZE, Image, Size, TEACHING_SIZE};

pub use workloads::histogram::{Histogram, LEVELS};

/// The command-line options that only histograms have.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Width and height of the image, for example 640x480; `seed` is 8192x8192
    #[arg(long, value_name = "WxH")]
    pub size: Option<Size>,
    /// Picture to count, a PNG or PGM file
    #[arg(long, value_name = "PICTURE", conflicts_with = "size")]
    pub input: Option<PathBuf>,
}

/// The arrays of a histogram on a device.
pub struct Buffers {
    /// The pixels, row by row without gaps.
    pub image: CudaSlice<i32>,
    /// Counters for stages that count in global memory. Each stage sets them to zero itself.
    pub counts: CudaSlice<u32>,
    /// Memory for the histogram.
    pub output: Guarded,
}

impl Workload for Histogram {
    type Options = Options;
    type Buffers = Buffers;

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        let histogram = match &options.input {
            Some(input) => {
                let Gray { name, width, height, pixels } = picture::read(input)?;
                let image = Image { width, height, pixels: pixels.into_iter().map(i32::from).collect() };
                let origin = Origin::Files { words: name.clone(), names: vec![("input", json!(name))] };
                Self::new(image)?.with_origin(origin)
            }
            None => {
                let size = options.size.unwrap_or(if gpu.is_simulated() { TEACHING_SIZE } else { HEADLINE_SIZE });
                check_memory(size.footprint(), gpu)?;
                Self::random(size, seed)?
            }
        };
        check_memory(histogram.footprint(), gpu)?;
        Ok(Plan { parts: vec![histogram], delivery: None })
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            image: gpu.stream.clone_htod(&self.image().pixels)?,
            counts: gpu.stream.alloc_zeros(LEVELS)?,
            output: Guarded::new(gpu, LEVELS)?,
        })
    }

    fn output(buffers: &mut Buffers) -> &mut Guarded {
        &mut buffers.output
    }

    fn inputs_intact(&self, gpu: &Gpu, buffers: &Buffers) -> Result<bool> {
        Ok(gpu.stream.clone_dtoh(&buffers.image)? == self.image().pixels)
    }

    fn pointers(&self, gpu: &Gpu, buffers: &Buffers) -> Vec<(&'static str, Argument)> {
        let stream = &gpu.stream;
        vec![("image", Argument::array(&buffers.image, stream)), ("histogram", Argument::array(&buffers.output.view(), stream))]
    }

    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        let inverted: Vec<i32> = self.image().pixels.iter().map(|pixel| LEVELS as i32 - 1 - pixel).collect();
        Ok(gpu.stream.memcpy_htod(&inverted, &mut buffers.image)?)
    }
}
