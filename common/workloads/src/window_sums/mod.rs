//! Window sums: for each pixel of an image, the sum and the sum of squares over a horizontal window around it. Mean and variance of
//! every neighborhood follow from them, and with these a threshold that adapts to the light.
//!
//! With `I` the image's pixels and a window of `w = 2k + 1` pixels:
//!
//! ```text
//! sum(x, y)     = I(x-k, y)  + … + I(x+k, y)
//! squares(x, y) = I(x-k, y)² + … + I(x+k, y)²
//! ```
//!
//! The output are two arrays, one behind the other, both of the image's size: that of pixel `(x, y)` is at `y * width + x`.
//!
//! # What happens near the edge
//!
//! [`Border::Valid`]: only where the whole window lies on the image there are sums. The `k` columns at either edge of the output are not
//! to be touched, which is verified. [`Border::Clamp`]: there are sums for every pixel; beyond its edges a row goes on with the pixel
//! of its edge. Windows wider than the image are refused in both.
//!
//! # How wide must the integers be?
//!
//! With pixels of magnitude `p` at most, a sum of squares is at most `w p²`. Workloads with `w p²` of [`SUMS_BELOW`]` = 2^32` or more are
//! refused, so that a sum of squares fits 32 bits without sign. A sum is at most `w p` in magnitude: for `p` of 2 or more that is half of
//! `w p²`, and for `p = 1` it is `w`, which is no more than a row has pixels; so it fits 31 bits and a sign. Sums on the way to these, of a
//! whole row for example, may be larger and wrap round: integers of 32 bits are numbers modulo 2^32, in which a difference is right
//! when its true value fits. Pixels of 8 bits may have windows of up to 66 051, pixels of 16 bits none but `w = 1`.
//!
//! # How far from the oracle may a result lie?
//!
//! The sums are integers, and one rounding makes f32 of them: not at all up to `2^24`, and by a half unit in the last place beyond, which is
//! `2^-24` of the value at most. A stage that adds in f32 says so by its allowance ([`WindowSums::rounding_of_f32_sums`]).

mod size;

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use bytemuck::cast_slice;
use oracles::random::generator;
use oracles::rounding::{EXACT_IN_F32, UNIT_ROUNDOFF};
use oracles::window_sums::largest_magnitude;
use oracles::{Oracle, window_sums};
use serde_json::{Map, Value, json};

use crate::case::Case;
use crate::error::Result;
use crate::origin::Origin;
use crate::values::Values;
use crate::{Arithmetic, Border, Footprint, NoSuchSize, Problem, Work};

pub use size::{DEFAULT_WINDOW, HEADLINE_SIZE, Image, MOST_IMAGE_PIXELS, MOST_ROWS, SUMS_BELOW, Size, TEACHING_SIZE};

/// An image with a window to slide along its rows.
pub struct WindowSums {
    image: Image,
    window: u32,
    border: Border,
    values: Values,
    origin: Origin,
    /// The largest magnitude of a pixel.
    largest: u32,
    oracle: OnceLock<Oracle>,
}

impl WindowSums {
    /// Generates 8-bit gray levels, the same on every machine for a seed.
    pub fn random(size: Size, window: u32, border: Border, seed: u64) -> Result<Self> {
        size.check(window)?;
        Ok(Self { origin: Origin::Seed(seed), ..Self::new(size.generate(seed), window, border)? })
    }

    /// Takes a window to slide along the rows of an image.
    /// Fails when the window is even or wider than the image, when the image is too large for the kernels, or when the sums might
    /// not fit 32 bits.
    pub fn new(image: Image, window: u32, border: Border) -> Result<Self> {
        Size { width: image.width, height: image.height }.check(window)?;
        let largest = largest_magnitude(&image.pixels);
        let most = u128::from(window) * u128::from(largest).pow(2);
        if most >= u128::from(SUMS_BELOW) {
            let asked = format!("a window of {window} pixels of magnitude {largest}");
            let reason =
                format!("a sum of squares can reach {most}, and the kernels add in 32 bits: it must stay below {SUMS_BELOW}");
            return Err(NoSuchSize::new(asked, reason));
        }
        Ok(Self { image, window, border, values: Values::Usual, origin: Origin::Given, largest, oracle: OnceLock::new() })
    }

    /// Replaces the origin of the data.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Returns the image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Returns the pixels of the window, an odd number.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Returns the columns of the image that have sums.
    pub fn columns(&self) -> Range<u32> {
        match self.border {
            Border::Valid => self.window / 2..self.image.width - self.window / 2,
            Border::Clamp => 0..self.image.width,
        }
    }

