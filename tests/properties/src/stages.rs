//! Every stage of every chapter against the oracle.

use histogram::{BYTES, LANES, WIDE};
use kernels::unroll::partitioned::PART;
use kernels::unroll::tensor::{COLUMNS, ROWS};
use kernels::window_sums::once::ONCE_TILE;
use proptest::prelude::*;
use proptest::test_runner::Config;
use run::report::Outcome;
use run::runner;
use run::stage::Stage;
use run::workload::window_sums::{Image, Size, WindowSums};
use run::workload::{Border, Convolution, Correlation, Histogram, Workload, convolution, correlation};
use unroll::fft::FFT;
use unroll::partitioned::{FFT_PARTITIONED, MOST_TAPS_OF_ONE_PART};
use unroll::tensor::{Division, F16X3, TF32X3};
use unroll::{CONSTANT_FILTER, LONG_RUN, REGISTER_TILE, SPLIT_FILTER};
use window_sums::scan::{INTEGRAL, ONE_PASS};
use window_sums::tiles::{ROW_SCAN, SHARED_TILE, SLIDING, TILE_SCAN, VECTOR};

use crate::cases::{convolutions, correlations, length, odd, products, window_sums};
use crate::device::with_gpu;

const BLOCK: usize = kernels::conv_shared::BLOCK as usize;
const TILE: usize = kernels::conv_shared::TILE as usize;
const WIDE_TILE: usize = kernels::conv_shared::WIDE_TILE as usize;

/// Outputs of a block whose threads have runs, or long runs.
const RUNS: usize = (kernels::unroll::RUN_THREADS * kernels::unroll::RUN) as usize;
const LONG_RUNS: usize = (kernels::unroll::RUN_THREADS * kernels::unroll::LONG_RUN) as usize;
/// Taps of a tile of such a block.
const LONG_TILE: usize = kernels::unroll::LONG_TILE as usize;
/// Steps that such a thread takes in one iteration of its loop.
const SLOTS: usize = kernels::unroll::SLOTS as usize;
/// Taps that fit constant memory.
const CONSTANT_TAPS: usize = kernels::unroll::CONSTANT_TAPS as usize;

/// The stages whose threads have runs of outputs.
const OF_RUNS: [Stage<Convolution>; 4] = [REGISTER_TILE, SPLIT_FILTER, CONSTANT_FILTER, LONG_RUN];

/// Runs the stages without timing them. Returns a message about the first stage that is not verified.
fn verify<W: Workload>(stages: &[Stage<W>], workload: &W) -> Result<(), TestCaseError> {
    verify_planned_for(u32::MAX, stages, workload)
}

