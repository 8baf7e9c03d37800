//! NVIDIA's library: the file that `SIMCUDA_NVRTC` names, or that the program asked for by its path, or the first that is not this one on the loader's path, or in a toolkit.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use libloading::Library;

use crate::compat::{FOLDERS, NAMES};

/// The environment variable with the path of NVIDIA's library.
const VARIABLE: &str = "SIMCUDA_NVRTC";

/// Finds a function of NVIDIA's library; `None` if the library or the function is missing.
///
/// # Safety
///
/// `F` is the type of a pointer to the function of that name.
pub unsafe fn function<F: Copy>(name: &str) -> Option<F> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let library = LIBRARY.get_or_init(open).as_ref()?;
    // SAFETY: the caller promises that the function has this type. The library stays open for the life of the process.
    unsafe { library.get::<F>(name) }.ok().map(|function| *function)
}

/// The path of NVIDIA's library that the program asked for. A 0 ends it. Our CUDA runtime writes it, as an auditor of the loader, and gives the
/// program this library instead.
#[unsafe(no_mangle)]
pub static simcuda_nvrtc_path: [AtomicU8; 4096] = [const { AtomicU8::new(0) }; 4096];

/// Returns the path that the program asked for, if it is known.
#[cfg(unix)]
fn asked_for() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;

    let bytes: Vec<u8> = simcuda_nvrtc_path.iter().map(|byte| byte.load(Relaxed)).take_while(|&byte| byte != 0).collect();
    (!bytes.is_empty()).then(|| OsString::from_vec(bytes).into())
}

/// Returns nothing: no loader but that of Linux has auditors.
#[cfg(not(unix))]
fn asked_for() -> Option<PathBuf> {
    None
}

/// Returns the path of NVIDIA's library, if there is one.
pub fn find() -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).map(PathBuf::from).or_else(asked_for);
    named.or_else(|| candidates(env::var_os("LD_LIBRARY_PATH").as_deref()).find(|path| is_nvidias(path)))
}

fn open() -> Option<Library> {
    let Some(path) = find() else {
        let _ = writeln!(
            std::io::stderr(),
            "simcuda: the loader's path has no NVRTC besides the simulator's; set {VARIABLE} to the path of NVIDIA's"
        );
        return None;
    };
    // SAFETY: opening NVIDIA's library runs its own initialization only.
    unsafe { Library::new(&path) }
        .inspect_err(|error| {
            let _ = writeln!(std::io::stderr(), "simcuda: cannot open {}: {error}", path.display());
        })
        .ok()
}

/// Returns the possible paths of the library, in the loader's order.
fn candidates(loader_path: Option<&std::ffi::OsStr>) -> impl Iterator<Item = PathBuf> {
    let path: Vec<PathBuf> =
        loader_path.map(env::split_paths).into_iter().flatten().filter(|folder| folder.is_absolute()).collect();
    let folders = path.into_iter().chain(FOLDERS.map(PathBuf::from));
    folders.flat_map(|folder| NAMES.map(|name| folder.join(name)))
}

/// Returns true if a file is a library other than this one.
fn is_nvidias(path: &Path) -> bool {
    let mark = b"simcuda_nvrtc_mark";
    std::fs::read(path).is_ok_and(|bytes| !bytes.windows(mark.len()).any(|window| window == mark))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_first_library_on_the_path_that_is_not_this_one_is_taken() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let path = env::join_paths(folders.iter().map(tempfile::TempDir::path)).unwrap();
        fs::write(folders[0].path().join("libnvrtc.so.12"), "ELF … simcuda_nvrtc_mark …").unwrap();
        fs::write(folders[2].path().join("libnvrtc.so.12"), "ELF").unwrap();
        let found = candidates(Some(&path)).find(|path| is_nvidias(path)).unwrap();
        assert_eq!(found, folders[2].path().join("libnvrtc.so.12"));
    }
}
