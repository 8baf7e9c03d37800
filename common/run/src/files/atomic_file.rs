//! A file that exists whole or not at all.
//!
//! It is written under another name in the same folder and renamed at the end. Creating it before a long run also shows early that
//! it can be created, and that no other result of this run goes to the same file. A signal that ends the process leaves no unfinished file
//! behind; only `kill -9` and a crash do.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};

/// An unfinished file; dropped before [`commit`](AtomicFile::commit), it leaves nothing behind.
pub struct AtomicFile {
    /// `None` once it is in its place.
    file: Option<NamedTempFile>,
    /// As the user names it.
    path: PathBuf,
    /// Where it will be, without links.
    target: PathBuf,
}

/// The unfinished files of this process: where each will be, and where it is until then.
static UNFINISHED: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());

fn unfinished() -> MutexGuard<'static, BTreeMap<PathBuf, PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if an unfinished file will be at `path`, which exists.
pub fn will_replace(path: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|path| unfinished().contains_key(&path))
}

impl AtomicFile {
    /// Creates a file that will be at `path`. Fails also when another unfinished file of this process will be there.
    pub fn create(path: &Path) -> Result<Self> {
        let failed = |source: io::Error| Error::Write { path: path.to_owned(), source };
        let refused = |reason: &str| failed(io::Error::other(reason));
        // A rename would replace a link or a device instead of writing through it.
        let target = without_links(path).map_err(failed)?;
        if let Ok(metadata) = fs::metadata(&target) {
            if !metadata.is_file() {
                return Err(refused("it exists and is not a regular file"));
            }
            if metadata.permissions().readonly() {
                return Err(failed(io::Error::from(io::ErrorKind::PermissionDenied)));
            }
        }
        let (Some(folder), Some(_)) = (target.parent(), target.file_name()) else { return Err(refused("it names no file")) };
        let mut builder = Builder::new();
        builder.prefix(".unfinished-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The mode that any program asks for, before the user's mask. Temporary files would be private.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        #[cfg(unix)]
        signals::clean_up_before_the_end();
        // Locked until the file is listed, so that a signal finds every file that exists.
        let mut unfinished = unfinished();
        if unfinished.contains_key(&target) {
            return Err(refused("two options of this command name it, and each result needs a file of its own"));
        }
        // tempfile's own message names the temporary file, which means nothing to the user.
        let file = builder.tempfile_in(folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => refused("its folder does not exist or cannot hold files"),
            kind => failed(io::Error::from(kind)),
        })?;
        unfinished.insert(target.clone(), file.path().to_owned());
        Ok(Self { file: Some(file), path: path.to_owned(), target })
    }

    /// Returns where the file will be, as the user names it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the whole content and puts the file in its place.
    pub fn finish(self, content: &str) -> Result<()> {
        self.file().write_all(content.as_bytes()).map_err(|source| self.failed(source))?;
        self.commit()
    }

    /// Puts the file in its place.
    pub fn commit(mut self) -> Result<()> {
        self.file().sync_all().map_err(|source| self.failed(source))?;
        // Locked until the file is in its place, so that a signal does not remove it on the way.
        let mut unfinished = unfinished();
        let persisted = self.file.take().map(|file| file.persist(&self.target));
        unfinished.remove(&self.target);
        drop(unfinished);
        match persisted {
            Some(Err(error)) => Err(self.failed(error.error)),
            _ => Ok(()),
        }
    }

    /// Returns the file itself. tempfile's would put the temporary name into every error.
    fn file(&self) -> &fs::File {
        self.file.as_ref().expect("only `commit` takes it, and that is the end").as_file()
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }

    /// Adds the file's name to an error, for writers that omit it.
    fn named(&self, error: io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            let mut unfinished = unfinished();
            drop(self.file.take());
            unfinished.remove(&self.target);
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes).map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush().map_err(|error| self.named(error))
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file().seek(position).map_err(|error| self.named(error))
    }
}

/// The most links from a path to a file. Linux has the same limit.
const MOST_LINKS: usize = 40;

/// Returns the path where a file is or will be. It also follows a link whose target does not exist yet.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let Some(name) = path.file_name() else { return Err(io::Error::other("it names no file")) };
        let folder = fs::canonicalize(folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::other("its folder does not exist or cannot hold files"),
            _ => error,
        })?;
        let file = folder.join(name);
        match fs::read_link(&file) {
            Ok(target) => path = folder.join(target),
            Err(_) => return Ok(file),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

/// Signals that end the process.
#[cfg(unix)]
mod signals {
    use std::sync::Once;
    use std::{fs, process, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use super::unfinished;

    /// Makes signals that end the process remove unfinished files first. The process then ends as if the signal had not been noticed,
    /// so that a shell sees why.
    pub fn clean_up_before_the_end() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let ignored = ignored().unwrap_or(0);
            let deadly = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
            let Ok(mut signals) = Signals::new(deadly) else { return };
            thread::spawn(move || {
                if let Some(signal) = signals.forever().next() {
                    // Locked to the end, so that no further file begins.
                    let unfinished = unfinished();
                    unfinished.values().for_each(|file| drop(fs::remove_file(file)));
                    let _ = emulate_default_handler(signal);
                    #[expect(clippy::disallowed_methods, reason = "a signal ends the process, and the files are removed")]
                    process::exit(128 + signal);
                }
            });
        });
    }

    /// Returns the signals that this process ignores, as Linux tells: `nohup` has it ignore one, and a shell has work in the
    /// background ignore another. These must go on to do nothing.
    fn ignored() -> Option<u64> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
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
    #[cfg(unix)]
    fn two_results_never_go_to_one_file_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let same = [path.clone(), folder.path().join(".").join("a"), folder.path().join("link"), folder.path().join("further/a")];
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink(".", folder.path().join("further")).unwrap();
        for exists in [false, true] {
            let file = AtomicFile::create(&same[2]).unwrap();
            for same in &same {
                let error = AtomicFile::create(same).err().unwrap_or_else(|| panic!("{} is accepted", same.display())).to_string();
                assert!(error.contains("two options") && error.lines().count() == 1, "{error}");
                assert_eq!(will_replace(same), exists, "{}", same.display());
            }
            assert!(AtomicFile::create(&folder.path().join("b")).is_ok());
            file.finish("whole").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"whole");
            assert!(fs::symlink_metadata(&same[2]).unwrap().is_symlink(), "the link itself stays");
            assert!(!will_replace(&path));
        }
    }

    #[test]
    #[cfg(unix)]
    fn links_in_a_circle_lead_to_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("link");
        std::os::unix::fs::symlink("link", &path).unwrap();
        assert!(AtomicFile::create(&path).err().unwrap().to_string().contains("circle"));
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
