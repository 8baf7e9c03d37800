//! The two streams of a terminal: results go to stdout, everything else to stderr.

use std::io::{Write, stderr, stdout};
use std::{env, fmt};

use ::console::{Term, measure_text_width};

use crate::error::{Error, Result};

/// Prints a result and flushes it, before anything else can fail.
pub fn print(text: &str) -> Result<()> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::Output)
}

/// Prints what clap answers instead of running something: a help or a version.
pub fn print_answer(answer: &clap::Error) -> Result<()> {
    answer.print().and_then(|()| stdout().flush()).map_err(Error::Output)
}

/// The default width of a line: in a file, for another program, and in a terminal that does not know its width.
pub const USUAL_WIDTH: usize = 80;

/// Returns the most characters of a line of stdout: what the environment variable `COLUMNS` says, or else the width of the
/// terminal, or else [`USUAL_WIDTH`].
pub fn width() -> usize {
    stated(env::var("COLUMNS").ok().as_deref()).or_else(|| of_terminal(&Term::stdout())).unwrap_or(USUAL_WIDTH)
}

/// Parses a width as `COLUMNS` states it. A terminal that does not know its width may say 0.
fn stated(columns: Option<&str>) -> Option<usize> {
    columns?.trim().parse().ok().filter(|columns| *columns > 0)
}

fn of_terminal(terminal: &Term) -> Option<usize> {
    let (_, columns) = terminal.size_checked().filter(|_| terminal.is_term())?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Prints a message, wrapped to the terminal's width or to `COLUMNS`. In a log, it stays on one line, so that it can be searched for. If
/// stderr is closed, no one is left to tell; `eprintln!` would panic.
pub fn note(message: fmt::Arguments<'_>) {
    let message = match stated(env::var("COLUMNS").ok().as_deref()).or_else(|| of_terminal(&Term::stderr())) {
        Some(width) => wrap_lines(&message.to_string(), width),
        None => message.to_string(),
    };
    let _ = writeln!(stderr().lock(), "{message}");
}

/// Returns the width of the longest line.
pub fn width_of(text: &str) -> usize {
    text.lines().map(measure_text_width).max().unwrap_or(0)
}

/// Breaks a text between words into lines of at most `width` characters; a longer word has a line of its own.
pub fn wrap(text: &str, width: usize) -> String {
    wrap_after("", text, "", width)
}

/// Wraps each line that is longer than `width`, as [`wrap`] does. Lines go on under their own start: where a line begins with spaces, or with
/// a word and at least two spaces, as in a list.
pub fn wrap_lines(text: &str, width: usize) -> String {
    let line = |line: &str| {
        if width_of(line) <= width {
            return line.to_owned();
        }
        let (head, rest) = line.split_at(start_of_text(line));
        // Beside a head that takes more than half of the line there is too little room for the rest.
        let hanging = if 2 * width_of(head) <= width { width_of(head) } else { 2 };
        wrap_after(head, rest, &" ".repeat(hanging), width)
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Returns where the text of a line begins: after its indentation, and after a first word that two or more spaces follow.
fn start_of_text(line: &str) -> usize {
    let indentation = line.len() - line.trim_start_matches(' ').len();
    let word = line[indentation..].find(' ').map_or(line.len(), |end| indentation + end);
    let gap = line[word..].len() - line[word..].trim_start_matches(' ').len();
    if gap >= 2 { word + gap } else { indentation }
}

/// Wraps `text` behind `head`, with `indentation` before all lines but the first.
fn wrap_after(head: &str, text: &str, indentation: &str, width: usize) -> String {
    let mut lines = vec![head.to_owned()];
    let mut is_empty = true;
    for word in unbroken(text) {
        let line = lines.last_mut().expect("there is always a line");
        if is_empty {
            line.push_str(&word);
        } else if width_of(line) + 1 + width_of(&word) <= width {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(format!("{indentation}{word}"));
        }
        is_empty = false;
    }
    lines.join("\n")
}

/// Returns the words of a text. A number and its unit are one.
fn unbroken(text: &str) -> Vec<String> {
    const UNITS: [&str; 15] = ["%", "k", "M", "G", "T", "B", "KiB", "MiB", "GiB", "TiB", "s", "ms", "µs", "ns", "min"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = word.trim_end_matches([',', '.', ';', ':', ')']);
        match words.last_mut() {
            Some(number) if UNITS.contains(&unit) && number.ends_with(|end: char| end.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_no_width_are_ignored() {
        let cases = [
            (None, None),
            (Some("80"), Some(80)),
            (Some(" 120 "), Some(120)),
            (Some("0"), None),
            (Some(""), None),
            (Some("wide"), None),
        ];
        for (columns, width) in cases {
            assert_eq!(stated(columns), width, "{columns:?}");
        }
    }

    #[test]
    fn lines_are_broken_between_words_and_go_on_under_their_start() {
        for (text, width, wrapped) in [
            ("one two three", 7, "one two\nthree"),
            ("a-word-of-its-own x", 5, "a-word-of-its-own\nx"),
            ("device    simulated NVIDIA H200", 20, "device    simulated\n          NVIDIA\n          H200"),
            ("  also on this line:", 12, "  also on\n  this line:"),
            ("short\n\nlonger than that", 8, "short\n\nlonger\nthan\nthat"),
            ("work 16.8 M adds (80.0 %); more", 9, "work\n16.8 M\nadds\n(80.0 %);\nmore"),
            ("a-long-name-of-a-stage  each thread a run", 30, "a-long-name-of-a-stage  each\n  thread a run"),
        ] {
            assert_eq!(wrap_lines(text, width), wrapped, "{text:?} at {width}");
        }
    }
}
