//! The learner's copies of exercises, and how far they have come: a folder that git ignores.
//!
//! Nothing a learner wrote is ever overwritten: what `--reset` replaces is kept beside it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Exercise;
use crate::error::{Error, Result};
use common::atomic_file::AtomicFile;

/// Names another folder for the copies, for someone who keeps them elsewhere.
pub const VARIABLE: &str = "UNROLLED_EXERCISES";

/// Where a learner works.
#[derive(Clone, Debug)]
pub struct Desk {
    folder: PathBuf,
}

/// How far a learner has come with an exercise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Checks, and answers to a prediction, up to the first pass.
    pub attempts: u32,
    /// Hints seen, of three.
    pub hints: u32,
    /// When it was passed first, in UTC.
    pub passed: Option<String>,
}

/// The progress with all exercises, by chapter and exercise.
type Journal = BTreeMap<String, Progress>;

impl Desk {
    /// The folder `exercises` of the repository, or the one that `UNROLLED_EXERCISES` names.
    pub fn new(root: &Path) -> Self {
        Self::at(std::env::var_os(VARIABLE).map_or_else(|| root.join("exercises"), PathBuf::from))
    }

    /// This folder.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Tries whether files can be made here, and leaves none.
    ///
    /// # Errors
    ///
    /// [`Error::Write`].
    pub fn try_to_write(&self) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(|source| Error::Write { path: self.folder.clone(), source })?;
        Ok(AtomicFile::create(&self.folder.join("trial")).map(drop)?)
    }

    /// Where the copy of an exercise is, or will be.
    pub fn copy(&self, exercise: &Exercise) -> PathBuf {
        self.folder.join(&exercise.chapter).join(format!("{}.cu", exercise.stem()))
    }

    /// The learner's text; `None` before the copy is made.
    ///
    /// # Errors
    ///
    /// [`Error::Read`].
    pub fn read(&self, exercise: &Exercise) -> Result<Option<String>> {
        let path = self.copy(exercise);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Read { path, source }),
        }
    }

    /// Makes a copy that begins as `starter`. One that is there is kept under another name, which is returned.
    ///
    /// # Errors
    ///
    /// [`Error::Write`].
    pub fn lay_out(&self, exercise: &Exercise, starter: &str) -> Result<Option<PathBuf>> {
        let path = self.copy(exercise);
        let failed = |source: io::Error| Error::Write { path: path.clone(), source };
        fs::create_dir_all(path.parent().unwrap_or(&self.folder)).map_err(failed)?;
        let mut kept = None;
        if path.exists() {
            let free = (1..).map(|number| path.with_extension(format!("old{number}.cu"))).find(|other| !other.exists());
            let other = free.expect("one of all numbers is free");
            fs::rename(&path, &other).map_err(failed)?;
            kept = Some(other);
        }
        write_whole(&path, starter)?;
        Ok(kept)
    }

    /// How far the learner has come with an exercise.
    ///
    /// # Errors
    ///
    /// [`Error::Read`], also when the file is damaged.
    pub fn progress(&self, exercise: &Exercise) -> Result<Progress> {
        Ok(self.journal()?.remove(&key(exercise)).unwrap_or_default())
    }

    /// Notes how far the learner has come.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] and [`Error::Write`].
    pub fn note(&self, exercise: &Exercise, change: impl FnOnce(&mut Progress)) -> Result<Progress> {
        let mut journal = self.journal()?;
        let progress = journal.entry(key(exercise)).or_default();
        change(progress);
        let progress = progress.clone();
        let path = self.journal_path();
        fs::create_dir_all(&self.folder).map_err(|source| Error::Write { path: path.clone(), source })?;
        write_whole(&path, &to_json(&journal))?;
        Ok(progress)
    }

    /// The progress with all exercises of all chapters as JSON, for whoever leads a workshop.
    ///
    /// # Errors
    ///
    /// [`Error::Read`].
    pub fn export(&self) -> Result<String> {
        Ok(to_json(&self.journal()?))
    }

    fn journal_path(&self) -> PathBuf {
        self.folder.join("progress.json")
    }

    fn journal(&self) -> Result<Journal> {
        let path = self.journal_path();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Journal::new()),
            Err(source) => return Err(Error::Read { path, source }),
        };
        serde_json::from_str(&text).map_err(|error| Error::Read { path, source: io::Error::other(error) })
    }
}

fn key(exercise: &Exercise) -> String {
    format!("{}/{}", exercise.chapter, exercise.stem())
}

fn to_json(journal: &Journal) -> String {
    serde_json::to_string_pretty(journal).expect("names, numbers and times have JSON") + "\n"
}

fn write_whole(path: &Path, text: &str) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|source| Error::Write { path: path.to_owned(), source })?;
    Ok(file.commit()?)
}
