//! This chapter's binary alone: windows and borders, and pictures in and out. Chapter 01 tests what all chapters share.

use std::fs;
use std::path::Path;

use run::picture::{self, write_png};

use support::Binary;
use support::binary::{count, stage, stderr, stdout, verified};

const BINARY: Binary = Binary { path: env!("CARGO_BIN_EXE_05-window-sums"), chapter: "05-window-sums" };

support::chapter_tests!(BINARY);

/// Returns the names of all stages.
fn stages() -> Vec<&'static str> {
    window_sums::CHAPTER.stages.iter().map(|stage| stage.name).collect()
}

/// Writes a PGM of dark strokes on paper that darkens rightward.
fn write_page(path: &Path) {
    let (width, height) = (96_u32, 20_u32);
    let ink = |x: u32, y: u32| x % 12 == 5 && (4..16).contains(&y);
    let level = |x: u32, y: u32| (220 - 3 * x / 2 - if ink(x, y) { 70 } else { 0 }) as u8;
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| level(x, y))).collect::<Vec<_>>();
    fs::write(path, [format!("P5\n{width} {height}\n255\n").as_bytes(), &pixels].concat()).unwrap();
}

#[test]
fn both_borders_and_all_windows_are_computed() {
    for (border, window, places) in
        [("valid", "15", (60 - 14) * 40), ("clamp", "15", 60 * 40), ("valid", "59", 2 * 40), ("clamp", "1", 60 * 40)]
    {
        let record = BINARY.record("sim", &["--size", "60x40", "--window", window, "--border", border]);
        assert_eq!(verified(&record), stages(), "{border}, {window}");
        assert_eq!(record["workload"]["multiply_adds"], places);
        assert_eq!(record["workload"]["least_bytes"], 4 * 60 * 40 + 8 * places);
    }
}

#[test]
fn the_original_s_rows_have_its_order_on_its_gpu() {
    let record = BINARY.record("sim:9800gt", &["--size", "512x8"]);
    let sectors = |name| count(&record, name, "global_load_sectors") + count(&record, name, "global_store_sectors");
    let [fused, split, slices] = ["fused-global", "split-global", "shared-slices"].map(sectors);
    // Published: 12, 7 and 1.65 ms.
    assert!(2 * fused >= 3 * split - split / 5 && split >= 3 * slices, "{fused} {split} {slices}");
}

#[test]
fn each_half_of_the_first_version_takes_a_third_of_it_on_the_original_s_gpu() {
    let output = BINARY.run_on("sim:9800gt", &["--size", "512x8", "--diagnose", "fused-global"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = stdout(&output);
    for half in ["sum-only", "squares-only"] {
        let line = table.lines().find(|line| line.contains(half) && line.contains('%')).expect("a line of the table");
        let share: f64 = line.split(" %").next().unwrap().rsplit(' ').next().unwrap().parse().expect("a number of percent");
        assert!((30.0..37.0).contains(&share) && line.contains("memory"), "{line}");
    }
}

#[test]
fn slices_of_an_odd_number_of_words_have_no_bank_conflicts_and_padded_ones_do() {
    for device in ["sim:9800gt", "sim:gtx680", "sim:h200"] {
        let record = BINARY.record(device, &["--size", "300x2", "--stage", "shared-slices", "--stage", "padded-slices"]);
        let conflicts = |name: &str| {
            let wavefronts = |kind: &str| count(&record, name, &format!("shared_{kind}"));
            let of = |kind: &str| wavefronts(&format!("{kind}_wavefronts")) - wavefronts(&format!("{kind}_wavefronts_ideal"));
            of("load") + of("store")
        };
        assert_eq!(conflicts("shared-slices"), 0, "{device}");
        assert!(conflicts("padded-slices") > 0, "{device}");
    }
}

#[test]
fn slices_that_do_not_fit_are_skipped_with_a_reason() {
    let record = BINARY.record("sim", &["--size", "8191x1", "--window", "8191"]);
    let skipped = stage(&record, "shared-slices")["skipped"].as_str().expect("a reason");
    assert!(skipped.contains("65784 bytes") && skipped.contains("49152"), "{skipped}");
}

#[test]
fn strokes_are_told_from_paper_wherever_it_is_darker() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    write_page(Path::new(&path("page.pgm")));
    let (variance, binary) = (path("variance.png"), path("binary.png"));
    let output = BINARY.run(&["--input", &path("page.pgm"), "--output", &variance, "--threshold", &binary, "--border", "clamp"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("variance.png (white is a variance of "), "{}", stderr(&output));
    let [variance, binary] = [variance, binary].map(|path| picture::read(Path::new(&path)).unwrap());
    assert_eq!((variance.width, variance.height, variance.pixels.iter().max()), (96, 20, Some(&255)));
    for (at, level) in binary.pixels.iter().enumerate() {
        let (x, y) = (at % 96, at / 96);
        assert_eq!(*level == 0, x % 12 == 5 && (4..16).contains(&y), "at {x},{y}");
    }
}

#[test]
fn requests_that_make_no_sense_are_refused_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    write_page(Path::new(&path("page.pgm")));
    fs::write(path("text.png"), "no picture").unwrap();
    let (page, map) = (path("page.pgm"), path("map.png"));
    let (picture, same) = (path("both.png"), path("./both.png"));
    BINARY.assert_refused(&["--size", "20x10", "--window", "3", "--output", &picture, "--threshold", &same], &["two options"]);
    BINARY.assert_refused(&["--size", "20x10", "--window", "3", "--output", &picture, "--save", &same], &["two options"]);
    BINARY.assert_refused(&["--size", "20x10", "--window", "21"], &["wider than the image", "20x10"]);
    BINARY.assert_refused(&["--size", "20x10", "--window", "4"], &["odd"]);
    BINARY.assert_refused(&["--size", "20"], &["640x480"]);
    BINARY.assert_refused(&["--size", "4x65536"], &["65535 rows"]);
    BINARY.assert_refused(&["--size", "90000x1", "--window", "70001"], &["32 bits", "4294967296"]);
    BINARY.assert_refused(&["--input", &page, "--window", "97", "--output", &map], &["wider than the image"]);
    BINARY.assert_refused(&["--input", &path("text.png"), "--output", &map], &["text.png", "neither a PNG nor a PGM"]);
    BINARY.assert_refused(&["--input", &page, "--output", &path("no/map.png")], &["map.png"]);
    BINARY.assert_refused(&["--input", &page, "--sensitivity", "0.3"], &["--threshold"]);
    BINARY.assert_refused(&["--input", &page, "--threshold", &map, "--sensitivity", "2"], &["from 0 to 1"]);
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["page.pgm", "text.png"]);
}

#[test]
fn a_picture_in_png_is_read_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gray.png");
    let rgb: Vec<u8> = (0..40 * 3).flat_map(|i| [(i * 37) as u8; 3]).collect();
    write_png(&mut fs::File::create(&path).unwrap(), 40, 3, &rgb).unwrap();
    let record = BINARY.record("sim", &["--input", &path.display().to_string(), "--window", "9"]);
    assert_eq!(verified(&record), stages());
    assert_eq!(record["workload"]["input"], "gray.png");
}
