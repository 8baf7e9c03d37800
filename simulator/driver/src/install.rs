//! Puts the library into a folder under the names that programs ask the loader for, so that any of them finds it there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::client;

/// The name of the CUDA driver's file.
const NAME: &str = if cfg!(windows) {
    "nvcuda.dll"
} else if cfg!(target_os = "macos") {
    "libcuda.dylib"
} else {
    "libcuda.so.1"
};

/// Other names of it, as links: a program that asks for it by two names must get one driver and not two. C and Python programs ask
/// for the name with the version, cudarc for the one without.
const LINKS: &[&str] = if cfg!(target_os = "linux") { &["libcuda.so"] } else { &[] };

/// The environment variable that puts a folder on the loader's path.
pub const LOADER_VARIABLE: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_os = "macos") {
    "DYLD_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// What our library contains and NVIDIA's does not: the name of one of its exports.
const MARK: &[u8] = b"simcuda_interface_version";

/// Why the library could not be installed.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no library to install.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// A file of that name is there, and it is not ours: most likely a real driver.
    #[error("{} is there already and is not the simulator; choose a folder of its own", .0.display())]
    Foreign(PathBuf),
    /// The file system refuses.
    #[error("{}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Copies the library, as [`client::find_library`] finds it, into `folder`, which is made if need be. Returns the folder's absolute
/// path, which is what [`LOADER_VARIABLE`] must be set to.
///
/// An older copy is replaced, also while programs use it. It is a copy and no link, so that `cargo clean` does not take it away.
///
/// # Errors
///
/// When there is no library, when a file of that name is not ours, and when the file system refuses.
pub fn install(folder: &Path) -> Result<PathBuf, Error> {
    let library = client::find_library()?;
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::File { path, source }
    };
    fs::create_dir_all(folder).map_err(at(folder))?;
    let folder = folder.canonicalize().map_err(at(folder))?;
    for path in LINKS.iter().chain([&NAME]).map(|name| folder.join(name)) {
        // A link is judged by what it leads to, and one that leads nowhere is nobody's driver.
        match fs::read(&path) {
            Ok(bytes) if !contains(&bytes, MARK) => return Err(Error::Foreign(path)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(Error::File { path, source }),
        }
    }
    put(&folder.join(NAME), |unfinished| fs::copy(&library, unfinished).map(drop))?;
    for name in LINKS {
        put(&folder.join(name), |unfinished| link(NAME.as_ref(), unfinished))?;
    }
    Ok(folder)
}

/// Makes a file beside the old one and then moves it there: a program that has the old one open keeps it.
fn put(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), Error> {
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    let made = make(&unfinished).and_then(|()| fs::rename(&unfinished, path));
    made.map_err(|source| Error::File { path: path.to_owned(), source })
}

#[cfg(unix)]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(target: &Path, path: &Path) -> io::Result<()> {
    fs::hard_link(path.with_file_name(target), path)
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
