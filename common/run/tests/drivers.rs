//! The states that an NVIDIA driver can be in, each played by a library of our own in the driver's place, and what a run does then.
//!
//! A process loads one driver only, so each case has a process of its own: this test binary, started again.

#![cfg(target_os = "linux")]

use std::env;
use std::path::Path;
use std::process::Command;

use run::gpu::Gpu;
use run::probe::probe;

/// Builds the fake driver in `folder` under `name`.
fn build_fake_driver(folder: &Path, name: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-driver/libcuda.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition=2021", "--crate-type=cdylib", "-Cpanic=abort", "-o"])
        .args([&folder.join(name), &source])
        .output()
        .expect("rustc runs, or this test would not have been built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Gives the fake driver its second name, as an installation does; without it the loader would go on to a real driver's.
fn link_name_for_cudarc(folder: &Path) {
    std::os::unix::fs::symlink("libcuda.so.1", folder.join("libcuda.so")).expect("a link can be made");
}

/// Runs an ignored test in a process, and returns its answer. `folder` has its drivers, and `variables` its environment.
fn answer_of(test: &str, folder: &Path, variables: &[(&str, &str)]) -> String {
    let output = Command::new(env::current_exe().expect("a running program has a path"))
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("LD_LIBRARY_PATH", folder)
        .envs(variables.iter().copied())
        .output()
        .expect("this program can be started again");
    let text = String::from_utf8_lossy(&output.stdout);
    let answer = text.lines().find_map(|line| line.split_once("answer: ")).map(|(_, answer)| answer.to_owned());
    answer.unwrap_or_else(|| panic!("no answer in {text}{}", String::from_utf8_lossy(&output.stderr)))
}

fn probed(folder: &Path, variables: &[(&str, &str)]) -> String {
    answer_of("prints_what_probing_finds", folder, variables)
}

fn opened(request: &str, folder: &Path, variables: &[(&str, &str)]) -> String {
    answer_of("prints_what_opens", folder, &[&[(REQUEST, request)], variables].concat())
}

/// The variable that hands `prints_what_opens` its request.
const REQUEST: &str = "REQUESTED_DEVICE";

#[test]
#[ignore = "the other tests start it in a process of its own"]
fn prints_what_probing_finds() {
    match probe() {
        Ok(found) => println!("answer: {} with CUDA {}", found.name, found.cuda),
        Err(why) => println!("answer: {why}"),
    }
}

#[test]
#[ignore = "the other tests start it in a process of its own"]
fn prints_what_opens() {
    let request = env::var(REQUEST).ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    match Gpu::open(&request) {
        Ok(gpu) => {
            let memory = gpu.stream.clone_htod(&[1u32, 2, 3]).expect("memory can be had");
            let back = gpu.stream.clone_dtoh(&memory).expect("memory can be read");
            println!("answer: {:?} {} {back:?}", gpu.info().kind, gpu.info().profile.as_deref().unwrap_or("-"));
        }
        Err(error) => println!("answer: {error} (exit {})", error.exit_status()),
    }
}

#[test]
fn the_states_of_a_driver_are_told_apart() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    build_fake_driver(folder.path(), "libcuda.so.1");
    link_name_for_cudarc(folder.path());
    let cases: [(&[(&str, &str)], &str); 8] = [
        (&[], "Fake GPU with CUDA 12.4"),
        (&[("FAKE_VERSION", "11080")], "the NVIDIA driver is for CUDA 11.8, and 12.0 (driver 525) is the oldest that works"),
        (&[("FAKE_INIT", "100")], "the NVIDIA driver sees no device"),
        (&[("FAKE_DEVICES", "0")], "the NVIDIA driver sees no device"),
        (&[("FAKE_INIT", "999")], "cuInit fails: CUDA_ERROR_UNKNOWN"),
        (&[("FAKE_CONTEXT", "46")], "making a context on Fake GPU fails: CUDA_ERROR_DEVICE_UNAVAILABLE"),
        (
            &[("FAKE_INIT", "34")],
            "the libcuda.so on the loader's path is a CUDA toolkit's stub: take its folder off LD_LIBRARY_PATH",
        ),
        (&[("FAKE_VERSION", "12000")], "Fake GPU with CUDA 12.0"),
    ];
    for (variables, expected) in cases {
        assert_eq!(probed(folder.path(), variables), expected, "with {variables:?}");
    }
}

#[test]
fn another_library_under_the_name_that_cudarc_asks_for_is_noticed() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for name in ["libcuda.so.1", "libcuda.so"] {
        build_fake_driver(folder.path(), name);
    }
    assert!(probed(folder.path(), &[]).contains("stub"));

    std::fs::remove_file(folder.path().join("libcuda.so")).expect("it was made above");
    link_name_for_cudarc(folder.path());
    assert_eq!(probed(folder.path(), &[]), "Fake GPU with CUDA 12.4");
}

#[test]
fn a_library_that_does_not_load_is_not_a_missing_one() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("libcuda.so.1"), "no library").expect("the folder can be written");
    let answer = probed(folder.path(), &[]);
    assert!(answer.starts_with("loading the NVIDIA driver library fails: "), "{answer}");
}

#[test]
fn the_simulator_takes_the_place_of_a_driver_that_cannot_be_used() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    build_fake_driver(folder.path(), "libcuda.so.1");
    link_name_for_cudarc(folder.path());
    for variables in [[("FAKE_INIT", "100")], [("FAKE_VERSION", "11080")], [("FAKE_CONTEXT", "46")]] {
        assert_eq!(opened("auto", folder.path(), &variables), "Sim h200 [1, 2, 3]", "with {variables:?}");
    }
}

#[test]
fn the_simulator_is_used_when_asked_for_although_there_is_a_gpu() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    build_fake_driver(folder.path(), "libcuda.so.1");
    link_name_for_cudarc(folder.path());
    assert_eq!(opened("sim", folder.path(), &[]), "Sim h200 [1, 2, 3]");
    assert_eq!(opened("sim:t4", folder.path(), &[]), "Sim t4 [1, 2, 3]");
}

#[test]
fn a_gpu_that_is_asked_for_and_not_there_is_an_error_of_the_environment() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    build_fake_driver(folder.path(), "libcuda.so.1");
    link_name_for_cudarc(folder.path());
    let answer = opened("gpu", folder.path(), &[("FAKE_INIT", "100")]);
    assert_eq!(
        answer,
        "no NVIDIA GPU can be used: the NVIDIA driver sees no device; try `--device sim`, or `cargo doctor` to see what is missing (exit 2)"
    );
}
