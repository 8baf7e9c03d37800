//! Footprints against what the kernels' formulas say of a thread, worked out by hand.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use run::Chapter;
use run::device::Request;
use run::workload::{Border, Convolution, Matmul, WindowSums, Workload, convolution, matmul, window_sums};

use super::*;
use crate::drawing::concepts::warp_tile;

static GPU: Mutex<Option<Gpu>> = Mutex::new(None);

const AROUND: Who = Who { thread: 100, only_before: false };

/// Traces on the simulator, for one test at a time: what it records is one list for all.
fn try_traced<W: Arrays>(stage: &Stage<W>, workload: &W, who: &Who) -> Result<Vec<Footprint>> {
    let mut gpu = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    let gpu = gpu.get_or_insert_with(|| Gpu::open(&Request::Sim(None)).expect("the simulator is built with this test"));
    footprints(gpu, stage, workload, who)
}

fn traced<W: Arrays>(stage: &Stage<W>, workload: &W, who: &Who) -> Vec<Footprint> {
    try_traced(stage, workload, who).unwrap_or_else(|error| panic!("{error:#}"))
}

fn stage<W: Workload>(chapter: &Chapter<W>, name: &str) -> Stage<W> {
    *chapter.stages.iter().find(|stage| stage.name == name).expect("the chapter has that stage")
}

fn part(read: impl IntoIterator<Item = u64>, written: impl IntoIterator<Item = u64>) -> Part {
    Part { read: read.into_iter().collect(), written: written.into_iter().collect() }
}

/// Returns the elements in these rows and columns of a matrix. Each row of the matrix has `row` columns.
fn rectangle(rows: Range<u64>, columns: Range<u64>, row: u64) -> impl Iterator<Item = u64> {
    rows.flat_map(move |y| columns.clone().map(move |x| y * row + x))
}

#[test]
fn a_thread_of_naive_reads_its_window() {
    let conv = Convolution::random(convolution::Size { outputs: 700, taps: 9 }, 13);
    let footprints = traced(&conv_naive::NAIVE, &conv, &AROUND);
    let [signal, filter, output] = footprints.as_slice() else { panic!("three arrays") };
    // Thread 100 of block 1 has output 356; its warp starts with thread 96, its block with output 256.
    assert_eq!((&signal.thread, &filter.thread, &output.thread), (&part(356..365, []), &part(0..9, []), &part([], [356])));
    assert_eq!((&signal.warp, &filter.warp, &output.warp), (&part(352..392, []), &part(0..9, []), &part([], 352..384)));
    assert_eq!((&signal.block, &filter.block, &output.block), (&part(256..520, []), &part(0..9, []), &part([], 256..512)));
    // The last block has no more than the 188 outputs that are left.
    assert_eq!((&signal.beside[1], &output.beside[1]), (&part(512..708, []), &part([], 512..700)));
    let captions = captions(&AROUND, &footprints);
    assert_eq!(captions[0], "The block reads 264 samples and 9 filter values, and writes 256 outputs.");
    assert_eq!(captions[2], "Its thread 100 reads 9 samples and 9 filter values, and writes 1 output.");
    assert_eq!(captions[3], "Of what the block reads, the blocks beside it read 16 samples and 9 filter values as well.");
}

#[test]
fn a_thread_of_warp_tile_writes_the_squares_of_the_picture() {
    let product = Matmul::random(matmul::Size { m: 256, n: 256, k: 8 }, 13).unwrap();
    for thread in [0, 101, 254] {
        let who = Who { thread, ..AROUND };
        let footprints = traced(&stage(&matmul_tiled::CHAPTER, "warp-tile"), &product, &who);
        let (warp, lane) = (thread / WARP, thread % WARP);
        let squares = (0..4).flat_map(|quarter| {
            let (row, column) = warp_tile::square(quarter, lane);
            // Of block (1, 1), whose warps are in two columns.
            let (row, column) = (128 + warp / 2 * warp_tile::WARP.0 + row, 128 + warp % 2 * warp_tile::WARP.1 + column);
            let square = |first: u32| first.into()..(first + warp_tile::VECTOR).into();
            rectangle(square(row), square(column), 256)
        });
        assert_eq!(footprints[2].thread, part([], squares), "thread {thread}");
    }
}

#[test]
fn copies_and_vectors_are_traced_as_loads_are() {
    let product = Matmul::random(matmul::Size { m: 256, n: 512, k: 16 }, 13).unwrap();
    let who = Who { only_before: true, ..AROUND };
    let footprints = traced(&stage(&matmul_tiled::CHAPTER, "double-buffered"), &product, &who);
    let [a, b, c] = footprints.as_slice() else { panic!("three matrices") };
    assert_eq!(a.block, part(rectangle(128..256, 0..16, 16), []));
    assert_eq!(b.block, part(rectangle(0..16, 256..512, 512), []));
    assert_eq!(c.block, part([], rectangle(128..256, 256..512, 512)));
    // Thread 100 copies numbers of column 100 % 8 of A, of every 32nd row from 100 / 8 on, for each 8 columns; and of B a vector of four
    // in column 100 % 64 of row 100 / 64, of every 4th row.
    let of_a = (0..4).flat_map(|i| [0, 8].map(|slab| (128 + 12 + 32 * i) * 16 + slab + 4));
    assert_eq!(a.thread, part(of_a, []));
    let of_b = (0..4).flat_map(|i| rectangle(1 + 4 * i..2 + 4 * i, 256 + 144..256 + 148, 512));
    assert_eq!(b.thread, part(of_b, []));
    // It is lane 4 of warp 3, in the second row and the second column of warps, which are 32 x 128: at row 0 and column 2 x 4 of its warp,
    // with groups of four rows 16 apart and of four columns 32 apart.
    let rows = [0, 16].into_iter().flat_map(|group| (0..4).map(move |i| 128 + 32 + group + i));
    let of_c = rows.flat_map(|row| (0..4).flat_map(move |group| (0..4).map(move |i| row * 512 + 256 + 128 + 8 + 32 * group + i)));
    assert_eq!(c.thread, part([], of_c));
}

#[test]
fn an_output_that_is_read_again_is_both() {
    let sums = WindowSums::random(window_sums::Size { width: 400, height: 3 }, 5, Border::Valid, 13).unwrap();
    let footprints = traced(&::window_sums::FUSED_GLOBAL, &sums, &Who { thread: 7, ..AROUND });
    let [image, sums, squares] = footprints.as_slice() else { panic!("three arrays") };
    // Outputs start at column 2, and those of the second block 256 columns later.
    assert_eq!(image.thread, part(400 + 263..400 + 268, []));
    assert_eq!((&sums.thread, &squares.thread), (&part([665], [665]), &part([665], [665])));
}

#[test]
fn a_grid_that_is_too_small_is_refused() {
    let conv = Convolution::random(convolution::Size { outputs: 200, taps: 9 }, 13);
    let Err(error) = try_traced(&conv_naive::NAIVE, &conv, &AROUND) else { panic!("there is no block 1") };
    assert!(error.to_string().contains("the grid is smaller"), "{error:#}");
}
