//! No command of a page goes untested without a reason.

use press::chapters::chapters;
use press::page::sources;
use support::commands::{Command, not_run, of_pages, of_text};

/// Says what is wrong with the test of a command.
fn wrong(command: &Command) -> Option<String> {
    if command.is_not_run_because().is_some() {
        return None;
    }
    let Some((name, _)) = command.chapter() else {
        return Some("is run by no test; see tests/support/src/commands.rs".into());
    };
    if !chapters().iter().any(|(chapter, _)| *chapter == name) {
        return Some(format!("starts no chapter: there is no {name}"));
    }
    // The tests take words as they are, and a shell would not.
    command.text.contains(['\'', '"', '|', '>', '&', ';', '$', '\\']).then(|| "is more than words for a program".into())
}

#[test]
fn every_command_is_run_by_a_test_or_listed_with_a_reason() {
    let commands = of_pages();
    let wrong: Vec<String> =
        commands.iter().filter_map(|command| Some(format!("{}: `{}` {}", command.place, command.text, wrong(command)?))).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn the_list_of_reasons_has_nothing_that_no_page_shows() {
    let commands = of_pages();
    for (words, reason) in not_run() {
        assert!(commands.iter().any(|command| command.has(words)), "no page shows `{words}` any more, which {reason}");
    }
}

#[test]
fn a_console_shows_commands_and_leaves_their_output_to_includes() {
    for page in sources().unwrap() {
        let mut blocks = page.text.split("\n```console\n").skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default());
        let output = blocks.find_map(|block| block.lines().find(|line| !line.starts_with("$ ")));
        assert_eq!(output, None, "{}: a line of output is pasted", page.path);
    }
}

#[test]
fn commands_are_found_with_their_status() {
    let text = "```console\n$ cargo run -p ch03-unroll      # a chapter\n```\n\n<!-- status 1 -->\n```console\n$ cargo 03-unroll --size 1\n```\n\n\
                ```sh\npip install x\n```\n\n```text\n$ no command\n```\n";
    let found = of_text("page.md", text);
    let commands: Vec<_> = found.iter().map(|command| (command.place.as_str(), command.text.as_str(), command.status)).collect();
    let expected = [
        ("page.md:2", "cargo run -p ch03-unroll", 0),
        ("page.md:7", "cargo 03-unroll --size 1", 1),
        ("page.md:11", "pip install x", 0),
    ];
    assert_eq!(commands, expected);
}

#[test]
fn the_chapter_of_a_command_is_found() {
    let wrong_with = |text: &str| wrong(&Command { place: "page.md:1".into(), text: text.into(), status: 0 }).unwrap_or_default();
    let right = [
        "cargo run -p ch03-unroll",
        "cargo run --release --package ch03-unroll -- --device sim:t4",
        "cargo run --bin 03-unroll -- --list",
        "cargo 03-unroll --list",
        "cargo run -p ch03-unroll -- --device gpu",
        "pip install x",
    ];
    for text in right {
        assert_eq!(wrong_with(text), "", "{text}");
    }
    let cases = [
        ("cargo run -p ch07-lost", "there is no 07-lost"),
        ("cargo run -p kernels --bin lost", "there is no lost"),
        ("cargo build", "is run by no test"),
        ("cargo ptxx", "is run by no test"),
        ("cargo run -p ch03-unroll -- --list | less", "more than words"),
    ];
    for (text, message) in cases {
        assert!(wrong_with(text).contains(message), "{text}: {}", wrong_with(text));
    }
}
