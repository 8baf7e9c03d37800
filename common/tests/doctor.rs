//! `cargo doctor` on a machine that can run chapters, as every one can that built this.

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
