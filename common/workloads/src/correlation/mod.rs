//! Normalized cross-correlation: how well a small picture, the template, matches each position in a larger one.
//!
//! With `I` the image's pixels under the template, `T` the template's, and `n` pixels in the template:
//!
//! ```text
//! coefficient = (n ΣIT - ΣI ΣT) / sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²))
//! ```
//!
//! It is 1 where the image is the template, however much brighter or of whatever contrast, and -1 where it is the template's negative.
//! **Where the window or the template has no variance the quotient is 0/0; the coefficient is then defined as 0.**
//!
//! # Where the template may lie
//!
//! [`Border::Valid`]: only where all of it lies on the image: `(W - w + 1) x (H - h + 1)` outputs, and output `(x, y)` is that of
//! the template's upper left corner at `(x, y)`. [`Border::Clamp`]: one output per pixel of the image, with the template's middle,
//! pixel `(w / 2, h / 2)`, at `(x, y)`; beyond its edges the image goes on with the pixels of the edge.
//!
//! # How wide must the integers be?
//!
//! A pixel is at most 255, so each of the sums is at most `n * 255²`. That fits 32 bits without sign up to 66 051 pixels; the largest
//! template that is accepted has [`MOST_TEMPLATE_PIXELS`], which is what a GPU's constant memory holds. `n ΣIT` and `ΣI ΣT` are then
//! below `2^48`: they, and their difference, need 64 bits, and so do the two variances.
//!
//! # How far from the oracle may a result lie?
//!
//! The sums are integers and must be exact, so that the numerator and the variances are. Then each is rounded once to f32, the two variances
//! are multiplied, and the numerator is multiplied by the reciprocal root. With `u = 2^-24`, and to first order, that is an error relative to
//! the coefficient of `u` (numerator) `+ u / 2 + u / 2` (half of each variance's, under the root) `+ u / 2` (product) `+ 4 u` (reciprocal
//! root, of which CUDA promises two units in the last place) `+ u` (last product), so `7.5 u`. The tolerance is
//! [`ROUNDINGS`](oracles::correlation::ROUNDINGS)` * u * |coefficient|`. A root and a division, each rounded correctly, stay below it as well.

mod matches;
mod scene;
mod size;

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use oracles::correlation::{Pixels, Search, Sums};
use oracles::random::generator;
use oracles::{MOST_PRODUCTS_OF_A_WHOLE_ORACLE, Oracle};
use serde_json::{Map, Value, json};

use crate::border::{Border, named};
use crate::case::Case;
use crate::error::Result;
use crate::gray::{Gray, Rectangle};
use crate::origin::Origin;
use crate::problem::{Arithmetic, Footprint, Problem, Work};
use crate::values::Values;

pub use matches::{Match, best_matches};
pub use size::{HEADLINE_SIZE, LONGEST_SIDE, MOST_IMAGE_PIXELS, MOST_TEMPLATE_PIXELS, Size, TEACHING_SIZE};

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
    image: Gray,
    template: Gray,
    border: Border,
    values: Values,
    origin: Origin,
    sums: OnceLock<Vec<Sums>>,
    oracle: OnceLock<Oracle>,
}

impl Correlation {
    /// Generates an image that hides the template. It is the same for a seed on every machine. The template is there once unchanged
    /// and, where it fits, brighter and with less contrast.
    pub fn random(size: Size, border: Border, seed: u64) -> Self {
        let (image, template) = scene::generate(size, seed);
        Self::of(image, template, border, Origin::Seed(seed))
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
        Ok(Self::of(image, template, border, Origin::Given))
    }

