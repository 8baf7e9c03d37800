//! Chapter 05: sums over a window, where arithmetic is cheap and every byte that moves counts.
//!
//! # What we compute
//!
//! For each pixel of an image, the sum and the sum of squares of the pixels in a horizontal window around it.
//! [`run::workload::window_sums`] has the inputs, the oracle, what happens near the edges, and how wide the integers must be.
//!
//! # The stages
//!
//! The stages follow in the order of the table, each with the launch that it makes. The kernels are in
//! `kernels/cuda/05-window-sums.cu` and, from [`tiles::SHARED_TILE`] on, in `…-tiles.cu` next to it. [`scan::INTEGRAL`] is in `…-scan.cu`,
//! and [`scan::ONE_PASS`] in `…-once.cu`.
//!
//! # Layout
//!
//! - `launch`: the launch that most stages have in common, and that of the experiments that `--diagnose` runs.
//! - [`slices`]: the stages that give each thread shared memory of its own.
//! - [`tiles`]: the stages whose threads share a tile.
//! - [`scan`]: the stages whose blocks scan whole rows together.

mod launch;
pub mod scan;
pub mod slices;
pub mod tiles;

use kernels::window_sums;
use run::workload::window_sums::WindowSums;
use run::{Chapter, Comparison, Experiment, Measure, Stage};

use crate::launch::{Half, launch, one_each, only};

pub use crate::launch::squares_by_powf;

/// The chapter, for its binary and for the tests.
pub static CHAPTER: Chapter<WindowSums> = Chapter {
    name: "05-window-sums",
    about: "sums over a window: find the bottleneck, then move the sums on chip",
    sources: &[&window_sums::SOURCE, &window_sums::tiles::SOURCE, &window_sums::scan::SOURCE, &window_sums::once::SOURCE],
    stages: &[
        CPU,
        FUSED_GLOBAL,
        SPLIT_GLOBAL,
        slices::SHARED_SLICES,
        slices::PADDED_SLICES,
        MULTIPLY,
        REGISTERS,
        tiles::SHARED_TILE,
        tiles::SLIDING,
        tiles::VECTOR,
        tiles::ROW_SCAN,
        tiles::TILE_SCAN,
        scan::INTEGRAL,
        scan::ONE_PASS,
    ],
    mistakes: &[],
    variants: &[],
    experiments: &[SUM_ONLY, SQUARES_ONLY],
    choice: None,
    lesson: LESSON,
};

/// The lesson of the table.
const LESSON: &[Comparison<WindowSums>] = &[
    Comparison::counts(FUSED_GLOBAL, SPLIT_GLOBAL, Measure::GlobalRequests)
        .because("With both sums in one loop, the compiler must assume that storing one changes the other, and loads it again."),
    Comparison::counts(SPLIT_GLOBAL, REGISTERS, Measure::GlobalRequests).because("A sum in a register is stored once, at the end."),
    Comparison::counts(FUSED_GLOBAL, MULTIPLY, Measure::InstructionsPerMultiplyAdd)
        .because("The other instructions are what `powf` takes to square a number."),
    Comparison::counts(slices::SHARED_SLICES, slices::PADDED_SLICES, Measure::BankConflicts)
        .because("Slices of an odd number of words start in different banks; slices of a round number do not."),
    Comparison::times(FUSED_GLOBAL, slices::SHARED_SLICES).because("The sums are on chip while they grow."),
    Comparison::times(FUSED_GLOBAL, MULTIPLY).because("A product replaces `powf`."),
    Comparison::times(FUSED_GLOBAL, REGISTERS).because("The sums are in registers, and a product replaces `powf`."),
];

/// The formula as loops: for each pixel a loop over its window, on all cores.
pub const CPU: Stage<WindowSums> = Stage::cpu("cpu", "the formula as plain loops, all cores", baselines::window_sums::rows);

/// The original's first version: both sums in global memory while they grow.
pub const FUSED_GLOBAL: Stage<WindowSums> =
    Stage::launches("fused-global", "both sums in global memory, `powf` for the squares", |gpu, workload, buffers| {
        launch(gpu, workload, buffers, window_sums::FUSED_GLOBAL, one_each(workload))
    })
    .with_allowance(squares_by_powf);

/// One loop for the sum, and one for the sum of squares.
pub const SPLIT_GLOBAL: Stage<WindowSums> =
    Stage::launches("split-global", "one loop for each of the two sums", |gpu, workload, buffers| {
        launch(gpu, workload, buffers, window_sums::SPLIT_GLOBAL, one_each(workload))
    })
    .with_allowance(squares_by_powf);

/// The first version with a product instead of `powf`.
pub const MULTIPLY: Stage<WindowSums> =
    Stage::launches("multiply", "fused-global with a product instead of `powf`", |gpu, workload, buffers| {
        launch(gpu, workload, buffers, window_sums::MULTIPLY, one_each(workload))
    })
    .with_allowance(|workload| workload.rounding_of_f32_sums(0));

/// Both sums in registers.
pub const REGISTERS: Stage<WindowSums> =
    Stage::launches("registers", "both sums in registers, as integers", |gpu, workload, buffers| {
        launch(gpu, workload, buffers, window_sums::REGISTERS, one_each(workload))
    });

/// The first half of [`FUSED_GLOBAL`].
pub const SUM_ONLY: Experiment<WindowSums> = Experiment {
    stage: FUSED_GLOBAL,
    name: "sum-only",
    left: "the sums, without the sums of squares",
    run: |gpu, workload, buffers| only(Half::Sums, gpu, workload, buffers, window_sums::SUM_ONLY),
};

/// The second half of [`FUSED_GLOBAL`].
pub const SQUARES_ONLY: Experiment<WindowSums> = Experiment {
    stage: FUSED_GLOBAL,
    name: "squares-only",
    left: "the sums of squares, without the sums",
    run: |gpu, workload, buffers| only(Half::Squares, gpu, workload, buffers, window_sums::SQUARES_ONLY),
};
