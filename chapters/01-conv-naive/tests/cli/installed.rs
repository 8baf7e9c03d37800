//! The program alone in another folder, as `cargo install` leaves it.

use std::process::{Command, Output};

use support::binary::{copy_program, stderr, stdout};

use super::BINARY;

/// Runs a copy of the program with nothing around it.
fn alone(arguments: &[&str], library: Option<&str>) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    copy_program(BINARY.path, &program);
    let mut command = Command::new(&program);
    command.args(["--device", "sim", "--size", "300x40"]).args(arguments).current_dir(folder.path()).env_clear();
    library.map(|library| command.env("SIMCUDA_LIBRARY", library));
    command.output().expect("the copy can be started")
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[test]
fn it_carries_its_kernels_and_the_simulator() {
    let record = |output: &Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).expect("a record") };
    let there = alone(&["--format", "json"], None);
    assert_eq!(there.status.code(), Some(0), "{}", stderr(&there));
    let here = BINARY.record("sim", &["--size", "300x40"]);
    // The same stages with the same counts as with the shared library.
    for (one, other) in here["stages"].as_array().unwrap().iter().zip(record(&there)["stages"].as_array().unwrap()) {
        assert_eq!((&one["name"], &one["counters"], &one["verified"]), (&other["name"], &other["counters"], &other["verified"]));
    }
    let explained = alone(&["--explain", "naive"], None);
    assert!(stdout(&explained).contains("sum += window[j] * filter[j];"), "{}", stderr(&explained));
}

#[test]
fn a_library_that_is_named_and_missing_is_not_replaced_by_another() {
    let output = alone(&[], Some("/no/such/libsimcuda.so"));
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    for words in ["/no/such/libsimcuda.so", "cargo build -p simcuda", "SIMCUDA_LIBRARY"] {
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}
