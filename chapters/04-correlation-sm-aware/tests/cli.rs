//! This chapter's binary alone: the choice of kernels on every generation, and pictures in and out. Chapter 01 tests what all
//! chapters share.

use std::fs;
use std::path::Path;

use run::picture::{self, Gray, Rectangle, write_png};

use support::Binary;
use support::binary::{count, stage, stderr, verified};

const BINARY: Binary = Binary { path: env!("CARGO_BIN_EXE_04-correlation-sm-aware"), chapter: "04-correlation-sm-aware" };

support::chapter_tests!(BINARY);

const STAGES: [&str; 13] = [
    "cpu",
    "global",
    "constant",
    "shared",
    "shared-sm",
    "shared-unroll-4",
    "shared-sums",
    "dp4a",
    "dp4a-tile",
    "box-sums",
    "tensor",
    "wgmma",
    "wgmma-roles",
];

/// Writes a PNG of a picture.
fn png(path: &Path, picture: &Gray) {
    let rgb: Vec<u8> = picture.pixels.iter().flat_map(|&level| [level; 3]).collect();
    write_png(&mut fs::File::create(path).unwrap(), picture.width, picture.height, &rgb).unwrap();
}

/// Returns a picture in which no two regions are alike.
fn picture() -> Gray {
    let mixed = |i: u32| {
        let product = (i + 1).wrapping_mul(0x9e37_79b9);
        (product ^ product >> 15).wrapping_mul(0x85eb_ca6b)
    };
    let pixels = (0..60 * 40).map(|i| (mixed(i) >> 24) as u8).collect();
    Gray { name: "scene".into(), width: 60, height: 40, pixels }
}

#[test]
fn every_generation_gets_its_kernels_and_all_of_them_are_right() {
    for (device, bits, last) in [
        ("sim:9800gt", "24 bits", "shared-sums"),
        ("sim:gtx280", "24 bits", "shared-sums"),
        ("sim:gtx680", "32 bits", "shared-sums"),
        ("sim:t4", "32 bits", "box-sums"),
        ("sim:a100", "32 bits", "tensor"),
        ("sim:h200", "32 bits", "wgmma-roles"),
    ] {
        let (record, words) = BINARY.record_and_words(device, &["--size", "70x50,19x9"]);
        assert!(words.contains(bits), "{device}: {words}");
        let expected = &STAGES[..=STAGES.iter().position(|stage| *stage == last).unwrap()];
        assert_eq!(verified(&record), expected, "{device}");
    }
}

#[test]
fn a_tile_too_large_for_the_device_leaves_the_work_to_constant_memory() {
    // 16 KiB on compute capability 1.x and 48 KiB on the others: the template does not fit the first and fits the second.
    let stages = ["--stage", "constant", "--stage", "shared", "--stage", "shared-sums"];
    let arguments = [["--size", "140x130,112x110"].as_slice(), &stages].concat();
    let [old, _] = [("sim:gtx280", "`constant`, because a tile of"), ("sim:h200", "in shared memory")].map(|(device, says)| {
        let (record, words) = BINARY.record_and_words(device, &arguments);
        assert!(words.contains(says), "{device}: {words}");
        record
    });
    assert_eq!(stage(&old, "shared")["counters"], stage(&old, "constant")["counters"]);
    assert!(
        stage(&old, "shared-sums")["skipped"].as_str().is_some_and(|reason| reason.contains("bytes of shared memory per block"))
    );
}

#[test]
fn unrolling_leaves_the_bank_conflicts_of_bytes_as_they_are() {
    let record = BINARY.record("sim:gtx280", &["--size", "70x50,20x9"]);
    let conflicts = |name| count(&record, name, "shared_load_wavefronts") - count(&record, name, "shared_load_wavefronts_ideal");
    assert!(conflicts("shared") > 0);
    assert_eq!(conflicts("shared"), conflicts("shared-unroll-4"));
}

#[test]
fn the_highest_image_is_computed() {
    // A grid may have many columns of blocks but few rows: this many rows are the limit.
    let record = BINARY.record("sim", &["--size", "1x262144,1x3", "--border", "clamp", "--stage", "shared", "--stage", "box-sums"]);
    assert_eq!(verified(&record), ["shared", "box-sums"]);
}

#[test]
fn both_borders_are_computed() {
    for (border, outputs) in [("valid", (60 - 8, 40 - 4)), ("clamp", (60, 40))] {
        let record = BINARY.record("sim", &["--size", "60x40,9x5", "--border", border]);
        assert_eq!(verified(&record), STAGES);
        assert_eq!(record["workload"]["multiply_adds"], outputs.0 * outputs.1 * 45);
    }
}

#[test]
fn a_part_of_a_picture_is_found_where_it_was_cut_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let scene = picture();
    png(Path::new(&path("scene.png")), &scene);
    png(Path::new(&path("part.png")), &scene.crop(Rectangle { x: 31, y: 12, width: 10, height: 7 }).unwrap());
    for template in [["--template", "31,12,10,7"], ["--template-file", &path("part.png")]] {
        let heat = path("heat.png");
        let output = BINARY.run(&[&["--input", &path("scene.png"), "--output", &heat], &template[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(stderr(&output).contains("best matches: 1.0000 at 31,12 (10x7)"), "{}", stderr(&output));
        let heat = picture::read(Path::new(&heat)).unwrap();
        assert_eq!((heat.width, heat.height), (60 - 9, 40 - 6));
        fs::remove_file(path("heat.png")).unwrap();
    }
}

#[test]
fn requests_that_make_no_sense_are_refused_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    png(Path::new(&path("scene.png")), &picture());
    fs::write(path("text.png"), "no picture").unwrap();
    let (scene, heat) = (path("scene.png"), path("heat.png"));
    BINARY.assert_refused(&["--size", "20x10,21x5"], &["larger than the image"]);
    BINARY.assert_refused(&["--size", "300x300,257x256"], &["65792 pixels", "65536"]);
    BINARY.assert_refused(&["--size", "20x10"], &["256x256,20x16"]);
    BINARY.assert_refused(&["--size", "99999999999x1,1x1"], &["99999999999 is too large", "4294967295 is the most"]);
    BINARY.assert_refused(&["--input", &scene, "--template", "99999999999,0,1,1"], &["99999999999 is too large"]);
    BINARY.assert_refused(&["--matches", "0"], &["0 is not in 1..=65535"]);
    BINARY.assert_refused(&["--seed", "99999999999999999999"], &["99999999999999999999 is not in 0..=18446744073709551615"]);
    BINARY.assert_refused(&["--input", &scene, "--output", &heat], &["--template", "scene.png"]);
    BINARY.assert_refused(&["--input", &scene, "--template", "55,0,10,5", "--output", &heat], &["55,0,10,5", "60x40"]);
    BINARY.assert_refused(&["--input", &path("text.png"), "--template", "0,0,1,1"], &["text.png", "neither a PNG nor a PGM"]);
    BINARY.assert_refused(&["--input", &scene, "--template", "0,0,5,5", "--output", &path("no/heat.png")], &["heat.png"]);
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["scene.png", "text.png"]);
}
