//! `cargo doctor` on a machine that can run chapters, which every machine can that built this.

use std::process::Command;

#[test]
fn the_doctor_says_what_is_there_and_that_chapters_can_run() {
    let output = Command::new(env!("CARGO_BIN_EXE_doctor")).output().expect("the doctor can be started");
    let text = String::from_utf8(output.stdout).expect("output is text");
    assert_eq!(output.status.code(), Some(0), "{text}");
    for word in ["simulator", "NVRTC"] {
        assert!(text.contains(word), "{word} is not in:\n{text}");
    }
}

#[test]
fn for_a_workshop_it_says_whether_all_exercises_can_be_done() {
    let workspace = tempfile::tempdir().expect("a temporary folder");
    let doctor = |nvrtc: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_doctor"));
        command.arg("--workshop").env("UNROLLED_EXERCISES", workspace.path());
        nvrtc.map(|path| command.env("UNROLLED_NVRTC", path));
        let output = command.output().expect("the doctor can be started");
        (output.status.code(), String::from_utf8(output.stdout).expect("output is text"))
    };
    let (status, text) = doctor(Some("/nowhere/libnvrtc.so"));
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("!!  your kernels") && text.contains("pip install nvidia-cuda-nvrtc-cu12"), "{text}");
    for line in ["ok  exercises", "ok  your copies"] {
        assert!(text.contains(line), "{line} is not in:\n{text}");
    }
    let (status, text) = doctor(None);
    assert_eq!(status == Some(0), text.contains("ok  your kernels"), "{text}");
    assert_eq!(std::fs::read_dir(workspace.path()).expect("the folder is there").count(), 0, "it leaves nothing behind");
}
