//! The kernels of the chapters and the solutions of the exercises: the lowering's code and that of clang's own back end must compute the
//! same bits and make the same accesses to memory.

use std::collections::BTreeMap;
use std::path::Path;

use lower::{Options, lower};
use simt::Counters;

use crate::clang::{Clang, root};
use crate::machine::{Launch, Outcome, run};

/// File, kernel, blocks, threads, dynamic shared memory, arguments.
type Row = (&'static str, &'static str, [u32; 3], [u32; 3], u32, &'static str);

const CONV: &str = "f1400 f333 i1000 i333 o1000";

/// The convolutions are the same in `02` and `03`, and so on: one launch for each kernel, with sizes that leave partial tiles.
const KERNELS: [Row; 68] = [
    ("01-conv-naive", "naive", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("01-conv-naive", "naive_strided", [1, 1, 1], [128, 1, 1], 0, CONV),
    ("02-conv-shared", "shared", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("02-conv-shared", "shared_wide", [4, 1, 1], [256, 1, 1], 0, "f3400 f2333 i1000 i2333 o1000"),
    ("02-conv-shared-reduction", "block_per_output", [50, 1, 1], [256, 1, 1], 0, "f1400 f333 i50 i333 o50"),
    ("02-conv-shared-reduction", "warp_per_output", [7, 1, 1], [256, 1, 1], 0, "f1400 f333 i50 i333 o50"),
    ("02-conv-shared-reduction", "block_shuffle", [50, 1, 1], [1024, 1, 1], 0, "f3400 f2333 i50 i2333 o50"),
    ("03-unroll", "shared", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("03-unroll", "unroll_4", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("03-unroll", "unroll_8", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("03-unroll", "unroll_16", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("03-unroll", "wide_unroll", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("03-unroll", "register_tile", [1, 2, 1], [64, 1, 1], 0, "f1400 f333 i1000 i333 i200 o2000"),
    ("03-unroll", "at_least_16", [1, 2, 1], [64, 1, 1], 0, "f1400 f333 i1000 i333 i200 o2000"),
    ("03-unroll", "at_least_20", [1, 2, 1], [64, 1, 1], 0, "f1400 f333 i1000 i333 i200 o2000"),
    ("03-unroll", "at_least_24", [1, 2, 1], [64, 1, 1], 0, "f1400 f333 i1000 i333 i200 o2000"),
    ("03-unroll", "at_least_32", [1, 2, 1], [64, 1, 1], 0, "f1400 f333 i1000 i333 i200 o2000"),
    ("03-unroll", "add_slices", [4, 1, 1], [256, 1, 1], 0, "f3000 i1000 i3 o1000"),
    ("03-unroll", "constant_filter", [1, 2, 1], [64, 1, 1], 0, "f1400 i1000 i333 i200 o2000"),
    ("03-unroll", "long_run", [1, 2, 1], [64, 1, 1], 0, "f1400 i1000 i333 i200 o2000"),
    ("03-unroll-fft", "gather", [5, 1, 1], [256, 1, 1], 0, "f1000 i1000 f33 i33 i128 i96 i9 o1280"),
    ("03-unroll-fft", "multiply", [1, 3, 1], [128, 1, 1], 0, "f800 i100 i3 p0.125"),
    ("03-unroll-fft", "collect", [4, 1, 1], [256, 1, 1], 0, "f1400 i128 i96 i900 o900"),
    ("03-unroll-partitioned", "transform", [4, 1, 1], [256, 1, 1], 0, "f6000 i6000 f3000 i3000 i2 i2048 f3264 o32768"),
    ("03-unroll-partitioned", "convolve", [1, 1, 1], [256, 1, 1], 0, "f5000 i5000 f100 i100 i2000 i1 f3264 i3900 o3900"),
    ("03-unroll-partitioned", "multiply_parts", [128, 1, 1], [32, 2, 1], 0, "f229376 i2 i13 o106496"),
    ("03-unroll-partitioned", "transform_back", [1, 1, 1], [256, 1, 1], 0, "f8192 i2048 f3264 i4000 o4000"),
    ("03-unroll-tensor", "magnitudes", [128, 1, 1], [256, 1, 1], 0, "f40000 i40000 f300 i300 o256"),
    ("03-unroll-tensor", "tensor_tf32x3", [1, 1, 1], [128, 1, 1], 39168, "f5000 f333 i4000 i333 i8 o4000"),
    ("03-unroll-tensor", "tensor_f16x3", [1, 1, 1], [128, 1, 1], 26000, "f5000 f333 i4000 i333 i8 w256 o4000"),
    ("04-correlation-sm-aware", "global", [3, 7, 1], [32, 8, 1], 0, "b3500 b63 (70,50,9,7,-4,-3,70,50,l7000,l90000) o3500"),
    ("04-correlation-sm-aware", "constant", [3, 7, 1], [32, 8, 1], 0, "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) o3500"),
    ("04-correlation-sm-aware", "shared", [3, 7, 1], [32, 8, 1], 700, "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i44 o3500"),
    (
        "04-correlation-sm-aware",
        "shared_multiply_24",
        [3, 7, 1],
        [32, 8, 1],
        700,
        "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i44 o3500",
    ),
    ("04-correlation-sm-aware", "unroll_4", [3, 7, 1], [32, 8, 1], 700, "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i44 o3500"),
    (
        "04-correlation-sm-aware",
        "unroll_4_multiply_24",
        [3, 7, 1],
        [32, 8, 1],
        700,
        "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i44 o3500",
    ),
    ("04-correlation-sm-aware", "sums", [3, 7, 1], [32, 8, 1], 700, "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i44 o3500 o10500"),
    (
        "04-correlation-sm-aware",
        "sums_multiply_24",
        [3, 7, 1],
        [32, 8, 1],
        700,
        "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i44 o3500 o10500",
    ),
    ("04-correlation-sm-aware-dp4a", "fill_words", [1, 1, 1], [64, 1, 1], 0, "b63 i9 i7 o64"),
    ("04-correlation-sm-aware-dp4a", "dp4a", [3, 7, 1], [32, 8, 1], 1000, "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i48 o3500"),
    (
        "04-correlation-sm-aware-dp4a",
        "dp4a_tile",
        [1, 7, 1],
        [32, 8, 1],
        3000,
        "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i144 o3500",
    ),
    (
        "04-correlation-sm-aware-dp4a",
        "row_sums",
        [1, 7, 1],
        [32, 8, 1],
        3000,
        "b3500 (70,50,9,7,-4,-3,70,50,l7000,l90000) i144 o7840",
    ),
    ("04-correlation-sm-aware-dp4a", "column_sums", [3, 1, 1], [32, 8, 1], 0, "w7840 (70,50,9,7,-4,-3,70,50,l7000,l90000) o7000"),
    (
        "04-correlation-sm-aware-dp4a",
        "products",
        [1, 1, 1],
        [32, 8, 1],
        10500,
        "b3500 w7000 (70,50,9,7,-4,-3,70,50,l7000,l90000) i144 o3500",
    ),
    ("04-correlation-sm-aware-tensor", "fill_bands", [2, 1, 1], [256, 1, 1], 0, "b63 i9 i7 o600"),
    ("05-window-sums", "fused_global", [2, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums", "sum_only", [2, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) o900"),
    ("05-window-sums", "squares_only", [2, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) o900"),
    ("05-window-sums", "split_global", [2, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums", "multiply", [2, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums", "registers", [2, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums", "shared_slices", [5, 3, 1], [64, 1, 1], 16384, "w900 (300,31,0,300) i32 o900 o900"),
    ("05-window-sums-tiles", "shared_tile", [2, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums-tiles", "sliding", [1, 3, 1], [64, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums-tiles", "vector", [2, 3, 1], [64, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums-tiles", "row_scan", [1, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums-tiles", "tile_scan", [1, 3, 1], [128, 1, 1], 0, "w900 (300,31,0,300) o900 o900"),
    ("05-window-sums-scan", "differences", [2, 3, 1], [256, 1, 1], 0, "w900 (300,31,0,300) w900 w900 o900 o900"),
    ("06-matmul-tiled", "naive", [5, 4, 1], [256, 1, 1], 0, "f2500 f3500 i50 i70 i50 o3500"),
    ("06-matmul-tiled", "tiled", [5, 4, 1], [256, 1, 1], 0, "f2500 f3500 i50 i70 i50 o3500"),
    ("06-matmul-tiled", "register_tile_1d", [2, 1, 1], [512, 1, 1], 0, "f2500 f3500 i50 i70 i50 o3500"),
    ("06-matmul-tiled", "register_tile", [1, 1, 1], [256, 1, 1], 0, "f2500 f3500 i50 i70 i50 o3500"),
    ("06-matmul-tiled", "vector", [1, 1, 1], [256, 1, 1], 0, "f2600 f3744 i50 i72 i52 o3600"),
    ("06-matmul-tiled", "warp_tile", [1, 1, 1], [256, 1, 1], 0, "f2600 f3744 i50 i72 i52 o3600"),
    ("06-matmul-tiled-async", "small_tile", [2, 1, 1], [64, 1, 1], 0, "f2600 f3744 i50 i72 i52 i52 o3600"),
    ("06-matmul-tiled-async", "small_tile_any", [2, 1, 1], [64, 1, 1], 0, "f2500 f3500 i50 i70 i50 i50 o3500"),
    ("06-matmul-tiled-async", "double_buffered", [1, 1, 1], [256, 1, 1], 0, "f2600 f3744 i50 i72 i52 i52 o3600"),
    ("06-matmul-tiled-tensor", "tensor_tf32", [1, 1, 1], [256, 1, 1], 156_672, "f8192 f16384 i128 i256 i64 i64 o32768"),
];

/// Exercise, kernel, and the rest as above.
const EXERCISES: [Row; 23] = [
    ("01-conv-naive/exercises/2-one-thread-per-output", "convolve", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("01-conv-naive/exercises/7-neighbors", "convolve", [1, 1, 1], [256, 1, 1], 0, CONV),
    ("02-conv-shared/exercises/2-a-tile", "convolve", [4, 1, 1], [256, 1, 1], 0, "f1400 f200 i1000 i200 o1000"),
    ("02-conv-shared/exercises/3-wait-for-everyone", "convolve", [4, 1, 1], [256, 1, 1], 0, "f1400 f200 i1000 i200 o1000"),
    ("02-conv-shared/exercises/4-many-tiles", "convolve", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("02-conv-shared/exercises/5-bank-conflicts", "convolve", [5, 1, 1], [1024, 1, 1], 0, "f200 f20 i150 i20 o150"),
    ("02-conv-shared/exercises/6-one-barrier", "convolve", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("02-conv-shared/exercises/7-a-tree", "convolve", [50, 1, 1], [256, 1, 1], 0, "f1400 f333 i50 i333 o50"),
    ("02-conv-shared/exercises/8-a-shuffle", "convolve", [7, 1, 1], [256, 1, 1], 0, "f1400 f333 i50 i333 o50"),
    ("03-unroll/exercises/2-four-at-a-time", "convolve", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("03-unroll/exercises/3-four-values", "convolve", [4, 1, 1], [256, 1, 1], 0, CONV),
    ("03-unroll/exercises/4-four-outputs", "convolve", [4, 1, 1], [64, 1, 1], 0, CONV),
    ("03-unroll/exercises/6-odd-runs", "convolve", [2, 1, 1], [64, 1, 1], 0, CONV),
    ("03-unroll/exercises/7-an-array", "convolve", [3, 1, 1], [64, 1, 1], 0, CONV),
    (
        "04-correlation-sm-aware/exercises/2-two-slips",
        "correlate",
        [2, 6, 1],
        [32, 8, 1],
        0,
        "b3500 b63 i70 i9 i7 i62 i44 l7000 l90000 o2728",
    ),
    (
        "04-correlation-sm-aware/exercises/5-four-pixels",
        "correlate",
        [2, 6, 1],
        [32, 8, 1],
        0,
        "b3500 b63 i70 i50 i9 i7 i62 i44 l7000 l90000 o2728",
    ),
    (
        "04-correlation-sm-aware/exercises/6-four-outputs",
        "correlate",
        [1, 6, 1],
        [32, 8, 1],
        0,
        "b3500 b63 i70 i50 i9 i7 i62 i44 l7000 l90000 o2728",
    ),
    ("05-window-sums/exercises/3-sums-in-registers", "window_sums", [2, 3, 1], [256, 1, 1], 0, "w900 i300 i31 o900 o900"),
    ("05-window-sums/exercises/4-slices-of-16-words", "window_sums", [3, 3, 1], [128, 1, 1], 0, "w900 i300 i15 o900 o900"),
    ("05-window-sums/exercises/6-one-in-one-out", "window_sums", [1, 3, 1], [64, 1, 1], 0, "w900 i300 i31 o900 o900"),
    ("06-matmul-tiled/exercises/2-a-tile-for-a-block", "multiply", [4, 3, 1], [256, 1, 1], 0, "f1536 f2048 i48 i64 i32 o3072"),
    ("06-matmul-tiled/exercises/3-every-size", "multiply", [5, 4, 1], [256, 1, 1], 0, "f2500 f3500 i50 i70 i50 o3500"),
    ("06-matmul-tiled/exercises/4-a-column-for-a-thread", "multiply", [5, 1, 1], [256, 1, 1], 0, "f2500 f3500 i50 i70 i50 o3500"),
];

/// Kernel of `features.cu`, and the rest as above.
const FEATURES: [Row; 5] = [
    ("features", "lanes", [1, 1, 1], [64, 1, 1], 0, "w64 o128"),
    ("features", "atomics", [1, 1, 1], [64, 1, 1], 0, "w64 o68 w1 f1"),
    ("features", "vectors", [1, 1, 1], [64, 1, 1], 1024, "f256 o256 b256 o64"),
    ("features", "calls", [1, 1, 1], [64, 1, 1], 0, "f64 o128 (3,5) i7"),
    ("features", "doubles", [1, 1, 1], [64, 1, 1], 0, "f64 o128 o256"),
];

/// Kernels whose access counts differ from clang's back end, with the reasons.
const DIFFERENT: [(&str, &str, &str); 6] = [
    ("03-unroll/exercises/3-four-values", "convolve", "clang splits a load of four values into two pairs"),
    ("features", "calls", "a function reads structures where they were passed, and LLVM's back end copies them to local memory"),
    ("03-unroll-partitioned", "convolve", "LLVM's back end computes once what the three transforms of a thread have in common"),
    ("05-window-sums", "shared_slices", "LLVM's back end looks for redundant loads once more, and saves the first in a loop"),
    ("06-matmul-tiled", "vector", "a structure that is passed by value is read back from local memory before the call"),
    ("06-matmul-tiled", "warp_tile", "as `vector`"),
];

#[test]
fn kernels_of_the_chapters_do_the_same_as_with_clangs_back_end() {
    compare("kernels of the chapters", &KERNELS, |file| root().join("kernels/cuda").join(file).with_extension("cu"));
}

#[test]
fn solutions_of_the_exercises_do_the_same_as_with_clangs_back_end() {
    compare("solutions of the exercises", &EXERCISES, |file| root().join("chapters").join(file).join("solution.cu"));
}

#[test]
fn other_features_do_the_same_as_with_clangs_back_end() {
    compare("features", &FEATURES, |_| root().join("simulator/lower/tests/features.cu"));
}

fn compare(what: &str, rows: &[Row], path: impl Fn(&str) -> std::path::PathBuf) {
    let Some(clang) = Clang::find(what) else { return };
    let mut compiled: BTreeMap<&str, (String, String)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for &(file, kernel, grid, block, shared, args) in rows {
        let (own, theirs) = compiled.entry(file).or_insert_with(|| both(&clang, file, &path(file)));
        let call = Launch { kernel, grid, block, shared, args };
        match (run(own, &call), run(theirs, &call)) {
            (Ok(own), Ok(theirs)) => {
                let differences = differences(&own, &theirs);
                let is_known = DIFFERENT.iter().any(|(known, name, _)| (*known, *name) == (file, kernel));
                if differences.is_empty() == is_known {
                    wrong.push(format!("{file} {kernel}: {}", differences.join("; ")));
                }
                if std::env::var("LOWER_COUNTS").is_ok() {
                    eprintln!(
                        "{file} {kernel}: {} instructions, {} with clang's back end",
                        own.counters.ptx_instructions, theirs.counters.ptx_instructions
                    );
                }
            }
            (own, theirs) => wrong.push(format!("{file} {kernel}: {:?}, and with clang's back end {:?}", own.err(), theirs.err())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the code of the lowering and that of clang's back end.
fn both(clang: &Clang, name: &str, path: &Path) -> (String, String) {
    let (mut ir, theirs) = clang.compile(path);
    // IR that another clang made, such as one in WebAssembly: `LOWER_IR` is a folder of files with the names in the tables.
    if let Some(folder) = std::env::var_os("LOWER_IR") {
        let other = Path::new(&folder).join(name.replace('/', "_")).with_extension("ll");
        ir = std::fs::read_to_string(other).unwrap_or(ir);
    }
    let own = lower(&ir, &Options::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (own, theirs)
}

/// Lists the differences between two runs of a kernel: results, findings, and accesses to memory.
pub fn differences(own: &Outcome, theirs: &Outcome) -> Vec<String> {
    let mut found = Vec::new();
    for (at, (own, theirs)) in own.memory.iter().zip(&theirs.memory).enumerate() {
        if let Some(byte) = own.iter().zip(theirs).position(|(own, theirs)| own != theirs) {
            let word = byte / 4 * 4;
            found.push(format!(
                "buffer {at} differs at byte {word}: {:02x?} instead of {:02x?}",
                own.get(word..word + 4).unwrap_or_default(),
                theirs.get(word..word + 4).unwrap_or_default()
            ));
        }
    }
    if own.printed != theirs.printed {
        found.push(format!("printed {:?} instead of {:?}", own.printed, theirs.printed));
    }
    if own.findings.len() != theirs.findings.len() {
        found.push(format!("{:?} instead of {:?}", own.findings, theirs.findings));
    }
    for ((name, own), (_, theirs)) in accesses(&own.counters).into_iter().zip(accesses(&theirs.counters)) {
        if own != theirs {
            found.push(format!("{name}: {own} instead of {theirs}"));
        }
    }
    found
}

/// Returns the counters of memory.
fn accesses(counters: &Counters) -> Vec<(&'static str, u64)> {
    vec![
        ("global load requests", counters.global_load_requests),
        ("global load sectors", counters.global_load_sectors),
        ("global load bytes", counters.global_load_bytes),
        ("async copy requests", counters.async_copy_requests),
        ("global store requests", counters.global_store_requests),
        ("global store sectors", counters.global_store_sectors),
        ("global store bytes", counters.global_store_bytes),
        ("global atomic requests", counters.global_atomic_requests),
        ("shared load requests", counters.shared_load_requests),
        ("shared load wavefronts", counters.shared_load_wavefronts),
        ("shared store requests", counters.shared_store_requests),
        ("shared store wavefronts", counters.shared_store_wavefronts),
        ("shared atomic requests", counters.shared_atomic_requests),
        ("local requests", counters.local_requests),
        ("constant requests", counters.const_load_requests),
        ("barriers", counters.barriers),
        ("exchanges", counters.warp_exchanges),
        ("f32 multiply-adds", counters.f32_fma),
    ]
}
