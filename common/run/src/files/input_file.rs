//! Opens the files that a user names as inputs.
//!
//! Each format has a reader of its own. Here is what they share: a reader must know how long the file is, to tell a file that was cut
//! short from a whole one before it reads gigabytes. And it must not wait for a pipe without a writer.

use std::fs::{self, File};
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::atomic_file;

/// Opens a regular file; returns its length in bytes, too. `what` says what it should hold.
pub fn open(path: &Path, what: &'static str) -> Result<(File, u64)> {
    let bad = |reason: String| Error::Input { what, path: path.to_owned(), reason };
    let metadata = fs::metadata(path).map_err(|error| bad(error.to_string()))?;
    if metadata.is_dir() {
        return Err(bad("it is a folder".into()));
    }
    if !metadata.is_file() {
        return Err(bad("it is not a regular file: save what it holds to one first".into()));
    }
    if atomic_file::will_replace(path) {
        return Err(bad("a result of this command would replace it: choose another name for the result".into()));
    }
    Ok((File::open(path).map_err(|error| bad(error.to_string()))?, metadata.len()))
}

/// Returns the last part of a path, for messages.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::atomic_file::AtomicFile;

    #[test]
    fn what_is_no_file_and_what_a_result_replaces_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let reason = |path: &Path| open(path, "file").unwrap_err().to_string();
        assert!(reason(folder.path()).contains("it is a folder"));
        assert!(reason(&folder.path().join("absent")).contains("No such file"));
        #[cfg(unix)]
        assert!(reason(Path::new("/dev/null")).contains("not a regular file"));
        let path = folder.path().join("a");
        fs::write(&path, "input").unwrap();
        assert_eq!(open(&path, "file").unwrap().1, 5);
        let _result = AtomicFile::create(&path).unwrap();
        assert!(reason(&folder.path().join("./a")).contains("choose another name"));
    }
}
