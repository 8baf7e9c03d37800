//! How text looks: plain, or with the few attributes that every terminal knows.

use std::env;
use std::io::{IsTerminal, stdout};

/// Whether text carries attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    attributes: bool,
}

impl Style {
    /// Plain text.
    pub const PLAIN: Style = Style { attributes: false };

    /// Attributes if standard output is a terminal, unless `NO_COLOR` is set (no-color.org).
    pub fn of_stdout() -> Self {
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { attributes: stdout().is_terminal() && !refused }
    }

    /// Text in the background.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Text that stands out.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.attributes && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
