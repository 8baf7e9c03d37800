//! Verdicts on disk, so that an interrupted run can go on.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use driver::scores::Judged;
use serde::{Deserialize, Serialize};

use crate::ending::{At, Result};

/// A file with the command first, and then one verdict per line.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The verdicts that it had when it was opened.
    pub known: Vec<Judged>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    command: Vec<String>,
}

impl Journal {
    /// Starts a journal, or continues the same command's if `resume` is set.
    pub fn open(path: &Path, command: &[String], resume: bool) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(_) if !resume => return Err("the file exists; add --resume to go on with it, or remove it").at(path),
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).at(path),
        };
        // A run that was killed while it wrote leaves half a line, without an end.
        let complete = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut lines = (1..).zip(complete.lines());
        if let Some((_, first)) = lines.next() {
            let header: Header = serde_json::from_str(first).map_err(|error| format!("line 1: {error}")).at(path)?;
            if header.command != command {
                return Err(format!("it has the verdicts of another command: {}", header.command.join(" "))).at(path);
            }
        }
        let verdict = |(number, line)| serde_json::from_str(line).map_err(|error| format!("line {number}: {error}")).at(path);
        let known = lines.map(verdict).collect::<Result<_>>()?;
        let file = File::options().create(true).append(true).open(path).at(path)?;
        file.set_len(complete.len() as u64).at(path)?;
        let mut journal = Self { path: path.to_owned(), file, known };
        if complete.is_empty() {
            journal.write(&Header { command: command.to_vec() })?;
        }
        Ok(journal)
    }

    /// Adds a line, such as a verdict.
    pub fn write(&mut self, line: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(line)? + "\n";
        self.file.write_all(line.as_bytes()).at(&self.path)
    }
}
