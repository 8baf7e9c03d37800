//! Normalized correlation on a CPU.

use rayon::prelude::*;
use workloads::Correlation;

/// Computes rows on all cores: each output by a loop over the template.
pub fn rows(correlation: &Correlation, output: &mut [f32]) {
    let (image, template) = (correlation.image(), correlation.template());
    let (columns, _) = correlation.outputs();
    let (corner_x, corner_y) = correlation.corner();
    let (template_sum, template_variance) = correlation.template_sum_and_variance();
    let clamped = |position: i64, length: u32| position.clamp(0, i64::from(length) - 1) as usize;
    output.par_chunks_mut(columns as usize).enumerate().for_each(|(y, output)| {
        for (x, output) in output.iter_mut().enumerate() {
            let (mut sum, mut squares, mut products) = (0_i64, 0_i64, 0_i64);
            for (j, wanted) in template.pixels.chunks(template.width as usize).enumerate() {
                let row = image.row(clamped(y as i64 + i64::from(corner_y) + j as i64, image.height) as u32);
                for (i, &wanted) in wanted.iter().enumerate() {
                    let pixel = i64::from(row[clamped(x as i64 + i64::from(corner_x) + i as i64, image.width)]);
                    sum += pixel;
                    squares += pixel * pixel;
                    products += pixel * i64::from(wanted);
                }
            }
            let pixels = i64::from(correlation.template_pixels());
            let of_image = pixels * squares - sum * sum;
            let covariance = pixels * products - sum * template_sum;
            let variances = of_image as f32 * template_variance as f32;
            *output = if variances > 0.0 { covariance as f32 / variances.sqrt() } else { 0.0 };
        }
    });
}
