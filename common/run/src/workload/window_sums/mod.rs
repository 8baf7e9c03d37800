//! Window sums on a device, and their command line.

mod maps;

use std::path::PathBuf;

use clap::Args;
use cudarc::driver::CudaSlice;

use super::array::arrays;
use super::{Delivery, Plan, Workload, read_image, size_for};
use crate::device::guard::Guarded;
use crate::files::atomic_file::AtomicFile;
use crate::whole_number::within;
use crate::{Gpu, Result};
use workloads::window_sums::DEFAULT_WINDOW;
use workloads::{Border, Problem};

pub use maps::{binary, variances};
pub use workloads::window_sums::{HEADLINE_SIZE, Image, MOST_IMAGE_PIXELS, MOST_ROWS, SUMS_BELOW, Size, TEACHING_SIZE, WindowSums};

/// The command-line options that only window sums have.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Width and height of the image, for example 640x480; `seed` is 8192x8192
    #[arg(long, value_name = "WxH")]
    pub size: Option<Size>,
    /// Pixels of the window, an odd number
    #[arg(long, default_value_t = DEFAULT_WINDOW, value_name = "N", value_parser = within(1..=u32::MAX))]
    pub window: u32,
    /// How to treat pixels near the edge
    #[arg(long, value_enum, default_value_t)]
    pub border: Border,
    /// Picture to compute on, a PNG or PGM file
    #[arg(long, value_name = "PICTURE", conflicts_with = "size")]
    pub input: Option<PathBuf>,
    /// Where to write the variance around each pixel as a picture, a PNG file
    #[arg(long, value_name = "PNG")]
    pub output: Option<PathBuf>,
    /// Where to write the image in black and white, with a threshold that follows the light around each pixel, a PNG file
    #[arg(long, value_name = "PNG")]
    pub threshold: Option<PathBuf>,
    /// With --threshold, how far below the mean the threshold lies where there is no contrast, as a part of the mean
    #[arg(long, default_value_t = 0.2, value_name = "K", requires = "threshold", value_parser = sensitivity)]
    pub sensitivity: f64,
}

fn sensitivity(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

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
    arrays!(image);

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        // Before the long run, so that the user does not wait for a result that cannot be written.
        let [variance, threshold] =
            [&options.output, &options.threshold].map(|path| path.as_deref().map(AtomicFile::create).transpose());
        let (files, sensitivity) = ([variance?, threshold?], options.sensitivity);
        let sums = match &options.input {
            Some(input) => {
                let (image, origin) = read_image(input)?;
                Self::new(image, options.window, options.border)?.with_origin(origin)
            }
            None => {
                let size = size_for(gpu, options.size, [TEACHING_SIZE, HEADLINE_SIZE], Size::footprint)?;
                Self::random(size, options.window, options.border, seed)?
            }
        };
        let delivery = files
            .iter()
            .any(Option::is_some)
            .then(|| -> Delivery<Self> { Box::new(move |parts, outputs| maps::write(&parts[0], &outputs[0], files, sensitivity)) });
        Plan::of(sums, delivery, gpu)
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers { image: gpu.stream.clone_htod(&self.image().pixels)?, output: Guarded::new(gpu, self.output_len())? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_those_that_cannot_be_are_refused() {
        assert_eq!("seed".parse::<Size>().unwrap(), HEADLINE_SIZE);
        assert_eq!("20X10".parse::<Size>().unwrap(), Size { width: 20, height: 10 });
        for text in ["", "20", "20x", "0x1", "1x0", "-1x1", "1x65536", "99999999999x1", "32768x16385"] {
            let error = text.parse::<Size>().expect_err(text).to_string();
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    fn a_sensitivity_is_a_part_of_one() {
        assert_eq!(sensitivity("0.35"), Ok(0.35));
        for text in ["", "x", "-0.1", "1.5", "NaN"] {
            assert!(sensitivity(text).is_err(), "{text}");
        }
    }
}
