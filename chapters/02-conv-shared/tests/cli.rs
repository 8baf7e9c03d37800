//! This chapter's binary alone: its rows, its lesson, and the stage that is wrong on purpose. Chapter 01 tests what all chapters
//! share.

use std::fs;
use std::path::Path;

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};
use serde_json::Value;

use support::Binary;
use support::binary::{stderr, stdout};

const BINARY: Binary = Binary { path: env!("CARGO_BIN_EXE_02-conv-shared"), chapter: "02-conv-shared" };

support::chapter_tests!(BINARY);

const STAGES: [&str; 6] = ["naive", "shared", "shared-wide", "block-per-output", "warp-per-output", "block-shuffle"];
const MISTAKE: &str = "shared-missing-barrier";

/// Returns the number of the first kernel line with this text.
fn source_line(text: &str) -> usize {
    1 + kernels::conv_shared::SOURCE.cuda.lines().position(|line| line.contains(text)).expect("the text is in the source")
}

#[test]
fn every_row_is_verified_at_sizes_of_every_kind_on_every_gpu() {
    let sizes = ["1x1", "1x257", "257x1", "256x256", "255x1025", "513x509"];
    let runs = sizes.map(|size| ("sim", size)).into_iter().chain([("sim:gtx280", "300x1030"), ("sim:t4", "300x1030")]);
    for (device, size) in runs {
        let record = BINARY.record(device, &["--size", size]);
        let stages = record["stages"].as_array().expect("an array");
        assert_eq!(stages.iter().map(|stage| stage["name"].as_str().unwrap()).collect::<Vec<_>>(), STAGES);
        // There are no shuffles before compute capability 3.0.
        let skipped = |stage: &Value| device == "sim:gtx280" && !stage["skipped"].is_null();
        assert!(stages.iter().all(|stage| stage["verified"] == true || skipped(stage)), "{size} on {device}: {stages:?}");
    }
}

#[test]
fn tiles_take_the_loads_away_from_global_memory_and_wide_tiles_some_of_the_rest() {
    let record = BINARY.record("sim", &[]);
    let [naive, shared, wide] = [0, 1, 2].map(|row| &record["stages"][row]["counters"]);
    let count = |counters: &Value, name: &str| counters[name].as_u64().expect("a count");
    for counters in [naive, shared, wide] {
        // Tiles and blocks are whole at this size, so no thread computes a sum that is discarded.
        assert_eq!(count(counters, "f32_fma"), 16_384 * 1024);
    }
    let sectors = |counters| count(counters, "global_load_sectors");
    assert!(sectors(naive) > 100 * sectors(shared), "{} and {}", sectors(naive), sectors(shared));
    assert!(sectors(shared) > sectors(wide), "{} and {}", sectors(shared), sectors(wide));
    // For each block of 256 outputs and tile of t taps, 255 + t samples and t filter values of 4 bytes.
    let bytes = |tiles: u64, taps: u64| 64 * tiles * 4 * (255 + taps + taps);
    assert_eq!(count(shared, "global_load_bytes"), bytes(4, 256));
    assert_eq!(count(wide, "global_load_bytes"), bytes(1, 1024));
    // Both operands of every multiply-add, for 32 lanes at once and without a conflict.
    assert_eq!(count(shared, "shared_load_wavefronts"), 2 * 16_384 * 1024 / 32);
    assert_eq!(count(shared, "shared_load_wavefronts"), count(shared, "shared_load_wavefronts_ideal"));

    let text = stdout(&BINARY.run(&[]));
    assert!(text.contains("naive has 125x as many (3.08 M). A block loads once what its threads share."), "{text}");
    assert!(text.contains("shared has 1.06 M wavefronts in L1 and shared memory, about as many as naive (1.05 M)."), "{text}");
    assert!(text.contains("shared has 1.32x as many (24.6 k). With larger tiles, fewer samples are copied twice."), "{text}");
}

#[test]
fn many_threads_add_up_an_output_with_barriers_or_without() {
    let record = BINARY.record("sim", &["--size", "200x5000"]);
    let count = |row: usize, name: &str| record["stages"][row]["counters"][name].as_u64().expect("a count");
    let [naive, block, warp, shuffle] = [0, 3, 4, 5];
    for row in [naive, block, warp, shuffle] {
        // Every product is computed once, whoever does it.
        assert_eq!(count(row, "f32_fma"), 200 * 5000, "row {row}");
        assert_eq!(count(row, "global_load_bytes"), 200 * 5000 * 2 * 4, "row {row}");
    }
    // A round of the tree halves 256 sums, and all 8 warps come to its barrier.
    assert_eq!(count(block, "barriers"), 200 * 8 * 8);
    assert_eq!([count(warp, "barriers"), count(warp, "shared_store_requests")], [0, 0]);
    // One barrier, for 32 warps.
    assert_eq!(count(shuffle, "barriers"), 200 * 32);
    assert!(
        [block, warp, shuffle]
            .iter()
            .all(|&row| count(row, "shared_load_wavefronts") == count(row, "shared_load_wavefronts_ideal"))
    );
}

#[test]
fn a_grid_of_2008_has_no_block_for_each_of_many_outputs() {
    let list = BINARY.record("sim:gtx280", &["--size", "65536x1", "--stage", "block-per-output"]);
    assert_eq!(list["stages"][0]["skipped"], "needs 65536 blocks, the limit is 65535");
}

#[test]
fn a_gpu_without_an_l1_cache_is_not_said_to_have_one() {
    let text = stdout(&BINARY.run_on("sim:gtx280", &["--size", "512x300"]));
    assert!(text.contains("A block loads once") && !text.contains("use the same banks"), "{text}");
}

