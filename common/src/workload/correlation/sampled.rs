//! The oracle of a large correlation: a sample, and sums that cover all outputs.
//!
//! A coefficient is not linear in the image, but multiplied by `D = sqrt((n ΣI² - (ΣI)²) (n ΣT² - (ΣT)²))` it is `n ΣIT - ΣI ΣT`. The sums
//! ΣI and ΣI² of every window are cheap: from one window to the next, one column of pixels leaves and one enters. ΣIT is not, so
//! [`Sampled`] compares its sums over runs: with `w[i] = sum over x of z^x I(x + i)` for each row of the image,
//! `sum over x of z^x ΣIT = sum over the template of T(i) w[i]`, which takes the work of one output for each run of 64.
//!
//! Pixels are counted from the middle gray level here, which changes neither `n ΣIT - ΣI ΣT` nor `D`, and leaves smaller numbers to cancel.

use rayon::prelude::*;

use super::inputs::{Correlation, ROUNDINGS, Sums};
use crate::progress;
use crate::verify::{Complex, Expected, POINTS, RUN, RunSum, Sampled, Weights, indices_of_sample, runs};
use crate::workload::Workload;
use crate::workload::image::clamped;
use crate::workload::rounding::UNIT_ROUNDOFF;

/// Subtracted from all pixels.
const MIDDLE: i64 = 128;

/// Expected values for a sample, and expected sums for all outputs.
pub(super) fn oracle(correlation: &Correlation) -> Sampled {
    let (columns, rows) = correlation.outputs();
    let (columns, outputs) = (columns as usize, correlation.output_len());
    let template_sums = correlation.template_sums();
    let one = |index: usize| {
        let sums = correlation.sums_at((index % columns) as u32, (index / columns) as u32);
        (index, correlation.expect(sums, template_sums))
    };
    let sample: Vec<(usize, Expected)> = indices_of_sample(outputs).into_par_iter().map(one).collect();

    let n = i64::from(correlation.template_pixels());
    let centered = |pixel: u8| i64::from(pixel) - MIDDLE;
    let template: Vec<f64> = correlation.template().pixels.iter().map(|&pixel| centered(pixel) as f64).collect();
    let variance = |sum: i64, squares: i64| (n * squares - sum * sum) as f64;
    let (of_template, template_squares) = (template_sums.0.into(), template_sums.1.into());
    let template_deviation = variance(of_template, template_squares).sqrt();
    let template_sum = of_template - MIDDLE * n;
    let template_magnitudes: f64 = template.iter().map(|pixel| pixel.abs()).sum();

    // ΣI of each window, and D.
    let windows: Vec<(i64, i64)> = (0..rows).into_par_iter().flat_map_iter(|y| window_sums(correlation, y)).collect();
    let windows: Vec<(i64, f64)> = windows
        .into_par_iter()
        .map(|(sum, squares)| (sum - MIDDLE * n, variance(sum, squares).sqrt() * template_deviation))
        .collect();

    let weights = Weights::new();
    let bar = progress::bar("oracle", outputs as u64);
    let of_first_row: Vec<_> = runs(columns, columns).collect();
    let of_column = |run: &std::ops::Range<usize>| {
        let products = products(correlation, &template, run.clone(), &weights);
        let sum = |(y, mut values): (usize, [Complex; POINTS])| {
            let indices = y * columns + run.start..y * columns + run.end;
            let sums = weights.sums(indices.clone().map(|index| (windows[index].0 * template_sum) as f64));
            for (value, sum) in values.as_flattened_mut().iter_mut().zip(sums.as_flattened()) {
                *value = n as f64 * *value - sum;
            }
            // No coefficient is above 1. What f64 rounds away of this many terms, each of this size at most, is added.
            let rounded: f64 = indices.clone().map(|index| ROUNDINGS * UNIT_ROUNDOFF * windows[index].1).sum();
            let terms = (template.len() * RUN) as f64;
            let magnitudes = MIDDLE as f64 * template_magnitudes * n as f64 * run.len() as f64;
            bar.inc(run.len());
            (indices.start, RunSum { values, tolerance: rounded + terms * f64::EPSILON * magnitudes })
        };
        products.into_iter().enumerate().map(sum).collect::<Vec<_>>()
    };
    let mut sums: Vec<(usize, RunSum)> = of_first_row.par_iter().flat_map_iter(of_column).collect();
    sums.sort_unstable_by_key(|(start, _)| *start);

    // Where D is 0, so is the coefficient, and any other scale shows an error; the largest shows it best.
    let largest = windows.iter().map(|(_, scale)| *scale).fold(0.0, f64::max);
    let scale = |scale: f64| if scale > 0.0 { scale } else { largest.max(1.0) };
    let scales = windows.into_iter().map(|(_, d)| scale(d)).collect();
    Sampled { outputs, columns, sample, scales: Some(scales), sums: sums.into_iter().map(|(_, sum)| sum).collect() }
}

