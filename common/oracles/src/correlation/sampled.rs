//! The oracle of a large correlation: a sample, and sums that cover all outputs.
//!
//! A coefficient is not linear in the image, but multiplied by `D = sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²))` it is `n ΣIT - ΣI ΣT`. The sums
//! ΣI and ΣI² of every window are cheap: from one window to the next, one column of pixels leaves and one enters. ΣIT is not, so
//! [`Sampled`] compares its sums over runs: with `w[i] = sum over x of z^x I(x + i)` for each row of the image,
//! `sum over x of z^x ΣIT = sum over the template of T(i) w[i]`, which takes the work of one output for each run of 64.
//!
//! Pixels are counted from the middle gray level here, which changes neither `n ΣIT - ΣI ΣT` nor `D`, and leaves smaller numbers to cancel.

use super::{ROUNDINGS, Search, Sums};
use crate::parallel;
use crate::progress;
use crate::rounding::UNIT_ROUNDOFF;
use crate::sampled::{Complex, POINTS, RUN, RunSum, Sampled, Weights, indices_of_sample, runs};

/// Gray level that is subtracted from all pixels.
const MIDDLE: i64 = 128;

impl Search<'_> {
    /// Computes expected values for a sample, and expected sums for all outputs.
    pub fn sampled(&self) -> Sampled {
        let (columns, rows) = self.outputs;
        let (columns, outputs) = (columns as usize, columns as usize * rows as usize);
        let template_sums = self.template_sums();
        let one = |index: usize| {
            let sums = self.sums_at((index % columns) as u32, (index / columns) as u32);
            (index, self.expect(sums, template_sums))
        };
        let indices = indices_of_sample(outputs);
        let sample = parallel::map(indices.len(), |at| one(indices[at]));

        let n = i64::from(self.template_pixels());
        let centered = |pixel: u8| i64::from(pixel) - MIDDLE;
        let template: Vec<f64> = self.template.levels.iter().map(|&pixel| centered(pixel) as f64).collect();
        let variance = |sum: i64, squares: i64| (n * squares - sum * sum) as f64;
        let (of_template, template_squares) = (template_sums.0.into(), template_sums.1.into());
        let template_deviation = variance(of_template, template_squares).sqrt();
        let template_sum = of_template - MIDDLE * n;
        let template_magnitudes: f64 = template.iter().map(|pixel| pixel.abs()).sum();

        // ΣI of each window, and D.
        let windows = parallel::map(rows as usize, |y| self.window_sums(y as u32)).concat();
        let windows: Vec<(i64, f64)> = windows
            .into_iter()
            .map(|(sum, squares)| (sum - MIDDLE * n, variance(sum, squares).sqrt() * template_deviation))
            .collect();

        let weights = Weights::new();
        let bar = progress::bar("oracle", outputs as u64);
        let of_first_row: Vec<_> = runs(columns, columns).collect();
        let sums = parallel::map(of_first_row.len(), |at| {
            let run = &of_first_row[at];
            let products = self.products(&template, run.clone(), &weights);
            let sum = |(y, mut values): (usize, [Complex; POINTS])| {
                let indices = y * columns + run.start..y * columns + run.end;
                let sums = weights.sums(indices.clone().map(|index| (windows[index].0 * template_sum) as f64));
                for (value, sum) in values.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                    *value = n as f64 * *value - sum;
                }
                // No coefficient is above 1. The rounding error of f64 for this many terms, each of at most this size, is added.
                let rounded: f64 = indices.clone().map(|index| ROUNDINGS * UNIT_ROUNDOFF * windows[index].1).sum();
                let terms = (template.len() * RUN) as f64;
                let magnitudes = MIDDLE as f64 * template_magnitudes * n as f64 * run.len() as f64;
                bar.inc(run.len());
                (indices.start, RunSum { values, tolerance: rounded + terms * f64::EPSILON * magnitudes })
            };
            products.into_iter().enumerate().map(sum).collect::<Vec<_>>()
        });
        let mut sums = sums.concat();
        sums.sort_unstable_by_key(|(start, _)| *start);

        // Where D is 0, so is the coefficient, and any other scale shows an error; the largest shows it best.
        let largest = windows.iter().map(|(_, scale)| *scale).fold(0.0, f64::max);
        let scale = |scale: f64| if scale > 0.0 { scale } else { largest.max(1.0) };
        let scales = windows.into_iter().map(|(_, d)| scale(d)).collect();
        Sampled { outputs, columns, sample, scales: Some(scales), sums: sums.into_iter().map(|(_, sum)| sum).collect() }
    }

    /// Returns `Σ z^x ΣIT` of a column run for every output row.
    fn products(&self, template: &[f64], run: std::ops::Range<usize>, weights: &Weights) -> Vec<[Complex; POINTS]> {
        let (width, height) = (self.template.width as usize, self.template.height as usize);
        let (_, rows) = self.outputs;
        let window = |y: usize| -> Vec<[Complex; POINTS]> {
            let pixels: Vec<f64> =
                self.row(y as i64, run.start, run.len() + width - 1).map(|pixel| (pixel - MIDDLE) as f64).collect();
            (0..width).map(|i| weights.sums(pixels[i..i + run.len()].iter().copied())).collect()
        };
        let windows: Vec<Vec<[Complex; POINTS]>> = (0..rows as usize + height - 1).map(window).collect();
        let product = |y: usize| {
            let mut sums = [0.0; 2 * POINTS];
            for (template, window) in template.chunks(width).zip(&windows[y..]) {
                for (&pixel, window) in template.iter().zip(window) {
                    for (sum, &part) in sums.iter_mut().zip(window.as_flattened()) {
                        *sum += pixel * part;
                    }
                }
            }
            std::array::from_fn(|point| [sums[2 * point], sums[2 * point + 1]])
        };
        (0..rows as usize).map(product).collect()
    }

    /// Returns ΣI and ΣI² of the windows of one row of outputs.
    fn window_sums(&self, y: u32) -> Vec<(i64, i64)> {
        let (columns, _) = self.outputs;
        let (columns, width) = (columns as usize, self.template.width as usize);
        let mut in_column = vec![(0, 0); columns + width - 1];
        for j in 0..self.template.height {
            for (sums, pixel) in in_column.iter_mut().zip(self.row(i64::from(y + j), 0, columns + width - 1)) {
                *sums = (sums.0 + pixel, sums.1 + pixel * pixel);
            }
        }
        let (mut sum, mut squares) = in_column[..width].iter().fold((0, 0), |sums, column| (sums.0 + column.0, sums.1 + column.1));
        let mut windows = vec![(sum, squares)];
        for x in 1..columns {
            let (leaves, enters) = (in_column[x - 1], in_column[x + width - 1]);
            (sum, squares) = (sum + enters.0 - leaves.0, squares + enters.1 - leaves.1);
            windows.push((sum, squares));
        }
        windows
    }

    /// Returns the sums of one output, term by term.
    fn sums_at(&self, x: u32, y: u32) -> Sums {
        let mut sums = Sums::default();
        for (j, template) in self.template.levels.chunks(self.template.width as usize).enumerate() {
            for (pixel, &weight) in self.row(i64::from(y) + j as i64, x as usize, template.len()).zip(template) {
                let pixel = pixel as u32;
                sums.image += pixel;
                sums.squares += pixel * pixel;
                sums.products += pixel * u32::from(weight);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pixels;
    use super::*;
    use crate::check::{Accuracy, Oracle, check};
    use crate::expected::Expected;
    use crate::mismatch::Mismatch;
    use crate::output::Downloaded;
    use crate::random::{clouds, generator};

    /// An image, or a template, with pixels of its own.
    struct Picture {
        width: u32,
        height: u32,
        levels: Vec<u8>,
    }

    impl Picture {
        fn new(width: u32, height: u32, level: impl Fn(u32, u32) -> u8) -> Self {
            let levels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| level(x, y)).collect();
            Self { width, height, levels }
        }

        /// Generates clouds. A part of them may be the template.
        fn clouds(width: u32, height: u32) -> Self {
            Self { width, height, levels: clouds(width, height, &mut generator(13)) }
        }

        fn part(&self, width: u32, height: u32) -> Self {
            Self::new(width, height, |x, y| self.levels[((y + 3) * self.width + x + 5) as usize])
        }

        fn pixels(&self) -> Pixels<'_> {
            Pixels { width: self.width, height: self.height, levels: &self.levels }
        }
    }

    /// Makes a search with windows inside the image, or around each pixel.
    fn search<'a>((image, template): &'a (Picture, Picture), clamp: bool) -> Search<'a> {
        let (image, template) = (image.pixels(), template.pixels());
        if clamp {
            let corner = (-(template.width as i32 / 2), -(template.height as i32 / 2));
            Search { image, template, corner, outputs: (image.width, image.height) }
        } else {
            let outputs = (image.width - template.width + 1, image.height - template.height + 1);
            Search { image, template, corner: (0, 0), outputs }
        }
    }

    fn correct(search: &Search<'_>) -> Vec<f32> {
        search.whole(&search.sums()).iter().map(Expected::nearest).collect()
    }

    fn verdict(values: &[f32], sampled: &Sampled) -> Result<Accuracy, Box<Mismatch>> {
        check(&Downloaded { values: values.to_vec(), breach: None }, &Oracle::Sampled(sampled.clone()), 0.0)
    }

    #[test]
    fn correct_outputs_pass_with_either_border_and_little_contrast() {
        let clouds = Picture::clouds(150, 70);
        let template = clouds.part(17, 9);
        let flat = Picture::new(140, 40, |x, y| 255 - u8::from((x, y) == (70, 20)));
        let steps = Picture::new(9, 11, |x, _| 255 - (x / 8) as u8);
        let black = (Picture::new(100, 30, |_, _| 0), Picture::new(5, 5, |x, y| (x * y) as u8));
        for (case, pictures) in [(clouds, template), (flat, steps), black].iter().enumerate() {
            for clamp in [false, true] {
                let search = search(pictures, clamp);
                let (sampled, whole) = (search.sampled(), search.whole(&search.sums()));
                assert!(sampled.sample.iter().all(|(index, expected)| *expected == whole[*index]));
                let outcome = verdict(&correct(&search), &sampled);
                assert!(outcome.is_ok(), "case {case}, {clamp}: {}", outcome.unwrap_err());
            }
        }
    }

    #[test]
    fn one_wrong_output_anywhere_is_found_without_the_sample() {
        let clouds = Picture::clouds(150, 40);
        let template = clouds.part(17, 9);
        let half = Picture::new(80, 20, |x, _| if x < 40 { 7 } else { (x * x) as u8 });
        let slope = Picture::new(5, 5, |x, y| (9 * x * y) as u8);
        for (pictures, clamp) in [((clouds, template), true), ((half, slope), false)] {
            let search = search(&pictures, clamp);
            let sampled = Sampled { sample: Vec::new(), ..search.sampled() };
            let right = correct(&search);
            assert!(verdict(&right, &sampled).is_ok());
            for index in 0..right.len() {
                // Windows of little contrast count for less in the sums of their runs.
                for wrong in [right[index] + 0.02, right[index] - 0.02, f32::NAN] {
                    let mut values = right.clone();
                    values[index] = wrong;
                    let sums = verdict(&values, &sampled).expect_err("one output is wrong").sampled.expect("the oracle is sampled");
                    assert!(sums.wrong == 1 && sums.first.is_some_and(|run| run.contains(&index)), "{index}, {wrong}");
                }
            }
            let mut transposed = right.clone();
            transposed.swap(3, 70);
            assert!(verdict(&transposed, &sampled).is_err());
        }
    }
}
