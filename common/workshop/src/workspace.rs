//! The learner's workspace: their copies of exercises and their progress, in a folder that git ignores.
//!
//! Nothing that a learner wrote is ever overwritten: `--reset` keeps the old copy next to the new one, and a damaged record of the progress is
//! kept under another name. Where the repository cannot be written, the workspace is in the user's folder for data.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use compilers::variables::EXERCISES;
use run::atomic_file::AtomicFile;
use run::console;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::exercise::Exercise;

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
    /// All checks, and answers to a prediction.
    pub checks: u32,
    /// Hints seen, of three.
    pub hints: u32,
    /// When it was first passed, in UTC.
    pub passed: Option<String>,
    /// True if the solution was shown before it was passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub solution_seen: bool,
}

/// The progress with all exercises, by chapter and exercise.
type Journal = BTreeMap<String, Progress>;

impl Workspace {
    /// Returns the folder that `UNROLLED_EXERCISES` names, or the repository's `exercises`. Where the latter cannot be written, it is the
    /// user's folder for data. Says so on standard error in the last case.
    pub fn new(root: &Path) -> Self {
        match EXERCISES.path() {
            Some(folder) => Self::at(folder),
            None => Self::in_repository(root, data_folder()),
        }
    }

    fn in_repository(root: &Path, otherwise: Option<PathBuf>) -> Self {
        let here = Self::at(root.join("exercises"));
        let Err(error) = here.try_to_write() else { return here };
        match otherwise.map(Self::at) {
            Some(elsewhere) => {
                console::note(format_args!("{error}; your exercises are in {}", elsewhere.folder.display()));
                elsewhere
            }
            None => here,
        }
    }

    /// Returns this folder.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Checks that files can be created here, and leaves none.
    pub fn try_to_write(&self) -> Result<()> {
        make_folder(&self.folder)?;
        Ok(AtomicFile::create(&self.folder.join("trial")).map(drop)?)
    }

    /// Returns where the copy of an exercise is, or will be.
    pub fn copy(&self, exercise: &Exercise) -> PathBuf {
        self.folder.join(&exercise.chapter).join(format!("{}.cu", exercise.stem()))
    }

    /// Returns the learner's text; `None` before the copy is made.
    pub fn read(&self, exercise: &Exercise) -> Result<Option<String>> {
        read_if_there(&self.copy(exercise))
    }

    /// Makes a copy that starts as `starter`. An existing copy with another text is kept under another name, which is returned. Where the disk
    /// is full, everything stays as it was.
    pub fn lay_out(&self, exercise: &Exercise, starter: &str) -> Result<Option<PathBuf>> {
        let path = self.copy(exercise);
        make_folder(path.parent().unwrap_or(&self.folder))?;
        let mut kept = None;
        if let Some(old) = self.read(exercise)?.filter(|old| old != starter) {
            let other = free_name(&path, "cu");
            AtomicFile::create(&other)?.finish(&old)?;
            kept = Some(other);
        }
        AtomicFile::create(&path)?.finish(starter)?;
        Ok(kept)
    }

    /// Returns the learner's progress with an exercise.
    pub fn progress(&self, exercise: &Exercise) -> Result<Progress> {
        Ok(self.journal()?.remove(&key(exercise)).unwrap_or_default())
    }

    /// Changes the learner's progress with an exercise.
    pub fn note(&self, exercise: &Exercise, change: impl FnOnce(&mut Progress)) -> Result<()> {
        make_folder(&self.folder)?;
        let _lock = self.lock()?;
        let mut journal = self.journal()?;
        change(journal.entry(key(exercise)).or_default());
        Ok(AtomicFile::create(&self.journal_path())?.finish(&to_json(&journal))?)
    }

    /// Waits until no other program changes the journal. A file of its own is locked, because the journal is replaced as a whole.
    fn lock(&self) -> Result<File> {
        let path = self.folder.join("progress.lock");
        let wrong = |source| run::Error::Write { path: path.clone(), source };
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(wrong)?;
        match file.lock() {
            // Some file systems have no locks.
            Err(error) if error.kind() != ErrorKind::Unsupported => Err(wrong(error).into()),
            _ => Ok(file),
        }
    }

    /// Returns all progress in all chapters as JSON, for a workshop leader.
    pub fn export(&self) -> Result<String> {
        Ok(to_json(&self.journal()?))
    }

    fn journal_path(&self) -> PathBuf {
        self.folder.join("progress.json")
    }

    fn journal(&self) -> Result<Journal> {
        let path = self.journal_path();
        let text = match read_if_there(&path) {
            Ok(None) => return Ok(Journal::new()),
            Ok(Some(text)) => text,
            Err(Error::Read { source, .. }) if source.kind() == ErrorKind::InvalidData => String::new(),
            Err(error) => return Err(error),
        };
        serde_json::from_str(&text).or_else(|_| {
            // A damaged record is no reason to stop learning.
            let other = free_name(&path, "json");
            fs::rename(&path, &other).map_err(|source| run::Error::Write { path: path.clone(), source })?;
            console::note(format_args!("{} is damaged; it is kept as {}, and a new one begins", path.display(), other.display()));
            Ok(Journal::new())
        })
    }
}

fn key(exercise: &Exercise) -> String {
    format!("{}/{}", exercise.chapter, exercise.stem())
}

fn to_json(journal: &Journal) -> String {
    serde_json::to_string_pretty(journal).expect("JSON can hold names, numbers and times") + "\n"
}

const MOST_BYTES: u64 = 1 << 20;

/// Reads a regular file that is not too large. A pipe would wait, and a device may have no end.
fn read_if_there(path: &Path) -> Result<Option<String>> {
    let wrong = |source| Error::Read { path: path.to_owned(), source };
    let data = match fs::metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(wrong(source)),
    };
    if !data.is_file() {
        return Err(wrong(io::Error::other("it is no regular file")));
    }
    if data.len() > MOST_BYTES {
        return Err(wrong(io::Error::other(format!("it has {} bytes, and no more than {MOST_BYTES} are read", data.len()))));
    }
    fs::read_to_string(path).map(Some).map_err(wrong)
}

/// Returns a name next to `path` that nothing has yet: `2-a-tile.old1.cu`.
fn free_name(path: &Path, extension: &str) -> PathBuf {
    let free = (1..).map(|number| path.with_extension(format!("old{number}.{extension}"))).find(|other| !other.exists());
    free.expect("one of all numbers is free")
}

/// Returns where a program may keep a user's data: `$XDG_DATA_HOME/unrolled/exercises`, by default in `~/.local/share`.
fn data_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = variable("XDG_DATA_HOME").or_else(|| Some(variable("HOME")?.join(".local/share")))?;
    Some(data.join("unrolled").join("exercises"))
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|source| run::Error::Write { path: folder.to_owned(), source })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts a file in the folder's place, because root may write everywhere.
    #[test]
    fn exercises_move_where_the_repository_cannot_be_written() {
        let (root, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let elsewhere = || Some(data.path().join("exercises"));
        assert_eq!(Workspace::in_repository(root.path(), elsewhere()).folder(), root.path().join("exercises"));
        fs::remove_dir(root.path().join("exercises")).unwrap();
        fs::write(root.path().join("exercises"), "a file").unwrap();
        assert_eq!(Workspace::in_repository(root.path(), elsewhere()).folder(), data.path().join("exercises"));
    }
}
