//! Verdicts on disk, so that an interrupted run can go on.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use simcuda::scores::Judged;

/// A file with the command on its first line, and a verdict on each of the others.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    known: Vec<Judged>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    command: Vec<String>,
}

impl Journal {
    /// Starts a journal, or goes on with one of the same command.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, exists although it is to be started, or is the journal of another command.
    pub fn open(path: &Path, command: &[String], resume: bool) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = match fs::read_to_string(path) {
            Ok(_) if !resume => return Err(failed(&"the file exists; add --resume to go on with it, or remove it")),
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(&error)),
        };
        // A run that was killed while it wrote leaves half a line, without an end.
        let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = complete.lines();
        let mut known = Vec::new();
        if let Some(first) = lines.next() {
            let header: Header = serde_json::from_str(first).map_err(|error| failed(&format_args!("line 1: {error}")))?;
            if header.command != command {
                return Err(failed(&format_args!("it has the verdicts of another command: {}", header.command.join(" "))));
            }
            for (index, line) in lines.enumerate() {
                let judged = serde_json::from_str(line).map_err(|error| failed(&format_args!("line {}: {error}", index + 2)))?;
                known.push(judged);
            }
        }
        let file = File::options().create(true).append(true).open(path).map_err(|error| failed(&error))?;
        file.set_len(complete.len() as u64).map_err(|error| failed(&error))?;
        let mut journal = Self { path: path.to_owned(), file, known };
        if complete.is_empty() {
            journal.write(&Header { command: command.to_vec() })?;
        }
        Ok(journal)
    }

    /// Returns the verdicts that it had when it was opened.
    pub fn known(&self) -> Vec<Judged> {
        self.known.clone()
    }

    /// Adds a verdict.
    pub fn append(&mut self, judged: &Judged) -> Result<(), String> {
        self.write(judged)
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), String> {
        let written =
            serde_json::to_string(line).map_err(Into::into).and_then(|line| self.file.write_all((line + "\n").as_bytes()));
        written.map_err(|error| format!("{}: {error}", self.path.display()))
    }
}
