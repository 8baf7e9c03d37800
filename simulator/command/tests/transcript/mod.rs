//! What several commands printed, as one text to compare with a file: without what differs between machines and runs.

use std::fmt::{Display, Write};
use std::path::Path;

use regex_lite::Regex;

/// The end of a command: its exit status, standard output and standard error.
type Ended = (Option<i32>, String, String);

/// The text, and the names that stand in it for paths.
pub struct Transcript {
    text: String,
    names: Vec<(String, &'static str)>,
}

impl Transcript {
    /// Starts a transcript.
    pub fn new() -> Self {
        Self { text: String::new(), names: Vec::new() }
    }

    /// Shows a name instead of a path, such as `FOLDER` (for a temporary folder).
    pub fn naming(mut self, path: &Path, name: &'static str) -> Self {
        self.names.push((path.display().to_string(), name));
        self
    }

    /// Adds what a command printed. The title says what was run.
    pub fn add(&mut self, title: impl Display, (status, stdout, stderr): Ended) {
        let status = status.map_or("ended by a signal".to_owned(), |status| format!("exit status {status}"));
        write!(self.text, "$ {title}\n{stdout}{stderr}{status}\n\n").unwrap();
    }

    /// Compares the transcript with a file of this package, as [`crate::golden::assert_is`] does.
    pub fn assert_is(self, file: &str) {
        let text = self.names.iter().fold(self.text, |text, (path, name)| text.replace(path, name));
        let text = Regex::new(r"\b\d+\.\d+ (m?s)\b").unwrap().replace_all(&text, "TIME $1");
        let text = Regex::new(r"\b0x[0-9a-f]{12,}\b").unwrap().replace_all(&text, "ADDRESS");
        crate::golden::assert_is(file, &text);
    }
}
