//! Where a machine may have a clang.
//!
//! The one that we ask people to install is in the Python package `ziglang`: it has the back end for NVIDIA's GPUs, and is a file to
//! unpack on macOS, Windows and Linux. Apple's has no such back end; those of most Linux distributions, of LLVM's own releases and of
//! Homebrew have it.

use std::collections::HashSet;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::python;
use crate::variables::CLANG;

/// The Python package with a clang.
pub const PACKAGE: &str = "ziglang";

/// The oldest clang that compiles our header.
pub const OLDEST: u32 = 18;

/// The numbers in the names of clangs of Linux distributions.
const NUMBERS: std::ops::RangeInclusive<u32> = OLDEST..=40;
/// Where Homebrew, LLVM's installer for Windows, and others put a clang that is not on the path.
const FOLDERS: [&str; 4] =
    ["/opt/homebrew/opt/llvm/bin", "/usr/local/opt/llvm/bin", "/home/linuxbrew/.linuxbrew/opt/llvm/bin", "/opt/local/bin"];
/// Environment variables with the folder that holds `LLVM\bin` on Windows.
const PROGRAM_FOLDERS: [&str; 2] = ["ProgramFiles", "LOCALAPPDATA"];

/// The files that may be a clang, in the order in which to try: the one that [`CLANG`] names, and then no other; those on the path;
/// Homebrew's; and that of the Python package.
pub fn candidates() -> impl Iterator<Item = PathBuf> {
    let named = CLANG.path();
    let searched = named.is_none().then(|| on_path().chain(installed()).chain(packaged()).filter(|path| path.is_file()));
    // A process runs it in another folder.
    let all = named.into_iter().chain(searched.into_iter().flatten()).map(|path| std::path::absolute(&path).unwrap_or(path));
    let mut seen = HashSet::new();
    all.filter(move |path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
}

/// Where [`candidates`] looks, in words.
pub fn described() -> String {
    match CLANG.path() {
        Some(path) => format!("at {} (from {CLANG})", path.display()),
        None => format!("on the path, from Homebrew, or in the Python package {PACKAGE}"),
    }
}

/// The command that installs the Python package, in an environment of its own: many systems allow it nowhere else. It need not be active.
pub fn pip() -> String {
    if cfg!(windows) {
        format!(r"py -m venv .venv; .venv\Scripts\pip install {PACKAGE}")
    } else {
        format!("python3 -m venv .venv && .venv/bin/pip install {PACKAGE}")
    }
}

/// Whether a program is Zig, which contains a clang.
pub fn is_zig(program: &Path) -> bool {
    program.file_stem() == Some(OsStr::new("zig"))
}

/// `clang` and `clang-19` and the like in the folders of the path, those without a number first, then the newest.
fn on_path() -> impl Iterator<Item = PathBuf> {
    let folders: Vec<PathBuf> = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let names = [program("clang")].into_iter().chain(NUMBERS.rev().map(|number| program(&format!("clang-{number}"))));
    names.flat_map(move |name| folders.iter().map(|folder| folder.join(&name)).collect::<Vec<_>>())
}

fn installed() -> impl Iterator<Item = PathBuf> {
    let windows = PROGRAM_FOLDERS.iter().filter_map(env::var_os).map(|folder| Path::new(&folder).join("LLVM").join("bin"));
    FOLDERS.into_iter().map(PathBuf::from).chain(windows).map(|folder| folder.join(program("clang")))
}

fn packaged() -> impl Iterator<Item = PathBuf> {
    let sites = python::chosen_sites().chain(python::other_sites());
    sites.map(|site| site.join(PACKAGE).join(program("zig")))
}

/// The file name of a program on this system.
fn program(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}
