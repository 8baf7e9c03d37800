//! The sizes of a correlation, and which of them can be computed.

use std::str::FromStr;

use crate::border::sides;
use crate::error::{NoSuchSize, Result};
use crate::problem::Footprint;

/// Pixels of the largest template: the bytes of constant memory. `n * 255²` fits 32 bits.
pub const MOST_TEMPLATE_PIXELS: u64 = 1 << 16;

/// Pixels of the largest image: 31 bits must be enough to count the three sums of that many outputs.
pub const MOST_IMAGE_PIXELS: u64 = 1 << 29;

/// Pixels of an image's longest side. A grid has 65 535 blocks at most in its second dimension, and a block 8 rows of threads.
pub const LONGEST_SIDE: u32 = 1 << 18;

/// The size at which results are compared. The original text names none.
pub const HEADLINE_SIZE: Size = Size { image: (2048, 2048), template: (52, 52) };

/// Size that shows every effect and is quick to simulate. All rows of the chapter take seconds on two cores.
pub const TEACHING_SIZE: Size = Size { image: (128, 96), template: (21, 19) };

/// Width and height of an image and of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns and rows of the image.
    pub image: (u32, u32),
    /// Columns and rows of the template.
    pub template: (u32, u32),
}

impl FromStr for Size {
    type Err = NoSuchSize;

    fn from_str(text: &str) -> Result<Self> {
        if text == "seed" {
            return Ok(HEADLINE_SIZE);
        }
        let wrong = |reason: String| NoSuchSize::text(text, reason);
        let expected = "expected the image and the template as in 256x256,20x16, or `seed`";
        let (image, template) = text.split_once(',').ok_or_else(|| wrong(expected.to_owned()))?;
        let sides = |text: &str| sides(text, expected).map_err(wrong);
        let size = Size { image: sides(image)?, template: sides(template)? };
        size.check()?;
        Ok(size)
    }
}

impl Size {
    /// Refuses what cannot be computed.
    pub fn check(&self) -> Result<()> {
        let Size { image: (width, height), template: (w, h) } = *self;
        let wrong = |reason: String| Err(NoSuchSize::new(format!("a template of {w}x{h} in an image of {width}x{height}"), reason));
        if [width, height, w, h].contains(&0) {
            return wrong("every side has at least one pixel".to_owned());
        }
        if w > width || h > height {
            return wrong("the template is larger than the image".to_owned());
        }
        let pixels = u64::from(w) * u64::from(h);
        if pixels > MOST_TEMPLATE_PIXELS {
            return wrong(format!("the template has {pixels} pixels, and constant memory holds {MOST_TEMPLATE_PIXELS}"));
        }
        if width.max(height) > LONGEST_SIDE || u64::from(width) * u64::from(height) > MOST_IMAGE_PIXELS {
            return wrong(format!("an image has {LONGEST_SIDE} pixels on a side at most, and {MOST_IMAGE_PIXELS} in all"));
        }
        Ok(())
    }

    /// Returns the memory that a correlation of this size takes at most.
    pub fn footprint(&self) -> Footprint {
        let pixels = |(width, height): (u32, u32)| u64::from(width) * u64::from(height);
        // One output per pixel, each with a coefficient and three sums.
        let device_bytes = pixels(self.image) * (1 + 4 + 12) + pixels(self.template);
        // On the host a copy of all that, the oracle's sums (12 bytes) and its two f64.
        Footprint { device_bytes, host_bytes: device_bytes + pixels(self.image) * (12 + 16) }
    }
}
