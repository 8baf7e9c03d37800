//! Histograms on a device, and their command line.

use std::path::PathBuf;

use clap::Args;
use cudarc::driver::CudaSlice;

use super::array::arrays;
use super::{Plan, Workload, read_image, size_for};
use crate::device::guard::Guarded;
use crate::{Gpu, Result};
use workloads::window_sums::{HEADLINE_SIZE, Size, TEACHING_SIZE};

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
    /// The same pixels with a byte for each.
    pub bytes: CudaSlice<u8>,
    /// Counters for stages that count in global memory. Each stage sets them to zero itself.
    pub counts: CudaSlice<u32>,
    /// Memory for the histogram.
    pub output: Guarded,
}

impl Workload for Histogram {
    type Options = Options;
    type Buffers = Buffers;
    arrays!(image, bytes);

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        let histogram = match &options.input {
            Some(input) => {
                let (image, origin) = read_image(input)?;
                Self::new(image)?.with_origin(origin)
            }
            None => Self::random(size_for(gpu, options.size, [TEACHING_SIZE, HEADLINE_SIZE], Size::footprint)?, seed)?,
        };
        Plan::of(histogram, None, gpu)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            image: gpu.stream.clone_htod(&self.image().pixels)?,
            bytes: gpu.stream.clone_htod(self.bytes())?,
            counts: gpu.stream.alloc_zeros(LEVELS)?,
            output: Guarded::new(gpu, LEVELS)?,
        })
    }
}
