//! Installs the library: copies it into a folder, under the names that programs ask the loader for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::client;
use crate::error::Error;
use crate::interface;

/// The file name of the CUDA driver.
const NAME: &str = if cfg!(windows) {
    "nvcuda.dll"
} else if cfg!(target_os = "macos") {
    "libcuda.dylib"
} else {
    "libcuda.so.1"
};

/// Its other names, as links: a program that asks for two names must get one driver and not two. C and Python programs ask for the name
/// with the version, cudarc for the name without it.
const LINKS: &[&str] = if cfg!(target_os = "linux") { &["libcuda.so"] } else { &[] };

/// The environment variable that puts a folder on the loader's path.
pub const LOADER_VARIABLE: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_os = "macos") {
    "DYLD_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// Copies the library, as [`client::find_library`] finds it, into `folder`, which is created if necessary. Returns the folder's absolute
/// path, to be used as the value of [`LOADER_VARIABLE`].
///
/// This replaces an older copy, even while programs use it. It makes a copy and not a link, so that `cargo clean` does not remove it.
///
/// # Errors
///
/// [`Error::NotFound`] if there is no library, [`Error::Foreign`] if a file with the driver's name is not ours, and [`Error::File`] if the
/// file system refuses.
pub fn install(folder: &Path) -> Result<PathBuf, Error> {
    let library = client::find_library()?;
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::File { path, source }
    };
    fs::create_dir_all(folder).map_err(at(folder))?;
    let folder = folder.canonicalize().map_err(at(folder))?;
    for path in LINKS.iter().chain([&NAME]).map(|name| folder.join(name)) {
        // A link is judged by its target. A link without a target is not a driver.
        match fs::read(&path) {
            Ok(bytes) if !contains(&bytes, interface::VERSION_EXPORT.as_bytes()) => return Err(Error::Foreign(path)),
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

/// Makes a new file and moves it over the old one, so that a program that has the old one open keeps it.
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
