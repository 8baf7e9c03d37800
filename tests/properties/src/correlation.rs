//! More about chapter 04 than its rows: the exact sums, and the kernels of every generation on one device.

use correlation_sm_aware::hopper::{Block, with_block};
use correlation_sm_aware::roles::WGMMA_ROLES;
use correlation_sm_aware::variant::{Attributes, Multiply, Tile, TileKernel, Variant};
use correlation_sm_aware::{CONSTANT, SHARED, SHARED_SM, SHARED_SUMS, SHARED_UNROLL_4, with_tile};
use kernels::Kernel;
use kernels::correlation as kernel;
use proptest::prelude::*;
use proptest::test_runner::Config;
use run::gpu::Gpu;
use run::report::{Outcome, Row};
use run::runner;
use run::stage::Stage;
use run::workload::Border;
use run::workload::Workload;
use run::workload::correlation::{Buffers, Correlation, NO_SUM, Size};

use crate::cases::correlations;
use crate::device::with_gpu;

/// A stage that launches this kernel, whichever kernel the device would choose.
macro_rules! forced {
    ($name:literal, $kernel:expr) => {
        Stage::launches($name, "whatever the device", |gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers| {
            let template = correlation.template();
            with_tile(gpu, correlation, buffers, $kernel, Tile::of_block((template.width, template.height)))
        })
    };
}

/// Every kernel that the choice yields for some device.
const ARMS: [Stage<Correlation>; 7] = [
    CONSTANT,
    forced!("32 bits", TileKernel::Coefficients(kernel::SHARED)),
    forced!("24 bits", TileKernel::Coefficients(kernel::SHARED_MULTIPLY_24)),
    forced!("32 bits, unrolled", TileKernel::Coefficients(kernel::UNROLL_4)),
    forced!("24 bits, unrolled", TileKernel::Coefficients(kernel::UNROLL_4_MULTIPLY_24)),
    forced!("32 bits, with sums", TileKernel::CoefficientsAndSums(kernel::SUMS)),
    forced!("24 bits, with sums", TileKernel::CoefficientsAndSums(kernel::SUMS_MULTIPLY_24)),
];

/// Returns the sums that a kernel stores.
fn stored(gpu: &Gpu, correlation: &Correlation, kernel: Kernel) -> Vec<u32> {
    let template = correlation.template();
    let mut buffers = correlation.upload(gpu).unwrap();
    let tile = Tile::of_block((template.width, template.height));
    with_tile(gpu, correlation, &mut buffers, TileKernel::CoefficientsAndSums(kernel), tile).unwrap();
    gpu.stream.clone_dtoh(&buffers.sums).unwrap()
}

/// Makes a stage that launches the kernel with blocks of one height. It does not matter which height the size would get.
macro_rules! height {
    ($index:literal) => {
        Stage::launches(
            concat!("height ", $index),
            "whatever the size",
            |gpu: &Gpu, correlation: &Correlation, buffers: &mut Buffers| with_block(gpu, correlation, buffers, Block::ALL[$index]),
        )
        .needs_generation(9, 0)
    };
}

/// Every kernel for Hopper's tensor cores.
const HEIGHTS: [Stage<Correlation>; 5] = [height!(0), height!(1), height!(2), height!(3), WGMMA_ROLES];

proptest! {
    #![proptest_config(Config::with_cases(12))]

    #[test]
    fn hoppers_kernels_are_right_where_blocks_and_pieces_of_the_template_end(
        width in prop::sample::select(vec![1, 9, 15, 16, 17, 49, 52, 57, 64, 65, 97, 128]),
        height in prop::sample::select(vec![1, 2, 3, 49, 51, 52, 53, 105]),
        columns in prop::sample::select(vec![1, 16, 127, 128, 129]),
        rows in prop::sample::select(vec![1, 7, 8, 9, 32, 63, 65, 127, 129, 257]),
        clamp in any::<bool>(), seed in any::<u64>(),
    ) {
        let (image, border) = if clamp {
            ((columns.max(width), rows.max(height)), Border::Clamp)
        } else {
            ((columns + width - 1, rows + height - 1), Border::Valid)
        };
        let correlation = Correlation::random(Size { image, template: (width, height) }, border, seed);
        let rows = with_gpu(|gpu| runner::run(gpu, &HEIGHTS, &correlation, 0)).unwrap().rows;
        for row in rows {
            prop_assert!(matches!(row.outcome, Outcome::Verified(_) | Outcome::Skipped(_)), "{}: {:?}", row.name, row.outcome);
        }
    }
}