/// Runs the stages with grids for at most this many multiprocessors. On a large device, the planner cuts all sums of a test's size into short
/// slices.
fn verify_planned_for<W: Workload>(multiprocessors: u32, stages: &[Stage<W>], workload: &W) -> Result<(), TestCaseError> {
    let finished = with_gpu(|gpu| {
        gpu.plan_for_multiprocessors(multiprocessors);
        let finished = runner::run(gpu, stages, workload, 0);
        gpu.plan_for_multiprocessors(u32::MAX);
        finished
    });
    let finished = finished.map_err(|error| TestCaseError::fail(error.to_string()))?;
    for row in finished.rows {
        match row.outcome {
            Outcome::Verified(_) | Outcome::Skipped(_) => {}
            Outcome::Failed(failure) => {
                return Err(TestCaseError::fail(format!("{}, {}: {failure}", row.name, workload.describe())));
            }
            Outcome::NotRun(reason) => return Err(TestCaseError::fail(format!("{}: {reason}", row.name))),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config::with_cases(20))]

    #[test]
    fn conv_naive_is_right_at_every_size(conv in convolutions(length(conv_naive::THREADS as usize, 2500), length(32, 600))) {
        verify(conv_naive::CHAPTER.stages, &conv)?;
    }

    #[test]
    fn conv_naive_is_right_where_runs_of_outputs_end(
        conv in convolutions(length((conv_naive::THREADS * kernels::conv_naive::RUN) as usize, 4200), length(32, 40)),
    ) {
        verify(conv_naive::CHAPTER.stages, &conv)?;
    }

    #[test]
    fn conv_shared_is_right_where_blocks_and_tiles_end(conv in convolutions(length(BLOCK, 800), length(TILE, 800))) {
        verify(conv_shared::CHAPTER.stages, &conv)?;
    }

    #[test]
    fn conv_shared_is_right_where_wide_tiles_end(conv in convolutions(length(BLOCK, 300), length(WIDE_TILE, 2500))) {
        verify(conv_shared::CHAPTER.stages, &conv)?;
    }

    #[test]
    fn unroll_is_right_where_blocks_and_tiles_end(conv in convolutions(length(BLOCK, 800), length(TILE, 800))) {
        verify(unroll::CHAPTER.stages, &conv)?;
    }

    #[test]
    fn unroll_is_right_where_runs_and_turns_end(conv in convolutions(length(RUNS, 2100), length(SLOTS, 300))) {
        verify(&OF_RUNS, &conv)?;
        verify(unroll::CHAPTER.variants, &conv)?;
    }

    #[test]
    fn unroll_is_right_where_long_runs_and_slices_end(conv in convolutions(length(LONG_RUNS, 3600), length(2 * TILE, 1100))) {
        verify(&OF_RUNS, &conv)?;
    }
}

proptest! {
    #![proptest_config(Config::with_cases(4))]

    /// Draws longer filters than other tests, for stages that sum in order. Transforms and tensor cores have slices at fewer taps, below.
    #[test]
    fn unroll_is_right_where_constant_memory_is_full(conv in convolutions(1..100_usize, length(CONSTANT_TAPS, 2 * CONSTANT_TAPS + 1))) {
        let others = [FFT, FFT_PARTITIONED, TF32X3, F16X3];
        let in_order: Vec<_> = unroll::CHAPTER.stages.iter().filter(|stage| !others.contains(stage)).copied().collect();
        verify(&in_order, &conv)?;
    }
}

proptest! {
    #![proptest_config(Config::with_cases(8))]

    #[test]
    fn transforms_are_right_where_a_filter_is_cut_into_parts(
        conv in convolutions(
            prop_oneof![length(PART as usize, 9000), length(2, 40)],
            prop_oneof![length(PART as usize, 7000), length(MOST_TAPS_OF_ONE_PART as usize, 3100)],
        ),
    ) {
        verify(&[FFT_PARTITIONED], &conv)?;
    }

    #[test]
    fn tensor_cores_are_right_where_tiles_and_rows_of_taps_end(
        conv in convolutions(length((ROWS * COLUMNS) as usize, 8300), length(COLUMNS as usize, 300)),
    ) {
        verify(&[TF32X3, F16X3], &conv)?;
    }

    #[test]
    fn tensor_cores_are_right_where_slices_end(
        conv in convolutions(length(COLUMNS as usize, 150), length((COLUMNS * Division::MOST_LINES) as usize, 8300)),
    ) {
        verify(&[TF32X3, F16X3], &conv)?;
    }
}

proptest! {
    #![proptest_config(Config::with_cases(2))]

    /// Draws sizes around one thread's work in `multiply_parts`: eight pairs of blocks of outputs, and eight parts of the filter per iteration.
    #[test]
    fn transforms_are_right_where_the_pairs_and_the_parts_of_a_thread_end(
        conv in convolutions(14 * PART as usize + 1..18 * PART as usize, 7 * PART as usize + 1..9 * PART as usize),
    ) {
        verify(&[FFT_PARTITIONED], &conv)?;
    }
}