/// The sums `Σ z^x ΣIT` of one run of columns in every row of outputs.
fn products(correlation: &Correlation, template: &[f64], run: std::ops::Range<usize>, weights: &Weights) -> Vec<[Complex; POINTS]> {
    let (width, height) = (correlation.template().width as usize, correlation.template().height as usize);
    let (_, rows) = correlation.outputs();
    let window = |y: usize| -> Vec<[Complex; POINTS]> {
        let pixels: Vec<f64> =
            row(correlation, y as i64, run.start, run.len() + width - 1).map(|pixel| (pixel - MIDDLE) as f64).collect();
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

/// ΣI and ΣI² of the windows of one row of outputs.
fn window_sums(correlation: &Correlation, y: u32) -> Vec<(i64, i64)> {
    let (columns, _) = correlation.outputs();
    let (columns, width) = (columns as usize, correlation.template().width as usize);
    let mut in_column = vec![(0, 0); columns + width - 1];
    for j in 0..correlation.template().height {
        for (sums, pixel) in in_column.iter_mut().zip(row(correlation, i64::from(y + j), 0, columns + width - 1)) {
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

/// Pixels of a row of the image as the outputs see it, from the first pixel of the window of output column `x` on.
fn row(correlation: &Correlation, y: i64, x: usize, length: usize) -> impl Iterator<Item = i64> {
    let (corner_x, corner_y) = correlation.corner();
    let image = correlation.image();
    let pixels = image.row(clamped(y + i64::from(corner_y), image.height));
    let start = x as i64 + i64::from(corner_x);
    (start..start + length as i64).map(move |x| i64::from(pixels[clamped(x, image.width) as usize]))
}

impl Correlation {
    /// The sums of one output, term by term.
    fn sums_at(&self, x: u32, y: u32) -> Sums {
        let mut sums = Sums::default();
        for (j, template) in self.template().pixels.chunks(self.template().width as usize).enumerate() {
            for (pixel, &weight) in row(self, i64::from(y) + j as i64, x as usize, template.len()).zip(template) {
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
    use super::super::Size;
    use super::*;
    use crate::guard::Downloaded;
    use crate::picture::Gray;
    use crate::verify::{Accuracy, Mismatch, Oracle, check};
    use crate::workload::Border;

    fn correct(correlation: &Correlation) -> Vec<f32> {
        correlation.expected().iter().map(Expected::nearest).collect()
    }

    fn verdict(values: &[f32], sampled: &Sampled) -> Result<Accuracy, Box<Mismatch>> {
        check(&Downloaded { values: values.to_vec(), breach: None }, &Oracle::Sampled(sampled.clone()), 0.0)
    }

    fn gray(width: u32, height: u32, level: impl Fn(u32, u32) -> u8) -> Gray {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).map(|(x, y)| level(x, y)).collect();
        Gray { name: "test".into(), width, height, pixels }
    }

    #[test]
    fn correct_outputs_pass_with_either_border_and_little_contrast() {
        for border in [Border::Valid, Border::Clamp] {
            let scene = Correlation::random(Size { image: (150, 70), template: (17, 9) }, border, 13);
            let flat = Correlation::new(
                gray(140, 40, |x, y| 255 - u8::from((x, y) == (70, 20))),
                gray(9, 11, |x, _| 255 - (x / 8) as u8),
                border,
            );
            let black = Correlation::new(gray(100, 30, |_, _| 0), gray(5, 5, |x, y| (x * y) as u8), border);
            for correlation in [scene, flat.unwrap(), black.unwrap()] {
                let sampled = oracle(&correlation);
                for (index, expected) in &sampled.sample {
                    assert_eq!(*expected, correlation.expected()[*index]);
                }
                let outcome = verdict(&correct(&correlation), &sampled);
                assert!(outcome.is_ok(), "{correlation:?}: {}", outcome.unwrap_err());
            }
        }
    }

    #[test]
    fn one_wrong_output_anywhere_is_found_without_the_sample() {
        let scene = Correlation::random(Size { image: (150, 40), template: (17, 9) }, Border::Clamp, 13);
        let flat = Correlation::new(
            gray(80, 20, |x, _| if x < 40 { 7 } else { (x * x) as u8 }),
            gray(5, 5, |x, y| (9 * x * y) as u8),
            Border::Valid,
        );
        for correlation in [scene, flat.unwrap()] {
            let sampled = Sampled { sample: Vec::new(), ..oracle(&correlation) };
            let right = correct(&correlation);
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
