//! Runs whose output cannot be written, or that a signal ends, and what is left of them.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use support::binary::{stderr, stdout};

use super::BINARY;

/// Returns the standard output of a program on a full disk.
fn full() -> File {
    File::options().write(true).open("/dev/full").unwrap()
}

#[test]
fn an_answer_that_cannot_be_printed_is_an_error() {
    for arguments in [&["--help"][..], &["-h"], &["--version"], &["exercise", "--help"], &["--list"]] {
        let output = Command::new(BINARY.path).args(arguments).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).starts_with("error: cannot write to standard output: "), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn messages_that_cannot_be_printed_cost_no_result() {
    let output = BINARY.command("sim", &["--size", "64x8", "--stage", "naive"]).stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("naive"), "{}", stdout(&output));
}

fn files(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_signal_ends_a_run_and_leaves_no_unfinished_file() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        fs::write(&path, "an earlier record").unwrap();
        // A shell in the background starts its programs with some signals ignored.
        let arguments =
            ["--default-signal=INT,TERM,HUP", BINARY.path, "--device", "sim", "--size", "65536x8192", "--yes", "--save"];
        let mut command = Command::new("env");
        command.args(arguments).arg(&path).current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        while files(folder.path()).len() < 2 {
            assert_eq!(child.try_wait().unwrap(), None, "it runs");
            sleep(Duration::from_millis(5));
        }
        Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(number), "the one who waits sees that a signal ended it");
        assert_eq!(files(folder.path()), ["record.json"], "after SIG{signal}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "an earlier record");
    }
}

#[test]
fn a_signal_that_the_run_was_started_to_ignore_does_not_end_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.json");
    let arguments = ["--device", "sim", "--size", "16384x512", "--stage", "naive", "--save", path.to_str().unwrap()];
    let mut child =
        Command::new("nohup").arg(BINARY.path).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while files(folder.path()).is_empty() {
        sleep(Duration::from_millis(5));
    }
    Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(files(folder.path()), ["record.json"]);
}
