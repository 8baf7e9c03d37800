//! The look of text: its width, and the few attributes that every terminal knows.

use std::env;
use std::io::{IsTerminal, stdout};

/// The attributes of text, and the length of its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    attributes: bool,
    /// The most characters of a line.
    pub width: usize,
}

impl Style {
    /// Plain text in lines of up to 100 characters, for a page.
    pub const PLAIN: Style = Style::plain(100);

    /// Makes plain text in lines of up to `width` characters.
    pub const fn plain(width: usize) -> Self {
        Self { attributes: false, width }
    }

    /// Uses attributes if standard output is a terminal, unless `NO_COLOR` is set (no-color.org).
    pub fn of_stdout(width: usize) -> Self {
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { attributes: stdout().is_terminal() && !refused, width }
    }

    /// Puts text in the background.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Emphasizes text.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.attributes && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Adds a line to a text, without the spaces at its end.
pub fn put(text: &mut String, line: &str) {
    text.push_str(line.trim_end());
    text.push('\n');
}
