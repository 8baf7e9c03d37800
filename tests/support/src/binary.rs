//! A chapter's binary, started the way a person starts it in a terminal.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A chapter's binary.
#[derive(Clone, Copy, Debug)]
pub struct Binary {
    /// The executable.
    pub path: &'static str,
    /// The chapter's name, which is that of its folder.
    pub chapter: &'static str,
}

impl Binary {
    /// Returns the command that starts the binary on a device. Standard input is empty, and lines are long enough for everything.
    pub fn command(&self, device: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path);
        command.args(["--device", device]).args(arguments).stdin(Stdio::null()).env("COLUMNS", "1000");
        command
    }

    /// Runs the binary on a device.
    pub fn run_on(&self, device: &str, arguments: &[&str]) -> Output {
        self.command(device, arguments).output().expect("the chapter's binary can be started")
    }

    /// Runs the binary on the simulator.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.run_on("sim", arguments)
    }

    /// Returns the JSON record of a run that must succeed.
    pub fn record(&self, device: &str, arguments: &[&str]) -> Value {
        self.record_and_words(device, arguments).0
    }

    /// Returns the same, and what the run says beside its results.
    pub fn record_and_words(&self, device: &str, arguments: &[&str]) -> (Value, String) {
        let output = self.run_on(device, &[arguments, &["--format", "json"]].concat());
        let words = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {words}");
        (serde_json::from_slice(&output.stdout).expect("stdout is JSON and nothing else"), words)
    }

    /// Expects status 2, no results, and a one-line message containing all `words`.
    pub fn assert_refused(&self, arguments: &[&str], words: &[&str]) {
        let output = self.run(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{arguments:?}: {message}");
        assert!(stdout(&output).is_empty(), "{arguments:?}: {}", stdout(&output));
        for word in words {
            assert!(message.contains(word), "{arguments:?}: {word:?} is not in: {message}");
        }
    }
}

/// Returns the results of a run.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

/// Returns the messages of a run.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("messages are text")
}

/// Returns the names of the verified stages of a record.
pub fn verified(record: &Value) -> Vec<&str> {
    let stages = record["stages"].as_array().expect("an array").iter();
    stages.filter(|stage| stage["verified"] == true).map(|stage| stage["name"].as_str().expect("a name")).collect()
}

/// Returns the stage of a record with this name.
pub fn stage<'a>(record: &'a Value, name: &str) -> &'a Value {
    let stages = record["stages"].as_array().expect("an array");
    stages.iter().find(|stage| stage["name"] == name).unwrap_or_else(|| panic!("no stage {name}"))
}

/// Returns a count of a stage of a record.
pub fn count(record: &Value, name: &str, count: &str) -> u64 {
    stage(record, name)["counters"][count].as_u64().unwrap_or_else(|| panic!("{name} has no {count}"))
}

/// Copies a program, so that the copy can be started. On Unix, a process of its own writes it: a file that another thread's child still holds open for
/// writing could not be executed.
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    if cfg!(unix) {
        let status = Command::new("cp").args([from.as_ref(), to.as_ref()]).status().expect("cp can be started");
        assert!(status.success(), "{status}");
    } else {
        fs::copy(from, to).expect("a copy");
    }
}
