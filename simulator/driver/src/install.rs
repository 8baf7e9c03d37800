//! Installs the libraries: copies the driver, the runtime and NVRTC into a folder, under the names that programs ask the loader for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::client;
use crate::error::Error;
use crate::files::put;
use crate::interface;

struct Installed {
    name: &'static str,
    /// Its other names, as links: a program that asks for two names must get one library and not two.
    links: &'static [&'static str],
    /// A text that only our file of one of these names contains.
    mark: &'static str,
}

/// The CUDA driver. C and Python programs ask for the name with the version, cudarc for the name without it.
const DRIVER: Installed = Installed {
    name: DRIVER_NAME,
    links: if cfg!(target_os = "linux") { &["libcuda.so"] } else { &[] },
    mark: interface::VERSION_EXPORT,
};

/// The CUDA runtime. It tells by its name which version of CUDA a program was built with.
const RUNTIME: Installed =
    Installed { name: "libcudart.so.12", links: &["libcudart.so.13", "libcudart.so"], mark: interface::RUNTIME_MARK };

/// NVRTC with PTX for machine code, in a folder of its own: only a program that asks for machine code needs it.
const COMPILER: Installed = Installed {
    name: "nvrtc/libnvrtc.so.12",
    links: &["nvrtc/libnvrtc.so.13", "nvrtc/libnvrtc.so"],
    mark: interface::COMPILER_MARK,
};

/// The file names of the runtime and of NVRTC. Cargo leaves both next to the driver.
const RUNTIME_FILE: &str = "libsimcudart.so";
const COMPILER_FILE: &str = "libsimnvrtc.so";

const DRIVER_NAME: &str = if cfg!(windows) {
    "nvcuda.dll"
} else if cfg!(target_os = "macos") {
    "libcuda.dylib"
} else {
    "libcuda.so.1"
};

/// The environment variable that puts a folder on the loader's path.
pub const LOADER_VARIABLE: &str = if cfg!(windows) {
    "PATH"
} else if cfg!(target_os = "macos") {
    "DYLD_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// Returns the variables that make a program use a folder's libraries. Each value goes before what the variable has. On Linux, they also redirect the runtime of a program that contains one: the runtime's documentation says how.
pub fn environment(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let runtime = || folder.join(RUNTIME.name);
    let redirects = cfg!(target_os = "linux").then(|| [("LD_AUDIT", runtime()), ("LD_PRELOAD", runtime())]);
    [(LOADER_VARIABLE, folder.to_owned())].into_iter().chain(redirects.into_iter().flatten()).collect()
}

/// Copies the driver that [`client::find_library`] finds into `folder`; on Linux, also the runtime and NVRTC next to the driver.
/// Creates `folder` if necessary. Returns the absolute path of `folder`, to be used as the value of [`LOADER_VARIABLE`].
///
/// This replaces older copies, even while programs use them. It makes copies and not links, so that `cargo clean` does not remove them.
/// Fails with [`Error::NotFound`] if a library is missing, [`Error::Foreign`] if a file with the name of one is not ours, and
/// [`Error::File`] if the file system refuses.
pub fn install(folder: &Path) -> Result<PathBuf, Error> {
    let driver = client::find_library()?;
    let mut libraries = vec![(DRIVER, driver.clone())];
    if cfg!(target_os = "linux") {
        for (library, file) in [(RUNTIME, RUNTIME_FILE), (COMPILER, COMPILER_FILE)] {
            let built = driver.with_file_name(file);
            if !built.is_file() {
                return Err(Error::NotFound { searched: vec![built] });
            }
            libraries.push((library, built));
        }
    }
    fs::create_dir_all(folder).map_err(Error::at(folder))?;
    let folder = folder.canonicalize().map_err(Error::at(folder))?;
    for (library, _) in &libraries {
        library.check_not_foreign(&folder)?;
    }
    for (library, source) in &libraries {
        let path = folder.join(library.name);
        let parent = path.parent().unwrap_or(&folder);
        fs::create_dir_all(parent).map_err(Error::at(parent))?;
        put(&path, |unfinished| fs::copy(source, unfinished).map(drop)).map_err(Error::at(&path))?;
        for name in library.links {
            let link_path = folder.join(name);
            put(&link_path, |unfinished| link(path.file_name().unwrap_or_default().as_ref(), unfinished))
                .map_err(Error::at(&link_path))?;
        }
    }
    Ok(folder)
}

impl Installed {
    /// Refuses to replace a file that is not ours.
    fn check_not_foreign(&self, folder: &Path) -> Result<(), Error> {
        for path in self.links.iter().chain([&self.name]).map(|name| folder.join(name)) {
            // A link is judged by its target. A link without a target is no library.
            match fs::read(&path) {
                Ok(bytes) if !contains(&bytes, self.mark.as_bytes()) => return Err(Error::Foreign(path)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(Error::File { path, source }),
            }
        }
        Ok(())
    }
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
