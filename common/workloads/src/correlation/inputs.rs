//! A template and the image to find it in.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use oracles::Oracle;
use oracles::correlation::{Pixels, Search, Sums};

use super::scene;
use super::size::{MOST_TEMPLATE_PIXELS, Size};
use crate::border::{Border, named};
use crate::error::Result;
use crate::gray::{Gray, Rectangle};
use crate::origin::Origin;
use crate::problem::Problem;

/// The content of the memory for sums where no stage has written. No sum of pixels is as large, because the largest accepted
/// template sums to less.
pub const NO_SUM: u32 = u32::MAX;

const _: () = assert!(MOST_TEMPLATE_PIXELS * 255 * 255 < NO_SUM as u64);

/// A generated picture without any contrast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Flat {
    /// The one that is searched.
    Image,
    /// The one that is searched for.
    Template,
}

impl FromStr for Flat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        named(text, [("image", Flat::Image), ("template", Flat::Template)])
    }
}

/// A template to be found in an image.
pub struct Correlation {
    pub(super) image: Gray,
    pub(super) template: Gray,
    pub(super) border: Border,
    pub(super) origin: Origin,
    pub(super) sums: OnceLock<Vec<Sums>>,
    pub(super) oracle: OnceLock<Oracle>,
}

impl Correlation {
    /// Generates an image in which the template is hidden, the same for the same seed on every machine: once unchanged and,
    /// where it fits, brighter and with less contrast.
    pub fn random(size: Size, border: Border, seed: u64) -> Self {
        let (image, template) = scene::generate(size, seed);
        Self { image, template, border, origin: Origin::Seed(seed), sums: OnceLock::new(), oracle: OnceLock::new() }
    }

    /// Makes one of the pictures, if any, a single gray.
    pub fn flattened(mut self, flat: Option<Flat>) -> Self {
        match flat {
            Some(Flat::Image) => self.image.pixels.fill(128),
            Some(Flat::Template) => self.template.pixels.fill(128),
            None => {}
        }
        self
    }

    /// Replaces the origin of the data.
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Takes a template to be found in an image.
    /// Fails when the template is larger than the image, or one of them is too large for the kernels' integers.
    pub fn new(image: Gray, template: Gray, border: Border) -> Result<Self> {
        Size { image: (image.width, image.height), template: (template.width, template.height) }.check()?;
        Ok(Self { image, template, border, origin: Origin::Given, sums: OnceLock::new(), oracle: OnceLock::new() })
    }

    /// Returns the image.
    pub fn image(&self) -> &Gray {
        &self.image
    }

    /// Returns the template.
    pub fn template(&self) -> &Gray {
        &self.template
    }

    /// Returns the pixels of the template.
    pub fn template_pixels(&self) -> u32 {
        self.template.width * self.template.height
    }

    /// Returns Σ T and Σ T² over the template.
    pub fn template_sums(&self) -> (u32, u32) {
        self.search().template_sums()
    }

    /// Returns the columns and rows of the output.
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

    /// Returns the part of the image under the template at an output, without what is outside the image.
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

    /// Returns the exact sums of every output, row by row. Computed at the first call.
    pub fn sums(&self) -> &[Sums] {
        self.sums.get_or_init(|| self.search().sums())
    }

    /// Returns the inputs of the oracle.
    pub(super) fn search(&self) -> Search<'_> {
        Search { image: pixels(&self.image), template: pixels(&self.template), corner: self.corner(), outputs: self.outputs() }
    }
}

fn pixels(gray: &Gray) -> Pixels<'_> {
    Pixels { width: gray.width, height: gray.height, levels: &gray.pixels }
}

impl fmt::Debug for Correlation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?}", self.describe(), self.border)
    }
}