    /// Returns the number of pixels that have sums: two outputs each.
    pub fn summed_pixels(&self) -> u64 {
        self.columns().len() as u64 * u64::from(self.image.height)
    }

    /// Returns the error bound of a stage that adds in f32. It may add in any order, and its squares may be off by `units_of_squares` units in
    /// the last place.
    ///
    /// Exact squares are integers, and so are their sums: exact up to 2^24. Otherwise each term `x²` has gone through the rounding of itself,
    /// of which a unit in the last place counts twice, and of `w - 1` additions at most, so that with `n` roundings the error is below
    /// `((1 + u)^n - 1) w p²` (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., 4.2). `exp(n u) - 1` is a little more.
    pub fn rounding_of_f32_sums(&self, units_of_squares: u32) -> f64 {
        let most = f64::from(self.window) * f64::from(self.largest).powi(2);
        if units_of_squares == 0 && most <= EXACT_IN_F32 {
            return 0.0;
        }
        let roundings = self.window + 2 * units_of_squares;
        (f64::from(roundings) * UNIT_ROUNDOFF).exp_m1() * most
    }
}

impl fmt::Debug for WindowSums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = &self.image.pixels[..self.image.pixels.len().min(8)];
        write!(f, "{}, {:?}, pixels {first:?} …", self.describe(), self.border)
    }
}

impl Problem for WindowSums {
    const NAME: &'static str = "window sums";
    const ARITHMETIC: Arithmetic = Arithmetic::Integers;

    fn of_case(case: &str, seed: u64) -> Result<Self, String> {
        let mut case = Case::new(case)?;
        let size: Size = case.size()?;
        let (window, border) = (case.take("--window")?.unwrap_or(DEFAULT_WINDOW), case.take("--border")?.unwrap_or_default());
        let values: Values = case.take("--values")?.unwrap_or_default();
        case.finish()?;
        let mut image = size.generate(seed);
        values.level(&mut generator(seed), &mut image.pixels);
        let problem = Self::new(image, window, border).map_err(|error| error.to_string())?;
        Ok(Self { values, origin: Origin::Seed(seed), ..problem })
    }

    fn describe(&self) -> String {
        let border = if self.border == Border::Clamp { ", border clamp" } else { "" };
        self.origin.describe(format!(
            "{}x{} pixels, window {}{border}{}",
            self.image.width,
            self.image.height,
            self.window,
            self.values.words()
        ))
    }

    fn sizes(&self) -> Map<String, Value> {
        self.origin.record([
            ("image_width", json!(self.image.width)),
            ("image_height", json!(self.image.height)),
            ("window", json!(self.window)),
            ("border", json!(self.border)),
        ])
    }

    fn work(&self) -> Work {
        // From one pixel to the next, one pixel is squared and added; what is subtracted was squared before.
        Work {
            multiply_adds: self.summed_pixels(),
            bytes: 4 * self.image.pixels.len() as u64 + 8 * self.summed_pixels(),
            arithmetic: Self::ARITHMETIC,
        }
    }

    fn part(&self, multiply_adds: u64) -> Option<Self> {
        /// Cost of a pixel in multiply-adds, as kernels add up its window.
        const OF_A_PIXEL: u64 = 64;
        // Whole rows of the picture, with the same window.
        let rows = multiply_adds / OF_A_PIXEL / u64::from(self.image.width);
        Self::new(self.image.part(rows), self.window, self.border).ok()
    }

    fn footprint(&self) -> Footprint {
        Size { width: self.image.width, height: self.image.height }.footprint()
    }

    fn inputs(&self) -> Vec<(&'static str, &[u8])> {
        vec![("image", cast_slice(&self.image.pixels))]
    }

