//! Finds where the template matches best.

use super::Correlation;
use crate::gray::Rectangle;

/// A window that the template matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// How well, 1 at most.
    pub coefficient: f32,
    /// Column and row of the output.
    pub output: (u32, u32),
    /// The part of the image under the template.
    pub window: Rectangle,
}

/// Returns the best matches, the best one first, `most` at most. Of those that lie within half a template of each other, only the
/// best one counts: around every match all coefficients are high.
pub fn best_matches(correlation: &Correlation, coefficients: &[f32], most: usize) -> Vec<Match> {
    let (columns, _) = correlation.outputs();
    let (near_x, near_y) = (correlation.template().width.div_ceil(2), correlation.template().height.div_ceil(2));
    let mut order: Vec<u32> = (0..coefficients.len() as u32).filter(|&index| coefficients[index as usize] > 0.0).collect();
    // Equal ones in the order of the picture.
    order.sort_by(|&a, &b| coefficients[b as usize].total_cmp(&coefficients[a as usize]).then(a.cmp(&b)));
    let mut found: Vec<Match> = Vec::new();
    for index in order {
        if found.len() == most {
            break;
        }
        let (x, y) = (index % columns, index / columns);
        if found.iter().all(|known| known.output.0.abs_diff(x) >= near_x || known.output.1.abs_diff(y) >= near_y) {
            found.push(Match { coefficient: coefficients[index as usize], output: (x, y), window: correlation.window(x, y) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::border::Border;
    use crate::gray::Gray;

    fn flat(width: u32, height: u32) -> Gray {
        Gray { name: "flat".into(), width, height, pixels: vec![0; (width * height) as usize] }
    }

    #[test]
    fn neighbors_of_a_match_are_no_matches() {
        let correlation = Correlation::new(flat(8, 1), flat(4, 1), Border::Valid).unwrap();
        let matches = best_matches(&correlation, &[0.1, 0.9, 0.8, 0.7, -1.0], 9);
        let outputs: Vec<_> = matches.iter().map(|found| (found.output.0, found.coefficient)).collect();
        assert_eq!(outputs, [(1, 0.9), (3, 0.7)]);
    }
}
