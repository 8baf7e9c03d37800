//! The images whose window sums can be computed.

use std::str::FromStr;

use oracles::random::{clouds, generator};

use crate::border::sides;
use crate::error::{NoSuchSize, Result};
use crate::problem::Footprint;

/// Bound that every sum of squares is below.
pub const SUMS_BELOW: u64 = 1 << 32;

/// Pixels of the largest image: 31 bits must be enough to count twice that many outputs.
pub const MOST_IMAGE_PIXELS: u64 = 1 << 29;

/// Most rows of an image, and blocks in a grid's second dimension.
pub const MOST_ROWS: u32 = 65_535;

/// The size at which results are compared. The original text names a window of 15 and no size.
pub const HEADLINE_SIZE: Size = Size { width: 8192, height: 8192 };

/// Pixels of the window, if nothing else is asked for: that of the original text.
pub const DEFAULT_WINDOW: u32 = 15;

/// Size that shows every effect and is quick to simulate. All rows of the chapter take seconds on two cores.
pub const TEACHING_SIZE: Size = Size { width: 1024, height: 24 };

/// The pixels of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels per row, at least one.
    pub width: u32,
    /// Rows, at least one.
    pub height: u32,
    /// `width * height` pixels, row by row.
    pub pixels: Vec<i32>,
}

impl Image {
    /// Returns about so many of its rows, at least one.
    pub(crate) fn part(&self, rows: u64) -> Self {
        let height = self.height.min(u32::try_from(rows).unwrap_or(u32::MAX).max(1));
        Self { width: self.width, height, pixels: self.pixels[..height as usize * self.width as usize].to_vec() }
    }
}

/// Width and height of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl FromStr for Size {
    type Err = NoSuchSize;

    fn from_str(text: &str) -> Result<Self> {
        if text == "seed" {
            return Ok(HEADLINE_SIZE);
        }
        let (width, height) =
            sides(text, "expected width and height as in 640x480, or `seed`").map_err(|reason| NoSuchSize::text(text, reason))?;
        let size = Size { width, height };
        size.check(1)?;
        Ok(size)
    }
}

impl Size {
    /// Refuses what cannot be computed.
    pub fn check(self, window: u32) -> Result<()> {
        let Self { width, height } = self;
        let wrong = |reason: String| Err(NoSuchSize::new(format!("a window of {window} on an image of {width}x{height}"), reason));
        if width == 0 || height == 0 {
            return wrong("every side has at least one pixel".to_owned());
        }
        if window.is_multiple_of(2) {
            return wrong("a window has a pixel in its middle, so its width must be odd".to_owned());
        }
        if window > width {
            return wrong("the window is wider than the image".to_owned());
        }
        if height > MOST_ROWS || u64::from(width) * u64::from(height) > MOST_IMAGE_PIXELS {
            return wrong(format!("an image has {MOST_ROWS} rows at most, and {MOST_IMAGE_PIXELS} pixels in all"));
        }
        Ok(())
    }

    /// Returns the memory that an image of this size takes.
    pub fn footprint(self) -> Footprint {
        let pixels = u64::from(self.width) * u64::from(self.height);
        // A pixel and its two sums. On the host a copy of all that, and for each sum the oracle's two f64.
        let device_bytes = 12 * pixels;
        Footprint { device_bytes, host_bytes: device_bytes + 32 * pixels }
    }

    /// Generates gray levels of 8 bits.
    pub fn generate(self, seed: u64) -> Image {
        let Self { width, height } = self;
        let levels = clouds(width, height, &mut generator(seed));
        Image { width, height, pixels: levels.into_iter().map(i32::from).collect() }
    }
}