    fn outputs(&self) -> &'static [&'static str] {
        &["sums", "squares"]
    }

    fn output_len(&self) -> usize {
        2 * self.image.pixels.len()
    }

    fn launch_sizes(&self) -> Vec<(&'static str, u32)> {
        let columns = self.columns();
        vec![
            ("width", self.image.width),
            ("height", self.image.height),
            ("window", self.window),
            ("begin", columns.start),
            ("end", columns.end),
        ]
    }

    fn oracle(&self) -> &Oracle {
        self.oracle
            .get_or_init(|| Oracle::Whole(window_sums::whole(&self.image.pixels, self.image.width, self.window, self.columns())))
    }

    fn allowance(&self) -> f64 {
        self.rounding_of_f32_sums(0)
    }

    fn row_len(&self) -> Option<usize> {
        Some(self.image.width as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, pixels: &[i32]) -> Image {
        Image { width, height: pixels.len() as u32 / width, pixels: pixels.to_vec() }
    }

    /// Returns the oracle's values, with `None` for what must stay untouched.
    fn values(sums: &WindowSums) -> Vec<Option<f64>> {
        sums.expected().iter().map(|expected| (!expected.is_untouched()).then_some(expected.value)).collect()
    }

    #[test]
    fn sums_agree_with_values_worked_out_by_hand() {
        let sums = WindowSums::new(image(4, &[1, 2, 3, -4, 0, 5, 0, 10]), 3, Border::Valid).unwrap();
        assert_eq!((sums.columns(), sums.summed_pixels()), (1..3, 4));
        let untouched = None;
        #[rustfmt::skip]
        let expected = [
            untouched, Some(6.0), Some(1.0), untouched, untouched, Some(5.0), Some(15.0), untouched,
            untouched, Some(14.0), Some(29.0), untouched, untouched, Some(25.0), Some(125.0), untouched,
        ];
        assert_eq!(values(&sums), expected);
    }

    #[test]
    fn beyond_the_edges_a_row_goes_on_with_its_edge() {
        let sums = WindowSums::new(image(3, &[10, 20, 40]), 3, Border::Clamp).unwrap();
        assert_eq!(values(&sums), [40.0, 70.0, 100.0, 600.0, 2100.0, 3600.0].map(Some));
        let wide = WindowSums::new(image(5, &[1, 0, 0, 0, 2]), 5, Border::Clamp).unwrap();
        assert_eq!(values(&wide)[..5], [3.0, 2.0, 3.0, 4.0, 6.0].map(Some));
    }

    #[test]
    fn what_is_too_large_to_add_in_32_bits_is_refused_and_what_just_fits_is_exact() {
        // 15 * 16921² = 4294803615 is below 2^32, and with 16922 it is not.
        for (pixel, fits) in [(16_921, true), (-16_921, true), (16_922, false), (i32::MIN, false), (i32::MAX, false)] {
            let sums = WindowSums::new(image(15, &[pixel; 15]), 15, Border::Valid);
            match sums {
                Ok(sums) => {
                    assert!(fits, "{pixel}");
                    assert_eq!(values(&sums)[22], Some(4_294_803_615.0));
                    assert_eq!(values(&sums)[7], Some(15.0 * f64::from(pixel)));
                }
                Err(error) => assert!(!fits && error.to_string().contains("4294967296"), "{pixel}: {error}"),
            }
        }
        assert!(WindowSums::new(image(1, &[65_535]), 1, Border::Valid).is_ok());
    }

    #[test]
    fn up_to_2_to_the_24_nothing_is_rounded() {
        let tolerance = |pixel: i32| {
            let sums = WindowSums::new(image(1, &[pixel]), 1, Border::Valid).unwrap();
            (sums.expected()[1].tolerance, sums.rounding_of_f32_sums(0))
        };
        assert_eq!(tolerance(4096), (0.0, 0.0));
        assert!(WindowSums::new(image(1, &[4096]), 1, Border::Valid).unwrap().rounding_of_f32_sums(1) >= 3.0);
        let (rounded_once, of_f32_sums) = tolerance(4097);
        assert!(rounded_once > 1.0 && rounded_once < 1.01 && of_f32_sums >= rounded_once, "{rounded_once} {of_f32_sums}");
    }

    #[test]
    fn windows_that_cannot_be_are_refused() {
        for (window, words) in [(0, "odd"), (4, "odd"), (5, "wider than the image"), (u32::MAX, "wider than the image")] {
            for border in [Border::Valid, Border::Clamp] {
                let error = WindowSums::new(image(3, &[1, 2, 3]), window, border).unwrap_err().to_string();
                assert!(error.contains(words) && error.lines().count() == 1, "{window}: {error}");
            }
        }
    }

    #[test]
    fn generated_images_repeat_and_differ_between_seeds() {
        let pixels =
            |seed| WindowSums::random(Size { width: 33, height: 20 }, 5, Border::Valid, seed).unwrap().image().pixels.clone();
        assert_eq!(pixels(13), pixels(13));
        assert_ne!(pixels(13), pixels(14));
        assert!(pixels(13).iter().all(|pixel| (0..256).contains(pixel)));
    }
}
