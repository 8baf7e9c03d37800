//! This chapter's binary alone: its rows, and the story that their counts tell. Chapter 01 tests what all chapters share.

use support::Binary;
use support::binary::{count, stdout};

const BINARY: Binary = Binary { path: env!("CARGO_BIN_EXE_03-unroll"), chapter: "03-unroll" };

support::chapter_tests!(BINARY);

const STAGES: [&str; 9] =
    ["shared", "unroll-4", "unroll-8", "unroll-16", "wide-unroll", "register-tile", "split-filter", "constant-filter", "long-run"];
/// The rows of tensor cores and of another algorithm.
const OTHERS: [&str; 4] = ["tensor-tf32x3", "tensor-f16x3", "fft", "fft-partitioned"];

#[test]
fn every_row_is_verified_at_sizes_of_every_kind_on_every_gpu() {
    let sizes = ["1x1", "1x257", "257x1", "1023x31", "1025x33", "1791x513", "1793x1025"];
    let runs = sizes.map(|size| ("sim", size)).into_iter().chain([("sim:gtx680", "2000x1030"), ("sim:t4", "2000x1030")]);
    for (device, size) in runs {
        let record = BINARY.record(device, &["--size", size]);
        let stages = record["stages"].as_array().expect("an array");
        assert_eq!(stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect::<Vec<_>>(), [&STAGES[..], &OTHERS].concat());
        // Tensor cores with tf32 came with compute capability 8.0, and cuFFT is made for GPUs.
        let skipped: &[&str] = if device == "sim" { &["fft"] } else { &OTHERS[..3] };
        for stage in stages {
            let is_skipped = skipped.contains(&stage["name"].as_str().unwrap());
            assert_eq!(
                (stage["verified"] == true, stage["skipped"].is_string()),
                (!is_skipped, is_skipped),
                "{size} on {device}: {stage}"
            );
        }
    }
}

#[test]
fn unrolling_saves_instructions_and_runs_of_outputs_save_trips_to_shared_memory() {
    // Blocks, tiles, runs and iterations are whole at this size: 16 tiles of long runs, 28 of the others.
    let record = BINARY.record("sim", &["--size", "28672x1024"]);
    let multiply_adds = 28_672 * 1024;
    for stage in STAGES {
        assert_eq!(count(&record, stage, "f32_fma"), multiply_adds, "{stage}");
    }
    let per_multiply_add = |stage, name| count(&record, stage, name) as f64 / multiply_adds as f64;
    let instructions = |stage| per_multiply_add(stage, "ptx_thread_instructions");
    let wavefronts = |stage| 32.0 * per_multiply_add(stage, "shared_load_wavefronts");

    let unrolled = STAGES[..4].iter().map(|stage| instructions(stage)).collect::<Vec<_>>();
    assert!(unrolled.windows(2).all(|pair| pair[1] < pair[0]), "{unrolled:?}");
    assert!(instructions("unroll-8") < instructions("shared") / 2.0, "{unrolled:?}");
    // Unrolling further removes hardly anything: the two loads and the multiply-add are left, three instructions.
    assert!(unrolled[2] - unrolled[3] < 0.1 * unrolled[3] && unrolled[3] > 3.0, "{unrolled:?}");

    // A word of the signal for each lane, and a word of the filter for all lanes. Vectors of four need a quarter of the loads, with two
    // wavefronts each.
    assert_eq!(wavefronts("shared"), 2.0);
    for stage in ["unroll-4", "unroll-8", "unroll-16", "wide-unroll"] {
        assert_eq!(wavefronts(stage), 1.5, "{stage}");
    }
    // A thread loads its first window, and then a vector of samples for every four taps of its slice, each with `passes` wavefronts per
    // warp. It loads the filter in vectors with two wavefronts each. At the end it stores a sum for each of its outputs.
    let of_run = |outputs: f64, taps: f64, passes: f64, filter_passes: f64| {
        ((outputs + taps) / 4.0 * passes + taps / 4.0 * filter_passes + outputs) / (outputs * taps)
    };
    assert_eq!(wavefronts("register-tile"), of_run(16.0, 1024.0, 16.0, 2.0));
    assert_eq!(wavefronts("split-filter"), of_run(16.0, 256.0, 16.0, 2.0));
    assert_eq!(wavefronts("constant-filter"), of_run(16.0, 256.0, 16.0, 0.0));
    assert_eq!(wavefronts("long-run"), of_run(28.0, 256.0, 4.0, 0.0));
    assert!(wavefronts("register-tile") < wavefronts("unroll-16") / 5.0);
    let conflicts = |stage| count(&record, stage, "shared_load_wavefronts") - count(&record, stage, "shared_load_wavefronts_ideal");
    assert!(conflicts("register-tile") > 0 && conflicts("long-run") == 0);
}

