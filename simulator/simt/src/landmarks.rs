//! The blocks of a huge grid at which kernels go wrong: where a number no longer fits its type, and at the ends.

use std::collections::BTreeSet;

use ptx::geometry::Dim3;

/// Returns the first, the last, and blocks around powers of two. Blocks are numbered through the whole grid; powers of two count
/// through the grid and along each of its axes. In ascending order.
pub fn landmarks(grid: Dim3) -> Vec<u64> {
    let (width, height) = (u64::from(grid.x), u64::from(grid.y));
    let steps = [(1, grid.volume()), (1, width), (width, height), (width * height, u64::from(grid.z))];
    let ends = |extent: u64| (0..u64::BITS).map(|bit| 1 << bit).take_while(move |power| *power < extent).chain([extent]);
    let along = |(step, extent): (u64, u64)| {
        ends(extent).flat_map(move |end| [end - 1, end]).filter(move |at| *at < extent).map(move |at| at * step)
    };
    let numbers: BTreeSet<u64> = steps.into_iter().flat_map(along).collect();
    numbers.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_powers_of_two_are_landmarks_along_each_axis() {
        assert_eq!(landmarks(Dim3::new(1, 1, 1)), [0]);
        assert_eq!(landmarks(Dim3::new(11, 1, 1)), [0, 1, 2, 3, 4, 7, 8, 10]);
        let grid = landmarks(Dim3::new(5, 1001, 3));
        for number in [0, 4, 5 * 511, 5 * 512, 5 * 1000, 5 * 1001, 2 * 5 * 1001, 3 * 5 * 1001 - 1, 8191, 8192] {
            assert!(grid.contains(&number), "{number}");
        }
        assert!(grid.is_sorted() && grid.len() < 60);
    }
}
