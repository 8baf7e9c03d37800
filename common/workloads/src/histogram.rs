//! Histograms: how often each gray level occurs in an image. Equalizing contrast, finding a threshold, and sorting by radix begin with one.
//!
//! The output has a number for each of the [`LEVELS`]. It is exact up to 2^24 pixels of a level, and rounded once beyond.

use std::fmt;
use std::sync::OnceLock;

use bytemuck::cast_slice;
use oracles::random::generator;
use oracles::{Oracle, histogram};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::error::{NoSuchSize, Result};
use crate::origin::Origin;
use crate::problem::{Arithmetic, Footprint, Problem, Work};
use crate::values::Values;
use crate::window_sums::{Image, Size};

/// Gray levels, and outputs.
pub const LEVELS: usize = 256;

/// An image whose gray levels are counted.
pub struct Histogram {
    image: Image,
    /// The pixels with a byte for each.
    bytes: Vec<u8>,
    values: Values,
    origin: Origin,
    oracle: OnceLock<Oracle>,
}

impl Histogram {
    /// Generates gray levels, the same for the same seed on every machine.
    /// Fails when the image is too large for the kernels.
    pub fn random(size: Size, seed: u64) -> Result<Self> {
        size.check(1)?;
        Ok(Self { origin: Origin::Seed(seed), ..Self::new(size.generate(seed))? })
    }

    /// Takes the gray levels of an image. Fails when the image is too large for the kernels, or when a pixel is no gray level.
    pub fn new(image: Image) -> Result<Self> {
        Size { width: image.width, height: image.height }.check(1)?;
        if let Some(pixel) = image.pixels.iter().find(|pixel| !(0..LEVELS as i32).contains(*pixel)) {
            let reason = format!("a gray level is at least 0 and below {LEVELS}");
            return Err(NoSuchSize::new(format!("a pixel of {pixel}"), reason));
        }
        let bytes = image.pixels.iter().map(|pixel| *pixel as u8).collect();
        Ok(Self { image, bytes, values: Values::Usual, origin: Origin::Given, oracle: OnceLock::new() })
    }

    /// Replaces the origin of the data.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Returns the image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Returns the pixels as bytes, as pictures store them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of pixels of the image.
    pub fn pixels(&self) -> u32 {
        self.image.pixels.len() as u32
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = &self.image.pixels[..self.image.pixels.len().min(8)];
        write!(f, "{}, pixels {first:?} …", self.describe())
    }
}

impl Problem for Histogram {
    const NAME: &'static str = "histogram";
    const ARITHMETIC: Arithmetic = Arithmetic::Integers;

    fn of_case(case: &str, seed: u64) -> Result<Self, String> {
        let (size, values) = Case::new(case)?.size_and_values()?;
        let mut image = Self::random(size, seed).map_err(|error| error.to_string())?.image;
        values.level(&mut generator(seed), &mut image.pixels);
        Ok(Self { values, origin: Origin::Seed(seed), ..Self::new(image).map_err(|error| error.to_string())? })
    }

    fn describe(&self) -> String {
        self.origin.describe(format!("{}x{} pixels{}", self.image.width, self.image.height, self.values.words()))
    }

    fn sizes(&self) -> Map<String, Value> {
        self.origin.record([("image_width", json!(self.image.width)), ("image_height", json!(self.image.height))])
    }

    fn work(&self) -> Work {
        let pixels = u64::from(self.pixels());
        Work { multiply_adds: pixels, bytes: 4 * pixels + 4 * LEVELS as u64, arithmetic: Self::ARITHMETIC }
    }

    fn part(&self, multiply_adds: u64) -> Option<Self> {
        Self::new(self.image.part(multiply_adds / u64::from(self.image.width))).ok()
    }

    fn footprint(&self) -> Footprint {
        Size { width: self.image.width, height: self.image.height }.footprint()
    }

    fn inputs(&self) -> Vec<(&'static str, &[u8])> {
        vec![("image", cast_slice(&self.image.pixels)), ("bytes", &self.bytes)]
    }

    fn outputs(&self) -> &'static [&'static str] {
        &["histogram"]
    }

    fn output_len(&self) -> usize {
        LEVELS
    }

    fn launch_sizes(&self) -> Vec<(&'static str, u32)> {
        vec![("pixels", self.pixels())]
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
