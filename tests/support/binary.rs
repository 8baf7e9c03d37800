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
