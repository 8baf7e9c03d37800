//! A chapter's binary as a person at a terminal starts it. The tests of every chapter include this file, and say in `BINARY` which one it is.

#![allow(dead_code, reason = "each chapter's tests take what they need")]

use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The binary on a device, with these arguments and nothing to read.
pub fn command(device: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::BINARY);
    command.args(["--device", device]).args(arguments).stdin(Stdio::null());
    command
}

/// A run on a device.
pub fn run_on(device: &str, arguments: &[&str]) -> Output {
    command(device, arguments).output().expect("the chapter's binary can be started")
}

/// A run on the simulator.
pub fn run(arguments: &[&str]) -> Output {
    run_on("sim", arguments)
}

/// The results.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

/// Everything else.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are text")
}

/// The JSON record of a run that must succeed.
pub fn record(device: &str, arguments: &[&str]) -> Value {
    let output = run_on(device, &[arguments, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("stdout is JSON and nothing else")
}

/// The names of the stages that a record has as verified.
pub fn verified(record: &Value) -> Vec<&str> {
    let stages = record["stages"].as_array().expect("an array").iter();
    stages.filter(|stage| stage["verified"] == true).map(|stage| stage["name"].as_str().expect("a name")).collect()
}

/// A stage of a record.
pub fn stage<'a>(record: &'a Value, name: &str) -> &'a Value {
    let stages = record["stages"].as_array().expect("an array");
    stages.iter().find(|stage| stage["name"] == name).unwrap_or_else(|| panic!("no stage {name}"))
}

/// A count of a stage of a record.
pub fn count(record: &Value, name: &str, count: &str) -> u64 {
    stage(record, name)["counters"][count].as_u64().unwrap_or_else(|| panic!("{name} has no {count}"))
}

/// The run must end with status 2, no results, and one line that holds all of `words`.
pub fn assert_refused(arguments: &[&str], words: &[&str]) {
    let output = run(arguments);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
    assert!(stdout(&output).is_empty(), "{arguments:?}: {}", stdout(&output));
    for word in words {
        assert!(message.contains(word), "{arguments:?}: {word:?} is not in: {message}");
    }
}
