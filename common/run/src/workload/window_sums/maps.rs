//! Applies window sums: a picture of the variance around each pixel, and black and white with a threshold that follows the light.

use crate::error::Result;
use crate::files::atomic_file::AtomicFile;
use crate::files::picture::write_png;
use crate::units::significant;
use workloads::window_sums::WindowSums;

/// Largest standard deviation of 8-bit gray levels: half black, half white.
const LARGEST_DEVIATION: f64 = 128.0;

/// Writes the pictures that were asked for: the variances, and black and white ([`binary`]).
pub(super) fn write(
    sums: &WindowSums,
    output: &[f32],
    [variance, threshold]: [Option<AtomicFile>; 2],
    sensitivity: f64,
) -> Result<String> {
    let write = |mut file: AtomicFile, levels: Vec<u8>| -> Result<String> {
        let rgb: Vec<u8> = levels.into_iter().flat_map(|level| [level; 3]).collect();
        write_png(&mut file, sums.image().width, sums.image().height, &rgb)?;
        let name = file.path().display().to_string();
        file.commit()?;
        Ok(name)
    };
    let mut said = Vec::new();
    if let Some(file) = variance {
        let variances = variances(sums, output);
        let largest = variances.iter().flatten().fold(0.0, |largest: f64, &variance| largest.max(variance));
        let name = write(file, brightness(&variances, largest))?;
        said.push(format!("wrote {name} (white is a variance of {})", significant(largest)));
    }
    if let Some(file) = threshold {
        let white = binary(sums, output, sensitivity);
        said.push(format!("wrote {}", write(file, white.into_iter().map(|white| if white { 255 } else { 0 }).collect())?));
    }
    Ok(said.join("; "))
}

/// Returns each pixel's window mean and variance, from a verified output; `None` where there are no sums.
fn moments<'a>(sums: &'a WindowSums, output: &'a [f32]) -> impl Iterator<Item = Option<(f64, f64)>> + 'a {
    let (row, window) = (sums.image().width as usize, f64::from(sums.window()));
    let (sum, squares) = output.split_at(sums.image().pixels.len());
    sum.iter().zip(squares).enumerate().map(move |(index, (&sum, &squares))| {
        let mean = f64::from(sum) / window;
        // Rounding may leave a little less than nothing.
        let variance = (f64::from(squares) / window - mean * mean).max(0.0);
        sums.columns().contains(&((index % row) as u32)).then_some((mean, variance))
    })
}

/// Returns each pixel's window variance, from a verified output; `None` where there are no sums.
pub fn variances(sums: &WindowSums, output: &[f32]) -> Vec<Option<f64>> {
    moments(sums, output).map(|moments| moments.map(|(_, variance)| variance)).collect()
}

/// Decides which pixels are white: above the threshold `mean * (1 + sensitivity * (deviation / 128 - 1))` of its window (J.
/// Sauvola and M. Pietikäinen, "Adaptive document image binarization", Pattern Recognition 33, 2000), for gray levels of 8 bits. In
/// even surroundings it lies below the mean by the sensitivity, so that paper is white whatever its shade, and ink is not. Without
/// sums a pixel is white.
pub fn binary(sums: &WindowSums, output: &[f32], sensitivity: f64) -> Vec<bool> {
    let above = |(&pixel, moments): (&i32, Option<(f64, f64)>)| {
        moments.is_none_or(|(mean, variance)| {
            f64::from(pixel) > mean * (1.0 + sensitivity * (variance.sqrt() / LARGEST_DEVIATION - 1.0))
        })
    };
    sums.image().pixels.iter().zip(moments(sums, output)).map(above).collect()
}

/// Draws gray levels: white for the largest variance, black where there is none.
fn brightness(variances: &[Option<f64>], largest: f64) -> Vec<u8> {
    let level = |variance: f64| if largest > 0.0 { (255.0 * variance / largest).round() as u8 } else { 0 };
    variances.iter().map(|variance| variance.map_or(0, level)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oracles::Expected;
    use workloads::window_sums::Image;
    use workloads::{Border, Problem};

    /// Returns the sums with a verified output.
    fn computed(width: u32, pixels: &[i32], window: u32, border: Border) -> (WindowSums, Vec<f32>) {
        let image = Image { width, height: pixels.len() as u32 / width, pixels: pixels.to_vec() };
        let sums = WindowSums::new(image, window, border).unwrap();
        let output = sums.expected().iter().map(Expected::nearest).collect();
        (sums, output)
    }

    #[test]
    fn variances_agree_with_values_worked_out_by_hand() {
        let (sums, output) = computed(4, &[1, 2, 3, 9], 3, Border::Valid);
        let variances = variances(&sums, &output);
        assert_eq!(variances[0], None);
        // (1 + 4 + 9) / 3 - 2² and (4 + 9 + 81) / 3 - (14 / 3)²
        assert!((variances[1].unwrap() - 2.0 / 3.0).abs() < 1e-12 && (variances[2].unwrap() - 86.0 / 9.0).abs() < 1e-12);
        assert_eq!(brightness(&variances, 86.0 / 9.0), [0, 18, 255, 0]);
        assert_eq!(brightness(&[Some(0.0), None], 0.0), [0, 0]);
    }

    #[test]
    fn the_threshold_follows_the_light() {
        // Ink on paper that grows darker to the right: no single threshold separates ink from paper.
        let paper = [200, 190, 180, 170, 160, 150, 140, 130, 120, 110, 100, 90];
        let ink = [2, 6, 10];
        let mut pixels = paper;
        ink.iter().for_each(|&at| pixels[at] -= 80);
        assert!(pixels[2] > paper[11]);
        let (sums, output) = computed(12, &pixels, 5, Border::Clamp);
        let black: Vec<usize> =
            binary(&sums, &output, 0.2).iter().enumerate().filter(|(_, white)| !**white).map(|(at, _)| at).collect();
        assert_eq!(black, ink);
    }
}
