//! `cargo doctor` on a machine that can run chapters, which every machine can that built this.

use std::process::Command;

#[test]
fn the_doctor_says_what_is_there_and_that_chapters_can_run() {
    let output = Command::new(env!("CARGO_BIN_EXE_doctor")).output().expect("the doctor can be started");
    let text = String::from_utf8(output.stdout).expect("output is text");
    assert_eq!(output.status.code(), Some(0), "{text}");
    for word in ["simulator", "NVRTC", "clang", "compiler"] {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
}

#[test]
fn for_a_workshop_it_says_whether_all_exercises_can_be_done() {
    let workspace = tempfile::tempdir().expect("a temporary folder");
    let doctor = |compilers: Option<[(&str, &str); 2]>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doctor"));
        command.arg("--workshop").env("UNROLLED_EXERCISES", workspace.path());
        if let Some(compilers) = compilers {
            command.env_remove("UNROLLED_COMPILER").envs(compilers);
        }
        let output = command.output().expect("the doctor can be started");
        (output.status.code(), String::from_utf8(output.stdout).expect("output is text"))
    };
    let (status, text) = doctor(Some([("UNROLLED_NVRTC", "/nowhere/libnvrtc.so"), ("UNROLLED_CLANG", "/nowhere/clang")]));
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("!!  your kernels") && text.contains(&compilers::compiler::pip()), "{text}");
    assert!(text.contains("--  NVRTC") && text.contains("--  clang") && text.contains("--  compiler      none; `"), "{text}");
    for line in ["ok  exercises", "ok  your copies"] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    let (status, text) = doctor(None);
    assert_eq!(status == Some(0), text.contains("ok  your kernels"), "{text}");
    // Where there is a clang, it is enough.
    if text.contains("ok  clang") {
        let (status, text) = doctor(Some([("UNROLLED_NVRTC", "/nowhere/libnvrtc.so"), ("UNROLLED_COMPILER", "clang")]));
        assert_eq!(status, Some(0), "{text}");
        assert!(text.contains("ok  compiler      kernels that you edit are compiled by clang "), "{text}");
    }
    assert_eq!(std::fs::read_dir(workspace.path()).expect("the folder is there").count(), 0, "it leaves nothing behind");
}

/// Builds the driver library that plays a driver's states. Returns its folder, for the loader.
#[cfg(target_os = "linux")]
fn fake_driver() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../run/tests/fake-driver/libcuda.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition=2021", "--crate-type=cdylib", "-Cpanic=abort", "-o"])
        .args([folder.path().join("libcuda.so.1"), source.into()])
        .output()
        .expect("rustc runs, or this test would not have been built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

#[test]
#[cfg(target_os = "linux")]
fn a_driver_that_crashes_or_hangs_takes_nothing_down() {
    let folder = fake_driver();
    for (init, words) in [
        ("-1", "the NVIDIA driver crashes when it starts (signal: 6 (SIGABRT)"),
        ("-2", "the NVIDIA driver has not answered for 1 s"),
        ("-3", "the NVIDIA driver crashes when it starts (exit status: 0)"),
    ] {
        let start = std::time::Instant::now();
        let output = Command::new(env!("CARGO_BIN_EXE_doctor"))
            .env("LD_LIBRARY_PATH", folder.path())
            .envs([("FAKE_INIT", init), ("UNROLLED_DRIVER_SECONDS", "1")])
            .output()
            .expect("the doctor can be started");
        let text = String::from_utf8(output.stdout).expect("output is text");
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains(words) && text.contains("ok  chapters run  on a simulated"), "{text}");
        assert!(start.elapsed().as_secs() < 20, "it waits for {init} once");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_report_that_cannot_be_printed_is_an_error() {
    for arguments in [&[][..], &["--help"], &["--version"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = Command::new(env!("CARGO_BIN_EXE_doctor")).args(arguments).stdout(full).output().expect("it can be started");
        let message = String::from_utf8(output.stderr).expect("messages are text");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains("error: cannot write to standard output: "), "{arguments:?}: {message}");
    }
}
