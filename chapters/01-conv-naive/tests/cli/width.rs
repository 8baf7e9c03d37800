//! Output fits its terminal, and a file gets the same as a terminal of 80 columns.

use std::process::Command;

use support::binary::{stderr, stdout};

use super::BINARY;

/// Returns a run's output where the environment gives this width.
fn printed(columns: Option<&str>, arguments: &[&str]) -> String {
    let mut command: Command = BINARY.command("sim", &[&["--size", "300x40"], arguments].concat());
    match columns {
        Some(columns) => command.env("COLUMNS", columns),
        None => command.env_remove("COLUMNS"),
    };
    let output = command.output().expect("the chapter's binary can be started");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

fn longest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn everything_that_is_printed_fits_the_width() {
    let modes: [&[&str]; 5] = [&[], &["--list"], &["--explain", "naive"], &["--diagnose", "naive"], &["--help"]];
    for arguments in modes {
        for (columns, width) in [(None, 80), (Some("80"), 80), (Some("50"), 50), (Some("120"), 120)] {
            let text = printed(columns, arguments);
            assert!(longest(&text) <= width, "{arguments:?} at {columns:?} is {} wide:\n{text}", longest(&text));
            assert!(!text.contains('\x1b'), "{arguments:?} has colors:\n{text}");
        }
    }
}

#[test]
fn a_table_that_must_fit_leaves_out_whole_columns_and_says_which_and_how_to_see_them() {
    let narrow = printed(None, &[]);
    // A sentence may be broken anywhere between words.
    let words = narrow.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Not shown in 80 columns: time, bytes, ") && words.contains("--columns time,…"), "{narrow}");
    for title in ["clocks", "factor", "load"] {
        assert!(narrow.lines().nth(1).is_some_and(|titles| titles.contains(title)), "{narrow}");
    }
    for (columns, arguments) in [(None, &["--wide"][..]), (Some("300"), &[])] {
        let wide = printed(columns, arguments);
        assert!(wide.contains("bound by") && wide.contains("error / tolerance") && !wide.contains("Not shown"), "{wide}");
    }
    let chosen = printed(None, &["--columns", "bound,error"]);
    let titles = chosen.lines().nth(1).unwrap_or_default().to_owned();
    assert!(titles.contains("bound by") && titles.contains("error /") && !titles.contains("clocks"), "{chosen}");
    let markdown = printed(Some("50"), &["--format", "markdown"]);
    assert!(markdown.contains("bound by") && markdown.contains("error / tolerance"), "{markdown}");
}

#[test]
fn a_column_that_no_table_has_is_answered_with_those_that_exist() {
    BINARY.assert_refused(&["--columns", "clocks,colour"], &["colour", "clocks, factor", "bound"]);
    BINARY.assert_refused(&["--columns", "clocks", "--wide"], &["--columns", "--wide"]);
}