    fn of(image: Gray, template: Gray, border: Border, origin: Origin) -> Self {
        let (sums, oracle) = (OnceLock::new(), OnceLock::new());
        Self { image, template, border, values: Values::Usual, origin, sums, oracle }
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

    /// Returns Σ T and n ΣT² - (ΣT)² over the template.
    pub fn template_sum_and_variance(&self) -> (i64, i64) {
        let (sum, squares) = self.search().template_sums();
        let (sum, squares) = (i64::from(sum), i64::from(squares));
        (sum, i64::from(self.template_pixels()) * squares - sum * sum)
    }

    /// Returns the columns and rows of the output.
    pub fn outputs(&self) -> (u32, u32) {
        match self.border {
            Border::Valid => (self.image.width - self.template.width + 1, self.image.height - self.template.height + 1),
            Border::Clamp => (self.image.width, self.image.height),
        }
    }

    /// Returns the (column, row) under the template's upper left corner at output (0, 0): zero, or negative with [`Border::Clamp`].
    pub fn corner(&self) -> (i32, i32) {
        match self.border {
            Border::Valid => (0, 0),
            Border::Clamp => (-(self.template.width as i32 / 2), -(self.template.height as i32 / 2)),
        }
    }

    /// Returns the part of an output's window that is inside the image.
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
    fn search(&self) -> Search<'_> {
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

impl Problem for Correlation {
    const NAME: &'static str = "correlation";
    const ARITHMETIC: Arithmetic = Arithmetic::Bytes;

    fn of_case(case: &str, seed: u64) -> Result<Self, String> {
        let mut case = Case::new(case)?;
        let size = case.size()?;
        let (border, flat) = (case.take("--border")?.unwrap_or_default(), case.take("--flat")?);
        let values: Values = case.take("--values")?.unwrap_or_default();
        case.finish()?;
        let mut problem = Self { values, ..Self::random(size, border, seed).flattened(flat) };
        let generator = &mut generator(seed);
        for picture in [&mut problem.image, &mut problem.template] {
            values.level(generator, &mut picture.pixels);
        }
        Ok(problem)
    }

    fn describe(&self) -> String {
        let (image, template) = (&self.image, &self.template);
        let flat = |picture: &Gray| if picture.is_flat() { " of one gray" } else { "" };
        let sizes = format!(
            "{}x{} pixels{}, template {}x{}{}{}",
            image.width,
            image.height,
            flat(image),
            template.width,
            template.height,
            flat(template),
            self.values.words()
        );
        self.origin.describe(sizes)
    }

    fn sizes(&self) -> Map<String, Value> {
        self.origin.record([
            ("image_width", json!(self.image.width)),
            ("image_height", json!(self.image.height)),
            ("template_width", json!(self.template.width)),
            ("template_height", json!(self.template.height)),
            ("border", json!(self.border)),
        ])
    }

    fn work(&self) -> Work {
        let outputs = self.output_len() as u64;
        let pixels = self.image.pixels.len() + self.template.pixels.len();
        Work {
            multiply_adds: outputs * u64::from(self.template_pixels()),
            bytes: pixels as u64 + 4 * outputs,
            arithmetic: Self::ARITHMETIC,
        }
    }

    fn part(&self, multiply_adds: u64) -> Option<Self> {
        let corner = |gray: &Gray, width: u32, height: u32| {
            let (width, height) = (gray.width.min(width), gray.height.min(height));
            let rows = gray.pixels.chunks(gray.width as usize).take(height as usize);
            let pixels = rows.flat_map(|row| &row[..width as usize]).copied().collect();
            Gray { name: gray.name.clone(), width, height, pixels }
        };
        let template = corner(&self.template, 64, 64);
        let outputs = multiply_adds / u64::from(template.width * template.height);
        let (columns, rows) = (self.image.width - template.width + 1, self.image.height - template.height + 1);
        let side = |outputs: u64, most: u32| most.min(u32::try_from(outputs).unwrap_or(u32::MAX).max(1));
        // About square, as far as the image is.
        let some_rows = side(outputs.isqrt().max(outputs / u64::from(columns)), rows);
        let some_columns = side(outputs / u64::from(some_rows), columns);
        let image = corner(&self.image, some_columns + template.width - 1, some_rows + template.height - 1);
        Self::new(image, template, self.border).ok()
    }

    fn footprint(&self) -> Footprint {
        Size { image: (self.image.width, self.image.height), template: (self.template.width, self.template.height) }.footprint()
    }

    fn inputs(&self) -> Vec<(&'static str, &[u8])> {
        vec![("image", &self.image.pixels), ("template", &self.template.pixels)]
    }

    fn outputs(&self) -> &'static [&'static str] {
        &["output"]
    }

    fn output_len(&self) -> usize {
        let (columns, rows) = self.outputs();
        columns as usize * rows as usize
    }

    fn launch_sizes(&self) -> Vec<(&'static str, u32)> {
        let (columns, rows) = self.outputs();
        vec![
            ("image_width", self.image.width),
            ("image_height", self.image.height),
            ("template_width", self.template.width),
            ("template_height", self.template.height),
            ("columns", columns),
            ("rows", rows),
        ]
    }

    fn row_len(&self) -> Option<usize> {
        Some(self.outputs().0 as usize)
    }

    fn oracle(&self) -> &Oracle {
        self.oracle.get_or_init(|| {
            if self.work().multiply_adds <= MOST_PRODUCTS_OF_A_WHOLE_ORACLE {
                Oracle::Whole(self.search().whole(self.sums()))
            } else {
                Oracle::Sampled(self.search().sampled())
            }
        })
    }

    fn sums(&self) -> Vec<(&'static str, i64)> {
        let (sum, variance) = self.template_sum_and_variance();
        vec![("template_sum", sum), ("template_variance", variance)]
    }
}

#[cfg(test)]
mod tests {
    use oracles::correlation::Sums;

