//! A template and the image to find it in, and the exact sums over every window.

use std::fmt;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::scene;
use super::size::{MOST_TEMPLATE_PIXELS, Size};
use crate::error::Result;
use crate::picture::{Gray, Rectangle};
use crate::progress;
use crate::verify::{Expected, Oracle};
use crate::workload::Workload;
use crate::workload::image::{Border, clamped};
use crate::workload::rounding::UNIT_ROUNDOFF;

/// Roundings to f32 between the exact sums and a coefficient, rounded up.
pub const ROUNDINGS: f64 = 8.0;

/// What [`Buffers::sums`](super::Buffers::sums) holds where no stage has written. No sum of pixels is as large, because the largest accepted
/// template sums to less.
pub const NO_SUM: u32 = u32::MAX;

const _: () = assert!(MOST_TEMPLATE_PIXELS * 255 * 255 < NO_SUM as u64);

/// A template to be found in an image.
pub struct Correlation {
    pub(super) image: Gray,
    pub(super) template: Gray,
    pub(super) border: Border,
    pub(super) origin: Origin,
    pub(super) sums: OnceLock<Vec<Sums>>,
    pub(super) oracle: OnceLock<Oracle>,
}

/// Where the pictures came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Seed(u64),
    Files,
    Given,
}

/// The sums over one window of the image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// ΣI
    pub image: u32,
    /// ΣI²
    pub squares: u32,
    /// ΣIT
    pub products: u32,
}

impl Correlation {
    /// A generated image in which the template is hidden, the same for the same seed on every machine: once unchanged and, where it fits,
    /// brighter and with less contrast.
    pub fn random(size: Size, border: Border, seed: u64) -> Self {
        let (image, template) = scene::generate(size, seed);
        Self { image, template, border, origin: Origin::Seed(seed), sums: OnceLock::new(), oracle: OnceLock::new() }
    }

    /// A template to be found in an image.
    ///
    /// # Errors
    ///
    /// [`Error::Size`](crate::Error::Size), when the template is larger than the image, or one of them is too large for the kernels' integers.
    pub fn new(image: Gray, template: Gray, border: Border) -> Result<Self> {
        Size { image: (image.width, image.height), template: (template.width, template.height) }.check()?;
        Ok(Self { image, template, border, origin: Origin::Given, sums: OnceLock::new(), oracle: OnceLock::new() })
    }

    /// The image.
    pub fn image(&self) -> &Gray {
        &self.image
    }

    /// The template.
    pub fn template(&self) -> &Gray {
        &self.template
    }

    /// Pixels of the template.
    pub fn template_pixels(&self) -> u32 {
        self.template.width * self.template.height
    }

    /// Σ T and Σ T² over the template.
    pub fn template_sums(&self) -> (u32, u32) {
        let squares = self.template.pixels.iter().map(|&pixel| u32::from(pixel).pow(2)).sum();
        (self.template.pixels.iter().map(|&pixel| u32::from(pixel)).sum(), squares)
    }

    /// Columns and rows of the output.
    pub fn outputs(&self) -> (u32, u32) {
        match self.border {
            Border::Valid => (self.image.width - self.template.width + 1, self.image.height - self.template.height + 1),
            Border::Clamp => (self.image.width, self.image.height),
        }
    }

    /// Column and row of the image under the template's upper left corner at output (0, 0): zero, or negative with [`Border::Clamp`].
    pub fn corner(&self) -> (i32, i32) {
        match self.border {
            Border::Valid => (0, 0),
            Border::Clamp => (-(self.template.width as i32 / 2), -(self.template.height as i32 / 2)),
        }
    }

    /// The part of the image under the template at an output, as far as it lies on the image.
    pub fn window(&self, x: u32, y: u32) -> Rectangle {
        let span = |at: u32, corner: i32, length: u32, size: u32| {
            let start = i64::from(at) + i64::from(corner);
            let end = (start + i64::from(length)).min(i64::from(size));
            let start = start.max(0);
            (start as u32, (end - start) as u32)
        };
        let (corner_x, corner_y) = self.corner();
        let (x, width) = span(x, corner_x, self.template.width, self.image.width);
        let (y, height) = span(y, corner_y, self.template.height, self.image.height);
        Rectangle { x, y, width, height }
    }

    /// The exact sums of every output, row by row. Computed at the first call.
    pub fn sums(&self) -> &[Sums] {
        self.sums.get_or_init(|| self.count())
    }

    // ANCHOR: oracle
    /// The sums as the formula has them, one row of outputs after the other.
    fn count(&self) -> Vec<Sums> {
        let (columns, rows) = self.outputs();
        let (corner_x, corner_y) = self.corner();
        let mut sums = vec![Sums::default(); columns as usize * rows as usize];
        let bar = progress::bar("oracle", u64::from(rows));
        sums.par_chunks_mut(columns as usize).enumerate().for_each(|(y, sums)| {
            for (j, template) in self.template.pixels.chunks(self.template.width as usize).enumerate() {
                let row = clamped(y as i64 + i64::from(corner_y) + j as i64, self.image.height);
                // The image's row as far as the outputs use it, so that the loop below needs no tests for edges.
                let length = columns + self.template.width - 1;
                let seen = (0..i64::from(length)).map(|x| clamped(x + i64::from(corner_x), self.image.width));
                let seen: Vec<u32> = seen.map(|x| u32::from(self.image.row(row)[x as usize])).collect();
                for (i, &weight) in template.iter().enumerate() {
                    for (sums, &pixel) in sums.iter_mut().zip(&seen[i..]) {
                        sums.image += pixel;
                        sums.squares += pixel * pixel;
                        sums.products += pixel * u32::from(weight);
                    }
                }
            }
            bar.inc(1);
        });
        sums
    }

    /// The coefficient of a window, in f64 from exact integers; `template` has the sums of the template and of its squares.
    fn coefficient(&self, window: Sums, template: (u32, u32)) -> f64 {
        let n = i64::from(self.template_pixels());
        let (template, template_squares) = (i64::from(template.0), i64::from(template.1));
        let Sums { image, squares, products } = window;
        let (image, squares, products) = (i64::from(image), i64::from(squares), i64::from(products));
        let of_image = n * squares - image * image;
        let of_template = n * template_squares - template * template;
        if of_image == 0 || of_template == 0 {
            return 0.0;
        }
        (n * products - image * template) as f64 / ((of_image as f64).sqrt() * (of_template as f64).sqrt())
    }

    /// The coefficient of a window with its tolerance.
    pub(super) fn expect(&self, window: Sums, template: (u32, u32)) -> Expected {
        let value = self.coefficient(window, template);
        Expected { value, tolerance: ROUNDINGS * UNIT_ROUNDOFF * value.abs() }
    }
    // ANCHOR_END: oracle
}

impl fmt::Debug for Correlation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}", self.describe(), self.border)
    }
}
