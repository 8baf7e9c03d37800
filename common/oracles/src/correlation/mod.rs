//! The oracle of a normalized cross-correlation: exact integer sums over every window, and the coefficient that follows from them.

mod sampled;

use crate::expected::Expected;
use crate::parallel;
use crate::progress;
use crate::rounding::UNIT_ROUNDOFF;

/// Roundings to f32 between the exact sums and a coefficient, rounded up.
pub const ROUNDINGS: f64 = 8.0;

/// Gray levels, row by row without gaps.
#[derive(Clone, Copy, Debug)]
pub struct Pixels<'a> {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The `width * height` levels.
    pub levels: &'a [u8],
}

/// Returns the nearest position on a side of this length.
fn clamped(position: i64, length: u32) -> usize {
    position.clamp(0, i64::from(length) - 1) as usize
}

/// A template to be found in an image.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The image.
    pub image: Pixels<'a>,
    /// The template.
    pub template: Pixels<'a>,
    /// Column and row of the image under the template's upper left corner at output (0, 0).
    pub corner: (i32, i32),
    /// Columns and rows of the output.
    pub outputs: (u32, u32),
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

impl Search<'_> {
    fn template_pixels(&self) -> u32 {
        self.template.width * self.template.height
    }

    /// Returns Σ T and Σ T² over the template.
    pub fn template_sums(&self) -> (u32, u32) {
        let levels = || self.template.levels.iter().map(|&level| u32::from(level));
        (levels().sum(), levels().map(|level| level.pow(2)).sum())
    }

    /// Returns pixels of an image row, starting with output column `x`'s window. Outside the image, the nearest pixel counts.
    fn row(&self, y: i64, x: usize, length: usize) -> impl Iterator<Item = i64> {
        let Pixels { width, height, levels } = self.image;
        let pixels = &levels[clamped(y + i64::from(self.corner.1), height) * width as usize..][..width as usize];
        let start = x as i64 + i64::from(self.corner.0);
        (start..start + length as i64).map(move |x| i64::from(pixels[clamped(x, width)]))
    }

    /// Computes the sums directly from the formula, row by row of outputs.
    pub fn sums(&self) -> Vec<Sums> {
        let (columns, rows) = self.outputs;
        let bar = progress::bar("oracle", u64::from(rows));
        parallel::map(rows as usize, |y| {
            let mut sums = vec![Sums::default(); columns as usize];
            for (j, template) in self.template.levels.chunks(self.template.width as usize).enumerate() {
                // The image's row as far as the outputs use it, so that the loop below needs no tests for edges.
                let row = self.row((y + j) as i64, 0, columns as usize + template.len() - 1);
                let seen: Vec<u32> = row.map(|pixel| pixel as u32).collect();
                for (i, &weight) in template.iter().enumerate() {
                    for (sums, &pixel) in sums.iter_mut().zip(&seen[i..]) {
                        sums.image += pixel;
                        sums.squares += pixel * pixel;
                        sums.products += pixel * u32::from(weight);
                    }
                }
            }
            bar.inc(1);
            sums
        })
        .concat()
    }

    /// Returns the expected coefficient of every window.
    pub fn whole(&self, sums: &[Sums]) -> Vec<Expected> {
        let template = self.template_sums();
        sums.iter().map(|sums| self.expect(*sums, template)).collect()
    }

    /// Returns the coefficient of a window, in f64 from exact integers; `template` has the sums of the template and of its squares.
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

    /// Returns the coefficient of a window with its tolerance.
    fn expect(&self, window: Sums, template: (u32, u32)) -> Expected {
        let value = self.coefficient(window, template);
        Expected { value, tolerance: ROUNDINGS * UNIT_ROUNDOFF * value.abs() }
    }
}
