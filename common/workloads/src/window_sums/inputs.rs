//! An image and a window, and the exact sums over every window.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use oracles::Oracle;
use oracles::rounding::{EXACT_IN_F32, UNIT_ROUNDOFF};
use oracles::window_sums::largest_magnitude;

use super::size::{Image, SUMS_BELOW, Size};
use crate::border::Border;
use crate::error::{NoSuchSize, Result};
use crate::origin::Origin;
use crate::problem::Problem;

/// An image with a window to slide along its rows.
pub struct WindowSums {
    pub(super) image: Image,
    pub(super) window: u32,
    pub(super) border: Border,
    pub(super) origin: Origin,
    /// The largest magnitude of a pixel.
    pub(super) largest: u32,
    pub(super) oracle: OnceLock<Oracle>,
}

impl WindowSums {
    /// Generates gray levels of 8 bits, the same for the same seed on every machine.
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
        Ok(Self { image, window, border, origin: Origin::Given, largest, oracle: OnceLock::new() })
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

    /// Returns how far off a stage may be that adds in f32, in whatever order, squares that are off by some units in the last
    /// place.
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
