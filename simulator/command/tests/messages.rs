//! The help of each subcommand, and the answers to wrong command lines, each as a whole.

#![cfg(target_os = "linux")]

mod ended;
mod golden;
mod transcript;

use std::path::Path;
use std::process::Command;

use self::ended::run;
use self::transcript::Transcript;

/// Runs the command with each line, and compares output with a file.
fn assert_answers<'a>(lines: impl IntoIterator<Item = &'a str>, file: &str) {
    let mut transcript = Transcript::new().naming(Path::new(env!("CARGO_MANIFEST_DIR")), "PACKAGE");
    for line in lines {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
        command.args(line.split(' ')).env_remove("SIMCUDA_REPORT").env_remove("COLUMNS");
        transcript.add(format_args!("simcuda {line}"), run(&mut command));
    }
    transcript.assert_is(file);
}

#[test]
fn the_help_is_what_the_file_shows() {
    let subcommands =
        ["coverage", "debug", "env", "explore", "install", "mutate", "run", "report"].map(|name| format!("help {name}"));
    let lines = ["--help"].into_iter().chain(subcommands.iter().map(String::as_str));
    assert_answers(lines, "tests/messages/help.txt");
}

#[test]
fn wrong_command_lines_are_answered_as_the_file_shows() {
    let lines = [
        "instal",
        "run",
        "run --report yes -- true",
        "run --report junit: -- true",
        "run --report off,text -- true",
        "run --report junit:/no/such/folder/report.xml -- true",
        "run --fail-on all -- true",
        "run --suppressions /no/such/file.toml -- true",
        "run -- /no/such/program",
        "report /no/such/report.json",
        "coverage",
        "coverage --merge /no/such/folder",
        "coverage --at-least 101 -- true",
        "coverage --at-least nan -- true",
        "coverage --at-least much -- true",
        "coverage -- true",
        "debug -- true",
        "debug --block x -- true",
        "mutate -- false",
        "mutate -- true",
        "mutate -- no-such-program",
        "mutate --operator remove-everything -- true",
        "mutate --limit soon -- true",
        "mutate --resume -- true",
        "explore --schedules 0 -- true",
        "explore -- /no/such/program",
        "install /dev/null/folder",
    ];
    assert_answers(lines, "tests/messages/errors.txt");
}

#[test]
fn every_file_is_compared_with_something() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let paths = |folder: &str| std::fs::read_dir(tests.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let sources: String = paths("").filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect();
    for path in paths("messages").chain(paths("debug")) {
        let stem = path.file_stem().unwrap().to_string_lossy();
        assert!(sources.contains(stem.trim_start_matches("reports-")), "{}: no test names it", path.display());
    }
}
