//! The sizes at which a kernel is checked: some are the same in every check, others are random.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

use crate::manifest::Random;

/// Chooses random sizes, the same for the same seed. Half of their numbers are where kernels go wrong: at the ends of the range,
/// and at or next to a multiple of a block's or a tile's width.
pub fn random(random: &Random, seed: u64) -> Result<Vec<String>, String> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    (0..random.count).map(|_| fill(&random.size, &random.edges, &mut generator)).collect()
}

/// Chooses one size, the same for the same seed.
pub fn one(size: &str, seed: u64) -> Result<String, String> {
    fill(size, &[], &mut ChaCha8Rng::seed_from_u64(seed))
}

/// Replaces each `{lowest..highest}` with a number. `{lowest..highest*unit+offset}` is so many units, and the offset.
fn fill(size: &str, edges: &[u32], generator: &mut ChaCha8Rng) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = size;
    while let Some((before, after)) = rest.split_once('{') {
        let (range, after) = after.split_once('}').ok_or_else(|| format!("`{size}`: a range has no `}}`"))?;
        let (product, offset) = range.split_once('+').unwrap_or((range, "0"));
        let (ends, unit) = product.split_once('*').unwrap_or((product, "1"));
        let (lowest, highest) = ends.split_once("..").unwrap_or_default();
        let (Ok(lowest), Ok(highest), Ok(unit), Ok(offset)) =
            (lowest.parse(), highest.parse(), unit.parse::<u32>(), offset.parse::<u32>())
        else {
            return Err(format!(
                "`{size}`: `{range}` is not a range; write {{lowest..highest}} or {{lowest..highest*unit+offset}}"
            ));
        };
        if lowest > highest {
            return Err(format!("`{size}`: the range `{range}` ends before it begins"));
        }
        filled += before;
        filled += &(unit * number(lowest, highest, edges, generator) + offset).to_string();
        rest = after;
    }
    Ok(filled + rest)
}

fn number(lowest: u32, highest: u32, edges: &[u32], generator: &mut ChaCha8Rng) -> u32 {
    let mut below = |count: u32| generator.next_u32() % count;
    match below(8) {
        0 => lowest,
        1 => highest,
        2 | 3 if !edges.is_empty() => {
            let edge = edges[below(edges.len() as u32) as usize];
            let multiple = edge * (1 + below((highest / edge).max(1)));
            (multiple + below(3)).saturating_sub(1).clamp(lowest, highest)
        }
        _ => lowest + below(highest - lowest + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_sizes_lie_in_their_ranges_and_often_at_edges() {
        let ranges = Random { count: 400, size: "{1..700}x{5..9}".to_owned(), edges: vec![256] };
        let sizes = random(&ranges, 3).unwrap();
        assert_eq!(sizes, random(&ranges, 3).unwrap());
        assert_ne!(sizes, random(&ranges, 4).unwrap());
        let numbers = |size: &String| size.split_once('x').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap();
        let sizes: Vec<(u32, u32)> = sizes.iter().map(numbers).collect();
        assert!(sizes.iter().all(|(a, b)| (1..=700).contains(a) && (5..=9).contains(b)));
        for edge in [1, 255, 256, 257, 511, 512, 513, 700] {
            assert!(sizes.iter().any(|(a, _)| *a == edge), "{edge} never occurs");
        }
    }

    #[test]
    fn a_range_with_a_unit_gives_its_multiples() {
        let sizes: Vec<String> = (0..40).map(|seed| one("{3..5*256+1}x9", seed).unwrap()).collect();
        assert!(["769x9", "1025x9", "1281x9"].iter().all(|size| sizes.iter().any(|drawn| drawn == size)));
        assert!(sizes.iter().all(|size| ["769x9", "1025x9", "1281x9"].contains(&size.as_str())));
    }

    #[test]
    fn malformed_ranges_are_named() {
        for size in ["{1..", "{9..1}", "{a..b}", "{1..2*x}"] {
            let ranges = Random { count: 1, size: size.to_owned(), edges: Vec::new() };
            assert!(random(&ranges, 0).unwrap_err().contains(size));
        }
    }
}
