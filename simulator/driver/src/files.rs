//! Files that others read while this process runs.

use std::fs;
use std::io;
use std::path::Path;

/// Writes a file in one step, so that nobody ever sees half of it.
///
/// # Errors
///
/// Those of the file system. The old file, if there is one, stays.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let unfinished = path.with_file_name(name);
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}
