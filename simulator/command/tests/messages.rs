//! The help of each subcommand, and the answers to wrong command lines, each as a whole.

#![cfg(target_os = "linux")]

mod ended;
mod golden;

use std::process::Command;

use self::ended::run;

/// Runs the command with each of the lines, and returns what it prints.
fn transcript(lines: &[&str]) -> String {
    let answer = |line: &&str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simcuda"));
        command.args(line.split(' ')).env_remove("SIMCUDA_REPORT").env_remove("COLUMNS");
        let (status, stdout, stderr) = run(&mut command);
        format!("$ simcuda {line}\n{stdout}{stderr}exit status {}\n\n", status.expect("it ends by itself"))
    };
    lines.iter().map(answer).collect()
}

#[test]
fn the_help_is_what_the_file_shows() {
    let subcommands = ["coverage", "debug", "explore", "install", "mutate", "run", "report"].map(|name| format!("help {name}"));
    let lines: Vec<&str> = ["--help"].into_iter().chain(subcommands.iter().map(String::as_str)).collect();
    golden::assert_is("tests/messages/help.txt", &transcript(&lines));
}

#[test]
fn wrong_command_lines_are_answered_as_the_file_shows() {
    let lines = [
        "instal",
        "run",
        "run --report yes -- true",
        "run --report junit:/no/such/folder/report.xml -- true",
        "run --fail-on all -- true",
        "run --suppressions /no/such/file.toml -- true",
        "run -- /no/such/program",
        "report /no/such/report.json",
        "coverage",
        "coverage --merge /no/such/folder",
        "coverage --at-least 200 -- true",
        "coverage -- true",
        "debug -- true",
        "mutate -- false",
        "mutate -- true",
        "explore --schedules 0 -- true",
        "install /dev/null/folder",
    ];
    golden::assert_is("tests/messages/errors.txt", &transcript(&lines));
}
