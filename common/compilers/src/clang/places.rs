//! Where a machine may have a clang.
//!
//! The one that we ask people to install is in the Python package `ziglang`: it has the back end for NVIDIA's GPUs, and is a file to
//! unpack on macOS, Windows and Linux. Apple's has no such back end; those of most Linux distributions, of LLVM's own releases and of
//! Homebrew have it.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::python;
use crate::search;
use crate::variables::CLANG;
use crate::versions::CLANG_NUMBERS;

/// The Python package with a clang.
pub const PACKAGE: &str = "ziglang";

/// Folders off the path where Homebrew and others put a clang.
const FOLDERS: [&str; 4] =
    ["/opt/homebrew/opt/llvm/bin", "/usr/local/opt/llvm/bin", "/home/linuxbrew/.linuxbrew/opt/llvm/bin", "/opt/local/bin"];
/// Environment variables with the folder that holds `LLVM\bin` on Windows.
const PROGRAM_FOLDERS: [&str; 2] = ["ProgramFiles", "LOCALAPPDATA"];

/// Returns the files that may be a clang, in search order.
///
/// The one that [`CLANG`] names, and then no other; those on the path; Homebrew's; and that of the Python package.
pub fn candidates() -> impl Iterator<Item = PathBuf> {
    // A process runs it in another folder.
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let searched = on_path().chain(installed()).chain(packaged()).filter(|path| path.is_file());
    search::candidates(CLANG, absolute, searched.map(absolute))
}

/// Says in words where [`candidates`] looks.
pub fn described() -> String {
    search::places(CLANG, format!("on the path, from Homebrew, or in the Python package {PACKAGE}"))
}

/// Returns the command that installs the Python package in its own environment. The environment need not be active.
pub fn pip() -> String {
    if cfg!(windows) {
        format!(r"py -m venv .venv; .venv\Scripts\pip install {PACKAGE}")
    } else {
        format!("python3 -m venv .venv && .venv/bin/pip install {PACKAGE}")
    }
}

/// Returns true if a program is Zig, which contains a clang.
pub fn is_zig(program: &Path) -> bool {
    program.file_stem() == Some(OsStr::new("zig"))
}

/// Returns candidates such as `clang` and `clang-19` in the path's folders. Those without a number come first, then the newest.
fn on_path() -> impl Iterator<Item = PathBuf> {
    let folders: Vec<PathBuf> = env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let names = [program("clang")].into_iter().chain(CLANG_NUMBERS.rev().map(|number| program(&format!("clang-{number}"))));
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

/// Returns the file name of a program on this system.
fn program(name: &str) -> String {
    format!("{name}{}", env::consts::EXE_SUFFIX)
}
