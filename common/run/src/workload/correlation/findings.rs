//! Applies a correlation: finds the best matches of a run, and draws them.

use workloads::correlation::{Correlation, Match, best_matches};
use workloads::gray::Rectangle;

use crate::error::Result;
use crate::files::atomic_file::AtomicFile;
use crate::files::picture::write_png;

/// Reports a run's best matches (at most `most`), and draws them into `file`.
pub(super) fn report(correlation: &Correlation, coefficients: &[f32], most: usize, file: Option<AtomicFile>) -> Result<String> {
    let matches = best_matches(correlation, coefficients, most);
    let describe = |found: &Match| {
        let Rectangle { x, y, width, height } = found.window;
        format!("{:.4} at {x},{y} ({width}x{height})", found.coefficient)
    };
    let list = matches.iter().map(describe).collect::<Vec<_>>().join(", ");
    let mut said = if matches.is_empty() { "no match".to_owned() } else { format!("best matches: {list}") };
    if let Some(mut file) = file {
        let (columns, rows) = correlation.outputs();
        write_png(&mut file, columns, rows, &heat_map(correlation, coefficients, &matches))?;
        said += &format!("; wrote {}", file.path().display());
        file.commit()?;
    }
    Ok(said)
}

const FRAME: [u8; 3] = [255, 196, 0];

/// Returns the coefficients as colors, with a frame around every match. No correlation is black, the template white, its negative
/// blue. A frame is as large as the template, with its corner (or with `clamp` its middle) at the match.
fn heat_map(correlation: &Correlation, coefficients: &[f32], matches: &[Match]) -> Vec<u8> {
    let (columns, rows) = correlation.outputs();
    let mut rgb: Vec<u8> = coefficients.iter().flat_map(|&coefficient| color(coefficient)).collect();
    let (corner_x, corner_y) = correlation.corner();
    let (width, height) = (i64::from(correlation.template().width), i64::from(correlation.template().height));
    for found in matches {
        let (left, top) = (i64::from(found.output.0) + i64::from(corner_x), i64::from(found.output.1) + i64::from(corner_y));
        let across = (left..left + width).flat_map(|x| [(x, top), (x, top + height - 1)]);
        let down = (top..top + height).flat_map(|y| [(left, y), (left + width - 1, y)]);
        for (x, y) in across.chain(down) {
            if (0..i64::from(columns)).contains(&x) && (0..i64::from(rows)).contains(&y) {
                let at = 3 * (y as usize * columns as usize + x as usize);
                rgb[at..at + 3].copy_from_slice(&FRAME);
            }
        }
    }
    rgb
}

fn color(coefficient: f32) -> [u8; 3] {
    let level = (coefficient.abs().min(1.0) * 255.0).round() as u8;
    if coefficient >= 0.0 { [level; 3] } else { [0, level / 3, level] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workloads::Border;
    use workloads::gray::Gray;

    fn flat(width: u32, height: u32) -> Gray {
        Gray { name: "flat".into(), width, height, pixels: vec![0; (width * height) as usize] }
    }

    #[test]
    fn the_picture_frames_the_match_and_stays_inside() {
        let correlation = Correlation::new(flat(4, 3), flat(3, 3), Border::Clamp).unwrap();
        let mut coefficients = vec![0.0; 12];
        coefficients[0] = 1.0;
        coefficients[11] = -1.0;
        let matches = best_matches(&correlation, &coefficients, 1);
        let rgb = heat_map(&correlation, &coefficients, &matches);
        let pixel = |x: usize, y: usize| [rgb[3 * (4 * y + x)], rgb[3 * (4 * y + x) + 1], rgb[3 * (4 * y + x) + 2]];
        // The template's middle is at (0, 0), so only its right and its lower edge are inside the picture.
        assert_eq!((pixel(0, 0), pixel(1, 0), pixel(1, 1), pixel(0, 1)), ([255; 3], FRAME, FRAME, FRAME));
        assert_eq!((pixel(2, 2), pixel(3, 2)), ([0; 3], [0, 85, 255]));
    }
}
