//! This chapter's binary alone: sizes, the choice of a division, and matrices in and out. Chapter 01 tests what all chapters share.

use std::fs;
use std::path::Path;

use run::npy::{self, Matrix};

use support::Binary;
use support::binary::{count, stage, stderr, verified};

const BINARY: Binary = Binary { path: env!("CARGO_BIN_EXE_06-matmul-tiled"), chapter: "06-matmul-tiled" };

support::chapter_tests!(BINARY);

/// Writes a matrix of small integers that differ from their neighbors.
fn write(path: &Path, rows: usize, columns: usize) -> Matrix {
    let values = (0..rows * columns).map(|at| (at * 7 % 23) as f32 - 11.0).collect();
    let matrix = Matrix { rows, columns, values };
    npy::write(&matrix, &mut fs::File::create(path).unwrap()).unwrap();
    matrix
}

#[test]
fn every_row_is_verified_at_the_original_s_size_on_gpus_of_several_generations() {
    for (device, last) in
        [("sim:9800gt", "warp-tile"), ("sim:gtx680", "warp-tile"), ("sim:t4", "warp-tile"), ("sim:a100", "tensor-tf32")]
    {
        let record = BINARY.record(device, &["--size", "seed"]);
        assert_eq!(verified(&record).last(), Some(&last), "{device}");
        assert_eq!(record["workload"]["multiply_adds"], 80 * 48 * 64);
        assert!(stage(&record, "cublas")["skipped"].as_str().is_some_and(|why| why.contains("simulator")));
    }
}

#[test]
fn a_device_with_less_shared_memory_skips_the_tensor_stage_with_a_reason() {
    let record = BINARY.record("sim:rtx4090", &["--size", "seed"]);
    let skipped = stage(&record, "tensor-tf32")["skipped"].as_str().expect("a reason");
    assert!(skipped.contains("156672 bytes"), "{skipped}");
    assert_eq!(verified(&record).last(), Some(&"by-size"));
}

#[test]
fn the_division_depends_on_the_size_and_is_told() {
    for (size, division) in [("64,64,2048", "slices"), ("20,2000,8", "tiles of")] {
        let output = BINARY.run_on("sim", &["--size", size, "--stage", "by-size"]);
        assert!(
            stderr(&output).contains("choice    by-size: tiles of") && stderr(&output).contains(division),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn padding_and_transposing_leave_no_bank_conflicts() {
    let record = BINARY.record("sim", &["--size", "256,256,32"]);
    let conflicts = |name: &str, kind: &str| {
        count(&record, name, &format!("shared_{kind}_wavefronts"))
            - count(&record, name, &format!("shared_{kind}_wavefronts_ideal"))
    };
    assert!(conflicts("register-tile", "load") > 0 && conflicts("register-tile", "store") > 0);
    for name in ["tiled", "vector", "warp-tile", "wgmma-tf32", "wgmma-by-size", "tensor-3xtf32"] {
        assert_eq!((conflicts(name, "load"), conflicts(name, "store")), (0, 0), "{name}");
    }
    // Their loads have none either, but what `cp.async` writes has, as Nsight Compute counts on an H200.
    for name in ["double-buffered", "tensor-tf32"] {
        assert_eq!(conflicts(name, "load"), 0, "{name}");
        assert!(conflicts(name, "store") > 0, "{name}");
    }
}

#[test]
fn matrices_come_from_files_and_go_to_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (a, b) = (write(&path("a.npy"), 5, 7), write(&path("b.npy"), 7, 3));
    let [in_a, in_b, out] = ["a.npy", "b.npy", "c.npy"].map(|name| path(name).display().to_string());
    let output = BINARY.run(&["--input", &in_a, &in_b, "--output", &out, "--stage", "warp-tile"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("5 x 7 times 7 x 3: a.npy times b.npy"), "{}", stderr(&output));
    let expected: Vec<f32> = (0..15).map(|at| (0..7).map(|l| a.values[at / 3 * 7 + l] * b.values[l * 3 + at % 3]).sum()).collect();
    assert_eq!(npy::open(&path("c.npy")).unwrap().read().unwrap(), Matrix { rows: 5, columns: 3, values: expected });
}

#[test]
fn requests_that_make_no_sense_are_refused_and_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    write(Path::new(&path("a.npy")), 5, 7);
    fs::write(path("text.npy"), "no array").unwrap();
    let (a, out) = (path("a.npy"), path("c.npy"));
    BINARY.assert_refused(&["--size", "20,10"], &["512,256,128"]);
    BINARY.assert_refused(&["--size", "0,1,1"], &["at least one number"]);
    BINARY.assert_refused(&["--input", &a, &a, "--output", &out], &["7 columns", "5 rows"]);
    BINARY.assert_refused(&["--input", &a, &path("text.npy"), "--output", &out], &["text.npy", "not a .npy file"]);
    BINARY.assert_refused(&["--input", &a], &["2"]);
    BINARY.assert_refused(&["--input", &a, &a, "--output", &path("no/c.npy")], &["c.npy"]);
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.npy", "text.npy"]);
}

/// Asks for a product of one number: few multiply-adds, many tiles.
#[test]
fn a_long_sum_for_one_element_is_refused_with_its_time() {
    let output = BINARY.run(&["--size", "1,1,1000000"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--yes"), "{}", stderr(&output));
}
