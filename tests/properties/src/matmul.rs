//! More about chapter 06 than its rows: the oracle against exact integers, sizes of every kind, and every division.

use matmul_tiled::CHAPTER;
use matmul_tiled::choice::{Division, Tile};
use matmul_tiled::hopper::WGMMA_TF32;
use matmul_tiled::sizes::{self, TILES, WGMMA_BY_SIZE};
use matmul_tiled::slices::{any_order, divided};
use matmul_tiled::split::TENSOR_3XTF32;
use matmul_tiled::tensor::{TENSOR_TF32, rounded_factors};
use proptest::prelude::*;
use run::npy::Matrix;
use run::report::Outcome;
use run::runner;
use run::stage::Stage;
use run::workload::matmul::Size;
use run::workload::{Matmul, Problem};

use crate::device::with_gpu;

/// Requires every stage to be verified or skipped with a reason.
fn assert_verified(stages: &[Stage<Matmul>], product: &Matmul) {
    assert_verified_for(u32::MAX, stages, product);
}

/// Does the same with grids for at most this many multiprocessors.
fn assert_verified_for(multiprocessors: u32, stages: &[Stage<Matmul>], product: &Matmul) {
    let finished = with_gpu(|gpu| {
        gpu.plan_for_multiprocessors(multiprocessors);
        let finished = runner::run(gpu, stages, product, 0);
        gpu.plan_for_multiprocessors(u32::MAX);
        finished
    });
    for row in finished.unwrap().rows {
        let fine = matches!(row.outcome, Outcome::Verified(_) | Outcome::Skipped(_));
        assert!(fine, "{}, {}: {:?}", product.describe(), row.name, row.outcome);
    }
}

#[test]
fn sizes_of_every_kind_are_computed() {
    let sizes = [
        (1, 1, 1),
        (17, 1, 33),
        (1, 17, 5),
        (15, 16, 17),
        (63, 65, 64),
        (127, 129, 31),
        (128, 256, 8),
        (129, 257, 9),
        (127, 255, 7),
        (31, 61, 127),
        (3, 700, 40),
        (700, 3, 40),
        (2, 1, 1500),
        // Where Hopper's TMA can work: rows that start at multiples of 16 bytes. With parts of tiles and of boxes on every
        // side, an odd and an even number of slabs, and more slabs than the ring has stages.
        (1, 4, 4),
        (129, 132, 36),
        (257, 124, 64),
        (130, 260, 172),
    ];
    for (m, n, k) in sizes {
        assert_verified(CHAPTER.stages, &Matmul::random(Size { m, n, k }, 13).unwrap());
    }
    // More tiles in a row than a group of its blocks has, with a remainder. The other kernels have no groups in a row.
    assert_verified(&[TENSOR_TF32], &Matmul::random(Size { m: 130, n: 2400, k: 8 }, 13).unwrap());
}

/// Uses more tiles than there are multiprocessors, in several bands of eight. Other kernels have a block for each tile.
#[test]
fn blocks_that_take_many_tiles_take_all_of_them() {
    let product = Matmul::random(Size { m: 2100, n: 264, k: 8 }, 13).unwrap();
    assert_verified_for(3, &[WGMMA_TF32, WGMMA_BY_SIZE, TENSOR_3XTF32], &product);
}

/// A stage with this tile and about this many slices.
pub const fn with_tile<const TILE: usize, const SLICES: u32>() -> Stage<Matmul> {
    Stage::launches("wgmma-by-size", "a tile that the size might not get", |gpu, product, buffers| {
        sizes::launch(gpu, product, buffers, sizes::Division::with(product.size(), &TILES[TILE], SLICES))
    })
    .needs_generation(9, 0)
    .with_allowance(rounded_factors)
}

#[test]
fn every_tile_of_hopper_is_right_with_every_number_of_slices() {
    let whole = [with_tile::<0, 1>(), with_tile::<1, 1>(), with_tile::<2, 1>(), with_tile::<3, 1>()];
    let pairs = [with_tile::<2, 2>(), with_tile::<3, 2>(), with_tile::<2, 3>(), with_tile::<3, 3>(), with_tile::<3, 5>()];
    let most = [with_tile::<2, 8>(), with_tile::<3, 8>()];
    // Parts of tiles and of slabs, odd and even numbers of slabs, slices shorter and longer than the ring, a last slice of one number.
    for (m, n, k) in [(1, 4, 4), (70, 68, 36), (257, 68, 300), (130, 196, 228), (129, 60, 520)] {
        let product = Matmul::random(Size { m, n, k }, 13).unwrap();
        for stages in [&whole[..], &pairs, &most] {
            assert_verified(stages, &product);
        }
    }
}

#[test]
fn every_tile_is_right_with_every_number_of_slices() {
    for (n, k) in [(68, 75), (67, 75), (68, 8)] {
        let product = Matmul::random(Size { m: 70, n, k }, 13).unwrap();
        for tile in [Tile::Large, Tile::Small] {
            for slices in 1..=9 {
                let division = Division::with(product.size(), tile, slices);
                let outcome = with_gpu(|gpu| divided(gpu, &product, division)).unwrap();
                assert!(outcome.is_ok(), "{division}: {}", outcome.unwrap_err());
            }
        }
    }
}

#[test]
fn adding_in_any_order_is_allowed_and_a_missing_product_is_not() {
    let product = Matmul::random(Size { m: 1, n: 1, k: 300 }, 13).unwrap();
    let exact: f64 = product.a().iter().zip(product.b()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    assert!((product.expected()[0].value - exact).abs() < 1e-9);
    let smallest = product.a().iter().zip(product.b()).map(|(a, b)| f64::from((a * b).abs())).fold(f64::MAX, f64::min);
    assert!(smallest > 10.0 * (product.expected()[0].tolerance + any_order(&product)), "{smallest}");
}

proptest! {
    #[test]
    fn the_oracle_agrees_exactly_with_integers(
        (m, n, k, a, b) in (1..20_usize, 1..300_usize, 1..30_usize).prop_flat_map(|(m, n, k)| (
            Just(m), Just(n), Just(k), prop::collection::vec(-9_999..=9_999, m * k), prop::collection::vec(-9_999..=9_999, k * n),
        ))
    ) {
        let floats = |integers: &[i32]| integers.iter().map(|&integer| integer as f32).collect::<Vec<f32>>();
        let matrix = |rows, columns, values: &[i32]| Matrix { rows, columns, values: floats(values) };
        let product = Matmul::new(matrix(m, k, &a), matrix(k, n, &b)).unwrap();
        let exact = |at: usize| (0..k).map(|l| i64::from(a[at / n * k + l]) * i64::from(b[l * n + at % n])).sum::<i64>();
        let expected: Vec<f64> = (0..m * n).map(|at| exact(at) as f64).collect();
        let values: Vec<f64> = product.expected().iter().map(|expected| expected.value).collect();
        prop_assert_eq!(values, expected);
    }
}