proptest! {
    #![proptest_config(Config::with_cases(8))]

    /// Draws templates with wide rows. A row of the tile takes a warp several iterations of a loop that compilers unroll by four.
    #[test]
    fn correlation_is_right_for_wide_templates(
        width in 97..260_u32, height in 1..4_u32, wider in 0..84_u32, higher in 0..4_u32, clamp in any::<bool>(), seed in any::<u64>(),
    ) {
        let size = correlation::Size { image: (width + wider, height + higher), template: (width, height) };
        let border = if clamp { Border::Clamp } else { Border::Valid };
        verify(correlation_sm_aware::CHAPTER.stages, &Correlation::random(size, border, seed))?;
    }
}

proptest! {
    #![proptest_config(Config::with_cases(14))]

    #[test]
    fn correlation_is_right_at_every_size(correlation in correlations()) {
        verify(correlation_sm_aware::CHAPTER.stages, &correlation)?;
    }
}

proptest! {
    #![proptest_config(Config::with_cases(36))]

    #[test]
    fn window_sums_are_right_at_every_size(sums in window_sums(odd(65), 600)) {
        verify(window_sums::CHAPTER.stages, &sums)?;
    }

    #[test]
    fn window_sums_are_right_where_parts_of_windows_and_tiles_end(
        sums in window_sums(prop::sample::select(vec![255, 257, 511, 513, 987, 989, 991, 1025]), 1100),
    ) {
        // The stages before these do not cut windows into parts, and take long for wide windows.
        verify(&[SHARED_TILE, SLIDING, VECTOR, ROW_SCAN, TILE_SCAN, INTEGRAL, ONE_PASS], &sums)?;
    }

    /// Draws every length of a window's part. It decides how often a thread copies pixels, and compilers unroll that loop by four.
    #[test]
    fn window_sums_are_right_for_parts_of_windows_of_every_length(sums in window_sums(odd(191).prop_map(|window| window + 64), 700)) {
        verify(&[SHARED_TILE, SLIDING, VECTOR], &sums)?;
    }

    #[test]
    fn window_sums_are_right_where_blocks_of_runs_and_tiles_end(
        window in odd(33), places in prop::sample::select(vec![255, 256, 257, 575, 576, 577, 991, 992, 993, 1023, 1024, 1025, 1985]), height in 1..=3_usize,
        clamp in any::<bool>(), seed in any::<u64>(),
    ) {
        let border = if clamp { Border::Clamp } else { Border::Valid };
        let width = if clamp { places.max(window) } else { places + window - 1 };
        let sums = WindowSums::random(Size { width, height: height as u32 }, window, border, seed).expect("a window that fits");
        verify(window_sums::CHAPTER.stages, &sums)?;
    }

    #[test]
    fn histograms_are_right_at_every_size_and_with_few_levels(
        pixels in prop_oneof![
            prop::collection::vec(0..256_i32, 1..3000),
            prop::collection::vec(prop::sample::select(vec![0, 255, 7]), 1..3000),
            prop::collection::vec(0..256_i32, (kernels::histogram::CHUNK - 2) as usize..(kernels::histogram::CHUNK + 3) as usize),
        ],
    ) {
        let image = Image { width: pixels.len() as u32, height: 1, pixels };
        verify(histogram::CHAPTER.stages, &Histogram::new(image).expect("gray levels"))?;
    }

    /// Counts with one block. So its threads load several vectors at a time, and then the rest.
    #[test]
    fn histograms_are_right_where_the_loads_of_one_block_end(
        pixels in (3..10_usize, 0..36_usize).prop_map(|(chunks, more)| chunks * kernels::histogram::CHUNK as usize + more - 18), seed in any::<u64>(),
    ) {
        let size = Size { width: pixels as u32, height: 1 };
        verify_planned_for(1, &[WIDE, BYTES, LANES], &Histogram::random(size, seed).expect("a size that fits"))?;
    }

    /// Draws rows of up to three tiles. Windows end in the tile in which they begin, or in the next or the one after it.
    #[test]
    fn scans_of_whole_rows_are_right_where_tiles_end(
        more in prop::sample::select(vec![0, 1, 2, 3, 32, 33, 5000, ONCE_TILE - 1, ONCE_TILE, ONCE_TILE + 1, ONCE_TILE + 9]),
        window in prop::sample::select(vec![1, 3, 15, 63, 65, 127, 1023, ONCE_TILE - 1, ONCE_TILE + 1]),
        height in 1..=2_u32, clamp in any::<bool>(), seed in any::<u64>(),
    ) {
        let border = if clamp { Border::Clamp } else { Border::Valid };
        let size = Size { width: ONCE_TILE + more, height };
        let sums = WindowSums::random(size, window, border, seed);
        prop_assume!(sums.is_ok());
        verify(&[INTEGRAL, ONE_PASS], &sums.expect("a window that fits"))?;
    }

    #[test]
    fn window_sums_are_right_in_images_of_one_column(sums in window_sums(Just(1), 1)) {
        verify(window_sums::CHAPTER.stages, &sums)?;
    }
}

