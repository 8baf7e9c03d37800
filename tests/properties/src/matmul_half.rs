//! More about the products of bf16 numbers than their rows: sizes of every kind, numbers of 8 bits, a bias, and every tile.

use kernels::matmul_half::hopper::{SLICE_COLUMNS, SMALL_COLUMNS, SMALL_ROWS};
use matmul_half::CHAPTER;
use matmul_half::choice::Shape;
use matmul_half::hopper::{BY_SIZE, MULTICAST, PERSISTENT};
use oracles::output::Breach;
use proptest::prelude::*;
use proptest::test_runner::Config;
use run::guard::Guarded;
use run::report::Outcome;
use run::runner;
use run::stage::Stage;
use run::workload::matmul_half::{Demand, Size};
use run::workload::{MatmulHalf, Problem};

use crate::cases::{length, products};
use crate::device::with_gpu;

const FP8: Demand = Demand { fp8: true, bias: false };
const BIAS: Demand = Demand { fp8: false, bias: true };

/// Returns the stages that are verified, with grids for this many multiprocessors. Requires all others to be skipped with a reason.
fn verified(multiprocessors: u32, stages: &[Stage<MatmulHalf>], product: &MatmulHalf) -> Result<Vec<&'static str>, String> {
    let finished = with_gpu(|gpu| {
        gpu.plan_for_multiprocessors(multiprocessors);
        let finished = runner::run(gpu, stages, product, 0);
        gpu.plan_for_multiprocessors(u32::MAX);
        finished
    });
    let rows = finished.map_err(|error| error.to_string())?.rows;
    let verified = rows.into_iter().filter_map(|row| match row.outcome {
        Outcome::Verified(_) => Some(Ok(row.name)),
        Outcome::Skipped(_) => None,
        other => Some(Err(format!("{}, {}: {other:?}", product.describe(), row.name))),
    });
    verified.collect()
}

fn product(m: u32, n: u32, k: u32, demand: Demand) -> MatmulHalf {
    MatmulHalf::random(Size { m, n, k }, demand, 13).expect("sizes that can be")
}

#[test]
fn sizes_of_every_kind_are_computed() {
    // Parts of tiles and of boxes on every side, an odd and an even number of slabs, and more slabs than the ring has stages.
    for (m, n, k) in
        [(1, 8, 8), (1, 1, 1), (7, 12, 20), (129, 264, 72), (127, 248, 64), (257, 8, 328), (64, 64, 64), (65, 136, 648)]
    {
        verified(u32::MAX, CHAPTER.stages, &product(m, n, k, Demand::default())).unwrap();
    }
    for (m, n, k) in [(1, 8, 16), (129, 264, 144), (257, 248, 656)] {
        assert_eq!(verified(u32::MAX, &[matmul_half::finish::FP8], &product(m, n, k, FP8)).unwrap(), ["fp8"]);
        let with_bias = verified(u32::MAX, CHAPTER.stages, &product(m, n, k, BIAS)).unwrap();
        assert_eq!(with_bias, ["cpu", "separate", "fused"]);
    }
}

/// Two bf16 are an element of the memory.
#[test]
fn what_stands_behind_an_odd_number_of_outputs_is_guarded() {
    with_gpu(|gpu| {
        let mut output = Guarded::of_bf16(gpu, 3).unwrap();
        let unwritten = output.download(gpu).unwrap();
        assert_eq!((unwritten.values.len(), unwritten.breach), (3, None));
        gpu.stream.memcpy_htod(&[f32::from_bits(0x3f80_4000), f32::from_bits(0x4040_4080)], &mut output.view_mut()).unwrap();
        let written = output.download(gpu).unwrap();
        assert_eq!(written.values, [2.0, 1.0, 4.0]);
        assert_eq!(written.breach, Some(Breach { elements: 1, nearest: 1 }));
    });
}

/// Uses more tiles than there are multiprocessors, in bands of eight. The last band is lower.
#[test]
fn blocks_that_take_many_tiles_take_all_of_them() {
    let stages = [PERSISTENT, MULTICAST];
    assert_eq!(verified(3, &stages, &product(2500, 520, 8, Demand::default())).unwrap().len(), stages.len());
    assert_eq!(verified(3, &[matmul_half::finish::FP8], &product(700, 520, 16, FP8)).unwrap().last(), Some(&"fp8"));
}

#[test]
fn every_tile_is_right_and_gets_the_sizes_that_it_is_for() {
    for (m, n, k, multiprocessors, shape) in [
        (2100, 264, 72, 4, Shape::Pairs),
        (140, 264, 72, 4, Shape::Large),
        (70, 136, 1304, 5, Shape::Small),
        (70, 136, 1672, 132, Shape::Slices),
    ] {
        assert_eq!(Shape::of(Size { m, n, k }, multiprocessors), shape);
        assert_eq!(verified(multiprocessors, &[BY_SIZE], &product(m, n, k, Demand::default())).unwrap(), ["by-size"], "{shape}");
    }
    assert_eq!((SMALL_ROWS, SMALL_COLUMNS, SLICE_COLUMNS), (64, 128, 64));
}

proptest! {
    #![proptest_config(Config::with_cases(8))]

    #[test]
    fn products_of_any_values_are_right(
        values in products(length(64, 200), length(8, 34).prop_map(|eighth| 8 * eighth), length(8, 40).prop_map(|eighth| 16 * eighth)),
        fp8 in any::<bool>(), bias in any::<bool>(),
    ) {
        let product = MatmulHalf::of(values, Demand { fp8, bias }, 13).expect("a small product");
        verified(u32::MAX, CHAPTER.stages, &product).map_err(TestCaseError::fail)?;
    }
}
