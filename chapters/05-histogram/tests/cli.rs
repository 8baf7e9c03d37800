//! This binary alone: pictures in. Chapter 01 tests what all chapters share.

use std::fs;

use support::Binary;
use support::binary::verified;

const BINARY: Binary = Binary { path: env!("CARGO_BIN_EXE_05-histogram"), chapter: "05-histogram" };

support::chapter_tests!(BINARY);

#[test]
fn every_stage_is_right_at_sizes_that_end_within_a_chunk() {
    let stages: Vec<&str> = histogram::CHAPTER.stages.iter().map(|stage| stage.name).collect();
    for size in ["1x1", "3x1", "16383x1", "128x128", "16385x1", "333x99", "65536x3"] {
        assert_eq!(verified(&BINARY.record("sim", &["--size", size])), stages, "{size}");
    }
}

#[test]
fn a_picture_is_counted() {
    let folder = std::env::temp_dir().join(format!("unrolled-histogram-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("gray.pgm");
    fs::write(&path, [b"P5\n3 2\n255\n".as_slice(), &[0, 255, 7, 7, 7, 128]].concat()).unwrap();
    let record = BINARY.record("sim", &["--input", &path.display().to_string()]);
    fs::remove_dir_all(&folder).unwrap();
    let stages = histogram::CHAPTER.stages.len();
    assert_eq!((verified(&record).len(), record["workload"]["input"].as_str()), (stages, Some("gray.pgm")));
}
