//! Histograms: how often each gray level occurs in an image. Equalizing contrast, finding a threshold, and sorting by radix begin with one.
//!
//! The output has a number for each of the [`LEVELS`]. It is exact up to 2^24 pixels of a level, and rounded once beyond.

use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use cudarc::driver::CudaSlice;
use oracles::{Oracle, histogram};
use serde_json::{Map, Value, json};

use super::arguments::Argument;
use super::origin::Origin;
use super::window_sums::{HEADLINE_SIZE, Image, Size, TEACHING_SIZE};
use super::{Arithmetic, Footprint, Plan, Work, Workload};
use crate::error::{Error, Result};
use crate::gpu::Gpu;
use crate::guard::Guarded;
use crate::picture::Gray;

/// Gray levels, and outputs.
pub const LEVELS: usize = 256;

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

/// An image whose gray levels are counted.
pub struct Histogram {
    image: Image,
    origin: Origin,
    oracle: OnceLock<Oracle>,
}

impl Histogram {
    /// Generated gray levels, the same for the same seed on every machine.
    ///
    /// # Errors
    ///
    /// [`Error::Size`], when the image is too large for the kernels.
    pub fn random(size: Size, seed: u64) -> Result<Self> {
        size.check(1)?;
        Ok(Self { origin: Origin::Seed(seed), ..Self::new(size.generate(seed))? })
    }

    /// The gray levels of an image.
    ///
    /// # Errors
    ///
    /// [`Error::Size`], when the image is too large for the kernels, or when a pixel is no gray level.
    pub fn new(image: Image) -> Result<Self> {
        Size { width: image.width, height: image.height }.check(1)?;
        if let Some(pixel) = image.pixels.iter().find(|pixel| !(0..LEVELS as i32).contains(*pixel)) {
            let reason = format!("a gray level is at least 0 and below {LEVELS}");
            return Err(Error::Size { asked: format!("a pixel of {pixel}"), reason });
        }
        Ok(Self { image, origin: Origin::Given, oracle: OnceLock::new() })
    }

    /// Pixels of the image.
    pub fn pixels(&self) -> u32 {
        self.image.pixels.len() as u32
    }

    /// Pixels of a row of the image.
    pub fn width(&self) -> u32 {
        self.image.width
    }

    fn size(&self) -> Size {
        Size { width: self.image.width, height: self.image.height }
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = &self.image.pixels[..self.image.pixels.len().min(8)];
        write!(f, "{}, pixels {first:?} …", self.describe())
    }
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
    const ARITHMETIC: Arithmetic = Arithmetic::Integers;

    fn plan(options: &Options, seed: u64, gpu: &Gpu) -> Result<Plan<Self>> {
        let histogram = match &options.input {
            Some(input) => {
                let Gray { name, width, height, pixels } = Gray::read(input)?;
                let image = Image { width, height, pixels: pixels.into_iter().map(i32::from).collect() };
                let origin = Origin::Files { words: name.clone(), names: vec![("input", json!(name))] };
                Self { origin, ..Self::new(image)? }
            }
            None => {
                let size = options.size.unwrap_or(if gpu.is_simulated() { TEACHING_SIZE } else { HEADLINE_SIZE });
                size.footprint().check(gpu)?;
                Self::random(size, seed)?
            }
        };
        histogram.footprint().check(gpu)?;
        Ok(Plan { parts: vec![histogram], delivery: None })
    }

    fn describe(&self) -> String {
        self.origin.describe(format!("{}x{} pixels", self.image.width, self.image.height))
    }

    fn sizes(&self) -> Map<String, Value> {
        self.origin.record([("image_width", json!(self.image.width)), ("image_height", json!(self.image.height))])
    }

    fn work(&self) -> Work {
        let pixels = u64::from(self.pixels());
        Work { multiply_adds: pixels, bytes: 4 * pixels + 4 * LEVELS as u64, arithmetic: Self::ARITHMETIC }
    }

    fn part(&self, multiply_adds: u64) -> Option<Self> {
        let rows = u32::try_from(multiply_adds / u64::from(self.image.width)).unwrap_or(u32::MAX);
        let height = self.image.height.min(rows.max(1));
        let pixels = self.image.pixels[..height as usize * self.image.width as usize].to_vec();
        Self::new(Image { width: self.image.width, height, pixels }).ok()
    }

    fn footprint(&self) -> Footprint {
        self.size().footprint()
    }

    fn output_len(&self) -> usize {
        LEVELS
    }

    fn upload(&self, gpu: &Gpu) -> Result<Buffers> {
        Ok(Buffers {
            image: gpu.stream.clone_htod(&self.image.pixels)?,
            counts: gpu.stream.alloc_zeros(LEVELS)?,
            output: Guarded::new(gpu, LEVELS)?,
        })
    }

    fn output(buffers: &mut Buffers) -> &mut Guarded {
        &mut buffers.output
    }

    fn inputs_intact(&self, gpu: &Gpu, buffers: &Buffers) -> Result<bool> {
        Ok(gpu.stream.clone_dtoh(&buffers.image)? == self.image.pixels)
    }

    fn launch_sizes(&self) -> Vec<(&'static str, u32)> {
        vec![("pixels", self.pixels())]
    }

    fn pointers(&self, gpu: &Gpu, buffers: &Buffers) -> Vec<(&'static str, Argument)> {
        let stream = &gpu.stream;
        vec![("image", Argument::array(&buffers.image, stream)), ("histogram", Argument::array(&buffers.output.view(), stream))]
    }

    fn spoil_inputs(&self, gpu: &Gpu, buffers: &mut Buffers) -> Result<()> {
        let inverted: Vec<i32> = self.image.pixels.iter().map(|pixel| LEVELS as i32 - 1 - pixel).collect();
        Ok(gpu.stream.memcpy_htod(&inverted, &mut buffers.image)?)
    }

    fn oracle(&self) -> &Oracle {
        self.oracle.get_or_init(|| Oracle::Whole(histogram::whole(&self.image.pixels, LEVELS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_counted_and_what_is_no_level_is_refused() {
        let of = |pixels: &[i32]| Histogram::new(Image { width: pixels.len() as u32, height: 1, pixels: pixels.to_vec() });
        let expected = of(&[0, 255, 7, 7]).unwrap();
        let counts: Vec<f64> = expected.expected().iter().map(|expected| expected.value).collect();
        assert_eq!((counts.len(), counts[0], counts[7], counts[255], counts.iter().sum::<f64>()), (256, 1.0, 2.0, 1.0, 4.0));
        for pixel in [-1, 256] {
            assert!(of(&[1, pixel]).unwrap_err().to_string().contains("below 256"));
        }
    }
}
