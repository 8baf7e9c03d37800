//! The learner's workspace: their copies of exercises and their progress, in a folder that git ignores.
//!
//! Nothing that a learner wrote is ever overwritten: `--reset` keeps the old copy next to the new one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use common::atomic_file::AtomicFile;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::exercise::Exercise;

/// Environment variable that names another folder for the workspace.
pub const VARIABLE: &str = "UNROLLED_EXERCISES";

/// The folder in which a learner works.
#[derive(Clone, Debug)]
pub struct Workspace {
    folder: PathBuf,
}

/// A learner's progress with an exercise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// Checks, and answers to a prediction, up to the first pass.
    pub attempts: u32,
    /// Hints seen, of three.
    pub hints: u32,
    /// When it was first passed, in UTC.
    pub passed: Option<String>,
}

/// The progress with all exercises, by chapter and exercise.
type Journal = BTreeMap<String, Progress>;

impl Workspace {
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

    /// Checks that files can be created here, and leaves none.
    ///
    /// # Errors
    ///
    /// [`common::Error::Write`].
    pub fn try_to_write(&self) -> Result<()> {
        make_folder(&self.folder)?;
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
        read_if_there(&self.copy(exercise))
    }

    /// Makes a copy that starts as `starter`. An existing copy is kept under another name, which is returned.
    ///
    /// # Errors
    ///
    /// [`common::Error::Write`].
    pub fn lay_out(&self, exercise: &Exercise, starter: &str) -> Result<Option<PathBuf>> {
        let path = self.copy(exercise);
        make_folder(path.parent().unwrap_or(&self.folder))?;
        let mut kept = None;
        if path.exists() {
            let free = (1..).map(|number| path.with_extension(format!("old{number}.cu"))).find(|other| !other.exists());
            let other = free.expect("one of all numbers is free");
            fs::rename(&path, &other).map_err(|source| common::Error::Write { path: path.clone(), source })?;
            kept = Some(other);
        }
        AtomicFile::create(&path)?.finish(starter)?;
        Ok(kept)
    }

    /// The learner's progress with an exercise.
    ///
    /// # Errors
    ///
    /// [`Error::Read`], also when the file is damaged.
    pub fn progress(&self, exercise: &Exercise) -> Result<Progress> {
        Ok(self.journal()?.remove(&key(exercise)).unwrap_or_default())
    }

    /// Changes the learner's progress with an exercise.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] and [`common::Error::Write`].
    pub fn note(&self, exercise: &Exercise, change: impl FnOnce(&mut Progress)) -> Result<Progress> {
        let mut journal = self.journal()?;
        let progress = journal.entry(key(exercise)).or_default();
        change(progress);
        let progress = progress.clone();
        make_folder(&self.folder)?;
        AtomicFile::create(&self.journal_path())?.finish(&to_json(&journal))?;
        Ok(progress)
    }

    /// The progress with all exercises of all chapters as JSON, for a workshop leader.
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
        let Some(text) = read_if_there(&path)? else { return Ok(Journal::new()) };
        serde_json::from_str(&text).map_err(|error| Error::Read { path, source: io::Error::other(error) })
    }
}

fn key(exercise: &Exercise) -> String {
    format!("{}/{}", exercise.chapter, exercise.stem())
}

fn to_json(journal: &Journal) -> String {
    serde_json::to_string_pretty(journal).expect("JSON can hold names, numbers and times") + "\n"
}

fn read_if_there(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Read { path: path.to_owned(), source }),
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| common::Error::Write { path: folder.to_owned(), source })?;
    Ok(())
}