proptest! {
    #![proptest_config(Config::with_cases(24))]

    #[test]
    fn the_kernels_of_every_generation_are_right(correlation in correlations()) {
        let rows = with_gpu(|gpu| runner::run(gpu, &ARMS, &correlation, 0)).unwrap().rows;
        for row in rows {
            prop_assert!(matches!(row.outcome, Outcome::Verified(_)), "{}: {:?}", row.name, row.outcome);
        }
    }

    #[test]
    fn the_sums_are_exact(correlation in correlations()) {
        let oracle = correlation.sums();
        let expected: Vec<u32> = (oracle.iter().map(|sums| sums.image))
            .chain(oracle.iter().map(|sums| sums.squares))
            .chain(oracle.iter().map(|sums| sums.products))
            .collect();
        for kernel in [kernel::SUMS, kernel::SUMS_MULTIPLY_24] {
            prop_assert_eq!(&with_gpu(|gpu| stored(gpu, &correlation, kernel)), &expected, "{}", kernel.name);
        }
    }
}

#[test]
fn what_no_stage_has_stored_is_no_sum() {
    let correlation = Correlation::random(Size { image: (9, 7), template: (4, 3) }, Border::Valid, 13);
    let untouched = with_gpu(|gpu| {
        let buffers = correlation.upload(gpu).unwrap();
        gpu.stream.clone_dtoh(&buffers.sums).unwrap()
    });
    assert!(untouched.iter().all(|&sum| sum == NO_SUM));
}

#[test]
fn a_template_too_large_for_a_tile_falls_back_to_constant_memory() {
    // 231 x 215 bytes are more than the 48 KiB of a block.
    let correlation = Correlation::random(Size { image: (210, 215), template: (200, 208) }, Border::Valid, 13);
    with_gpu(|gpu| {
        let device = Attributes::of(gpu).unwrap();
        assert_eq!(Variant::choose(device, (200, 208)), Variant::Constant { tile_bytes: 231 * 215 });
        let rows = runner::run(gpu, &[CONSTANT, SHARED, SHARED_SM, SHARED_UNROLL_4, SHARED_SUMS], &correlation, 0).unwrap().rows;
        let outcomes = |row: &Row| match &row.outcome {
            Outcome::Verified(_) => "right".to_owned(),
            Outcome::Skipped(unmet) => unmet.to_string(),
            other => panic!("{}: {other:?}", row.name),
        };
        let outcomes: Vec<String> = rows.iter().map(outcomes).collect();
        assert_eq!(outcomes[..4], ["right"; 4]);
        assert!(outcomes[4].contains("49665 bytes"), "{}", outcomes[4]);
        if gpu.is_simulated() {
            let launched = |row: &Row| row.measured().unwrap().launches[0].report.kernel.clone();
            assert_eq!(rows[..4].iter().map(launched).collect::<Vec<_>>(), ["constant"; 4]);
        }
    });
}

#[test]
fn a_device_gets_the_multiplication_of_its_generation() {
    let correlation = Correlation::random(Size { image: (40, 30), template: (9, 7) }, Border::Valid, 13);
    with_gpu(|gpu| {
        let Variant::Shared { multiply, .. } = Variant::choose(Attributes::of(gpu).unwrap(), (9, 7)) else { panic!("a tile fits") };
        assert_eq!(multiply, Multiply::Bits32, "these tests run on compute capability 2.0 or later");
        let rows = runner::run(gpu, &[SHARED_SM], &correlation, 0).unwrap().rows;
        if let Some(launch) = rows[0].measured().unwrap().launches.first() {
            assert_eq!(launch.report.kernel, "shared");
        }
    });
}

#[test]
fn a_compiler_of_today_makes_the_same_of_both_multiplications() {
    // The compiler knows that a product of two bytes fits 24 bits. If it stops doing so, the chapter's page must change.
    let instructions = |kernel: Kernel| -> Vec<&str> {
        let module = ptx::parse(kernel.source.ptx).unwrap();
        let kernel = module.kernel(kernel.name).expect("a kernel of the module");
        kernel.instructions().map(|instruction| instruction.opcode).collect()
    };
    assert_eq!(instructions(kernel::SHARED), instructions(kernel::SHARED_MULTIPLY_24));
    assert!(instructions(kernel::SHARED).contains(&"mad.lo.s32"));
}
