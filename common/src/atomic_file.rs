//! A file that exists whole or not at all.
//!
//! It is written under another name in the same folder and renamed at the end. Creating it before a long run also shows early that
//! it can be created.

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};

/// An unfinished file; dropped before [`commit`](AtomicFile::commit), it leaves nothing behind.
pub struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    /// Creates a file that will be at `path`.
    ///
    /// # Errors
    ///
    /// [`Error::Write`].
    pub fn create(path: &Path) -> Result<Self> {
        let failed = |source: io::Error| Error::Write { path: path.to_owned(), source };
        // A rename would replace a link or a device instead of writing through it.
        let target = if path.exists() { fs::canonicalize(path).map_err(failed)? } else { path.to_owned() };
        if target.exists() && !target.is_file() {
            return Err(failed(io::Error::other("it exists and is not a regular file")));
        }
        if target.exists() && fs::metadata(&target).map_err(failed)?.permissions().readonly() {
            return Err(failed(io::Error::from(io::ErrorKind::PermissionDenied)));
        }
        if target.file_name().is_none() {
            return Err(failed(io::Error::other("it names no file")));
        }
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = Builder::new();
        builder.prefix(".unfinished-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // What any program asks for, before the user's mask. Temporary files would be private.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        // tempfile's own message names the temporary file, which means nothing to the user.
        let file = builder.tempfile_in(folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => failed(io::Error::other("its folder does not exist or cannot hold files")),
            kind => failed(io::Error::from(kind)),
        })?;
        Ok(Self { file, path: target })
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the whole content and puts the file in its place.
    ///
    /// # Errors
    ///
    /// [`Error::Write`].
    pub fn finish(mut self, content: &str) -> Result<()> {
        self.file.write_all(content.as_bytes()).map_err(|source| Error::Write { path: self.path.clone(), source })?;
        self.commit()
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    ///
    /// [`Error::Write`].
    pub fn commit(mut self) -> Result<()> {
        let failed = |source| Error::Write { path: self.path.clone(), source };
        self.file.flush().map_err(failed)?;
        self.file.as_file().sync_all().map_err(failed)?;
        let path = self.path;
        self.file.persist(&path).map_err(|error| Error::Write { path: path.clone(), source: error.error })?;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_whole_or_absent() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.json");
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        AtomicFile::create(&path).unwrap().finish("whole").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn impossible_paths_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("no/such/folder/x"), folder.path().join(".."), PathBuf::new()] {
            let error = AtomicFile::create(&path).err().unwrap_or_else(|| panic!("{} is accepted", path.display()));
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
}