/// Draws numbers of rows and columns near the tile sizes. They are 16, 64, 128 and 256.
fn sides() -> impl Strategy<Value = usize> {
    prop_oneof![2 => length(16, 70), 2 => length(64, 140), 1 => length(128, 260), 1 => prop::sample::select(vec![4, 12, 60, 255, 256, 257])]
}

proptest! {
    #![proptest_config(Config::with_cases(14))]

    #[test]
    fn products_of_matrices_are_right_at_every_size(product in products(sides(), sides(), length(16, 70))) {
        verify(matmul_tiled::CHAPTER.stages, &product)?;
    }

    #[test]
    fn products_of_matrices_are_right_where_slices_and_buffers_end(product in products(1..20_usize, 1..40_usize, length(32, 700))) {
        verify(matmul_tiled::CHAPTER.stages, &product)?;
    }
}

/// Ends the signal in each of the four copies of an iteration. A thread copies every 64th sample of a tile, and compilers unroll that loop by four.
#[test]
fn runs_are_right_where_the_signal_ends_in_any_copy_of_an_iteration() {
    for outputs in [1, RUNS + 1, LONG_RUNS + 1] {
        for taps in (20..300).step_by(kernels::unroll::RUN_THREADS as usize) {
            let conv = Convolution::random(convolution::Size { outputs: outputs as u32, taps: taps as u32 }, 13);
            verify(&[REGISTER_TILE, CONSTANT_FILTER, LONG_RUN], &conv)
                .and_then(|()| verify(unroll::CHAPTER.variants, &conv))
                .unwrap();
        }
    }
}

/// Launches four blocks for one multiprocessor: more slices would not occupy it better, so each block has the whole filter.
#[test]
fn long_runs_are_right_where_tiles_are_full_or_almost() {
    let almost = (LONG_TILE - 192..LONG_TILE).step_by(SLOTS).map(|taps| taps + SLOTS / 2);
    for taps in almost.chain([LONG_TILE - 1, LONG_TILE, LONG_TILE + 1, 2 * LONG_TILE]) {
        let conv = Convolution::random(convolution::Size { outputs: 3 * LONG_RUNS as u32 + 1, taps: taps as u32 }, 13);
        verify_planned_for(1, &[LONG_RUN], &conv).unwrap();
    }
}

/// Runs the worst case of a transform. It errs most where the spectra of signal and filter are largest at the same frequency.
#[test]
fn transforms_are_right_where_signal_and_filter_rise() {
    let rising = |count: usize| (0..count).map(|i| 1.0 + 0.37 * i as f32).collect::<Vec<_>>();
    for (outputs, taps) in [(3583, 127), (5000, 1024), (9000, 4096)] {
        let conv = Convolution::new(rising(outputs + taps - 1), rising(taps)).expect("a filter no longer than its signal");
        if let Err(error) = verify(&[FFT_PARTITIONED], &conv) {
            panic!("{error}");
        }
    }
}
