//! Files that others read while this process runs. Each is made in one step, so that no reader sees half of it.
//!
//! Files of many processes for one reader go into a [`Spool`].

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::SystemTime;

use serde::Serialize;

use crate::error::Error;

/// Replaces the file at a path with what `make` makes. A program that has the old file open keeps it. If the file system refuses,
/// the old file, if there is one, stays.
pub fn put(path: &Path, make: impl FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().make_in(folder, make)?.persist(path).map(drop).map_err(|error| error.error)
}

/// Writes a file in place of the one at a path. Fails as [`put`] does.
pub fn replace(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    put(path, |unfinished| fs::write(unfinished, &text))
}

/// Files of one kind in a folder. Many processes write them and one reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spool {
    folder: PathBuf,
    kind: &'static str,
}

impl Spool {
    /// Names the files of a kind in a folder. Files of other kinds may be there, too.
    pub fn new(folder: impl Into<PathBuf>, kind: &'static str) -> Self {
        Self { folder: folder.into(), kind }
    }

    /// Returns a path that no other process and no other call gets. The paths of a process sort in the order of the calls.
    pub fn new_file(&self) -> PathBuf {
        static FILES: AtomicU64 = AtomicU64::new(0);
        self.folder.join(format!("{}{:06}.json", self.prefix(), FILES.fetch_add(1, Relaxed)))
    }

    /// Returns how the names of this process's files begin. A later process may have the same number, so the time is part of it.
    fn prefix(&self) -> String {
        static STARTED_NS: LazyLock<u128> = LazyLock::new(|| SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos());
        format!("{}-{}-{}-", self.kind, *STARTED_NS, process::id())
    }

    /// Writes one more file. Fails as [`put`] does.
    pub fn add(&self, value: &impl Serialize) -> io::Result<()> {
        replace(&self.new_file(), serde_json::to_vec(value)?)
    }

    /// Lists the files, process by process. Fails with [`Error::File`] if the folder cannot be read.
    pub fn files(&self) -> Result<Vec<PathBuf>, Error> {
        let prefix = format!("{}-", self.kind);
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&prefix) && name.ends_with(".json")
        };
        let paths = fs::read_dir(&self.folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
        let mut paths: Vec<PathBuf> = paths.map_err(Error::at(&self.folder))?;
        paths.retain(is_ours);
        paths.sort();
        Ok(paths)
    }

    /// Lists the files of this process. Fails with [`Error::File`] if the folder cannot be read.
    ///
    /// The program and the shared library in it have a copy of this code each, with times of their own. So only the process's number counts.
    pub fn own_files(&self) -> Result<Vec<PathBuf>, Error> {
        let own = format!("-{}-", process::id());
        let mut paths = self.files()?;
        paths.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(&own)));
        Ok(paths)
    }

    /// Reads what the processes have written, process by process. Fails with [`Error::File`] if the folder or a file cannot be read, or if
    /// `parse` refuses a file.
    pub fn read<T>(&self, parse: impl Fn(&[u8]) -> io::Result<T>) -> Result<Vec<T>, Error> {
        let read = |path: PathBuf| fs::read(&path).and_then(|bytes| parse(&bytes)).map_err(Error::at(&path));
        self.files()?.into_iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(bytes: &[u8]) -> io::Result<u32> {
        Ok(serde_json::from_slice(bytes)?)
    }

    #[test]
    fn what_is_written_is_read_in_its_order_and_a_file_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path(), "number");
        assert!(spool.read(number).unwrap().is_empty());
        (0..12).for_each(|value| spool.add(&value).unwrap());
        Spool::new(folder.path(), "other").add(&99).unwrap();
        assert_eq!(spool.read(number).unwrap(), (0..12).collect::<Vec<_>>());
        assert_eq!(spool.own_files().unwrap(), spool.files().unwrap());
        fs::write(folder.path().join("number-of-another-process.json"), "1 2").unwrap();
        assert_eq!((spool.own_files().unwrap().len(), spool.files().unwrap().len()), (12, 13));
        let message = spool.read(number).unwrap_err().to_string();
        assert!(message.contains("number-of-another-process.json: trailing characters"), "{message}");
    }

    #[test]
    fn a_file_that_cannot_be_replaced_stays_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, "old").unwrap();
        put(&path, |_| Err(io::Error::other("no"))).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        replace(&path, "new").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), fs::read_dir(&folder).unwrap().count()), ("new", 1));
    }
}
