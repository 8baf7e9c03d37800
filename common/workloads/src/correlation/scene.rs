//! A generated image with a template hidden in it at known positions, from integers only, so that it is the same on every machine.

use oracles::random::{clouds, generator};

use super::size::Size;
use crate::gray::{Gray, Rectangle};

/// Makes the image and the template. The template is cut from the middle of the image. Where it fits, it is put in again at two
/// more positions, once with three quarters of its contrast and brighter, once with half of it.
pub(super) fn generate(size: Size, seed: u64) -> (Gray, Gray) {
    let Size { image: (width, height), template: (w, h) } = size;
    let mut generator = generator(seed);
    let mut image = Gray { name: format!("seed {seed}"), width, height, pixels: clouds(width, height, &mut generator) };
    let part = |x, y| Rectangle { x, y, width: w, height: h };
    let middle = ((width - w) / 2, (height - h) / 2);
    let template = image.crop(part(middle.0, middle.1)).unwrap_or_else(|_| unreachable!("a template is no larger than its image"));
    for ((x, y), eighths, brighter) in [((0, 0), 6, 40), ((width - w, height - h), 4, 10)] {
        // Only where it leaves the template in the middle whole.
        if x.abs_diff(middle.0) >= w || y.abs_diff(middle.1) >= h {
            for row in 0..h {
                for column in 0..w {
                    let pixel = u32::from(template.pixels[(row * w + column) as usize]);
                    let at = (y + row) as usize * width as usize + (x + column) as usize;
                    image.pixels[at] = (pixel * eighths / 8 + brighter) as u8;
                }
            }
        }
    }
    (image, Gray { name: "the template".to_owned(), ..template })
}

#[cfg(test)]
mod tests {
    use super::super::{Correlation, best_matches};
    use super::*;
    use crate::border::Border;
    use crate::problem::Problem;

    #[test]
    fn the_template_is_found_where_it_was_hidden() {
        let size = Size { image: (90, 70), template: (20, 15) };
        let correlation = Correlation::random(size, Border::Valid, 13);
        let coefficients: Vec<f32> = correlation.expected().iter().map(|expected| expected.value as f32).collect();
        let matches = best_matches(&correlation, &coefficients, 4);
        let corners: Vec<_> = matches.iter().map(|found| (found.window.x, found.window.y)).collect();
        assert_eq!(corners[..3], [(35, 27), (0, 0), (70, 55)]);
        assert!(matches[..3].iter().all(|found| found.coefficient > 0.999), "{matches:?}");
        assert!(matches[3].coefficient < 0.8, "{matches:?}");
    }

    #[test]
    fn scenes_repeat_and_differ_between_seeds() {
        let size = Size { image: (33, 20), template: (5, 4) };
        assert_eq!(generate(size, 13), generate(size, 13));
        assert_ne!(generate(size, 13).0.pixels, generate(size, 14).0.pixels);
        // Results of different machines and versions compare only while these stay.
        assert_eq!(generate(size, 13).0.pixels[100..104], [118, 109, 106, 105]);
    }

    #[test]
    fn the_smallest_scene_and_one_that_is_all_template_can_be_made() {
        for size in [Size { image: (1, 1), template: (1, 1) }, Size { image: (9, 9), template: (9, 9) }] {
            let (image, template) = generate(size, 1);
            assert_eq!(
                (image.pixels.len(), template.pixels.len()),
                ((size.image.0 * size.image.1) as usize, (size.template.0 * size.template.1) as usize)
            );
        }
    }
}