#[test]
fn the_mistake_is_listed_with_a_note_and_runs_only_when_it_is_named() {
    let list = stdout(&BINARY.run(&["--list"]));
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, [&STAGES[..], &[MISTAKE]].concat());
    let noted: Vec<&str> = list.lines().filter(|line| line.contains("wrong on purpose")).collect();
    assert!(matches!(noted[..], [line] if line.starts_with(MISTAKE)), "{list}");

    let output = BINARY.run(&["--size", "300x300"]);
    assert!(!stdout(&output).contains(MISTAKE) && !stderr(&output).contains("warning"), "{}", stderr(&output));
}

#[test]
fn the_missing_barrier_is_found_with_both_lines_and_a_remedy() {
    let output = BINARY.run(&["--stage", MISTAKE]);
    let report = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{report}");
    assert!(report.contains(&format!("warning: {MISTAKE} is wrong on purpose")), "{report}");
    let place = |text| format!("at kernels/cuda/02-conv-shared.cu:{},", source_line(text));
    let (filter, signal, read) = (place("s_filter[k] = "), place("s_signal[k] = "), place("sum += *window++"));
    for words in ["data race on shared memory", "of s_filter", "of s_signal", &filter, &signal, &read, "help: put __syncthreads()"]
    {
        assert!(report.contains(words), "{words:?} is not in:\n{report}");
    }
    assert!(stdout(&output).contains("DEFECT"), "{}", stdout(&output));
}

#[test]
fn a_stage_that_is_wrong_is_not_diagnosed() {
    let output = BINARY.run(&["--diagnose", MISTAKE]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("data race on shared memory") && stdout(&output).is_empty(), "{}", stdout(&output));
}

#[test]
fn without_either_kind_of_load_the_multiply_adds_are_left() {
    let text = stdout(&BINARY.run(&["--diagnose", "shared", "--size", "512x300"]));
    let row = |name: &str| -> Vec<String> {
        let row =
            text.lines().find(|line| line.starts_with(&format!("│ {name} "))).unwrap_or_else(|| panic!("no {name} in\n{text}"));
        row.split('│').map(|cell| cell.trim().to_owned()).collect()
    };
    let whole = row("whole");
    let (sectors, passes, multiply_adds) = (4, 6, 7);
    for (name, gone) in
        [("without global loads", &[sectors][..]), ("without shared loads", &[passes]), ("without either", &[sectors, passes])]
    {
        for column in [sectors, passes, multiply_adds] {
            let expected = if gone.contains(&column) { "0" } else { &whole[column] };
            assert_eq!(row(name)[column], expected, "{name}, column {column} in\n{text}");
        }
    }
    assert!(text.contains("without shared loads: "), "{text}");
}

#[test]
fn unchecked_the_missing_barrier_shows_in_the_results_and_with_one_tile_it_does_not_matter() {
    let output = BINARY.run(&["--stage", MISTAKE, "--check", "off"]);
    assert_eq!(output.status.code(), Some(1));
    // The simulator runs the warps of a block one after the other, so the first warp is ahead of all others.
    assert!(stderr(&output).contains("offsets 32 to 255 of every block of 256"), "{}", stderr(&output));
    let output = BINARY.run(&["--stage", MISTAKE, "--size", "300x256"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn the_request_of_a_warp_that_is_explained_names_its_array_and_its_neighbors() {
    let text = stdout(&BINARY.run(&["--size", "512x300", "--explain", "shared"]));
    let line = source_line("sum += *window++");
    assert!(text.contains(&format!("a warp's load from s_signal in shared memory on line {line}, 4 bytes per lane")), "{text}");
    assert!(text.contains("  also on this line:\n    load from s_filter in shared memory: 1 wavefront for 32 lanes"), "{text}");
}

#[test]
fn a_gpu_of_2008_holds_one_block_with_wide_tiles_instead_of_four() {
    for (stage, occupancy) in [
        ("shared", "4 resident blocks per SM, 32 of 32 warps: limited by warps"),
        ("shared-wide", "1 resident block per SM, 8 of 32 warps: limited by shared memory"),
    ] {
        let text = stdout(&BINARY.run_on("sim:gtx280", &["--size", "512x300", "--explain", stage]));
        assert!(text.contains(occupancy), "{stage}: {text}");
    }
}

/// Compares the stages with a thread for each output, bit for bit. They add the same products in the same order and round once per
/// multiply-add.
#[test]
fn sounds_come_out_the_same_from_every_stage_with_a_thread_for_each_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let noise = |count: u32, start: u32| (0..count).map(move |i| ((i + start).wrapping_mul(2_654_435_761) >> 16) as i16 / 4);
    write_sound(Path::new(&path("voice.wav")), noise(900, 1));
    write_sound(Path::new(&path("room.wav")), noise(300, 5000));
    let wet = [0, 1, 2].map(|row| {
        let stage = STAGES[row];
        let files = ["--input", &path("voice.wav"), "--filter", &path("room.wav"), "--output", &path("wet.wav")];
        let output = BINARY.run(&[&["--stage", stage], &files[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{stage}: {}", stderr(&output));
        assert_eq!(WavReader::open(path("wet.wav")).unwrap().duration(), 900 + 300 - 1);
        fs::read(path("wet.wav")).unwrap()
    });
    assert!(wet[0] == wet[1] && wet[1] == wet[2]);
}

fn write_sound(path: &Path, samples: impl Iterator<Item = i16>) {
    let spec = WavSpec { channels: 1, sample_rate: 8000, bits_per_sample: 16, sample_format: SampleFormat::Int };
    let mut writer = WavWriter::create(path, spec).unwrap();
    samples.for_each(|sample| writer.write_sample(sample).unwrap());
    writer.finalize().unwrap();
}