    use super::*;
    use crate::border::Border;
    use crate::gray::Gray;
    use crate::gray::Rectangle;

    fn gray(width: u32, pixels: &[u8]) -> Gray {
        Gray { name: "test".into(), width, height: pixels.len() as u32 / width, pixels: pixels.to_vec() }
    }

    #[test]
    fn sums_and_coefficients_agree_with_values_worked_out_by_hand() {
        let image = gray(3, &[1, 2, 3, 4, 0, 5]);
        let correlation = Correlation::new(image, gray(2, &[1, 3, 2, 0]), Border::Valid).unwrap();
        assert_eq!(correlation.outputs(), (2, 1));
        assert_eq!(correlation.template_sum_and_variance(), (6, 4 * 14 - 6 * 6));
        let left = Sums { image: 7, squares: 21, products: 1 + 6 + 8 };
        let right = Sums { image: 10, squares: 38, products: 2 + 9 };
        assert_eq!(correlation.sums(), [left, right]);
        // (4*15 - 7*6) / sqrt((4*21 - 49) (4*14 - 36)) and (4*11 - 10*6) / sqrt((4*38 - 100) * 20)
        let values = [18.0 / (35.0_f64 * 20.0).sqrt(), -16.0 / (52.0_f64 * 20.0).sqrt()];
        for (expected, value) in correlation.expected().iter().zip(values) {
            assert!((expected.value - value).abs() < 1e-15, "{} {value}", expected.value);
        }
    }

    #[test]
    fn beyond_the_edges_the_image_goes_on_with_its_edge() {
        let correlation = Correlation::new(gray(3, &[10, 20, 40]), gray(3, &[1, 100, 255]), Border::Clamp).unwrap();
        assert_eq!((correlation.outputs(), correlation.corner()), ((3, 1), (-1, 0)));
        let products = |pixels: [u32; 3]| pixels[0] + 100 * pixels[1] + 255 * pixels[2];
        let expected = [products([10, 10, 20]), products([10, 20, 40]), products([20, 40, 40])];
        assert_eq!(correlation.sums().iter().map(|sums| sums.products).collect::<Vec<_>>(), expected);
        assert_eq!(correlation.window(0, 0), Rectangle { x: 0, y: 0, width: 2, height: 1 });
        assert_eq!(correlation.window(2, 0), Rectangle { x: 1, y: 0, width: 2, height: 1 });
    }

    #[test]
    fn the_coefficient_ignores_brightness_and_contrast_and_knows_the_negative() {
        let template = [10, 90, 40, 70, 20, 60];
        for (image, coefficient) in
            [(template, 1.0), (template.map(|pixel| pixel / 10 * 3 + 100), 1.0), (template.map(|pixel| 255 - pixel), -1.0)]
        {
            let correlation = Correlation::new(gray(3, &image), gray(3, &template), Border::Valid).unwrap();
            assert!((correlation.expected()[0].value - coefficient).abs() < 1e-12, "{image:?}");
        }
    }

    #[test]
    fn without_variance_the_coefficient_is_zero() {
        for (image, template) in [([7, 7, 7, 7], [1, 2]), ([1, 2, 3, 4], [9, 9])] {
            let correlation = Correlation::new(gray(4, &image), gray(2, &template), Border::Clamp).unwrap();
            assert!(correlation.expected().iter().all(|expected| expected.value == 0.0 && expected.tolerance == 0.0));
        }
    }

    #[test]
    fn the_largest_template_fits_the_integers_and_a_larger_one_is_refused() {
        // The side of the largest square, all white: the sums come as near to 2^32 as they can.
        let side = MOST_TEMPLATE_PIXELS.isqrt() as u32;
        let white = gray(side, &vec![255; (side * side) as usize]);
        let correlation = Correlation::new(white.clone(), white.clone(), Border::Valid).unwrap();
        let most = u64::from(side) * u64::from(side) * 255 * 255;
        assert_eq!(u64::from(correlation.sums()[0].squares), most);
        assert_eq!(correlation.expected()[0].value, 0.0);
        let wide = gray(side + 1, &vec![255; ((side + 1) * (side + 1)) as usize]);
        let error = Correlation::new(wide.clone(), wide, Border::Valid).unwrap_err().to_string();
        assert!(error.contains(&MOST_TEMPLATE_PIXELS.to_string()), "{error}");
    }

    #[test]
    fn a_template_larger_than_its_image_is_refused() {
        for template in [gray(4, &[0; 4]), gray(1, &[0; 2])] {
            let error = Correlation::new(gray(3, &[0; 3]), template, Border::Clamp).unwrap_err().to_string();
            assert!(error.contains("larger than the image") && error.lines().count() == 1, "{error}");
        }
    }
}