#[test]
fn slices_cost_copies_and_change_nothing_else() {
    let record = BINARY.record("sim", &["--size", "16384x1024"]);
    let bytes = |stage| count(&record, stage, "global_load_bytes");
    assert!(bytes("split-filter") > bytes("register-tile"));
    assert_eq!(count(&record, "split-filter", "f32_fma"), count(&record, "register-tile", "f32_fma"));
}

#[test]
fn the_lesson_is_told_from_the_counts() {
    let text = stdout(&BINARY.run_on("sim", &[]));
    for words in [
        "unroll-8 has 3.77 PTX instructions per multiply-add; shared has 2.16x as many (8.14).",
        "register-tile has 0.293 shared-memory wavefronts per multiply-add of a warp; unroll-16 has 5.16x as many (1.51).",
        "long-run has 0 % bank conflicts among its shared-memory wavefronts; constant-filter has 72.7 %.",
    ] {
        assert!(text.contains(words), "{words:?} is not in:\n{text}");
    }
}

#[test]
fn a_filter_longer_than_constant_memory_comes_in_parts() {
    let record = BINARY.record("sim", &["--size", "64x40000", "--stage", "long-run"]);
    assert_eq!(record["stages"][0]["verified"], true);
    // Three slices of 13344 taps at most. Each takes whole iterations of 32 steps for the 1792 outputs of a block.
    let turns = |taps: u64| taps.div_ceil(32) * 32;
    assert_eq!(count(&record, "long-run", "f32_fma"), 1792 * (2 * turns(13_344) + turns(40_000 - 2 * 13_344)));
}

#[test]
fn a_block_transforms_a_short_filter_once_for_all_its_pairs_and_a_long_one_comes_in_parts() {
    let barriers = |device, size| {
        let record = BINARY.record(device, &["--size", size, "--stage", "fft-partitioned"]);
        assert_eq!(record["stages"][0]["verified"], true, "{size}");
        count(&record, "fft-partitioned", "barriers")
    };
    // 19 pairs of blocks, and 16 resident blocks of threads on 8 multiprocessors: two rounds of 10 blocks. Each of their 8 warps waits twice for
    // the transform of the filter, and twice for each pair.
    assert_eq!(barriers("sim:gtx680", "40000x3000"), 8 * (2 * 10 + 2 * 19));
    // Each of the 132 multiprocessors of an H200 could have two.
    assert_eq!(barriers("sim", "40000x3000"), 8 * (2 * 19 + 2 * 19));
    // One part more than fits. Parts of 2048 taps: 2 of the filter, 10 pairs of the outputs, and 11 of the signal.
    assert_eq!(barriers("sim", "40000x3073"), 8 * (2 + 11 + 10));
}

/// Returns a source line's percentage of PTX instructions, as `--explain` shows it.
fn share(stage: &str, size: &str, line: &str) -> f64 {
    let text = stdout(&BINARY.run_on("sim", &["--size", size, "--explain", stage]));
    // Long lines are cut off.
    let listed = text.lines().find(|listed| listed.contains(line)).unwrap_or_else(|| panic!("no {line:?} in\n{text}"));
    listed.split_whitespace().nth(1).and_then(|share| share.parse().ok()).unwrap_or_else(|| panic!("no share in {listed:?}"))
}

/// Checks the table of the book's page.
#[test]
fn unrolling_takes_the_loop_away_and_leaves_the_multiply_add_with_its_loads() {
    for (stage, of_loop, of_sum) in [("shared", 61, 37), ("unroll-4", 28, 68), ("unroll-8", 17, 79), ("unroll-16", 9, 86)] {
        let percent = |line| share(stage, "16384x1024", line).round() as u32;
        assert_eq!((percent("for (unsigned k = 0; k < TAP"), percent("sum += window[k]")), (of_loop, of_sum), "{stage}");
    }
}

#[test]
fn a_long_run_is_multiply_adds_but_for_a_few_instructions() {
    assert!(share("long-run", "28672x1024", "sum[i] += ") > 85.0);
}
